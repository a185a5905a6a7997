"""Places and routes MESA's multipliers, ladders and small decryptors, and writes
`bench/results/mesa-clocks.md`.

The device is an ECP5 with registers packed into its multipliers (packing.py). A result is kept in
target/synth until one of its sources changes, so jobs can run in any order and in parts: `--list`
lists them, `--only WORD` runs those whose name contains a word, `--jobs 2` runs two at a time.
"""

import mesa
import packing
import pages
import routing
from tables import table

# Digits, words and the quotient's delay for the ECP5's 18 x 18 multipliers, with registers for
# digits to cross the chip and more next to each multiplier.
CIOS = {"W": 18, "V": 18, "D": 5, "Near": 1}
LADDER = {"W": 17, "V": 17, "D": 5, "Near": 1}
MESA = {"W": 17, "V": 17, "D": 5}
DUAL = mesa.DUAL[256]
# All cores at 256 bits, the multipliers also at 1024, and whole decryptors that an LFE5U-85F holds
# and nextpnr routes.
DESIGNS = {
    "mont_mul_cios, 1024 bits": ("mont_mul_cios", {"N": 1024, **CIOS}),
    "dual_lanes, 1024 bits, 1 lane": ("dual_lanes", {"N": 1024, "Lanes": 1, **DUAL}),
    **{f"{core}, 256 bits": (core, parameters) for core, parameters in mesa.cores(256, CIOS, LADDER).items()},
    "mesa, 64 bits, 2 stages": ("mesa", {"N": 64, "Stages": 2, "StreamBits": 32, **MESA, "D": 4}),
    "mesa, 128 bits, 1 stage": ("mesa", {"N": 128, "Stages": 1, "StreamBits": 32, **MESA}),
    "mesa_dual, 64 bits, 2 lanes": ("mesa_dual", {"N": 64, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual, 128 bits, 2 lanes": ("mesa_dual", {"N": 128, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual, 256 bits, 2 lanes": ("mesa_dual", {"N": 256, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32}),
}


def jobs():
    """Returns every placement by its name."""
    found = {}
    for label, design in DESIGNS.items():
        found |= routing.clock_jobs(label, *design)
    return found


def table_clocks():
    rows = []
    for label, (top, parameters) in DESIGNS.items():
        found = routing.clocks(top, parameters)
        settings = ", ".join(f"{name} = {value}" for name, value in parameters.items() if name in ("W", "V", "D", "Near"))
        least, median = routing.least_and_median(found)
        cells = [""] * (3 + len(packing.PLACES)) + [""]
        if found:
            used, packed = found[0]["used"], found[0]["packed"]
            cells = [*(used.get(kind, 0) for kind in ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D")), *packed.values(), routing.path_text(found)]
        rows.append((label, settings, least, median, *cells))
    head = ("core", "parameters", "MHz, least", "MHz, median", "LUT4 and carries", "FF", "MULT18X18D")
    return table((*head, "INPUTA", "INPUTB", "OUTPUT", "longest path of the slowest placement"), rows)


TEXT = """# MESA's frequencies with registers inside multipliers

Written by `make synth-mesa` (synth/mesa_clocks.py) with {tools}. An ECP5's MULT18X18D has a register at
each operand and one behind the product, as every multiplier here has in its description. Yosys leaves these registers outside, where they take flip-flops and wires to and from the block.
Here they are packed into the blocks between synthesis and placement (synth/packing.py, which changes neither values nor cycles: `scripts/tests/test_packing.py`). The target for nextpnr is
200 MHz, because its placer only distinguishes paths if the worst one misses the target. The part is an LFE5U-85F of speed grade 8, with shift registers around the design, whose cells
are subtracted. Each design is synthesised once, and placed and routed {seeds} times with seeds 1 to {seeds}, or the number stated; the table gives the lowest frequency and the median.
INPUTA, INPUTB and OUTPUT count the blocks with these registers. No bitstream of such a netlist has been loaded into a device.

{table}

**Where it ends.** The largest decryptor that was routed whole has keys of 256 bits. With 512 bits and one lane it takes 32 659 LUTs and carries, 23 807 flip-flops and 72 multipliers, harness
included. nextpnr places it and does not route it: after 16 rounds its second router still had 2 241 wires with two users, and more in each later round; its first router, which made the table,
was not run to its end. With 1024 bits and one lane it takes 60 815 LUTs and carries (72 % of the part), 43 835 flip-flops and 136 of 156 multipliers; it fits and was not placed.
"""


def main():
    arguments = pages.options(__doc__).parse_args()
    pages.write("mesa-clocks", jobs(), arguments, lambda: TEXT.format(tools=pages.versions(), seeds=len(routing.SEEDS), table=table_clocks()))


if __name__ == "__main__":
    main()
