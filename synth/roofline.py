"""Rooflines of block multipliers on a device: bounds by its cells and by its memory bandwidth."""

from tables import table

# A Virtex-7 XC7VX690T, with its block RAM in units of 36 kbit, and the memory of the board VC709:
# two 64-bit channels of DDR3 at 1866 million transfers a second.
NAME = "a Virtex-7 XC7VX690T"
HAVE = {"LUT": 433200, "FF": 866400, "DSP": 3600, "BRAM": 1470}
BANDWIDTH = 2 * 8 * 1866e6


def device():
    """Describes the device for a page."""
    return {"device": NAME, "have": ", ".join(f"{count} {'block RAM' if kind == 'BRAM' else kind}" for kind, count in HAVE.items()), "gigabytes": BANDWIDTH / 1e9}


def copies(used):
    """Returns how many copies fit, and which resource runs out first."""
    fitting = {kind: int(have // used[kind]) for kind, have in HAVE.items() if used.get(kind)}
    first = min(fitting, key=fitting.get)
    return fitting[first], first


def roofs(bits, cycles, clock, many, blocks):
    """Returns three rates of `many` multipliers: computed, memory-bound and consumed.

    The first two are products of single bits per cycle, as computed by the multipliers and as
    limited by memory, from which each product reads `blocks` blocks. The third is the bytes per
    cycle that the multipliers consume.
    """
    computed = many * bits * bits / cycles
    taken = many * blocks * bits / 8 / cycles
    brought = BANDWIDTH / (clock * 1e6) / (blocks * bits / 8) * bits * bits
    return computed, brought, taken


def rows(multipliers):
    """Returns the table of multipliers: name, bits of a block, cycles of a product, MHz, cells."""
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
