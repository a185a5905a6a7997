#!/usr/bin/env python3
"""Checks that a Linux program or library needs only its C library, of an old enough release.

Usage: check_elf.py --glibc 2.28 [--python 3.11] FILE...
       check_elf.py --musl [--exports LIBC] [--python 3.11] FILE...

With --glibc, every undefined dynamic symbol of FILE must be glibc's, of that release or an earlier
one, or unversioned and weak, and FILE may name only glibc's own libraries. With --musl, FILE may
name only musl's library, and with --exports (a copy of the library) that library must contain every
symbol. --python also accepts the symbols of Python's stable ABI up to that version, which the
process that loads an extension module provides. FILE must be a program or a library, use the
system's loader, and name no folder for libraries. Needs binutils (readelf), which reads files for
every processor. Prints one line for each file and each fault; exits with status 1 if there is a
fault.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

#: The libraries of glibc; the name of the loader contains the processor.
GLIBC = re.compile(
    r"(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|libutil\.so\.1|ld-linux-\S+\.so\.\d)$"
)
#: Musl's only library, by the names that linkers write for it.
MUSL = re.compile(r"(libc\.so|libc\.musl-\w+\.so\.1|ld-musl-\w+\.so\.1)$")
#: The system's loaders.
LOADER = re.compile(r"/lib(64)?/ld-(linux-\S+\.so\.\d|musl-\w+\.so\.1)$")


def readelf(*arguments):
    """Returns the output of readelf."""
    command = ["readelf", "--wide", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"})
    if result.returncode or "Error:" in result.stderr:
        raise SystemExit(f"check_elf: {arguments[-1]}: not an ELF file: {result.stderr.strip()}")
    return result.stdout


def needed(path):
    """Returns the libraries that a file names."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", readelf("--dynamic", str(path)))


def symbols(path):
    """Yields every dynamic symbol: its name, version (or None), whether it is weak, and whether
    FILE defines it.
    """
    for line in readelf("--dyn-syms", str(path)).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit() and fields[4] in ("GLOBAL", "WEAK", "UNIQUE"):
            name, _, version = fields[7].partition("@")
            yield name, version.lstrip("@") or None, fields[4] == "WEAK", fields[6] != "UND"


def versions(path):
    """Returns the versions that a file requires of other libraries, including those without symbols
    (GLIBC_ABI_DT_RELR).
    """
    needs = readelf("--version-info", str(path)).partition("Version needs section")[2]
    return re.findall(r"Name: (\S+)\s+Flags:", needs)


def numbers(version):
    """Converts a release to numbers, which can be compared."""
    return tuple(int(part) for part in version.split("."))


def form_faults(path):
    """Yields what makes a file depend on more than the system's loader and library folders."""
    kind = re.search(r"^\s*Type:\s+(\w+)", readelf("--file-header", str(path)), re.MULTILINE)[1]
    if kind not in ("DYN", "EXEC"):
        yield f"is of type {kind}, neither a program nor a library"
    loader = re.search(r"Requesting program interpreter: (.*?)\]", readelf("--program-headers", str(path)))
    if loader and not LOADER.match(loader[1]):
        yield f"needs the loader {loader[1]}"
    for tag, value in re.findall(r"\((RPATH|RUNPATH|RELR)\)\s+(.*)", readelf("--dynamic", str(path))):
        yield f"has {tag} {value}, which not every system honours"


def glibc_faults(path, newest, python):
    """Yields what a file needs beyond this release of glibc."""
    for library in needed(path):
        if not GLIBC.match(library):
            yield f"needs {library}, which is not part of glibc"
    for name, version, weak, defined in symbols(path):
        if defined or name in python:
            continue
        if version is None and not weak:
            yield f"needs {name}, which has no symbol version, so no library guarantees it"
        elif version is not None and too_new(version, newest):
            yield f"needs {name}@{version}, which glibc {newest} does not have"
    for version in versions(path):
        if too_new(version, newest):
            yield f"needs version {version}, which glibc {newest} does not have"


def too_new(version, newest):
    """Whether a version is not a public glibc version up to a release."""
    release = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version)
    return release is None or numbers(release[1]) > numbers(newest)


def musl_faults(path, exports, python):
    """Yields what a file needs beyond musl."""
    for library in needed(path):
        if not MUSL.match(library):
            yield f"needs {library}, which is not musl's"
    for name, version, weak, defined in symbols(path):
        if defined or name in python:
            continue
        if version is not None:
            yield f"needs {name}@{version}: musl's symbols have no versions"
        elif not weak and exports is not None and name not in exports:
            yield f"needs {name}, which this musl does not have"


def stable_abi(version):
    """Returns the symbols of Python's stable ABI up to a version."""
    import abi3info  # from scripts/requirements.txt, for extension modules only

    newest = abi3info.models.PyVersion(*numbers(version))
    symbols = {**abi3info.FUNCTIONS, **abi3info.DATAS}
    return frozenset(symbol.name for symbol, one in symbols.items() if one.added <= newest)


def check(path, arguments, exports):
    """Returns the faults of one file."""
    python = stable_abi(arguments.python) if arguments.python else frozenset()
    if arguments.glibc:
        return [*form_faults(path), *glibc_faults(path, arguments.glibc, python)]
    return [*form_faults(path), *musl_faults(path, exports, python)]


def main():
    """Checks files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    library = parser.add_mutually_exclusive_group(required=True)
    library.add_argument("--glibc", metavar="RELEASE")
    library.add_argument("--musl", action="store_true")
    parser.add_argument("--exports", type=Path, metavar="LIBC", help="musl's library, whose symbols the file may need")
    parser.add_argument(
        "--python", metavar="VERSION", help="an extension module, whose process provides Python's stable ABI"
    )
    parser.add_argument("file", type=Path, nargs="+")
    arguments = parser.parse_args()
    exports = {name for name, _, _, defined in symbols(arguments.exports) if defined} if arguments.exports else None
    failed = False
    for path in arguments.file:
        faults = check(path, arguments, exports)
        for fault in faults:
            print(f"{path}: {fault}", file=sys.stderr)
        if not faults:
            releases = (
                [numbers(version.removeprefix("GLIBC_")) for version in versions(path)] if arguments.glibc else []
            )
            newest = f", symbols of glibc up to {'.'.join(map(str, max(releases)))}" if releases else ""
            print(f"{path}: needs {', '.join(needed(path)) or 'no library'}{newest}")
        failed |= bool(faults)
    sys.exit(failed)


if __name__ == "__main__":
    main()
