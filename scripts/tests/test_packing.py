"""After registers are packed into multipliers, the netlist behaves the same in every cycle."""

import copy
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "synth"))
import packing

BITS = 3
# Bits of the netlist: its clock, reset and enable, then the inputs.
CLOCK, RESET, ENABLE = 2, 3, 4
A, B = range(10, 10 + BITS), range(20, 20 + BITS)


def flip_flop(d, q, enable=None, reset=RESET, **parameters):
    """Returns a TRELLIS_FF as Yosys writes it."""
    connections = {
        "CLK": [CLOCK],
        "DI": [d],
        "Q": [q],
        "LSR": [reset],
        **({"CE": [enable]} if enable is not None else {}),
    }
    given = {
        "CEMUX": "1 " if enable is None else "CE",
        "CLKMUX": "CLK",
        "LSRMUX": "LSR",
        "REGSET": "RESET",
        "SRMODE": "LSR_OVER_CE",
        **parameters,
    }
    directions = {port: "output" if port == "Q" else "input" for port in connections}
    return {"type": "TRELLIS_FF", "parameters": given, "port_directions": directions, "connections": connections}


def multiplier(a, b, p):
    connections = (
        {f"A{k}": [bit] for k, bit in enumerate(a)}
        | {f"B{k}": [bit] for k, bit in enumerate(b)}
        | {f"P{k}": [bit] for k, bit in enumerate(p)}
    )
    directions = {port: "output" if port[0] == "P" else "input" for port in connections}
    return {"type": "MULT18X18D", "parameters": {}, "port_directions": directions, "connections": connections}


def registered(a_enable=None, b_reset=RESET):
    """Returns a multiplier with a register at each operand and one at the product, and the bits of
    its result.
    """
    a_q, b_q, p, p_q = range(30, 30 + BITS), range(40, 40 + BITS), range(50, 50 + 2 * BITS), range(60, 60 + 2 * BITS)
    cells = {f"a{k}": flip_flop(A[k], a_q[k], enable=a_enable) for k in range(BITS)}
    cells |= {f"b{k}": flip_flop(B[k], b_q[k], reset=b_reset) for k in range(BITS)}
    cells |= {f"p{k}": flip_flop(p[k], p_q[k]) for k in range(2 * BITS)}
    cells["product"] = multiplier([*a_q, "0"], b_q, p)
    inputs = [CLOCK, RESET, ENABLE, *A, *B]
    return {
        "attributes": {},
        "cells": cells,
        "ports": {"in": {"direction": "input", "bits": inputs}, "out": {"direction": "output", "bits": [*p_q]}},
    }, p_q


def shared(square=False):
    """Returns two multipliers whose operands A share one register.

    The operands repeat its highest bit, as in a sign extension. The second multiplier may compute
    its square.
    """
    module, p_q = registered()
    cells = module["cells"]
    other_b, other_p, other_q = range(140, 140 + BITS), range(150, 150 + 2 * BITS), range(160, 160 + 2 * BITS)
    if square:
        other_b = range(30, 30 + BITS)
    else:
        cells |= {f"ob{k}": flip_flop(A[k], other_b[k], enable=ENABLE) for k in range(BITS)}
    cells["other"] = multiplier([*range(30, 30 + BITS), 32], other_b, other_p)
    cells["product"]["connections"]["A3"] = [32]
    cells |= {f"op{k}": flip_flop(other_p[k], other_q[k]) for k in range(2 * BITS)}
    module["ports"]["out"]["bits"] += other_q
    return module, [*p_q, *other_q]


def chained(order):
    """Returns a multiplier whose product register is another one's operand register and can move
    into only one of them.
    """
    module, _ = registered()
    cells = module["cells"]
    middle = [60 + k for k in range(BITS)]
    last, last_q = range(250, 250 + 2 * BITS), range(260, 260 + 2 * BITS)
    for k in range(BITS, 2 * BITS):
        del cells[f"p{k}"]
        del cells["product"]["connections"][f"P{k}"]
    cells["second"] = multiplier(middle, range(240, 243), last)
    cells |= {f"sb{k}": flip_flop(B[k], 240 + k) for k in range(BITS)}
    cells |= {f"sp{k}": flip_flop(last[k], last_q[k]) for k in range(2 * BITS)}
    module["ports"]["out"]["bits"] = [*last_q]
    module["cells"] = {name: cells[name] for name in sorted(cells, key=lambda name: order * (name == "second"))}
    return module, last_q


