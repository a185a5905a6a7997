"""Threshold keys, shared among trustees.

Any `needed` trustees decrypt together, and each proves that its part is correct.

>>> import hearith as he
>>> verification, trustees = he.generate_shared_key(2, 3, 256, insecure=True)  # 3072 bits where it matters
>>> total = verification.public.encrypt([1500, -20]).sum()
>>> shares = [trustee.decrypt(total) for trustee in (trustees[0], trustees[2])]
>>> verification.combine(total, shares)
1480
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

import numpy.typing as npt

from hearith import _native as rust
from hearith._arguments import whole
from hearith._encrypted import check_key
from hearith._integers import unpack
from hearith.array import EncryptedArray, encrypted
from hearith.keys import DEFAULT_BITS, PublicKey

if TYPE_CHECKING:
    import pyarrow as pa

#: Upper limit that only keeps the integer in range. The Rust kernel checks the actual limits.
_MOST = 2**31 - 1


class Shares:
    """A trustee's shares of the decryption of an array. They are not secret."""

    def __init__(self, public: PublicKey | VerificationKeys, trustee: int, data: bytes) -> None:
        """Reads shares that `to_bytes` wrote.

        A public key suffices for shares of a dealer-generated key. Shares of a key that trustees
        generated together are longer, and need the `VerificationKeys`, which know their length.

        Raises:
            ShareError: the bytes are not valid shares.
        """
        number = whole("trustee", trustee, 0, _MOST)
        if isinstance(public, VerificationKeys):
            self.native = public.native.shares_from_bytes(number, data)
        else:
            self.native = rust.Shares.from_bytes(public.native, number, data)

    @classmethod
    def _of(cls, native: rust.Shares) -> Shares:
        self = object.__new__(cls)
        self.native = native
        return self

    @property
    def trustee(self) -> int:
        """The number of the trustee, from 1, as claimed by the sender."""
        return self.native.trustee

    def to_bytes(self) -> bytes:
        """Returns the concatenated shares (format: crates/threshold/README.md)."""
        return self.native.to_bytes()

    def __len__(self) -> int:
        return len(self.native)


class KeyShare:
    """A trustee's share of a private key.

    It is wiped from memory when it is dropped. It can be neither printed nor pickled.
    """

    def __init__(self, native: rust.KeyShare) -> None:
        """Wraps a native share."""
        self.native = native

    @classmethod
    def from_json(
        cls, text: str, *, passphrase: str | None = None, insecure: bool = False, engine: str | None = None
    ) -> KeyShare:
        """Reads a share that `to_json` or the command line wrote; `passphrase` decrypts an
        encrypted one.

        Raises:
            InvalidKeyError: the text is not a share, or not one of its key; the passphrase is wrong
                or missing; or the key is insecure and `insecure` is not set.
        """
        return cls(rust.KeyShare.from_json(text, passphrase=passphrase, insecure=insecure, engine=engine))

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        passphrase: str | None = None,
        insecure: bool = False,
        engine: str | None = None,
    ) -> KeyShare:
        """Reads a share from a file. Warns if anyone but the file's owner can read it.

        Raises:
            InvalidKeyError: as in `from_json`.
            OSError: the file cannot be read.
        """
        return cls(rust.KeyShare.load(path, passphrase=passphrase, insecure=insecure, engine=engine))

    def to_json(self, *, passphrase: str | None = None) -> str:
        """Returns the secret share as single-line JSON; with a passphrase encrypted, like a private
        key.
        """
        return self.native.to_json() if passphrase is None else self.native.to_encrypted_json(passphrase)

    @property
    def trustee(self) -> int:
        """The trustee's number, from 1."""
        return self.native.trustee

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey.from_jwk(self.native.public.to_jwk(), insecure=True)

    def decrypt(self, array: EncryptedArray, *, context: bytes = b"") -> Shares:
        """Returns this trustee's shares of the decryption of an array.

        Their proofs are valid only with the same `context`, which can state the purpose of the
        decryption. Check where the array comes from: any content is decrypted.

        Raises:
            KeyMismatchError: the array belongs to another key.
        """
        check_key(encrypted(array), self.native.public.id)
        return Shares._of(self.native.decrypt(array.content.rows, context))

    def decrypt_columns(self, table: Any, *, progress: bool = False) -> pa.Table:
        """Returns this trustee's shares of the decryption of a table: a table with a column
        `X.share` for each encrypted column `X`.
        """
        from hearith.columns import share_columns

        return share_columns(self.native, table, progress=progress)

    def __repr__(self) -> str:
        share = self.native
        return f"<KeyShare {share.trustee} of {share.trustees} of {share.public.id}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a share of a private key is not pickled: write it down deliberately with to_json()")


