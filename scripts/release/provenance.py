#!/usr/bin/env python3
"""Writes the provenance of a release's files: an in-toto statement with a SLSA v1 predicate.

Usage: provenance.py FOLDER [--check] [--notes FILE [--again PART...]] [--toolchains FILE...]
       provenance.py --commit

--notes names release.sh's notes on the parts in FOLDER: a part that was built from another commit
is a fault, unless it is built --again. --check only looks for faults; --commit prints the commit,
with a remark if the sources differ from it.

The subjects are the files in FOLDER with their SHA-256, except checksums, signatures and the
statement itself. The statement contains no time, so the same sources, tools and files give the same
bytes. HEARITH_BUILDER names the builder (a URI); by default it is this repository's script, on a
machine that nobody vouches for.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/hearith/hearith"
BUILD_TYPE = f"{REPOSITORY}/blob/main/docs/how-to/releases.md#provenance"
BUILDER = f"{REPOSITORY}/blob/main/scripts/release.sh"
#: The statement itself, and files made after it.
NOT_SUBJECTS = ("SHA256SUMS", "SHA256SUMS.minisig", "provenance.intoto.json")
#: Files that pin every dependency: crates, Python's build tools, Yosys, packages of the pages.
LOCKS = (
    "Cargo.lock",
    "crates/python/requirements-wheel.txt",
    "crates/python/requirements.txt",
    "synth/requirements.txt",
    "web/package-lock.json",
)
#: The targets of parts, as in `triple_of` of common.sh, without the part's kind in front.
TRIPLES = {
    "linux-x86_64": "x86_64-unknown-linux-gnu",
    "amd64": "x86_64-unknown-linux-gnu",
    "linux-aarch64": "aarch64-unknown-linux-gnu",
    "arm64": "aarch64-unknown-linux-gnu",
    "musl-x86_64": "x86_64-unknown-linux-musl",
    "musl-aarch64": "aarch64-unknown-linux-musl",
    "macos-x86_64": "x86_64-apple-darwin",
    "macos-aarch64": "aarch64-apple-darwin",
    "windows-x86_64": "x86_64-pc-windows-gnu",
}


def sha256(path):
    """Returns a file's digest."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def subjects(folder):
    """Returns the files of a release, each with its digest."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in NOT_SUBJECTS)
    return [{"name": path.name, "digest": {"sha256": sha256(path)}} for path in paths]


def git(*arguments):
    """Returns git's output about the sources."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def compiled(built):
    """Returns the targets that parts were compiled for."""
    names = {part.removeprefix("wheel-").removeprefix("deb-") for part in built}
    return {TRIPLES[name] for name in names if name in TRIPLES}


def compilers(toolchains, built):
    """Returns target, origin of the standard library and compiler, as noted by a build, for the
    targets of the parts that were built.
    """
    for path in sorted(toolchains):
        for line in path.read_text().splitlines():
            triple, kind, compiler = line.split("\t")
            if triple in compiled(built):
                yield triple, kind, compiler


def tools(toolchains, built):
    """Returns the compilers and packagers: each target's notes from the build, and the Python
    packages that link and pack.
    """
    for triple, kind, compiler in compilers(toolchains, built):
        yield {"name": f"rustc for {triple}", "annotations": {"version": compiler, "standardLibrary": kind}}
    for package in ("cargo-zigbuild", "maturin", "ziglang"):
        try:
            yield {"name": package, "annotations": {"version": metadata.version(package)}}
        except metadata.PackageNotFoundError:
            continue


def statement(folder, toolchains=(), built=()):
    """Returns the statement about a release with these parts."""
    source = {"uri": f"git+{REPOSITORY}", "digest": {"gitCommit": git("rev-parse", "HEAD")}}
    locks = [{"name": name, "digest": {"sha256": sha256(ROOT / name)}} for name in LOCKS]
    internal = {"sourceDateEpoch": int(os.environ.get("SOURCE_DATE_EPOCH", "0"))}
    if source_commit() != git("rev-parse", "HEAD"):
        internal["sourcesChanged"] = True
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects(folder),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"source": source["uri"], "command": "make release"},
                "internalParameters": internal,
                "resolvedDependencies": [source, *locks, *tools(toolchains, built)],
            },
            "runDetails": {"builder": {"id": os.environ.get("HEARITH_BUILDER", BUILDER)}},
        },
    }


def source_commit():
    """Returns the commit, with a remark if the sources differ from it.

    New files that git does not ignore differ too, because tools read or pack some of them. Results
    of measurements do not count as sources.
    """
    changes = git("status", "--porcelain", "--untracked-files=normal", "--", ".", ":!bench/results")
    return git("rev-parse", "HEAD") + (" with changes" if changes else "")


def parts(notes):
    """Returns the notes of release.sh: part, commit and test, in build order."""
    lines = notes.read_text(encoding="utf-8").splitlines() if notes and notes.is_file() else []
    return [tuple(line.split("\t")) for line in lines]


def check_sources(built):
    """Fails if the sources, or those that a part was built from, differ from the commit that the
    statement would name.
    """
    commit = git("rev-parse", "HEAD")
    faults = [f"{part} was built from {other}; build it again" for part, other, _ in built if other != commit]
    if source_commit() != commit:
        faults.insert(0, "the sources differ from the commit")
    if faults and os.environ.get("HEARITH_RELEASE_DIRTY") != "1":
        sys.exit("".join(f"provenance: {fault}\n" for fault in faults) + "set HEARITH_RELEASE_DIRTY=1 for a trial")
    for fault in faults:
        print(f"provenance: {fault}: for a trial only", file=sys.stderr)


def main():
    """Writes the statement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true", help="only check that the sources are those of the commit")
    parser.add_argument("--commit", action="store_true", help="only print the commit of the sources")
    parser.add_argument("--notes", type=Path, help="file with the built parts and their commits")
    parser.add_argument("--again", nargs="*", default=[], metavar="PART", help="parts that will be replaced")
    parser.add_argument("--toolchains", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    if arguments.commit:
        print(source_commit())
        return
    if arguments.folder is None:
        parser.error("name the release's folder")
    notes = parts(arguments.notes)
    check_sources([note for note in notes if note[0] not in arguments.again])
    if arguments.check:
        return
    content = statement(arguments.folder, arguments.toolchains, [part for part, _, _ in notes])
    if not content["subject"]:
        sys.exit(f"provenance: {arguments.folder} contains no files")
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (arguments.folder / "provenance.intoto.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
