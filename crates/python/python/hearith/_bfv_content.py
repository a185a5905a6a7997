"""The common base of batched vectors and their totals: a key, the encoding of the numbers and their
bounds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import Decimal
from typing import Any, Generic, Self, TypeVar
from weakref import WeakValueDictionary

import numpy.typing as npt

from hearith._integers import Integers, first_beyond
from hearith._native import BfvPublicKey, BfvTotals, BfvVector
from hearith._no_plaintext_operators import NoPlaintextOperators
from hearith._operands import Number, Shape
from hearith.encoding import DEFAULT_RANGE, Encoding
from hearith.errors import CiphertextError, KeyMismatchError, RangeError, ShapeError

Rows = TypeVar("Rows", BfvVector, BfvTotals)

#: Loaded public keys by object identity, since either of two equal keys may be dropped first.
_KEYS: WeakValueDictionary[int, BfvPublicKey] = WeakValueDictionary()


def note(key: BfvPublicKey) -> BfvPublicKey:
    """Registers a key, so that unpickled numbers find it while it is referenced."""
    _KEYS[id(key)] = key
    return key


class Content(NoPlaintextOperators, ABC, Generic[Rows]):
    """Immutable encrypted numbers; operations return new ones.

    After unpickling, the key is looked up and the ciphertexts are checked on first use.
    """

    __slots__ = ("_key", "_rows", "bits", "bound", "encoding", "key_id", "shape")

    def __init__(
        self,
        key: BfvPublicKey | str,
        rows: Rows | bytes,
        encoding: Encoding,
        bound: int,
        bits: int,
        shape: Shape,
    ) -> None:
        """Wraps encrypted content. Use `hearith.bfv` instead."""
        if not isinstance(key, BfvPublicKey | str):
            raise TypeError(f"{type(self).__name__} comes from a key's encrypt, and from operations on vectors")
        self._key = key if isinstance(key, BfvPublicKey) else None
        self._rows: Rows | bytes = rows
        self.key_id = key if isinstance(key, str) else key.id
        self.encoding, self.bound, self.bits, self.shape = encoding, bound, bits, shape

    @staticmethod
    @abstractmethod
    def _read(key: BfvPublicKey, data: bytes) -> Rows:
        """Reads the ciphertexts of a key from bytes."""

    @property
    def key(self) -> BfvPublicKey:
        """The Rust public key, for the modules of this package.

        Raises:
            KeyMismatchError: the key is not loaded in this process.
        """
        if self._key is None:
            found = (key for key in list(_KEYS.values()) if key.id == self.key_id)
            self._key = next(found, None)
        if self._key is None:
            text = f"the public key {self.key_id} is not loaded in this process"
            raise KeyMismatchError(
                f"{text}: load it, and keep it, before computing with its numbers", kind="not_loaded"
            )
        return self._key

    @property
    def rows(self) -> Rows:
        """The Rust ciphertexts, for the modules of this package."""
        if isinstance(self._rows, bytes):
            rows = self._read(self.key, self._rows)
            if len(rows) != math.prod(self.shape) or rows.bits not in (None, self.bits):
                raise CiphertextError("the ciphertexts do not match their description", kind="lengths")
            self._rows = rows
        return self._rows

    @property
    def scale(self) -> int:
        """The number of decimal digits after the point."""
        return self.encoding.scale

    @property
    def nbytes(self) -> int:
        """The size of the ciphertexts in bytes."""
        return len(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Returns the concatenated ciphertexts, each after its length in four little-endian
        bytes.
        """
        return self._rows if isinstance(self._rows, bytes) else self._rows.to_bytes()

    @classmethod
    def from_bytes(
        cls,
        key: Any,
        data: bytes,
        *,
        scale: int | None = None,
        exponent: int | None = None,
        range: Number | None = None,
    ) -> Self:
        """Reads ciphertexts under a public key from bytes.

        `range` bounds their numbers (by default 2^63 - 1 units, or the plaintext capacity if that
        is smaller).

        Raises:
            CiphertextError: the bytes are not valid ciphertexts.
            KeyMismatchError: they belong to another key.
        """
        encoding = Encoding.of(scale, exponent)
        rows = cls._read(key.native, data)
        bits = rows.bits or 2
        most = 2 ** (bits - 1) - 1
        bound = min(DEFAULT_RANGE, most) if range is None else encoding.bound(range)
        if bound > most:
            raise RangeError(f"the range does not fit numbers of {bits} bits", kind="out_of_range")
        return cls(key.native, rows, encoding, bound, bits, (len(rows),))

    def decoded(self, integers: Integers) -> int | Decimal | float | npt.NDArray[Any]:
        """Decodes decrypted integers; a single number is returned as a Python number.

        Raises:
            RangeError: an integer exceeds the bound.
        """
        row = first_beyond(integers, self.bound)
        if row is not None:
            raise RangeError("exceeds its bound, so it is not reliable", row, kind="overflow")
        found = self.encoding.decode(integers)
        if not self.shape:
            number: int | Decimal | float = found.tolist()[0]
            return number
        return found

    def __repr__(self) -> str:
        extent = f"{self.shape[0]} numbers" if self.shape else "single"
        return f"<{type(self).__name__}: {extent}, {self.encoding}, key {self.key_id[:8]}..., {self.bits} bits>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles everything but the key."""
        encoding = (self.encoding.base, self.encoding.exponent, self.encoding.divisor)
        return _restore, (type(self), self.key_id, encoding, self.bound, self.bits, self.shape, self.to_bytes())

    def _with_rows(self, rows: Rows, shape: Shape | None = None) -> Self:
        """Returns other ciphertexts with the same description."""
        new_shape = self.shape if shape is None else shape
        return type(self)(self.key, rows, self.encoding, self.bound, self.bits, new_shape)


def check_alike(first: Content[Rows], other: Content[Rows]) -> None:
    """Checks that numbers can be added.

    Raises:
        KeyMismatchError: they are under different keys.
        ShapeError: their numbers or their bits differ.
    """
    check_key(other, first.key_id)
    if first.shape != other.shape:
        raise ShapeError(f"shapes {first.shape} and {other.shape} do not match", kind="lengths")
    if first.bits != other.bits:
        text = f"numbers of {first.bits} bits and of {other.bits} bits cannot be combined"
        raise ShapeError(f"{text}: encrypt with the same range= and max_additions=", kind="bits_differ")


def check_key(content: Content[Any], key_id: str) -> None:
    """Raises `KeyMismatchError` if the numbers are not under this key."""
    if content.key_id != key_id:
        text = f"the numbers are under key {content.key_id}, but this is key {key_id}"
        raise KeyMismatchError(text, kind="wrong_key")


def _restore(
    kind: type[Content[Any]],
    key_id: str,
    encoding: tuple[int, int, int],
    bound: int,
    bits: int,
    shape: Shape,
    data: bytes,
) -> Content[Any]:
    """Restores pickled numbers."""
    return kind(key_id, data, Encoding(*encoding), bound, bits, shape)
