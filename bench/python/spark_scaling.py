"""Measures one Spark node and estimates a cluster; writes bench/results/scaling.md.

docs/how-to/scaling.md explains the page.

Sums ciphertexts of 512 bytes (a key of 2048 bits) by groups with `hearith.spark.sum_columns` from
Parquet files, on all cores of this machine in Spark's local mode, for two numbers of rows. The
difference of their times gives the rows per second; the rest is the fixed cost of a job. Spark's
own metrics give the bytes shuffled. The rest is computed (see `estimate`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import gmpy2
import machine
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from figures import thousands
from pyspark.sql import SparkSession

import hearith as he
import hearith.spark

RESULT = Path(__file__).parents[1] / "results" / "scaling.md"
BITS, GROUPS, FILES = 2048, 100, 8
WIDTH = BITS // 4
#: The estimated cluster: nodes like this machine, and each node's network bandwidth in bytes per
#: second.
NODES, CLUSTER_ROWS, NETWORK = 100, 10**9, 125e6
#: Partitions of the cluster's job per core: several, so that cores finish together.
PARTITIONS_A_CORE = 4


def write(folder: Path, public: he.PublicKey, rows: int) -> Any:
    """Writes files of self-describing ciphertexts and returns the ciphertexts: numbers below n^2,
    which for a sum are equivalent to encryptions.
    """
    numbers = np.random.default_rng(rows).integers(0, 256, (rows, WIDTH), dtype=np.uint8)
    numbers[:, 0] = 0
    numbers[:, -1] |= 1
    like = public.encrypt_columns(pa.table({"g": [0], "c": [0]}), ["c"])
    described = like.schema.field("c")
    schema = pa.schema(
        [
            pa.field("g", pa.int32()),
            pa.field("c", pa.binary(WIDTH), metadata=described.metadata),
            pa.field("c.additions", pa.uint64(), nullable=False),
        ]
    )
    folder.mkdir()
    for file in range(FILES):
        part = numbers[file::FILES]
        groups = pa.array((np.arange(rows) % GROUPS)[file::FILES], pa.int32())
        column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(WIDTH), len(part), [None, pa.py_buffer(part.tobytes())])
        ones = pa.array(np.ones(len(part)), pa.uint64())
        pq.write_table(
            pa.table([groups, column, ones], schema=schema), folder / f"{file}.parquet", use_dictionary=False
        )
    return numbers


def check(public: he.PublicKey, numbers: Any, rows: list[Any]) -> None:
    """Compares a group's total with a product by GMP."""
    square, product = gmpy2.mpz(public.n) ** 2, gmpy2.mpz(1)
    for number in numbers[rows[0].g :: GROUPS]:
        product = product * int.from_bytes(number.tobytes()) % square
    assert len(rows) == GROUPS
    assert int.from_bytes(rows[0].c) == product


def shuffled(spark: SparkSession) -> float:
    """Returns the bytes per row of totals in the shuffle, averaged over all jobs so far."""
    context = spark.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:
        stages = json.load(answer)
    return sum(stage["shuffleWriteBytes"] for stage in stages) / sum(stage["shuffleWriteRecords"] for stage in stages)


def seconds(spark: SparkSession, public: he.PublicKey, folder: Path) -> tuple[float, list[Any]]:
    """Returns the time of a job and its rows."""
    start = time.perf_counter()
    rows = hearith.spark.sum_columns(hearith.spark.read_parquet(spark, str(folder), public), "c", by=["g"]).collect()
    return time.perf_counter() - start, rows


def estimate(rate: float, overhead: float, pair: float, cores: int) -> dict[str, float]:
    """Returns the seconds of each part of the cluster's job.

    Every node sums its share of the rows at `rate` per second. Each partition produces one row of
    `pair` bytes per group. The nodes fetch these in parallel and sum them at the same rate, but
    with at most as many tasks as there are groups.
    """
    partitions = NODES * cores * PARTITIONS_A_CORE
    totals = GROUPS * partitions
    tasks = min(GROUPS, NODES * cores)
    return {
        "rows on their nodes": CLUSTER_ROWS / NODES / rate,
        "totals over the network": totals * pair / min(tasks, NODES) / NETWORK,
        "totals of totals": totals / tasks / (rate / cores),
        "what any job takes": overhead,
    }


def session(cores: int) -> SparkSession:
    """Starts Spark on this machine only."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(cores),
        # One file per partition.
        "spark.sql.files.openCostInBytes": str(2**40),
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("scaling")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def report(rows: int, times: list[float], small: int, small_times: list[float], pair: float, cores: int) -> str:
    """Returns the page."""
    long, short = statistics.median(times), statistics.median(small_times)
    rate = (rows - small) / (long - short)
    overhead = max(0.0, short - small / rate)
    parts = estimate(rate, overhead, pair, cores)
    lines = [
        "# One node in Spark, and the projection to a cluster",
        "",
        "Made by `bench/python/spark_scaling.py`; [docs/how-to/scaling.md](../../docs/how-to/scaling.md) explains it.",
        "",
        f"- Machine: {machine.processor()}, {cores} hardware threads, {platform.system()} {platform.machine()}",
        f"- Versions: Spark {pyspark.__version__}, pyarrow {pa.__version__}, Python {platform.python_version()}, hearith {he.__version__}",
        f"- Date: {time.strftime('%Y-%m-%d')}",
        f"- Job: `hearith.spark.sum_columns` of one column of {WIDTH}-byte ciphertexts in {GROUPS} groups, {FILES} Parquet files, "
        "Spark's local mode",
        f"- Method: medians of {len(times)} jobs each; the totals of a group are checked with GMP first",
        "",
        "| measured | |",
        "| --- | ---: |",
        f"| {thousands(rows)} rows | {long:.2f} s |",
        f"| {thousands(small)} rows | {short:.2f} s |",
        f"| rows per second, one node | {thousands(rate)} |",
        f"| overhead of any job | {overhead:.2f} s |",
        f"| bytes shuffled per group and partition | {pair:.0f} |",
        "",
        f"| computed: {thousands(CLUSTER_ROWS)} rows in {GROUPS} groups on {NODES} such nodes, "
        f"{NODES * cores * PARTITIONS_A_CORE} partitions | seconds |",
        "| --- | ---: |",
        *(f"| {name} | {value:.1f} |" for name, value in parts.items()),
        f"| **together** | **{sum(parts.values()):.0f}** |",
        "",
        f"The projection assumes a network that carries {NETWORK / 1e6:.0f} MB per second to each node (1 Gbit/s).",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    small = options.rows // 8
    public, _ = he.generate_keypair(BITS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        numbers = {rows: write(folder / str(rows), public, rows) for rows in (small, options.rows)}
        spark = session(cores)
        for rows in numbers:
            check(public, numbers[rows], seconds(spark, public, folder / str(rows))[1])
        times: dict[int, list[float]] = {rows: [] for rows in numbers}
        for _ in range(options.rounds):
            for rows, found in times.items():
                found.append(seconds(spark, public, folder / str(rows))[0])
        pair = shuffled(spark)
        spark.stop()
    RESULT.write_text(report(options.rows, times[options.rows], small, times[small], pair, cores))
    print(RESULT.read_text())


if __name__ == "__main__":
    main()
