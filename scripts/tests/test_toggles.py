"""synth/toggles.py drives a netlist and records what it does."""

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


def recorded(folder):
    """Returns transitions per cycle and the share of time at 1 by pin (instance/pin) or port, of
    known values.
    """
    dump = toggles.dumped(folder / "core.v", folder / "cells.v", "core", folder / "run")
    names, changes, scope, time = {}, {}, [], 0
    for line in dump.read_text().splitlines():
        words = line.split()
        if line.startswith("$scope"):
            scope.append(words[2])
        elif line.startswith("$upscope"):
            scope.pop()
        elif line.startswith("$var"):
            path = "/".join([*scope, words[4].lstrip("\\")])
            names[path.removeprefix(f"{toggles.SCOPE}/")] = words[3]
        elif line.startswith("#"):
            time = int(line[1:])
        elif line[:1] in ("0", "1"):
            changes.setdefault(line[1:], []).append((time, line[0] == "1"))
    start, found = min(first for (first, _), *_ in changes.values()), {}
    for name, mark in names.items():
        series = changes[mark]
        ends = [when for when, _ in series[1:]] + [time]
        high = sum(end - when for (when, is_high), end in zip(series, ends, strict=True) if is_high)
        found[name] = ((len(series) - 1) * toggles.PERIOD / (time - start), high / (time - start))
    return found


def test_a_counter_has_the_activity_of_its_bits(folder):
    found = recorded(folder)
    assert found["_5_/Q"] == pytest.approx((1, 0.5), abs=0.01)
    assert found["_6_/Q"] == pytest.approx((0.5, 0.5), abs=0.01)
    assert found["_4_/Z"] == pytest.approx((0.5, 0.5), abs=0.01)


def test_operands_are_random_and_enables_are_one(folder):
    found = recorded(folder)
    for name in ("a_i[0]", "a_i[1]", "_7_/QN"):
        activity, duty = found[name]
        assert (activity, duty) == pytest.approx((0.5, 0.5), abs=0.1), name
    assert found["en_i"] == (0, 1)


def test_pins_without_nets_and_the_clock_are_recorded(folder):
    found = recorded(folder)
    assert found["_6_/QN"] == pytest.approx((0.5, 0.5), abs=0.01)
    assert found["_6_/CK"] == pytest.approx((2, 0.5), abs=0.01)


def test_a_core_with_a_ready_keeps_its_operands_until_they_are_taken(folder):
    path = folder / "core.v"
    # Ready in every second cycle.
    path.write_text(NETLIST.replace("r_o[0]", "in_ready_o").replace("D(\\a_i[1] ),\n    .QN", "D(_1_),\n    .Q"))
    found = recorded(folder)
    assert 0.2 < found["a_i[0]"][0] < 0.3


def with_inputs(count):
    """Returns the netlist with further operands x_i."""
    bits = [f"\\x_i[{bit}] " for bit in range(count)]
    lines = "".join(f"  input {bit};\n  wire {bit};\n" for bit in bits)
    return NETLIST.replace(");\n", f", {', '.join(bits)});\n{lines}", 1)


def test_the_first_operand_is_random_too(folder):
    # Never ready, so the operand that is there after the reset stays.
    text = with_inputs(64).replace("r_o[0]", "in_ready_o").replace("D(\\a_i[1] ),\n    .QN", "D(1'b0),\n    .Q")
    (folder / "core.v").write_text(text)
    found = recorded(folder)
    operand = [found[f"x_i[{bit}]"] for bit in range(64)]
    assert {activity for activity, _ in operand} == {0}
    assert 16 < sum(duty for _, duty in operand) < 48


def test_bits_of_operands_do_not_depend_on_each_other(folder):
    # With the two of a_i a power of two, the distance at which $urandom's numbers depend.
    (folder / "core.v").write_text(with_inputs(1022))
    found = recorded(folder)
    assert all(0.25 < found[f"x_i[{bit}]"][0] < 0.75 for bit in range(1022))


def test_a_change_of_the_bench_changes_the_version_and_a_comment_does_not():
    text = Path(toggles.__file__).read_text()
    assert toggles.code(text + "\n# A comment.\n") == toggles.code(text)
    assert toggles.code(text.replace('"""Returns whether an input', '"""Says whether an input')) == toggles.code(text)
    assert toggles.code(text.replace("$urandom >> 31", "$urandom")) != toggles.code(text)


def test_a_core_without_operands_is_refused(folder):
    path = folder / "core.v"
    path.write_text(NETLIST.replace("a_i[0]", "key_i").replace("a_i[1]", "mt_i"))
    with pytest.raises(tools.Failed, match="core: no operand to drive"):
        recorded(folder)


@pytest.mark.parametrize(
    ("port", "is_held"),
    [
        ("in_valid_i", True),
        ("out_ready_i", True),
        ("mt_i", True),
        ("one_low_i", True),
        ("bit_last_i", True),
        ("digit_i", False),
    ],
)
def test_inputs_are_known_by_their_names(port, is_held):
    assert toggles.held(port) == is_held
