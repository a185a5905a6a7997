"""Arithmetic on the encrypted columns of tables, without the private key.

`PublicKey.multiply_column`, `add_columns` and `mean_columns` are the public interface."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hearith import _descriptions
from hearith._companions import placed
from hearith._computing import ComputingKey, find
from hearith._series import EncryptedSeries
from hearith.arrow import EncryptedType
from hearith.columns import as_table, sum_columns, tables
from hearith.errors import TableError

#: The suffix of the column that counts the values of a mean.
COUNT = ".count"


def multiply_column(
    key: ComputingKey, table: Any, column: str, factor: Any, *, into: str | None, progress: bool
) -> pa.Table:
    """Implements `PublicKey.multiply_column`."""
    found = as_table(table)
    left, plain = series_of(key, found, column), _operand(found, factor)
    if isinstance(getattr(plain, "type", None), EncryptedType):
        raise TypeError("the product of two encrypted columns cannot be computed from Paillier ciphertexts")
    return _stored(found, column, column if into is None else into, left.multiply(plain, progress))


def add_columns(key: ComputingKey, table: Any, left: str, right: Any, *, into: str, progress: bool) -> pa.Table:
    """Implements `PublicKey.add_columns`."""
    found = as_table(table)
    other = _operand(found, right)
    if isinstance(getattr(other, "type", None), EncryptedType):
        other = series_of(key, found, right)
    return _stored(found, left, into, series_of(key, found, left).add(other, progress))


def mean_columns(
    key: ComputingKey, table: Any, *, by: str | Sequence[str], min_rows: int, rerandomise: bool, progress: bool
) -> pa.Table:
    """Implements `PublicKey.mean_columns`."""
    once = [_counted_once(key, part) for part in tables(table)]
    totals = sum_columns(key, once, by=by, min_rows=min_rows, rerandomise=rerandomise, progress=progress)
    for field in list(totals.schema):
        for companion in _descriptions.companions(_descriptions.entries(field)):
            name = companion.removesuffix(_descriptions.COUNTING) + COUNT
            if name in totals.column_names:
                raise TableError(
                    "already exists, but the count of a mean needs this name", column=name, kind="duplicate_column"
                )
            position = totals.schema.get_field_index(companion) + 1
            totals = totals.add_column(position, pa.field(name, pa.uint64(), nullable=False), totals.column(companion))
    return totals


def means(decrypted: pa.Table) -> pa.Table:
    """Replaces the decrypted sums of `mean_columns` with the nearest floats to the means; null if
    there are no values.
    """
    for name in decrypted.column_names:
        if name + COUNT in decrypted.column_names:
            sums, counts = decrypted.column(name).to_pylist(), decrypted.column(name + COUNT).to_pylist()
            quotients = [_quotient(total, count) for total, count in zip(sums, counts, strict=True)]
            position = decrypted.schema.get_field_index(name)
            decrypted = decrypted.set_column(position, name, pa.array(quotients, pa.float64()))
    return decrypted


def key_of(table: pa.Table) -> ComputingKey:
    """Returns the public key of a table's encrypted columns, if this process has loaded it.

    Raises:
        KeyMismatchError: the key is not loaded.
        TableError: no column is encrypted.
    """
    kinds = [field.type for field in table.schema if isinstance(field.type, EncryptedType)]
    if not kinds:
        raise TableError("the table has no encrypted column", kind="not_encrypted")
    return find(kinds[0].description.key)


def series_of(key: ComputingKey, table: pa.Table, name: str) -> EncryptedSeries:
    """Returns the numbers of a column, with a bound from the additions that its companion counts.

    Raises:
        TableError: the column does not exist, is not encrypted, or is packed, or its companion is
            missing.
    """
    column = _column(table, name)
    companions = _descriptions.companions(_descriptions.entries(table.schema.field(name)))
    if len(companions) > 1:
        raise TableError(
            "packed: it holds several numbers per row and can only be summed as a whole", column=name, kind="packed"
        )
    missing = next((one for one in companions if one not in table.column_names), None)
    if missing is not None:
        text = f"its companion {missing}, which counts additions, is missing"
        raise TableError(text, column=name, kind="companion")
    additions = _most(table, companions[0]) if companions else None
    try:
        return EncryptedSeries.of(key, column, additions)
    except TableError as error:
        raise TableError(str(error), column=name, kind=error.kind) from None


def _operand(table: pa.Table, operand: Any) -> Any:
    """Returns the column that a string names; other operands unchanged."""
    return _column(table, operand) if isinstance(operand, str) else operand


def _column(table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        raise TableError("there is no such column", column=name, kind="no_such_column")
    return table.column(name)


def _stored(table: pa.Table, source: str, into: str, result: EncryptedSeries) -> pa.Table:
    """Stores a result under the name `into`, which replaces the source column or is new."""
    if into != source:
        if into in table.column_names:
            raise TableError("there is already a column with this name", column=into, kind="duplicate_column")
    else:
        # A companion of another name belongs to the replaced column.
        old = _descriptions.companions(_descriptions.entries(table.schema.field(source)))
        table = table.drop_columns([one for one in old if one != source + _descriptions.COUNTING])
    return placed(table, into, result.to_arrow())


def _counted_once(key: ComputingKey, table: pa.Table) -> pa.Table:
    """Returns the table with every value counted as one addition, so that the additions of its
    totals are the numbers of values.
    """
    for field in list(table.schema):
        companions = _descriptions.companions(_descriptions.entries(field))
        if companions and max(_most(table, one) for one in companions) > 1:
            table = _stored(table, field.name, field.name, series_of(key, table, field.name))
    return table


def _most(table: pa.Table, companion: str) -> int:
    """Returns the largest number of additions in any row; 1 for a column without rows."""
    most = pc.max(table.column(companion)).as_py()
    return max(1, most or 0)


def _quotient(total: Any, count: int) -> float | None:
    return float(Fraction(total) / count) if count and total is not None else None
