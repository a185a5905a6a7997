"""Encrypted columns in Spark: encrypt, add up and decrypt data frames, on as many machines as there are; and elections' records.

::

    staff = hearith.spark.encrypt_columns(df, public, {"salary": {}, "bonus": {"scale": 2}})
    totals = hearith.spark.sum_columns(staff, ["salary", "bonus"], by=["dept"])
    hearith.spark.decrypt_columns(totals, private).show()

Every task adds up the rows of its partition (`mapInArrow`): one ciphertext a group and column leaves it, however many rows there
are. These are shuffled by group and added up once more. A task that is lost and runs again changes nothing: its totals are taken once.

The workers get the public key, as a broadcast variable, and need `hearith` installed. The private key stays in the driver, where
`decrypt_columns` works, unless it is told otherwise.

What an encrypted column is (key, encoding, scale, headroom) stands in the metadata of its Spark column, as entries `hearith.*` like
those of Arrow fields, and the public key with them (`hearith.jwk`). Spark keeps column metadata through `select`, `filter`, `join`,
`withColumnRenamed` and its own Parquet files, not through aggregations and Python functions. Spark does not see the descriptions in
Parquet files that Arrow's writers made: `read_parquet` puts them back, and `write_parquet` writes files with them, which the
command line and DuckDB read too. The companions that count additions, `NAME.additions`, are `bigint` here.

`verify` checks the published record of an election that is too long for one machine.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hearith import _native
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
    from pyspark.errors import PySparkException
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField, StructType
except ImportError as error:
    raise ImportError("this module needs pyspark and pyarrow: pip install 'hearith[spark]'") from error

from hearith import _descriptions, _spark_schema
from hearith.columns import ColumnOptions, column_names, encryptor_of

_Batches = Iterator[pa.RecordBatch]
_Task = Callable[[_Batches], _Batches]

# Files of a board whose ballots are verified together: more make a proof little cheaper, and take memory (some 80 MB each).
_FILES_TOGETHER = 4
# Tasks between two looks of the driver at what came.
_TASKS_AT_A_TIME = 256


def encrypt_columns(
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
    key = _broadcast(df, public)

    def encryptor(public: PublicKey, schema: pa.Schema) -> _native.Encryptor:
        return encryptor_of(public.native, schema, columns, pack, rounding, max_additions)

    result = encryptor(public, _spark_schema.arrow_schema(df.schema)).schema

    def task(batches: _Batches) -> _Batches:
        _take_cores()
        kernel, rows = None, 0
        for batch in batches:
            kernel = kernel or encryptor(key.value, batch.schema)
            with rows_from(rows):
                encrypted = kernel.encrypt(batch)
            rows += batch.num_rows
            yield _spark_schema.to_spark(encrypted)

    return _map(df, task, _spark_schema.spark_schema(result, df.schema, public.to_jwk()))


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
    """Totals of encrypted columns (all, unless some are named) by groups, still encrypted, with the number of rows of each group.

    Groups come in no particular order. `public` is needed only if the columns' metadata lack the key: where they do not stem from
    `encrypt_columns`; `insecure` takes a key from there that protects nothing. Totals can be added up again.

    Groups of fewer rows than `min_rows` are left out, and a total of fewer values is null. The total of a single value is that value's
    own ciphertext; with `rerandomise` nobody can link totals to the rows without the private key. Both happen in the last step, after the
    partitions' totals are added up.

    Raises:
        InvalidKeyError: the metadata's key protects nothing, and `insecure` is not set.
        KeyMismatchError: a column is encrypted under another key.
        TableError: a column is not encrypted, or a group column is. A damaged ciphertext, or more additions than there is headroom for,
            end the action that computes the totals.
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
        *(_column(df, name) for name in _unique([*groups, *counting, *_spark_schema.with_companions(fields)]))
    )
    schema = _spark_schema.described_schema(used.schema)
    # Whatever is wrong with key, descriptions and groups is found here, in the driver.
    nothing = _native.Totals(key.native, schema, groups).finish()
    returned = _spark_schema.spark_schema(nothing.schema, df.schema, key.to_jwk())
    shared = _broadcast(df, key)
    partial = _map(used, _adding(shared, groups, _spark_schema.described_entries(used.schema)), returned)
    if groups:
        spread = partial.repartition(*(_column(partial, name) for name in groups))
    else:
        # A sum over everything has one row, even if there is nothing.
        zero = df.sparkSession.createDataFrame([tuple(row.values()) for row in nothing.to_pylist()], returned)
        spread = partial.union(zero).repartition(1)
    least = whole("min_rows", min_rows, 0)
    last = _adding(shared, groups, _spark_schema.described_entries(returned), min_rows=least, rerandomise=rerandomise)
    return _map(spread, last, returned)


