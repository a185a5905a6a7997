"""Numbers as the signed integers that are encrypted.

A number is `integer * base**exponent / divisor`: plain integers stand on exponent 0, decimal numbers on a power of ten (`scale=2`
keeps two digits after the point), binary fractions on a power of sixteen, as python-paillier's do (`exponent=-8` keeps 32
bits after the point). Quotients and means have a divisor: the division is done on what is decrypted.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith._arguments import whole
from hearith._integers import Integers, check_range, narrow, objects
from hearith._operands import Number, Numbers, Shape, Vector, fraction, placed, plain
from hearith.errors import HearithError, RangeError, ScaleError

#: Largest magnitude of an encoded number unless another is declared: any 64-bit integer's.
DEFAULT_RANGE = 2**63 - 1
#: Most decimal digits after the point, as in encrypted columns.
MAX_SCALE = 38
#: Lowest power of sixteen: finer than any double.
MIN_EXPONENT = -512

#: Largest divisor, in bits.
MAX_DIVISOR_BITS = 1024

#: Powers of ten up to this are doubles exactly.
_EXACT_TENS = 22
_INT64 = np.iinfo(np.int64)
_EXACT = Context(prec=5000)
_NOT_FINITE = "not a finite number"


@dataclass(frozen=True)
class Encoding:
    """What the encrypted integers stand for: multiples of `base**exponent / divisor`.

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
        lowest = {10: -MAX_SCALE, 16: MIN_EXPONENT}.get(self.base)
        if lowest is None:
            raise ScaleError("numbers stand on powers of 10 or 16")
        if not lowest <= self.exponent <= 0:
            raise ScaleError(f"a power of {self.base} from {lowest} to 0, not {self.exponent}")
        if self.divisor < 1 or self.divisor.bit_length() > MAX_DIVISOR_BITS:
            raise ScaleError(f"a divisor from 1 to 2^{MAX_DIVISOR_BITS} - 1")
        if self.exponent == 0:
            object.__setattr__(self, "base", 10)

    @classmethod
    def of(cls, scale: int | None = None, exponent: int | None = None) -> Encoding:
        """The encoding with `scale` decimal digits after the point, or on the power of sixteen `exponent`.

        Raises:
            NumberError: scale or exponent is no whole number.
            ScaleError: there is no such encoding.
        """
        if scale is not None and exponent is not None:
            text = "give scale= (decimal digits) or exponent= (power of sixteen), not both"
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
        """What the integer 1 stands for."""
        return Fraction(self.base) ** self.exponent / self.divisor

    def __str__(self) -> str:
        """As errors name it."""
        scale = f"scale {self.scale}" if self.base == 10 else f"exponent {self.exponent}"
        quotient = "" if self.divisor == 1 else f" / {self.divisor}"
        return ("integers" if self.exponent == 0 else scale) + quotient

    def times(self, other: Encoding) -> Encoding:
        """The encoding of products."""
        if self.base != other.base and 0 not in (self.exponent, other.exponent):
            raise ScaleError(f"products of {self} and {other} stand on no power of 10 or 16")
        base = other.base if self.exponent == 0 else self.base
        return Encoding(base, self.exponent + other.exponent, self.divisor * other.divisor)

    def over(self, divisor: int) -> Encoding:
        """The encoding of quotients by a positive integer: the same integers stand for them."""
        return Encoding(self.base, self.exponent, self.divisor * divisor)

    def undivided(self) -> Encoding:
        """This encoding, where it takes no division to read it.

        Raises:
            ScaleError: it does.
        """
        if self.divisor != 1:
            text = f"quotients ({self}) have no form outside: decrypt them, or hand on the sum and the count"
            raise ScaleError(text, kind="quotients")
        return self

    def steps_to(self, finer: Encoding) -> int:
        """The factor by which integers grow when they move to a finer encoding."""
        factor = self.unit / finer.unit
        if factor.denominator != 1:
            raise ScaleError(f"{self} cannot become {finer}: digits can be added, not dropped")
        return factor.numerator

    def bound(self, magnitude: Number) -> int:
        """The largest integer that a number of at most this magnitude has.

        Raises:
            NumberError: the magnitude is no number.
            RangeError: it is not finite.
        """
        scaled = abs(fraction(magnitude)) / self.unit
        return scaled.numerator // scaled.denominator

    def encode(self, values: Numbers, *, limit: int, rounding: bool = False) -> tuple[Integers, Shape]:
        """The integers of numbers, row by row, and the shape in which they come.

        Binary fractions are rounded to the nearest multiple of the unit. Decimal numbers must be exact, unless `rounding`
        asks for the nearest, half to even; a float stands for the shortest decimal that reads back as it.

        Raises:
            NullError: a value is missing.
            NumberError: what is given is no number, or no array of them.
            RangeError: an integer exceeds `limit` in magnitude.
            ScaleError: a number has more digits than the encoding keeps.
        """
        found, shape = plain(values)
        with placed(shape):
            return self.integers(found, limit=limit, rounding=rounding), shape

    def integers(self, found: Vector, *, limit: int, rounding: bool = False) -> Integers:
        """The integers of numbers that have been read already; errors as of `encode`."""
        integers = self._integers(found, rounding or self.base == 16)
        check_range(integers, limit)
        return integers

    def decode(self, integers: Integers) -> npt.NDArray[Any]:
        """The numbers that integers stand for: `int64` (or Python's integers where they do not fit), `Decimal`, `float64`; quotients
        as the nearest `float64`.

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
        """The integers of doubles, each the shortest decimal that reads back as it, as `_integer` gives them one by one.

        No two decimals of 15 digits read as one double: an integer below 10^15 that gives the double when it is divided is the one. Where
        digits are rounded away, the product is too, by less than what lies between it and the next half. Whatever is left goes one by one.
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
        """The number, a float as the binary fraction that it is where numbers are binary fractions."""
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
    """Whether all are doubles: floats of other lengths have shortest decimals of their own."""
    if isinstance(values, np.ndarray):
        return bool(values.dtype == np.float64)
    return all(type(value) is float for value in values)


def _float(row: int, value: int, steps: int) -> float:
    """The float that comes nearest to a quotient."""
    try:
        return value / steps
    except OverflowError:
        raise RangeError("the number exceeds a float", row, kind="out_of_range") from None
