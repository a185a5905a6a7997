"""Compares all schemes on the same column: encrypt it, sum it by groups, decrypt the totals.

    .venv/bin/python bench/python/compare_columns.py [--rows 1000000] [--largest 10000000]

Everything runs on one processor in one run. Hearith is measured by its command line, including file
access; the peers work on lists and arrays in memory, in the Python of HEARITH_PEERS_PYTHON (phe
1.5.0, sf-heu, tenseal 0.3.18, numpy). Slow peers encrypt fewer rows, and their seconds are scaled
to all rows. Totals always cover all groups and are compared with the expected ones. The script then
measures the memory of encryption, sums and decryption of all rows, from 10^4 rows to --largest.
Writes bench/results/columns.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import machine
import pyarrow
import pyarrow.parquet

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results" / "columns.md"
HEARITH = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "hearith"
GROUPS = 100

# A child's peak memory includes that of its parent at the start, so a small launcher starts it.
LAUNCHER = """
import os, subprocess, sys
_, status, usage = os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""

WORKER = """
import json, os, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
name, rows, groups = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
values = [row * 7919 % 8001 - 4000 for row in range(rows)]
expected = [sum(values[group::groups]) for group in range(groups)]
clock = time.perf_counter

def phe():
    import phe
    public, private = phe.generate_paillier_keypair(n_length=2048)
    times = [clock()]
    encrypted = [public.encrypt(value) for value in values]
    times.append(clock())
    totals = [sum(encrypted[group::groups][1:], encrypted[group]) for group in range(groups)]
    times.append(clock())
    return times, [private.decrypt(total) for total in totals], 512

def heu():
    import numpy
    from heu import numpy as hnp, phe
    kit = hnp.setup(phe.SchemaType.ZPaillier, 2048)
    arrays = [kit.array(numpy.array(values[group::groups])) for group in range(groups)]
    times = [clock()]
    encrypted = [kit.encryptor().encrypt(array) for array in arrays]
    times.append(clock())
    totals = [kit.evaluator().sum(array) for array in encrypted]
    times.append(clock())
    return times, [int(kit.decryptor().decrypt(total)) for total in totals], 512

def tenseal():
    import tenseal
    degree = 8192
    context = tenseal.context(tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=degree, plain_modulus=1032193, n_threads=1)
    chunks = [values[row : row + degree] for row in range(0, rows, degree)]
    places = range(0, rows, degree)
    masks = [[[int((row + i) % groups == g) for i in range(len(chunk))] for row, chunk in zip(places, chunks)]
             for g in range(groups)]
    times = [clock()]
    encrypted = [tenseal.bfv_vector(context, chunk) for chunk in chunks]
    times.append(clock())
    totals = []
    for group in range(groups):
        total = encrypted[0] * masks[group][0]
        for chunk, mask in zip(encrypted[1:], masks[group][1:]):
            total += chunk * mask
        totals.append(total)
    times.append(clock())
    return times, [sum(total.decrypt()) for total in totals], len(encrypted[0].serialize()) / degree

times, found, size = globals()[name]()
times.append(clock())
assert found == expected, name
steps = [after - before for before, after in zip(times, times[1:])]
print(json.dumps({"rows": rows, "encrypt": steps[0], "add": steps[1], "decrypt": steps[2], "bytes": size}))
"""


def measured(*words: str | Path) -> tuple[float, int]:
    """Returns the seconds that the program reports, and its peak memory in KiB."""
    command = [str(HEARITH), "--threads", "1", "--json", *map(str, words)]
    ran = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, *command], capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {ran.stderr}")
    return json.loads(ran.stderr.splitlines()[-1])["seconds"], int(ran.stdout)


def table(rows: int, path: Path) -> None:
    """Writes the column and that of groups, row group by row group."""
    schema = pyarrow.schema([("group", pyarrow.int64()), ("value", pyarrow.int64())])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 1_000_000):
            numbers = range(start, min(rows, start + 1_000_000))
            values = [row * 7919 % 8001 - 4000 for row in numbers]
            writer.write_table(pyarrow.table({"group": [row % GROUPS for row in numbers], "value": values}, schema))


