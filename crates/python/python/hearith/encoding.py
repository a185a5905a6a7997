"""Encoding of numbers as the signed integers that are encrypted.

A number is `integer * base**exponent / divisor`. Integers have exponent 0. Decimal numbers are
scaled by a power of ten (`scale=2` keeps two digits after the point). Binary fractions are scaled
by a power of sixteen, as in python-paillier (`exponent=-8` keeps 32 bits after the point).
Quotients and means have a divisor, which is applied after decryption.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith._arguments import whole
from hearith._integers import Integers, check_range, narrow, objects
from hearith._operands import Number, Numbers, Shape, Vector, fraction, placed, plain
from hearith.errors import HearithError, RangeError, ScaleError

#: Default largest magnitude of an encoded number: that of any 64-bit integer.
DEFAULT_RANGE = 2**63 - 1
#: Largest number of decimal digits after the point that callers can request, and that encrypted
#: columns have. Results may have more.
MAX_SCALE = 38
#: Lowest power of sixteen that callers can request, finer than any double.
MIN_EXPONENT = -512

#: The finest unit of a result is 2^-16384, finer than the headroom of any key.
MAX_UNIT_BITS = 1 << 14

#: Powers of ten up to this exponent are exact doubles.
_EXACT_TENS = 22
_INT64 = np.iinfo(np.int64)
_EXACT = Context(prec=5000)
_NOT_FINITE = "not a finite number"


@dataclass(frozen=True)
class Encoding:
    """The encoding of encrypted integers as multiples of `base**exponent / divisor`.

    >>> Encoding.of(scale=2)
    Encoding(base=10, exponent=-2, divisor=1)
    >>> Encoding.of(exponent=-8).unit
    Fraction(1, 4294967296)
    """

    base: int = 10
    exponent: int = 0
    divisor: int = 1

    def __post_init__(self) -> None:
        """Checks exponent and divisor."""
        if self.base not in (10, 16):
            raise ScaleError("the base must be 10 or 16")
        if self.exponent > 0 or self.divisor < 1:
            raise ScaleError("the exponent must be at most 0, and the divisor at least 1")
        if 4 * -self.exponent + self.divisor.bit_length() > MAX_UNIT_BITS:
            text = f"a unit of {self.base}^{self.exponent} over a divisor of {self.divisor.bit_length()} bits"
            raise ScaleError(f"{text} is too fine for the headroom of any key")
        if self.exponent == 0:
            object.__setattr__(self, "base", 10)

    @classmethod
    def of(cls, scale: int | None = None, exponent: int | None = None) -> Encoding:
        """Returns the encoding with `scale` decimal digits after the point, or with the power of
        sixteen `exponent`.

        Raises:
            NumberError: scale or exponent is not an integer.
            ScaleError: there is no such encoding.
        """
        if scale is not None and exponent is not None:
            text = "pass scale= (decimal digits) or exponent= (power of sixteen), not both"
            raise ScaleError(text, kind="two_scales")
        if exponent is not None:
            return cls(16, whole("exponent", exponent, MIN_EXPONENT, 0, error=ScaleError))
        return cls(10, -whole("scale", 0 if scale is None else scale, 0, MAX_SCALE, error=ScaleError))

    @property
    def name(self) -> str:
        """`integer`, `fixed` or `base16`, as in the description of encrypted columns."""
        return "integer" if self.exponent == 0 else {10: "fixed", 16: "base16"}[self.base]

    @property
    def scale(self) -> int:
        """Decimal digits after the point; 0 for binary fractions."""
        return -self.exponent if self.base == 10 else 0

    @property
    def unit(self) -> Fraction:
        """The value of the integer 1."""
        return Fraction(self.base) ** self.exponent / self.divisor

    @property
    def denominator(self) -> int:
        """The denominator of `unit`, whose numerator is 1."""
        steps: int = self.base**-self.exponent
        return steps * self.divisor

    def __str__(self) -> str:
        """Returns the name used in errors."""
        scale = f"scale {self.scale}" if self.base == 10 else f"exponent {self.exponent}"
        quotient = "" if self.divisor == 1 else f" / {self.divisor}"
        return ("integers" if self.exponent == 0 else scale) + quotient

    def times(self, other: Encoding) -> Encoding:
        """Returns the encoding of products.

        For a power of ten and one of sixteen, the power of ten becomes a divisor.
        """
        if self.base == other.base or 0 in (self.exponent, other.exponent):
            base = other.base if self.exponent == 0 else self.base
            return Encoding(base, self.exponent + other.exponent, self.divisor * other.divisor)
        return self._on_sixteens(other, self.denominator * other.denominator)

    def common(self, other: Encoding) -> Encoding:
        """Returns the coarsest encoding that represents every number of both exactly."""
        if other is self or other == self or other.denominator == 1:
            return self
        denominator = lcm(self.denominator, other.denominator)
        if self.base == other.base == 10:
            exponent = min(self.exponent, other.exponent)
            return Encoding(10, exponent, denominator // 10**-exponent)
        return self._on_sixteens(other, denominator)

    def _on_sixteens(self, other: Encoding, denominator: int) -> Encoding:
        """Returns the encoding with this denominator, on the finer power of sixteen of these two.

        The rest of the denominator is the divisor.
        """
        exponent = min(one.exponent for one in (self, other) if one.base == 16)
        return Encoding(16, exponent, denominator // 16**-exponent)

    def with_divisor(self, divisor: int) -> Encoding:
        """Returns the encoding of quotients by a positive integer, for the same integers."""
        return Encoding(self.base, self.exponent, self.divisor * divisor)

    def undivided(self) -> Encoding:
        """Returns this encoding if it can be exported: without a divisor, and within the digits
        that callers can request.

        Raises:
            ScaleError: it cannot be exported.
        """
        if self.divisor != 1:
            text = f"quotients ({self}) cannot be exported: decrypt them, or export the sum and the count"
            raise ScaleError(text, kind="quotients")
        if self.exponent < {10: -MAX_SCALE, 16: MIN_EXPONENT}[self.base]:
            text = f"{self} has more than the {MAX_SCALE} digits that can be exported: decrypt the numbers"
            raise ScaleError(text, kind="too_many_digits")
        return self

    def steps_to(self, finer: Encoding) -> int:
        """Returns the factor that converts integers to a finer encoding."""
        steps, rest = divmod(finer.denominator, self.denominator)
        if rest:
            raise ScaleError(f"{self} cannot be converted to {finer}: digits can be added, not dropped")
        return steps

    def bound(self, magnitude: Number) -> int:
        """Returns the largest integer that encodes a number of at most this magnitude.

        Raises:
            NumberError: the magnitude is not a number.
            RangeError: it is not finite.
        """
        scaled = abs(fraction(magnitude)) / self.unit
        return scaled.numerator // scaled.denominator

    def encode(self, values: Numbers, *, limit: int, rounding: bool = False) -> tuple[Integers, Shape]:
        """Encodes numbers, and returns the integers in row-major order and the shape.

        Binary fractions are rounded to the nearest multiple of the unit. Decimal numbers must be
        exact, unless `rounding` is set, which rounds half to even. A float stands for its shortest
        decimal that reads back as the same float.

        Raises:
            NullError: a value is missing.
            NumberError: the values are not numbers or an array of numbers.
            RangeError: an integer exceeds `limit` in magnitude.
            ScaleError: a number has more digits than the encoding keeps.
        """
        found, shape = plain(values)
        with placed(shape):
            return self.integers(found, limit=limit, rounding=rounding), shape

    def integers(self, found: Vector, *, limit: int, rounding: bool = False) -> Integers:
        """Encodes numbers that were already parsed; errors as in `encode`."""
        integers = self._integers(found, rounding or self.base == 16)
        check_range(integers, limit)
        return integers

    def decode(self, integers: Integers) -> npt.NDArray[Any]:
        """Decodes integers to `int64` (or Python integers where they do not fit), `Decimal` or
        `float64`; quotients to the nearest `float64`.

        Raises:
            RangeError: a number exceeds a float.
        """
        if self.divisor != 1:
            return self._floats(integers)
        if self.exponent == 0:
            return integers if isinstance(integers, np.ndarray) else objects(integers)
        if self.base == 10:
            return objects(_EXACT.scaleb(Decimal(int(value)), self.exponent) for value in integers)
        if isinstance(integers, np.ndarray):
            return np.ldexp(integers.astype(np.float64), 4 * self.exponent)
        return self._floats(integers)

    def _floats(self, integers: Integers) -> npt.NDArray[np.float64]:
        steps = self.base**-self.exponent * self.divisor
        return np.array([_float(row, int(value), steps) for row, value in enumerate(integers)], dtype=np.float64)

    def _integers(self, values: Vector, rounding: bool) -> Integers:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
            return self._of_integers(values)
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and self.base == 16 and self.divisor == 1:
            return self._of_floats(values)
        if self.base == 10 and self.divisor == 1 and _are_doubles(values):
            return self._of_decimals(np.asarray(values, dtype=np.float64), rounding)
        return narrow([self._integer(row, value, rounding) for row, value in enumerate(values)])

    def _of_integers(self, values: npt.NDArray[Any]) -> Integers:
        steps = Encoding().steps_to(self)
        if values.size and max(abs(int(values.min())), abs(int(values.max()))) * steps > _INT64.max:
            return [int(value) * steps for value in values]
        return values.astype(np.int64) * np.int64(steps)

    def _of_floats(self, values: npt.NDArray[Any]) -> Integers:
        scaled = np.rint(np.ldexp(values.astype(np.float64), -4 * self.exponent))
        finite = np.isfinite(values)
        if not finite.all():
            raise RangeError(_NOT_FINITE, int(np.argmin(finite)), kind="not_finite")
        if values.size and not np.abs(scaled).max() < 2.0**62:
            return [self._integer(row, value, True) for row, value in enumerate(values.tolist())]
        return scaled.astype(np.int64)

    def _of_decimals(self, values: npt.NDArray[np.float64], rounding: bool) -> Integers:
        """Encodes doubles, each as its shortest decimal that reads back as the same double.

        Equals `_integer` for each value.

        No two decimals of 15 digits read as the same double. So an integer below 10^15 is correct
        if dividing it gives the double back. With rounding, the scaled product is inexact, but by
        less than its distance to the next half. The remaining values are encoded one by one.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values * 10.0**self.scale
            nearest = np.rint(scaled)
            known = (np.abs(nearest) < 1e15) & (nearest / 10.0**self.scale == values)
            if rounding:
                known |= (np.abs(scaled) < 2.0**49) & (0.5 - np.abs(scaled - nearest) > np.abs(scaled) * 2.0**-50)
        known &= self.scale <= _EXACT_TENS
        found = np.where(known, nearest, 0).astype(np.int64)
        if known.all():
            return found
        integers: list[int] = found.tolist()
        for row in np.flatnonzero(~known).tolist():
            integers[row] = self._integer(row, values[row], rounding)
        return narrow(integers)

    def _exact(self, value: Any) -> Fraction:
        """Returns the number. A float counts as its exact binary value if the base is 16."""
        binary = self.base == 16 and isinstance(value, float | np.floating) and np.isfinite(value)
        return Fraction(float(value)) if binary else fraction(value)

    def _integer(self, row: int, value: Any, rounding: bool) -> int:
        try:
            scaled = self._exact(value) / self.unit
        except HearithError as error:
            raise error.at_row(row) from None
        if scaled.denominator != 1 and not rounding:
            text = f"more digits after the point than {self} keeps"
            raise ScaleError(f"{text}: raise the scale (scale=) or round (rounding=True)", row, kind="too_many_digits")
        return round(scaled)


def _are_doubles(values: Vector) -> bool:
    """Whether all values are doubles. Floats of other lengths have other shortest decimals."""
    if isinstance(values, np.ndarray):
        return bool(values.dtype == np.float64)
    return all(type(value) is float for value in values)


def _float(row: int, value: int, steps: int) -> float:
    """Returns the float nearest to a quotient."""
    try:
        return value / steps
    except OverflowError:
        raise RangeError("the number is too large for a float", row, kind="out_of_range") from None
