"""BFV, a lattice scheme for batched (SIMD-packed) vectors and columns, with thousands of numbers
per ciphertext.

Vectors can be encrypted, added and weighted as a whole. Columns of tables can be summed by group.
docs/how-to/choosing.md compares BFV with Paillier.

>>> import hearith as he, numpy as np
>>> public, private = he.generate_keypair(scheme="bfv")
>>> salaries = public.encrypt(np.array([1500.25, 2070, 1980.5]), scale=2)
>>> private.decrypt(salaries.sum())
Decimal('5550.75')
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

import numpy.typing as npt

from hearith import _native as rust
from hearith._arguments import whole
from hearith._bfv_content import Content, check_key, note
from hearith._bfv_vectors import EncryptedTotals, EncryptedVector, Weighted
from hearith._computing import check_scheme
from hearith._html import shown
from hearith._integers import packed, unpack
from hearith._operands import Number, Numbers
from hearith.encoding import DEFAULT_RANGE, Encoding
from hearith.errors import ShapeError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EncryptedTotals", "EncryptedVector", "PrivateKey", "PublicKey", "generate_keypair"]

#: The default parameter set.
DEFAULT_PARAMETERS = "bfv-8192"
#: The default number of additions that the headroom allows.
DEFAULT_ADDITIONS = 2**32


class _EncryptionKey(ABC):
    """The common base of public and private keys.

    Both encrypt; the private key's ciphertexts have half the size.
    """

    #: The underlying Rust key, for the modules of this package.
    native: rust.BfvPublicKey | rust.BfvPrivateKey

    @property
    @abstractmethod
    def public(self) -> PublicKey:
        """The public key."""

    @property
    def id(self) -> str:
        """The first 32 hexadecimal digits of a SHA-256 of the public key."""
        return self.public.native.id

    @property
    def parameters(self) -> str:
        """The name of the parameter set."""
        return self.public.native.parameters

    @property
    def slots(self) -> int:
        """The number of slots in a ciphertext."""
        return self.public.native.slots

    @property
    def engine(self) -> str:
        """The engine: `ifma`, `avx2` or `serial`."""
        return self.public.native.engine

    def encrypt(
        self,
        values: Numbers,
        *,
        scale: int | None = None,
        exponent: int | None = None,
        range: Number | None = None,
        rounding: bool = False,
        max_additions: int = DEFAULT_ADDITIONS,
    ) -> EncryptedVector:
        """Encrypts a vector of numbers: a NumPy array, a list, a pandas or polars series, or an
        Arrow array.

        Args:
            values: integers; with `scale` or `exponent` also floats, `Decimal` and `Fraction`.
            scale: decimal digits kept after the point, 0 to 38.
            exponent: instead of `scale`, the power of sixteen that the numbers are multiples of,
                -512 to 0.
            range: largest magnitude of a number; by default 2^63 - 1 units of the last digit.
            rounding: rounds decimal numbers with more digits than `scale` half to even, instead of
                rejecting them.
            max_additions: how many numbers of that magnitude a result can hold, counting each
                summed number times its weight.

        Raises:
            NullError: a value is missing.
            NumberError: a value is not a number.
            RangeError: a number exceeds the range, or range and additions need more bits than the
                parameter set has.
            ScaleError: a number has more digits after the point than are kept.
            ShapeError: the values are not a vector.
        """
        encoding = Encoding.of(scale, exponent)
        bound = DEFAULT_RANGE if range is None else encoding.bound(range)
        bits = max(2, (bound * whole("max_additions", max_additions, 1)).bit_length() + 1)
        self.public.native.check_bits(min(bits, 2**32 - 1))
        integers, shape = encoding.encode(values, limit=bound, rounding=rounding)
        if len(shape) != 1:
            raise ShapeError(f"a vector has one dimension, not {len(shape)}", kind="dimensions")
        with packed(integers) as (data, width):
            rows = self.native.encrypt(data, width, bits)
        return EncryptedVector(self.public.native, rows, encoding, bound, bits, shape)

    def encrypt_column(
        self,
        table: Any,
        name: str,
        *,
        scheme: str | None = None,
        scale: int | None = None,
        range: Number | None = None,
        rounding: bool = False,
        max_additions: int | None = None,
        progress: bool = False,
    ) -> pa.Table:
        """Encrypts a column of a table as a batched column.

        Accepts tables of pyarrow, pandas or polars, or any exporter of Arrow streams, and returns a
        `pyarrow.Table`. Every `slots` rows, the encrypted column has a cell with the ciphertext of
        these rows, and nulls in between. A companion column that counts additions follows it. The
        command line `hearith` reads and writes such tables as Parquet. The rows must stay complete
        and in order; none can be removed. Nulls remain nulls, and sums skip them.

        `scheme`, if given, must be `bfv`.
        """
        from hearith.columns import ColumnOptions

        options = {name: ColumnOptions(scale=scale, range=range)}
        return self.encrypt_columns(
            table, options, scheme=scheme, rounding=rounding, max_additions=max_additions, progress=progress
        )

    def encrypt_columns(
        self,
        table: Any,
        columns: Sequence[str] | Mapping[str, Any],
        *,
        scheme: str | None = None,
        rounding: bool = False,
        max_additions: int | None = None,
        progress: bool = False,
    ) -> pa.Table:
        """Encrypts several columns of a table as batched columns.

        `columns` are names, or names with their `hearith.columns.ColumnOptions`.
        """
        from hearith._bfv_tables import encrypt_columns

        check_scheme(scheme, "bfv")
        return encrypt_columns(
            self.native,
            self.slots,
            table,
            columns,
            rounding=rounding,
            max_additions=max_additions,
            progress=progress,
        )

    def __hash__(self) -> int:
        return hash(self.id)


class PublicKey(_EncryptionKey):
    """A public key, which encrypts and computes with ciphertexts."""

    native: rust.BfvPublicKey

    def __init__(self, native: rust.BfvPublicKey) -> None:
        """Wraps a native key. Use `generate_keypair`, `load` or `from_jwk` instead."""
        if not isinstance(native, rust.BfvPublicKey):
            raise TypeError("PublicKey comes from generate_keypair, load or from_jwk")
        self.native = note(native)

    @classmethod
    def from_jwk(cls, text: str, *, engine: str | None = None) -> PublicKey:
        """Reads the JSON that `to_jwk` and the command line write.

        Raises:
            InvalidKeyError: the text is not a public key of this scheme.
        """
        return cls(rust.BfvPublicKey.from_text(text, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, engine: str | None = None) -> PublicKey:
        """Reads the key from a file.

        Raises:
            InvalidKeyError: the file contains no public key of this scheme.
            OSError: the file cannot be read.
        """
        return cls(rust.BfvPublicKey.load(path, engine=engine))

    def to_jwk(self) -> str:
        """Returns the key as single-line JSON, a few hundred kilobytes."""
        return self.native.to_text()

    @property
    def public(self) -> PublicKey:
        """The key itself."""
        return self

    def sum_columns(
        self,
        table: Any,
        *,
        by: str | Sequence[str] = (),
        weight: str | None = None,
        where: Any = None,
        min_rows: int = 0,
        allow_repeated: bool = False,
        allow_rare_weights: bool = False,
        progress: bool = False,
    ) -> pa.Table:
        """Returns the encrypted totals of a table's encrypted columns, one row per group in
        ascending order.

        Args:
            table: a table from `encrypt_columns`, or an iterable of tables.
            by: plaintext columns to group by.
            weight: a plaintext integer column to multiply the numbers by.
            where: selects rows: conditions on plaintext columns such as `year > 2020`, in the
                syntax of the command line, or one truth value per row of a single table.
            min_rows: leaves out groups with fewer rows. A total is null if fewer values entered it
                with a nonzero weight, or fewer with any one of their weights, since weights such as
                1 and 1000 show single values in the digits of a total.
            allow_repeated: sums tables and totals even if they have rows in common.
            allow_rare_weights: counts values of all weights together for `min_rows`.
            progress: shows a progress bar.

        The key holder learns nothing from the totals but their numbers.

        Raises:
            KeyMismatchError: the table is under another key, or encrypted by another scheme.
            RangeError: a total has more additions than the headroom allows.
            TableError: chunks of rows are missing, altered, repeated or moved, or two tables have
                rows in common.
        """
        from hearith._bfv_tables import sum_columns

        return sum_columns(
            self.native,
            table,
            by=by,
            weight=weight,
            where=where,
            min_rows=min_rows,
            allow_repeated=allow_repeated,
            allow_rare_weights=allow_rare_weights,
            progress=progress,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and bool(self.native == other.native)

    __hash__ = _EncryptionKey.__hash__

    def __repr__(self) -> str:
        return f"<bfv.PublicKey {self.id}: {self.parameters}>"

    def _repr_html_(self) -> str:
        """The HTML representation for notebooks."""
        return shown("Public key", {"id": self.id, "parameters": self.parameters})

    def __reduce__(self) -> tuple[Any, ...]:
        return PublicKey.from_jwk, (self.to_jwk(),)


class PrivateKey(_EncryptionKey):
    """A private key, which decrypts, and encrypts to ciphertexts of half the size.

    It is wiped from memory when it is dropped. It can be neither printed nor pickled; use `to_jwk`
    to export it.
    """

    native: rust.BfvPrivateKey

    def __init__(self, native: rust.BfvPrivateKey) -> None:
        """Wraps a native key. Use `generate_keypair`, `load` or `from_jwk` instead."""
        if not isinstance(native, rust.BfvPrivateKey):
            raise TypeError("PrivateKey comes from generate_keypair, load or from_jwk")
        self.native = native
        self._key = PublicKey(native.public)

    @classmethod
    def from_jwk(cls, text: str, *, passphrase: str | None = None, engine: str | None = None) -> PrivateKey:
        """Reads the JSON that `to_jwk` and the command line write; `passphrase` decrypts an
        encrypted key.

        Raises:
            InvalidKeyError: the text is not a private key of this scheme, or the passphrase is
                wrong or missing.
        """
        return cls(rust.BfvPrivateKey.from_text(text, passphrase=passphrase, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, passphrase: str | None = None, engine: str | None = None) -> PrivateKey:
        """Reads a key file, encrypted or not, and wipes its text from memory.

        Warns if anyone but the file's owner can read it.

        Raises:
            InvalidKeyError: as in `from_jwk`.
            OSError: the file cannot be read.
        """
        return cls(rust.BfvPrivateKey.load(path, passphrase=passphrase, engine=engine))

    def to_jwk(self, *, passphrase: str | None = None) -> str:
        """Returns the secret key as single-line JSON; with a passphrase as an encrypted JSON Web
        Key, like Paillier keys.
        """
        return self.native.to_text() if passphrase is None else self.native.to_encrypted_text(passphrase)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key

    def decrypt(self, encrypted: EncryptedVector | EncryptedTotals) -> int | Decimal | float | npt.NDArray[Any]:
        """Decrypts a vector or totals.

        Returns NumPy's `int64` where the numbers fit, else Python integers; `Decimal` with a scale;
        floats for a power of sixteen. A single total is returned as a Python `int`, `Decimal` or
        `float`.

        Raises:
            CiphertextError: a ciphertext was altered.
            KeyMismatchError: the numbers belong to another key.
            RangeError: the numbers exceed their bound, or noise could have made them wrong.
            TypeError: the argument is not encrypted with this scheme.
        """
        if isinstance(encrypted, Weighted):
            raise TypeError("a product with plaintext numbers can only be summed: call sum()")
        if not isinstance(encrypted, Content):
            raise TypeError(f"an EncryptedVector or EncryptedTotals is needed, not {type(encrypted).__name__}")
        check_key(encrypted, self.id)
        if isinstance(encrypted, EncryptedVector):
            data, width = self.native.decrypt(encrypted.rows)
        else:
            data, width = self.native.decrypt_totals(encrypted.rows)
        return encrypted.decoded(unpack(data, width))

    def decrypt_columns(self, table: Any, *, progress: bool = False) -> pa.Table:
        """Returns the table, or totals, with encrypted columns as exact decimals and without
        companions.

        Raises:
            KeyMismatchError: the table is under another key, or encrypted by another scheme.
            RangeError: a total overflowed its headroom, or cannot be relied on.
            TableError: chunks of rows are missing, altered, repeated or moved.
        """
        from hearith._bfv_tables import decrypt_columns

        return decrypt_columns(self.native, table, progress=progress)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrivateKey) and self.id == other.id

    __hash__ = _EncryptionKey.__hash__

    def __repr__(self) -> str:
        return f"<bfv.PrivateKey {self.id}: {self.parameters}>"

    def _repr_html_(self) -> str:
        """The HTML representation for notebooks, without any secret."""
        return shown("Private key", {"id": self.id, "parameters": self.parameters})

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled: write it down deliberately with to_jwk()")


def generate_keypair(
    parameters: str = DEFAULT_PARAMETERS, *, engine: str | None = None
) -> tuple[PublicKey, PrivateKey]:
    """Generates a key pair, like `hearith.generate_keypair(scheme="bfv")`.

    Args:
        parameters: `bfv-4096`, `bfv-8192` or `bfv-16384`, all of 128-bit security.
        engine: `serial`, `avx2` or `ifma`. Defaults to `HEARITH_ENGINE`, else to the fastest engine
            of the machine.

    Raises:
        InvalidKeyError: there is no such parameter set.
    """
    private = PrivateKey(rust.BfvPrivateKey.generate(parameters, engine=engine))
    return private.public, private
