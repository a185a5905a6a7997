"""Numbers as the signed integers that are encrypted.

A number is `integer * base**exponent`: plain integers stand on exponent 0, decimal numbers on a power of ten (`scale=2`
keeps two digits after the point), binary fractions on a power of sixteen, as python-paillier's do (`exponent=-8` keeps 32
bits after the point).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith.errors import RangeError, ScaleError

#: A plaintext number.
Number: TypeAlias = int | float | Decimal | Fraction | np.integer[Any] | np.floating[Any]
#: A plaintext number or a vector of them.
Numbers: TypeAlias = Number | Sequence[Number] | npt.NDArray[Any]
#: Signed integers of any size: an `int64` array where they fit, else a list.
Integers: TypeAlias = npt.NDArray[np.int64] | list[int]

#: Largest magnitude of an encoded number unless another is declared: any 64-bit integer's.
DEFAULT_RANGE = 2**63 - 1
#: Most decimal digits after the point, as in encrypted columns.
MAX_SCALE = 38
#: Lowest power of sixteen: finer than any double.
MIN_EXPONENT = -512

_INT64 = np.iinfo(np.int64)
_EXACT = Context(prec=5000)
_MOST_DIGITS = 5000


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
        """The encoding with `scale` decimal digits after the point, or on the power of sixteen `exponent`."""
        if scale is not None and exponent is not None:
            raise ScaleError("give scale= (decimal digits) or exponent= (power of sixteen), not both")
        return cls(16, exponent) if exponent is not None else cls(10, -(scale or 0))

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
        """The largest integer that a number of at most this magnitude has."""
        scaled = abs(_fraction(magnitude)) / self.unit
        return scaled.numerator // scaled.denominator

    def encode(self, values: Numbers, *, limit: int, rounding: bool = False) -> tuple[Integers, bool]:
        """The integers of numbers, and whether it was a single number.

        Binary fractions are rounded to the nearest multiple of the unit. Decimal numbers must be exact, unless `rounding`
        asks for the nearest, half to even; a float stands for the shortest decimal that reads back as it.

        Raises:
            RangeError: an integer exceeds `limit` in magnitude.
            ScaleError: a number has more digits than the encoding keeps.
            TypeError: what is given is no number, or no vector of them.
        """
        found, single = _vector(values)
        integers = self._integers(found, rounding or self.base == 16)
        check_range(integers, limit)
        return integers, single

    def decode(self, integers: Integers) -> npt.NDArray[Any]:
        """The numbers that integers stand for: `int64` (or Python's integers where they do not fit), `Decimal`, `float64`."""
        if self.exponent == 0:
            return integers if isinstance(integers, np.ndarray) else objects(integers)
        if self.base == 10:
            return objects(_EXACT.scaleb(Decimal(int(value)), self.exponent) for value in integers)
        if isinstance(integers, np.ndarray):
            return np.ldexp(integers.astype(np.float64), 4 * self.exponent)
        return np.array([value / 16**-self.exponent for value in integers], dtype=np.float64)

    def _integers(self, values: npt.NDArray[Any] | list[Any], rounding: bool) -> Integers:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
            return self._of_integers(values)
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and self.base == 16:
            return self._of_floats(values)
        return _narrow([self._integer(row, value, rounding) for row, value in enumerate(values)])

    def _of_integers(self, values: npt.NDArray[Any]) -> Integers:
        steps = Encoding().steps_to(self)
        if values.size and max(abs(int(values.min())), abs(int(values.max()))) * steps > _INT64.max:
            return [int(value) * steps for value in values]
        return values.astype(np.int64) * np.int64(steps)

    def _of_floats(self, values: npt.NDArray[Any]) -> Integers:
        scaled = np.rint(np.ldexp(values.astype(np.float64), -4 * self.exponent))
        if not np.isfinite(values).all():
            raise RangeError(f"row {int(np.argmin(np.isfinite(values)))}: not a finite number")
        if values.size and not np.abs(scaled).max() < 2.0**62:
            return [self._integer(row, value, True) for row, value in enumerate(values.tolist())]
        return scaled.astype(np.int64)

    def _integer(self, row: int, value: Any, rounding: bool) -> int:
        try:
            scaled = _fraction(value) / self.unit
        except TypeError:
            raise TypeError(f"row {row}: {type(value).__name__} is no number") from None
        except (ValueError, OverflowError):
            raise RangeError(f"row {row}: not a finite number, or far too large") from None
        if scaled.denominator != 1 and not rounding:
            text = f"row {row}: more digits after the point than {self} keeps"
            raise ScaleError(f"{text}: raise the scale (scale=) or round (rounding=True)")
        return round(scaled)


def check_range(integers: Integers, limit: int) -> None:
    """Raises `RangeError`, naming the row, if an integer exceeds `limit` in magnitude."""
    if isinstance(integers, np.ndarray):
        if limit >= 2**63:
            return
        outside = (integers > limit) | (integers < -limit)
        row = int(np.argmax(outside)) if outside.any() else None
    else:
        row = next((row for row, value in enumerate(integers) if abs(value) > limit), None)
    if row is not None:
        raise RangeError(f"row {row}: the number exceeds the declared range (range=)")


def pack(integers: Integers) -> tuple[bytes, int]:
    """Rows of little-endian two's complement, and their width: a multiple of 8 bytes."""
    if isinstance(integers, np.ndarray):
        return integers.astype("<i8", copy=False).tobytes(), 8
    bits = max((value.bit_length() for value in integers), default=0) + 1
    width = 8 * -(-bits // 64)
    return b"".join(value.to_bytes(width, "little", signed=True) for value in integers), width


def unpack(data: bytes, width: int) -> Integers:
    """What `pack` packs."""
    if width == 8:
        return np.frombuffer(data, dtype="<i8").astype(np.int64)
    rows = range(0, len(data), width)
    return [int.from_bytes(data[row : row + width], "little", signed=True) for row in rows]


def bit_length(integers: Integers) -> int:
    """Bits of the largest magnitude."""
    if isinstance(integers, np.ndarray):
        return max(int(integers.max()).bit_length(), int(integers.min()).bit_length()) if integers.size else 0
    return max((value.bit_length() for value in integers), default=0)


def objects(values: Iterable[Any]) -> npt.NDArray[Any]:
    """A one-dimensional array of Python objects."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _vector(values: Any) -> tuple[npt.NDArray[Any] | list[Any], bool]:
    """A vector of numbers, and whether it was a single number."""
    if isinstance(values, list | tuple | range):
        if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
            return np.array(values, dtype=np.int64), False
        return list(values), False
    if isinstance(values, int | float | Decimal | Fraction) or np.isscalar(values):
        return [values], True
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "iubfO":
        raise TypeError(f"an array of {array.dtype} holds no numbers")
    if array.ndim > 1:
        raise ValueError(f"one dimension, not {array.ndim}: ravel() the array and keep its shape")
    return array.reshape(-1), array.ndim == 0


def _narrow(integers: list[int]) -> Integers:
    if all(_INT64.min < value <= _INT64.max for value in integers):
        return np.array(integers, dtype=np.int64)
    return integers


def _fraction(value: Any) -> Fraction:
    """The number exactly; a float as the shortest decimal that reads back as it."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        # float32 and float16 print their own shortest decimal.
        value = Decimal(str(value))
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _MOST_DIGITS:
            raise ValueError("not finite, or hopelessly large or small")
        return Fraction(value)
    if isinstance(value, Fraction):
        return value
    raise TypeError(type(value).__name__)
