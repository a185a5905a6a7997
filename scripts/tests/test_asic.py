"""synth/asic.py prepares netlists for OpenSTA and for simulation."""

import re
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import asic
import tools

LIBERTY = """library(tiny) {
  cell(XOR) {
    area : 1;
    pin(A) { direction : input; }
    pin(B) { direction : input; }
    pin(Z) { direction : output; function : "A ^ B"; }
  }
}
"""
NETLIST = """module inner(a_i, b_i, r_o);
  input a_i;
  input b_i;
  output r_o;
  wire _1_;
  XOR _2_ (.A(a_i), .B(b_i), .Z(_1_));
  XOR _3_ (.A(_1_), .B(b_i), .Z(r_o));
endmodule
module core(a_i, b_i, r_o);
  input a_i;
  input b_i;
  output r_o;
  wire \\u_one.r ;
  inner \\u_one.u_inner (.a_i(a_i), .b_i(b_i), .r_o(\\u_one.r ));
  inner u_two (.a_i(\\u_one.r ), .b_i(b_i), .r_o(r_o));
endmodule
"""


@pytest.fixture
def folder(monkeypatch):
    """A folder that YoWASP's tools can see, with a library of one cell."""
    if not Path(tools.YOSYS).exists():
        pytest.skip("Yosys is not installed")
    tools.WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=tools.WORK) as name:
        library = Path(name, "tiny.lib")
        library.write_text(LIBERTY)
        monkeypatch.setattr(asic, "liberty", lambda _: [library])
        yield Path(name)


def test_a_netlist_of_several_modules_becomes_one_with_the_same_cells(folder):
    path = folder / "core.v"
    path.write_text(NETLIST)
    text = asic.flat("tiny", path, "core").read_text()
    assert re.findall(r"^module (\w+)", text, re.MULTILINE) == ["core"]
    # Names that toggles.drivers reads.
    assert len(re.findall(r"^  XOR \w+ \(", text, re.MULTILINE)) == 4
    assert re.search(r"^  input a_i;", text, re.MULTILINE)


def test_a_netlist_of_one_module_stays(folder):
    path = folder / "core.v"
    path.write_text(NETLIST[: NETLIST.index("module core")])
    assert asic.flat("tiny", path, "inner") == path
