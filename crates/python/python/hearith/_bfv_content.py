"""What vectors that are encrypted whole and their totals have in common: a key, what their numbers
stand for and how large they can be.
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

#: The public keys that this process has loaded, by identity: of two equal ones either may be
#: dropped first.
_KEYS: WeakValueDictionary[int, BfvPublicKey] = WeakValueDictionary()


def note(key: BfvPublicKey) -> BfvPublicKey:
    """Lets unpickled numbers find the key for as long as somebody holds it."""
    _KEYS[id(key)] = key
    return key


class Content(NoPlaintextOperators, ABC, Generic[Rows]):
    """Encrypted numbers. Nothing changes them; operations make others.

    After unpickling, the key is looked for and the ciphertexts are checked when they are first
    needed.
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
        """They come from `hearith.bfv` and from operations on others."""
        if not isinstance(key, BfvPublicKey | str):
            raise TypeError(f"{type(self).__name__} comes from a key's encrypt, and from operations on vectors")
        self._key = key if isinstance(key, BfvPublicKey) else None
        self._rows: Rows | bytes = rows
        self.key_id = key if isinstance(key, str) else key.id
        self.encoding, self.bound, self.bits, self.shape = encoding, bound, bits, shape

    @staticmethod
    @abstractmethod
    def _read(key: BfvPublicKey, data: bytes) -> Rows:
        """The ciphertexts of a key from their bytes."""

    @property
    def key(self) -> BfvPublicKey:
        """The public key in Rust, for the modules of this package.

        Raises:
            KeyMismatchError: it is not loaded in this process.
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
        """The ciphertexts in Rust, for the modules of this package."""
        if isinstance(self._rows, bytes):
            rows = self._read(self.key, self._rows)
            if len(rows) != math.prod(self.shape) or rows.bits not in (None, self.bits):
                raise CiphertextError("the ciphertexts do not match their description", kind="lengths")
            self._rows = rows
        return self._rows

    @property
    def scale(self) -> int:
        """Decimal digits after the point."""
        return self.encoding.scale

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts."""
        return len(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The ciphertexts one after another, each behind its length in four bytes, little end
        first.
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
        """Ciphertexts under a public key from their bytes; `range` bounds the numbers they hold (by
        default 2^63 - 1 units, or what there is room for).

        Raises:
            CiphertextError: they are none.
            KeyMismatchError: they are of another key.
        """
        encoding = Encoding.of(scale, exponent)
        rows = cls._read(key.native, data)
        bits = rows.bits or 2
        most = 2 ** (bits - 1) - 1
        bound = min(DEFAULT_RANGE, most) if range is None else encoding.bound(range)
        if bound > most:
            raise RangeError(f"numbers of {bits} bits have no such range", kind="out_of_range")
        return cls(key.native, rows, encoding, bound, bits, (len(rows),))

    def decoded(self, integers: Integers) -> int | Decimal | float | npt.NDArray[Any]:
        """The numbers that decrypted integers stand for; of a single number Python's own.

        Raises:
            RangeError: an integer exceeds the bound.
        """
        row = first_beyond(integers, self.bound)
        if row is not None:
            raise RangeError("holds more than its bound, so it cannot be relied on", row, kind="overflow")
        found = self.encoding.decode(integers)
        if not self.shape:
            number: int | Decimal | float = found.tolist()[0]
            return number
        return found

    def __repr__(self) -> str:
        extent = f"{self.shape[0]} numbers" if self.shape else "single"
        return f"<{type(self).__name__}: {extent}, {self.encoding}, key {self.key_id[:8]}..., {self.bits} bits>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Everything but the key."""
        encoding = (self.encoding.base, self.encoding.exponent, self.encoding.divisor)
        return _restore, (type(self), self.key_id, encoding, self.bound, self.bits, self.shape, self.to_bytes())

    def _holding(self, rows: Rows, shape: Shape | None = None) -> Self:
        """Other ciphertexts of the same kind."""
        place = self.shape if shape is None else shape
        return type(self)(self.key, rows, self.encoding, self.bound, self.bits, place)


def check_alike(first: Content[Rows], other: Content[Rows]) -> None:
    """Checks that numbers can be added up.

    Raises:
        KeyMismatchError: they are under different keys.
        ShapeError: there are more of one than of the other, or there is other room for them.
    """
    check_key(other, first.key_id)
    if first.shape != other.shape:
        raise ShapeError(f"shapes {first.shape} and {other.shape} do not match", kind="lengths")
    if first.bits != other.bits:
        text = f"numbers with room for {first.bits} bits and others with {other.bits}"
        raise ShapeError(f"{text}: encrypt with the same range= and max_additions=", kind="bits_differ")


def check_key(content: Content[Any], key_id: str) -> None:
    """Raises `KeyMismatchError` if numbers are under another key than this."""
    if content.key_id != key_id:
        text = f"numbers under key {content.key_id}, but this is key {key_id}"
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
    """Unpickled numbers."""
    return kind(key_id, data, Encoding(*encoding), bound, bits, shape)
