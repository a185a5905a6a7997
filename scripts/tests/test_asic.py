"""synth/asic.py asks OpenSTA for the power of what a netlist does."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import asic
import toggles
import tools

#: Supply in V, capacitance of an input pin in pF, energy of a transition in pJ, leakage of a cell
#: in nW: values for which each part of the power is more than the tests' tolerance.
VOLT, PIN, ENERGY, LEAKAGE = 2, 0.25, {"XOR": 3, "FF": 5}, 7000
#: Energy of a clock edge in a register, in pJ.
EDGE = 1.5

#: Delays and slopes of a timing arc.
ARCS = " ".join(
    f'{kind}(scalar) {{ values("0.1"); }}' for kind in ("cell_rise", "cell_fall", "rise_transition", "fall_transition")
)


def energy(picojoules, related=""):
    """Returns the internal power of a pin."""
    tables = " ".join(f'{edge}_power(scalar) {{ values("{picojoules}"); }}' for edge in ("rise", "fall"))
    return f"internal_power() {{ {related} {tables} }}"


LIBERTY = f"""library(tiny) {{
  time_unit : "1ns"; voltage_unit : "1V"; current_unit : "1mA"; leakage_power_unit : "1nW";
  capacitive_load_unit(1, pf); nom_voltage : {VOLT}; default_operating_conditions : usual;
  operating_conditions(usual) {{ process : 1; temperature : 25; voltage : {VOLT}; }}
  cell(XOR) {{
    area : 1; cell_leakage_power : {LEAKAGE};
    pin(A) {{ direction : input; capacitance : {PIN}; }}
    pin(B) {{ direction : input; capacitance : {PIN}; }}
    pin(Z) {{ direction : output; function : "A ^ B";
      timing() {{ related_pin : "A"; timing_sense : non_unate; {ARCS} }}
      timing() {{ related_pin : "B"; timing_sense : non_unate; {ARCS} }}
      {energy(ENERGY["XOR"], 'related_pin : "A";')} {energy(ENERGY["XOR"], 'related_pin : "B";')}
    }}
  }}
  cell(FF) {{
    area : 1; cell_leakage_power : {LEAKAGE};
    ff(IQ, IQN) {{ next_state : "D"; clocked_on : "CK"; }}
    pin(CK) {{ direction : input; clock : true; capacitance : {PIN}; {energy(EDGE)} }}
    pin(D) {{ direction : input; capacitance : {PIN}; }}
    pin(Q) {{ direction : output; function : "IQ";
      timing() {{ related_pin : "CK"; timing_type : rising_edge; {ARCS} }}
      {energy(ENERGY["FF"], 'related_pin : "CK";')}
    }}
  }}
}}
"""
CELLS = """module FF (CK, D, Q);
  input CK;
  input D;
  output Q;
  reg IQ = 0;
  always @(posedge CK) IQ <= D;
  assign Q = IQ;
endmodule
module XOR (A, B, Z);
  input A;
  input B;
  output Z;
  assign Z = A ^ B;
endmodule
"""
#: A register that changes in every cycle in which en_i is 1, and one that follows it one cycle
#: later. A gate whose output never changes, because its inputs change together.
NETLIST = r"""module core(clk_i, en_i, \a_i[0] , r_o);
  input clk_i;
  input en_i;
  input \a_i[0] ;
  output r_o;
  wire _1_;
  wire \first_q[0] ;
  wire second_q;
  XOR _3_ (.A(en_i), .B(\first_q[0] ), .Z(_1_));
  FF _4_ (.CK(clk_i), .D(_1_), .Q(\first_q[0] ));
  FF _5_ (.CK(clk_i), .D(\first_q[0] ), .Q(second_q));
  XOR _6_ (.A(\first_q[0] ), .B(second_q), .Z(r_o));
endmodule
"""
#: The same gates, below a module of their own.
INNER = r"""module core(clk_i, en_i, \a_i[0] , r_o);
  input clk_i;
  input en_i;
  input \a_i[0] ;
  output r_o;
  part \u_part.gen[0].u_one (.clk_i(clk_i), .en_i(en_i), .\a_i[0] (\a_i[0] ), .r_o(r_o));
endmodule
"""


@pytest.fixture
def flow(tmp_path, monkeypatch):
    """The flow with a library of two cells."""
    if not shutil.which("iverilog"):
        pytest.skip("iverilog is not installed")
    if asic.sta_version() != asic.STA_VERSION:
        pytest.skip(f"HEARITH_STA does not name OpenSTA {asic.STA_VERSION}, which no package has")
    library, cells, netlist = tmp_path / "tiny.lib", tmp_path / "cells.v", tmp_path / "core.v"
    library.write_text(LIBERTY)
    cells.write_text(CELLS)
    netlist.write_text(NETLIST)
    monkeypatch.setattr(tools, "WORK", tmp_path)
    monkeypatch.setattr(asic, "LIBRARIES", {"tiny": asic.Library({}, "two cells", "XOR")})
    monkeypatch.setattr(asic, "liberty", lambda _: [library])
    monkeypatch.setattr(asic, "models", lambda _: cells)
    monkeypatch.setattr(asic, "netlist", lambda *_: None)
    monkeypatch.setattr(asic, "netlist_file", lambda *_: netlist)
    monkeypatch.setattr(tools, "CACHE", "none")
    return netlist


def by_hand(changes):
    """Returns the microwatts per MHz, which are pJ per cycle, of the netlist if its first register
    changes so often per cycle.
    """
    # The first register drives three pins and the second one, and the first gate one.
    switching = VOLT**2 / 2 * PIN * (3 + 1 + 1) * changes
    internal = (2 * ENERGY["FF"] + ENERGY["XOR"]) * changes
    clock = 2 * 2 * EDGE
    leakage = 4 * LEAKAGE * 1e-3 / (1000 / toggles.PERIOD)
    return switching + internal + clock + leakage


def test_power_is_that_of_the_counted_transitions(flow):
    assert asic.power("tiny", "core", {}) == pytest.approx(by_hand(1), rel=0.01)


def test_a_core_that_rests_takes_the_clock_and_leakage_only(flow):
    flow.write_text(NETLIST.replace(".A(en_i)", ".A(1'b0)"))
    assert asic.power("tiny", "core", {}) == pytest.approx(by_hand(0), rel=0.01)


def test_gates_of_inner_modules_count(flow):
    flow.write_text(NETLIST.replace("module core", "module part") + INNER)
    assert asic.power("tiny", "core", {}) == pytest.approx(by_hand(1), rel=0.01)