def number(bits, values):
    return sum(values[bit] << k for k, bit in enumerate(bits))


class Simulation:
    """Simulates a module cycle by cycle: flip-flops and multipliers, with or without internal
    registers.
    """

    def __init__(self, module):
        self.cells = module["cells"]
        self.state = {}

    def operand(self, name, letter, values):
        bits = [self.cells[name]["connections"][port][0] for port in packing.ports(self.cells[name], letter)]
        return number(bits, values)

    def registers(self):
        """Yields every register: its place, its controls, and its input, as a function of the bits'
        values.
        """
        for name, cell in self.cells.items():
            ports, parameters = cell["connections"], cell["parameters"]
            if cell["type"] == "TRELLIS_FF":
                enable = ports["CE"][0] if parameters["CEMUX"] == "CE" else "1"
                yield (name, "Q"), ports["LSR"][0], enable, lambda values, ports=ports: values[ports["DI"][0]]
                continue
            for place, (letter, _, _) in packing.PLACES.items():
                if f"REG_{place}_CLK" in parameters:
                    reset, enable = (ports[parameters[f"REG_{place}_{line}"]][0] for line in ("RST", "CE"))
                    taken = (
                        (lambda values, name=name: self.product(name, values))
                        if letter == "P"
                        else (lambda values, name=name, letter=letter: self.operand(name, letter, values))
                    )
                    yield (name, place), reset, enable, taken

    def product(self, name, values):
        factors = []
        for place in ("INPUTA", "INPUTB"):
            inside = f"REG_{place}_CLK" in self.cells[name]["parameters"]
            factors.append(
                self.state.get((name, place), 0) if inside else self.operand(name, packing.PLACES[place][0], values)
            )
        return factors[0] * factors[1]

    def step(self, inputs, out):
        """Returns the result in this cycle, then applies the clock edge."""
        values = {"0": 0, "1": 1, **inputs}
        for name, cell in self.cells.items():
            if cell["type"] == "TRELLIS_FF":
                values[cell["connections"]["Q"][0]] = self.state.get((name, "Q"), 0)
        for name, cell in self.cells.items():
            if cell["type"] == "MULT18X18D":
                inside = "REG_OUTPUT_CLK" in cell["parameters"]
                product = self.state.get((name, "OUTPUT"), 0) if inside else self.product(name, values)
                values |= {
                    cell["connections"][port][0]: product >> k & 1 for k, port in enumerate(packing.ports(cell, "P"))
                }
        result = number(out, values)
        after = {}
        for place, reset, enable, taken in self.registers():
            after[place] = 0 if values[reset] else taken(values) if values[enable] else self.state.get(place, 0)
        self.state = after
        return result


def same(before, after, out):
    """Whether two modules give the same outputs for all inputs."""
    draw = random.Random(1)
    simulations = [Simulation(before), Simulation(after)]
    results = set()
    for _ in range(500):
        inputs = {bit: draw.getrandbits(1) for bit in (*A, *B, ENABLE)} | {
            RESET: int(draw.random() < 0.1),
            RESET + 100: int(draw.random() < 0.1),
        }
        one, other = (simulation.step(inputs, out) for simulation in simulations)
        if one != other:
            return False
        results.add(one)
    # Guards against outputs that never change.
    return len(results) > 10


@pytest.mark.parametrize(
    ("enable", "reset"), [(None, RESET), (ENABLE, RESET), (None, RESET + 100), (ENABLE, RESET + 100)]
)
def test_all_registers_go_into_the_block(enable, reset):
    module, out = registered(enable, reset)
    design = {"modules": {"harness": copy.deepcopy(module)}}
    assert packing.pack(design, "harness") == {"INPUTA": 1, "INPUTB": 1, "OUTPUT": 1}
    packed = design["modules"]["harness"]
    assert set(packed["cells"]) == {"product"}
    assert same(module, packed, out)


