"""Super-size arithmetic: products of integers of 10^4 to 10^9 bits, and remainders, by
number-theoretic transforms.

Integers are Python's own, of any sign. Batches run on the threads of `hearith.set_threads`. Nothing
here is constant time: it is not for secrets. docs/explanation/ntt.md explains the transforms.

>>> from hearith import ntt
>>> a, b = 3**100_000, -(5**80_000)
>>> ntt.product(a, b) == a * b
True
>>> modulus = ntt.Modulus(2**4000 - 1969)
>>> modulus.remainder(7**2500) == 7**2500 % (2**4000 - 1969)
True
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from hearith import _native as rust

__all__ = ["Modulus", "product", "square"]


def product(a: SupportsIndex, b: SupportsIndex, *, engine: str | None = None) -> int:
    """The product of two integers.

    Args:
        a: a factor.
        b: the other one.
        engine: what computes it; the fastest engine that the machine has if it is not named.

    Raises:
        ValueError: the factors together have more than some 10^10 bits, or there is no such engine.
        MemoryError: there is no memory for the transforms, some 16 times as much as for the
            factors.
    """
    x, y = index(a), index(b)
    if x == 0 or y == 0:
        return 0
    size = _integer(rust.ntt_product(_bytes(abs(x)), _bytes(abs(y)), engine))
    return size if (x < 0) == (y < 0) else -size


def square(a: SupportsIndex, *, engine: str | None = None) -> int:
    """The square of an integer, which takes two thirds of the time of a product.

    Arguments and errors as `product`'s.
    """
    size = abs(index(a))
    return _integer(rust.ntt_product(_bytes(size), None, engine)) if size else 0


class Modulus:
    """A positive integer with its reciprocal, both prepared, so that remainders take two products
    each.
    """

    __slots__ = ("_native", "_value")

    def __init__(self, value: SupportsIndex, *, bits: int | None = None, engine: str | None = None) -> None:
        """Prepares a modulus.

        Args:
            value: the modulus, at least 1.
            bits: of the longest integer that is reduced, twice as many as the modulus has if they
                are not given.
            engine: as in `product`.

        Raises:
            ValueError: the modulus is not positive, `bits` are fewer than it has, or it is too
                long.
        """
        self._value = index(value)
        own = self._value.bit_length()
        if self._value < 1:
            raise ValueError("the modulus must be at least 1")
        most = 2 * own if bits is None else bits
        if most < own:
            raise ValueError(f"bits={bits}, and the modulus has {own}")
        self._native = rust.NttModulus(_bytes(self._value), most - own, engine)

    @property
    def value(self) -> int:
        """The modulus."""
        return self._value

    @property
    def bits(self) -> int:
        """Bits of the longest integer that is reduced."""
        return self._native.most_bits

    def remainder(self, x: SupportsIndex) -> int:
        """`x` modulo the modulus, from 0 on.

        Raises:
            ValueError: `x` has more than `bits` bits.
        """
        number = index(x)
        rest = _integer(self._native.remainder(_bytes(abs(number))))
        return self._value - rest if number < 0 and rest else rest

    def product(self, a: SupportsIndex, b: SupportsIndex) -> int:
        """`a b` modulo the modulus. Raises ValueError if the product has more than `bits` bits."""
        return self.remainder(product(a, b, engine=self._native.engine))

    def __repr__(self) -> str:
        """Its length and what it reduces."""
        return f"<ntt.Modulus of {self._value.bit_length()} bits, for integers of up to {self.bits}>"


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "little")