def decrypt_columns(df: DataFrame, private: PrivateKey, *, on_workers: bool = False) -> DataFrame:
    """The data frame with its encrypted columns decrypted and without companions.

    It is collected and decrypted in the driver, where the private key stays: meant for totals. With `on_workers` the private key is
    sent to every worker, which Spark also writes to the disks of their machines; do this only where all of them may decrypt.

    Raises:
        HearithError: a column is encrypted under another key, a ciphertext is damaged, or a total may have overflowed.
    """
    if not on_workers:
        plain = private.decrypt_columns(to_arrow(df))
        return df.sparkSession.createDataFrame(plain.cast(_spark_schema.plain_schema(plain.schema)))
    entries = _spark_schema.described_entries(df.schema)
    result = _native.Decryptor(private.native, _spark_schema.described_schema(df.schema)).schema
    jwk = _broadcast(df, private.to_jwk())

    def task(batches: _Batches) -> _Batches:
        _take_cores()
        key = _native.PrivateKey.from_jwk(jwk.value, insecure=True)
        rows = 0
        for batch in batches:
            described = _spark_schema.from_spark(batch, entries)
            with rows_from(rows):
                plain = _native.Decryptor(key, described.schema).decrypt(described)
            rows += batch.num_rows
            yield _spark_schema.to_spark(plain)

    return _map(df, task, from_arrow_schema(_spark_schema.plain_schema(result)))


def describe(df: DataFrame, like: pa.Schema | DataFrame | str, public: PublicKey | None = None) -> DataFrame:
    """The data frame with the descriptions that the columns of the same names have in `like`.

    `like` is an Arrow schema, another data frame, or a Parquet file or folder that pyarrow can open; `public` goes with them, so
    that `sum_columns` finds it.
    """
    if isinstance(like, DataFrame):
        found = {field.name: dict(field.metadata) for field in like.schema if _spark_schema.is_described(field)}
    else:
        schema = like if isinstance(like, pa.Schema) else dataset.dataset(like, format="parquet").schema
        found = {field.name: texts for field in schema if (texts := _descriptions.entries(field))}
    for name, entries in found.items():
        if name in df.columns:
            known = public is not None and _descriptions.SCHEME in entries
            jwk = {_spark_schema.JWK: public.to_jwk()} if public is not None and known else {}
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
    entries = _spark_schema.described_entries(df.schema)

    def task(batches: _Batches) -> _Batches:
        context = TaskContext.get()
        assert context is not None, "within a task"
        system, folder = _open(path)
        name = f"{folder}/part-{context.partitionId():05}.parquet"
        temporary = f"{folder}/_{context.taskAttemptId()}.temporary"
        rows, writer = 0, None
        for batch in batches:
            described = _spark_schema.from_spark(batch, entries)
            writer = writer or pq.ParquetWriter(temporary, described.schema, filesystem=system)
            writer.write_batch(described)
            rows += batch.num_rows
        if writer is not None:
            writer.close()
            system.move(temporary, name)
        yield pa.RecordBatch.from_pydict({"rows": [rows]})

    _map(df, task, "rows bigint").collect()
    if not any(info.base_name.startswith("part-") for info in system.get_file_info(filesystems.FileSelector(folder))):
        empty = _spark_schema.described_schema(df.schema).empty_table()
        pq.write_table(empty, f"{folder}/part-00000.parquet", filesystem=system)
    system.open_output_stream(f"{folder}/_SUCCESS").close()