def ours(work: Path, key: Path, half: str, rows: int) -> dict[str, float]:
    """Measures the command line with a key; compares all totals with the expected ones."""
    plain, encrypted, totals, back = (work / name for name in ("in", "encrypted", "totals", "back.parquet"))
    table(rows, plain)
    encrypt, peak = measured("encrypt", "--key", key / half, "--column", "value", plain, "--out", encrypted)
    add, peak_sum = measured("sum", "--key", key / "public.json", "--by", "group", encrypted, "--out", totals)
    decrypt, _ = measured("decrypt", "--key", key / "private.json", totals, "--out", back)
    size = encrypted.stat().st_size / rows
    sums = [int(total) for total in pyarrow.parquet.read_table(back)["value"].to_pylist()]
    expected = [sum(row * 7919 % 8001 - 4000 for row in range(group, rows, GROUPS)) for group in range(GROUPS)]
    if sums != expected:
        raise SystemExit(f"{key}: wrong totals")
    memory = {"encrypt_mib": peak / 1024, "sum_mib": peak_sum / 1024}
    return {"rows": rows, "encrypt": encrypt, "add": add, "decrypt": decrypt, "bytes": size, **memory}


def rows_back(work: Path, key: Path, rows: int) -> dict[str, float]:
    """Measures decryption of the last encrypted table; compares all rows with the plaintexts."""
    back = work / "rows.parquet"
    seconds, peak = measured("decrypt", "--key", key / "private.json", work / "encrypted", "--out", back)
    tables = (pyarrow.parquet.read_table(path, columns=["value"]) for path in (work / "in", back))
    plain, found = (table["value"].cast(pyarrow.int64()) for table in tables)
    if len(found) != rows or not found.equals(plain):
        raise SystemExit(f"{key}: wrong rows")
    return {"rows_back": seconds, "rows_back_mib": peak / 1024}


def peer(name: str, rows: int) -> dict[str, float]:
    """Measures a peer library."""
    command = [os.environ["HEARITH_PEERS_PYTHON"], "-c", WORKER, name, str(rows), str(GROUPS)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(said.splitlines()[-1])


def digits(value: float) -> str:
    """Formats a number with its significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Measures everything and writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--largest", type=int, default=10_000_000)
    options = parser.parse_args()
    # One processor for this process and its children.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name, words in [
            ("standard", ["--bits", "2048"]),
            ("djn", ["--bits", "2048", "--variant", "djn"]),
            ("bfv", ["--scheme", "bfv"]),
        ]:
            measured("keygen", *words, "--out", work / name)
        found = [
            ("Hearith, `bfv`, public key", ours(work, work / "bfv", "public.json", options.rows)),
            ("Hearith, `bfv`, private key", ours(work, work / "bfv", "private.json", options.rows)),
            ("Hearith, Paillier `djn`, 2048 bits", ours(work, work / "djn", "public.json", 50_000)),
            ("Hearith, Paillier `standard`, 2048 bits", ours(work, work / "standard", "public.json", 10_000)),
            ("phe 1.5.0, 2048 bits", peer("phe", 1000)),
            ("HEU, ZPaillier, 2048 bits", peer("heu", 5000)),
            ("TenSEAL 0.3.18, BFV, N = 8192", peer("tenseal", 81_920)),
        ]
        rows = 10_000
        memory = []
        while rows <= options.largest:
            memory.append({**ours(work, work / "bfv", "public.json", rows), **rows_back(work, work / "bfv", rows)})
            rows *= 10
    RESULTS.write_text(text(options.rows, found, memory))


def text(rows: int, found: list[tuple[str, dict[str, float]]], memory: list[dict[str, float]]) -> str:
    """Returns the page."""
    lines = [
        "# One column, every scheme\n",
        "Made by `scripts/bench_columns.sh`.\n",
        f"- Machine: {machine.processor()}, one processor, {platform.system()} {platform.machine()}",
        f"- Date: {datetime.now(UTC):%Y-%m-%d}",
        f"- Method: {rows:,} numbers in {GROUPS} groups, one run. Hearith runs as its command line, which reads and writes "
        "Parquet, with numbers of 64 bits and a headroom of 2^32 additions. The peers compute in memory. If fewer rows "
        "were measured, the seconds to encrypt and sum are scaled to all rows. Numbers are within 4000, because TenSEAL's "
        "totals must fit its plaintexts of 20 bits. Its totals are vectors, whose slots the key holder sees and sums. All "
        "totals were compared with the expected ones.\n",
        "| | rows measured | encrypt, s | sum, s | decrypt 100 totals, s | bytes per number |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in found:
        scale = rows / one["rows"]
        cells = [
            f"{one['rows']:,}",
            *(digits(scale * one[step]) for step in ("encrypt", "add")),
            digits(one["decrypt"]),
            f"{one['bytes']:.1f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "\n| rows, `bfv`, public key | encrypt: seconds | peak MiB | sum: seconds | peak MiB | decrypt all rows: seconds | peak MiB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in memory:
        keys = ("encrypt", "encrypt_mib", "add", "sum_mib", "rows_back", "rows_back_mib")
        cells = [digits(one[key]) for key in keys]
        lines.append(f"| {one['rows']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
