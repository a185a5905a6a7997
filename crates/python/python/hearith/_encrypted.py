"""What an encrypted array is made of: ciphertexts of a key, their encoding, and the bound of what
they hold.
"""

from __future__ import annotations

import math
import operator
from copy import copy
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith import _computing
from hearith._computing import ComputingKey
from hearith._integers import Integers, first_beyond
from hearith._native import Ciphertexts, PublicKey
from hearith._operands import Shape
from hearith.encoding import Encoding
from hearith.errors import CiphertextError, KeyMismatchError, RangeError

#: Rows of arrays whose sums are put off, and addends of such a sum.
FEW, PARTS = 16, 256


class Pending:
    """A sum of ciphertexts, row by row, that is computed when it is first needed."""

    __slots__ = ("_native", "parts")

    def __init__(self, native: PublicKey, parts: list[Ciphertexts]) -> None:
        """The sum of parts of as many rows each."""
        self._native, self.parts = native, parts

    def sum(self) -> Ciphertexts:
        """The sum. Threads that ask at the same time compute the same."""
        parts = self.parts
        if len(parts) > 1:
            rows = len(parts[0])
            if len(parts) == 2:
                found = self._native.add(*parts)
            elif rows == 1:
                # By all lanes, where a group has one.
                found = self._native.sum(parts[0].concat(parts[1:]))
            else:
                groups = [list(range(row, rows * len(parts), rows)) for row in range(rows)]
                found = self._native.sum_groups(parts[0].concat(parts[1:]), groups)
            self.parts = parts = [found]
        return parts[0]


