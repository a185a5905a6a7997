"""Plaintext factors and weights of batched vectors, and the bounds of their products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith._operands import Vector, fraction
from hearith.encoding import MAX_SCALE, Encoding
from hearith.errors import RangeError, ScaleError

_MOST = 2**63 - 1


def integers(found: Vector | Sequence[Any]) -> tuple[npt.NDArray[np.int64], Encoding]:
    """Converts numbers to 64-bit integers at the coarsest decimal scale that keeps all their
    digits.

    Raises:
        RangeError: they do not fit.
        ScaleError: a number has more digits than any scale keeps.
    """
    if isinstance(found, np.ndarray) and found.dtype.kind in "ib":
        return found.astype(np.int64), Encoding()
    exact = [fraction(value) for value in found]
    scale = next(
        (scale for scale in range(MAX_SCALE + 1) if all(10**scale % one.denominator == 0 for one in exact)), None
    )
    if scale is None:
        raise ScaleError(f"a weight has more than {MAX_SCALE} digits after the point: round it", kind="too_many_digits")
    scaled = [int(one * 10**scale) for one in exact]
    check_factors(scaled)
    return np.array(scaled, dtype=np.int64), Encoding.of(scale=scale)


def check_factors(factors: Sequence[int]) -> None:
    """Raises `RangeError` if a factor has more than 64 bits."""
    row = next((row for row, factor in enumerate(factors) if abs(factor) > _MOST), None)
    if row is not None:
        raise RangeError("a weight needs more than 64 bits", row, kind="out_of_range")


def heaviest(positions: npt.NDArray[np.int64], weights: npt.NDArray[np.int64] | None) -> int:
    """Returns the largest sum of the weights' magnitudes in one position."""
    if positions.size == 0:
        return 0
    if weights is None:
        return int(np.bincount(positions).max())
    # Summed exactly, as halves of the words, whose sums fit.
    magnitudes = np.abs(weights.astype(object)) if (weights == np.iinfo(np.int64).min).any() else np.abs(weights)
    low = np.zeros(int(positions.max()) + 1, dtype=np.int64)
    high = low.copy()
    np.add.at(low, positions, (magnitudes & 0xFFFFFFFF).astype(np.int64))
    np.add.at(high, positions, (magnitudes >> 32).astype(np.int64))
    return max((int(upper) << 32) + int(lower) for upper, lower in zip(high, low, strict=True))


def check_room(bound: int, bits: int) -> None:
    """Raises `RangeError` if numbers of this magnitude, with a sign, need more than `bits` bits."""
    if bound >> (bits - 1):
        text = f"the result could need {bound.bit_length() + 1} bits, but only {bits} are available"
        raise RangeError(f"{text}: encrypt with a larger range= or max_additions=", kind="headroom")
