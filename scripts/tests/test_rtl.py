"""The hardware's linter and formatter find their faults, and report when they are missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = """// SPDX-License-Identifier: MIT OR Apache-2.0
module one #(
    parameter int unsigned Width = 8  // bits
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [Width-1:0] a_i,
    output logic [Width-1:0] r_o
);
    logic [Width-1:0] a_q;
    assign r_o = a_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) a_q <= '0;
        else a_q <= a_i;
    end
endmodule
"""


def run(script, *files, path=None):
    """Runs a script with the tools of this Python's environment, or with only the base system on
    the PATH.
    """
    search = path or f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [str(ROOT / "scripts" / script), *map(str, files)]
    return subprocess.run(command, env=os.environ | {"PATH": search}, capture_output=True, text=True, check=False)


@pytest.fixture
def module(tmp_path):
    """Returns a function that writes a module."""

    def write(text, name="one.sv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_clean_module_passes(module):
    file = module(GOOD)
    assert run("lint_rtl.sh", file).returncode == 0
    assert run("format_rtl.sh", "--check", file).returncode == 0
    assert file.read_text() == GOOD


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("a_q;\n    assign", "a_q;\t\n    assign", "no-tabs"),
        ("input  logic [Width-1:0] a_i", "input  logic [0:Width-1] a_i", "packed-dimensions-range-ordering"),
        ("always_ff @(posedge clk_i) begin", "always @* begin", "always-comb"),
        ("module one", "module two", "module-filename"),
        ("endmodule\n", "    if (Width > 9) begin : wide\n    end\nendmodule\n", "generate-label-prefix"),
        ("parameter int unsigned Width", "parameter Width", "explicit-parameter-storage-type"),
        ("output logic [Width-1:0] r_o", "output logic [Width-1:0] result", "port-name-suffix"),
        ("// bits", "// " + "b" * 160, "line-length"),
        ("a_q <= a_i", "a_q <= (a_i", "syntax error"),
    ],
)
def test_what_is_wrong_is_found(module, old, new, rule):
    text = GOOD.replace(old, new)
    assert text != GOOD
    result = run("lint_rtl.sh", module(text))
    assert result.returncode != 0
    assert rule in result.stdout + result.stderr


def test_formatting_is_checked_and_mended(module):
    crooked = GOOD.replace("    assign r_o = a_q;", "  assign r_o=a_q;")
    first, second = module(crooked), module(GOOD.replace("module one", "module other"), "other.sv")
    result = run("format_rtl.sh", "--check", first, second)
    assert result.returncode != 0
    assert "one.sv: Needs formatting" in result.stdout + result.stderr
    assert first.read_text() == crooked
    assert run("format_rtl.sh", first, second).returncode == 0
    assert first.read_text() == GOOD


@pytest.mark.parametrize("script", ["lint_rtl.sh", "format_rtl.sh"])
def test_a_missing_tool_fails(script, tmp_path):
    # A copy of the script outside the repository's .venv, and a PATH with only its own
    # requirements.
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "env", "dirname", "git"):
        (tools / name).symlink_to(shutil.which(name))
    (tmp_path / "scripts").mkdir()
    copy = shutil.copy(ROOT / "scripts" / script, tmp_path / "scripts" / script)
    result = subprocess.run([copy], env={"PATH": str(tools)}, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "is missing" in result.stderr
