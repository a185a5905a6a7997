"""Compares the lattice scheme with TenSEAL (Microsoft SEAL's BFV) and the crate fhe.

It measures encryption, additions and decryption of a column on one thread.

    .venv/bin/python bench/python/compare_lattice.py [--rounds 5] [--rows 1000000]

Each round measures every contestant once, alternating between forward and reverse order. Rates are
medians over the rounds; ratios compare values of the same round. All decrypted values are compared
with the plaintexts. HEARITH_TENSEAL_PYTHON names a Python that has TenSEAL (pip install
tenseal==0.3.18); the crate is the program in bench/fhe, which scripts/bench_lattice.sh builds.
Their numbers have 20 bits. Writes bench/results/bfv.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import machine

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results" / "bfv.md"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
GROUPS = 100
DEGREES = (8192, 4096)
ENGINES = ("ifma", "serial")
PEERS = ("fhe", "TenSEAL")

#: The measured operations, by their names in the programs' output.
OPERATIONS = {
    "encrypt, public key": "encrypt",
    "encrypt, private key": "encrypt_private",
    "add": "add",
    "decrypt": "decrypt",
}

Run = dict[str, float]

WORKER = """
import json, sys, time
import tenseal
degree, rows = int(sys.argv[1]), int(sys.argv[2])
def context(kind):
    return tenseal.context(tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=degree, plain_modulus=1032193, encryption_type=kind, n_threads=1)
columns = [[(row + i) * 7919 % 1000003 - 500000 for i in range(degree)] for row in range(0, rows, degree)]
rows = len(columns) * degree
found = {"version": tenseal.__version__}
def timed(name, work):
    start = time.perf_counter()
    made = work()
    found[name] = (time.perf_counter() - start) * int(sys.argv[2]) / rows
    return made
public, private = context(tenseal.ENCRYPTION_TYPE.ASYMMETRIC), context(tenseal.ENCRYPTION_TYPE.SYMMETRIC)
encrypted = timed("encrypt", lambda: [tenseal.bfv_vector(public, column) for column in columns])
owned = timed("encrypt_private", lambda: [tenseal.bfv_vector(private, column) for column in columns])
sums = timed("add", lambda: [x + x for x in encrypted])
decrypted = timed("decrypt", lambda: [vector.decrypt() for vector in encrypted])
assert decrypted == columns and owned[0].decrypt() == columns[0]
assert all((x - 2 * y) % 1032193 == 0 for x, y in zip(sums[0].decrypt(), columns[0]))
found |= {"bytes": len(encrypted[0].serialize()) / degree, "bytes_private": len(owned[0].serialize()) / degree}
print(json.dumps(found))
"""


def said(*command: str | Path) -> Run:
    """Returns a program's output."""
    return json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)


def contests(rows: int) -> dict[tuple[str, int], Callable[[], Run]]:
    """Returns who is measured at which degree, and how."""
    python = os.environ["HEARITH_TENSEAL_PYTHON"]

    def ours(engine: str, degree: int) -> Run:
        return said(BUILT / "examples" / "rates", f"bfv-{degree}", engine, str(rows), str(GROUPS))

    def theirs(peer: str, degree: int) -> Run:
        program = [BUILT / "fhe-peer"] if peer == "fhe" else [python, "-c", WORKER]
        return said(*program, str(degree), str(rows))

    return {
        (name, degree): lambda f=f, name=name, degree=degree: f(name, degree)
        for degree in DEGREES
        for f, names in ((ours, ENGINES), (theirs, PEERS))
        for name in names
    }


def spread(values: list[float], form: str = "{:.1f}") -> str:
    """Returns the median, minimum and maximum."""
    middle, *ends = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({ends[0]}..{ends[1]})"


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    all_contests = contests(options.rows)
    found: dict[tuple[str, int], list[Run]] = {name: [] for name in all_contests}
    for round_number in range(options.rounds):
        names = list(all_contests) if round_number % 2 == 0 else list(reversed(all_contests))
        for name in names:
            found[name].append(all_contests[name]())
    RESULTS.write_text(page(found, options.rounds, options.rows))
    print(RESULTS.read_text())


