"""Packs registers into the multipliers of a netlist for the ECP5: Yosys leaves all of them outside,
though a MULT18X18D has one at each operand and one behind the product.

Nothing else changes, neither values nor cycles: a register moves only if all bits of an operand, or
of the product, have the same clock, enable and synchronous reset to zero, and nobody else sees what
lies between. Operands' registers may be those of several multipliers, each of which gets its own.
"""

import collections
import json
import re

# Raised when netlists come out otherwise: kept results follow it.
VERSION = 2

MULTIPLIER, FLIP_FLOP = "MULT18X18D", "TRELLIS_FF"
# What a flip-flop must be to go into the block.
PLAIN = {"CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET", "SRMODE": "LSR_OVER_CE"}
# A block's registers, by Lattice's names: the port that each is at, and the flip-flop's ports on
# the block's side and on the other.
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

    def is_operand(self, name, port):
        """Whether a port is one of a multiplier's operands."""
        return name is not None and self.cells[name]["type"] == MULTIPLIER and re.fullmatch(r"[AB]\d+", port)

    def flip_flop(self, bit, near):
        """The flip-flop at a bit whose output goes to nothing but multipliers' operands (`near` is
        Q), or that alone takes a product's bit (DI); or None.
        """
        takers = self.takers[bit]
        if near == "Q":
            name, port = self.drivers.get(bit, (None, None)) if all(self.is_operand(*taker) for taker in takers) else (None, None)
        else:
            name, port = takers[0] if len(takers) == 1 else (None, None)
        return name if port == near else None

    def register(self, cell, letter, near, far):
        """The register at a multiplier's operand or behind its product: what controls it, and for
        each bit at the multiplier its flip-flop and what is on the flip-flop's other side; or None.
        """
        controls, flip_flops = None, {}
        for port in ports(cell, letter):
            (bit,) = cell["connections"][port]
            # An operand's constant 0 is what a reset leaves; a product's bit that nobody takes
            # needs no register.
            if bit == "0" or (near == "DI" and not self.takers[bit]):
                continue
            name = None if isinstance(bit, str) else self.flip_flop(bit, near)
            found = self.controls(name)
            if found is None or found != (controls or found):
                return None
            controls = found
            flip_flops[bit] = (name, self.cells[name]["connections"][far][0])
        return (controls, flip_flops) if flip_flops else None

    def move(self, name, place, flip_flops):
        """Puts a multiplier's ports on the flip-flops' other side; those that nobody needs any more
        are gone.
        """
        letter, near, _ = place
        connections = self.cells[name]["connections"]
        for port in ports(self.cells[name], letter):
            (bit,) = connections[port]
            if bit not in flip_flops:
                continue
            flip_flop, beyond = flip_flops[bit]
            connections[port] = [beyond]
            if near == "Q":
                self.takers[bit].remove((name, port))
                self.takers[beyond].append((name, port))
                if not self.takers[bit]:
                    self.remove(flip_flop)
            else:
                self.remove(flip_flop)
                self.drivers[beyond] = (name, port)

    def remove(self, name):
        """Takes a cell out."""
        cell = self.cells.pop(name)
        for port, bits in cell["connections"].items():
            for bit in bits:
                if cell["port_directions"][port] == "input":
                    self.takers[bit].remove((name, port))


def ports(cell, letter):
    """The ports of one bit each that make up an operand or the product."""
    return [port for port, bits in cell["connections"].items() if re.fullmatch(rf"{letter}\d+", port) and bits]


def pack_one(module, name):
    """Packs the registers that a multiplier can take, both operands' or neither's, as nextpnr has
    no times for one: their places.
    """
    cell = module.cells[name]
    lines, packed = {"CLK": [], "CE": [], "RST": []}, []
    # The product's after the operands' are inside: a flip-flop can be between two multipliers, and
    # goes into one of them.
    for places in (("INPUTA", "INPUTB"), ("OUTPUT",)):
        found = {place: module.register(cell, *PLACES[place]) for place in places}
        if None in found.values():
            continue
        packed += places
        for place, (controls, flip_flops) in found.items():
            module.move(name, PLACES[place], flip_flops)
            for line, net in controls.items():
                if net not in lines[line]:
                    lines[line].append(net)
                cell["parameters"][f"REG_{place}_{line}"] = f"{line}{lines[line].index(net)}"
    for line, nets in lines.items():
        for k, net in enumerate(nets):
            cell["connections"][f"{line}{k}"] = [net]
            cell["port_directions"][f"{line}{k}"] = "input"
            module.takers[net].append((name, f"{line}{k}"))
    if packed:
        cell["parameters"]["RESETMODE"] = "SYNC"
    return packed


def instances(design, top):
    """How many instances of each module there are in a top and below it."""
    found = collections.Counter([top])
    for cell in design["modules"][top]["cells"].values():
        if design["modules"].get(cell["type"], {}).get("cells"):
            found += instances(design, cell["type"])
    return found


def pack(design, top):
    """Packs a netlist as Yosys writes it (JSON), in place: how many multipliers below its top have
    each register now.
    """
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
