"""Packs registers into the multipliers of a netlist for the ECP5: Yosys leaves all of them outside, though a MULT18X18D has one at each operand and one
behind the product.

Nothing else changes, neither values nor cycles: a register moves only if all bits of an operand, or of the product, have the same clock, enable and
synchronous reset to zero, and nobody but the multiplier sees what lies between.
"""

import collections
import json
import re

# Raised when netlists come out otherwise: kept results follow it.
VERSION = 1

MULTIPLIER, FLIP_FLOP = "MULT18X18D", "TRELLIS_FF"
# What a flip-flop must be to go into the block.
PLAIN = {"CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET", "SRMODE": "LSR_OVER_CE"}
# A block's registers, by Lattice's names: the port that each is at, and the flip-flop's ports on the block's side and on the other.
PLACES = {"INPUTA": ("A", "Q", "DI"), "INPUTB": ("B", "Q", "DI"), "OUTPUT": ("P", "DI", "Q")}


class Module:
    """A module of a netlist: for each bit the port that drives it, and those that take it."""

    def __init__(self, content):
        self.cells = content["cells"]
        self.drivers, self.takers = {}, collections.defaultdict(list)
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if cell["port_directions"][port] == "output":
                        self.drivers[bit] = (name, port)
                    else:
                        self.takers[bit].append((name, port))
        for port in content["ports"].values():
            for bit in port["bits"]:
                self.takers[bit].append((None, None))

    def controls(self, name):
        """Clock, enable and reset of a flip-flop, or None if the block has none of its kind."""
        cell = self.cells.get(name)
        if cell is None or cell["type"] != FLIP_FLOP:
            return None
        parameters, ports = cell["parameters"], cell["connections"]
        enable = parameters.get("CEMUX", "CE").strip()
        if enable not in ("CE", "1") or any(parameters.get(key, value) != value for key, value in PLAIN.items()):
            return None
        return {"CLK": ports["CLK"][0], "CE": ports["CE"][0] if enable == "CE" else "1", "RST": ports.get("LSR", ["0"])[0]}

    def flip_flop(self, bit, near):
        """The flip-flop whose port `near`, and nothing else but a multiplier, is at a bit; or None."""
        takers = self.takers[bit]
        if len(takers) != 1:
            return None
        name, port = self.drivers.get(bit, (None, None)) if near == "Q" else takers[0]
        return name if port == near else None

    def register(self, bits, near, far):
        """Flip-flops that make up a register at an operand or a product: their names, their controls, and what each bit is on the other side; or None."""
        names, controls, beyond = [], [], {}
        for bit in bits:
            # An operand's constant 0 is what a reset leaves; a product's bit that nobody takes needs no register.
            if bit == "0" or (near == "DI" and not self.takers[bit]):
                continue
            name = None if isinstance(bit, str) else self.flip_flop(bit, near)
            found = self.controls(name)
            if found is None or found not in (controls or [found]):
                return None
            names.append(name)
            controls = [found]
            beyond[bit] = self.cells[name]["connections"][far][0]
        return (names, controls[0], beyond) if names else None


def ports(cell, letter):
    """The ports of one bit each that make up an operand or the product."""
    return [port for port, bits in cell["connections"].items() if re.fullmatch(rf"{letter}\d+", port) and bits]


def pack_one(module, name):
    """Packs the registers that a multiplier can take, both operands' or neither's, as nextpnr has no times for one: their places."""
    cell = module.cells[name]
    connections = cell["connections"]
    found = {}
    for place, (letter, near, far) in PLACES.items():
        found[place] = module.register([connections[port][0] for port in ports(cell, letter)], near, far)
    if found["INPUTA"] is None or found["INPUTB"] is None:
        found["INPUTA"] = found["INPUTB"] = None
    # A register of both operands' bits, as of a square, is in neither alone: `register` has refused it, since two ports take it.
    lines = {"CLK": [], "CE": [], "RST": []}
    packed = {place: register for place, register in found.items() if register}
    for place, (names, controls, beyond) in packed.items():
        for flip_flop in names:
            del module.cells[flip_flop]
        for port in ports(cell, PLACES[place][0]):
            connections[port] = [beyond.get(bit, bit) for bit in connections[port]]
        for line, net in controls.items():
            if net not in lines[line]:
                lines[line].append(net)
            cell["parameters"][f"REG_{place}_{line}"] = f"{line}{lines[line].index(net)}"
    for line, nets in lines.items():
        for k, net in enumerate(nets):
            connections[f"{line}{k}"] = [net]
            cell["port_directions"][f"{line}{k}"] = "input"
    if packed:
        cell["parameters"]["RESETMODE"] = "SYNC"
    return collections.Counter(packed.keys())


def instances(design, top):
    """How many instances of each module there are in a top and below it."""
    found = collections.Counter([top])
    for cell in design["modules"][top]["cells"].values():
        if design["modules"].get(cell["type"], {}).get("cells"):
            found += instances(design, cell["type"])
    return found


def pack(design, top):
    """Packs a netlist as Yosys writes it (JSON), in place: how many multipliers below its top have each register now."""
    times, total = instances(design, top), collections.Counter()
    for kind, content in design["modules"].items():
        multipliers = [name for name, cell in content["cells"].items() if cell["type"] == MULTIPLIER]
        module = Module(content) if multipliers else None
        for name in multipliers:
            for place in pack_one(module, name):
                total[place] += times[kind]
    return dict(total)


def pack_file(path, top="harness"):
    """The same in a file."""
    design = json.loads(path.read_text())
    packed = pack(design, top)
    path.write_text(json.dumps(design))
    return packed
