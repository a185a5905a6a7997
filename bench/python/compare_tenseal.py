"""The lattice scheme beside TenSEAL (Microsoft SEAL's BFV): encryption and decryption of a column, one thread.

    .venv/bin/python bench/python/compare_tenseal.py [--rounds 5] [--rows 1000000]

Each round measures every contestant once, forwards and backwards in turn; rates are medians of the rounds, ratios those within a round.
All that is decrypted is compared with what was encrypted. TenSEAL is asked for in HEARITH_TENSEAL_PYTHON, a Python that has it (pip
install tenseal==0.3.18). Its numbers have 20 bits, ours 64 and room for sums. Writes bench/results/bfv.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results" / "bfv.md"
GROUPS = 100

WORKER = """
import json, sys, time
import tenseal
degree, rows = int(sys.argv[1]), int(sys.argv[2])
context = tenseal.context(tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=degree, plain_modulus=1032193, n_threads=1)
columns = [[(row + i) * 7919 % 1000003 - 500000 for i in range(degree)] for row in range(0, rows, degree)]
start = time.perf_counter()
encrypted = [tenseal.bfv_vector(context, column) for column in columns]
middle = time.perf_counter()
decrypted = [vector.decrypt() for vector in encrypted]
end = time.perf_counter()
assert decrypted == columns
bytes_each = len(encrypted[0].serialize()) / degree
rows = len(columns) * degree
print(json.dumps({"encrypt": (middle - start) / rows, "decrypt": (end - middle) / rows, "bytes": bytes_each,
                  "version": tenseal.__version__}))
"""


def ours(engine: str, rows: int) -> dict[str, float]:
    """Seconds of each operation with an engine."""
    program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "rates"
    command = [str(program), "bfv-8192", engine, str(rows), str(GROUPS), "1"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {**found, "encrypt": found["encrypt"] / rows, "decrypt": found["decrypt"] / rows, "rows": rows}


def tenseal(degree: int, rows: int) -> dict[str, float]:
    """Seconds a number with TenSEAL."""
    python = os.environ["HEARITH_TENSEAL_PYTHON"]
    command = [python, "-c", WORKER, str(degree), str(rows)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def spread(values: list[float], form: str = "{:.1f}") -> str:
    """The median, and the least and greatest."""
    middle, *ends = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({ends[0]}..{ends[1]})"


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    contests = {
        "ifma": lambda: ours("ifma", options.rows),
        "serial": lambda: ours("serial", options.rows),
        "TenSEAL 8192": lambda: tenseal(8192, options.rows),
        "TenSEAL 4096": lambda: tenseal(4096, options.rows),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in contests}
    for round_number in range(options.rounds):
        names = list(contests) if round_number % 2 == 0 else list(reversed(contests))
        for name in names:
            found[name].append(contests[name]())
    RESULTS.write_text(page(found, options.rounds, options.rows))
    print(RESULTS.read_text())


def page(found: dict[str, list[dict[str, float]]], rounds: int, rows: int) -> str:
    """The results as Markdown."""
    model = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    lines = [
        "# The lattice scheme beside TenSEAL",
        "",
        "Made by `bench/python/compare_tenseal.py`.",
        "",
        f"- Machine: {model.split(':')[1].strip()}, one thread, {platform.system()} {platform.machine()}",
        f"- Date: {datetime.now(UTC).date()}",
        f"- Versions: hearith 0.1.0, TenSEAL {found['TenSEAL 8192'][0]['version']}",
        f"- Method: {rows:,} numbers, {rounds} rounds; medians, with the least and greatest in brackets. Ours: `bfv-8192`, numbers of 64 "
        "bits in plaintexts of 97. TenSEAL: `bfv_vector` from and to lists of Python, numbers of 20 bits. A ratio is that of times "
        "within a round; above 1 Hearith is faster.",
        "",
        "| | million numbers a second | to TenSEAL 8192 | to TenSEAL 4096 | bytes a number |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    operations = [("encrypt, public key", "encrypt", "bytes"), ("decrypt", "decrypt", "bytes")]
    for engine in ("ifma", "serial"):
        for what, key, size in [*operations, ("encrypt, private key", "encrypt_private", "bytes_private")]:
            per = [run[key] / run["rows"] if key == "encrypt_private" else run[key] for run in found[engine]]
            peers = ["decrypt" if key == "decrypt" else "encrypt"] * 2
            ratios = [
                spread([theirs[peer] / mine for mine, theirs in zip(per, found[name], strict=True)])
                for name, peer in zip(("TenSEAL 8192", "TenSEAL 4096"), peers, strict=True)
            ]
            rate = spread([1e-6 / seconds for seconds in per])
            lines.append(f"| {engine}: {what} | {rate} | {ratios[0]} | {ratios[1]} | {found[engine][0][size]:.1f} |")
    for name in ("TenSEAL 8192", "TenSEAL 4096"):
        for what, key, size in operations:
            rate = spread([1e-6 / run[key] for run in found[name]])
            lines.append(f"| {name}: {what} | {rate} | | | {found[name][0][size]:.1f} |")
    lines += [
        "",
        f"| adding up {rows:,} numbers by {GROUPS} groups | seconds | decrypting the {GROUPS} totals |",
        "| --- | ---: | ---: |",
    ]
    for engine in ("ifma", "serial"):
        sums, totals = ([run[key] for run in found[engine]] for key in ("sum", "totals"))
        lines.append(f"| {engine} | {spread(sums, '{:.2f}')} | {spread(totals, '{:.4f}')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
