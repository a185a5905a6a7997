"""Encodings of plaintext operands, with enough digits to represent all of them exactly."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from hearith._operands import Vector, fraction
from hearith.encoding import MAX_SCALE, MAX_UNIT_BITS, Encoding
from hearith.errors import ScaleError

#: Largest number of digits after the point in a plaintext operand of an array. A digit takes up to
#: 4 bits of the result's unit.
_MOST_DIGITS = MAX_UNIT_BITS // 5


def factor_encoding(
    factors: Vector, beside: Encoding, scale: int | None = None, exponent: int | None = None
) -> Encoding:
    """Returns the encoding of plaintext operands: the requested one, else the coarsest that
    represents all of them exactly.

    A float stands for its shortest decimal that reads back as the same float, or for its exact
    binary value next to numbers scaled by a power of sixteen. A fraction that is not a short
    decimal needs a divisor.

    Raises:
        ScaleError: an operand has more digits than any key has headroom for.
    """
    if scale is not None or exponent is not None:
        return Encoding.of(scale, exponent)
    if isinstance(factors, np.ndarray) and factors.dtype.kind in "iub":
        return Encoding()
    if len(factors) == 1 and type(factors[0]) is int:
        return Encoding()
    places, sixteenths, divisor = 0, 0, 1
    for row, factor in enumerate(factors):
        if beside.base == 16 and isinstance(factor, float | np.floating):
            sixteenths = min(sixteenths, _sixteenths(factor))
        elif isinstance(factor, Fraction) and not _is_decimal(factor):
            divisor = _multiple(divisor, factor.denominator, row)
        else:
            places = max(places, digits(factor, row, _MOST_DIGITS))
    return Encoding(16, sixteenths).common(Encoding(10, -places)).common(Encoding(divisor=divisor))


def check_decimals(factors: Iterable[Any]) -> None:
    """Raises `ScaleError` if an operand has more digits than columns support."""
    for row, factor in enumerate(factors):
        digits(factor, row)


def digits(number: Any, row: int, most: int = MAX_SCALE) -> int:
    """Returns the number of decimal digits after the point.

    It is 0 for values that are not finite numbers, which encoding rejects later.

    Raises:
        ScaleError: there are more than `most`.
    """
    if isinstance(number, float | np.floating):
        number = Decimal(str(number)) if np.isfinite(number) else 0
    if isinstance(number, Fraction):
        number = _decimal(number, row)
    places = getattr(number, "as_tuple", None)
    exponent = 0 if places is None else places().exponent
    places_kept = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if places_kept > most:
        text = f"more than {most} digits after the point: round them with multiply(..., scale=, rounding=True)"
        raise ScaleError(text, row, kind="too_many_digits")
    return places_kept


def reciprocals(divisors: Vector, most: int) -> tuple[list[int], int]:
    """Returns integers and a common divisor; each integer over the divisor is the reciprocal of one
    of the `divisors`.

    Raises:
        ScaleError: the common divisor has more than `most` bits.
        ZeroDivisionError: a divisor is 0.
    """
    exact = [fraction(divisor) for divisor in divisors]
    if not all(exact):
        raise ZeroDivisionError("division by zero")
    common = 1
    for row, one in enumerate(exact):
        common = _multiple(common, abs(one.numerator), row, most)
    return [(common / one).numerator for one in exact], common


def _multiple(one: int, other: int, row: int, most: int = MAX_UNIT_BITS // 2) -> int:
    """Returns the least common multiple."""
    common = lcm(one, other)
    if common.bit_length() > most:
        text = f"the common denominator of these numbers has more than {most} bits, beyond the key's headroom"
        raise ScaleError(f"{text}: round them first", row, kind="too_many_digits")
    return common


def _is_decimal(number: Fraction) -> bool:
    return bool(10**MAX_SCALE % number.denominator == 0)


def _decimal(number: Fraction, row: int) -> Decimal:
    """Converts a fraction to a decimal, if it is one."""
    scaled = number * 10**MAX_SCALE
    if scaled.denominator != 1:
        text = "not a decimal with few digits: divide by its denominator, or multiply(..., scale=, rounding=True)"
        raise ScaleError(text, row, kind="too_many_digits")
    return Decimal(scaled.numerator).scaleb(-MAX_SCALE).normalize()


def _sixteenths(factor: Any) -> int:
    """Returns the highest power of sixteen, at most 0, of which a double is a multiple.

    Non-finite values are rejected during encoding.
    """
    exact = Fraction(float(factor)) if np.isfinite(float(factor)) else Fraction(0)
    return -(-(exact.denominator.bit_length() - 1) // 4) * -1
