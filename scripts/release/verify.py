#!/usr/bin/env python3
"""Verifies a release: checksums, provenance statement and signature.

Every file must be in SHA256SUMS with its digest, the provenance statement must name the same files,
and the signature must hold.

Usage: verify.py FOLDER [--key KEY]. KEY is minisign's public key, a file or the line of text in it.
Without it no signature is verified, and the output says so. One line for each fault; status 1 if
there is one.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from provenance import NOT_SUBJECTS, sha256

SUMS, SIGNATURE, STATEMENT = NOT_SUBJECTS


def listed(folder):
    """Returns the digests in the list of checksums, by name."""
    digests = {}
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})  ([^/\s]+)", line)
        if not match:
            raise SystemExit(f"verify: {SUMS}: invalid line: {line!r}")
        if match[2] in digests:
            raise SystemExit(f"verify: {SUMS}: names {match[2]} twice")
        digests[match[2]] = match[1]
    return digests


def checksum_faults(folder, digests):
    """Yields files whose digest differs, that are missing, or that are not in the list."""
    for name, digest in digests.items():
        if not (folder / name).is_file():
            yield f"{name}: is listed in {SUMS} but missing"
        elif sha256(folder / name) != digest:
            yield f"{name}: differs from the released file"
    for path in sorted(folder.iterdir()):
        if path.name not in digests and path.name not in (SUMS, SIGNATURE):
            yield f"{path.name}: is not listed in {SUMS}"


def statement_faults(folder, digests):
    """Yields subjects of the provenance statement that differ from the files in the list."""
    statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
    named = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    for name, digest in named.items():
        if digests.get(name) != digest:
            yield f"{STATEMENT}: names another {name} than {SUMS}"
    for name in sorted(digests.keys() - named.keys() - {STATEMENT}):
        yield f"{STATEMENT}: does not name {name}"


def signature_faults(folder, key):
    """Yields the faults that minisign finds."""
    option = ["-p", key] if Path(key).is_file() else ["-P", key]
    command = ["minisign", "-V", "-q", *option, "-m", str(folder / SUMS), "-x", str(folder / SIGNATURE)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        yield f"{SIGNATURE}: the signature was not verified: minisign is not installed"
        return
    if result.returncode:
        yield f"{SIGNATURE}: the signature is invalid: {(result.stderr or result.stdout).strip()}"


def main():
    """Verifies a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", help="minisign public key, as a file or its text")
    arguments = parser.parse_args()
    folder = arguments.folder
    for name in (SUMS, STATEMENT):
        if not (folder / name).is_file():
            sys.exit(f"verify: {folder / name} is missing")
    digests = listed(folder)
    faults = [*checksum_faults(folder, digests), *statement_faults(folder, digests)]
    if arguments.key is not None:
        faults += signature_faults(folder, arguments.key)
    for fault in faults:
        print(f"verify: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    signed = "the signature is valid" if arguments.key is not None else "no signature was verified (--key)"
    print(f"verify: {len(digests)} files match the release; {signed}")


if __name__ == "__main__":
    main()
