"""Containerfile's steps are read and performed like by a container engine."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import container

FILE = '# A comment.\nFROM debian:12\n\nRUN one \\\n    # inside\n    && two\nENV A=1 B="$A 2"\nWORKDIR /work\nCOPY x ./\nCMD ["sh"]\n'


def test_steps_have_lines_and_whole_arguments():
    assert container.parse(FILE) == [
        (2, "FROM", "debian:12"),
        (4, "RUN", "one      && two"),
        (7, "ENV", 'A=1 B="$A 2"'),
        (8, "WORKDIR", "/work"),
        (9, "COPY", "x ./"),
        (10, "CMD", '["sh"]'),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("FROM debian:12\nADD x y\n", "Containerfile:2: ADD is no instruction that this script performs"),
        ("FROM debian:12\nRUN\n", "Containerfile:2: RUN has no argument"),
        ("FROM debian:12\nRUN a \\\n", "Containerfile:2: the last step ends with a backslash"),
        ("FROM alpine\n", "Containerfile: the first step must be FROM debian:12, which debootstrap's bookworm is"),
        ("", "Containerfile: the first step must be FROM debian:12, which debootstrap's bookworm is"),
    ],
)
def test_faults_are_named(text, fault):
    with pytest.raises(container.Fault) as raised:
        container.parse(text)
    assert str(raised.value) == fault


def test_variables_stand_for_earlier_ones():
    assert container.assignments('PATH=/x:$PATH B="${A} y"', {"PATH": "/bin", "A": "z"}) == {
        "PATH": "/x:/bin",
        "B": "z y",
    }


@pytest.mark.parametrize(
    ("argument", "made"),
    [
        ("a.txt ./", ["w/a.txt"]),
        ("a.txt /b.txt", ["b.txt"]),
        ("a.txt deep/c.txt to/", ["w/to/a.txt", "w/to/c.txt"]),
        ("deep to/", ["w/to/c.txt"]),
        ("*.txt .", ["w/a.txt"]),
    ],
)
def test_files_are_copied_where_an_engine_puts_them(tmp_path, argument, made):
    context, root = tmp_path / "context", tmp_path / "root"
    (context / "deep").mkdir(parents=True)
    (root / "w").mkdir(parents=True)
    (context / "a.txt").write_text("a")
    (context / "deep/c.txt").write_text("c")
    container.copy(context, root, "/w", argument)
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()) == made


@pytest.mark.parametrize(("argument", "fault"), [("gone .", "there is no gone"), ("--link a .", "without options")])
def test_what_cannot_be_copied_is_named(tmp_path, argument, fault):
    with pytest.raises(container.Fault, match=fault):
        container.copy(tmp_path, tmp_path, "/", argument)


def test_steps_are_performed_in_order(tmp_path):
    context, root = tmp_path / "context", tmp_path / "root"
    context.mkdir()
    root.mkdir()
    (context / "x").write_text("")
    commands = []

    def run(command, check):
        commands.append((command[-1], (root / "work/x").exists()))
        return subprocess.CompletedProcess(command, 0)

    steps = container.parse(FILE + "RUN three\n")
    folder, variables = container.perform(steps, context, root, {"SECRET": "s"}, [(str(context), "/seen")], run)
    assert (folder, variables["B"]) == ("/work", " 2")
    assert "SECRET" not in variables
    (first, before), (last, after) = commands
    assert (before, after) == (False, True)
    assert "one      && two" in first
    assert "B=" not in first
    assert "cd /work" in last
    assert "'B= 2'" in last
    assert "SECRET=s" in last
    assert f"mount --rbind {context} {root}/seen" in last
    assert f"mount -o remount,ro,bind {root}/seen" in last


def test_a_step_that_fails_is_named_by_its_line(tmp_path):
    run = lambda command, check: subprocess.CompletedProcess(command, 7)  # noqa: E731
    with pytest.raises(container.Fault, match=r"^Containerfile:4: RUN exited with 7$"):
        container.perform(container.parse(FILE), tmp_path, tmp_path, run=run)


def test_options(tmp_path, monkeypatch):
    monkeypatch.setenv("PASSED", "on")
    arguments = [str(tmp_path), "--mount", f"{tmp_path}:/x", "--env", "PASSED", "--env", "A=b=c", "--", "ls", "--env"]
    folder, mounts, environment, command = container.options(arguments)
    assert (folder, mounts) == (tmp_path, [(str(tmp_path), "/x")])
    assert environment == {"PASSED": "on", "A": "b=c"}
    assert command == ["ls", "--env"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "root needs a folder"),
        (["x", "y"], "unknown argument y"),
        (["x", "--mount"], "--mount needs a value"),
        (["x", "--mount", "/nowhere/at/all"], "--mount /nowhere/at/all: there is no such file"),
        (["x", "--env", "NO_SUCH_VARIABLE"], "--env NO_SUCH_VARIABLE: it has no value here"),
    ],
)
def test_wrong_options_are_named(arguments, fault):
    with pytest.raises(container.Fault) as raised:
        container.options(arguments)
    assert str(raised.value) == fault
