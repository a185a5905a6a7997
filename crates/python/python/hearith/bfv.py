"""BFV, a lattice scheme, for whole vectors and columns: thousands of numbers a ciphertext, and
fast.

Vectors are encrypted, added up and weighed whole; of a table's column come sums by groups.
docs/how-to/choosing.md says when to take it rather than Paillier.

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

#: The parameter set unless one chooses.
DEFAULT_PARAMETERS = "bfv-8192"
#: Additions that there is headroom for unless one chooses.
DEFAULT_ADDITIONS = 2**32


class _EncryptionKey(ABC):
    """What public and private keys have in common: both encrypt, the private key in half the
    bytes.
    """

    #: The key in Rust, for the modules of this package.
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
        """How many numbers a ciphertext holds."""
        return self.public.native.slots

    @property
    def engine(self) -> str:
        """What computes: `ifma`, `avx2` or `serial`."""
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
        """Encrypts a vector of numbers: a NumPy array, a list, a pandas or polars series, an Arrow
        array.

        Args:
            values: integers; with `scale` or `exponent` floats, `Decimal` and `Fraction` as well.
            scale: decimal digits kept after the point, 0 to 38.
            exponent: instead of `scale`, the power of sixteen that the numbers are multiples of,
                -512 to 0.
            range: largest magnitude of a number; by default 2^63 - 1 units of the last digit.
            rounding: rounds decimal numbers with more digits than `scale` half to even, rather than
                refusing them.
            max_additions: how many numbers of that magnitude a result can hold: numbers that are
                added up, times their weights.

        Raises:
            NullError: a value is missing.
            NumberError: a value is no number.
            RangeError: a number exceeds the range, or range and additions need more bits than the
                parameter set has.
            ScaleError: a number has more digits after the point than are kept.
            ShapeError: the values are no vector.
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
        """Encrypts a column of a table (pyarrow, pandas, polars, or whatever exports Arrow streams)
        whole.

        The result is a `pyarrow.Table` in which every `slots` rows the column has a cell with the
        ciphertext of them all, and nulls between, followed by a companion column that counts
        additions. It is what the command line `hearith` reads and writes as Parquet. Its rows stay
        together and in their order: none can be taken out. Nulls stay nulls: sums pass over them.

        `scheme`, where it is given, has to be `bfv`.
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
        """Encrypts several columns whole; `columns` are names, or names with their
        `hearith.columns.ColumnOptions`.
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
    """What anybody may have: encrypts, and computes with what is encrypted."""

    native: rust.BfvPublicKey

    def __init__(self, native: rust.BfvPublicKey) -> None:
        """Keys come from `generate_keypair`, `load` and `from_jwk`."""
        if not isinstance(native, rust.BfvPublicKey):
            raise TypeError("PublicKey comes from generate_keypair, load or from_jwk")
        self.native = note(native)

    @classmethod
    def from_jwk(cls, text: str, *, engine: str | None = None) -> PublicKey:
        """The key in the JSON that `to_jwk` and the command line write.

        Raises:
            InvalidKeyError: it is none, or of another scheme.
        """
        return cls(rust.BfvPublicKey.from_text(text, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, engine: str | None = None) -> PublicKey:
        """The key in a file.

        Raises:
            InvalidKeyError: it holds none, or one of another scheme.
            OSError: it cannot be read.
        """
        return cls(rust.BfvPublicKey.load(path, engine=engine))

    def to_jwk(self) -> str:
        """The key as JSON of one line, some hundred kilobytes."""
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
        """The totals of a table's encrypted columns by groups, still encrypted: one row a group, in
        ascending order.

        Args:
            table: a table as `encrypt_columns` gives it, or an iterable of tables.
            by: plain columns to group by.
            weight: a plain column of integers that numbers are multiplied by.
            where: what rows count: conditions on plain columns such as `year > 2020`, as the
                command line takes them, or truth values, one a row of a single table.
            min_rows: groups of fewer rows are left out. A total is null if fewer values entered it
                with a weight other than 0, or fewer with any one of their weights: weights such as
                1 and 1000 show single values in the digits of a total.
            allow_repeated: adds tables and totals up even if they have rows in common.
            allow_rare_weights: counts values of all weights together for `min_rows`.
            progress: shows a progress bar.

        Whoever decrypts the totals sees the numbers alone.

        Raises:
            KeyMismatchError: the table is under another key, or encrypted by another scheme.
            RangeError: a total has more additions than there is headroom for.
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
        """What notebooks show."""
        return shown("Public key", {"id": self.id, "parameters": self.parameters})

    def __reduce__(self) -> tuple[Any, ...]:
        return PublicKey.from_jwk, (self.to_jwk(),)


class PrivateKey(_EncryptionKey):
    """What only the owner has: decrypts, and encrypts in half the bytes.

    It is wiped when it is dropped, and neither printed nor pickled; `to_jwk` writes it down
    deliberately.
    """

    native: rust.BfvPrivateKey

    def __init__(self, native: rust.BfvPrivateKey) -> None:
        """Keys come from `generate_keypair`, `load` and `from_jwk`."""
        if not isinstance(native, rust.BfvPrivateKey):
            raise TypeError("PrivateKey comes from generate_keypair, load or from_jwk")
        self.native = native
        self._key = PublicKey(native.public)

    @classmethod
    def from_jwk(cls, text: str, *, passphrase: str | None = None, engine: str | None = None) -> PrivateKey:
        """The key in the JSON that `to_jwk` and the command line write; `passphrase` opens an
        encrypted one.

        Raises:
            InvalidKeyError: it is no private key, or of another scheme, or the passphrase is wrong
                or missing.
        """
        return cls(rust.BfvPrivateKey.from_text(text, passphrase=passphrase, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, passphrase: str | None = None, engine: str | None = None) -> PrivateKey:
        """The key in a file, encrypted or not, whose text is wiped from memory.

        Warns if others than the file's owner can read it.

        Raises:
            InvalidKeyError: as `from_jwk`.
            OSError: it cannot be read.
        """
        return cls(rust.BfvPrivateKey.load(path, passphrase=passphrase, engine=engine))

    def to_jwk(self, *, passphrase: str | None = None) -> str:
        """The key, secret as it is, as JSON of one line; with a passphrase as an encrypted JSON Web
        Key, as Paillier's keys are.
        """
        return self.native.to_text() if passphrase is None else self.native.to_encrypted_text(passphrase)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key

    def decrypt(self, encrypted: EncryptedVector | EncryptedTotals) -> int | Decimal | float | npt.NDArray[Any]:
        """The numbers of a vector, or totals: NumPy's `int64` where they fit, else Python's
        integers; `Decimal` with a scale; floats on a power of sixteen. A single total comes as
        Python's `int`, `Decimal` or `float`.

        Raises:
            CiphertextError: a ciphertext was altered.
            KeyMismatchError: they belong to another key.
            RangeError: they hold more than their bound, or noise could have made them wrong.
            TypeError: these are no encrypted numbers of this scheme.
        """
        if isinstance(encrypted, Weighted):
            raise TypeError("a product with plain numbers waits for its sum: sum() it")
        if not isinstance(encrypted, Content):
            raise TypeError(f"an EncryptedVector or EncryptedTotals is needed, not {type(encrypted).__name__}")
        check_key(encrypted, self.id)
        if isinstance(encrypted, EncryptedVector):
            data, width = self.native.decrypt(encrypted.rows)
        else:
            data, width = self.native.decrypt_totals(encrypted.rows)
        return encrypted.decoded(unpack(data, width))

    def decrypt_columns(self, table: Any, *, progress: bool = False) -> pa.Table:
        """The table, or totals, with encrypted columns as exact decimals; companions disappear.

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
        """What notebooks show: nothing of the secret."""
        return shown("Private key", {"id": self.id, "parameters": self.parameters})

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled: write it down deliberately with to_jwk()")


def generate_keypair(
    parameters: str = DEFAULT_PARAMETERS, *, engine: str | None = None
) -> tuple[PublicKey, PrivateKey]:
    """A new key pair; `hearith.generate_keypair(scheme="bfv")` is the same.

    Args:
        parameters: `bfv-4096`, `bfv-8192` or `bfv-16384`, all of 128-bit security.
        engine: `serial`, `avx2` or `ifma`; by default what `HEARITH_ENGINE` says, else the fastest
            that the machine has.

    Raises:
        InvalidKeyError: there is no such parameter set.
    """
    private = PrivateKey(rust.BfvPrivateKey.generate(parameters, engine=engine))
    return private.public, private
