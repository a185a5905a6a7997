"""The list of a machine's requirements contains known names, and the rights of processes that it
has.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "require.sh"
LAST_PID = Path("/proc/sys/kernel/ns_last_pid")


def listed(folder=None):
    path = "/usr/bin:/bin" if folder is None else f"{folder}:/usr/bin:/bin"
    run = subprocess.run(["bash", SCRIPT], env={"PATH": path}, capture_output=True, text=True, check=True)
    return run.stdout.strip().split(",")


def test_all_names_are_known():
    source = (ROOT / "crates" / "testing" / "src" / "lib.rs").read_text()
    known = re.search(r"pub const NAMES: [^=]*= \[([^]]*)\]", source)[1]
    names = listed()
    assert set(names) <= set(re.findall(r'"([^"]+)"', known))
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("allowed", "there"), [("true", True), ('test "$1" = --user', True), ("false", False)])
def test_namespaces_are_listed_where_they_can_be_had(tmp_path, allowed, there):
    program = tmp_path / "unshare"
    program.write_text(f"#!/bin/sh\n{allowed}\n")
    program.chmod(0o755)
    assert ("namespaces" in listed(tmp_path)) == there


def test_the_next_id_is_listed_where_it_can_be_chosen():
    try:
        LAST_PID.write_text(LAST_PID.read_text())
        there = True
    except OSError:
        there = False
    assert ("last-pid" in listed()) == there
