#!/usr/bin/env python3
"""Writes bench/results/release.md: the files of dist/release, their tests, and what was left out.

The page lists sizes and hashes of the files, how each part was tested, and the parts that were left
out.

Usage: report.py [FILE]. Reads the notes of the last runs of scripts/release.sh and
scripts/release/twice.sh.
"""

import os
import subprocess
import sys
from pathlib import Path

import by_crate
from provenance import NOT_SUBJECTS, compiled, compilers, parts, sha256

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("HEARITH_RELEASE_OUT", ROOT / "dist/release"))
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release-work"


def megabytes(path):
    """Returns a size in millions of bytes."""
    return f"{path.stat().st_size / 1e6:.2f}"


def table(head, lines):
    """Returns a table in Markdown with right-aligned numbers."""
    if not lines:
        return "None in this release."
    rule = ["---:" if title in ("MB", "stripped, MB", "debug, MB") else "---" for title in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *lines])


def file_row(path, twice):
    """Returns a file's row: its name, size, digest, and the result of a second build."""
    digest = sha256(path)
    return [path.name, megabytes(path), digest, second(path.name, digest, twice)]


def programs(triples):
    """Returns the programs' sizes, stripped and with their debug information apart."""
    for path in (WORK / triple / "program/hearith" for triple in sorted(triples)):
        debug = path.with_name("hearith.debug")
        yield [path.parts[-3], megabytes(path), megabytes(debug) if debug.is_file() else "in it"]


def second(name, digest, twice):
    """Returns the result of the second build for a file with this digest.

    Notes about an earlier build of it do not count.
    """
    for line in twice:
        state, *rest = line.split("  ")
        if state == "equal" and rest == [digest, name]:
            return "equal"
        if state == "DIFFERENT" and rest[0].startswith(f"{name}: {digest} and "):
            return "DIFFERENT"
    return "not built twice"


def contents(triples, count=25):
    """Returns the composition of the program for this machine: its largest crates, and the rest of
    the file.
    """
    triple = f"{os.uname().machine}-unknown-linux-gnu"
    program = WORK / triple / "program/hearith"
    if triple not in triples:
        return []
    total = by_crate.sizes(program.with_name("hearith.debug"))
    lines = [[name, f"{size / 1e6:.2f}"] for name, size in total.most_common(count)]
    others = sum(total.values()) - sum(size for _, size in total.most_common(count))
    rest = program.stat().st_size - sum(total.values())
    return [
        *lines,
        [f"{max(len(total) - count, 0)} other crates", f"{others / 1e6:.2f}"],
        ["constants without names, unwinding tables, relocations", f"{rest / 1e6:.2f}"],
    ]


def absent(tested):
    """Returns the parts that were not built, each with the reason."""
    release = [ROOT / "scripts/release.sh"]
    parts = subprocess.run([*release, "--list"], check=True, capture_output=True, text=True).stdout.split()
    missing = subprocess.run([*release, "--missing"], check=True, capture_output=True, text=True).stdout
    reasons = dict(line.split("\t") for line in missing.splitlines())
    return [[part, reasons.get(part, "not built in this run")] for part in parts if part not in tested]


def main():
    """Writes the page.

    It uses the commit of the release, which may differ from the one checked out now.
    """
    note = WORK / "twice.txt"
    twice = note.read_text(encoding="utf-8").splitlines() if note.is_file() else []
    files = sorted(path for path in OUT.iterdir() if path.is_file() and path.name not in NOT_SUBJECTS)
    notes = parts(WORK / "tested.tsv")
    commits = {commit: [part for part, other, _ in notes if other == commit] for _, commit, _ in notes}
    if len(commits) != 1:
        states = "; ".join(f"{', '.join(names)} from {commit}" for commit, names in commits.items())
        sys.exit(f"report: all parts of a release must come from one commit; there are {states or 'no parts'}")
    tested = {part: text for part, _, text in notes}
    triples = compiled(part for part in tested if not part.startswith("wheel-"))
    toolchains = [list(row) for row in compilers(WORK.glob("*.toolchain"), tested)]
    text = f"""# Files of a release

Written by `scripts/release/report.py` after `scripts/release.sh`, commit {", ".join(commits)}.
[docs/how-to/releases.md](../../docs/how-to/releases.md) describes the files and the checks.

## Files

`second build` compares with a build of the same commit in another folder (`make release-twice`).

{table(["file", "MB", "SHA-256", "second build"], [file_row(path, twice) for path in files])}

## Programs

{table(["target", "stripped, MB", "debug, MB"], list(programs(triples)))}

## Composition of the program

The program for this machine, by `scripts/release/by_crate.py`.

{table(["crate", "MB"], contents(triples))}

## Compilers

{table(["target", "standard library", "compiler"], toolchains)}

## Tests

{table(["part", "test"], [[part, text] for part, text in tested.items()])}

## Parts not built

{table(["part", "reason"], absent(tested))}
"""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bench/results/release.md"
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
