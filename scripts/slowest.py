#!/usr/bin/env python3
"""Prints the ten slowest crates, hardware models and test programs since the last clean build.

Usage: slowest.py [--count N] [TARGET]

Models come from the `models.tsv` of build scripts (crates/verilated). Test programs come from
`tests.tsv` and crates from cargo's timing reports, both written by scripts/run_tests.py. TARGET is
cargo's target directory.
"""

import argparse
import json
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def models(target):
    """Returns seconds and description of every compiled model; models from the cache took no time.

    A later build replaces an earlier one.
    """
    seconds = {}
    for file in sorted(target.glob("*/build/*/out/models.tsv"), key=lambda path: path.stat().st_mtime):
        crate = file.parents[1].name.rpartition("-")[0]
        for line in file.read_text().splitlines():
            name, level, verilated, compiled = line.split("\t")
            took = float(verilated) + float(compiled)
            if took > 0:
                seconds[f"{crate} {name} (-O{level}; Verilator {verilated} s, C++ {compiled} s)"] = took
    return [(took, name) for name, took in seconds.items()]


def programs(target):
    """Returns seconds and name of every test program, from its longest run."""
    seconds = {}
    log = target / "tests.tsv"
    for line in log.read_text().splitlines() if log.exists() else ():
        took, package, name = line.split("\t")
        key = f"{package} {name}"
        seconds[key] = max(float(took), seconds.get(key, 0))
    return [(took, name) for name, took in seconds.items()]


def crates(target):
    """Returns seconds and name of every compiled crate, from its longest compilation."""
    seconds = {}
    for report in (target / "cargo-timings").glob("cargo-timing-*.html"):
        units = json.loads(re.search(r"UNIT_DATA = (\[.*?\]);", report.read_text(), re.DOTALL).group(1))
        for unit in units:
            name = f"{unit['name']}{unit['target']}"
            seconds[name] = max(unit["duration"], seconds.get(name, 0))
    return [(took, name) for name, took in seconds.items()]


def listed(title, entries, count):
    """Returns the longest entries as text, or nothing if there are none."""
    if not entries:
        return ""
    lines = [f"  {seconds:7.1f} s  {name}" for seconds, name in sorted(entries, reverse=True)[:count]]
    total = sum(seconds for seconds, _ in entries)
    return "\n".join([f"slowest {title} ({len(entries)}, {total:.0f} s in all):", *lines, ""])


def main():
    """Prints the three lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument(
        "target", nargs="?", type=Path, default=Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    )
    options = parser.parse_args()
    for title, find in (("crates", crates), ("models", models), ("test programs", programs)):
        print(listed(title, find(options.target), options.count), end="")


if __name__ == "__main__":
    main()
