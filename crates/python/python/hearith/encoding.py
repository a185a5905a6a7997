"""Numbers as the signed integers that are encrypted.

A number is `integer * base**exponent`: plain integers stand on exponent 0, decimal numbers on a power of ten (`scale=2`
keeps two digits after the point), binary fractions on a power of sixteen, as python-paillier's do (`exponent=-8` keeps 32
bits after the point).
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
from hearith._operands import Number, Numbers, Vector, fraction, vector
from hearith.errors import HearithError, RangeError, ScaleError

#: Largest magnitude of an encoded number unless another is declared: any 64-bit integer's.
DEFAULT_RANGE = 2**63 - 1
#: Most decimal digits after the point, as in encrypted columns.
MAX_SCALE = 38
#: Lowest power of sixteen: finer than any double.
MIN_EXPONENT = -512

_INT64 = np.iinfo(np.int64)
_EXACT = Context(prec=5000)
_NOT_FINITE = "not a finite number"


@dataclass(frozen=True)
class Encoding:
    """What the encrypted integers stand for: multiples of `base**exponent`.

    >>> Encoding.of(scale=2)
    Encoding(base=10, exponent=-2)
    >>> Encoding.of(exponent=-8).unit
    Fraction(1, 4294967296)
    """

    base: int = 10
    exponent: int = 0

    def __post_init__(self) -> None:
        """Checks the exponent."""
        lowest = {10: -MAX_SCALE, 16: MIN_EXPONENT}.get(self.base)
        if lowest is None:
            raise ScaleError("numbers stand on powers of 10 or 16")
        if not lowest <= self.exponent <= 0:
            raise ScaleError(f"a power of {self.base} from {lowest} to 0, not {self.exponent}")
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
        return Fraction(self.base) ** self.exponent

    def __str__(self) -> str:
        """As errors name it."""
        if self.exponent == 0:
            return "integers"
        return f"scale {self.scale}" if self.base == 10 else f"exponent {self.exponent}"

    def times(self, other: Encoding) -> Encoding:
        """The encoding of products."""
        if self.base != other.base and 0 not in (self.exponent, other.exponent):
            raise ScaleError(f"products of {self} and {other} stand on no power of 10 or 16")
        base = other.base if self.exponent == 0 else self.base
        return Encoding(base, self.exponent + other.exponent)

    def steps_to(self, finer: Encoding) -> int:
        """The factor by which integers grow when they move to a finer encoding."""
        same = self.base == finer.base or self.exponent == 0
        if not same or finer.exponent > self.exponent:
            raise ScaleError(f"{self} cannot become {finer}: digits can be added, not dropped")
        factor: int = finer.base ** (self.exponent - finer.exponent)
        return factor

    def bound(self, magnitude: Number) -> int:
        """The largest integer that a number of at most this magnitude has.

        Raises:
            NumberError: the magnitude is no number.
            RangeError: it is not finite.
        """
        scaled = abs(fraction(magnitude)) / self.unit
        return scaled.numerator // scaled.denominator

    def encode(self, values: Numbers, *, limit: int, rounding: bool = False) -> tuple[Integers, bool]:
        """The integers of numbers, and whether it was a single number.

        Binary fractions are rounded to the nearest multiple of the unit. Decimal numbers must be exact, unless `rounding`
        asks for the nearest, half to even; a float stands for the shortest decimal that reads back as it.

        Raises:
            NullError: a value is missing.
            NumberError: what is given is no number, or no vector of them.
            RangeError: an integer exceeds `limit` in magnitude.
            ScaleError: a number has more digits than the encoding keeps.
        """
        found, single = vector(values)
        return self.integers(found, limit=limit, rounding=rounding), single

    def integers(self, found: Vector, *, limit: int, rounding: bool = False) -> Integers:
        """The integers of numbers that have been read already; errors as of `encode`."""
        integers = self._integers(found, rounding or self.base == 16)
        check_range(integers, limit)
        return integers

    def decode(self, integers: Integers) -> npt.NDArray[Any]:
        """The numbers that integers stand for: `int64` (or Python's integers where they do not fit), `Decimal`, `float64`.

        Raises:
            RangeError: a number exceeds a float.
        """
        if self.exponent == 0:
            return integers if isinstance(integers, np.ndarray) else objects(integers)
        if self.base == 10:
            return objects(_EXACT.scaleb(Decimal(int(value)), self.exponent) for value in integers)
        if isinstance(integers, np.ndarray):
            return np.ldexp(integers.astype(np.float64), 4 * self.exponent)
        return np.array([self._float(row, value) for row, value in enumerate(integers)], dtype=np.float64)

    def _float(self, row: int, value: int) -> float:
        try:
            quotient: float = value / 16**-self.exponent
        except OverflowError:
            raise RangeError("the number exceeds a float", row, kind="out_of_range") from None
        return quotient

    def _integers(self, values: Vector, rounding: bool) -> Integers:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
            return self._of_integers(values)
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and self.base == 16:
            return self._of_floats(values)
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

    def _integer(self, row: int, value: Any, rounding: bool) -> int:
        try:
            scaled = fraction(value) / self.unit
        except HearithError as error:
            raise error.at_row(row) from None
        if scaled.denominator != 1 and not rounding:
            text = f"more digits after the point than {self} keeps"
            raise ScaleError(f"{text}: raise the scale (scale=) or round (rounding=True)", row, kind="too_many_digits")
        return round(scaled)
