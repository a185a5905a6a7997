"""Encryption and summation of the integers of updates: packed into slots with Paillier, batched
with BFV.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hearith import _native
from hearith._batches import joined, pieces, rows_from
from hearith._computing import ComputingKey
from hearith._encrypted import read_ciphertexts
from hearith._integers import Integers, joined_integers, packed, unpack
from hearith.errors import CiphertextError

Rows = TypeVar("Rows")


class Scheme(Protocol, Generic[Rows]):
    """The operations of a scheme that `Aggregator` needs."""

    #: The number of slots per ciphertext, and of ciphertexts per update.
    slots: int
    ciphertexts: int

    def encrypt(self, integers: npt.NDArray[np.int64], private: Any, progress: bool) -> Rows:
        """Encrypts an update, with the private key if it is given."""
        ...

    def sum(self, updates: list[Rows], factors: Sequence[int], progress: bool) -> Rows:
        """Returns the sum of updates, each times its factor."""
        ...

    def rerandomise(self, rows: Rows, progress: bool) -> Rows:
        """Returns the same numbers in ciphertexts that cannot be linked to these."""
        ...

    def read(self, data: bytes) -> Rows:
        """Reads an update from bytes."""
        ...

    def check(self, rows: Rows) -> None:
        """Raises `CiphertextError` if there are too few or too many ciphertexts."""

    def decrypt(self, private: Any, rows: Rows, additions: int, progress: bool) -> Integers:
        """Returns the integers of an update that sums `additions` updates, possibly followed by
        padding.
        """
        ...


class Slotted:
    """Paillier: integers packed into the slots of a few plaintexts."""

    def __init__(self, key: ComputingKey, size: int, largest: int, clients: int) -> None:
        """Prepares updates of `size` integers of magnitude at most `largest`, from up to `clients`
        clients.
        """
        self._key = key
        fits = _native.SlotLayout.fits(key.bits, largest, clients)
        self._layout = _native.SlotLayout(key.bits, max(1, min(fits, size)), largest, clients)
        self.slots = self._layout.slots
        self.ciphertexts = -(-size // self.slots)

    def encrypt(self, integers: npt.NDArray[np.int64], private: Any, progress: bool) -> _native.Ciphertexts:
        """Encrypts an update, with the private key if it is given."""
        public, slots = self._key.native, self.slots
        key = public if private is None else private.native
        padded = np.zeros(self.ciphertexts * slots, dtype=np.int64)
        padded[: len(integers)] = integers

        def piece(start: int, stop: int) -> _native.Ciphertexts:
            with packed(padded[start * slots : stop * slots]) as (data, width):
                found: _native.Ciphertexts = key.encrypt(self._layout.pack(public, data, width))
                return found

        return joined(self.ciphertexts, piece, progress, "encrypting")

    def sum(self, updates: list[_native.Ciphertexts], factors: Sequence[int], progress: bool) -> _native.Ciphertexts:
        """Returns the sum of updates, each times its factor; not randomised."""
        key, bits = self._key.native, max(factors).bit_length()

        def piece(start: int, stop: int) -> _native.Ciphertexts:
            parts = [update.range(start, stop) for update in updates]
            count, terms = stop - start, len(parts)
            together = parts[0].concat(parts[1:])
            if bits == 1:
                groups = [list(range(row, count * terms, count)) for row in range(count)]
                return key.sum_groups(together, groups)
            by_row = together.select([row + count * term for row in range(count) for term in range(terms)])
            with packed(np.array(factors, dtype=np.int64)) as (data, width):
                return key.dot(by_row, data, width, terms, bits)

        return joined(self.ciphertexts, piece, progress, "adding")

    def rerandomise(self, rows: _native.Ciphertexts, progress: bool) -> _native.Ciphertexts:
        """Returns the same numbers in ciphertexts that cannot be linked to these."""
        key = self._key.native
        return joined(len(rows), lambda start, stop: key.rerandomise(rows.range(start, stop)), progress, "randomising")

    def read(self, data: bytes) -> _native.Ciphertexts:
        """Reads an update from bytes."""
        return read_ciphertexts(self._key, data)

    def check(self, rows: _native.Ciphertexts) -> None:
        """Raises `CiphertextError` if there are too few or too many ciphertexts."""
        if len(rows) != self.ciphertexts:
            raise CiphertextError(f"the update has {len(rows)} ciphertexts, not {self.ciphertexts}", kind="lengths")

    def decrypt(self, private: Any, rows: _native.Ciphertexts, additions: int, progress: bool) -> Integers:
        """Returns the integers of an update that sums `additions` updates, followed by zeros.

        Raises:
            RangeError: `additions` exceeds the headroom.
        """
        found: list[Integers] = []
        for start, stop in pieces(len(rows), progress, "decrypting"):
            with rows_from(start):
                found.append(unpack(*private.native.decrypt_slots(self._layout, rows.range(start, stop), additions)))
        return joined_integers(found)


class Whole:
    """BFV: thousands of integers per ciphertext.

    Sums are randomised, so that they reveal only the numbers to the key holder.
    """

    def __init__(self, key: _native.BfvPublicKey, size: int, largest: int, clients: int) -> None:
        """Prepares updates of `size` integers of magnitude at most `largest`, from up to `clients`
        clients.

        Raises:
            RangeError: the sums exceed the plaintexts of the parameter set.
        """
        self._key, self._size = key, size
        self._bits = max(2, (largest * clients).bit_length() + 1)
        key.check_bits(self._bits)
        self.slots = key.slots
        self.ciphertexts = -(-size // self.slots)

    def encrypt(self, integers: npt.NDArray[np.int64], private: Any, progress: bool) -> _native.BfvVector:
        """Encrypts an update; with the private key, if given, in half the bytes."""
        key = self._key if private is None else private.native
        with packed(integers) as (data, width):
            found: _native.BfvVector = key.encrypt(data, width, self._bits)
            return found

    def sum(self, updates: list[_native.BfvVector], factors: Sequence[int], progress: bool) -> _native.BfvVector:
        """Returns the sum of updates, each times its factor."""
        return self._key.release(self._key.combine(updates, list(factors)))

    def rerandomise(self, rows: _native.BfvVector, progress: bool) -> _native.BfvVector:
        """Returns the same numbers in ciphertexts that cannot be linked to these."""
        return self._key.release(rows)

    def read(self, data: bytes) -> _native.BfvVector:
        """Reads an update from bytes."""
        return self._key.vector(data)

    def check(self, rows: _native.BfvVector) -> None:
        """Raises `CiphertextError` if the number of integers or their bits do not match."""
        if len(rows) != self._size or rows.bits not in (None, self._bits):
            raise CiphertextError(
                f"the update has {len(rows)} numbers of {rows.bits} bits, not {self._size} of {self._bits} bits",
                kind="lengths",
            )

    def decrypt(self, private: Any, rows: _native.BfvVector, additions: int, progress: bool) -> Integers:
        """Returns the integers of an update. BFV vectors track their headroom themselves."""
        return unpack(*private.native.decrypt(rows))
