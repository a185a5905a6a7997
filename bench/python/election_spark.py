"""Times `hearith.spark.verify` in Spark's local mode on two records of different length.

Writes bench/results/election-spark.md.

    python bench/python/election_spark.py SHORTER LONGER [--rounds 3]

The records are folders such as bench/python/election_verify.py makes. The difference of the two
times gives the cost per ballot, from which the time on a cluster is computed: the workers' part is
divided among its nodes, the driver's part is not. Needs pyspark, Java and the Python package built
for release.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import machine
import pyspark
from pyspark.sql import SparkSession

import hearith.spark
from hearith import _native

RESULT = Path(__file__).parents[1] / "results" / "election-spark.md"
#: The election and the cluster of the computed time, with nodes like this machine.
BALLOTS, NODES = 10**8, 100


class Watched:
    """The driver's part of a verification, with a timer."""

    seconds = 0.0
    real = _native.ElectionCoordinator

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Wraps the real driver part."""
        self.coordinator = self.real(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        """Returns the real method, with its time accumulated."""
        method = getattr(self.coordinator, name)

        def timed(*arguments: Any) -> Any:
            began = time.monotonic()
            try:
                return method(*arguments)
            finally:
                Watched.seconds += time.monotonic() - began

        return timed


def session(cores: int) -> SparkSession:
    """Starts Spark on this machine only."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.maxResultSize": "4g",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("election")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def measured(spark: SparkSession, record: Path) -> tuple[float, float, int]:
    """Returns the seconds of a verification, the driver's part of them, and the number of
    ballots.
    """
    Watched.seconds, began = 0.0, time.monotonic()
    report = hearith.spark.verify(spark, str(record))
    taken = time.monotonic() - began
    assert report["verified"], json.dumps(report["checks"])
    return taken, Watched.seconds, report["checks"]["ballots"]["checked"]


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs=2, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    _native.ElectionCoordinator = Watched
    cores = os.cpu_count() or 1
    spark = session(cores)
    # Excludes Spark's first job, and each worker's first election.
    measured(spark, asked.records[0])
    found = [[measured(spark, record) for _ in range(asked.rounds)] for record in asked.records]
    spark.stop()
    rows = []
    for times in found:
        taken, driver, ballots = (statistics.median(column) for column in zip(*times, strict=True))
        rows.append((int(ballots), min(one[0] for one in times), taken, driver))
    (few, _, short, driver_short), (many, _, long, driver_long) = rows
    each, driver = (long - short) / (many - few), (driver_long - driver_short) / (many - few)
    workers, alone = BALLOTS * each / NODES, BALLOTS * driver
    lines = "\n".join(
        f"| {ballots:,} | {least:.1f} | {taken:.1f} | {part:.2f} |".replace(",", " ")
        for ballots, least, taken, part in rows
    )
    page = f"""# Verifying an election on Spark

Made by `bench/python/election_spark.py`.

- Machine: {machine.processor()}, {cores} hardware threads, {platform.system()} {platform.machine()}
- Date: {datetime.now(UTC):%Y-%m-%d}
- Versions: Spark {pyspark.__version__}, Python {platform.python_version()}
- Ballots: one contest with ten candidates and exactly one choice, under a key of 2048 bits
- Method: complete calls of `hearith.spark.verify` in Spark's local mode, with driver and {cores} workers on this machine; {asked.rounds} rounds after one
  that is not counted. The driver's part is the time that it takes to join outlines and verdicts, on one thread.

| ballots | s: least | median | of these the driver's part |
| ---: | ---: | ---: | ---: |
{lines}

By the two medians, a ballot takes {1e3 * each:.2f} ms of this machine, of which {1e6 * driver:.0f} us are the driver's. **Computed, not measured:** for 10^8 ballots, {NODES} such
machines would take {workers / 60:.0f} minutes for the workers' part, if they did nothing of what the driver does here, and the driver {alone / 60:.0f} minutes, partly while the workers
run. This assumes that files are local to their readers, and that look-ups in the driver's tables take no longer when the tables are {BALLOTS // many} times as large;
[docs/how-to/scaling.md](../../docs/how-to/scaling.md) says what larger tables would need.
"""
    RESULT.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
