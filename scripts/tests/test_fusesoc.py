"""FuseSoC takes every core from the files that git knows alone, and Verilator has no warning about any."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORES = sorted(path.stem.removeprefix("hearith_") for path in (ROOT / "rtl").glob("hearith_*.core"))
#: Small forms, which are quick to elaborate.
SMALL = {
    "mesa": ["--N", "64", "--Stages", "1", "--StreamBits", "32"],
    "mesa_dual": ["--N", "64", "--Lanes", "1", "--StreamBits", "32"],
    "coproc": ["--N", "64", "--StreamBits", "32"],
    "dghv": ["--Rounds", "1", "--StreamBits", "32"],
}
fusesoc = shutil.which("fusesoc", path=Path(sys.executable).parent) or shutil.which("fusesoc")


def targets(core):
    """The targets that need nothing but Verilator."""
    text = (ROOT / "rtl" / f"hearith_{core}.core").read_text()
    return [target for target in ("lint", "wrapper") if re.search(rf"^  {target}:", text, re.MULTILINE)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """What a plain archive of this tree has of rtl."""
    folder = tmp_path_factory.mktemp("archive")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "rtl"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def run(archive, core, target):
    command = [fusesoc, "--cores-root", "rtl", "run", "--target", target, "--build-root", f"build/{core}"]
    command += [f"hearith:accelerator:{core}", *SMALL.get(core, [])]
    return subprocess.run(command, cwd=archive, capture_output=True, text=True, check=False)


def test_every_core_has_a_lint_target_and_every_top_a_wrapper():
    assert len(CORES) == 11
    assert all("lint" in targets(core) for core in CORES)
    wrapped = {core for core in CORES if "wrapper" in targets(core)}
    assert wrapped == {"coproc", "dghv", "mesa", "mesa_dual", "rns"}


@pytest.mark.skipif(fusesoc is None or shutil.which("verilator") is None, reason="needs FuseSoC and Verilator")
@pytest.mark.parametrize(("core", "target"), [(core, target) for core in CORES for target in targets(core)])
def test_a_plain_archive_is_enough(archive, core, target):
    result = run(archive, core, target)
    said = result.stdout + result.stderr
    assert result.returncode == 0, said[-3000:]
    assert "%Warning" not in said
    assert "%Error" not in said


@pytest.mark.skipif(fusesoc is None or shutil.which("verilator") is None, reason="needs FuseSoC and Verilator")
def test_a_mistake_fails(archive, tmp_path):
    shutil.copytree(archive / "rtl", tmp_path / "rtl")
    source = tmp_path / "rtl/links/uart_tx.sv"
    source.write_text(source.read_text().replace("endmodule", "    logic forgotten;\nendmodule"))
    assert run(tmp_path, "links", "lint").returncode != 0
