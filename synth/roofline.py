"""What multipliers of blocks reach on a device: by its cells, and by what its memory brings."""

from tables import table

# A Virtex-7 XC7VX690T, with the block RAM in pieces of 36 kbit, and the memory of the board VC709:
# two channels of 64 bits of DDR3 at 1866 million transfers a second.
NAME = "a Virtex-7 XC7VX690T"
HAVE = {"LUT": 433200, "FF": 866400, "DSP": 3600, "BRAM": 1470}
BANDWIDTH = 2 * 8 * 1866e6


def device():
    """The device for a page's text."""
    return {"device": NAME, "have": ", ".join(f"{count} {'block RAM' if kind == 'BRAM' else kind}" for kind, count in HAVE.items()), "gigabytes": BANDWIDTH / 1e9}


def copies(used):
    """How many fit, and what runs out first."""
    room = {kind: int(have // used[kind]) for kind, have in HAVE.items() if used.get(kind)}
    first = min(room, key=room.get)
    return room[first], first


def roofs(bits, cycles, clock, many, blocks):
    """Products of single bits a cycle that so many multipliers compute, and that memory brings
    blocks for, a number of them read for each product; and the bytes a cycle that the first would
    take."""
    computed = many * bits * bits / cycles
    taken = many * blocks * bits / 8 / cycles
    brought = BANDWIDTH / (clock * 1e6) / (blocks * bits / 8) * bits * bits
    return computed, brought, taken


def rows(multipliers):
    """The table, of multipliers: name, bits of a block, cycles of a product, MHz, cells."""
    found = []
    for name, bits, cycles, clock, used in multipliers:
        many, first = copies(used) if used else (None, None)
        if not many:
            found.append((name, bits, many, first, *[None if many is None else "-"] * 5))
            continue
        line = [name, bits, many, first]
        for blocks in (2, 1):
            computed, brought, taken = roofs(bits, cycles, clock, many, blocks)
            line += [f"{computed:.0f}"] if blocks == 2 else []
            bound = "memory" if brought < computed else "cells"
            line += [f"{taken:.0f} of {BANDWIDTH / clock / 1e6:.0f}", f"{min(computed, brought):.0f} ({bound})"]
        found.append(line)
    sides = [f"{what}, {side}" for side in ("both from memory", "one from the seed") for what in ("bytes a cycle", "attainable")]
    return table(("multipliers", "bits of a block", "copies", "what runs out", "bits^2", *sides), found)
