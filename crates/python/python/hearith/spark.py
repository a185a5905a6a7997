"""Encrypted columns in Spark: encrypt, add up and decrypt data frames, on as many machines as there are.

::

    staff = hearith.spark.encrypt(df, public, {"salary": {}, "bonus": {"scale": 2}})
    totals = hearith.spark.sum(staff, ["salary", "bonus"], by=["dept"])
    hearith.spark.decrypt(totals, private).show()

Every task adds up the rows of its partition (`mapInArrow`): one ciphertext a group and column leaves it, however many rows there
are. These are shuffled by group and added up once more. A task that is lost and runs again changes nothing: its totals are taken once.

The workers get the public key, as a broadcast variable, and need `hearith` installed. The private key stays in the driver, where
`decrypt` works, unless it is told otherwise.

What an encrypted column is (key, encoding, scale, headroom) stands in the metadata of its Spark column, as entries `hearith.*` like
those of Arrow fields, and the public key with them (`hearith.jwk`). Spark keeps column metadata through `select`, `filter`, `join`,
`withColumnRenamed` and its own Parquet files, not through aggregations and Python functions. Spark does not see the descriptions in
Parquet files that Arrow's writers made: `read_parquet` puts them back, and `write_parquet` writes files with them, which the
command line and DuckDB read too. The companions that count additions, `NAME.additions`, are `bigint` here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hearith import _native
from hearith.errors import HearithError, TableError
from hearith.keys import PrivateKey, PublicKey

try:
    import pyarrow as pa
    import pyarrow.dataset as dataset
    import pyarrow.fs as filesystems
    import pyarrow.parquet as pq
    from pyspark import TaskContext
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType
except ImportError as error:
    raise ImportError("this module needs pyspark and pyarrow: pip install 'hearith[spark]'") from error

from hearith.columns import ColumnOptions, _names, _spec

#: Prefix of the entries that describe a column, the entry with the public key, and the entry of a column that counts rows.
_PREFIX, _JWK, _ROLE = "hearith.", "hearith.jwk", "hearith.role"
#: The column of totals that counts rows.
_ROWS = "rows"

_Batches = Iterator[pa.RecordBatch]
_Task = Callable[[_Batches], _Batches]


def encrypt(
    df: DataFrame,
    public: PublicKey,
    columns: str | Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
    *,
    pack: bool = False,
    rounding: bool = False,
    max_additions: int | None = None,
) -> DataFrame:
    """The data frame with columns encrypted, each followed by its companion; arguments as of `PublicKey.encrypt_columns`.

    Spark computes it anew for each action unless it is written or cached, with other ciphertexts of the same numbers.

    Raises:
        TableError: a column is missing or holds no numbers, or the key has no room for its range and additions. What is wrong
            with a value ends the action that computes it.
    """
    if not isinstance(public, PublicKey):
        raise TypeError("encrypt with the public key: the workers must not have the private one")
    options = columns if isinstance(columns, Mapping) else dict.fromkeys(_names(columns), ColumnOptions())
    specs = [(name, *_spec(name, option)) for name, option in options.items()]
    key = _broadcast(df, public)

    def encryptor_of(public: PublicKey, schema: pa.Schema) -> _native.Encryptor:
        return _native.Encryptor(public._native, schema, specs, pack=pack, round=rounding, max_additions=max_additions)

    result = encryptor_of(public, _arrow_schema(df)).schema

    def task(batches: _Batches) -> _Batches:
        _take_cores()
        encryptor = None
        for batch in batches:
            encryptor = encryptor or encryptor_of(key.value, batch.schema)
            yield _to_spark(encryptor.encrypt(batch))

    return _map(df, task, _spark_schema(result, df.schema, public.to_jwk()))


def sum(
    df: DataFrame,
    columns: str | Sequence[str] | None = None,
    *,
    by: str | Sequence[str] = (),
    public: PublicKey | None = None,
    min_rows: int = 0,
    rerandomise: bool = False,
) -> DataFrame:
    """Totals of encrypted columns (all, unless some are named) by groups, still encrypted, with the number of rows of each group.

    Groups come in no particular order. `public` is needed only if the columns' metadata lack the key: where they do not stem from
    `encrypt`. Totals can be added up again.

    Groups of fewer rows than `min_rows` are left out, and a total of fewer values is null. The total of a single value is that value's
    own ciphertext; with `rerandomise` nobody can link totals to the rows without the private key. Both happen in the last step, after the
    partitions' totals are added up.

    Raises:
        KeyMismatchError: a column is encrypted under another key.
        TableError: a column is not encrypted, or a group column is. A damaged ciphertext, or more additions than there is headroom for,
            end the action that computes the totals.
    """
    groups = _names(by)
    described = _encrypted(df.schema)
    chosen = list(described) if columns is None else _names(columns)
    for name in chosen:
        if name not in described:
            raise TableError(f"column {name}: not an encrypted column; hearith.spark.describe says what it is")
    fields = [described[name] for name in chosen]
    key = _key(fields, public)
    counting = [field.name for field in df.schema if _counts_rows(field)]
    used = df.select(*(_column(df, name) for name in _unique([*groups, *counting, *_with_companions(fields)])))
    schema = _described_schema(used.schema)
    # Whatever is wrong with key, descriptions and groups is found here, in the driver.
    nothing = _native.Totals(key._native, schema, groups).finish()
    returned = _spark_schema(nothing.schema, df.schema, key.to_jwk())
    shared = _broadcast(df, key)
    partial = _map(used, _adding(shared, groups, _described_entries(used.schema)), returned)
    if groups:
        spread = partial.repartition(*(_column(partial, name) for name in groups))
    else:
        # A sum over everything has one row, even if there is nothing.
        zero = df.sparkSession.createDataFrame([tuple(row.values()) for row in nothing.to_pylist()], returned)
        spread = partial.union(zero).repartition(1)
    last = _adding(shared, groups, _described_entries(returned), min_rows=min_rows, rerandomise=rerandomise)
    return _map(spread, last, returned)


def decrypt(df: DataFrame, private: PrivateKey, *, on_workers: bool = False) -> DataFrame:
    """The data frame with its encrypted columns decrypted and without companions.

    It is collected and decrypted in the driver, where the private key stays: meant for totals. With `on_workers` the private key is
    sent to every worker, which Spark also writes to the disks of their machines; do this only where all of them may decrypt.

    Raises:
        HearithError: a column is encrypted under another key, a ciphertext is damaged, or a total may have overflowed.
    """
    if not on_workers:
        plain = private.decrypt_columns(to_arrow(df))
        return df.sparkSession.createDataFrame(plain.cast(_plain_schema(plain.schema)))
    entries = _described_entries(df.schema)
    result = _native.Decryptor(private._native, _described_schema(df.schema)).schema
    jwk = _broadcast(df, private.to_jwk())

    def task(batches: _Batches) -> _Batches:
        _take_cores()
        key = _native.PrivateKey.from_jwk(jwk.value, insecure=True)
        for batch in batches:
            described = _from_spark(batch, entries)
            yield _to_spark(_native.Decryptor(key, described.schema).decrypt(described))

    return _map(df, task, from_arrow_schema(_plain_schema(result)))


def describe(df: DataFrame, like: pa.Schema | DataFrame | str, public: PublicKey | None = None) -> DataFrame:
    """The data frame with the descriptions that the columns of the same names have in `like`.

    `like` is an Arrow schema, another data frame, or a Parquet file or folder that pyarrow can open; `public` goes with them, so
    that `sum` finds it.
    """
    if isinstance(like, DataFrame):
        found = {field.name: dict(field.metadata) for field in like.schema if _is_described(field)}
    else:
        schema = like if isinstance(like, pa.Schema) else dataset.dataset(like, format="parquet").schema
        found = {field.name: _texts(field) for field in schema if _texts(field)}
    for name, entries in found.items():
        if name in df.columns:
            jwk = {_JWK: public.to_jwk()} if public is not None and "hearith.scheme" in entries else {}
            df = df.withMetadata(name, {**df.schema[name].metadata, **entries, **jwk})
    return df


def read_parquet(spark: SparkSession, path: str, public: PublicKey | None = None) -> DataFrame:
    """`spark.read.parquet` with the descriptions of encrypted columns, whoever wrote the files.

    The driver reads the schema of one file with pyarrow, so `path` must be one that both understand.
    """
    return describe(spark.read.parquet(path), path, public)


def write_parquet(df: DataFrame, path: str) -> None:
    """Writes a file a partition into a new folder, as tables that `hearith`, pyarrow and DuckDB read with all descriptions.

    All workers must see the folder under this path, or URI that pyarrow understands. A file gets its name when it is complete,
    `_SUCCESS` stands beside them when all are.

    Raises:
        HearithError: there is something at `path` already.
    """
    system, folder = _open(path)
    if system.get_file_info(folder).type != filesystems.FileType.NotFound:
        raise HearithError(f"{path}: exists already")
    system.create_dir(folder)
    entries = _described_entries(df.schema)

    def task(batches: _Batches) -> _Batches:
        context = TaskContext.get()
        assert context is not None, "within a task"
        system, folder = _open(path)
        name = f"{folder}/part-{context.partitionId():05}.parquet"
        temporary = f"{folder}/_{context.taskAttemptId()}.temporary"
        rows, writer = 0, None
        for batch in batches:
            described = _from_spark(batch, entries)
            writer = writer or pq.ParquetWriter(temporary, described.schema, filesystem=system)
            writer.write_batch(described)
            rows += batch.num_rows
        if writer is not None:
            writer.close()
            system.move(temporary, name)
        yield pa.RecordBatch.from_pydict({"rows": [rows]})

    _map(df, task, "rows bigint").collect()
    if not any(info.base_name.startswith("part-") for info in system.get_file_info(filesystems.FileSelector(folder))):
        empty = _described_schema(df.schema).empty_table()
        pq.write_table(empty, f"{folder}/part-00000.parquet", filesystem=system)
    system.open_output_stream(f"{folder}/_SUCCESS").close()


def to_arrow(df: DataFrame) -> pa.Table:
    """The data frame as a table of pyarrow with the descriptions of its encrypted columns, as `PrivateKey.decrypt_columns` takes it."""
    entries, table = _described_entries(df.schema), df.toArrow()
    batches = [_from_spark(batch, entries) for batch in table.to_batches()]
    return pa.Table.from_batches(batches, _described_schema(df.schema) if not batches else batches[0].schema)


def _adding(
    key: Any,
    groups: list[str],
    entries: Mapping[str, dict[str, str]],
    *,
    min_rows: int = 0,
    rerandomise: bool = False,
) -> _Task:
    """The task that adds up the rows of a partition."""

    def task(batches: _Batches) -> _Batches:
        _take_cores()
        totals = None
        for batch in batches:
            described = _from_spark(batch, entries)
            totals = totals or _native.Totals(key.value._native, described.schema, groups)
            totals.update(described)
        if totals is not None:
            yield _to_spark(totals.finish(min_rows=min_rows, rerandomise=rerandomise))

    return task


def _map(df: DataFrame, task: _Task, schema: StructType | str) -> DataFrame:
    """`DataFrame.mapInArrow`, which cannot do with dots in names, for columns of any names."""
    names = df.columns

    def renamed(batches: _Batches) -> _Batches:
        return task(batch.rename_columns(names) for batch in batches)

    return df.toDF(*(f"c{index}" for index in range(len(names)))).mapInArrow(renamed, schema)


def _take_cores() -> None:
    """Uses as many threads as Spark gives the task cores."""
    context = TaskContext.get()
    _native.set_threads(max(1, context.cpus() if context else 1))


class _Local:
    """What a broadcast variable is, for sessions that have none (Spark Connect): the value travels with the task."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _broadcast(df: DataFrame, value: Any) -> Any:
    context = getattr(df.sparkSession, "_sc", None)
    return _Local(value) if context is None else context.broadcast(value)


