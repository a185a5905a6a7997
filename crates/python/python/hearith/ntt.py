"""Super-size arithmetic: products and remainders of integers of 10^4 to 10^9 bits, by
number-theoretic transforms.

Accepts Python integers of any sign. Batches run on the threads of `hearith.set_threads`. Nothing
here is constant time, so do not use it for secrets. docs/explanation/ntt.md explains the
transforms.

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
    """Returns the product of two integers.

    Args:
        a: a factor.
        b: the other factor.
        engine: the engine; by default the fastest one of the machine.

    Raises:
        ValueError: the factors have more than about 10^10 bits in total, or there is no such
            engine.
        MemoryError: there is not enough memory for the transforms, which need about 16 times as
            much as the factors.
    """
    x, y = index(a), index(b)
    if x == 0 or y == 0:
        return 0
    size = _integer(rust.ntt_product(_bytes(abs(x)), _bytes(abs(y)), engine))
    return size if (x < 0) == (y < 0) else -size


def square(a: SupportsIndex, *, engine: str | None = None) -> int:
    """Returns the square of an integer, in two thirds of the time of a product.

    Arguments and errors are as in `product`.
    """
    size = abs(index(a))
    return _integer(rust.ntt_product(_bytes(size), None, engine)) if size else 0


class Modulus:
    """A positive integer with a precomputed reciprocal; both are transformed in advance, so that a
    remainder takes two products.
    """

    __slots__ = ("_native", "_value")

    def __init__(self, value: SupportsIndex, *, bits: int | None = None, engine: str | None = None) -> None:
        """Prepares a modulus.

        Args:
            value: the modulus, at least 1.
            bits: size of the longest integer to reduce, in bits; by default twice that of the
                modulus.
            engine: as in `product`.

            Raises:
                ValueError: the modulus is not positive, `bits` is less than its size, or it is too
                    long.
        """
        self._value = index(value)
        own = self._value.bit_length()
        if self._value < 1:
            raise ValueError("the modulus must be at least 1")
        most = 2 * own if bits is None else bits
        if most < own:
            raise ValueError(f"bits is {bits}, but the modulus has {own} bits")
        self._native = rust.NttModulus(_bytes(self._value), most - own, engine)

    @property
    def value(self) -> int:
        """The modulus."""
        return self._value

    @property
    def bits(self) -> int:
        """The size in bits of the longest integer that can be reduced."""
        return self._native.most_bits

    def remainder(self, x: SupportsIndex) -> int:
        """Returns `x` modulo the modulus, which is never negative.

        Raises:
            ValueError: `x` has more than `bits` bits.
        """
        number = index(x)
        rest = _integer(self._native.remainder(_bytes(abs(number))))
        return self._value - rest if number < 0 and rest else rest

    def product(self, a: SupportsIndex, b: SupportsIndex) -> int:
        """Returns `a b` modulo the modulus.

        Raises ValueError if the product has more than `bits` bits.
        """
        return self.remainder(product(a, b, engine=self._native.engine))

    def __repr__(self) -> str:
        """Shows the size of the modulus and of the integers it reduces."""
        return f"<ntt.Modulus of {self._value.bit_length()} bits, for integers of up to {self.bits}>"


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "little")
