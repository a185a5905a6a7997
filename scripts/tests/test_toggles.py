"""synth/toggles.py counts what a netlist does."""

import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import toggles
import tools

CELLS = """module FF (CK, D, Q, QN);
  input CK;
  input D;
  output Q;
  output QN;
  reg IQ = 0;
  always @(posedge CK) IQ <= D;
  assign Q = IQ;
  assign QN = ~IQ;
endmodule
module XOR (A, B, Z);
  input A;
  input B;
  output Z;
  assign Z = A ^ B;
endmodule
"""
#: Two bits that count while en_i is 1, and a register of a random operand.
NETLIST = r"""module core(clk_i, en_i, \a_i[0] , \a_i[1] , \r_o[0] );
  wire _1_;
  wire _2_;
  wire \u_x.gen[1].low_q ;
  wire \high_q[0] ;
  input clk_i;
  wire clk_i;
  input en_i;
  wire en_i;
  input \a_i[0] ;
  wire \a_i[0] ;
  input \a_i[1] ;
  wire \a_i[1] ;
  output \r_o[0] ;
  wire \r_o[0] ;
  XOR _3_ (
    .A(en_i),
    .B(\u_x.gen[1].low_q ),
    .Z(_1_)
  );
  XOR _4_ (
    .A(\u_x.gen[1].low_q ),
    .B(\high_q[0] ),
    .Z(_2_)
  );
  FF _5_ (
    .CK(clk_i),
    .D(_1_),
    .Q(\u_x.gen[1].low_q )
  );
  FF _6_ (
    .CK(clk_i),
    .D(_2_),
    .Q(\high_q[0] ),
    .QN()
  );
  FF _7_ (
    .CK(clk_i),
    .D(\a_i[1] ),
    .QN(\r_o[0] )
  );
endmodule
"""


@pytest.fixture
def folder(tmp_path):
    if not shutil.which("iverilog"):
        pytest.skip("iverilog is not installed")
    (tmp_path / "core.v").write_text(NETLIST)
    (tmp_path / "cells.v").write_text(CELLS)
    return tmp_path


def commands(folder):
    """Returns activity and duty by pin or port."""
    text = toggles.activities(folder / "core.v", folder / "cells.v", "core", folder / "run")
    assert not (folder / "run").exists()
    number, name = r"(\d+\.\d+)", r"\{(\S+)\}"
    forms = (
        rf"sta::set_power_pin_activity \[get_pins {name}\] {number} {number}",
        rf"set_power_activity -input_ports {name} -activity {number} -duty {number}",
    )
    rows = [re.fullmatch("|".join(forms), line).groups() for line in text.splitlines()]
    rows = [[one for one in row if one is not None] for row in rows]
    return {name: (float(activity), float(duty)) for name, activity, duty in rows}


def test_a_counter_has_the_activity_of_its_bits(folder):
    found = commands(folder)
    assert found["_5_/Q"] == pytest.approx((1, 0.5), abs=0.01)
    assert found["_6_/Q"] == pytest.approx((0.5, 0.5), abs=0.01)
    assert found["_4_/Z"] == pytest.approx((0.5, 0.5), abs=0.01)


def test_operands_are_random_and_enables_are_one(folder):
    found = commands(folder)
    for name in ("a_i[0]", "a_i[1]", "_7_/QN"):
        activity, duty = found[name]
        assert (activity, duty) == pytest.approx((0.5, 0.5), abs=0.1), name
    assert found["en_i"] == (0, 1)
    # The second output of _6_ is not connected, and the clock has its own activity.
    assert not {"_6_/QN", "clk_i"} & found.keys()


def test_a_core_with_a_ready_keeps_its_operands_until_they_are_taken(folder):
    path = folder / "core.v"
    # Ready in every second cycle.
    path.write_text(NETLIST.replace("r_o[0]", "in_ready_o").replace("D(\\a_i[1] ),\n    .QN", "D(_1_),\n    .Q"))
    found = commands(folder)
    assert 0.2 < found["a_i[0]"][0] < 0.3


def test_a_core_without_operands_is_refused(folder):
    path = folder / "core.v"
    path.write_text(NETLIST.replace("a_i[0]", "key_i").replace("a_i[1]", "mt_i"))
    with pytest.raises(tools.Failed, match="core: no operand to drive"):
        commands(folder)


def test_an_unknown_value_is_no_transition():
    dump = ["$var wire 1 ! \\u.a[3] $end\n", "#40\n", "x!\n", "#50\n", "1!\n", "#60\n", "0!\n", "#80\n"]
    assert toggles.counted(dump) == {"u.a[3]": (1 * toggles.STEP / 40, 0.25)}


@pytest.mark.parametrize(
    ("port", "is_held"),
    [("in_valid_i", True), ("out_ready_i", True), ("mt_i", True), ("one_low_i", True), ("digit_i", False)],
)
def test_inputs_are_known_by_their_names(port, is_held):
    assert toggles.held(port) == is_held
