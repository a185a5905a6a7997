"""Encoding of numbers as residues modulo n: an integer times a power of a base; negative m is
encoded as n + m.
"""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar, Protocol, Self


class Modulus(Protocol):
    """The parts of a public key that encoding needs: n, and the largest integer that can be
    encoded.
    """

    n: int
    max_int: int


class EncodedNumber:
    """The number `m * BASE**exponent`, where `m` is `encoding` up to n / 3, and `encoding - n` from
    2 n / 3.

    Values in between are overflows. A subclass with another `BASE` (and its `LOG2_BASE`) defines
    another encoding.
    """

    BASE: ClassVar[int] = 16
    LOG2_BASE: ClassVar[float] = 4.0
    FLOAT_MANTISSA_BITS: ClassVar[int] = sys.float_info.mant_dig

    def __init__(self, public_key: Modulus, encoding: int, exponent: int) -> None:
        """Wraps the residue `encoding` modulo the key's n, with the exponent `exponent`."""
        self.public_key = public_key
        self.encoding = encoding
        self.exponent = exponent

    @classmethod
    def encode(
        cls,
        public_key: Modulus,
        scalar: int | float,
        precision: float | None = None,
        max_exponent: int | None = None,
    ) -> Self:
        """Encodes a number: an integer with exponent 0, a float exactly, or either to within
        `precision`.

        Args:
            public_key: the key whose n is used.
            scalar: the number.
            precision: the smallest difference to preserve.
            max_exponent: upper limit of the exponent.

        Raises:
            TypeError: `scalar` is neither an integer nor a float.
            ValueError: the magnitude of the encoded integer exceeds n / 3.
        """
        scalar = plain(scalar)
        exponent = cls._finest(scalar) if precision is None else math.floor(math.log(precision, cls.BASE))
        if max_exponent is not None:
            exponent = min(exponent, max_exponent)
        mantissa = cls._mantissa(scalar, exponent)
        if abs(mantissa) > public_key.max_int:
            raise ValueError(f"the magnitude of the number is beyond n / 3 (exponent {exponent})")
        return cls(public_key, mantissa % public_key.n, exponent)

    @classmethod
    def _mantissa(cls, scalar: int | float, exponent: int) -> int:
        """Returns the integer nearest to `scalar / BASE**exponent`."""
        if not isinstance(scalar, int | float) or not isinstance(cls.BASE, int):
            # Imported only if needed: it takes a tenth of a small program's start-up time.
            from fractions import Fraction

            return round(Fraction(scalar) / Fraction(cls.BASE) ** exponent)
        numerator, denominator = scalar.as_integer_ratio()
        if exponent < 0:
            numerator *= cls.BASE**-exponent
        elif exponent > 0:
            denominator *= cls.BASE**exponent
        quotient, rest = divmod(numerator, denominator)
        # Halves are rounded to even, as in `round`.
        return quotient + (2 * rest + quotient % 2 > denominator)

    @classmethod
    def _finest(cls, scalar: int | float) -> int:
        """Returns the highest exponent that preserves the number's last binary digit."""
        if isinstance(scalar, int):
            return 0
        if not isinstance(scalar, float):
            raise TypeError(f"an int or a float is needed, not {type(scalar)}")
        last_bit = math.frexp(scalar)[1] - cls.FLOAT_MANTISSA_BITS
        return math.floor(last_bit / cls.LOG2_BASE)

    def decode(self) -> int | float:
        """Returns the number: an `int` for exponents from 0, otherwise a `float`.

        Raises:
            OverflowError: the residue lies between n / 3 and 2 n / 3, or the number exceeds a
                float.
            ValueError: the residue is not below n.
        """
        n, most = self.public_key.n, self.public_key.max_int
        if self.encoding >= n:
            raise ValueError("the encoding is not below n: a corrupted number")
        if most < self.encoding < n - most:
            raise OverflowError("the decrypted number overflowed")
        mantissa = self.encoding - n if self.encoding > most else self.encoding
        if self.exponent >= 0:
            return int(mantissa * self.BASE**self.exponent)
        try:
            # The quotient of integers is rounded only once, however large they are.
            quotient: float = mantissa / self.BASE**-self.exponent
        except OverflowError:
            raise OverflowError("the decoded number is too large for a float") from None
        return quotient

    def decrease_exponent_to(self, new_exp: int) -> Self:
        """Returns the same number with a lower exponent.

        Raises:
            ValueError: the exponent is higher than the number's.
        """
        if new_exp > self.exponent:
            raise ValueError(f"exponent {self.exponent} cannot be raised to {new_exp}")
        grown = self.encoding * self.BASE ** (self.exponent - new_exp)
        return type(self)(self.public_key, grown % self.public_key.n, new_exp)


def magnitude(key: Modulus, encoding: int) -> int:
    """Returns the magnitude of an encoded integer."""
    residue = encoding % key.n
    return min(residue, key.n - residue)


def growth(key: Modulus, exponent: int, lower: int) -> int:
    """Returns the factor by which a mantissa grows when its exponent is lowered."""
    if lower > exponent:
        raise ValueError(f"exponent {exponent} cannot be raised to {lower}")
    if lower == exponent:
        return 1
    factor: int = EncodedNumber.BASE ** (exponent - lower)
    if factor > key.max_int:
        raise ValueError(f"exponent {lower} is too low for the key")
    return factor


def plain(scalar: int | float) -> int | float:
    """Converts a NumPy scalar to a Python number; returns other values unchanged.

    Raises:
        ValueError: the number has more digits than a float.
    """
    item = getattr(scalar, "item", None)
    if item is None or getattr(scalar, "shape", None) != ():
        return scalar
    found: Any = item()
    if isinstance(found, int | float) or not hasattr(found, "as_integer_ratio"):
        number: int | float = found
        return number
    # `item` of a long double returns a long double.
    if float(found) != found:
        raise ValueError("the number has more digits than a float can hold")
    return float(found)