def verify(
    spark: SparkSession,
    record: str,
    *,
    insecure: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Verifies an election's published record on all executors: what `hearith election verify --json` says.

    `record` is the record's folder, as all workers and the driver see it, or a URI that pyarrow understands. Every file of the board
    is read twice, by whichever worker is free: once for hashes of its lines and of ciphertexts, which the driver joins into chain,
    tree and rules, and once for signatures, proofs and the product of the ballots that count. A task that is lost runs again. The
    driver's memory grows by some hundred bytes a voter and some twenty a ciphertext. `progress` is told how many files of both
    readings are done, and of how many.

    Raises:
        HearithError: there is no record, or it changes while it is read. What is wrong with it is in the report (`verified`,
            `checks`).
    """
    system, folder = _open(record)
    files = _board_files(system, folder)
    if not files:
        raise HearithError(f"{record}: there is no record here")
    heads = _contents(system, f"{folder}/heads.jsonl")
    overseer = _native.ElectionOverseer(_contents(system, files[0]), heads, insecure=insecure)
    setup = overseer.setup()
    if setup is None:
        return _report(overseer)
    shared = _broadcast(spark, setup)

    def outline(rows: _Batches) -> _Batches:
        worker = _election_worker(shared.value, insecure)
        for file, _ in _parts(rows):
            yield _part(file, worker.outline(_read_file(record, file)))

    def check(rows: _Batches) -> _Batches:
        worker = _election_worker(shared.value, insecure)
        parts = list(_parts(rows))
        if not parts:
            return
        found = worker.check([(task, _read_file(record, file)) for file, task in parts])
        yield _part(parts[0][0], found)

    done, last = 0, len(files) - 1
    for file, text in _in_turns(spark, outline, ((file, "") for file in range(len(files))), 1):
        done += 1
        if progress:
            progress(done, 2 * len(files))
        if not overseer.take(text, file == last):
            break
    tasks = ((file, task) for file in range(len(files)) if (task := overseer.task(file)) is not None)
    for _, found in _in_turns(spark, check, tasks, _FILES_TOGETHER):
        overseer.note(found)
        done = min(done + _FILES_TOGETHER, 2 * len(files))
        if progress:
            progress(done, 2 * len(files))
    return _report(overseer)


def to_arrow(df: DataFrame) -> pa.Table:
    """The data frame as a table of pyarrow with the descriptions of its encrypted columns, as `PrivateKey.decrypt_columns` takes it."""
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
) -> _Task:
    """The task that adds up the rows of a partition."""

    def task(batches: _Batches) -> _Batches:
        _take_cores()
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


def _board_files(system: Any, folder: str) -> list[str]:
    """The board's files in order, up to the first that is not there."""
    found = system.get_file_info(filesystems.FileSelector(f"{folder}/board", allow_not_found=True))
    there = {info.base_name for info in found}
    names = (f"{1000 * file:08}.jsonl" for file in itertools.count())
    return [f"{folder}/board/{name}" for name in itertools.takewhile(there.__contains__, names)]


def _contents(system: Any, path: str) -> bytes:
    """A file's bytes; none if it is not there."""
    if system.get_file_info(path).type == filesystems.FileType.NotFound:
        return b""
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())


def _read_file(record: str, file: int) -> bytes:
    system, folder = _open(record)
    return _contents(system, f"{folder}/board/{1000 * file:08}.jsonl")


@functools.lru_cache(maxsize=1)
def _election_worker(setup: str, insecure: bool) -> _native.ElectionWorker:
    """The election, prepared once in a worker's process."""
    _take_cores()
    return _native.ElectionWorker(setup, insecure=insecure)


def _parts(rows: _Batches) -> Iterator[tuple[int, str]]:
    for batch in rows:
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


def _part(file: int, text: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"file": [file], "text": [text]})


def _in_turns(
    spark: SparkSession, task: _Task, parts: Iterable[tuple[int, str]], together: int
) -> Iterator[tuple[int, str]]:
    """What a task makes of parts, in their order: `together` of them a task, and as many tasks at a time as keep all cores busy."""
    parts = iter(parts)
    while turn := list(itertools.islice(parts, together * _TASKS_AT_A_TIME)):
        tasks = -(-len(turn) // together)
        rows = [(index // together, file, text) for index, (file, text) in enumerate(turn)]
        # Ranges are estimated, so a partition may have the parts of two tasks or of none: it is one task either way.
        spread = spark.createDataFrame(rows, "task int, file bigint, text string").repartitionByRange(tasks, "task")
        found = _map(spread.select("file", "text"), task, "file bigint, text string").collect()
        yield from sorted((row.file, row.text) for row in found)


def _report(overseer: _native.ElectionOverseer) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(overseer.finish())
    return report


class _Local:
    """What a broadcast variable is, for sessions that have none (Spark Connect): the value travels with the task."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _broadcast(of: DataFrame | SparkSession, value: Any) -> Any:
    try:
        context = (of.sparkSession if isinstance(of, DataFrame) else of).sparkContext
    except (AttributeError, NotImplementedError, PySparkException):
        return _Local(value)
    return context.broadcast(value)


def _open(path: str) -> tuple[Any, str]:
    if "://" in path or path.startswith("file:"):
        system, name = filesystems.FileSystem.from_uri(path)
        return system, str(name).rstrip("/")
    return filesystems.LocalFileSystem(), path.rstrip("/")


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