def _open(path: str) -> tuple[Any, str]:
    if "://" in path or path.startswith("file:"):
        system, name = filesystems.FileSystem.from_uri(path)
        return system, str(name).rstrip("/")
    return filesystems.LocalFileSystem(), path.rstrip("/")


def _key(fields: Sequence[StructField], public: PublicKey | None) -> PublicKey:
    """The key given, or the one in the columns' metadata."""
    if public is not None:
        return public
    for field in fields:
        if _JWK in field.metadata:
            # Adding under a short key reveals no more than the data do: whoever made it was asked.
            return PublicKey.from_jwk(field.metadata[_JWK], insecure=True)
    raise TableError("the columns' metadata have no public key: give public=, here or to describe")


def _column(df: DataFrame, name: str) -> Column:
    if name not in df.columns:
        raise TableError(f"column {name}: there is none of this name")
    return F.col("`" + name.replace("`", "``") + "`")


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _is_described(field: StructField) -> bool:
    return any(key.startswith(_PREFIX) for key in field.metadata)


def _counts_rows(field: StructField) -> bool:
    return bool(field.metadata.get(_ROLE) == _ROWS)


def _encrypted(schema: StructType) -> dict[str, StructField]:
    return {field.name: field for field in schema if "hearith.scheme" in field.metadata}


