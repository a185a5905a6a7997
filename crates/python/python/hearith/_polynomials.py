"""NumPy's polynomial arithmetic, on vectors of coefficients that start with the highest degree."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np

from hearith._linear import convolve, exact
from hearith._operands import by_position, present
from hearith._rows import Rows
from hearith.errors import ShapeError


def polyadd(a1: Any, a2: Any) -> Any:
    """`np.polyadd`: one of the polynomials may be plaintext."""
    left, right = _coefficients(a1), _coefficients(a2)
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    more = len(longer) - len(shorter)
    return _joined(longer[:more], longer[more:] + shorter)


def polysub(a1: Any, a2: Any) -> Any:
    """`np.polysub`: one of the polynomials may be plaintext."""
    left, right = _coefficients(a1), _coefficients(a2)
    more = len(left) - len(right)
    if more >= 0:
        return _joined(left[:more], left[more:] - right)
    # NumPy cannot negate unsigned numbers.
    first: Any = right[:-more]
    if isinstance(first, np.ndarray):
        first = exact(first)
    return _joined(-first, left - right[-more:])


def polymul(a1: Any, a2: Any) -> Any:
    """`np.polymul`: one of the polynomials is plaintext."""
    return convolve(_trimmed(_coefficients(a1)), _trimmed(_coefficients(a2)))


def polyder(p: Any, m: SupportsIndex = 1) -> Any:
    """`np.polyder`."""
    found = _coefficients(p)
    for _ in range(_times(m)):
        found = found[:-1] * np.arange(len(found) - 1, 0, -1)
    return found


def polyint(p: Any, m: SupportsIndex = 1, k: Any = None) -> Any:
    """`np.polyint`, whose quotients stay exact until decryption."""
    found, times = _coefficients(p), _times(m)
    constants = np.zeros(times, dtype=int) if k is None else _coefficients(k)
    if len(constants) == 1 and times > 1:
        constants = constants.repeat(times)
    if len(constants) < times:
        raise ShapeError(f"{len(constants)} constants for {times} integrations", kind="lengths")
    for position in range(times):
        found = np.concatenate([found / np.arange(len(found), 0, -1), constants[position : position + 1]])
    return found


def _joined(first: Any, rest: Any) -> Any:
    return np.concatenate([first, rest]) if len(first) else rest


def _coefficients(values: Any) -> Any:
    """Returns the coefficients of a polynomial.

    Raises:
        ShapeError: they are not a vector.
    """
    given: Any = values.coeffs if isinstance(values, np.poly1d) else values
    read: Any = given if isinstance(given, Rows) else present(by_position(given))
    found: Any = read.reshape(1) if read.ndim == 0 else read
    if found.ndim != 1 or not len(found):
        raise ShapeError("polynomials must be vectors of coefficients that are not empty", kind="dimensions")
    return found


def _trimmed(polynomial: Any) -> Any:
    """Removes the leading zeros of a plaintext polynomial, as NumPy does."""
    if isinstance(polynomial, Rows):
        return polynomial
    others = np.flatnonzero(polynomial != 0)
    return polynomial[others[0] if len(others) else -1 :]


def _times(m: SupportsIndex) -> int:
    """Returns the number of differentiations or integrations.

    Raises:
        ValueError: it is negative.
    """
    times = operator.index(m)
    if times < 0:
        raise ValueError(f"polynomials cannot be differentiated or integrated {times} times")
    return times
