"""The scripts behind `make` fail if something is missing, and all copies of the
requirements agree.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, path=None):
    """Runs a script of this repository, with a folder first on the PATH."""
    environment = os.environ | ({"PATH": f"{path}:{os.environ['PATH']}"} if path else {})
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("missing", "name"), [("clippy", "clippy"), ("fmt", "rustfmt")])
def test_lint_fails_without_its_tools(missing, name, tmp_path):
    for program, body in {"cargo": f'[ "$1" != {missing} ]', "rustup": "exit 1"}.items():
        (tmp_path / program).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / program).chmod(0o755)
    result = run("scripts/lint.sh", path=tmp_path)
    assert result.returncode != 0
    assert f"{name} cannot be installed" in result.stderr
    assert "passed" not in result.stdout


def test_names_are_the_same_everywhere():
    source = (ROOT / "crates/testing/src/lib.rs").read_text()
    known = set(
        re.findall(r'"([\w-]+)"', re.search(r"pub const NAMES[^;]*; \d+\] =\s*\[(.*?)\];", source, re.DOTALL)[1])
    )
    assert {"ifma", "verilator", "phe-suite"} <= known
    required = set(run("scripts/require.sh").stdout.strip().split(","))
    assert {"serial", "verilator", "valgrind", "phe", "phe-suite", "command"} <= required <= known
    python = (ROOT / "crates/python/tests/required.py").read_text()
    assert set(re.findall(r'"([\w-]+)"', re.search(r"NAMES = \{(.*?)\}", python)[1])) <= known


def test_parts_of_the_tests_are_known():
    result = run("scripts/test.sh", "nothing")
    assert result.returncode == 2
    assert "there is no part nothing" in result.stderr
    assert {"rust", "python", "fuzz", "arith"} <= set(run("scripts/test.sh", "--list").stdout.split())
