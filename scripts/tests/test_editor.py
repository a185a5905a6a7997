"""All editors have the same settings, and the commands of container and hook exist."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import container

ROOT = Path(__file__).resolve().parents[2]


def flat(table, prefix=""):
    """Flattens the settings of nested tables to dotted names; all variables of the environment are
    one setting.
    """
    found = {}
    for name, value in table.items():
        deeper = isinstance(value, dict) and name != "extraEnv"
        found |= flat(value, f"{prefix}{name}.") if deeper else {prefix + name: value}
    return found


def test_both_files_of_rust_analyzer_say_the_same():
    prefix = "rust-analyzer."
    code = json.loads((ROOT / ".vscode/settings.json").read_text())
    code = {name.removeprefix(prefix): value for name, value in code.items() if name.startswith(prefix)}
    own = flat(tomllib.loads((ROOT / "rust-analyzer.toml").read_text()))
    assert own == code
    assert own["cargo.extraEnv"] == {"VERILATOR": "none"}


def test_the_hook_calls_a_target_of_the_makefile():
    entry = re.search(r"^ +entry: make (\S+) BASE=HEAD$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    assert re.search(
        rf"^{entry[1]}:.*\n\tscripts/check_changes.py \$\(BASE\)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )


@pytest.fixture
def copied():
    steps = container.parse((ROOT / "Containerfile").read_text())
    return {word for _, instruction, argument in steps if instruction == "COPY" for word in argument.split()[:-1]}


def test_the_container_has_all_that_set_up_reads(copied):
    """Checks the existing files and folders that setup.sh and the script that it calls name."""
    named = {"scripts/setup.sh", "Cargo.toml", "web/package.json", "web/package-lock.json"}
    for script in ("scripts/setup.sh", "scripts/web.sh"):
        text = re.sub(r"^\s*#.*", "", (ROOT / script).read_text(), flags=re.MULTILINE)
        named |= {word for word in re.findall(r"[\w./-]+/[\w.-]+", text) if (ROOT / word).is_file()}
    assert {"scripts/web.sh", "bench/requirements.txt"} <= named
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    # The container is for development, so it excludes what only `setup.sh release` reads.
    release = {"scripts/release/common.sh", "crates/python/requirements-wheel.txt", "synth/requirements.txt"}
    assert (named & set(tracked.splitlines())) - release == copied


def test_the_container_is_sent_what_it_copies_and_nothing_else(copied):
    lines = [line for line in (ROOT / ".containerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    assert {line.removeprefix("!") for line in lines[1:]} == copied