def rates(found: dict[tuple[str, int], list[Run]], rows: int) -> list[str]:
    """Returns the numbers per second and the bytes."""
    lines = [
        f"| million numbers a second | {' | '.join(OPERATIONS)} | bytes a number, public key | private key |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for degree in DEGREES:
        for name in (*ENGINES, *PEERS):
            runs = found[name, degree]
            cells = [spread([1e-6 * rows / run[key] for run in runs]) for key in OPERATIONS.values()]
            sizes = [f"{runs[0][key]:.1f}" for key in ("bytes", "bytes_private")]
            who = f"{name}, `bfv-{degree}`" if name in ENGINES else f"{name}, N = {degree}"
            lines.append(f"| {who} | {' | '.join([*cells, *sizes])} |")
    return lines


def ratios(found: dict[tuple[str, int], list[Run]]) -> list[str]:
    """Returns our speed-up over each peer of the same degree."""
    lines = [f"| times as fast | {' | '.join(OPERATIONS)} |", "| --- | ---: | ---: | ---: | ---: |"]
    for degree in DEGREES:
        for engine in ENGINES:
            for peer in PEERS:
                pairs = list(zip(found[engine, degree], found[peer, degree], strict=True))
                cells = [spread([theirs[key] / mine[key] for mine, theirs in pairs]) for key in OPERATIONS.values()]
                lines.append(f"| {engine}, `bfv-{degree}`, to {peer}, N = {degree} | {' | '.join(cells)} |")
    return lines


def sums(found: dict[tuple[str, int], list[Run]], rows: int) -> list[str]:
    """Returns the cost of sums by groups, in seconds and in noise."""
    lines = [
        f"| seconds to add up {rows:,} numbers by {GROUPS} groups | plain | weighted | weighted, in ten parts | the parts' totals |"
        f" decrypting {GROUPS} totals |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for degree in DEGREES:
        for engine in ENGINES:
            steps = (("sum", 2), ("weighted", 2), ("parts", 2), ("again", 3), ("totals", 4))
            cells = [spread([run[key] for run in found[engine, degree]], f"{{:.{places}f}}") for key, places in steps]
            lines.append(f"| {engine}, `bfv-{degree}` | {' | '.join(cells)} |")
    lines += [
        "",
        "| bits that noise may still grow by | bits of a plaintext | fresh, public key | total | weighted total | total of ten parts' |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for degree in DEGREES:
        run = found["serial", degree][0]
        budgets: dict[str, int] = run["budgets"]  # type: ignore[assignment]
        cells = [str(run["bits"]), *(str(budgets[key]) for key in ("fresh", "sum", "weighted", "again"))]
        lines.append(f"| `bfv-{degree}` | {' | '.join(cells)} |")
    return lines


def page(found: dict[tuple[str, int], list[Run]], rounds: int, rows: int) -> str:
    """Returns the results as Markdown."""
    lines = [
        "# The lattice scheme compared with TenSEAL and the crate fhe",
        "",
        "Made by `scripts/bench_lattice.sh`.",
        "",
        f"- Machine: {machine.processor()}, one thread, {platform.system()} {platform.machine()}",
        f"- Date: {datetime.now(UTC).date()}",
        f"- Versions: hearith {VERSION}, TenSEAL {found['TenSEAL', 8192][0]['version']}, fhe 0.1.1 with its feature `tfhe-ntt`",
        f"- Method: {rows:,} numbers, {rounds} rounds; medians, with the lowest and highest in brackets. Ours: `bfv-8192` "
        "with plaintexts of 97 bits, `bfv-4096` with plaintexts of 28 bits. TenSEAL: `bfv_vector` from and to Python "
        "lists, numbers of 20 bits. fhe: numbers of 20 bits as coefficients, with its own parameters of 128-bit security. "
        "Every addition creates a new ciphertext. A ratio compares times within a round; above 1 Hearith is faster.",
        "",
        *rates(found, rows),
        "",
        *ratios(found),
        "",
        "Sums by groups: weights are within 10; numbers within 500 in `bfv-4096`, within 500,000 in `bfv-8192`. At least "
        "40 more bits of noise, and up to 64 if the budget allows, hide a total's noise. So the remaining budget of a "
        "total does not show the budget that the computation used.",
        "",
        *sums(found, rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
