"""What anybody can do with a public key, wherever it is computed: here, or at a service."""

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

#: Most ciphertexts that a batch may have.
_MOST_ROWS = 2**40


class PublicOperations(ComputingKey, EncryptionKey):
    """Encryption, and what starts, randomises and adds up ciphertexts."""

    native: rust.PublicKey

    @property
    def weakness(self) -> str | None:
        """Why the key protects nothing, as far as is known: only keys made or read with `insecure`
        have a weakness.
        """
        return self.native.weakness

    @property
    def public(self) -> Self:
        """The key itself."""
        return self

    def zeros(self, count: int, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """Trivial encryptions of 0, to start sums from; they hide nothing until randomised."""
        rows = self.native.zeros(whole("count", count, 0, _MOST_ROWS))
        return EncryptedArray(Encrypted(self, rows, Encoding.of(scale, exponent), 0))

    def rerandomise(self, array: EncryptedArray, *, progress: bool = False) -> EncryptedArray:
        """`array.rerandomise()`: the same numbers in ciphertexts that nobody can link to those
        without the private key.

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
        """The totals of a table's encrypted columns by groups, still encrypted: one row a group, in
        ascending order.

        `table` is a table as `encrypt_columns` takes, or an iterable of tables or record batches.
        Groups of fewer rows than `min_rows` are left out, and a total of fewer values is null. The
        total of a single value is that value's own ciphertext; with `rerandomise` nobody can link
        totals to the table without the private key.

        Tables and totals name the tables that they contain. A second table with rows of one before
        is an error unless `allow_repeated` is true. Tables that other libraries have passed on may
        have lost their names; record batches count as pieces of a table.

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
        """What means are made of, by groups: the totals of `sum_columns`, each with a plain column
        `NAME.count` of how many values it has, nulls not counted. `PrivateKey.decrypt_means`
        divides.

        Raises:
            TableError: a column is packed and its ciphertexts are sums already.
        """
        from hearith._column_arithmetic import mean_columns

        return mean_columns(self, table, by=by, min_rows=min_rows, rerandomise=rerandomise, progress=progress)

    def multiply_column(
        self, table: Any, column: str, factor: Number | str | Any, *, into: str | None = None, progress: bool = False
    ) -> pa.Table:
        """The table with an encrypted column multiplied: by a plain number, by the plain column of
        the table that `factor` names, or row by row by plain numbers. The result takes the column's
        place, or stands in the end as `into`; where a factor is null it is null.

        Numbers count exactly, as in `EncryptedArray.multiply`; products are not randomised. The
        result's range follows from the largest factor, in bits: parts of a table that are to be
        added up are multiplied as one.

        Raises:
            RangeError: the products may exceed 127 bits, or what the key has room for.
            TableError: a column is missing, not encrypted or packed, or there is one named `into`.
            TypeError: the factor is encrypted.
        """
        from hearith._column_arithmetic import multiply_column

        return multiply_column(self, table, column, factor, into=into, progress=progress)

    def add_columns(
        self, table: Any, left: str, right: Number | str | Any, *, into: str, progress: bool = False
    ) -> pa.Table:
        """The table with the sums of an encrypted column and another, encrypted or plain, or a
        plain number, as the column `into`.

        Sums have the digits of whichever has more. Where a number is null the sum is null. `into`
        may be `left`, which it replaces.

        Raises:
            RangeError: the sums may exceed 127 bits, or what the key has room for.
            ScaleError: one column stands on a power of ten, the other on one of sixteen.
            TableError: a column is missing, `left` is not encrypted or packed, or there is one
                named `into`.
        """
        from hearith._column_arithmetic import add_columns

        return add_columns(self, table, left, right, into=into, progress=progress)

    def from_phe(
        self, text: str | Iterable[str], *, range: Number = 2**64, any_randomiser: bool = False
    ) -> EncryptedArray:
        """The numbers in python-paillier's JSON (`{"v": "...", "e": -32}`, one object a line, or a
        list of such texts).

        All come out on the lowest exponent among them; `range` bounds the numbers. A subgroup key
        takes them only with `any_randomiser`: they, and every sum with one of them, decrypt with
        `PrivateKey.any_randomiser` alone.

        Raises:
            CiphertextError: a text is no such object, or its ciphertext none of this key; `row`
                counts from 0.
            InvalidKeyError: it is a subgroup key, and `any_randomiser` is not set.
        """
        if self.variant == "subgroup" and not any_randomiser:
            text = "a subgroup key decrypts numbers of other origin only with any_randomiser(): say any_randomiser=True here too"
            raise InvalidKeyError(text, kind="foreign_randomiser")
        return _exchange.from_phe(self, text, range)
