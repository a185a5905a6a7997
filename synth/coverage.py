"""Runs the hardware tests with Verilator's line and toggle coverage and cover points, and writes all for every module of rtl/ to
`bench/results/coverage.md`.

Fails unless 95 % of all lines are covered and every cover point is reached. A line, a bit or a point counts as covered if any instance in any
model reaches it. With --keep the files of the run stay in a directory, and those that are there already are read instead of running anything.
"""

import argparse
import collections
import fnmatch
import functools
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST = 95.0
# The packages and their features: without the command line, whose tests are of wide devices.
PACKAGES = {"hearith-rtl": [], "hearith-simulated": ["coproc", "mesa", "mesa-dual", "rns"]}


# Cover points that nothing can reach, and why: patterns of module and point.
UNREACHABLE = {("arith/*", "*: back to back"): "An item takes several cycles."}
# What a bench counts at a stream, in the order of its files' columns after the transfers.
STALLS = ("valid waits for ready", "ready waits for valid", "back to back")


def points(path):
    """The coverage points of a file that Verilator wrote: kind, file, place and count."""
    with open(path, errors="replace") as lines:
        for line in lines:
            if line.startswith("C '"):
                key, _, count = line[3:].rpartition("' ")
                fields = dict(field.split("\x02", 1) for field in key.split("\x01") if "\x02" in field)
                place = (fields.get("l"), fields.get("n"), fields.get("o"))
                yield fields["page"].split("/")[0], pathlib.Path(fields["f"]), place, int(count)


def stalls(path):
    """The points of a file that a bench wrote: top module, stream and what happened there, and whether it did."""
    for line in path.read_text().splitlines():
        top, stream, transfers, *counts = line.split()
        for name, count in zip(STALLS, counts, strict=True):
            # Nothing is asked of a stream that a test does not use.
            if int(transfers):
                yield top, f"{stream}: {name}", int(count)


@functools.cache
def module_file(module):
    """The module's file in one of the directories of rtl/, such as `lib/axil_port.sv`; None for designs of tests."""
    found = sorted(ROOT.glob(f"rtl/*/{module}.sv"))
    return f"{found[0].parent.name}/{found[0].name}" if found else None


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
    """For each kind and module: which points are covered. Cover points are of the module that they are bound to."""
    covered = collections.defaultdict(lambda: collections.defaultdict(bool))
    for path in sorted(pathlib.Path(directory).glob("*.dat")):
        for kind, source, place, count in points(path):
            module = module_file(source.stem.removesuffix("_cover"))
            if module is None:
                continue
            if kind == "v_user":
                covered["cover", module][place[2]] |= count > 0
            elif source.stem.endswith("_cover"):
                continue
            elif kind == "v_toggle":
                covered["toggle", module][place] |= count > 0
            elif place[0] not in constant_lines(module):
                covered["line", module][place] |= count > 0
    for path in sorted(pathlib.Path(directory).glob("*.streams")):
        for top, point, count in stalls(path):
            module = module_file(top)
            if module:
                covered["cover", module][point] |= count > 0
    for (kind, module), reached in covered.items():
        for point in [point for point, hit in reached.items() if kind == "cover" and not hit and excused(module, point)]:
            del reached[point]
    return covered


def excused(module, point):
    """Whether a cover point is known to be out of reach."""
    return any(fnmatch.fnmatch(module, modules) and fnmatch.fnmatch(point, points) for modules, points in UNREACHABLE)


def unreached(covered):
    """The cover points that no run reached although one could: module and point."""
    points = ((module, point, hit) for (kind, module), points in covered.items() if kind == "cover" for point, hit in points.items())
    return sorted((module, point) for module, point, hit in points if not hit)


TEXT = """# Coverage of the hardware

Written by `make coverage` (synth/coverage.py) from the tests of {packages}, simulated by {verilator}.
Each share is of so many points. A line counts as covered if any instance in any model runs it, a bit
of a signal of at most 64 as toggled if it ever changes. Verilator counts a point for each branch and
each block of statements, not for each line of text, and none for continuous assignments, of which most
of the hardware consists: the toggled bits say more. Cover points are the states of state machines
(`rtl/tests/cover`), and for every stream that a bench drives a cycle with valid and no ready, one with
ready and no valid, and two transfers back to back. Functions are left out: here they all compute
parameters, before there is a simulation. MESA and its cores are at most {bits} bits wide here: wider
ones repeat the same lines at a hundred times the points, and their tests are left out.

{table}
{reasons}"""

# The width that build scripts narrow wide designs to, for the text.
BITS = 128


def run_tests(packages, directory):
    """Runs the tests with models that count. The C++ compiler does not optimise: it would take far longer than the simulations gain."""
    command = ["cargo", "test", "--quiet", *(word for package in packages for word in ("--package", package))]
    features = ",".join(f"{package}/{feature}" for package in packages for feature in PACKAGES[package])
    command += ["--no-default-features", "--features", features]
    command += ["--", "--skip", "wide_", "--skip", "1024", "--skip", "2048"]
    environment = {"HEARITH_OPTIMISATION": "0", "HEARITH_SHORT": "1", **os.environ, "HEARITH_RTL_COVERAGE": directory}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def share(reached):
    """How much of some points is reached, and how many there are."""
    return f"{100 * sum(reached) / len(reached):.1f} % of {len(reached)}" if reached else "-"


def table(covered):
    """The page's table."""
    kinds = ("line", "toggle", "cover")
    rows, totals = [], {kind: [] for kind in kinds}
    for module in sorted({module for _, module in covered}):
        reached = {kind: list(covered.get((kind, module), {}).values()) for kind in kinds}
        for kind in kinds:
            totals[kind] += reached[kind]
        rows.append(f"| {module} | {' | '.join(share(reached[kind]) for kind in kinds)} |")
    rows.append(f"| **all** | {' | '.join(share(totals[kind]) for kind in kinds)} |")
    return "\n".join(["| module | lines | toggled bits | cover points |", "|---|---|---|---|", *rows])


def complaints(covered):
    """What keeps the run from passing."""
    lines = [hit for (kind, _), points in covered.items() if kind == "line" for hit in points.values()]
    reached = 100 * sum(lines) / len(lines) if lines else 0.0
    if reached < LEAST:
        yield f"{reached:.1f} % of the {len(lines)} lines, less than {LEAST} %"
    for module, point in unreached(covered):
        yield f"never reached in {module}: {point}"


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
    version = " ".join(subprocess.run(["verilator", "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()[:2])
    page = ROOT / "bench" / "results" / "coverage.md"
    reasons = "".join(f"\nNot asked for in `{module}`: `{point}`. {why}\n" for (module, point), why in sorted(UNREACHABLE.items()))
    text = TEXT.format(verilator=version, packages=" and ".join(packages), bits=BITS, table=table(covered), reasons=reasons)
    page.write_text(text)
    print(table(covered))
    found = list(complaints(covered))
    if found:
        sys.exit("coverage: " + "\ncoverage: ".join(found))


if __name__ == "__main__":
    main()
