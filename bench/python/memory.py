"""Measures the memory of operations on arrays of a million encrypted rows.

    .venv/bin/python bench/python/memory.py [--rows 1000000] [--bits 2048]

Each operation runs in its own process, whose only large object is an array of `--rows` rows,
repeated from a hundred ciphertexts. The result is the peak resident memory during the operation
above what was resident before (Linux's VmHWM, reset in between), compared with the size of the
result: 512 bytes per row at 2048 bits. Scale it for other lengths. Fails if an operation exceeds
its limit. Writes bench/results/memory.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import machine

import hearith as he
from hearith._native import PROFILE

RESULTS = Path(__file__).parents[1] / "results" / "memory.md"

#: An operation on `c`, the size of its results and its memory limit above them, both in units of an
#: array.
OPERATIONS = {
    "c + c": (1, 0.4),
    "c + 5": (1, 0.5),
    "c + np.arange(len(c))": (1, 0.5),
    "c.sum()": (0, 0.25),
    "c[::2]": (0.5, 0.1),
    "np.concatenate([c, c])": (2, 0.1),
    "c.reshape(1000, -1).sum(axis=0)": (0.001, 0.2),
    "pickle.dumps(c)": (1, 1.1),
}

PROGRAM = """
import json, pickle
import numpy as np
import hearith as he

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

public, private = he.generate_keypair({bits}, "djn", insecure=True)
few = public.encrypt(np.arange(100), range=1000)
c = few[np.arange({rows}) % 100]
few.sum(), few + few  # whatever is made once
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
result = {operation}
print(json.dumps([before, status("VmHWM") - before]))
"""


def main() -> None:
    """Measures, writes the table, and fails if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--bits", type=int, default=2048)
    arguments = parser.parse_args()
    array = arguments.rows * arguments.bits // 4
    lines, excess = [], []
    for operation, (results, above) in OPERATIONS.items():
        before, peak = measured(operation, arguments)
        lines.append(f"| `{operation}` | {mebibytes(before)} | {mebibytes(peak)} | {mebibytes(results * array)} |")
        if peak > (results + above) * array + 2**24:
            excess.append(operation)
    page = f"""# Memory of a million encrypted rows

Made by `bench/python/memory.py`, which fails if an operation exceeds its limit.

- Machine: {machine.model()}, {he.threads()} threads, built in the profile `{PROFILE}`
- Date: {datetime.now(UTC):%Y-%m-%d}
- Arrays: {arguments.rows:,} rows under a key of {arguments.bits} bits: {mebibytes(array)} MiB of ciphertexts

Row-wise operations run in pieces, and each piece goes directly to its place in the result.

| operation | resident before it, MiB | peak above that, MiB | its result, MiB |
| --- | ---: | ---: | ---: |
{chr(10).join(lines)}
"""
    RESULTS.write_text(page)
    print(page)
    if excess:
        raise SystemExit(f"memory: above the limit: {', '.join(excess)}")


def measured(operation: str, arguments: argparse.Namespace) -> tuple[int, int]:
    """Returns the resident bytes before an operation, and the additional bytes at its peak."""
    program = PROGRAM.format(operation=operation, rows=arguments.rows, bits=arguments.bits)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{operation}: {done.stderr[-2000:]}")
    before, peak = json.loads(done.stdout)
    return before, peak


def mebibytes(count: float) -> str:
    """Formats bytes as MiB."""
    return f"{count / 2**20:,.0f}"


if __name__ == "__main__":
    main()