class Encrypted:
    """Numbers under one key, row by row, and their shape.

    Nothing changes them; operations make others.

    After unpickling, the key is looked for and the ciphertexts are checked when they are first
    needed.
    """

    __slots__ = ("_key", "_rows", "bits", "bound", "encoding", "key_id", "shape")

    def __init__(
        self, key: ComputingKey, rows: Ciphertexts, encoding: Encoding, bound: int, shape: Shape | None = None
    ) -> None:
        """Ciphertexts of integers of at most `bound` in magnitude; a vector, unless they have
        another shape.

        Raises:
            RangeError: integers so large do not fit the key.
        """
        self._key: ComputingKey | None = key
        self._rows: Ciphertexts | Pending | bytes = rows
        self.key_id, self.bits = key.id, key.bits
        self.encoding, self.bound = encoding, checked_bound(bound, key.bits)
        self.shape: Shape = (len(rows),) if shape is None else shape

    @classmethod
    def pending(cls, key_id: str, bits: int, encoding: Encoding, bound: int, shape: Shape, data: bytes) -> Encrypted:
        """Numbers from the bytes of their ciphertexts, of a key that is loaded before they are
        needed.

        Raises:
            CiphertextError: the bytes are not as many ciphertexts as the shape has places.
            RangeError: the bound exceeds the key.
        """
        width = ciphertext_bytes(operator.index(bits))
        if len(data) != width * math.prod(shape):
            text = f"{len(data)} bytes are no {math.prod(shape)} ciphertexts of {width} bytes: no whole number of rows, or too few"
            raise CiphertextError(text, kind="width")
        self = object.__new__(cls)
        self._key, self._rows, self.key_id, self.bits = None, data, key_id, bits
        self.encoding, self.bound, self.shape = encoding, checked_bound(bound, bits), shape
        return self

    @property
    def key(self) -> ComputingKey:
        """The public key.

        Raises:
            KeyMismatchError: it is not loaded in this process.
        """
        if self._key is None:
            self._key = _computing.find(self.key_id)
        return self._key

    @property
    def rows(self) -> Ciphertexts:
        """The ciphertexts."""
        if isinstance(self._rows, bytes):
            self._rows = read_ciphertexts(self.key, self._rows)
        elif isinstance(self._rows, Pending):
            self._rows = self._rows.sum()
        return self._rows

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)

    @property
    def single(self) -> bool:
        """Whether this is a single number, and no array."""
        return self.shape == ()

    @property
    def width(self) -> int:
        """Bytes of a ciphertext."""
        return ciphertext_bytes(self.bits)

    def to_bytes(self) -> bytes:
        """The ciphertexts one after another, big-endian."""
        return self._rows if isinstance(self._rows, bytes) else self.rows.to_bytes()

    def decoded(self, integers: Integers) -> int | Decimal | float | npt.NDArray[Any]:
        """The numbers that decrypted integers stand for, in an array; of a single number Python's
        own.

        Raises:
            RangeError: an integer exceeds the bound, or a number a float.
        """
        row = first_beyond(integers, self.bound)
        if row is not None:
            raise RangeError("holds more than the array's bound, so it cannot be relied on", row, kind="overflow")
        numbers = self.encoding.decode(integers)
        if self.single:
            number: int | Decimal | float = numbers.tolist()[0]
            return number
        return numbers.reshape(self.shape)

    def kind(self) -> type[Any]:
        """What `decoded` gives: an array, or the type of a single number."""
        return type(self.encoding.decode(np.zeros(1, np.int64)).tolist()[0]) if self.single else np.ndarray

    def shaped(self, shape: Shape) -> Encrypted:
        """The same numbers in another shape of as many places."""
        new = copy(self)
        new.shape = shape
        return new

    def over(self, divisor: int) -> Encrypted:
        """The quotients by a positive integer: the same ciphertexts stand for them."""
        new = copy(self)
        new.encoding = self.encoding.over(divisor)
        return new

    def holding(
        self, rows: Ciphertexts, shape: Shape, *, encoding: Encoding | None = None, bound: int | None = None
    ) -> Encrypted:
        """Other ciphertexts under the same key; encoding and bound as they were, unless others are
        given.
        """
        new = object.__new__(Encrypted)
        new._key, new._rows, new.key_id, new.bits, new.shape = self.key, rows, self.key_id, self.bits, shape
        new.encoding = self.encoding if encoding is None else encoding
        new.bound = self.bound if bound is None else checked_bound(bound, self.bits, self.bound)
        return new

    def plus(self, other: Encrypted, bound: int) -> Encrypted:
        """The sums with as many numbers of the same key and encoding: put off, where they are few,
        until somebody needs them.

        A vector engine takes as long for one product as for all its lanes, and the way to it longer
        than many.
        """
        native = self.key.native
        if (self.shape and self.size > FEW) or type(native) is not PublicKey:
            return self.holding(native.add(self.rows, other.rows), self.shape, bound=bound)
        parts = [*self._parts(), *other._parts()]
        if len(parts) > PARTS:
            parts = [self.rows, other.rows]
        made = self.holding(parts[0], self.shape, bound=bound)
        made._rows = Pending(native, parts)
        return made

    def _parts(self) -> list[Ciphertexts]:
        return self._rows.parts if isinstance(self._rows, Pending) else [self.rows]

    def selected(self, places: npt.NDArray[np.intp]) -> Encrypted:
        """The numbers at places in row-major order, in the places' shape."""
        return self.holding(self.rows.select(places.reshape(-1).tolist()), places.shape)


def ciphertext_bytes(bits: int) -> int:
    """Bytes of a ciphertext under a key of so many bits: twice those of n."""
    return 2 * -(-bits // 8)


def checked_bound(bound: int, bits: int, before: int | None = None, what: str = "the result") -> int:
    """The bound, if numbers so large are below half of any n of so many bits; `before` is the bound
    of an operand.

    Raises:
        RangeError: they are not; it says how many bits of headroom there are.
    """
    if bound.bit_length() > bits - 2:
        text = f"{what} could need {bound.bit_length() + 1} bits, more than a key of {bits} bits holds"
        if before is not None:
            text += f"; it has {bits - 2 - before.bit_length()} bits of headroom beyond these numbers"
        raise RangeError(text, kind="headroom")
    return bound


def check_key(numbers: Encrypted, key_id: str) -> None:
    """Raises `KeyMismatchError` if numbers are under another key than this."""
    if numbers.key_id != key_id:
        raise KeyMismatchError(f"numbers under key {numbers.key_id}, but this is key {key_id}", kind="wrong_key")


def read_ciphertexts(key: ComputingKey, data: bytes) -> Ciphertexts:
    """Ciphertexts of a key from their bytes.

    Raises:
        CiphertextError: a row is none of this key's, or the bytes are not a whole number of rows.
    """
    width = ciphertext_bytes(key.bits)
    if len(data) % width:
        text = f"{len(data)} bytes are not a whole number of rows of {width} bytes"
        raise CiphertextError(text, kind="width")
    return key.native.ciphertexts(data)
