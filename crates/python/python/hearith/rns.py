"""Residue number systems (RNS): batched conversion of long integers to their residues modulo
several word-sized moduli, and back.

Do not use this module for secrets: time depends only on lengths, but nothing is wiped from memory.
docs/explanation/rns.md describes the method.

>>> from hearith import rns
>>> basis = rns.Basis([1_073_692_673, 1_073_479_681])
>>> basis.residues([7 * 1_073_692_673 + 5, 12])
array([[      5,      12],
       [1490949,      12]], dtype=uint64)
>>> basis.numbers(basis.residues([10**12, 3]))
[1000000000000, 3]
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from hearith import _native as rust
from hearith.errors import NumberError, RangeError, ShapeError

__all__ = ["Basis"]


class Basis:
    """A basis of pairwise coprime moduli.

    Every integer from 0 up to their product has unique residues.
    """

    __slots__ = ("_moduli", "_native")

    def __init__(self, moduli: Iterable[SupportsIndex], *, engine: str | None = None) -> None:
        """Prepares a basis.

        Args:
            moduli: 1 to 512 integers of 2 to 60 bits, no two with a common factor.
            engine: the conversion engine; by default the fastest one of the machine.

        Raises:
            ValueError: there are no moduli or too many, they are out of range or not coprime, or
                there is no such engine.
        """
        self._moduli = tuple(index(modulus) for modulus in moduli)
        if not all(0 <= modulus < 2**64 for modulus in self._moduli):
            raise ValueError("a modulus must have 2 to 60 bits")
        self._native = rust.RnsBasis(list(self._moduli), engine)

    @property
    def moduli(self) -> tuple[int, ...]:
        """The moduli."""
        return self._moduli

    @property
    def product(self) -> int:
        """The product of the moduli."""
        return int.from_bytes(self._native.product, "little")

    @property
    def bits(self) -> int:
        """The size in bits of the product, and of the longest integer that can be converted."""
        return self._native.bits

    def residues(self, numbers: Iterable[SupportsIndex]) -> npt.NDArray[np.uint64]:
        """Returns the residues of integers, with one row per modulus and one column per integer.

        Integers of up to `bits` bits are accepted. Those below `product` can be recovered with
        `numbers`.

        Raises:
            RangeError: an integer is negative or has more than `bits` bits.
            NumberError: a value is not an integer.
        """
        width, most = self._native.width, self.bits
        data = bytearray()
        for row, number in enumerate(numbers):
            try:
                value = index(number)
            except TypeError as error:
                raise NumberError("not an integer", row) from error
            if value < 0 or value.bit_length() > most:
                raise RangeError(f"not a non-negative integer of at most {most} bits", row, kind="too_long")
            data += value.to_bytes(width, "little")
        residues = np.frombuffer(self._native.residues(bytes(data)), dtype="<u8")
        return residues.reshape(len(self._moduli), -1).astype(np.uint64)

    def numbers(self, residues: npt.ArrayLike) -> list[int]:
        """Returns the integers below `product` that have these residues, in the format of
        `residues`.

        Raises:
            ShapeError: there is not one row per modulus.
            RangeError: a residue is negative or not below its modulus.
            NumberError: the argument is not an array of integers.
        """
        array: npt.NDArray[Any] = np.asarray(residues)
        if array.ndim != 2 or array.shape[0] != len(self._moduli):
            raise ShapeError(
                f"an array of {len(self._moduli)} rows is expected, one for each modulus, not {array.shape}"
            )
        if array.dtype.kind not in "iu" and array.size:
            raise NumberError(f"residues must be integers, not {array.dtype}")
        if array.dtype.kind == "i" and (array < 0).any():
            raise RangeError("a residue is negative", int(np.argwhere(array < 0)[0, 1]))
        data = self._native.numbers(array.astype("<u8").tobytes())
        width = self._native.width
        return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]

    def __repr__(self) -> str:
        """Shows the number of moduli and the size of their product in bits."""
        return f"<rns.Basis of {len(self._moduli)} moduli, {self.bits} bits>"
