"""All register files are generated from one description, and `make lint` detects differences."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import registers


@pytest.fixture
def tree(tmp_path):
    """Copies the description and the files generated from it."""
    for name in [registers.SOURCES, *registers.OUTPUTS]:
        source, copy = ROOT / name, tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    return tmp_path


def run(*arguments):
    """Runs the script as `make lint` does."""
    command = [sys.executable, str(ROOT / "scripts/registers.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def change(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_this_repository_is_as_its_description_says():
    result = run("--check")
    assert (result.returncode, result.stderr) == (0, "")
    assert "scripts/registers.py --check" in (ROOT / "scripts/lint.sh").read_text()


@pytest.mark.parametrize("name", sorted(registers.OUTPUTS))
def test_a_change_of_what_is_made_is_found(name, tree):
    path = tree / name
    path.write_text(path.read_text().replace("KEY_CHECK", "KEY_SUM").replace("KeyCheck", "KeySum"))
    result = run("--check", tree)
    assert result.returncode == 1
    assert f"registers: {name} does not match rtl/registers" in result.stderr
    assert sum(f"registers: {other} does" in result.stderr for other in registers.OUTPUTS) == 1


def test_a_change_of_the_description_reaches_all_three(tree):
    change(tree / "rtl/registers/accelerator.rdl", "} KEY_CHECK @ 0x28;", "} KEY_CHECK @ 0x34;")
    result = run("--check", tree)
    assert result.returncode == 1
    assert all(f"registers: {name} does not" in result.stderr for name in registers.OUTPUTS)
    assert run(tree).returncode == 0
    assert run("--check", tree).returncode == 0
    assert "KeyCheckAddress = 16'h34" in (tree / "rtl/lib/accelerator_pkg.sv").read_text()
    assert "KEY_CHECK: u32 = 0x34;" in (tree / "crates/device/src/registers.rs").read_text()
    assert "| 0x00034 | read | KEY_CHECK |" in (tree / "docs/reference/registers.md").read_text()


def test_registers_that_overlap_are_refused(tree):
    change(tree / "rtl/registers/accelerator.rdl", "} KEY_CHECK @ 0x28;", "} KEY_CHECK @ 0x24;")
    result = run("--check", tree)
    assert result.returncode != 0
    assert "overlap" in result.stderr


@pytest.mark.parametrize(
    ("formula", "sv", "rust", "text"),
    [
        ("N", "N", "n", "N"),
        ("N / 2", "N / 2", "n / 2", "N / 2"),
        ("W * (D + 1)", "W * (D + 1)", "w * (d + 1)", "W (D + 1)"),
        ("up(N / 2, W)", "(N / 2 + W - 1) / W * W", "(n / 2).next_multiple_of(w)", "ceil((N / 2) / W) W"),
    ],
)
def test_formulas_are_the_same_in_all_languages(formula, sv, rust, text):
    written = registers.Formula(formula)
    assert [written.write(language) for language in ("sv", "rust", "text")] == [sv, rust, text]


@pytest.mark.parametrize("formula", ["M", "N ** 2", "up(N)", "N if W else D", "f(N, W)"])
def test_other_formulas_are_refused(formula):
    with pytest.raises(registers.RdlError):
        registers.Formula(formula).write("sv")


def test_a_region_elsewhere_is_refused(tree):
    change(tree / "rtl/registers/mesa.rdl", "} P_SQUARE @ 0x10800;", "} P_SQUARE @ 0x1f900;")
    result = run("--check", tree)
    assert result.returncode != 0
    assert "registers: P_SQUARE: regions must be 0x800 bytes apart" in result.stderr
