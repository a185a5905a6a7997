"""How plain factors are encoded: with as many digits as keep every one of them exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hearith._operands import Vector
from hearith.encoding import MAX_SCALE, MIN_EXPONENT, Encoding
from hearith.errors import ScaleError


def factor_encoding(factors: Vector, beside: Encoding, scale: int | None, exponent: int | None) -> Encoding:
    """The encoding of plain factors: as asked for, else the coarsest that keeps every one exactly: on a power of sixteen beside numbers
    that stand on one, else with decimal digits, where a float is the shortest decimal that reads back as it."""
    if scale is not None or exponent is not None:
        return Encoding.of(scale, exponent)
    if isinstance(factors, np.ndarray) and factors.dtype.kind in "iub":
        return Encoding()
    if beside.base == 16:
        return Encoding.of(exponent=min((_sixteenths(factor) for factor in factors), default=0))
    return Encoding.of(scale=max((digits(factor, row) for row, factor in enumerate(factors)), default=0))


def digits(number: Any, row: int) -> int:
    """Decimal digits after the point; what is no finite number has none, and is refused when it is encoded.

    Raises:
        ScaleError: there are more than any scale keeps.
    """
    if isinstance(number, float | np.floating):
        number = Decimal(str(number)) if np.isfinite(number) else 0
    if isinstance(number, Fraction):
        number = _decimal(number, row)
    places = getattr(number, "as_tuple", None)
    exponent = 0 if places is None else places().exponent
    places_kept = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if places_kept > MAX_SCALE:
        text = f"more than {MAX_SCALE} digits after the point: multiply(..., scale=, rounding=True) keeps as many as are asked for"
        raise ScaleError(text, row, kind="too_many_digits")
    return places_kept


def _decimal(number: Fraction, row: int) -> Decimal:
    """A fraction as a decimal, if it is one."""
    scaled = number * 10**MAX_SCALE
    if scaled.denominator != 1:
        text = "no decimal of a few digits: divide by its denominator, or multiply(..., scale=, rounding=True)"
        raise ScaleError(text, row, kind="too_many_digits")
    return Decimal(scaled.numerator).scaleb(-MAX_SCALE).normalize()


def _sixteenths(factor: Any) -> int:
    """The highest power of sixteen, at most 0, that a number is a multiple of; what is none, is rounded to a double's."""
    exact = Fraction(float(factor)) if np.isfinite(float(factor)) else Fraction(0)
    return max(MIN_EXPONENT, -(-(exact.denominator.bit_length() - 1) // 4) * -1)
