#!/usr/bin/env python3
"""Runs clippy over `hearith` with every choice of its optional parts. Usage: lint_parts.py

The program without parts is checked with only its own dependencies' features, as `make demo`
builds it. The other choices are checked with the features that the whole workspace enables in its
dependencies. These are already compiled, so a choice costs seconds instead of minutes.
"""

import itertools
import json
import subprocess
import sys

# All parts together are checked with the workspace.
PARTS = ("dghv", "election", "service")

# Crates that enable parts, here or in `hearith-device`.
LEFT_OUT = {"hearith-device", "hearith-rtl", "hearith-simulated"}

# Checked without its own features: fuzz targets that need no tables must compile alone.
BARE = {"hearith-fuzz"}

CLIPPY = ["cargo", "clippy", "--quiet", "--no-default-features"]
DENY = ["--", "--deny", "warnings"]


def choices():
    """Returns every choice of parts except none and all."""
    return itertools.chain.from_iterable(itertools.combinations(PARTS, count) for count in range(1, len(PARTS)))


def packages():
    """Returns the names of the workspace's packages with the features of each."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return {package["name"]: sorted(package["features"]) for package in json.loads(output)["packages"]}


def arguments(parts, features):
    """Returns the arguments that check `hearith` with these parts and the workspace's features of
    dependencies.

    A test target is included because the dependencies of tests have features, too.
    """
    beside = [name for name in features if name not in LEFT_OUT and name != "hearith"]
    chosen = [f"hearith/{part}" for part in parts]
    for name in beside:
        chosen += [f"{name}/{feature}" for feature in features[name] if name not in BARE and feature != "default"]
    names = [argument for name in ["hearith", *beside] for argument in ("--package", name)]
    return [*names, "--features", ",".join(chosen), "--lib", "--bins", "--test", "columns"]


def main():
    """Ends with status 1 at the first choice that clippy rejects."""
    alone = ["--package", "hearith", "--lib", "--bins"]
    features = packages()
    for parts, chosen in [((), alone), *((parts, arguments(parts, features)) for parts in choices())]:
        if subprocess.run([*CLIPPY, *chosen, *DENY], check=False).returncode:
            sys.exit(f"lint: clippy rejects hearith with {' and '.join(parts) if parts else 'no'} parts")


if __name__ == "__main__":
    main()