class VerificationKeys:
    """The public key and one verification key per trustee, which verify and combine shares.

    Obtain them from the dealer, or from a trustee if the trustees generated the key together.
    """

    def __init__(self, native: rust.VerificationKeys) -> None:
        """Wraps native verification keys."""
        self.native = native

    @classmethod
    def from_json(cls, text: str, *, insecure: bool = False, engine: str | None = None) -> VerificationKeys:
        """Reads verification keys that `to_json` or the command line wrote.

        Raises:
            InvalidKeyError: the text contains no verification keys, or the key is insecure and
                `insecure` is not set.
        """
        return cls(rust.VerificationKeys.from_json(text, insecure=insecure, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, insecure: bool = False, engine: str | None = None) -> VerificationKeys:
        """Reads verification keys from a file.

        Raises:
            InvalidKeyError: as in `from_json`.
            OSError: the file cannot be read.
        """
        return cls(rust.VerificationKeys.load(path, insecure=insecure, engine=engine))

    def to_json(self) -> str:
        """Returns the verification keys as single-line JSON, which is also the public key's JSON
        Web Key.
        """
        return self.native.to_json()

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey.from_jwk(self.native.public.to_jwk(), insecure=True)

    @property
    def needed(self) -> int:
        """The number of trustees needed to decrypt."""
        return self.native.needed

    @property
    def trustees(self) -> int:
        """The total number of trustees."""
        return self.native.trustees

    def verify(self, array: EncryptedArray, shares: Shares, *, context: bytes = b"") -> None:
        """Checks a trustee's shares of the decryption of an array.

        Raises:
            KeyMismatchError: the array or the shares belong to another key.
            ShapeError: the number of shares differs from the number of encrypted numbers.
            ShareError: a share is wrong. The error names the trustee and the first wrong row.
        """
        check_key(encrypted(array), self.native.public.id)
        self.native.verify(array.content.rows, shares.native, context)

    def combine(
        self, array: EncryptedArray, shares: Sequence[Shares], *, context: bytes = b""
    ) -> int | Decimal | float | npt.NDArray[Any]:
        """Decrypts an array from the shares of enough trustees, and returns what
        `PrivateKey.decrypt` would.

        Verifies all shares. Ignores wrong ones with a warning if enough others remain.

        Raises:
            KeyMismatchError: the array belongs to another key.
            RangeError: a ciphertext holds a number above the array's bound.
            ShareError: there are too few shares, too few correct ones, or a trustee's shares occur
                twice.
        """
        content = encrypted(array)
        check_key(content, self.native.public.id)
        packed, wrong = self.native.combine(content.rows, [one.native for one in shares], context)
        _warn(wrong)
        return content.decoded(unpack(*packed))

    def combine_columns(self, table: Any, shares: Sequence[Any], *, progress: bool = False) -> pa.Table:
        """Decrypts a table from tables of trustees' shares (`KeyShare.decrypt_columns`), and
        returns what `PrivateKey.decrypt_columns` would.

        Ignores wrong shares with a warning if enough others remain.

        Raises:
            RangeError: a total overflowed its headroom, or cannot be relied on.
            ShareError: there are too few shares, too few correct ones, or a trustee's shares occur
                twice.
            TableError: a table does not contain shares of this one.
        """
        from hearith.columns import combine_columns

        combined, wrong = combine_columns(self.native, table, shares, progress=progress)
        _warn(wrong)
        return combined

    def __repr__(self) -> str:
        return f"<VerificationKeys {self.needed} of {self.trustees} of {self.native.public.id}>"


def generate_shared_key(
    needed: int,
    trustees: int,
    bits: int = DEFAULT_BITS,
    variant: str = "standard",
    *,
    insecure: bool = False,
    engine: str | None = None,
) -> tuple[VerificationKeys, list[KeyShare]]:
    """Generates a key shared among `trustees` (at most 20), any `needed` of whom decrypt together.

    The caller is the dealer and must be trusted, since this process holds the whole key. Large keys
    take minutes, because their primes are safe primes.

    Raises:
        InvalidKeyError: the size, or the numbers of trustees, are not supported.
    """
    size = whole("bits", bits, 0, _MOST)
    some, many = whole("needed", needed, 0, _MOST), whole("trustees", trustees, 0, _MOST)
    verification, shares = rust.deal(size, some, many, variant, insecure=insecure, engine=engine)
    return VerificationKeys(verification), [KeyShare(share) for share in shares]


def _warn(wrong: Sequence[str]) -> None:
    """Warns the caller's caller about ignored shares."""
    for text in wrong:
        warnings.warn(f"{text}: ignored", stacklevel=3)