def test_a_wrong_packing_is_told():
    module, out = registered(ENABLE)
    design = {"modules": {"harness": copy.deepcopy(module)}}
    packing.pack(design, "harness")
    product = design["modules"]["harness"]["cells"]["product"]
    product["parameters"]["REG_INPUTA_CE"] = product["parameters"]["REG_INPUTB_CE"]
    assert not same(module, design["modules"]["harness"], out)


@pytest.mark.parametrize("square", [False, True])
def test_a_register_of_several_operands_goes_into_each_block(square):
    module, out = shared(square)
    design = {"modules": {"harness": copy.deepcopy(module)}}
    assert packing.pack(design, "harness") == {"INPUTA": 2, "INPUTB": 2, "OUTPUT": 2}
    packed = design["modules"]["harness"]
    assert set(packed["cells"]) == {"product", "other"}
    assert same(module, packed, out)


def test_a_register_stays_for_the_block_that_cannot_take_it():
    module, out = shared()
    other_edge_at = module["cells"]["ob1"]
    other_edge_at["parameters"]["CEMUX"] = "INV"
    design = {"modules": {"harness": copy.deepcopy(module)}}
    assert packing.pack(design, "harness") == {"INPUTA": 1, "INPUTB": 1, "OUTPUT": 2}
    packed = design["modules"]["harness"]
    assert {"a0", "a1", "a2", "ob0"} <= set(packed["cells"])
    assert "b0" not in packed["cells"]
    other_edge_at["parameters"]["CEMUX"] = packed["cells"]["ob1"]["parameters"]["CEMUX"] = "CE"
    assert same(module, packed, out)


@pytest.mark.parametrize("order", [1, -1])
def test_a_register_between_two_blocks_goes_into_one(order):
    module, out = chained(order)
    design = {"modules": {"harness": copy.deepcopy(module)}}
    places = packing.pack(design, "harness")
    assert places["INPUTA"] + places.get("OUTPUT", 0) == 3
    packed = design["modules"]["harness"]
    assert same(module, packed, out)


def lookers_on(cells):
    """Another cell reads a bit of an operand, so its register cannot move inside."""
    cells["other"] = flip_flop(30, 90)


def other_edge(cells):
    cells["b1"]["parameters"]["CLKMUX"] = "INV"


def set_by_reset(cells):
    cells["a2"]["parameters"]["REGSET"] = "SET"


def asynchronous(cells):
    cells["a0"]["parameters"]["SRMODE"] = "ASYNC"


def two_enables(cells):
    cells["b0"] = flip_flop(B[0], 40, enable=ENABLE)


@pytest.mark.parametrize("spoil", [lookers_on, other_edge, set_by_reset, asynchronous, two_enables])
def test_both_operands_registers_stay_where_one_cannot_go(spoil):
    module, _ = registered()
    spoil(module["cells"])
    design = {"modules": {"harness": module}}
    assert packing.pack(design, "harness") == {"OUTPUT": 1}
    assert {"a0", "b0"} <= set(module["cells"])


def test_a_product_that_is_looked_at_stays_outside():
    module, _ = registered()
    module["ports"]["out"]["bits"].append(50)
    assert packing.pack({"modules": {"harness": module}}, "harness") == {"INPUTA": 1, "INPUTB": 1}


def test_multipliers_are_counted_in_every_instance():
    module, _ = registered()
    top = {
        "cells": {
            f"u{k}": {"type": "core", "port_directions": {}, "connections": {}, "parameters": {}} for k in range(3)
        },
        "ports": {},
    }
    assert packing.pack({"modules": {"core": module, "harness": top}}, "harness") == {
        "INPUTA": 3,
        "INPUTB": 3,
        "OUTPUT": 3,
    }
