#!/usr/bin/env python3
"""Checks the packages that the election's pages are built from.

web/package-lock.json must name no registry, and must give each package a hash and an allowed
licence. The pages may ship only the packages listed here.

Usage: check_web.py [PACKAGE-LOCK]
"""

import json
import sys
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "web" / "package-lock.json"
#: Licences of deny.toml that occur among these packages. Tools that are not shipped may also have
#: the Mozilla licence and Python's.
ALLOWED = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT OR Apache-2.0"}
FOR_TOOLS = {"MPL-2.0", "Python-2.0", "BlueOak-1.0.0"}
#: web/README.md explains why each one is needed.
SHIPPED = {"@noble/curves", "@noble/hashes", "preact", "uqr"}


def faults(lock):
    """Yields one line for each fault of a parsed lock file."""
    for path, package in sorted(lock["packages"].items()):
        if path == "":
            continue
        name = path.rpartition("node_modules/")[2]
        tool = package.get("dev") or package.get("optional")
        if "resolved" in package:
            yield f"{name}: the lock names where it comes from; .npmrc says to leave that out"
        if not package.get("integrity", "").startswith("sha512-"):
            yield f"{name}: has no hash"
        if package.get("license") not in (ALLOWED | FOR_TOOLS if tool else ALLOWED):
            yield f"{name}: the licence {package.get('license')} is not allowed"
        if package.get("hasInstallScript") and not tool:
            yield f"{name}: runs a script when it is installed"
        if not tool and name not in SHIPPED:
            yield f"{name}: is shipped, and not among what may be"


def main():
    """Prints the faults, or that there are none."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else LOCK
    found = list(faults(json.loads(path.read_text(encoding="utf-8"))))
    for fault in found:
        print(f"web: {fault}", file=sys.stderr)
    if found:
        sys.exit(1)
    print("web: every package has a hash and a licence that is allowed, and the lock names no registry")


if __name__ == "__main__":
    main()
