#!/usr/bin/env python3
"""Checks that a Linux program or library needs only its C library, of an old enough release.

Usage: check_elf.py --glibc 2.28 FILE...
       check_elf.py --musl [--exports LIBC] FILE...

With --glibc, every undefined dynamic symbol of FILE must be glibc's, of that release or an earlier
one, or unversioned and weak, and FILE may name only glibc's own libraries. With --musl, FILE may
name only musl's library, and with --exports (a copy of the library) that library must contain every
symbol. --python also accepts the functions of Python's stable ABI, which the process that loads an
extension module provides. Needs binutils (readelf), which reads files for every processor. Prints
one line for each file and each fault; exits with status 1 if there is a fault.
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
#: Prefixes of Python's C API.
PYTHON = re.compile(r"_?Py[A-Z_]")
#: Unversioned weak symbols that may stay undefined: start-up hooks of compilers.
HOOKS = {
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__gmon_start__",
    "__cxa_finalize",
    "__register_frame_info",
    "__deregister_frame_info",
}


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


def glibc_faults(path, newest, python):
    """Yields what a file needs beyond this release of glibc."""
    for library in needed(path):
        if not GLIBC.match(library):
            yield f"needs {library}, which is not part of glibc"
    for name, version, weak, defined in symbols(path):
        if defined or (python and PYTHON.match(name)):
            continue
        if version is None and not weak and name not in HOOKS:
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
        if defined or (python and PYTHON.match(name)):
            continue
        if version is not None:
            yield f"needs {name}@{version}: musl's symbols have no versions"
        elif not weak and exports is not None and name not in exports:
            yield f"needs {name}, which this musl does not have"


def check(path, arguments, exports):
    """Returns the faults of one file."""
    if arguments.glibc:
        return list(glibc_faults(path, arguments.glibc, arguments.python))
    return list(musl_faults(path, exports, arguments.python))


def main():
    """Checks files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    library = parser.add_mutually_exclusive_group(required=True)
    library.add_argument("--glibc", metavar="RELEASE")
    library.add_argument("--musl", action="store_true")
    parser.add_argument("--exports", type=Path, metavar="LIBC", help="musl's library, whose symbols the file may need")
    parser.add_argument(
        "--python", action="store_true", help="an extension module, whose process provides Python's functions"
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
