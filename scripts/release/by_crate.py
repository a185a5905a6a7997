#!/usr/bin/env python3
"""Sums the sizes of a program's symbols by crate.

Usage: by_crate.py FILE [--top 25]. FILE has symbols: the program before it is stripped, or its
debug information. A function of the standard library counts for the first other crate in its name,
for whose types it was compiled. Most names of generic functions mention no other crate, and count
for `std`. C code has no crates: its symbols are `C and assembly`.
"""

import argparse
import re
import subprocess
from collections import Counter
from pathlib import Path

STANDARD = {"core", "alloc", "std", "hashbrown", "compiler_builtins", "__rustc"}
#: The root of a path in Rust's mangling (v0): a crate, its disambiguator, its name. A `_` precedes
#: a name that begins with a digit or `_`.
CRATE = re.compile(r"C(?:s[0-9A-Za-z]*_)?(\d+)_?")
#: The root of a path in source form.
ROOT = re.compile(r"(?<![:\w])([a-z_]\w*)::")


def crates(symbol):
    """Returns the crates that a mangled name mentions, in order; none for a symbol of C."""
    if symbol.startswith("_ZN"):
        return ROOT.findall(legacy(symbol))
    found = []
    for match in CRATE.finditer(symbol if symbol.startswith("_R") else ""):
        name = symbol[match.end() : match.end() + int(match[1])]
        if len(name) == int(match[1]) and re.fullmatch(r"[A-Za-z_]\w*", name):
            found.append(name)
    return found


def legacy(symbol):
    """Decodes the path in a name of the mangling before v0: lengths and parts, in which `$LT$` and
    the like are punctuation.
    """
    parts, rest = [], symbol[3:]
    while match := re.match(r"\d+", rest):
        end = match.end() + int(match[0])
        parts.append(rest[match.end() : end])
        rest = rest[end:]
    return re.sub(r"\$\w+\$", " ", "::".join(parts)).replace("..", "::")


def owner(symbol):
    """Returns the crate that a symbol counts for."""
    named = crates(symbol)
    if not named:
        return "C and assembly"
    return next((name for name in named if name not in STANDARD), "std")


def sizes(path):
    """Returns the bytes of code and constants by crate."""
    output = subprocess.run(["nm", "--print-size", str(path)], check=True, capture_output=True, text=True).stdout
    seen, total = set(), Counter()
    for line in output.splitlines():
        fields = line.split(maxsplit=3)
        # Equal functions share an address and count once; zeroed memory (b) uses no space in the
        # file.
        if len(fields) == 4 and fields[2].lower() in "twrdv" and fields[0] not in seen:
            seen.add(fields[0])
            total[owner(fields[3])] += int(fields[1], 16)
    return total


def main():
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--top", type=int, default=25)
    arguments = parser.parse_args()
    total = sizes(arguments.file)
    for name, size in total.most_common(arguments.top):
        print(f"{size / 1e6:8.2f}  {name}")
    print(f"{sum(total.values()) / 1e6:8.2f}  all symbols")


if __name__ == "__main__":
    main()
