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
# All cores at 256 bits, the multipliers also at 1024, and whole decryptors that fit the LFE5U-85F,
# which has 156 multipliers.
DESIGNS = {
    "mont_mul_cios, 1024 bits": ("mont_mul_cios", {"N": 1024, **CIOS}),
    "dual_lanes, 1024 bits, 1 lane": ("dual_lanes", {"N": 1024, "Lanes": 1, **DUAL}),
    **{f"{core}, 256 bits": (core, parameters) for core, parameters in mesa.cores(256, CIOS, LADDER).items()},
    "mesa, 64 bits, 2 stages": ("mesa", {"N": 64, "Stages": 2, "StreamBits": 32, **MESA}),
    "mesa, 128 bits, 1 stage": ("mesa", {"N": 128, "Stages": 1, "StreamBits": 32, **MESA}),
    "mesa_dual, 64 bits, 2 lanes": ("mesa_dual", {"N": 64, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual, 128 bits, 2 lanes": ("mesa_dual", {"N": 128, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual, 256 bits, 2 lanes": ("mesa_dual", {"N": 256, "Lanes": 2, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual, 512 bits, 1 lane": ("mesa_dual", {"N": 512, "Lanes": 1, "W": 16, "V": 16, "StreamBits": 32}),
    "mesa_dual, 1024 bits, 1 lane": ("mesa_dual", {"N": 1024, "Lanes": 1, "W": 16, "V": 16, "StreamBits": 32}),
}

# The designs whose wires nextpnr's second router lays.
LARGE = ("mesa_dual, 512 bits, 1 lane", "mesa_dual, 1024 bits, 1 lane")


def jobs():
    """Returns every placement by its name."""
    found = {}
    for label, design in DESIGNS.items():
        found |= routing.clock_jobs(label, *design, router_of(label))
    return found


def router_of(label):
    """Returns the function that places and routes a design."""
    return routing.large_clock if label in LARGE else routing.clock


def table_clocks():
    rows = []
    for label, (top, parameters) in DESIGNS.items():
        found = routing.clocks(top, parameters, router_of(label))
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
The two largest decryptors have nextpnr's second router, the others its first. INPUTA, INPUTB and OUTPUT count the blocks with these registers. No bitstream of such a netlist has been loaded into a device.

{table}
"""


def main():
    arguments = pages.options(__doc__).parse_args()
    pages.write("mesa-clocks", jobs(), arguments, lambda: TEXT.format(tools=pages.versions(), seeds=len(routing.SEEDS), table=table_clocks()))


if __name__ == "__main__":
    main()
