"""`make check` finds what changed, and its dependents."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import check_changes as check

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = '[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n\n[dependencies]\n'


def git(root, *arguments):
    """Runs git in a repository, without the variables that a hook sets."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", str(root), *who, *arguments], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def outside_of_hooks(monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def tree(tmp_path):
    """Makes a repository with a workspace: `c` depends on `b`, `b` and the hardware on `a`, and `d`
    on nothing; `peer` is not a member.
    """

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def package(folder, name, *dependencies, library="src/lib.rs"):
        lines = "".join(f'{other} = {{ path = "../{at}" }}\n' for other, at in dependencies)
        write(f"{folder}/Cargo.toml", MANIFEST.format(name=name) + lines)
        write(f"{folder}/{library}", "")

    write("Cargo.toml", '[workspace]\nresolver = "3"\nmembers = ["a", "b", "c", "d", "rtl", "verilated", "parsers"]\n')
    package("a", "a")
    package("b", "b", ("a", "a"))
    package("c", "c", ("b", "b"))
    write("c/src/main.rs", "fn main() {}\n")
    package("d", "d", library="src/main.rs")
    write("d/src/main.rs", "fn main() {}\n")
    package("verilated", "hearith-verilated")
    package("rtl", "rtl", ("a", "a"), ("hearith-verilated", "verilated"))
    package("parsers", "parsers")
    write("parsers/Cargo.toml", MANIFEST.format(name="parsers") + "\n[lib]\ntest = false\n")
    package("a/peer", "peer")
    write("rtl/lib/fifo.sv", "")
    write("scripts/tool.py", "")
    write("scripts/tests/test_tool.py", "import tool\n")
    write("scripts/tests/test_other.py", "import other_tool\n")
    write(".gitignore", "ignored\n")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path, write


def changed(root, wanted=None):
    paths = check.changes(root, wanted)
    return check.Workspace.load(root).changed(paths)


def test_nothing_changed(tree, capsys):
    root, _ = tree
    assert check.check(root, None) == 0
    commit = git(root, "rev-parse", "--short", "HEAD")
    assert capsys.readouterr().out == f"check: nothing changed since {commit}\n"


def test_changed_untracked_and_deleted_files_are_found(tree):
    root, write = tree
    write("a/src/lib.rs", "// changed\n")
    write("d/src/new name.rs", "")
    write("ignored", "")
    git(root, "rm", "--quiet", "c/src/main.rs")
    assert check.changes(root, None) == ["a/src/lib.rs", "c/src/main.rs", "d/src/new name.rs"]
    assert changed(root) == ["a", "c", "d"]


def test_both_names_of_a_moved_file_are_found(tree):
    root, _ = tree
    git(root, "mv", "rtl/lib/fifo.sv", "a/fifo.rs")
    assert check.changes(root, None) == ["a/fifo.rs", "rtl/lib/fifo.sv"]


def test_a_base_counts_the_commits_of_a_branch_and_not_those_of_the_base(tree):
    root, write = tree
    git(root, "checkout", "--quiet", "-b", "work")
    write("b/src/lib.rs", "// mine\n")
    git(root, "commit", "--quiet", "--all", "--message", "mine")
    git(root, "checkout", "--quiet", "main")
    write("a/src/lib.rs", "// of others\n")
    git(root, "commit", "--quiet", "--all", "--message", "theirs")
    git(root, "checkout", "--quiet", "work")
    write("d/src/main.rs", "fn main() { }\n")
    assert changed(root) == ["d"], "without origin/main"
    assert changed(root, "main") == ["b", "d"]
    git(root, "update-ref", "refs/remotes/origin/main", "main")
    assert changed(root) == ["b", "d"], "with origin/main"
    assert changed(root, "HEAD") == ["d"]


def test_an_unknown_base_is_one_message(tree):
    root, _ = tree
    with pytest.raises(check.Fault, match=r"^no commit is named nowhere; name another \(make check BASE=HEAD\)$"):
        check.changes(root, "nowhere")


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("a/src/lib.rs", "a"),
        ("a/Cargo.toml", "a"),
        ("a/proto/service.proto", "a"),
        ("a/README.md", None),
        ("a/src/kernel/steps.txt", "a"),
        ("a/tests/test_tool.py", None),
        ("rtl/lib/fifo.sv", None),
        ("rtl/tests/main.rs", "rtl"),
        ("a/peer/src/lib.rs", None),
        ("gone/src/lib.rs", None),
        ("Cargo.toml", None),
        ("rustfmt.toml", None),
    ],
)
def test_a_file_belongs_to_the_package_of_the_nearest_manifest(tree, path, owner):
    assert check.Workspace.load(tree[0]).owner(path) == owner


def test_dependents_are_found_through_others(tree):
    workspace = check.Workspace.load(tree[0])
    assert workspace.dependents(["a"]) == ["b", "c", "rtl"]
    assert workspace.dependents(["b"]) == ["c"]
    assert workspace.dependents(["a", "b"]) == ["c", "rtl"]
    assert workspace.dependents(["d"]) == []


def test_packages_with_models_are_known(tree):
    workspace = check.Workspace.load(tree[0])
    assert [name for name in sorted(workspace.packages) if workspace.has_models(name)] == ["hearith-verilated", "rtl"]


@pytest.mark.parametrize(
    ("name", "arguments"), [("a", ["--lib"]), ("c", ["--lib", "--bin", "c"]), ("d", ["--bin", "d"]), ("parsers", [])]
)
def test_targets_with_unit_tests(tree, name, arguments):
    assert check.Workspace.load(tree[0]).unit_targets(name) == arguments


