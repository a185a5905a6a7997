"""The common base of public and private keys: encryption."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from hearith import _native as rust
from hearith._batches import joined
from hearith._computing import ComputingKey, check_scheme
from hearith._encrypted import Encrypted
from hearith._integers import Integers, plaintexts
from hearith._operands import Number, Numbers, Shape
from hearith.array import EncryptedArray
from hearith.encoding import DEFAULT_RANGE, Encoding
from hearith.errors import NumberError

if TYPE_CHECKING:
    import pyarrow as pa


class EncryptionKey(ABC):
    """The common base of public and private keys: both encrypt."""

    #: The underlying Rust key, for the modules of this package.
    native: rust.PublicKey | rust.PrivateKey

    @property
    @abstractmethod
    def public(self) -> ComputingKey:
        """The public key."""

    def encrypt(
        self,
        values: Numbers | str,
        *,
        scale: int | None = None,
        exponent: int | None = None,
        range: Number | None = None,
        rounding: bool = False,
        progress: bool = False,
    ) -> EncryptedArray:
        """Encrypts a number or an array of numbers of any shape: NumPy arrays, lists, pandas or
        polars series, Arrow arrays.

        Args:
            values: integers; with `scale` or `exponent` also floats, `Decimal` and `Fraction`.
            scale: decimal digits kept after the point, 0 to 38.
            exponent: instead of `scale`, the power of sixteen that the numbers are multiples of,
                -512 to 0. Floats are rounded to the nearest multiple, as in python-paillier.
            range: largest magnitude of a number; by default 2^63 - 1 units of the last digit. It
                determines the bounds of all later results.
            rounding: rounds decimal numbers with more digits than `scale` half to even, instead of
                rejecting them.
            progress: shows a progress bar.

        Raises:
            NullError: a value is missing: masked, null, `NA` or `None`.
            NumberError: a value is not a number.
            RangeError: a number exceeds the range, or is not finite.
            ScaleError: a number has more digits after the point than are kept.
            ShapeError: nested lists differ in length.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> public.encrypt([0.5, 1.25], scale=2).scale
        2
        """
        encoding = Encoding.of(scale, exponent)
        bound = DEFAULT_RANGE if range is None else encoding.bound(range)
        numbers: Numbers = _decimal(values) if isinstance(values, str) else values
        integers, shape = encoding.encode(numbers, limit=bound, rounding=rounding)
        return self._encrypted(integers, encoding, bound, shape, progress)

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
        """Encrypts a column of a table (pyarrow, pandas, polars, or any exporter of Arrow streams).

        Returns a `pyarrow.Table`. The column holds ciphertexts, as the extension type
        `hearith.arrow.EncryptedType`, and is followed by a companion column that counts additions.
        The command line `hearith` reads and writes such tables as Parquet. Nulls, including pandas'
        `NA` and NaN, remain nulls, and sums skip them.

        `scheme`, if given, must be that of the key: `paillier`.
        """
        from hearith.columns import ColumnOptions

        options = ColumnOptions(scale=scale, range=range)
        return self.encrypt_columns(
            table, {name: options}, scheme=scheme, rounding=rounding, max_additions=max_additions, progress=progress
        )

    def encrypt_columns(
        self,
        table: Any,
        columns: Sequence[str] | Mapping[str, Any],
        *,
        scheme: str | None = None,
        pack: bool = False,
        rounding: bool = False,
        max_additions: int | None = None,
        progress: bool = False,
    ) -> pa.Table:
        """Encrypts several columns. With `pack`, the columns of a row share one ciphertext.

        `columns` are names, or names with their `hearith.columns.ColumnOptions` (or a mapping of
        its fields).
        """
        from hearith.columns import encrypt_columns

        check_scheme(scheme, "paillier")
        return encrypt_columns(
            self, table, columns, pack=pack, rounding=rounding, max_additions=max_additions, progress=progress
        )

    def _encrypted(
        self, integers: Integers, encoding: Encoding, bound: int, shape: Shape, progress: bool
    ) -> EncryptedArray:
        public, native = self.public, self.native

        def piece(start: int, stop: int) -> rust.Ciphertexts:
            return native.encrypt(plaintexts(public.native, integers[start:stop]))

        rows = joined(len(integers), piece, progress, "encrypting", key=native)
        return EncryptedArray(Encrypted(public, rows, encoding, bound, shape))


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise NumberError("the text is not a decimal number", kind="not_a_number") from None
