"""Encrypted columns in Spark: encrypt, add up and decrypt data frames, on as many machines as there
are; and elections' records.

::

    staff = hearith.spark.encrypt_columns(df, public, {"salary": {}, "bonus": {"scale": 2}})
    totals = hearith.spark.sum_columns(staff, ["salary", "bonus"], by=["dept"])
    hearith.spark.decrypt_columns(totals, private).show()

Every task adds up the rows of its partition (`mapInArrow`): one ciphertext a group and column
leaves it, however many rows there are. These are shuffled by group and added up once more. A task
that is lost and runs again changes nothing: its totals are taken once.

The workers get the public key, as a broadcast variable, and need `hearith` installed. The private
key stays in the driver, where `decrypt_columns` works, unless it is told otherwise.

What an encrypted column is (key, encoding, scale, headroom) stands in the metadata of its Spark
column, as entries `hearith.*` like those of Arrow fields, and the public key with them
(`hearith.jwk`). Spark keeps column metadata through `select`, `filter`, `join`, `withColumnRenamed`
and its own Parquet files, not through aggregations and Python functions. Its `union` keeps those of
the first data frame: take `union` of this module where scales may differ. Spark does not see the
descriptions in Parquet files that Arrow's writers made: `read_parquet` puts them back, and
`write_parquet` writes files with them, which the command line and DuckDB read too. The companions
that count additions, `NAME.additions`, are `bigint` here.

`sum_files` adds up columns that are encrypted whole (`hearith.bfv`), which do not lie in data
frames: its tasks read row groups of Parquet files. `verify` checks the published record of an
election that is too long for one machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hearith import _native, bfv
from hearith._arguments import whole
from hearith._batches import rows_from
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
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField
except ImportError as error:
    raise ImportError("this module needs pyspark and pyarrow: pip install 'hearith[spark]'") from error

from hearith import _descriptions, _spark_schema
from hearith._spark_election import verify as verify
from hearith._spark_tasks import Batches, Task, broadcast, mapped, open_path, take_cores
from hearith._spark_whole import sum_files as sum_files
from hearith.columns import ColumnOptions, column_names, encryptor_of


def encrypt_columns(
    df: DataFrame,
    public: PublicKey,
    columns: str | Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
    *,
    pack: bool = False,
    rounding: bool = False,
    max_additions: int | None = None,
) -> DataFrame:
    """The data frame with columns encrypted, each followed by its companion; arguments as of
    `PublicKey.encrypt_columns`.

    Spark computes it anew for each action unless it is written or cached, with other ciphertexts of
    the same numbers.

    Raises:
        TableError: a column is missing or holds no numbers, or the key has no room for its range
            and additions. What is wrong with a value ends the action that computes it.
    """
    if not isinstance(public, PublicKey):
        raise TypeError("encrypt with the public key: the workers must not have the private one")
    key = broadcast(df, public)

    def encryptor(public: PublicKey, schema: pa.Schema) -> _native.Encryptor:
        return encryptor_of(public.native, schema, columns, pack, rounding, max_additions)

    result = encryptor(public, _spark_schema.arrow_schema(df.schema)).schema

    def task(batches: Batches) -> Batches:
        take_cores()
        kernel, rows = None, 0
        for batch in batches:
            kernel = kernel or encryptor(key.value, batch.schema)
            with rows_from(rows):
                encrypted = kernel.encrypt(batch)
            rows += batch.num_rows
            yield _spark_schema.to_spark(encrypted)

    return mapped(df, task, _spark_schema.spark_schema(result, df.schema, public.to_jwk()))


def sum_columns(
    df: DataFrame,
    columns: str | Sequence[str] | None = None,
    *,
    by: str | Sequence[str] = (),
    public: PublicKey | None = None,
    insecure: bool = False,
    min_rows: int = 0,
    rerandomise: bool = False,
) -> DataFrame:
    """Totals of encrypted columns (all, unless some are named) by groups, still encrypted, with the
    number of rows of each group.

    Groups come in no particular order. `public` is needed only if the columns' metadata lack the
    key: where they do not stem from `encrypt_columns`; `insecure` takes a key from there that
    protects nothing. Totals can be added up again.

    Groups of fewer rows than `min_rows` are left out, and a total of fewer values is null. The
    total of a single value is that value's own ciphertext; with `rerandomise` nobody can link
    totals to the rows without the private key. Both happen in the last step, after the partitions'
    totals are added up.

    Raises:
        InvalidKeyError: the metadata's key protects nothing, and `insecure` is not set.
        KeyMismatchError: a column is encrypted under another key.
        TableError: a column is not encrypted, or a group column is. A damaged ciphertext, or more
            additions than there is headroom for, end the action that computes the totals.
    """
    groups = column_names(by)
    described = _spark_schema.encrypted(df.schema)
    chosen = list(described) if columns is None else column_names(columns)
    for name in chosen:
        if name not in described:
            text = "not an encrypted column; hearith.spark.describe says what it is"
            raise TableError(text, column=name, kind="not_encrypted")
    fields = [described[name] for name in chosen]
    key = _key(fields, public, insecure)
    counting = [field.name for field in df.schema if _spark_schema.counts_rows(field)]
    used = df.select(
        *(
            _column(df, name)
            for name in _unique([*groups, *counting, *_spark_schema.with_companions(fields, df.columns)])
        )
    )
    schema = _spark_schema.described_schema(used.schema)
    # Whatever is wrong with key, descriptions and groups is found here, in the driver.
    empty = _native.Totals(key.native, schema, groups)
    # The totals name the table that they are of.
    empty.begin(schema, allow_repeated=False)
    nothing = empty.finish()
    returned = _spark_schema.spark_schema(nothing.schema, df.schema, key.to_jwk())
    shared = broadcast(df, key)
    partial = mapped(used, _adding(shared, groups, _spark_schema.described_entries(used.schema)), returned)
    if groups:
        spread = partial.repartition(*(_column(partial, name) for name in groups))
    else:
        # A sum over everything has one row, even if there is nothing.
        zero = df.sparkSession.createDataFrame([tuple(row.values()) for row in nothing.to_pylist()], returned)
        spread = partial.union(zero).repartition(1)
    least = whole("min_rows", min_rows, 0)
    last = _adding(shared, groups, _spark_schema.described_entries(returned), min_rows=least, rerandomise=rerandomise)
    return mapped(spread, last, returned)


def union(first: DataFrame, *others: DataFrame, public: PublicKey | None = None, insecure: bool = False) -> DataFrame:
    """The rows of data frames with the same columns, whose encrypted columns may differ in scale,
    range and number of additions.

    Spark's own `union` keeps the descriptions of the first data frame, so that numbers of another
    scale count for others. This one brings all numbers to one scale, exactly and without the
    private key. `public` and `insecure` are those of `sum_columns`.

    Raises:
        KeyMismatchError: encrypted columns are under different keys.
        TableError: columns are encrypted in some frames only, or differ in more than that; or
            scales and ranges of all frames together leave no room for additions.
    """
    frames = [first, *others]
    schemas = [_spark_schema.described_schema(frame.schema) for frame in frames]
    fields = [field for frame in frames for field in _spark_schema.encrypted(frame.schema).values()]
    if not fields:
        raise TableError("holds no encrypted column", kind="not_encrypted")
    key = _key(fields, public, insecure)
    alignment = _native.Alignment(schemas, [])
    aligned = [alignment.schema(schema) for schema in schemas]
    # What does not add up is found here, in the driver.
    totals = _native.Totals(key.native, aligned[0], [])
    for number, schema in enumerate(aligned):
        try:
            totals.begin(schema, allow_repeated=True)
        except HearithError as error:
            text = f"data frame {number} does not go with data frame 0: {error}"
            raise type(error)(text, kind=error.kind) from error
    shared = broadcast(first, key)
    parts = []
    for frame, before, after in zip(frames, schemas, aligned, strict=True):
        if before.equals(after, check_metadata=True):
            parts.append(frame)
            continue
        task = _aligning(shared, schemas, _spark_schema.described_entries(frame.schema))
        parts.append(mapped(frame, task, _spark_schema.spark_schema(after, frame.schema, key.to_jwk())))
    together = parts[0]
    for part in parts[1:]:
        together = together.unionByName(part)
    for field in parts[0].schema:
        together = together.withMetadata(field.name, field.metadata)
    return together


def decrypt_columns(df: DataFrame, private: PrivateKey | bfv.PrivateKey, *, on_workers: bool = False) -> DataFrame:
    """The data frame with its encrypted columns decrypted and without companions.

    It is collected and decrypted in the driver, where the private key stays: meant for totals. With
    `on_workers` the private key is sent to every worker, which Spark also writes to the disks of
    their machines; do this only where all of them may decrypt.

    Raises:
        HearithError: a column is encrypted under another key, a ciphertext is damaged, or a total
            may have overflowed.
    """
    if on_workers and not isinstance(private, PrivateKey):
        raise TypeError("totals of columns that are encrypted whole are decrypted in the driver")
    if not on_workers or not isinstance(private, PrivateKey):
        plain = private.decrypt_columns(to_arrow(df))
        return df.sparkSession.createDataFrame(plain.cast(_spark_schema.plain_schema(plain.schema)))
    entries = _spark_schema.described_entries(df.schema)
    result = _native.Decryptor(private.native, _spark_schema.described_schema(df.schema)).schema
    jwk, takes_any = broadcast(df, private.to_jwk()), private.decrypts_any_randomiser

    def task(batches: Batches) -> Batches:
        take_cores()
        key = _native.PrivateKey.from_jwk(jwk.value, insecure=True)
        key = key.any_randomiser() if takes_any else key
        rows = 0
        for batch in batches:
            described = _spark_schema.from_spark(batch, entries)
            with rows_from(rows):
                plain = _native.Decryptor(key, described.schema).decrypt(described)
            rows += batch.num_rows
            yield _spark_schema.to_spark(plain)

    return mapped(df, task, from_arrow_schema(_spark_schema.plain_schema(result)))


def describe(df: DataFrame, like: pa.Schema | DataFrame | str, public: PublicKey | None = None) -> DataFrame:
    """The data frame with the descriptions that the columns of the same names have in `like`.

    `like` is an Arrow schema, another data frame, or a Parquet file or folder that pyarrow can
    open; `public` goes with them, so that `sum_columns` finds it.
    """
    if isinstance(like, DataFrame):
        frame: DataFrame = like
        found = {field.name: dict(field.metadata) for field in frame.schema if _spark_schema.is_described(field)}
    else:
        schema: Any = like if isinstance(like, pa.Schema) else dataset.dataset(like, format="parquet").schema
        found = {field.name: texts for field in schema if (texts := _descriptions.entries(field))}
    for name, entries in found.items():
        if name in df.columns:
            known = public is not None and _descriptions.SCHEME in entries
            jwk = {_spark_schema.JWK: public.to_jwk()} if public is not None and known else {}
            df = df.withMetadata(name, {**df.schema[name].metadata, **entries, **jwk})
    return df


def read_parquet(spark: SparkSession, path: str, public: PublicKey | None = None) -> DataFrame:
    """`spark.read.parquet` with the descriptions of encrypted columns, whoever wrote the files.

    The driver reads the schemas of all files with pyarrow, so `path` must be one that both
    understand.

    Raises:
        TableError: a file describes an encrypted column otherwise than the first. Read such files
            one by one, and `union` the data frames.
    """
    _check_alike(path)
    return describe(spark.read.parquet(path), path, public)


def _check_alike(path: str) -> None:
    """Raises `TableError` if the files in a folder do not describe their encrypted columns
    alike.
    """
    own = {_descriptions.TABLE, _descriptions.TABLES, _descriptions.VERSION}
    known: tuple[str, dict[str, dict[str, str]]] | None = None
    for fragment in dataset.dataset(path, format="parquet").get_fragments():
        schema: Any = fragment.physical_schema
        described = {field.name: _descriptions.entries(field) for field in schema}
        found = {
            name: {key: text for key, text in entries.items() if key not in own}
            for name, entries in described.items()
            if _descriptions.SCHEME in entries
        }
        known = known or (fragment.path, found)
        for name in sorted({*known[1], *found}):
            if known[1].get(name) != found.get(name):
                text = (
                    f"{fragment.path} describes it otherwise than {known[0]}: hearith.spark.union adds up unlike files"
                )
                raise TableError(text, column=name, kind="differs")


def write_parquet(df: DataFrame, path: str) -> None:
    """Writes a file a partition into a new folder, as tables that `hearith`, pyarrow and DuckDB
    read with all descriptions.

    All workers must see the folder under this path, or URI that pyarrow understands. A file gets
    its name when it is complete, `_SUCCESS` stands beside them when all are. Each file is a table
    with an id of its own, so that all add up. Totals go into one file, which names the tables in
    them.

    Raises:
        HearithError: there is something at `path` already.
    """
    system, folder = open_path(path)
    if system.get_file_info(folder).type != filesystems.FileType.NotFound:
        raise HearithError(f"{path}: exists already")
    system.create_dir(folder)
    if any(_spark_schema.counts_rows(field) for field in df.schema):
        df = df.coalesce(1)
    entries = _spark_schema.described_entries(df.schema)

    def task(batches: Batches) -> Batches:
        context = TaskContext.get()
        assert context is not None, "within a task"
        system, folder = open_path(path)
        part = context.partitionId()
        name = f"{folder}/part-{part:05}.parquet"
        temporary = f"{folder}/_{context.taskAttemptId()}.temporary"
        rows, writer = 0, None
        for batch in batches:
            described = _spark_schema.from_spark(batch, _spark_schema.of_part(entries, part))
            writer = writer or pq.ParquetWriter(temporary, described.schema, filesystem=system)
            writer.write_batch(described)
            rows += batch.num_rows
        if writer is not None:
            writer.close()
            system.move(temporary, name)
        yield pa.RecordBatch.from_pydict({"rows": [rows]})

    mapped(df, task, "rows bigint").collect()
    if not any(info.base_name.startswith("part-") for info in system.get_file_info(filesystems.FileSelector(folder))):
        empty = _spark_schema.described_schema(df.schema).empty_table()
        pq.write_table(empty, f"{folder}/part-00000.parquet", filesystem=system)
    system.open_output_stream(f"{folder}/_SUCCESS").close()


def to_arrow(df: DataFrame) -> pa.Table:
    """The data frame as a table of pyarrow with the descriptions of its encrypted columns, as
    `PrivateKey.decrypt_columns` takes it.
    """
    entries, table = _spark_schema.described_entries(df.schema), df.toArrow()
    batches = [_spark_schema.from_spark(batch, entries) for batch in table.to_batches()]
    return pa.Table.from_batches(
        batches, _spark_schema.described_schema(df.schema) if not batches else batches[0].schema
    )


def _adding(
    key: Any,
    groups: list[str],
    entries: Mapping[str, dict[str, str]],
    *,
    min_rows: int = 0,
    rerandomise: bool = False,
) -> Task:
    """The task that adds up the rows of a partition."""

    def task(batches: Batches) -> Batches:
        take_cores()
        totals, rows = None, 0
        for batch in batches:
            described = _spark_schema.from_spark(batch, entries)
            totals = totals or _native.Totals(key.value.native, described.schema, groups)
            with rows_from(rows):
                totals.update(described)
            rows += batch.num_rows
        if totals is not None:
            yield _spark_schema.to_spark(totals.finish(min_rows=min_rows, rerandomise=rerandomise))

    return task


def _aligning(key: Any, schemas: list[pa.Schema], entries: Mapping[str, dict[str, str]]) -> Task:
    """The task that brings the encrypted columns of a partition to what they become beside those of
    the other frames.
    """

    def task(batches: Batches) -> Batches:
        take_cores()
        alignment, rows = _native.Alignment(schemas, []), 0
        for batch in batches:
            with rows_from(rows):
                aligned = alignment.align(key.value.native, _spark_schema.from_spark(batch, entries))
            rows += batch.num_rows
            yield _spark_schema.to_spark(aligned)

    return task


def _key(fields: Sequence[StructField], public: PublicKey | None, insecure: bool) -> PublicKey:
    """The key given, or the one in the columns' metadata."""
    if public is not None:
        return public
    for field in fields:
        if _spark_schema.JWK in field.metadata:
            return PublicKey.from_jwk(field.metadata[_spark_schema.JWK], insecure=insecure)
    text = "the columns' metadata have no public key: give public=, here or to describe"
    raise TableError(text, kind="no_key")


def _column(df: DataFrame, name: str) -> Column:
    if name not in df.columns:
        raise TableError("there is none of this name", column=name, kind="no_such_column")
    return F.col("`" + name.replace("`", "``") + "`")


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
