"""Runs the hardware tests with Verilator's line and toggle coverage, and reports both for every module of rtl/.

Fails unless 95 % of all lines are covered. A line or a bit counts as covered if any instance in any model reaches it.
Usage: coverage.py [--keep DIR]
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST = 95.0
PACKAGES = ["hearith-rtl", "hearith-device"]


def points(path):
    """The coverage points of a file that Verilator wrote: kind, module, place and count."""
    with open(path, errors="replace") as lines:
        for line in lines:
            if line.startswith("C '"):
                key, _, count = line[3:].rpartition("' ")
                fields = dict(field.split("\x02", 1) for field in key.split("\x01") if "\x02" in field)
                source = pathlib.Path(fields["f"])
                place = (fields.get("l"), fields.get("n"), fields.get("o"))
                yield fields["page"].split("/")[0], f"{source.parent.name}/{source.name}", place, int(count)


def collect(directory):
    """For each kind and module: which points are covered. Files are removed once read: each model writes one."""
    covered = collections.defaultdict(lambda: collections.defaultdict(bool))
    for path in sorted(pathlib.Path(directory).glob("*.dat")):
        for kind, module, place, count in points(path):
            covered["toggle" if kind == "v_toggle" else "line", module][place] |= count > 0
    return covered


def main():
    with tempfile.TemporaryDirectory() as directory:
        if sys.argv[1:2] == ["--keep"]:
            directory = sys.argv[2]
            os.makedirs(directory, exist_ok=True)
        if not any(pathlib.Path(directory).iterdir()):
            command = ["cargo", "test", "--quiet", *(word for package in PACKAGES for word in ("--package", package))]
            # The wide models repeat what the small ones do, at a hundred times the points.
            command += ["--", "--skip", "wide", "--skip", "1024", "--skip", "2048"]
            subprocess.run(command, cwd=ROOT, env={**os.environ, "HEARITH_RTL_COVERAGE": directory}, check=True)
        covered = collect(directory)
    modules = sorted({module for _, module in covered})
    totals = collections.defaultdict(lambda: [0, 0])
    print("| module | lines | toggled bits |\n|---|---|---|")
    for module in modules:
        shares = []
        for kind in ("line", "toggle"):
            reached = covered.get((kind, module), {}).values()
            totals[kind][0] += sum(reached)
            totals[kind][1] += len(reached)
            shares.append(f"{100 * sum(reached) / len(reached):.1f} %" if reached else "-")
        print(f"| {module} | {' | '.join(shares)} |")
    line, toggle = (100 * totals[kind][0] / totals[kind][1] for kind in ("line", "toggle"))
    print(f"| all | {line:.1f} % | {toggle:.1f} % |")
    if line < LEAST:
        sys.exit(f"coverage: {line:.1f} % of the lines, less than {LEAST} %")


if __name__ == "__main__":
    main()
