"""Packs registers into the multipliers of an ECP5 netlist.

Yosys leaves all registers outside, although a MULT18X18D has one at each operand and one at the
product.

Values and cycles do not change. A register moves only if all bits of an operand, or of the product,
have the same clock, enable and synchronous reset to zero, and nothing else reads the net between.
An operand's register may feed several multipliers, each of which gets its own copy.
"""

import collections
import json
import re

# Increment when the resulting netlists change, to invalidate kept results.
VERSION = 2

MULTIPLIER, FLIP_FLOP = "MULT18X18D", "TRELLIS_FF"
# Properties of a flip-flop that can move into the block.
PLAIN = {"CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET", "SRMODE": "LSR_OVER_CE"}
# A block's registers, by Lattice's names: their port, and the flip-flop's ports towards the block
# and away from it.
PLACES = {"INPUTA": ("A", "Q", "DI"), "INPUTB": ("B", "Q", "DI"), "OUTPUT": ("P", "DI", "Q")}


class Module:
    """A module of a netlist: for each bit the port that drives it, and the ports that read it."""

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
        """Returns clock, enable and reset of a flip-flop, or None if the block has no such
        register.
        """
        cell = self.cells.get(name)
        if cell is None or cell["type"] != FLIP_FLOP:
            return None
        parameters, ports = cell["parameters"], cell["connections"]
        enable = parameters.get("CEMUX", "CE").strip()
        if enable not in ("CE", "1") or any(parameters.get(key, value) != value for key, value in PLAIN.items()):
            return None
        return {"CLK": ports["CLK"][0], "CE": ports["CE"][0] if enable == "CE" else "1", "RST": ports.get("LSR", ["0"])[0]}

    def is_operand(self, name, port):
        """Whether a port is part of a multiplier's operand."""
        return name is not None and self.cells[name]["type"] == MULTIPLIER and re.fullmatch(r"[AB]\d+", port)

    def flip_flop(self, bit, near):
        """Returns the flip-flop at a bit, or None.

        For an operand (`near` is Q), it must drive only multipliers' operands. For a product (DI),
        it must be the only reader of the bit.
        """
        takers = self.takers[bit]
        if near == "Q":
            name, port = self.drivers.get(bit, (None, None)) if all(self.is_operand(*taker) for taker in takers) else (None, None)
        else:
            name, port = takers[0] if len(takers) == 1 else (None, None)
        return name if port == near else None

    def register(self, cell, letter, near, far):
        """Returns the register at a multiplier's operand or product, or None.

        The result holds its controls and, for each bit at the multiplier, its flip-flop and the net
        on the flip-flop's other side.
        """
        controls, flip_flops = None, {}
        for port in ports(cell, letter):
            (bit,) = cell["connections"][port]
            # An operand's constant 0 equals the reset value; an unread product bit needs no
            # register.
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
        """Connects a multiplier's ports to the flip-flops' other side and removes unused
        flip-flops.
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
        """Removes a cell."""
        cell = self.cells.pop(name)
        for port, bits in cell["connections"].items():
            for bit in bits:
                if cell["port_directions"][port] == "input":
                    self.takers[bit].remove((name, port))


def ports(cell, letter):
    """Returns the one-bit ports that make up an operand or the product."""
    return [port for port, bits in cell["connections"].items() if re.fullmatch(rf"{letter}\d+", port) and bits]


def pack_one(module, name):
    """Packs the registers that fit into a multiplier and returns their places.

    It packs both operands' registers or neither, because nextpnr has no timing for only one.
    """
    cell = module.cells[name]
    lines, packed = {"CLK": [], "CE": [], "RST": []}, []
    # The product follows after the operands: a flip-flop can be between two multipliers and moves
    # into only one of them.
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
    """Counts the instances of each module in a top and below it."""
    found = collections.Counter([top])
    for cell in design["modules"][top]["cells"].values():
        if design["modules"].get(cell["type"], {}).get("cells"):
            found += instances(design, cell["type"])
    return found


def pack(design, top):
    """Packs a netlist in Yosys's JSON format in place; returns how many multipliers below its top
    now have each register.
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
    """Packs a netlist file."""
    design = json.loads(path.read_text())
    packed = pack(design, top)
    path.write_text(json.dumps(design))
    return packed
