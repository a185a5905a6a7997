"""Runs the hardware tests with Verilator's coverage and writes `bench/results/coverage.md`.

The page has the line coverage and cover points of every module of rtl/. The script fails unless
95 % of all lines are covered and every cover point is reached. A line, bit or point counts as
covered if any instance in any model reaches it. --toggles also counts the bits that ever change,
which takes many times as long. --keep keeps the files of the run in a directory, next to those of
earlier runs; --read only reads such a directory.
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
# The packages and their features. The command line is excluded, because its tests use wide devices.
PACKAGES = {
    "hearith-rtl": ["arith", "blocks", "dghv", "election", "ntt", "rns"],
    "hearith-simulated": ["ballot-machine", "coproc", "dghv", "mesa", "mesa-dual", "rns"],
}


# Cover points and lines that nothing can reach, with the reason: patterns of module and point. For
# a line, the point is Verilator's name of the branch, and the line's text.
UNREACHABLE = {
    ("*", "m_axi_[br]valid_i: valid waits for ready"): "There is capacity for every requested response.",
    ("arith/*", "*: back to back"): "An item takes several cycles.",
    ("arith/dual_lanes.sv", "in_valid_i: ready waits for valid"): "The first digit of an item starts the computation, and then the others must be available.",
    ("arith/div_*.sv", "case: default: *"): "The other branches name all values of the state.",
    ("coproc/coproc_core_*.sv", "in_valid_i: back to back"): "An item takes several cycles.",
    ("dghv/*", "command_valid_i: back to back"): "A command takes many cycles.",
    ("dghv/dghv_control.sv", "Refuses"): "The driver never sends a command that is rejected. The tests in cocotb do, and are not counted.",
    ("dghv/*", "status_valid_o: back to back"): "A command takes many cycles.",
    ("dghv/*", "*req_valid_[io]: back to back"): "A request first becomes bursts.",
    ("lib/axil_port.sv", "axil_*: back to back"): "A transaction takes several cycles.",
    ("lib/memory_port.sv", "*req_valid_i: back to back"): "A request first becomes bursts.",
    ("lib/stream_monitor.sv", "else: `ASSERT(*"): "A failing assertion ends the simulation before anything is counted. rtl/tests/all/monitors.rs makes each of them fail.",
    ("lib/stream_widen.sv", "out_valid_o: back to back"): "A wide item is several narrow ones.",
    ("election/sha256.sv", "out_valid_o: back to back"): "A digest takes many cycles.",
    ("election/vote_log.sv", "else: *: if (ordered) *"): (
        "Except for the first order, the flash accepts each in the cycle in which it arrives. An assertion checks this in simulations of the log (vote_log_monitors.sv)."
    ),
    ("election/vote_processor.sv", "*_valid_o: back to back"): "A vote has several words.",
    ("links/*", "*: back to back"): "A byte takes many cycles, a word of a message two.",
    ("links/spi_peripheral.sv", "in_valid_i: ready waits for valid"): "It is ready only in the cycle in which an available byte has been sent.",
    ("ntt/block_rows.sv", "in_valid_i: back to back"): "A block is several words.",
    ("ntt/long_product.sv", "in_valid_i: back to back"): "A product takes many cycles.",
}
# Events that a bench counts at a stream, in the order of the columns after the transfers.
STALLS = ("valid waits for ready", "ready waits for valid", "back to back")


def points(path):
    """Yields the coverage points of a Verilator file: kind, file, location and count."""
    with open(path, errors="replace") as lines:
        for line in lines:
            if line.startswith("C '"):
                key, _, count = line[3:].rpartition("' ")
                fields = dict(field.split("\x02", 1) for field in key.split("\x01") if "\x02" in field)
                location = (fields.get("l"), fields.get("n"), fields.get("o"))
                yield fields["page"].split("/")[0], pathlib.Path(fields["f"]), location, int(count)


def stalls(path):
    """Yields the points of a file that a bench wrote: top module, stream and event, and the event's
    count.
    """
    for line in path.read_text().splitlines():
        top, stream, transfers, *counts = line.split()
        for name, count in zip(STALLS, counts, strict=True):
            # A stream that a test does not use has no requirements.
            if int(transfers):
                yield top, f"{stream}: {name}", int(count)


@functools.cache
def module_file(module):
    """Returns the module's file below rtl/, such as `lib/axil_port.sv`; None for test designs."""
    found = sorted(ROOT.glob(f"rtl/*/{module}.sv"))
    return f"{found[0].parent.name}/{found[0].name}" if found else None


