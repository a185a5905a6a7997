"""Schemas of encrypted tables between Spark and the kernel, which knows Arrow.

Spark has neither binary values of fixed size nor integers without sign; what a column is stands in
its metadata.
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

#: The entry with the public key, which only Spark's metadata have.
JWK = _descriptions.PREFIX + "jwk"


def is_described(field: StructField) -> bool:
    """Whether the metadata say what the column is."""
    return any(name.startswith(_descriptions.PREFIX) for name in field.metadata)


def counts_rows(field: StructField) -> bool:
    """Whether the column counts the rows of totals."""
    return bool(field.metadata.get(_descriptions.ROLE) == _descriptions.ROWS)


def encrypted(schema: StructType) -> dict[str, StructField]:
    """The encrypted columns."""
    return {field.name: field for field in schema if _descriptions.SCHEME in field.metadata}


def with_companions(fields: Iterable[StructField], names: Collection[str]) -> list[str]:
    """The names of encrypted columns, each followed by those of its companions, and of what counts
    values in those of `names`.
    """
    found = []
    for field in fields:
        values = (name for name in _descriptions.values(field.metadata) if name in names)
        found += [field.name, *_descriptions.companions(field.metadata), *values]
    return found


def described_entries(schema: StructType) -> dict[str, dict[str, str]]:
    """The entries of encrypted columns and of those that count; a companion has none, but is
    there.
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
    """The entries of one of the files that a table is divided into, counted from 0: each is a table
    of its own.

    The first keeps the table's id, so that the whole and its parts are not added up together. The
    others have an id that follows from it and their number.
    """
    found = {}
    for name, described in entries.items():
        if part and _descriptions.TABLE in described:
            table = sha256(f"{described[_descriptions.TABLE]}/{part}".encode()).hexdigest()[:32]
            described = {**described, _descriptions.TABLE: table}
        found[name] = described
    return found


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema of a data frame's batches."""
    return to_arrow_schema(schema, timezone="UTC")


def described_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema that the kernel gets of a data frame."""
    nothing = pa.RecordBatch.from_pylist([], schema=arrow_schema(schema))
    return from_spark(nothing, described_entries(schema)).schema


def from_spark(batch: pa.RecordBatch, entries: Mapping[str, dict[str, str]]) -> pa.RecordBatch:
    """A batch with its encrypted columns as the kernel takes them: of fixed size, described; counts
    without sign.

    Raises:
        TableError: a column does not hold what its description says.
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
                text = f"does not hold what is described: {kind} cannot be made of its {field.type}"
                raise TableError(text, column=field.name, kind="differs") from error
            may_be_null = _descriptions.SCHEME in described or field.name in nullable
            field = pa.field(field.name, kind, may_be_null, metadata=described or None)
        columns.append(column)
        fields.append(field)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def to_spark(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of the kernel with types that Spark has."""
    return batch.cast(plain_schema(batch.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """A schema of the kernel with types that Spark has."""
    return pa.schema([field.with_type(_spark_type(field.type)) for field in schema])


def spark_schema(schema: pa.Schema, before: StructType, jwk: str) -> StructType:
    """The Spark schema of what the kernel returns; columns that it passed on are as they were
    `before`.
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
