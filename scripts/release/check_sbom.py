#!/usr/bin/env python3
"""Checks that a list of dependencies contains every crate whose code is in the program, except
those that the standard library also contains (COMPILER): names cannot tell their copies apart.

Usage: check_sbom.py --target TRIPLE LIST FILE. LIST is the program's *.cdx.json, FILE its debug
information, which names its functions. Crates come from the functions' names, not from cargo, which
produced the list. One line for each fault; status 1 if there is one.
"""

import argparse
import json
import sys
from pathlib import Path

import by_crate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import sbom

#: C, and the crates of the standard library and its dependencies, which come with the compiler.
COMPILER = by_crate.STANDARD | {
    "C and assembly",
    "addr2line",
    "adler2",
    "gimli",
    "libunwind",
    "miniz_oxide",
    "object",
    "panic_unwind",
    "rustc_demangle",
    "std_detect",
}


def libraries(document, packages):
    """Returns the names in code of the crates in a list: a package's library may have another name
    than the package.
    """
    listed = {
        (entry["name"], entry["version"]) for entry in [document["metadata"]["component"], *document["components"]]
    }
    return {
        target["name"].replace("-", "_")
        for package in packages
        if (package["name"], package["version"]) in listed
        for target in package["targets"]
    }


def main():
    """Compares a list with a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True, metavar="TRIPLE")
    parser.add_argument("list", type=Path)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    found = by_crate.sizes(arguments.file).keys() - COMPILER
    if not found:
        sys.exit(f"check_sbom: {arguments.file} does not name any crate")
    document = json.loads(arguments.list.read_text(encoding="utf-8"))
    unlisted = sorted(found - libraries(document, sbom.metadata(arguments.target)["packages"]))
    for crate in unlisted:
        print(f"check_sbom: {arguments.list.name}: {crate} is in the program but not in the list", file=sys.stderr)
    if unlisted:
        sys.exit(1)
    print(f"the list has all {len(found)} crates in the program's symbols")


if __name__ == "__main__":
    main()
