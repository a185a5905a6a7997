"""Keys shared among trustees: any so many of them decrypt together, each with a proof that its part
is right.

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

#: Far more bits, or trustees, than any key has; what keys may have, Rust says.
_MOST = 2**31 - 1


class Shares:
    """A trustee's shares of the decryption of an array, which everybody may have."""

    def __init__(self, public: PublicKey | Verification, trustee: int, data: bytes) -> None:
        """Shares that come from outside, as `to_bytes` wrote them.

        A public key is enough for shares of a key that a dealer made. Those of a key that trustees
        generated together are longer: how long, its `Verification` knows.

        Raises:
            ShareError: the bytes are no shares.
        """
        number = whole("trustee", trustee, 0, _MOST)
        if isinstance(public, Verification):
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
        """The trustee that they are said to be of, from 1."""
        return self.native.trustee

    def to_bytes(self) -> bytes:
        """The shares one after another, as crates/threshold/README.md has them."""
        return self.native.to_bytes()

    def __len__(self) -> int:
        return len(self.native)


class KeyShare:
    """A trustee's share of a private key.

    It is wiped when it is dropped, and neither printed nor pickled.
    """

    def __init__(self, native: rust.KeyShare) -> None:
        """A share that was dealt or read."""
        self.native = native

    @classmethod
    def from_json(
        cls, text: str, *, passphrase: str | None = None, insecure: bool = False, engine: str | None = None
    ) -> KeyShare:
        """The share that `to_json` or the command line wrote; `passphrase` opens an encrypted one.

        Raises:
            InvalidKeyError: the text is no share, or not of its key; the passphrase is wrong or
                missing; or the key protects nothing and `insecure` is not set.
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
        """The share in a file. Warns if others than the file's owner can read it.

        Raises:
            InvalidKeyError: as `from_json`.
            OSError: the file cannot be read.
        """
        return cls(rust.KeyShare.load(path, passphrase=passphrase, insecure=insecure, engine=engine))

    def to_json(self, *, passphrase: str | None = None) -> str:
        """The share, secret as it is, as JSON of one line; with a passphrase encrypted, as a
        private key is.
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
        """This trustee's shares of the decryption of an array.

        Their proofs hold with the same `context` only, which may say what the decryption is for.
        Look where the array comes from: it is decrypted whatever it holds.

        Raises:
            KeyMismatchError: the array belongs to another key.
        """
        check_key(encrypted(array), self.native.public.id)
        return Shares._of(self.native.decrypt(array.content.rows, context))

    def decrypt_columns(self, table: Any, *, progress: bool = False) -> pa.Table:
        """This trustee's shares of the decryption of a table: a table with a column `X.share` for
        each encrypted column `X`.
        """
        from hearith.columns import share_columns

        return share_columns(self.native, table, progress=progress)

    def __repr__(self) -> str:
        share = self.native
        return f"<KeyShare {share.trustee} of {share.trustees} of {share.public.id}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a share of a private key is not pickled: write it down deliberately with to_json()")


class Verification:
    """What shares are verified and combined by: the public key, and a number for each trustee.

    It has to come from the dealer, or from a trustee if they generated the key together.
    """

    def __init__(self, native: rust.Verification) -> None:
        """A verification that was dealt or read."""
        self.native = native

    @classmethod
    def from_json(cls, text: str, *, insecure: bool = False, engine: str | None = None) -> Verification:
        """The verification that `to_json` or the command line wrote.

        Raises:
            InvalidKeyError: the text is none, or the key protects nothing and `insecure` is not
                set.
        """
        return cls(rust.Verification.from_json(text, insecure=insecure, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, insecure: bool = False, engine: str | None = None) -> Verification:
        """The verification in a file.

        Raises:
            InvalidKeyError: as `from_json`.
            OSError: the file cannot be read.
        """
        return cls(rust.Verification.load(path, insecure=insecure, engine=engine))

    def to_json(self) -> str:
        """The verification as JSON of one line, which is a public key's JSON Web Key as well."""
        return self.native.to_json()

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey.from_jwk(self.native.public.to_jwk(), insecure=True)

    @property
    def needed(self) -> int:
        """How many trustees it takes to decrypt."""
        return self.native.needed

    @property
    def trustees(self) -> int:
        """How many there are."""
        return self.native.trustees

    def verify(self, array: EncryptedArray, shares: Shares, *, context: bytes = b"") -> None:
        """Checks a trustee's shares of the decryption of an array.

        Raises:
            KeyMismatchError: array or shares belong to another key.
            ShapeError: there are not as many shares as numbers.
            ShareError: a share is wrong; the error names the trustee and the first such row.
        """
        check_key(encrypted(array), self.native.public.id)
        self.native.verify(array.content.rows, shares.native, context)

    def combine(
        self, array: EncryptedArray, shares: Sequence[Shares], *, context: bytes = b""
    ) -> int | Decimal | float | npt.NDArray[Any]:
        """The numbers in an array, as `PrivateKey.decrypt` gives them, from shares of enough
        trustees. All are verified; wrong ones are warned of and left aside if there are enough
        without them.

        Raises:
            KeyMismatchError: the array belongs to another key.
            RangeError: a ciphertext holds more than its array's bound.
            ShareError: there are too few shares, one trustee's twice, or too few that are right.
        """
        content = encrypted(array)
        check_key(content, self.native.public.id)
        packed, wrong = self.native.combine(content.rows, [one.native for one in shares], context)
        _warn(wrong)
        return content.decoded(unpack(*packed))

    def combine_columns(self, table: Any, shares: Sequence[Any], *, progress: bool = False) -> pa.Table:
        """The table as `PrivateKey.decrypt_columns` gives it, from tables of trustees' shares
        (`KeyShare.decrypt_columns`). Wrong ones are warned of and left aside if there are enough
        without them.

        Raises:
            RangeError: a total overflowed its headroom, or cannot be relied on.
            ShareError: there are too few shares, one trustee's twice, or too few that are right.
            TableError: a table is not of shares of this one.
        """
        from hearith.columns import combine_columns

        combined, wrong = combine_columns(self.native, table, shares, progress=progress)
        _warn(wrong)
        return combined

    def __repr__(self) -> str:
        return f"<Verification {self.needed} of {self.trustees} of {self.native.public.id}>"


def generate_shared_key(
    needed: int,
    trustees: int,
    bits: int = DEFAULT_BITS,
    variant: str = "standard",
    *,
    insecure: bool = False,
    engine: str | None = None,
) -> tuple[Verification, list[KeyShare]]:
    """A new key shared among `trustees`, at most 20, any `needed` of whom decrypt together.

    Whoever calls this is the dealer, who has to be trusted: the whole key was in this process.
    Takes minutes with large keys, whose primes are safe ones.

    Raises:
        InvalidKeyError: a key cannot be of this size, or be shared so.
    """
    size = whole("bits", bits, 0, _MOST)
    some, many = whole("needed", needed, 0, _MOST), whole("trustees", trustees, 0, _MOST)
    verification, shares = rust.deal(size, some, many, variant, insecure=insecure, engine=engine)
    return Verification(verification), [KeyShare(share) for share in shares]


def _warn(wrong: Sequence[str]) -> None:
    """Warns the caller of the caller of shares that were left aside."""
    for text in wrong:
        warnings.warn(f"{text}: left aside", stacklevel=3)
