"""Encrypted columns in Spark: distributed encryption, sums and decryption of data frames, and
verification of election records.

::

    staff = hearith.spark.encrypt_columns(df, public, {"salary": {}, "bonus": {"scale": 2}})
    totals = hearith.spark.sum_columns(staff, ["salary", "bonus"], by=["dept"])
    hearith.spark.decrypt_columns(totals, private).show()

Every task sums the rows of its partition (`mapInArrow`) and emits one ciphertext per group and
column, regardless of the number of rows. These are shuffled by group and summed again. Retries of a
lost task change nothing, since its totals are used once.

The workers receive the public key as a broadcast variable, and need `hearith` installed. The
private key stays in the driver, where `decrypt_columns` runs unless `on_workers` is set.

The metadata of a Spark column describes its encryption (key, encoding, scale, headroom) in entries
`hearith.*` like those of Arrow fields, and includes the public key (`hearith.jwk`). Spark keeps
column metadata through `select`, `filter`, `join`, `withColumnRenamed` and its own Parquet files,
but not through aggregations and Python functions. Its `union` keeps the metadata of the first data
frame: use `union` of this module where scales may differ. Spark ignores the descriptions in Parquet
files of Arrow writers. `read_parquet` restores them, and `write_parquet` writes files with them,
which the command line and DuckDB read too. The companions that count additions, `NAME.additions`,
are `bigint` here.

`sum_files` sums batched columns (`hearith.bfv`), which data frames cannot hold: its tasks read row
groups of Parquet files. `verify` checks the published record of an election that is too long for
one machine.
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
    """Returns the data frame with columns encrypted, each followed by its companion.

    Arguments as in `PublicKey.encrypt_columns`.

    Unless the result is written or cached, Spark recomputes it for each action, with other
    ciphertexts of the same numbers.

    Raises:
        TableError: a column is missing or not numeric, or its range and additions do not fit the
            key. Errors in values abort the action that computes them.
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
    """Returns the encrypted totals of encrypted columns by group, with the number of rows of each
    group. Sums all encrypted columns unless `columns` names some.

    Groups are in no particular order. `public` is needed only if the columns' metadata lack the
    key, because they do not come from `encrypt_columns`. `insecure` accepts an insecure key from
    the metadata. Totals can be summed again.

    Groups with fewer rows than `min_rows` are left out, and a total of fewer values is null. The
    total of a single value is that value's own ciphertext. With `rerandomise`, totals cannot be
    linked to the rows without the private key. Both options apply in the last step, after the
    partitions' totals are summed.

    Raises:
        InvalidKeyError: the metadata's key is insecure, and `insecure` is not set.
        KeyMismatchError: a column is encrypted under another key.
        TableError: a column is not encrypted, or a group column is. A damaged ciphertext, or more
            additions than the headroom allows, aborts the action that computes the totals.
    """
    groups = column_names(by)
    described = _spark_schema.encrypted(df.schema)
    chosen = list(described) if columns is None else column_names(columns)
    for name in chosen:
        if name not in described:
            text = "not described as an encrypted column: hearith.spark.describe adds the description"
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
    # Errors in key, descriptions and groups are raised here, in the driver.
    empty = _native.Aggregator(key.native, schema, groups)
    # The totals name the table they are computed from.
    empty.begin(schema, allow_repeated=False)
    nothing = empty.finish()
    returned = _spark_schema.spark_schema(nothing.schema, df.schema, key.to_jwk())
    shared = broadcast(df, key)
    partial = mapped(used, _sum_task(shared, groups, _spark_schema.described_entries(used.schema)), returned)
    if groups:
        spread = partial.repartition(*(_column(partial, name) for name in groups))
    else:
        # A sum without groups has one row, even for an empty data frame.
        zero = df.sparkSession.createDataFrame([tuple(row.values()) for row in nothing.to_pylist()], returned)
        spread = partial.union(zero).repartition(1)
    least = whole("min_rows", min_rows, 0)
    last = _sum_task(shared, groups, _spark_schema.described_entries(returned), min_rows=least, rerandomise=rerandomise)
    return mapped(spread, last, returned)


