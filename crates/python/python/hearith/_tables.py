"""Restores descriptions of tables that other libraries processed, and renames columns with their
companions.

`hearith.describe` and `hearith.rename` are the public interface."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hearith import _descriptions
from hearith.arrow import EncryptedType, extended, extended_schema
from hearith.columns import as_table, column_names
from hearith.errors import TableError


def describe(table: Any, like: Any) -> pa.Table:
    """Implements `hearith.describe`."""
    if isinstance(like, str | PathLike):
        schema = pq.read_schema(fspath(like))
    else:
        schema = like if isinstance(like, pa.Schema) else as_table(like).schema
    return extended(described(as_table(table), extended_schema(schema)))


def described(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Adds the descriptions of a schema to the columns of the same names.

    Raises:
        TableError: the values of a described column have another length here, or its companion is
            missing.
    """
    companions = {name for field in schema for name in _descriptions.counts(_descriptions.entries(field))}
    for index, field in enumerate(table.schema):
        position = schema.get_field_index(field.name)
        original = None if position < 0 else schema.field(position)
        if isinstance(field.type, EncryptedType):
            continue
        if original is not None and _descriptions.is_encrypted(original):
            kind = storage(original)
            _check_companions(table, original)
        elif field.name in companions or (original is not None and _descriptions.counts_rows(original)):
            kind = pa.uint64()
        else:
            continue
        metadata = None if original is None else original.metadata
        try:
            column = table.column(index).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            text = f"does not match its description: {field.type} cannot be converted to {kind}"
            raise TableError(text, column=field.name, kind="differs") from error
        # Counts are never null: without additions they are 0.
        column = column.fill_null(0) if kind == pa.uint64() else column
        nullable = kind != pa.uint64()
        table = table.set_column(index, pa.field(field.name, kind, nullable, metadata), column)
    return table


def storage(field: pa.Field) -> pa.DataType:
    """Returns the storage type of a column's values."""
    return getattr(field.type, "storage_type", field.type)


def rename(table: Any, names: Mapping[str, str]) -> Any:
    """Implements `hearith.rename`."""
    library = type(table).__module__.partition(".")[0]
    framed = library in ("pandas", "polars") and not hasattr(table, "to_frame")
    schema = as_table(table.head(0) if framed else table).schema
    every = _with_companions(schema, names)
    wanted = column_names([every.get(str(name), str(name)) for name in schema.names])
    if library == "pandas" and framed:
        return table.rename(columns=every)
    if library == "polars" and framed:
        return table.rename(every)
    return extended(as_table(table).rename_columns(wanted))


def _with_companions(schema: pa.Schema, names: Mapping[str, str]) -> dict[str, str]:
    """Returns old and new names, including those of the companions of encrypted columns.

    The companions of packed columns keep their names, as they count additions for the columns
    within.
    """
    every = dict(names)
    for old, new in names.items():
        if old not in schema.names:
            raise TableError("there is no such column", column=old, kind="no_such_column")
        entries = _descriptions.entries(schema.field(old))
        if entries.get(_descriptions.SCHEME) == _descriptions.WHOLE:
            text = "a BFV column is bound to its name: decrypt it first"
            raise TableError(text, column=old, kind="whole")
        companions = _descriptions.companions(entries)
        if len(companions) == 1 and companions[0] in schema.names:
            every.setdefault(companions[0], new + _descriptions.COUNTING)
            values = [name for name in _descriptions.values(entries) if name in schema.names]
            every |= {name: new + _descriptions.COUNTING_VALUES for name in values if name not in every}
    return every


def _check_companions(table: pa.Table, field: pa.Field) -> None:
    for companion in _descriptions.companions(_descriptions.entries(field)):
        if companion not in table.column_names:
            text = f"its companion {companion}, which counts additions, is missing"
            raise TableError(text, column=field.name, kind="companion")
