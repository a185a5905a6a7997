"""What an encrypted array is made of: ciphertexts of a key, their encoding, and the bound of what they hold."""

from __future__ import annotations

import operator
from copy import copy

from hearith import _computing
from hearith._computing import ComputingKey
from hearith._native import Ciphertexts
from hearith.encoding import Encoding
from hearith.errors import CiphertextError, KeyMismatchError, RangeError


class Encrypted:
    """Numbers under one key, or a single one. Nothing changes them; operations make others.

    After unpickling, the key is looked for and the ciphertexts are checked when they are first needed.
    """

    __slots__ = ("_key", "_rows", "bits", "bound", "encoding", "key_id", "single")

    def __init__(
        self, key: ComputingKey, rows: Ciphertexts, encoding: Encoding, bound: int, single: bool = False
    ) -> None:
        """Ciphertexts of integers of at most `bound` in magnitude.

        Raises:
            RangeError: integers so large do not fit the key.
        """
        self._key: ComputingKey | None = key
        self._rows: Ciphertexts | bytes = rows
        self.key_id, self.bits = key.id, key.bits
        self.encoding, self.bound, self.single = encoding, checked_bound(bound, key.bits), single

    @classmethod
    def pending(cls, key_id: str, bits: int, encoding: Encoding, bound: int, single: bool, data: bytes) -> Encrypted:
        """Numbers from the bytes of their ciphertexts, of a key that is loaded before they are needed.

        Raises:
            CiphertextError: the bytes are no whole number of ciphertexts.
            RangeError: the bound exceeds the key.
        """
        width = ciphertext_bytes(operator.index(bits))
        if len(data) % width or (single and len(data) != width):
            text = f"{len(data)} bytes are no whole number of ciphertexts of {width} bytes"
            raise CiphertextError(text, kind="width")
        self = object.__new__(cls)
        self._key, self._rows, self.key_id, self.bits = None, data, key_id, bits
        self.encoding, self.bound, self.single = encoding, checked_bound(bound, bits), single
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
        return self._rows

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self._rows) // self.width if isinstance(self._rows, bytes) else len(self._rows)

    @property
    def width(self) -> int:
        """Bytes of a ciphertext."""
        return ciphertext_bytes(self.bits)

    def to_bytes(self) -> bytes:
        """The ciphertexts one after another, big-endian."""
        return self._rows if isinstance(self._rows, bytes) else self._rows.to_bytes()

    def shaped(self, single: bool) -> Encrypted:
        """The same numbers as a vector, or as a single number."""
        new = copy(self)
        new.single = single
        return new

    def holding(
        self, rows: Ciphertexts, *, encoding: Encoding | None = None, bound: int | None = None, single: bool
    ) -> Encrypted:
        """Other ciphertexts under the same key; encoding and bound as they were, unless others are given."""
        kept = self.encoding if encoding is None else encoding
        return Encrypted(self.key, rows, kept, self.bound if bound is None else bound, single)


def ciphertext_bytes(bits: int) -> int:
    """Bytes of a ciphertext under a key of so many bits: twice those of n."""
    return 2 * -(-bits // 8)


def checked_bound(bound: int, bits: int) -> int:
    """The bound, if numbers so large are below half of any n of so many bits."""
    if bound.bit_length() > bits - 2:
        text = f"the result could need {bound.bit_length() + 1} bits, more than a key of {bits} bits holds"
        raise RangeError(text, kind="headroom")
    return bound


def check_key(numbers: Encrypted, key_id: str) -> None:
    """Raises `KeyMismatchError` if numbers are under another key than this."""
    if numbers.key_id != key_id:
        raise KeyMismatchError(f"numbers under key {numbers.key_id}, but this is key {key_id}", kind="wrong_key")


def read_ciphertexts(key: ComputingKey, data: bytes) -> Ciphertexts:
    """Ciphertexts of a key from their bytes.

    Raises:
        CiphertextError: a row is none of this key's, or the bytes are no whole number of rows.
    """
    width = ciphertext_bytes(key.bits)
    if len(data) % width:
        text = f"{len(data)} bytes are no whole number of rows of {width} bytes"
        raise CiphertextError(text, kind="width")
    return key.native.ciphertexts(data)
