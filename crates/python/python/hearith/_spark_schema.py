"""Converts schemas of encrypted tables between Spark and the kernel, which uses Arrow.

Spark has neither fixed-size binary values nor unsigned integers, so the description of a column is
stored in its metadata.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from hearith import _descriptions
from hearith._encrypted import ciphertext_bytes
from hearith.errors import TableError

#: The entry with the public key, which only Spark's metadata contain.
JWK = _descriptions.PREFIX + "jwk"


def is_described(field: StructField) -> bool:
    """Whether the metadata describe the column."""
    return any(name.startswith(_descriptions.PREFIX) for name in field.metadata)


def counts_rows(field: StructField) -> bool:
    """Whether the column counts the rows of totals."""
    return bool(field.metadata.get(_descriptions.ROLE) == _descriptions.ROWS)


def encrypted(schema: StructType) -> dict[str, StructField]:
    """Returns the encrypted columns."""
    return {field.name: field for field in schema if _descriptions.SCHEME in field.metadata}


def with_companions(fields: Iterable[StructField], names: Collection[str]) -> list[str]:
    """Returns the names of encrypted columns, each followed by its companions, and by its value
    counts that are in `names`.
    """
    found = []
    for field in fields:
        values = (name for name in _descriptions.values(field.metadata) if name in names)
        found += [field.name, *_descriptions.companions(field.metadata), *values]
    return found


def described_entries(schema: StructType) -> dict[str, dict[str, str]]:
    """Returns the entries of encrypted columns and of counting columns.

    A companion is included with no entries.
    """
    fields = encrypted(schema).values()
    names = (
        name
        for field in fields
        for name in [*_descriptions.counts(field.metadata), *_descriptions.rarest(field.metadata)]
    )
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for field in filter(is_described, schema):
        entries = field.metadata.items()
        prefix = _descriptions.PREFIX
        found[field.name] = {name: text for name, text in entries if name.startswith(prefix) and name != JWK}
    return found


def of_part(entries: Mapping[str, dict[str, str]], part: int) -> dict[str, dict[str, str]]:
    """Returns the entries of one of the files that a table is split into, counted from 0.

    Each file is a table of its own.

    The first file keeps the table's id, so that the whole table and its parts cannot be summed
    together. The others have an id derived from it and their number.
    """
    found = {}
    for name, described in entries.items():
        if part and _descriptions.TABLE in described:
            table = sha256(f"{described[_descriptions.TABLE]}/{part}".encode()).hexdigest()[:32]
            described = {**described, _descriptions.TABLE: table}
        found[name] = described
    return found


def arrow_schema(schema: StructType) -> pa.Schema:
    """Returns the Arrow schema of a data frame's batches."""
    return to_arrow_schema(schema, timezone="UTC")


def described_schema(schema: StructType) -> pa.Schema:
    """Returns the Arrow schema of a data frame for the kernel."""
    nothing = pa.RecordBatch.from_pylist([], schema=arrow_schema(schema))
    return from_spark(nothing, described_entries(schema)).schema


def from_spark(batch: pa.RecordBatch, entries: Mapping[str, dict[str, str]]) -> pa.RecordBatch:
    """Converts a batch for the kernel: encrypted columns of fixed size with descriptions, and
    unsigned counts.

    Raises:
        TableError: a column does not match its description.
    """
    columns, fields = [], []
    nullable = {name for described in entries.values() for name in _descriptions.rarest(described)}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if field.name in entries:
            described = entries[field.name]
            kind = _described_type(described)
            try:
                column = column.cast(kind)
            except pa.ArrowInvalid as error:
                text = f"does not match its description: {field.type} cannot be converted to {kind}"
                raise TableError(text, column=field.name, kind="differs") from error
            may_be_null = _descriptions.SCHEME in described or field.name in nullable
            field = pa.field(field.name, kind, may_be_null, metadata=described or None)
        columns.append(column)
        fields.append(field)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def to_spark(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Converts a batch of the kernel to Spark's types."""
    return batch.cast(plain_schema(batch.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Converts a schema of the kernel to Spark's types."""
    return pa.schema([field.with_type(_spark_type(field.type)) for field in schema])


def spark_schema(schema: pa.Schema, before: StructType, jwk: str) -> StructType:
    """Returns the Spark schema of the kernel's results.

    Columns that it passed on are as in `before`.
    """
    fields = []
    for field in schema:
        entries = _descriptions.entries(field)
        if _descriptions.SCHEME in entries:
            fields.append(StructField(field.name, BinaryType(), True, {**entries, JWK: jwk}))
        elif field.type == pa.uint64():
            fields.append(StructField(field.name, LongType(), False, entries))
        else:
            fields.append(before[field.name])
    return StructType(fields)


def _described_type(entries: Mapping[str, str]) -> pa.DataType:
    if _descriptions.SCHEME not in entries:
        return pa.uint64()
    if entries[_descriptions.SCHEME] == _descriptions.WHOLE:
        return pa.binary()
    return pa.binary(ciphertext_bytes(int(entries[_descriptions.PREFIX + "bits"])))


def _spark_type(kind: pa.DataType) -> pa.DataType:
    kind = getattr(kind, "storage_type", kind)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    return pa.int64() if kind == pa.uint64() else kind
