"""Verification of an election's record on all of Spark's executors."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hearith import _native
from hearith._spark_tasks import Batches, Task, broadcast, mapped, open_path, take_cores
from hearith.errors import HearithError

try:
    import pyarrow as pa
    import pyarrow.fs as filesystems
    from pyspark.sql import SparkSession
except ImportError as error:
    raise ImportError("this module needs pyspark and pyarrow: pip install 'hearith[spark]'") from error

# The number of board files whose ballots are verified together. More would make proofs only
# slightly cheaper, and take memory (about 80 MB each).
_FILES_TOGETHER = 4
# The number of tasks after which the driver collects results.
_TASKS_AT_A_TIME = 256


def verify(
    spark: SparkSession,
    record: str,
    *,
    insecure: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Verifies an election's published record on all executors.

    Returns the report of `hearith election verify --json`.

    `record` is the record's folder, accessible to the driver and all workers, or a URI that pyarrow
    understands. Any worker reads each file of the board, in two passes. The first pass hashes lines
    and ciphertexts, which the driver combines to check chain, tree and rules. The second pass
    checks signatures and proofs, and multiplies the ballots that count. A lost task runs again. The
    driver needs a few hundred bytes of memory per voter and about twenty per ciphertext. `progress`
    is called with the number of files done in both passes, and their total.

    Raises:
        HearithError: there is no record, or it changes while it is read. Errors in the record are
            part of the report (`verified`, `checks`).
    """
    system, folder = open_path(record)
    files = _board_files(system, folder)
    if not files:
        raise HearithError(f"{record}: there is no record here")
    heads = _contents(system, f"{folder}/heads.jsonl")
    coordinator = _native.ElectionCoordinator(_contents(system, files[0]), heads, insecure=insecure)
    setup = coordinator.setup()
    if setup is None:
        return _report(coordinator)
    shared = broadcast(spark, setup)

    def outline(rows: Batches) -> Batches:
        worker = _election_worker(shared.value, insecure)
        for file, _ in _parts(rows):
            yield _part(file, worker.outline(_read_file(record, file)))

    def check(rows: Batches) -> Batches:
        worker = _election_worker(shared.value, insecure)
        parts = list(_parts(rows))
        if not parts:
            return
        found = worker.check([(task, _read_file(record, file)) for file, task in parts])
        yield _part(parts[0][0], found)

    done, last = 0, len(files) - 1
    for file, text in _run_in_batches(spark, outline, ((file, "") for file in range(len(files))), 1):
        done += 1
        if progress:
            progress(done, 2 * len(files))
        if not coordinator.take(text, file == last):
            break
    tasks = ((file, task) for file in range(len(files)) if (task := coordinator.task(file)) is not None)
    for _, found in _run_in_batches(spark, check, tasks, _FILES_TOGETHER):
        coordinator.note(found)
        done = min(done + _FILES_TOGETHER, 2 * len(files))
        if progress:
            progress(done, 2 * len(files))
    return _report(coordinator)


def _board_files(system: Any, folder: str) -> list[str]:
    """Returns the board's files in order, up to the first missing one."""
    found = system.get_file_info(filesystems.FileSelector(f"{folder}/board", allow_not_found=True))
    there = {info.base_name for info in found}
    names = (f"{1000 * file:08}.jsonl" for file in itertools.count())
    return [f"{folder}/board/{name}" for name in itertools.takewhile(there.__contains__, names)]


def _contents(system: Any, path: str) -> bytes:
    """Returns a file's bytes; empty if it does not exist."""
    if system.get_file_info(path).type == filesystems.FileType.NotFound:
        return b""
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())


def _read_file(record: str, file: int) -> bytes:
    system, folder = open_path(record)
    return _contents(system, f"{folder}/board/{1000 * file:08}.jsonl")


@functools.lru_cache(maxsize=1)
def _election_worker(setup: str, insecure: bool) -> _native.ElectionWorker:
    """Returns the election worker, prepared once per worker process."""
    take_cores()
    return _native.ElectionWorker(setup, insecure=insecure)


def _parts(rows: Batches) -> Iterator[tuple[int, str]]:
    for batch in rows:
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


def _part(file: int, text: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"file": [file], "text": [text]})


def _run_in_batches(
    spark: SparkSession, task: Task, parts: Iterable[tuple[int, str]], together: int
) -> Iterator[tuple[int, str]]:
    """Yields a task's results for all parts, in order.

    Each task gets `together` parts, and enough tasks run at a time to keep all cores busy.
    """
    parts = iter(parts)
    while batch := list(itertools.islice(parts, together * _TASKS_AT_A_TIME)):
        tasks = -(-len(batch) // together)
        rows = [(index // together, file, text) for index, (file, text) in enumerate(batch)]
        # Spark estimates the ranges, so a partition may hold the parts of two tasks or of none.
        # Either way it is one task.
        spread = spark.createDataFrame(rows, "task int, file bigint, text string").repartitionByRange(tasks, "task")
        found = mapped(spread.select("file", "text"), task, "file bigint, text string").collect()
        yield from sorted((row.file, row.text) for row in found)


def _report(coordinator: _native.ElectionCoordinator) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(coordinator.finish())
    return report
