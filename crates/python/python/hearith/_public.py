"""The public operations of a key, computed locally or at a service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from hearith import _exchange
from hearith import _native as rust
from hearith._arguments import whole
from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted, check_key
from hearith._encryption import EncryptionKey
from hearith._operands import Number
from hearith.array import EncryptedArray
from hearith.encoding import Encoding
from hearith.errors import InvalidKeyError

if TYPE_CHECKING:
    import pyarrow as pa

#: Largest number of ciphertexts in a batch.
_MOST_ROWS = 2**40


class PublicOperations(ComputingKey, EncryptionKey):
    """Encryption, and the creation, re-randomisation and summation of ciphertexts."""

    native: rust.PublicKey

    @property
    def weakness(self) -> str | None:
        """Why the key is known to be insecure, or None.

        Only keys created or read with `insecure` have a weakness.
        """
        return self.native.weakness

    @property
    def public(self) -> Self:
        """The key itself."""
        return self

    def zeros(self, count: int, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """Returns trivial encryptions of 0, to start sums from.

        They hide nothing until re-randomised.
        """
        rows = self.native.zeros(whole("count", count, 0, _MOST_ROWS))
        return EncryptedArray(Encrypted(self, rows, Encoding.of(scale, exponent), 0))

    def rerandomise(self, array: EncryptedArray, *, progress: bool = False) -> EncryptedArray:
        """Returns the same numbers in ciphertexts that cannot be linked to the originals without
        the private key, like `array.rerandomise()`.

        Raises:
            KeyMismatchError: the array belongs to another key.
        """
        check_key(array.content, self.id)
        return array.rerandomise(progress=progress)

    def sum_columns(
        self,
        table: Any,
        *,
        by: str | Sequence[str] = (),
        min_rows: int = 0,
        rerandomise: bool = False,
        allow_repeated: bool = False,
        progress: bool = False,
    ) -> pa.Table:
        """Returns the encrypted totals of a table's encrypted columns, one row per group in
        ascending order.

        `table` is any table that `encrypt_columns` accepts, or an iterable of tables or record
        batches. Groups with fewer rows than `min_rows` are left out, and a total of fewer values is
        null. The total of a single value is that value's own ciphertext. With `rerandomise`, totals
        cannot be linked to the table without the private key.

        Tables and totals name the tables that they contain. A table that shares rows with an
        earlier one is an error unless `allow_repeated` is true. Tables may lose these names in
        other libraries. Record batches count as pieces of one table.

        Raises:
            TableError: two tables have rows in common, or do not match.
        """
        from hearith.columns import sum_columns

        return sum_columns(
            self,
            table,
            by=by,
            min_rows=min_rows,
            rerandomise=rerandomise,
            allow_repeated=allow_repeated,
            progress=progress,
        )

    def mean_columns(
        self,
        table: Any,
        *,
        by: str | Sequence[str] = (),
        min_rows: int = 0,
        rerandomise: bool = False,
        progress: bool = False,
    ) -> pa.Table:
        """Returns the sums and counts for means, by group. `PrivateKey.decrypt_means` divides them.

        The result has the totals of `sum_columns`. Each is followed by a plaintext column
        `NAME.count` with the number of its values, nulls excluded.

        Raises:
            TableError: a column is packed and its ciphertexts are already sums.
        """
        from hearith._column_arithmetic import mean_columns

        return mean_columns(self, table, by=by, min_rows=min_rows, rerandomise=rerandomise, progress=progress)

    def multiply_column(
        self, table: Any, column: str, factor: Number | str | Any, *, into: str | None = None, progress: bool = False
    ) -> pa.Table:
        """Returns the table with an encrypted column multiplied.

        `factor` is a plaintext number, the name of a plaintext column of the table, or a sequence
        with one number per row. The result replaces the column, or is appended as `into`. It is
        null where a factor is null.

        Numbers are exact, as in `EncryptedArray.multiply`, and products are not randomised. The
        result's range depends on the bit length of the largest factor, so multiply all parts of a
        table together if they are to be summed.

        Raises:
            RangeError: the products may exceed 127 bits, or the key's capacity.
            TableError: a column is missing, not encrypted or packed, or `into` already exists.
            TypeError: the factor is encrypted.
        """
        from hearith._column_arithmetic import multiply_column

        return multiply_column(self, table, column, factor, into=into, progress=progress)

    def add_columns(
        self, table: Any, left: str, right: Number | str | Any, *, into: str, progress: bool = False
    ) -> pa.Table:
        """Returns the table with a new column `into`: the sums of an encrypted column and another
        column, encrypted or plaintext, or a plaintext number.

        Sums have the digits of the operand with more digits, and are null where an operand is null.
        `into` may be `left`, which it replaces.

        Raises:
            RangeError: the sums may exceed 127 bits, or the key's capacity.
            ScaleError: one column is scaled by a power of ten, the other by one of sixteen.
            TableError: a column is missing, `left` is not encrypted or is packed, or `into` already
                exists.
        """
        from hearith._column_arithmetic import add_columns

        return add_columns(self, table, left, right, into=into, progress=progress)

    def from_phe(
        self, text: str | Iterable[str], *, range: Number = 2**64, any_randomiser: bool = False
    ) -> EncryptedArray:
        """Reads numbers in python-paillier's JSON (`{"v": "...", "e": -32}`, one object per line,
        or a list of such texts).

        All numbers are converted to the lowest exponent among them. `range` bounds the numbers. A
        subgroup key accepts them only with `any_randomiser`. Only `PrivateKey.any_randomiser` can
        decrypt them and the sums that include them.

        Raises:
            CiphertextError: a text is not such an object, or its ciphertext does not belong to this
                key; `row` counts from 0.
            InvalidKeyError: this is a subgroup key, and `any_randomiser` is not set.
        """
        if self.variant == "subgroup" and not any_randomiser:
            text = (
                "a subgroup key decrypts foreign numbers only with any_randomiser(): pass any_randomiser=True here too"
            )
            raise InvalidKeyError(text, kind="foreign_randomiser")
        return _exchange.from_phe(self, text, range)
