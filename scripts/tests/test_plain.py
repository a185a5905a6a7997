"""Designs in plain Verilog, and the simulations that detect unknown values."""

import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import plain
import tools

#: A register between ports. RESET is replaced by the reset's action.
TEXT = """module part(clk_i, rst_ni, in_data_i, out_valid_o, out_data_o);
  input clk_i;
  wire clk_i;
  input rst_ni;
  wire rst_ni;
  input [3:0] in_data_i;
  wire [3:0] in_data_i;
  output out_valid_o;
  reg out_valid_o;
  output [3:0] out_data_o;
  reg [3:0] out_data_o;
  always @(posedge clk_i)
    RESET
endmodule
"""
ICARUS = pytest.mark.skipif(not shutil.which("iverilog"), reason="Icarus Verilog is not here: the set-up brings it")


def test_every_top_is_released_and_reset_in_four_states():
    text = (tools.ROOT / "rtl" / "tests" / "all" / "parameters.rs").read_text()
    tops = set(re.findall(r'"(\w+)"', text[text.index("const TOPS") :].split("];")[0]))
    assert len(tops) == 22
    for names in (plain.DESIGNS, plain.small()):
        assert {plain.DESIGNS[name][0] for name in names} == tops


def run(text, tmp_path):
    """Returns the output of a design's reset run."""
    (tmp_path / "part.v").write_text(plain.guarded(text, "part"))
    (tmp_path / "idle.v").write_text(plain.idle(text, "part"))
    (tmp_path / "clock.v").write_text(plain.CLOCK)
    return plain.icarus(tmp_path, [tmp_path / name for name in ("part.v", "idle.v", "clock.v")])


@ICARUS
def test_what_a_reset_settles_is_known(tmp_path):
    # Data are unknown, but valid is low.
    assert run(TEXT.replace("RESET", "if (!rst_ni) out_valid_o <= 0;"), tmp_path) == "bench: nothing unknown"


@ICARUS
@pytest.mark.parametrize(
    ("reset", "unknown"),
    [
        ("out_data_o <= in_data_i;", "part.out_valid_o"),
        ("if (rst_ni) out_valid_o <= !out_valid_o;", "part.out_valid_o"),
        ("if (!rst_ni) out_valid_o <= 0; else out_valid_o <= 1;", "part.out_data_o"),
        (
            "if (!rst_ni) out_valid_o <= 0; else begin out_valid_o <= 1; out_data_o <= out_data_o + 1; end",
            "part.out_data_o",
        ),
    ],
)
def test_what_stays_unknown_is_found(reset, unknown, tmp_path):
    with pytest.raises(tools.Failed, match=f"unknown: {unknown}"):
        run(TEXT.replace("RESET", reset), tmp_path)


def test_data_belong_to_the_nearest_valid():
    outputs = [
        "axil_awready_o",
        "axil_rvalid_o",
        "axil_rdata_o",
        "m_axis_tvalid_o",
        "m_axis_tdata_o",
        "irq_o",
        "out_valid_o",
        "out_last_o",
    ]
    found = {name: plain.said_by(name, outputs) for name in outputs}
    assert found == {
        "axil_awready_o": None,
        "axil_rvalid_o": None,
        "axil_rdata_o": "axil_rvalid_o",
        "m_axis_tvalid_o": None,
        "m_axis_tdata_o": "m_axis_tvalid_o",
        "irq_o": None,
        "out_valid_o": None,
        "out_last_o": "out_valid_o",
    }


@ICARUS
@pytest.mark.parametrize(("value", "taken"), [(8, True), (9, False)])
def test_other_parameters_are_refused(value, taken, tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "room_of", lambda module: "lib")
    text = "module top(a, b);\n  input a;\n  output b;\n  \\inner$top.u  u (.a(a), .b(b));\nendmodule\n"
    text += "module \\inner$top.u (a, b);\n  input a;\n  output b;\n  assign b = a;\nendmodule\n"
    made = plain.with_parameters(text, "top_8", "top", {"Bits": 8})
    assert made.count("top__inner_top_u ") == 2
    assert "\\" not in made
    (tmp_path / "top.v").write_text(made)
    (tmp_path / "bench.v").write_text(
        f'module bench(input clk_i); wire b; top #(.Bits({value})) top (.a(1\'b1), .b(b));\n  always @(posedge clk_i) if (b) begin $display("bench: it is"); $finish; end\nendmodule\n'
    )
    (tmp_path / "clock.v").write_text(plain.CLOCK)
    files = [tmp_path / name for name in ("top.v", "bench.v", "clock.v")]
    if taken:
        assert plain.icarus(tmp_path, files) == "bench: it is"
    else:
        with pytest.raises(tools.Failed, match="top_has_Bits_of_another_value"):
            plain.icarus(tmp_path, files)


def test_every_bench_of_fusesoc_is_simulated():
    assert {path.parent.name for path in (plain.RTL / "sim").glob("*/bench.sv")} == {*plain.BENCHES}
    assert {name for names in plain.BENCHES.values() for name in names} <= plain.DESIGNS.keys() | plain.PARTS.keys()


def test_a_bench_that_says_nothing_fails(tmp_path):
    (tmp_path / "clock.v").write_text("module clock; initial $finish; endmodule\n")
    if shutil.which("iverilog"):
        with pytest.raises(tools.Failed, match="printed nothing"):
            plain.icarus(tmp_path, [tmp_path / "clock.v"])