@functools.cache
def texts(module):
    """Returns the lines of a module's file."""
    return [line.strip() for line in (ROOT / "rtl" / module).read_text().splitlines()]


@functools.cache
def constant_lines(module):
    """Returns the lines of a module's functions: all of them compute parameters, at elaboration."""
    lines, inside = set(), False
    for number, line in enumerate(texts(module), 1):
        inside |= line.startswith("function ")
        if inside:
            lines.add(str(number))
        inside &= "endfunction" not in line
    return lines


def collect(directory):
    """Returns the points of each kind and module, and whether they are covered.

    Cover points belong to the module that they are bound to.
    """
    covered = collections.defaultdict(lambda: collections.defaultdict(bool))
    for path in sorted(pathlib.Path(directory).glob("*.dat")):
        for kind, source, location, count in points(path):
            module = module_file(source.stem.removesuffix("_cover"))
            if module is None:
                continue
            if kind == "v_user":
                covered["cover", module][location[2]] |= count > 0
            elif source.stem.endswith("_cover"):
                continue
            elif kind == "v_toggle":
                covered["toggle", module][location] |= count > 0
            elif location[0] not in constant_lines(module):
                covered["line", module][location] |= count > 0
    for path in sorted(pathlib.Path(directory).glob("*.streams")):
        for top, point, count in stalls(path):
            module = module_file(top)
            if module:
                covered["cover", module][point] |= count > 0
    for (kind, module), reached in covered.items():
        for point in [point for point, hit in reached.items() if kind != "toggle" and not hit and excused(module, named(kind, module, point))]:
            del reached[point]
    return covered


def named(kind, module, point):
    """Returns the name of a cover point or line in the list of unreachable ones."""
    return f"{point[2]}: {texts(module)[int(point[0]) - 1]}" if kind == "line" else point


def excused(module, point):
    """Whether a cover point or line is listed as unreachable."""
    return any(fnmatch.fnmatch(module, modules) and fnmatch.fnmatch(point, points) for modules, points in UNREACHABLE)


def unreached(covered):
    """Yields the cover points, as module and point, that no run reached although it could."""
    points = ((module, point, hit) for (kind, module), points in covered.items() if kind == "cover" for point, hit in points.items())
    return sorted((module, point) for module, point, hit in points if not hit)


TEXT = """# Coverage of the hardware

Written by `make coverage` (synth/coverage.py) from the tests of {packages}, simulated by {verilator}.
A share counts covered points of all points. A line counts as covered if any instance in any model runs it{bits}.
Verilator has a point for each branch and each block of statements, not for each line of text, and none
for continuous assignments, which make up most of the hardware. Cover points are the states of state
machines (`rtl/tests/cover`) and, for every stream that a bench drives, a cycle with valid and no ready,
one with ready and no valid, and two back-to-back transfers. Functions are excluded, because here they
all compute parameters before the simulation begins. Devices are at most {width} bits wide: wider ones
repeat the same lines, and their tests are excluded.

{table}
{reasons}"""

# The page's text about toggled bits, if they are counted.
TOGGLED = ", a bit\nof a signal of at most 64 as toggled if it ever changes"

# The width to which build scripts narrow wide designs, for the text.
WIDTH = 128


