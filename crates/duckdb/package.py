#!/usr/bin/env python3
"""Builds the DuckDB extension: the library, followed by the description that DuckDB expects.

Usage: package.py [--library LIBRARY] [FILE]. FILE is the output, by default among the Python
package's sources, where the wheel includes it. Its name must be hearith.duckdb_extension, because
DuckDB derives the name of the entry point from it.

--library names an already built library. Otherwise this script builds it, with the cargo profile in
HEARITH_PROFILE (default: dist, that of releases). If HEARITH_GLIBC is set (for example 2.28), the
library runs with that release of glibc; this needs cargo-zigbuild.

The description has 512 bytes: eight fields of 32 bytes in reverse order, and space for a signature.
The signature is empty, so DuckDB needs the option allow_unsigned_extensions.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "hearith.duckdb_extension"
DEFAULT = ROOT / "crates/python/python/hearith" / NAME

MAGIC = "4"
# The version of the stable C API that the extension uses; the same as in extension.rs.
API_VERSION = "v1.5.6"
ABI = "C_STRUCT"
FIELD, FIELDS, SIGNATURE = 32, 8, 256

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def platform(target):
    """Returns DuckDB's name for the platform of a Rust target triple."""
    architecture, rest = target.split("-", 1)
    if architecture in ARCHITECTURES:
        name = ARCHITECTURES[architecture]
        if "linux" in rest:
            return f"linux_{name}" + ("_musl" if rest.endswith("musl") else "")
        if "darwin" in rest:
            return f"osx_{name}"
        if "windows" in rest:
            return f"windows_{name}"
    raise SystemExit(f"package.py: DuckDB has no name for the platform {target}")


def description(target, version):
    """Returns the description, which is appended to the library."""
    fields = [MAGIC, platform(target), API_VERSION, version, ABI]
    fields += [""] * (FIELDS - len(fields))
    return b"".join(field.encode().ljust(FIELD, b"\0") for field in reversed(fields)) + bytes(SIGNATURE)


def build():
    """Builds the library and returns its path."""
    profile = os.environ.get("HEARITH_PROFILE", "dist")
    glibc = os.environ.get("HEARITH_GLIBC")
    cargo = ["cargo-zigbuild", "rustc", "--target", f"{target()}.{glibc}"] if glibc else ["cargo", "rustc"]
    command = [*cargo, "--profile", profile, "--package", "hearith-duckdb", "--lib"]
    command += ["--message-format", "json-render-diagnostics"]
    # Without debug information, which is most of the file.
    command += ["--", "-C", "strip=debuginfo"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "hearith_duckdb":
            return Path(message["filenames"][0])
    raise SystemExit("package.py: cargo built no library")


def version():
    """Returns the version of the crate."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(package["version"] for package in json.loads(output)["packages"] if package["name"] == "hearith-duckdb")


def target():
    """Returns the Rust target that cargo builds for."""
    chosen = os.environ.get("CARGO_BUILD_TARGET")
    if chosen:
        return chosen
    output = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(line.split()[1] for line in output.splitlines() if line.startswith("host:"))


def main():
    """Builds the library, appends the description and writes the extension."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=Path)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT)
    arguments = parser.parse_args()
    path = arguments.file
    if path.name != NAME:
        raise SystemExit(f"package.py: the file must be called {NAME}")
    library = arguments.library or build()
    content = library.read_bytes() + description(target(), version())
    path.parent.mkdir(parents=True, exist_ok=True)
    # Rename only the complete file. A process that has loaded the old one keeps it.
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.chmod(file.name, 0o755)
    os.replace(file.name, path)
    print(path)


if __name__ == "__main__":
    main()
