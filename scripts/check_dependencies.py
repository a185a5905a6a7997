#!/usr/bin/env python3
"""Checks two rules about dependencies that cargo-deny lacks.

Shipped crates must not reach the oracles of tests and benchmarks (GMP) through normal or build
dependencies. And every dependency that a manifest declares must be named in some source of its
crate.
"""

import json
import subprocess
import sys
from pathlib import Path

ORACLES = {"gmp-mpfr-sys", "rug"}
NOT_SHIPPED = {"hearith-bench", "hearith-fuzz"}
#: Declared only to enable a feature.
FOR_FEATURES = {"gmp-mpfr-sys": "c-no-tests"}


def oracle_faults(metadata):
    """Yields one line for each shipped member that reaches an oracle through normal or build
    dependencies.
    """
    names = {package["id"]: package["name"] for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

    def reached(root):
        seen, waiting = set(), [root]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            for dependency in nodes[node]["deps"]:
                if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                    waiting.append(dependency["pkg"])
        return {names[node] for node in seen}

    for member in metadata["workspace_members"]:
        if names[member] not in NOT_SHIPPED:
            for oracle in sorted(reached(member) & ORACLES):
                yield f"{names[member]}: ships with {oracle}, which is for tests and benchmarks only"


def unused_faults(metadata):
    """Yields one line for each dependency of a member that none of its sources names."""
    members = set(metadata["workspace_members"])
    for package in metadata["packages"]:
        if package["id"] not in members:
            continue
        folder = Path(package["manifest_path"]).parent
        text = "\n".join(path.read_text() for path in sorted(folder.rglob("*.rs")))
        for dependency in package["dependencies"]:
            name = dependency["name"]
            if FOR_FEATURES.get(name) in dependency["features"]:
                continue
            if (dependency["rename"] or name).replace("-", "_") not in text and name != package["name"]:
                yield f"{package['name']}: no source uses {name} ({dependency['kind'] or 'normal'})"


def main():
    """Prints the faults, or that there are none."""
    command = ["cargo", "metadata", "--format-version", "1", "--all-features"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    faults = [*oracle_faults(metadata), *unused_faults(metadata)]
    for fault in faults:
        print(f"dependencies: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"dependencies: {len(metadata['packages'])} crates, none unused, no oracle in what is shipped")


if __name__ == "__main__":
    main()
