#!/usr/bin/env python3
"""Compares two builds of a release, file by file. Usage: compare.py FOLDER OTHER [--only NAME]...

Prints each file's SHA-256 and whether both builds have it. Status 1 if a file differs or only one
build has it. Signatures and files that list all files are left out, because they differ with the
keys or the set of files.
"""

import argparse
import fnmatch
import sys
from pathlib import Path

from provenance import NOT_SUBJECTS, sha256


def digests(folder, patterns):
    """Returns the digests of a folder's files, by name."""
    names = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in NOT_SUBJECTS]
    return {
        path.name: sha256(path)
        for path in names
        if not patterns or any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)
    }


def compare(first, second):
    """Returns one line per file, and the number of files that differ."""
    lines, different = [], 0
    for name in sorted(first.keys() | second.keys()):
        if name not in first or name not in second:
            lines.append(f"ONLY IN {'THE SECOND' if name not in first else 'THE FIRST'}  {name}")
        elif first[name] != second[name]:
            lines.append(f"DIFFERENT  {name}: {first[name]} and {second[name]}")
        else:
            lines.append(f"equal  {first[name]}  {name}")
        different += not lines[-1].startswith("equal")
    return lines, different


def main():
    """Compares two folders."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs=2)
    parser.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="compare only files that match PATTERN"
    )
    arguments = parser.parse_args()
    lines, different = compare(*(digests(folder, arguments.only) for folder in arguments.folder))
    if not lines:
        sys.exit("compare: there are no files to compare")
    print("\n".join(lines))
    if different:
        sys.exit(f"compare: {different} of {len(lines)} files differ between the two builds")
    print(f"compare: all {len(lines)} files are the same in both builds")


if __name__ == "__main__":
    main()
