#!/usr/bin/env python3
"""Writes bench/results/release.md: the files of dist/release with sizes and hashes, how each part was tested, and what was left out.

Usage: report.py [FILE]. Reads what scripts/release.sh and scripts/release/twice.sh have noted of their last run.
"""

import os
import subprocess
import sys
from pathlib import Path

import by_crate
from provenance import NOT_SUBJECTS, sha256

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("HEARITH_RELEASE_OUT", ROOT / "dist/release"))
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release-work"


def rows(path):
    """The lines of a file of fields between tabs; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [line.split("\t") for line in lines if line]


def megabytes(path):
    """A size in millions of bytes."""
    return f"{path.stat().st_size / 1e6:.2f}"


def table(head, lines):
    """A table in Markdown, numbers to the right."""
    rule = ["---:" if title in ("MB", "stripped, MB", "debug, MB") else "---" for title in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *lines])


def programs():
    """The programs' sizes, stripped and with their debug information apart."""
    for path in sorted(WORK.glob("*/program/hearith")):
        debug = path.with_name("hearith.debug")
        yield [path.parts[-3], megabytes(path), megabytes(debug) if debug.is_file() else "in it"]


def second(name, twice):
    """What the second build of a file gave."""
    for line in twice:
        state, _, rest = line.partition("  ")
        if rest.split("  ")[-1].split(":")[0] == name:
            return "equal" if state == "equal" else "DIFFERENT"
    return "not built twice"


def contents(count=25):
    """What the program for this machine consists of: its largest crates, and the rest of the file."""
    program = WORK / f"{os.uname().machine}-unknown-linux-gnu/program/hearith"
    if not program.with_name("hearith.debug").is_file():
        return []
    total = by_crate.sizes(program.with_name("hearith.debug"))
    lines = [[name, f"{size / 1e6:.2f}"] for name, size in total.most_common(count)]
    others = sum(total.values()) - sum(size for _, size in total.most_common(count))
    rest = program.stat().st_size - sum(total.values())
    return [
        *lines,
        [f"{len(total) - count} other crates", f"{others / 1e6:.2f}"],
        ["constants without names, unwinding tables, relocations", f"{rest / 1e6:.2f}"],
    ]


def absent(tested):
    """The parts that were not built, each with the reason."""
    release = [ROOT / "scripts/release.sh"]
    parts = subprocess.run([*release, "--list"], check=True, capture_output=True, text=True).stdout.split()
    missing = subprocess.run([*release, "--missing"], check=True, capture_output=True, text=True).stdout
    reasons = dict(line.split("\t") for line in missing.splitlines())
    return [[part, reasons.get(part, "not built in this run")] for part in parts if part not in tested]


def main():
    """Writes the page."""
    note = WORK / "twice.txt"
    twice = note.read_text(encoding="utf-8").splitlines() if note.is_file() else []
    files = sorted(path for path in OUT.iterdir() if path.is_file() and path.name not in NOT_SUBJECTS)
    tested = dict(rows(WORK / "tested.tsv"))
    toolchains = [row for path in sorted(WORK.glob("*.toolchain")) for row in rows(path)]
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    text = f"""# Files of a release

Written by `scripts/release/report.py` after `scripts/release.sh`, commit {commit.stdout.strip()}.
[docs/releases.md](../../docs/releases.md) describes the files and the checks.

## Files

`second build` compares with a build of the same commit in another folder (`make release-twice`).

{table(["file", "MB", "SHA-256", "second build"], [[f.name, megabytes(f), sha256(f), second(f.name, twice)] for f in files])}

## Programs

{table(["target", "stripped, MB", "debug, MB"], list(programs()))}

## What the program consists of

The program for this machine, by `scripts/release/by_crate.py`.

{table(["crate", "MB"], contents())}

## Compilers

{table(["target", "standard library", "compiler"], toolchains)}

## Tests

{table(["part", "test"], [[part, text] for part, text in tested.items()])}

## Left out

{table(["part", "reason"], absent(tested))}
"""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bench/results/release.md"
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