@pytest.mark.parametrize(
    ("paths", "groups"),
    [
        (["scripts/x.py", "crates/python/tests/y.py"], {None: ["scripts/x.py", "crates/python/tests/y.py"]}),
        (["docs/site/hooks.py"], {"scripts/ruff.toml": ["docs/site/hooks.py"]}),
        (["synth/x.py", "scripts/x.sh"], {}),
    ],
)
def test_python_is_linted_as_make_lint_does(paths, groups):
    assert check.python_groups(paths) == groups


def test_make_lint_reads_the_same_python():
    text = (ROOT / "scripts/lint.sh").read_text()
    lines = [line for line in text.splitlines() if "ruff check" in line]
    assert lines, text
    named = {
        word for line in lines for word in line.replace("cd ", "").replace("(", "").split() if (ROOT / word).is_dir()
    }
    assert named - {"."} == set(check.PYTHON)


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("scripts/tool.py", ["scripts/tests/test_tool.py"]),
        ("scripts/tests/test_other.py", ["scripts/tests/test_other.py"]),
        ("scripts/release/tool.py", ["scripts/tests/test_tool.py"]),
        ("bench/tool.py", ["scripts/tests/test_tool.py"]),
        ("bench/tool.txt", []),
        ("scripts/unknown.sh", []),
        ("a/src/lib.rs", []),
    ],
)
def test_tests_of_changed_scripts_are_found(tree, path, tests):
    assert check.script_tests(tree[0], [path]) == tests


def recorded(monkeypatch, root, wanted=None, fails=()):
    """Returns the steps of a check without running their commands: names, commands and additional
    variables.
    """
    steps = []

    def step(self, what, command, folder=".", extra=None):
        steps.append((what, command, extra or {}))
        if what.startswith(tuple(fails)):
            self.failed.append(what)

    monkeypatch.setattr(check.Check, "step", step)
    monkeypatch.setattr(check.Check, "hardware", lambda self, paths: None)
    monkeypatch.setattr(check.shutil, "which", lambda name, path=None: None)
    return check.check(root, wanted), steps


def test_a_changed_crate_is_linted_with_its_dependents_and_tested_alone(tree, monkeypatch):
    root, write = tree
    write("b/src/lib.rs", "// changed\n")
    status, steps = recorded(monkeypatch, root)
    assert status == 0
    assert [what for what, _, _ in steps] == [
        "citations and links",
        "rustfmt of b",
        "clippy of b",
        "clippy of 1 dependents",
        "unit tests of b",
    ]
    assert steps[1][1] == ["cargo", "fmt", "--check", "--package", "b"]
    assert steps[2][2] == steps[3][2] == {"VERILATOR": "none"}
    assert "--all-targets" in steps[2][1]
    assert "--workspace" in steps[3][1]
    assert steps[4][1:] == (["cargo", "test", "--quiet", "--package", "b", "--all-features", "--lib"], {})


def test_models_are_left_out_and_kept(tree, monkeypatch):
    root, write = tree
    write("rtl/src/lib.rs", "// changed\n")
    _, steps = recorded(monkeypatch, root)
    what, command, extra = steps[-1]
    assert what == "unit tests of rtl"
    assert extra == {"VERILATOR": "none"}
    assert command[-2:] == ["--target-dir", str(Path(check.Workspace.load(root).target, "check"))]


def test_manifests_of_the_workspace_concern_every_crate(tree, monkeypatch):
    root, write = tree
    write("Cargo.lock", "version = 4\n")
    _, steps = recorded(monkeypatch, root)
    assert [what for what, _, _ in steps] == ["citations and links", "clippy of every crate"]


def test_a_failure_is_named_and_keeps_tests_from_running(tree, monkeypatch, capsys):
    root, write = tree
    write("a/src/lib.rs", "// changed\n")
    status, steps = recorded(monkeypatch, root, fails=["clippy"])
    assert status == 1
    assert not any(what.startswith("unit tests") for what, _, _ in steps)
    assert "s: clippy of a; clippy of 3 dependents" in capsys.readouterr().err


def test_a_step_fails_with_its_command_and_without_it(tree, capfd):
    run = check.Check(tree[0])
    run.step("good", ["true"])
    run.step("bad", ["false"])
    run.step("missing", ["no-such-program"])
    assert run.failed == ["bad", "missing"]
    said = capfd.readouterr()
    assert "check: good: passed in" in said.out
    assert "check: bad: failed in" in said.out
    assert "check: missing: no-such-program is missing: `make setup` installs it" in said.err


def test_variables_of_a_hook_do_not_reach_the_commands(tree, monkeypatch):
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    assert "GIT_INDEX_FILE" not in check.Check(tree[0]).environment


def test_a_mistake_in_a_crate_fails_and_its_repair_passes(tree, monkeypatch, capfd):
    """Runs everything, with cargo, on a crate without dependencies and dependents."""
    root, write = tree
    for script in ("scripts/check_text.py", "scripts/hardware_files.sh"):
        write(script, "#!/bin/sh\n")
        (root / script).chmod(0o755)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "scripts")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(root / "ignored"))
    good = "fn main() {}\n\n#[test]\nfn one() {\n    assert_eq!(2 - 1, 1);\n}\n"
    write("d/src/main.rs", good.replace("2 - 1", "3 - 1"))
    assert check.check(root, None) == 1
    assert re.search(r"check: failed after [0-9.]+ s: unit tests of d\n", capfd.readouterr().err)
    write("d/src/main.rs", good)
    assert check.check(root, None) == 0
    # The second file is the lock that cargo made.
    assert re.search(r"check: passed in [0-9.]+ s, 2 changed files", capfd.readouterr().out)
