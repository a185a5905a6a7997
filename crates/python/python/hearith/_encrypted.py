"""The content of an encrypted array: ciphertexts of a key, their encoding, and the bound of their
numbers.
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

#: The largest array whose sums are deferred, in rows, and the largest number of addends of such a
#: sum.
DEFERRED_ROWS, DEFERRED_ADDENDS = 16, 256


class PendingSum:
    """A row-by-row sum of ciphertexts, computed on first use."""

    __slots__ = ("_native", "parts")

    def __init__(self, native: PublicKey, parts: list[Ciphertexts]) -> None:
        """Creates the sum of parts with equal numbers of rows."""
        self._native, self.parts = native, parts

    def sum(self) -> Ciphertexts:
        """Returns the sum. Concurrent callers compute the same result."""
        parts = self.parts
        if len(parts) > 1:
            rows = len(parts[0])
            if len(parts) == 2:
                found = self._native.add(*parts)
            elif rows == 1:
                # Uses all lanes, where `sum_groups` uses one per group.
                found = self._native.sum(parts[0].concat(parts[1:]))
            else:
                groups = [list(range(row, rows * len(parts), rows)) for row in range(rows)]
                found = self._native.sum_groups(parts[0].concat(parts[1:]), groups)
            self.parts = parts = [found]
        return parts[0]


class Encrypted:
    """Numbers under one key, row by row, and their shape.

    Instances are immutable; operations return new ones.

    After unpickling, the key is looked up and the ciphertexts are checked on first use.
    """

    __slots__ = ("_key", "_rows", "bits", "bound", "encoding", "key_id", "shape")

    def __init__(
        self, key: ComputingKey, rows: Ciphertexts, encoding: Encoding, bound: int, shape: Shape | None = None
    ) -> None:
        """Wraps ciphertexts of integers of at most `bound` in magnitude, as a vector by default.

        Raises:
            RangeError: the bound does not fit the key.
        """
        self._key: ComputingKey | None = key
        self._rows: Ciphertexts | PendingSum | bytes = rows
        self.key_id, self.bits = key.id, key.bits
        self.encoding, self.bound = encoding, checked_bound(bound, key.bits)
        self.shape: Shape = (len(rows),) if shape is None else shape

    @classmethod
    def pending(cls, key_id: str, bits: int, encoding: Encoding, bound: int, shape: Shape, data: bytes) -> Encrypted:
        """Wraps the bytes of ciphertexts under a key that must be loaded before their first use.

        Raises:
            CiphertextError: the size of the bytes does not match the shape.
            RangeError: the bound does not fit the key.
        """
        width = ciphertext_bytes(operator.index(bits))
        if len(data) != width * math.prod(shape):
            text = f"{len(data)} bytes are not {math.prod(shape)} ciphertexts of {width} bytes each"
            raise CiphertextError(text, kind="width")
        self = object.__new__(cls)
        self._key, self._rows, self.key_id, self.bits = None, data, key_id, bits
        self.encoding, self.bound, self.shape = encoding, checked_bound(bound, bits), shape
        return self

    @property
    def key(self) -> ComputingKey:
        """The public key.

        Raises:
            KeyMismatchError: the key is not loaded in this process.
        """
        if self._key is None:
            self._key = _computing.find(self.key_id)
        return self._key

    @property
    def rows(self) -> Ciphertexts:
        """The ciphertexts."""
        if isinstance(self._rows, bytes):
            self._rows = read_ciphertexts(self.key, self._rows)
        elif isinstance(self._rows, PendingSum):
            self._rows = self._rows.sum()
        return self._rows

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def single(self) -> bool:
        """Whether this is a scalar."""
        return self.shape == ()

    @property
    def width(self) -> int:
        """The size of a ciphertext in bytes."""
        return ciphertext_bytes(self.bits)

    def to_bytes(self) -> bytes:
        """Returns the concatenated ciphertexts, big-endian."""
        return self._rows if isinstance(self._rows, bytes) else self.rows.to_bytes()

    def decoded(self, integers: Integers) -> int | Decimal | float | npt.NDArray[Any]:
        """Decodes decrypted integers to an array, or a Python number for a scalar.

        Raises:
            RangeError: an integer exceeds the bound, or a number exceeds a float.
        """
        row = first_beyond(integers, self.bound)
        if row is not None:
            raise RangeError("exceeds the array's bound, so it is not reliable", row, kind="overflow")
        numbers = self.encoding.decode(integers)
        if self.single:
            number: int | Decimal | float = numbers.tolist()[0]
            return number
        return numbers.reshape(self.shape)

    def kind(self) -> type[Any]:
        """Returns the result type of `decoded`: an array, or the type of a scalar."""
        return type(self.encoding.decode(np.zeros(1, np.int64)).tolist()[0]) if self.single else np.ndarray

    def shaped(self, shape: Shape) -> Encrypted:
        """Returns the same numbers in another shape of the same size."""
        new = copy(self)
        new.shape = shape
        return new

    def with_divisor(self, divisor: int) -> Encrypted:
        """Returns the quotients by a positive integer, with the same ciphertexts."""
        new = copy(self)
        new.encoding = self.encoding.with_divisor(divisor)
        return new

    def replaced(
        self, rows: Ciphertexts, shape: Shape, *, encoding: Encoding | None = None, bound: int | None = None
    ) -> Encrypted:
        """Returns other ciphertexts under the same key; encoding and bound are kept unless
        given.
        """
        new = object.__new__(Encrypted)
        new._key, new._rows, new.key_id, new.bits, new.shape = self.key, rows, self.key_id, self.bits, shape
        new.encoding = self.encoding if encoding is None else encoding
        new.bound = self.bound if bound is None else checked_bound(bound, self.bits, self.bound)
        return new

    def plus(self, other: Encrypted, bound: int) -> Encrypted:
        """Returns the sums with equally many numbers of the same key and encoding.

        Sums of few numbers are deferred until they are needed.

        A vector engine takes as long for one product as for all its lanes, and calling it takes
        longer than many products.
        """
        native = self.key.native
        if (self.shape and self.size > DEFERRED_ROWS) or type(native) is not PublicKey:
            return self.replaced(native.add(self.rows, other.rows), self.shape, bound=bound)
        parts = [*self._parts(), *other._parts()]
        if len(parts) > DEFERRED_ADDENDS:
            parts = [self.rows, other.rows]
        made = self.replaced(parts[0], self.shape, bound=bound)
        made._rows = PendingSum(native, parts)
        return made

    def _parts(self) -> list[Ciphertexts]:
        return self._rows.parts if isinstance(self._rows, PendingSum) else [self.rows]

    def selected(self, positions: npt.NDArray[np.intp]) -> Encrypted:
        """Returns the numbers at row-major positions, in the shape of `positions`."""
        return self.replaced(self.rows.select(positions.reshape(-1).tolist()), positions.shape)


def ciphertext_bytes(bits: int) -> int:
    """Returns the size of a ciphertext in bytes under a key of `bits` bits: twice that of n."""
    return 2 * -(-bits // 8)


def checked_bound(bound: int, bits: int, before: int | None = None, what: str = "the result") -> int:
    """Returns the bound if it is below half of any n of `bits` bits; `before` is the bound of an
    operand.

    Raises:
        RangeError: the bound is too large; the error states the bits of headroom.
    """
    if bound.bit_length() > bits - 2:
        text = f"{what} could need {bound.bit_length() + 1} bits, more than a key of {bits} bits holds"
        if before is not None:
            text += f"; it has {bits - 2 - before.bit_length()} bits of headroom beyond these numbers"
        raise RangeError(text, kind="headroom")
    return bound


def check_key(numbers: Encrypted, key_id: str) -> None:
    """Raises `KeyMismatchError` if the numbers are not under this key."""
    if numbers.key_id != key_id:
        raise KeyMismatchError(
            f"the numbers are under key {numbers.key_id}, but this is key {key_id}", kind="wrong_key"
        )


def read_ciphertexts(key: ComputingKey, data: bytes) -> Ciphertexts:
    """Reads ciphertexts of a key from bytes.

    Raises:
        CiphertextError: a row is not a ciphertext of this key, or the bytes are not a whole number
            of rows.
    """
    width = ciphertext_bytes(key.bits)
    if len(data) % width:
        text = f"{len(data)} bytes are not a whole number of rows of {width} bytes"
        raise CiphertextError(text, kind="width")
    return key.native.ciphertexts(data)
