"""Compares sums by groups in DuckDB with the kernel alone; writes bench/results/duckdb.md.

200 000 ciphertexts of 512 bytes (a key of 2048 bits) in 100 groups, from a Parquet file:
`SELECT g, he_sum(c) ... GROUP BY g`. The same rounds measure the arithmetic kernel on the same
ciphertexts in memory, in a separate process. The sums of some groups are first checked against
GMP's products.

Needs the package with its release-built extension (crates/duckdb/package.py) and the example
`kernel` (cargo build --release --package hearith-duckdb --example kernel). Leave the machine idle
otherwise.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

import duckdb
import gmpy2
import machine
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from figures import spread, thousands, timed
from kernel import ROOT, Kernel

import hearith as he
import hearith.duckdb

RESULT = ROOT / "bench/results/duckdb.md"
BITS, ROWS, GROUPS = 2048, 200_000, 100
WIDTH = BITS // 4
#: Rows per row group, the unit by which DuckDB distributes a file over its threads.
ROW_GROUP = 10_000
#: Ciphertexts per second of the prototype on two threads, from which the goal is derived.
PROTOTYPE = 263_000
GOAL_PROTOTYPE, GOAL_KERNEL = 2.0, 1.5


def ciphertexts():
    """Returns numbers in [1, n^2) of full width except for the first byte: for a product they are
    equivalent to encryptions.
    """
    numbers = np.random.default_rng(1).integers(0, 256, (ROWS, WIDTH), dtype=np.uint8)
    numbers[:, 0] = 0
    numbers[:, -1] |= 1
    return numbers


def check(public, numbers, rows):
    """Compares some groups with products by GMP."""
    square = gmpy2.mpz(public.n) ** 2
    for group, found in rows[:: GROUPS // 4]:
        product = gmpy2.mpz(1)
        for number in numbers[group::GROUPS]:
            product = product * int.from_bytes(number.tobytes()) % square
        assert int.from_bytes(found) == product, f"group {group}"


def measure(public, folder, numbers, threads, rounds):
    """Returns each round's times: kernel alone, kernel reading bytes, DuckDB with he_sum, and
    DuckDB only reading.
    """
    table = folder / "c.parquet"
    kernel = Kernel(folder / "key.json", folder / "c.bin", GROUPS, threads)
    con = hearith.duckdb.connect(config={"threads": str(threads)})
    hearith.duckdb.load_key(con, public)
    sums = f"SELECT g, he_sum(c) FROM '{table}' GROUP BY g ORDER BY g"
    reads = f"SELECT g, max(c) FROM '{table}' GROUP BY g ORDER BY g"
    times = []
    try:
        check(public, numbers, con.execute(sums).fetchall())
        kernel.round()
        for _ in range(rounds):
            alone, reading = kernel.round()
            summing, _ = timed(lambda: con.execute(sums).fetchall())
            scanning, _ = timed(lambda: con.execute(reads).fetchall())
            times.append((alone, reading, summing, scanning))
    finally:
        kernel.close()
        con.close()
    return kernel.engine, times


def section(threads, engine, times):
    """Returns the table for one number of threads."""
    names = [
        "kernel alone, numbers in memory",
        "kernel, including reading the bytes",
        "DuckDB: `he_sum` from Parquet",
        "DuckDB: reading only (`max`)",
    ]
    lines = [f"## {threads} thread{'s' if threads > 1 else ''}, engine `{engine}`", ""]
    lines += [
        "| what | seconds | ciphertexts per second | time compared with the kernel alone |",
        "| --- | ---: | ---: | ---: |",
    ]
    for column, name in enumerate(names):
        seconds = [row[column] for row in times]
        rate = ROWS / statistics.median(seconds)
        ratio = spread([row[column] / row[0] for row in times])
        lines.append(f"| {name} | {statistics.median(seconds):.3f} | {thousands(rate)} | {ratio} |")
    return [*lines, ""]


def goals(times):
    """Returns the goals, on two threads."""
    prototype = [ROWS / row[2] / PROTOTYPE for row in times]
    kernel = [row[2] / row[0] for row in times]
    met = ["yes" if statistics.median(prototype) >= GOAL_PROTOTYPE else "no"]
    met += ["yes" if statistics.median(kernel) <= GOAL_KERNEL else "no"]
    return [
        "| goal, two threads | measured | met |",
        "| --- | ---: | ---: |",
        f"| at least {GOAL_PROTOTYPE} times the prototype's {thousands(PROTOTYPE)} ciphertexts per second | {spread(prototype)} | {met[0]} |",
        f"| at most {GOAL_KERNEL} times the time of the kernel alone | {spread(kernel)} | {met[1]} |",
        "",
    ]


def main():
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    public, _ = he.generate_keypair(BITS)
    numbers = ciphertexts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "key.json").write_text(public.to_jwk())
        (folder / "c.bin").write_bytes(numbers.tobytes())
        column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(WIDTH), ROWS, [None, pa.py_buffer(numbers.tobytes())])
        table = pa.table({"g": pa.array(np.arange(ROWS) % GROUPS, pa.int32()), "c": column})
        pq.write_table(table, folder / "c.parquet", row_group_size=ROW_GROUP, use_dictionary=False, compression="none")
        measured = {threads: measure(public, folder, numbers, threads, options.rounds) for threads in (1, 2)}
    lines = [
        "# Sums in DuckDB compared with the kernel alone",
        "",
        "Made by `bench/python/duckdb_sum.py`.",
        "",
        f"- Machine: {machine.processor()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}",
        f"- Versions: DuckDB {duckdb.__version__}, pyarrow {pa.__version__}, Python {platform.python_version()}, hearith {he.__version__}",
        f"- Date: {time.strftime('%Y-%m-%d')}",
        f"- Data: {thousands(ROWS)} ciphertexts of {WIDTH} bytes in {GROUPS} groups; Parquet as `hearith encrypt` writes it, uncompressed, "
        f"in row groups of {thousands(ROW_GROUP)}, in the page cache; sums checked with GMP",
        f"- Method: {options.rounds} rounds, each measuring every row once; seconds are medians, a ratio is the median of "
        "the rounds' ratios, with the lowest and highest in brackets",
        "",
        *goals(measured[2][1]),
    ]
    for threads, (engine, times) in measured.items():
        lines += section(threads, engine, times)
    RESULT.write_text("\n".join(lines).rstrip() + "\n")
    print(RESULT.read_text())


if __name__ == "__main__":
    main()
