"""Numbers as the signed integers that are encrypted.

A number is `integer * base**exponent / divisor`: plain integers stand on exponent 0, decimal
numbers on a power of ten (`scale=2` keeps two digits after the point), binary fractions on a power
of sixteen, as python-paillier's do (`exponent=-8` keeps 32 bits after the point). Quotients and
means have a divisor: the division is done on what is decrypted.
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

#: Largest magnitude of an encoded number unless another is declared: any 64-bit integer's.
DEFAULT_RANGE = 2**63 - 1
#: Most decimal digits after the point that can be asked for, and that encrypted columns have.
#: Results may have more.
MAX_SCALE = 38
#: Lowest power of sixteen that can be asked for: finer than any double.
MIN_EXPONENT = -512

#: The finest unit of a result, 2^-16384: finer than any key has headroom for.
MAX_UNIT_BITS = 1 << 14

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
        if self.base not in (10, 16):
            raise ScaleError("numbers stand on powers of 10 or 16")
        if self.exponent > 0 or self.divisor < 1:
            raise ScaleError("a power of 10 or 16 of at most 0, and a divisor of at least 1")
        if 4 * -self.exponent + self.divisor.bit_length() > MAX_UNIT_BITS:
            text = f"a unit of {self.base}^{self.exponent} over a divisor of {self.divisor.bit_length()} bits"
            raise ScaleError(f"{text} is finer than any key has headroom for")
        if self.exponent == 0:
            object.__setattr__(self, "base", 10)

    @classmethod
    def of(cls, scale: int | None = None, exponent: int | None = None) -> Encoding:
        """The encoding with `scale` decimal digits after the point, or on the power of sixteen
        `exponent`.

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

    @property
    def denominator(self) -> int:
        """The denominator of `unit`, whose numerator is 1."""
        steps: int = self.base**-self.exponent
        return steps * self.divisor

    def __str__(self) -> str:
        """As errors name it."""
        scale = f"scale {self.scale}" if self.base == 10 else f"exponent {self.exponent}"
        quotient = "" if self.divisor == 1 else f" / {self.divisor}"
        return ("integers" if self.exponent == 0 else scale) + quotient

    def times(self, other: Encoding) -> Encoding:
        """The encoding of products.

        Of a power of ten and one of sixteen, the power of ten becomes a divisor.
        """
        if self.base == other.base or 0 in (self.exponent, other.exponent):
            base = other.base if self.exponent == 0 else self.base
            return Encoding(base, self.exponent + other.exponent, self.divisor * other.divisor)
        return self._on_sixteens(other, self.denominator * other.denominator)

    def common(self, other: Encoding) -> Encoding:
        """The coarsest encoding that holds every number of both exactly."""
        if other is self or other == self or other.denominator == 1:
            return self
        denominator = lcm(self.denominator, other.denominator)
        if self.base == other.base == 10:
            exponent = min(self.exponent, other.exponent)
            return Encoding(10, exponent, denominator // 10**-exponent)
        return self._on_sixteens(other, denominator)

    def _on_sixteens(self, other: Encoding, denominator: int) -> Encoding:
        """The encoding with a denominator, on the finest power of sixteen of these two; whatever is
        left of it is the divisor.
        """
        exponent = min(one.exponent for one in (self, other) if one.base == 16)
        return Encoding(16, exponent, denominator // 16**-exponent)

    def over(self, divisor: int) -> Encoding:
        """The encoding of quotients by a positive integer: the same integers stand for them."""
        return Encoding(self.base, self.exponent, self.divisor * divisor)

    def undivided(self) -> Encoding:
        """This encoding, where others than this package can read it: without a division, and with
        digits that can be asked for.

        Raises:
            ScaleError: they cannot.
        """
        if self.divisor != 1:
            text = f"quotients ({self}) have no form outside: decrypt them, or hand on the sum and the count"
            raise ScaleError(text, kind="quotients")
        if self.exponent < {10: -MAX_SCALE, 16: MIN_EXPONENT}[self.base]:
            text = f"{self} has no form outside, which takes {MAX_SCALE} digits: decrypt the numbers"
            raise ScaleError(text, kind="too_many_digits")
        return self

    def steps_to(self, finer: Encoding) -> int:
        """The factor by which integers grow when they move to a finer encoding."""
        steps, rest = divmod(finer.denominator, self.denominator)
        if rest:
            raise ScaleError(f"{self} cannot become {finer}: digits can be added, not dropped")
        return steps

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

        Binary fractions are rounded to the nearest multiple of the unit. Decimal numbers must be
        exact, unless `rounding` asks for the nearest, half to even; a float stands for the shortest
        decimal that reads back as it.

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
        """The numbers that integers stand for: `int64` (or Python's integers where they do not
        fit), `Decimal`, `float64`; quotients as the nearest `float64`.

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
        """The integers of doubles, each the shortest decimal that reads back as it, as `_integer`
        gives them one by one.

        No two decimals of 15 digits read as one double: an integer below 10^15 that gives the
        double when it is divided is the one. Where digits are rounded away, the product is too, by
        less than what lies between it and the next half. Whatever is left goes one by one.
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
        """The number, a float as the binary fraction that it is where numbers are binary
        fractions.
        """
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