def run_tests(systems, toggles, directory):
    """Runs the tests of systems, each a package and a feature, with models that count coverage."""
    packages = sorted({package for package, _ in systems})
    command = ["cargo", "test", "--quiet", "--no-fail-fast", *(word for package in packages for word in ("--package", package))]
    command += ["--no-default-features", "--features", ",".join("/".join(system) for system in systems)]
    # Skips wide devices, and tests of parameters, which simulate nothing.
    command += ["--", *(word for name in ("wide_", "1024", "2048", "parameters") for word in ("--skip", name))]
    environment = {"HEARITH_SHORT": "1", **os.environ, "HEARITH_RTL_COVERAGE": directory}
    if toggles:
        # Without C++ optimisation: compiling would cost far more than the simulations gain.
        environment = {"HEARITH_OPTIMISATION": "0", "HEARITH_RTL_TOGGLES": "1", **environment}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


# Kinds of points, and the headings of their columns.
NAMES = {"line": "lines", "toggle": "toggled bits", "cover": "cover points"}


def share(reached):
    """Returns the share of points that is reached, and the number of points."""
    return f"{100 * sum(reached) / len(reached):.1f} % of {len(reached)}" if reached else "-"


def table(covered):
    """Returns the page's table, without toggled bits if none were counted."""
    kinds = [kind for kind in NAMES if any(kind == counted for counted, _ in covered)]
    rows, totals = [], {kind: [] for kind in kinds}
    for module in sorted({module for _, module in covered}):
        reached = {kind: list(covered.get((kind, module), {}).values()) for kind in kinds}
        for kind in kinds:
            totals[kind] += reached[kind]
        rows.append(f"| {module} | {' | '.join(share(reached[kind]) for kind in kinds)} |")
    rows.append(f"| **all** | {' | '.join(share(totals[kind]) for kind in kinds)} |")
    head = " | ".join(NAMES[kind] for kind in kinds)
    return "\n".join([f"| module | {head} |", "|---" * (1 + len(kinds)) + "|", *rows])


def complaints(covered):
    """Returns the reasons why the run does not pass."""
    lines = [hit for (kind, _), points in covered.items() if kind == "line" for hit in points.values()]
    reached = 100 * sum(lines) / len(lines) if lines else 0.0
    if reached < LEAST:
        yield f"{reached:.1f} % of the {len(lines)} lines, less than {LEAST} %"
    for module, point in unreached(covered):
        yield f"never reached in {module}: {point}"


def main():
    every = {f"{package}/{feature}": (package, feature) for package, features in PACKAGES.items() for feature in features}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="DIR", help="keep the files of the run in this folder")
    parser.add_argument("--read", action="store_true", help="run nothing; read the files in the folder")
    parser.add_argument("--toggles", action="store_true", help="also count toggled bits")
    parser.add_argument("--system", action="append", choices=every, help="run the tests of this system (default: all)")
    arguments = parser.parse_args()
    if arguments.read and not arguments.keep:
        parser.error("--read needs --keep")
    systems = [every[name] for name in arguments.system or every]
    with tempfile.TemporaryDirectory() as directory:
        if arguments.keep:
            directory = os.path.abspath(arguments.keep)
            os.makedirs(directory, exist_ok=True)
        if not arguments.read:
            run_tests(systems, arguments.toggles, directory)
        covered = collect(directory)
    version = " ".join(subprocess.run(["verilator", "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()[:2])
    page = ROOT / "bench" / "results" / "coverage.md"
    reasons = "".join(f"\nExcluded in `{module}`: `{point}`. {why}\n" for (module, point), why in sorted(UNREACHABLE.items()))
    toggled = TOGGLED if any(kind == "toggle" for kind, _ in covered) else ""
    text = TEXT.format(verilator=version, packages=" and ".join(PACKAGES), bits=toggled, width=WIDTH, table=table(covered), reasons=reasons)
    page.write_text(text)
    print(table(covered))
    found = list(complaints(covered))
    if found:
        sys.exit("coverage: " + "\ncoverage: ".join(found))


if __name__ == "__main__":
    main()
