#!/usr/bin/env python3
"""Holds the dependency tree to deny.toml, offline: licences, sources, and no oracle in what is shipped.

Reads `cargo metadata`. Every crate's licence expression must be satisfiable with the allowed licences (and the crate's own
exceptions), every crate must come from crates.io or from this repository, and the crates that ship must not reach the
oracles of tests and benchmarks (GMP) through normal or build dependencies.
"""

import json
import re
import subprocess
import sys
import tomllib

CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
ORACLES = {"gmp-mpfr-sys", "rug"}
NOT_SHIPPED = {"hearith-bench"}


def satisfiable(expression, allowed):
    """Whether an SPDX expression (with the old `/` for OR and `+` for -or-later) can be met with the allowed licences."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    position = 0

    def peek():
        return tokens[position] if position < len(tokens) else None

    def advance():
        nonlocal position
        position += 1
        return tokens[position - 1]

    def alternatives():
        met = conjunction()
        while peek() == "OR":
            advance()
            met |= conjunction()
        return met

    def conjunction():
        met = atom()
        while peek() == "AND":
            advance()
            met &= atom()
        return met

    def atom():
        if peek() == "(":
            advance()
            met = alternatives()
            if advance() != ")":
                raise ValueError(expression)
            return met
        licence = re.sub(r"\+$", "-or-later", advance())
        if peek() == "WITH":
            licence = f"{licence} {advance()} {advance()}"
        return licence in allowed

    met = alternatives()
    if position != len(tokens):
        raise ValueError(expression)
    return met


def licence_faults(packages, rules):
    """Yields one line for each crate whose licence deny.toml does not allow."""
    exceptions = {entry["crate"]: set(entry["allow"]) for entry in rules.get("exceptions", [])}
    for package in packages:
        allowed = set(rules["allow"]) | exceptions.get(package["name"], set())
        expression = package["license"]
        try:
            met = expression and satisfiable(expression, allowed)
        except (IndexError, ValueError):
            met = False
        if not met:
            yield f"{package['name']} {package['version']}: licence {expression!r} is not allowed"


def source_faults(packages):
    """Yields one line for each crate that comes from elsewhere than crates.io or this repository."""
    for package in packages:
        if package["source"] not in (None, CRATES_IO):
            yield f"{package['name']} {package['version']}: source {package['source']} is not allowed"


def oracle_faults(metadata):
    """Yields one line for each shipped member that reaches an oracle through normal or build dependencies."""
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


def main():
    metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--all-features"]))
    with open("deny.toml", "rb") as file:
        rules = tomllib.load(file)
    packages = metadata["packages"]
    faults = [*licence_faults(packages, rules["licenses"]), *source_faults(packages), *oracle_faults(metadata)]
    for fault in faults:
        print(f"dependencies: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"dependencies: {len(packages)} crates, licences and sources as deny.toml allows")


if __name__ == "__main__":
    main()