def union(first: DataFrame, *others: DataFrame, public: PublicKey | None = None, insecure: bool = False) -> DataFrame:
    """Returns the rows of data frames with the same columns, whose encrypted columns may differ in
    scale, range and number of additions.

    Spark's own `union` keeps the descriptions of the first data frame, and so misreads numbers of
    another scale. This function converts all numbers to one scale, exactly and without the private
    key. `public` and `insecure` are as in `sum_columns`.

    Raises:
        KeyMismatchError: encrypted columns are under different keys.
        TableError: columns are encrypted only in some frames, or differ in other respects; or the
            combined scales and ranges of all frames leave no headroom for additions.
    """
    frames = [first, *others]
    schemas = [_spark_schema.described_schema(frame.schema) for frame in frames]
    fields = [field for frame in frames for field in _spark_schema.encrypted(frame.schema).values()]
    if not fields:
        raise TableError("holds no encrypted column", kind="not_encrypted")
    key = _key(fields, public, insecure)
    alignment = _native.Alignment(schemas, [])
    aligned = [alignment.schema(schema) for schema in schemas]
    # Mismatches are raised here, in the driver.
    totals = _native.Aggregator(key.native, aligned[0], [])
    for number, schema in enumerate(aligned):
        try:
            totals.begin(schema, allow_repeated=True)
        except HearithError as error:
            text = f"data frame {number} does not match data frame 0: {error}"
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
    """Returns the data frame with its encrypted columns decrypted and without companions.

    Collects the data frame and decrypts it in the driver, where the private key stays; this is
    meant for totals. `on_workers` sends the private key to every worker, and Spark also writes it
    to the workers' disks. Use it only where all of them may decrypt.

    Raises:
        HearithError: a column is encrypted under another key, a ciphertext is damaged, or a total
            may have overflowed.
    """
    if on_workers and not isinstance(private, PrivateKey):
        raise TypeError("totals of BFV columns are decrypted in the driver")
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
    """Adds the descriptions in `like` to the columns of the same names.

    `like` is an Arrow schema, another data frame, or a Parquet file or folder that pyarrow can
    open. `public` is stored with the descriptions, so that `sum_columns` finds it.
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
    """Reads Parquet files like `spark.read.parquet`, with the descriptions of encrypted columns,
    from any writer.

    The driver reads the schemas of all files with pyarrow, so both Spark and pyarrow must
    understand `path`.

    Raises:
        TableError: a file describes an encrypted column differently from the first. Read such files
            one by one, and `union` the data frames.
    """
    _check_alike(path)
    return describe(spark.read.parquet(path), path, public)


def _check_alike(path: str) -> None:
    """Raises `TableError` if the files in a folder describe their encrypted columns differently."""
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
                text = f"{fragment.path} describes it differently from {known[0]}: use hearith.spark.union"
                raise TableError(text, column=name, kind="differs")


def write_parquet(df: DataFrame, path: str) -> None:
    """Writes one file per partition into a new folder, as tables whose descriptions `hearith`,
    pyarrow and DuckDB read.

    All workers must be able to access the folder under this path, or URI that pyarrow understands.
    A file is renamed to its final name when it is complete, and `_SUCCESS` is added when all are.
    Each file is a table with an id of its own, so that files can be summed. Totals go into one
    file, which names the tables they include.

    Raises:
        HearithError: `path` already exists.
    """
    system, folder = open_path(path)
    if system.get_file_info(folder).type != filesystems.FileType.NotFound:
        raise HearithError(f"{path}: already exists")
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
    """Returns the data frame as a pyarrow table with the descriptions of its encrypted columns, for
    `PrivateKey.decrypt_columns`.
    """
    entries, table = _spark_schema.described_entries(df.schema), df.toArrow()
    batches = [_spark_schema.from_spark(batch, entries) for batch in table.to_batches()]
    return pa.Table.from_batches(
        batches, _spark_schema.described_schema(df.schema) if not batches else batches[0].schema
    )


def _sum_task(
    key: Any,
    groups: list[str],
    entries: Mapping[str, dict[str, str]],
    *,
    min_rows: int = 0,
    rerandomise: bool = False,
) -> Task:
    """Returns the task that sums the rows of a partition."""

    def task(batches: Batches) -> Batches:
        take_cores()
        totals, rows = None, 0
        for batch in batches:
            described = _spark_schema.from_spark(batch, entries)
            totals = totals or _native.Aggregator(key.value.native, described.schema, groups)
            with rows_from(rows):
                totals.update(described)
            rows += batch.num_rows
        if totals is not None:
            yield _spark_schema.to_spark(totals.finish(min_rows=min_rows, rerandomise=rerandomise))

    return task


def _aligning(key: Any, schemas: list[pa.Schema], entries: Mapping[str, dict[str, str]]) -> Task:
    """Returns the task that aligns the encrypted columns of a partition with those of the other
    frames.
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
    """Returns the given key, or the one in the columns' metadata."""
    if public is not None:
        return public
    for field in fields:
        if _spark_schema.JWK in field.metadata:
            return PublicKey.from_jwk(field.metadata[_spark_schema.JWK], insecure=insecure)
    text = "the columns' metadata have no public key: pass public= here or to describe"
    raise TableError(text, kind="no_key")


def _column(df: DataFrame, name: str) -> Column:
    if name not in df.columns:
        raise TableError("there is no such column", column=name, kind="no_such_column")
    return F.col("`" + name.replace("`", "``") + "`")


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