def _companions(entries: Mapping[str, str]) -> list[str]:
    return [str(name) for name in json.loads(entries.get("hearith.additions", "[]"))]


def _with_companions(fields: Iterable[StructField]) -> list[str]:
    return [name for field in fields for name in [field.name, *_companions(field.metadata)]]


def _described_entries(schema: StructType) -> dict[str, dict[str, str]]:
    """The entries of encrypted columns and of those that count; a companion has none, but is there."""
    fields = _encrypted(schema).values()
    found: dict[str, dict[str, str]] = {name: {} for field in fields for name in _companions(field.metadata)}
    for field in schema:
        if _is_described(field):
            entries = field.metadata.items()
            found[field.name] = {key: text for key, text in entries if key.startswith(_PREFIX) and key != _JWK}
    return found


def _texts(field: pa.Field) -> dict[str, str]:
    """The entries that describe an Arrow field."""
    entries = (field.metadata or {}).items()
    return {key.decode(): value.decode() for key, value in entries if key.startswith(b"hearith.")}


def _arrow_schema(df: DataFrame) -> pa.Schema:
    return to_arrow_schema(df.schema, timezone="UTC")


def _described_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema that the kernel gets of a data frame."""
    plain = to_arrow_schema(schema, timezone="UTC")
    return _from_spark(pa.RecordBatch.from_pylist([], schema=plain), _described_entries(schema)).schema


def _from_spark(batch: pa.RecordBatch, entries: Mapping[str, dict[str, str]]) -> pa.RecordBatch:
    """A batch with its encrypted columns as the kernel takes them: of fixed size, described; counts without sign."""
    columns, fields = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if field.name in entries:
            described = entries[field.name]
            encrypted = "hearith.scheme" in described
            kind = pa.binary(2 * -(-int(described["hearith.bits"]) // 8)) if encrypted else pa.uint64()
            try:
                column = column.cast(kind)
            except pa.ArrowInvalid as error:
                raise TableError(f"column {field.name}: {error}") from None
            field = pa.field(field.name, kind, encrypted, metadata=described or None)
        columns.append(column)
        fields.append(field)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _to_spark(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of the kernel with types that Spark has."""
    return batch.cast(_plain_schema(batch.schema))


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """A schema of the kernel with types that Spark has."""
    return pa.schema([field.with_type(_spark_type(field.type)) for field in schema])


def _spark_type(kind: pa.DataType) -> pa.DataType:
    kind = getattr(kind, "storage_type", kind)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    return pa.int64() if kind == pa.uint64() else kind


def _spark_schema(schema: pa.Schema, before: StructType, jwk: str) -> StructType:
    """The Spark schema of what the kernel returns; columns that it passed on are as they were `before`."""
    fields = []
    for field in schema:
        entries = _texts(field)
        if "hearith.scheme" in entries:
            fields.append(StructField(field.name, BinaryType(), True, {**entries, _JWK: jwk}))
        elif field.type == pa.uint64():
            fields.append(StructField(field.name, LongType(), False, entries))
        else:
            fields.append(before[field.name])
    return StructType(fields)
