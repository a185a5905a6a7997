"""The inner loop is timed with an edit that is undone, and its page says who meets the goal."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import inner_loop


def package(root, *targets):
    """Returns a package as in cargo's metadata: kinds and files of its targets."""
    return {"name": "x", "targets": [{"kind": [kind], "src_path": str(root / file)} for kind, file in targets]}


def test_the_library_is_edited_before_a_program(tmp_path):
    assert inner_loop.source(package(tmp_path, ("bin", "main.rs"), ("lib", "lib.rs"))) == tmp_path / "lib.rs"
    assert inner_loop.source(package(tmp_path, ("bin", "main.rs"), ("test", "t.rs"))) == tmp_path / "main.rs"
    with pytest.raises(inner_loop.check.Fault, match="x has neither"):
        inner_loop.source(package(tmp_path, ("bench", "b.rs")))


def test_test_executables_are_counted():
    messages = [
        {"reason": "compiler-artifact", "executable": "/a", "profile": {"test": True}},
        {"reason": "compiler-artifact", "executable": "/b", "profile": {"test": False}},
        {"reason": "compiler-artifact", "executable": None, "profile": {"test": True}},
        {"reason": "build-finished"},
    ]
    assert inner_loop.executables("\n".join(map(json.dumps, messages)) + "\n   Finished\n") == 1


@pytest.mark.parametrize("fails", [False, True])
def test_every_round_sees_another_content_and_the_file_gets_its_own_back(tmp_path, monkeypatch, fails):
    path = tmp_path / "lib.rs"
    path.write_text("//! A crate.\n")
    path.chmod(0o640)
    seen = []

    def build(name):
        seen.append(path.read_text())
        if fails and len(seen) == 3:
            raise KeyboardInterrupt
        return float(len(seen)), ""

    monkeypatch.setattr(inner_loop, "build", build)
    if fails:
        with pytest.raises(KeyboardInterrupt):
            inner_loop.measure(package(tmp_path, ("lib", "lib.rs")), 3)
    else:
        assert inner_loop.measure(package(tmp_path, ("lib", "lib.rs")), 3) == ([2.0, 3.0, 4.0], 0)
    assert len(set(seen)) == len(seen)
    assert all(text.startswith("//! A crate.\n") for text in seen)
    assert path.read_text() == "//! A crate.\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["lib.rs"]


def test_the_edit_compiles_without_a_warning(tmp_path):
    path = tmp_path / "lib.rs"
    path.write_text("//! A crate.\n" + inner_loop.EDIT.format(number=7))
    lints = ["-D", "warnings", "-D", "missing_docs"]
    for kind in ("lib", "bin"):
        if kind == "bin":
            path.write_text(path.read_text() + "fn main() {}\n")
        command = [
            "rustc",
            "--edition",
            "2024",
            "--crate-type",
            kind,
            "--emit",
            "metadata",
            *lints,
            "--out-dir",
            tmp_path,
            path,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_page_says_who_meets_the_goal(monkeypatch):
    rows = [
        {"name": "fast", "file": "a/src/lib.rs", "seconds": [3.0, 1.0, 2.0], "executables": 2},
        {"name": "slow", "file": "b/src/lib.rs", "seconds": [10.1, 10.1, 10.1], "executables": 1},
    ]
    text = inner_loop.page(rows, 3, datetime(2026, 11, 26))
    assert "\n1 of 2 crates meet the goal.\n" in text
    assert "| fast | `a/src/lib.rs` | 2 | 2.0 (1.0..3.0) | yes |\n" in text
    assert "| slow | `b/src/lib.rs` | 1 | 10.1 (10.1..10.1) | no |\n" in text
    assert "- Date: 2026-11-26\n" in text
