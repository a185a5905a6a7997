"""Runs the hardware tests with Verilator's line and toggle coverage, and writes both for every module of rtl/ to `bench/results/coverage.md`.

Fails unless 95 % of all lines are covered. A line or a bit counts as covered if any instance in any model reaches it.
With --keep the files of the run stay in a directory, and those that are there already are read instead of running anything.
"""

import argparse
import collections
import functools
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST = 95.0
# The packages and their features: without the command line, whose tests are of wide devices.
PACKAGES = {"hearith-rtl": [], "hearith-simulated": ["mesa", "mesa-dual", "rns"]}


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


@functools.cache
def constant_lines(module):
    """The lines of a module's functions: all of them compute parameters, before there is a simulation."""
    lines, inside = set(), False
    for number, line in enumerate((ROOT / "rtl" / module).read_text().splitlines(), 1):
        inside |= line.lstrip().startswith("function ")
        if inside:
            lines.add(str(number))
        inside &= "endfunction" not in line
    return lines


def collect(directory):
    """For each kind and module: which points are covered."""
    covered = collections.defaultdict(lambda: collections.defaultdict(bool))
    for path in sorted(pathlib.Path(directory).glob("*.dat")):
        for kind, module, place, count in points(path):
            if kind == "v_toggle":
                covered["toggle", module][place] |= count > 0
            elif place[0] not in constant_lines(module):
                covered["line", module][place] |= count > 0
    return covered


TEXT = """# Coverage of the hardware

Written by `make coverage` (synth/coverage.py) from the tests of {packages}, simulated by {verilator} with line and toggle
coverage. What is called a line is a point that Verilator counts, a branch of the code and not a line of text; the table says how many there are. It counts as covered if any instance in any model runs it, a bit of a signal of at most 64 as toggled if it ever changes. Functions are left out: here they all compute parameters, before there is a simulation. MESA and its cores are at most {bits} bits wide here: wider ones repeat the
same lines at a hundred times the points, and their tests are left out.

{table}
"""

# The width that build scripts narrow wide designs to, for the text.
BITS = 256


def run_tests(packages, directory):
    """Runs the tests with models that count."""
    command = ["cargo", "test", "--quiet", *(word for package in packages for word in ("--package", package))]
    features = ",".join(f"{package}/{feature}" for package in packages for feature in PACKAGES[package])
    command += ["--no-default-features", "--features", features]
    command += ["--", "--skip", "wide_", "--skip", "1024", "--skip", "2048"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "HEARITH_RTL_COVERAGE": directory}, check=True)


def share(reached):
    """Which part of some points is covered, and how many they are."""
    return f"{100 * sum(reached) / len(reached):.1f} % of {len(reached)}" if reached else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="one whose tests are run (all)")
    arguments = parser.parse_args()
    packages = arguments.package or list(PACKAGES)
    with tempfile.TemporaryDirectory() as directory:
        if arguments.keep:
            directory = arguments.keep
            os.makedirs(directory, exist_ok=True)
        if not any(pathlib.Path(directory).iterdir()):
            run_tests(packages, directory)
        covered = collect(directory)
    kinds = ("line", "toggle")
    rows, totals = [], {kind: [] for kind in kinds}
    for module in sorted({module for _, module in covered}):
        reached = {kind: list(covered.get((kind, module), {}).values()) for kind in kinds}
        for kind in kinds:
            totals[kind] += reached[kind]
        rows.append(f"| {module} | {' | '.join(share(reached[kind]) for kind in kinds)} |")
    rows.append(f"| **all** | {' | '.join(share(totals[kind]) for kind in kinds)} |")
    table = "\n".join(["| module | lines | toggled bits |", "|---|---|---|", *rows])
    version = " ".join(subprocess.run(["verilator", "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()[:2])
    page = ROOT / "bench" / "results" / "coverage.md"
    page.write_text(TEXT.format(verilator=version, packages=" and ".join(packages), bits=BITS, table=table))
    print(table)
    line = 100 * sum(totals["line"]) / len(totals["line"])
    if line < LEAST:
        sys.exit(f"coverage: {line:.1f} % of the lines, less than {LEAST} %")


if __name__ == "__main__":
    main()
