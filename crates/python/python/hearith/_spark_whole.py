"""Sums of batched columns (`hearith.bfv`) in Spark.

Rows of such a column belong together in chunks of thousands, so they cannot form a data frame.
Instead, the workers process row groups of Parquet files, which end at chunk boundaries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.fs as filesystems
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from hearith import _descriptions, _native, _spark_schema, bfv
from hearith._arguments import whole
from hearith._batches import rows_from
from hearith._spark_tasks import Batches, Task, broadcast, mapped, open_path, take_cores
from hearith.columns import column_names
from hearith.errors import HearithError, TableError

#: The number of rows that a task reads at once.
_ROWS = 1 << 16


def sum_files(
    spark: SparkSession,
    path: str,
    public: bfv.PublicKey,
    *,
    by: str | Sequence[str] = (),
    weight: str | None = None,
    where: str | None = None,
    min_rows: int = 0,
    allow_rare_weights: bool = False,
) -> DataFrame:
    """Returns the encrypted totals of the batched columns in a Parquet file, or in all files of a
    folder, by group.

    Every task sums some row groups. Its totals, one per group and column, are shuffled by group and
    summed again. All workers must be able to access the files under this path, or URI that pyarrow
    understands.

    Args:
        spark: the session.
        path: the file or folder.
        public: the key.
        by: plaintext columns to group by.
        weight: a plaintext integer column to multiply the numbers by.
        where: conditions on plaintext columns, such as `year > 2020`, in the syntax of the command
            line.
        min_rows: leaves out groups with fewer rows. A total is null if fewer values entered it with
            a nonzero weight, or fewer with any one of their weights. The latter is determined from
            the tasks' totals, each of which stores how often its rarest weight occurs.
        allow_rare_weights: counts values of all weights together for `min_rows`.

    Raises:
        KeyMismatchError: a file is under another key, or encrypted by another scheme.
        TableError: there is no file, a table occurs twice, or files differ. Chunks of rows that are
            altered, or do not belong to their row group, abort the action that computes the totals.
    """
    groups, least = column_names(by), whole("min_rows", min_rows, 0)
    found, schema = pieces(spark, path, public)
    return added(found, schema, public, groups, weight, where, least, allow_rare_weights)


def pieces(spark: SparkSession, path: str, public: bfv.PublicKey) -> tuple[DataFrame, pa.Schema]:
    """Returns the row groups of the files, distributed over partitions, and the files' schema,
    whose metadata name the tables.
    """
    system, root = open_path(path)
    rows: list[tuple[int, str, int, int]] = []
    schema: pa.Schema | None = None
    known: _native.BfvAggregator | None = None
    for name in _files(system, root):
        with pq.ParquetFile(name, filesystem=system) as file:
            here, first = file.schema_arrow, 0
            schema = schema or here
            # Errors in key, descriptions and copies are raised here, in the driver.
            known = known or _native.BfvAggregator(public.native, schema)
            _count_in(known, here, name)
            for group in range(file.num_row_groups):
                rows.append((len(rows), name, group, first))
                first += file.metadata.row_group(group).num_rows
    if schema is None or known is None:
        raise TableError(f"{path}: there are no Parquet files", kind="no_table")
    frame = spark.createDataFrame(rows, "place int, file string, piece int, first bigint")
    parts = max(1, min(len(rows), _parallelism(spark)))
    spread = frame.repartitionByRange(parts, "place") if rows else frame
    return spread.withColumn("path", F.lit(path)), schema.with_metadata(_tables(known.finish().schema))


def added(
    found: DataFrame,
    schema: pa.Schema,
    public: bfv.PublicKey,
    groups: list[str],
    weight: str | None,
    where: str | None,
    least: int,
    allow_rare_weights: bool = False,
) -> DataFrame:
    """Returns the totals of row groups."""
    nothing = _native.BfvAggregator(public.native, schema, groups, weight, where).finish()
    totals = _naming(nothing.schema, schema.metadata or {})
    returned = _returned(totals)
    shared = broadcast(found, public)
    partial = mapped(found, _reading(shared, schema, groups, weight, where), returned)
    if groups:
        spread = partial.repartition(*(F.col("`" + name.replace("`", "``") + "`") for name in groups))
    else:
        # A sum without groups has one row, even for an empty table.
        zero = found.sparkSession.createDataFrame([tuple(row.values()) for row in nothing.to_pylist()], returned)
        spread = partial.union(zero).repartition(1)
    return mapped(spread, _sum_task(shared, totals, groups, least, allow_rare_weights), returned)


def _reading(key: Any, schema: pa.Schema, groups: list[str], weight: str | None, where: str | None) -> Task:
    """Returns the task that sums the row groups of a partition."""

    def task(batches: Batches) -> Batches:
        take_cores()
        totals = None
        for batch in batches:
            for piece in batch.to_pylist():
                totals = totals or _native.BfvAggregator(key.value.native, schema, groups, weight, where)
                _add(totals, piece)
        if totals is not None:
            yield _spark_schema.to_spark(totals.finish())

    return task


def _add(totals: _native.BfvAggregator, piece: dict[str, Any]) -> None:
    """Adds one row group."""
    system, _ = open_path(piece["path"])
    with pq.ParquetFile(piece["file"], filesystem=system) as file:
        totals.begin_part(file.schema_arrow, piece["first"])
        rows = piece["first"]
        for batch in file.iter_batches(_ROWS, [piece["piece"]]):
            with rows_from(rows):
                totals.update(batch)
            rows += batch.num_rows
        totals.end()


def _sum_task(key: Any, schema: pa.Schema, groups: list[str], least: int, allow_rare_weights: bool) -> Task:
    """Returns the task that sums totals."""

    def task(batches: Batches) -> Batches:
        take_cores()
        totals = None
        for batch in batches:
            if totals is None:
                totals = _native.BfvAggregator(key.value.native, schema, groups)
                if allow_rare_weights:
                    totals.allow_rare_weights()
                totals.begin(schema)
            totals.update(batch.cast(schema))
        if totals is not None:
            totals.end()
            yield _spark_schema.to_spark(totals.finish(min_rows=least))

    return task


def _returned(schema: pa.Schema) -> StructType:
    """Returns the Spark schema of totals, with their descriptions."""
    kinds = from_arrow_schema(_spark_schema.plain_schema(schema))
    described = zip(kinds, schema, strict=True)
    return StructType(
        [
            StructField(kind.name, kind.dataType, kind.nullable, _descriptions.entries(field))
            for kind, field in described
        ]
    )


def _files(system: filesystems.FileSystem, root: str) -> list[str]:
    """Returns the Parquet files at a path, in order."""
    info = system.get_file_info(root)
    if info.type == filesystems.FileType.NotFound:
        raise HearithError(f"{root}: there is no such file")
    if info.is_file:
        return [root]
    listed = system.get_file_info(filesystems.FileSelector(root, recursive=True))
    return sorted(one.path for one in listed if one.is_file and one.path.endswith(".parquet"))


def _count_in(known: _native.BfvAggregator, schema: pa.Schema, name: str) -> None:
    """Registers a file's table.

    Raises:
        TableError: it has rows of an earlier table.
    """
    try:
        known.begin(schema)
        known.end()
    except TableError as error:
        if error.kind != "repeated":
            raise
        raise TableError(f"{name}: {error}", kind=error.kind) from error


def _tables(totals: pa.Schema) -> dict[bytes, bytes]:
    """Returns the metadata entry of totals that names the tables they include."""
    (rows,) = (field for field in totals if _descriptions.counts_rows(field))
    return {name: text for name, text in rows.metadata.items() if name == _descriptions.TABLES.encode()}


def _naming(totals: pa.Schema, tables: Mapping[bytes, bytes]) -> pa.Schema:
    """Returns the schema of totals, with the names of the tables they include."""
    named = [
        field.with_metadata({**field.metadata, **tables}) if _descriptions.counts_rows(field) else field
        for field in totals
    ]
    return pa.schema(named)


def _parallelism(spark: SparkSession) -> int:
    """Returns the session's preferred number of partitions."""
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
