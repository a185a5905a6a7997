"""Numbers as residues modulo n: an integer times a power of a base, negative ones counted down from
n.
"""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar, Protocol, Self


class Modulus(Protocol):
    """What encoding needs of a public key: n, and the largest integer that is encoded."""

    n: int
    max_int: int


class EncodedNumber:
    """The number `m * BASE**exponent`, where `m` is `encoding` up to n / 3 and `encoding - n` from
    2 n / 3 on.

    What lies between is an overflow. A subclass with another `BASE` (and its `LOG2_BASE`) is
    another encoding.
    """

    BASE: ClassVar[int] = 16
    LOG2_BASE: ClassVar[float] = 4.0
    FLOAT_MANTISSA_BITS: ClassVar[int] = sys.float_info.mant_dig

    def __init__(self, public_key: Modulus, encoding: int, exponent: int) -> None:
        """The residue `encoding` modulo the key's n, standing on `BASE**exponent`."""
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
        """Encodes a number: an integer on exponent 0, a float exactly, or either to within
        `precision`.

        Args:
            public_key: whose n it is.
            scalar: the number.
            precision: the difference that still has to show.
            max_exponent: the exponent is at most this.

        Raises:
            TypeError: `scalar` is neither an integer nor a float.
            ValueError: it needs more than n / 3.
        """
        scalar = plain(scalar)
        exponent = cls._finest(scalar) if precision is None else math.floor(math.log(precision, cls.BASE))
        if max_exponent is not None:
            exponent = min(exponent, max_exponent)
        mantissa = cls._mantissa(scalar, exponent)
        if abs(mantissa) > public_key.max_int:
            raise ValueError(f"the number is beyond n / 3 on either side of 0 (exponent {exponent})")
        return cls(public_key, mantissa % public_key.n, exponent)

    @classmethod
    def _mantissa(cls, scalar: int | float, exponent: int) -> int:
        """The integer next to `scalar / BASE**exponent`."""
        if not isinstance(scalar, int | float) or not isinstance(cls.BASE, int):
            # Loaded by whom needs it: it takes a tenth of a small program's start.
            from fractions import Fraction

            return round(Fraction(scalar) / Fraction(cls.BASE) ** exponent)
        numerator, denominator = scalar.as_integer_ratio()
        if exponent < 0:
            numerator *= cls.BASE**-exponent
        elif exponent > 0:
            denominator *= cls.BASE**exponent
        quotient, rest = divmod(numerator, denominator)
        # Halves go to the even number, as `round` has it.
        return quotient + (2 * rest + quotient % 2 > denominator)

    @classmethod
    def _finest(cls, scalar: int | float) -> int:
        """The highest exponent on which the number's last binary digit shows."""
        if isinstance(scalar, int):
            return 0
        if not isinstance(scalar, float):
            raise TypeError(f"an int or a float is needed, not {type(scalar)}")
        last_bit = math.frexp(scalar)[1] - cls.FLOAT_MANTISSA_BITS
        return math.floor(last_bit / cls.LOG2_BASE)

    def decode(self) -> int | float:
        """The number: an `int` on exponents of 0 and above, otherwise a `float`.

        Raises:
            OverflowError: the residue lies between n / 3 and 2 n / 3, or the number exceeds a
                float.
            ValueError: it is not below n.
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
            # A quotient of integers is rounded once, however large they are.
            quotient: float = mantissa / self.BASE**-self.exponent
        except OverflowError:
            raise OverflowError("the decoded number exceeds a float") from None
        return quotient

    def decrease_exponent_to(self, new_exp: int) -> Self:
        """The same number on a lower exponent.

        Raises:
            ValueError: the exponent is higher than the number's.
        """
        if new_exp > self.exponent:
            raise ValueError(f"exponent {self.exponent} cannot rise to {new_exp}")
        grown = self.encoding * self.BASE ** (self.exponent - new_exp)
        return type(self)(self.public_key, grown % self.public_key.n, new_exp)


def magnitude(key: Modulus, encoding: int) -> int:
    """The integer that an encoding stands for, without its sign."""
    residue = encoding % key.n
    return min(residue, key.n - residue)


def growth(key: Modulus, exponent: int, lower: int) -> int:
    """What a number grows by when its exponent is lowered."""
    if lower > exponent:
        raise ValueError(f"exponent {exponent} cannot rise to {lower}")
    if lower == exponent:
        return 1
    factor: int = EncodedNumber.BASE ** (exponent - lower)
    if factor > key.max_int:
        raise ValueError(f"exponent {lower} is too low for the key")
    return factor


def plain(scalar: int | float) -> int | float:
    """A number of NumPy's as Python's; other things as they are.

    Raises:
        ValueError: it is longer than a float.
    """
    item = getattr(scalar, "item", None)
    if item is None or getattr(scalar, "shape", None) != ():
        return scalar
    found: Any = item()
    if isinstance(found, int | float) or not hasattr(found, "as_integer_ratio"):
        number: int | float = found
        return number
    # A long double stays one.
    if float(found) != found:
        raise ValueError("the number has more digits than a float")
    return float(found)
