"""synth/asic.py maps a core to cells that compute what its source does, with adders as trees."""

import functools
import os
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import asic
import tools

#: A cell's inputs, Liberty function and the same in Python.
GATES = {
    "INV": ("A", "!A", lambda a: not a),
    "BUF": ("A", "A", lambda a: a),
    "NAND": ("AB", "!(A & B)", lambda a, b: not (a and b)),
    "NOR": ("AB", "!(A | B)", lambda a, b: not (a or b)),
    "XOR": ("AB", "A ^ B", lambda a, b: a != b),
}
#: Delays and slopes, which grow with the input's slope and the load. ABC needs three points of
#: each.
POINTS = 'index_1("0.001, 0.1, 0.2"); index_2("0.4, 30, 60");'
VALUES = 'values("0.02, 0.1, 0.17", "0.03, 0.11, 0.18", "0.04, 0.12, 0.19");'
TABLES = " ".join(
    f"{kind}(grid) {{ {POINTS} {VALUES} }}" for kind in ("cell_rise", "cell_fall", "rise_transition", "fall_transition")
)


def gate(name):
    """Returns a gate in Liberty."""
    inputs, function, _ = GATES[name]
    pins = "".join(f"pin({one}) {{ direction : input; capacitance : 1; }}\n" for one in inputs)
    arcs = "".join(f'timing() {{ related_pin : "{one}"; timing_sense : non_unate; {TABLES} }}\n' for one in inputs)
    result = f'pin(Z) {{ direction : output; function : "{function}"; max_capacitance : 60;\n{arcs} }}'
    return f"cell({name}) {{ area : {len(inputs)};\n{pins}{result}\n}}\n"


LIBERTY = f"""library(small) {{
  time_unit : "1ns"; voltage_unit : "1V"; current_unit : "1mA"; capacitive_load_unit(1, ff);
  lu_table_template(grid) {{
    variable_1 : input_net_transition; variable_2 : total_output_net_capacitance;
    {POINTS}
  }}
  {"".join(map(gate, GATES))}
  cell(DFF) {{
    area : 6;
    ff(IQ, IQN) {{ next_state : "D"; clocked_on : "CK"; }}
    pin(CK) {{ direction : input; clock : true; capacitance : 1; }}
    pin(D) {{ direction : input; capacitance : 1; }}
    pin(Q) {{ direction : output; function : "IQ"; }}
  }}
}}
"""
#: Bits of the mapped reducer: y = x mod 2^BITS + 1.
BITS = 64
MODULUS = 2**BITS + 1


@pytest.fixture(scope="module")
def netlist():
    """What drives each net of a mapped reducer: the kind of a cell and the nets of its inputs."""
    if "HEARITH_YOSYS" not in os.environ and not shutil.which(tools.YOSYS):
        pytest.skip("Yosys is not installed (make hardware-tools)")
    tools.WORK.mkdir(parents=True, exist_ok=True)
    # YoWASP's programs have a /tmp of their own.
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir=tools.WORK) as name:
        folder = Path(name)
        library = folder / "small.lib"
        library.write_text(LIBERTY)
        patch.setattr(tools, "WORK", folder)
        patch.setattr(tools, "CACHE", "none")
        patch.setattr(asic, "LIBRARIES", {"small": asic.Library({}, "six cells", "BUF")})
        patch.setattr(asic, "liberty", lambda _: [library])
        asic.netlist("small", "reduce_fermat", {"A": BITS})
        text = asic.netlist_file("small", "reduce_fermat", {"A": BITS}).read_text()
    kinds = "|".join([*GATES, "DFF"])
    cells = re.findall(rf"^  ({kinds}) \S+ \((.*?)\);", text, re.MULTILINE | re.DOTALL)
    drivers = {}
    for kind, text_of_pins in cells:
        pins = dict(re.findall(r"\.(\w+)\(\s*(.*?)\s*\)", text_of_pins))
        drivers[pins.get("Z") or pins["Q"]] = kind, [pins[name] for name in ("A", "B", "D") if name in pins]
    # An output that is a register's, or another's, is assigned.
    for net, other in re.findall(r"^  assign (\S.*?) = (\S.*?);", text, re.MULTILINE):
        drivers[net] = "assign", [other]
    return drivers


def test_adders_of_a_mapped_core_are_trees(netlist):
    @functools.cache
    def depth(net):
        kind, inputs = netlist.get(net, ("DFF", []))
        return 0 if kind == "DFF" else (kind in GATES) + max(map(depth, inputs))

    longest = max(depth(net) for kind, inputs in netlist.values() if kind == "DFF" for net in inputs)
    # A chain of carries takes one or two gates per bit.
    assert BITS.bit_length() < longest < BITS * 2 / 3


def test_a_mapped_core_computes(netlist):
    registers = {net: inputs[0] for net, (kind, inputs) in netlist.items() if kind == "DFF"}
    functions = {kind: function for kind, (_, _, function) in GATES.items()} | {"assign": bool}

    def value(net, known):
        """Returns a net's value from known ones, and adds it to them."""
        if net not in known:
            kind, inputs = netlist[net]
            known[net] = functions[kind](*(value(one, known) for one in inputs))
        return known[net]

    def step(inputs, state):
        """Returns the registers after a cycle."""
        known = {"1'h0": False, "1'h1": True, **inputs, **state}
        return {net: value(source, known) for net, source in registers.items()}

    draw = random.Random(5)
    factors = [(MODULUS - 1, MODULUS - 1), (0, 0), (1, MODULUS - 1)]
    factors += [(draw.randrange(MODULUS), draw.randrange(MODULUS)) for _ in range(40)]
    for a, b in factors:
        inputs = {rf"\x_i[{at}]": bool(a * b >> at & 1) for at in range(2 * BITS + 1)} | {"en_i": True}
        state = step(inputs, step(inputs, dict.fromkeys(registers, False)))
        y = sum(value(rf"\y_o[{at}]", dict(state)) << at for at in range(BITS + 1))
        assert y == a * b % MODULUS
