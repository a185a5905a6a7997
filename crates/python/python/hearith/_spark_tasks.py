"""Helpers for Spark workers: tasks over record batches, broadcast values, and files by URI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hearith import _native

try:
    import pyarrow as pa
    import pyarrow.fs as filesystems
    from pyspark import TaskContext
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType
except ImportError as error:
    raise ImportError("this module needs pyspark and pyarrow: pip install 'hearith[spark]'") from error

Batches = Iterator[pa.RecordBatch]
Task = Callable[[Batches], Batches]


def mapped(df: DataFrame, task: Task, schema: StructType | str) -> DataFrame:
    """Calls `DataFrame.mapInArrow`, which does not support dots in names, for columns with any
    names.
    """
    names = df.columns

    def renamed(batches: Batches) -> Batches:
        return task(batch.rename_columns(names) for batch in batches)

    return df.toDF(*(f"c{index}" for index in range(len(names)))).mapInArrow(renamed, schema)


def take_cores() -> None:
    """Uses as many threads as Spark assigns cores to the task."""
    context = TaskContext.get()
    _native.set_threads(max(1, context.cpus() if context else 1))


class _Local:
    """Replaces a broadcast variable in sessions without them (Spark Connect): the value is sent
    with the task.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


def broadcast(of: DataFrame | SparkSession, value: Any) -> Any:
    try:
        context = (of.sparkSession if isinstance(of, DataFrame) else of).sparkContext
    except (AttributeError, NotImplementedError, PySparkException):
        return _Local(value)
    return context.broadcast(value)


def open_path(path: str) -> tuple[Any, str]:
    if "://" in path or path.startswith("file:"):
        system, name = filesystems.FileSystem.from_uri(path)
        return system, str(name).rstrip("/")
    return filesystems.LocalFileSystem(), path.rstrip("/")
