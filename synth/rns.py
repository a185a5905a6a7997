"""Synthesises the residue units of rtl/rns, places and routes them, and writes
`bench/results/rns.md`.

The page has the RNS paper's tables and ours.

Areas are of the UltraScale+ family, clocks of an ECP5. A result is kept in target/synth until one
of its sources changes, so jobs can run in any order and in parts: `--list` lists them,
`--only WORD` runs those whose name contains a word, `--jobs 2` runs two at a time.
"""

import functools
import json
import re
import statistics
import subprocess

import pages
import routing
import tools
import ultrascale
from tables import table
from tools import ROOT, WORK, kept, read, yosys

UNITS = {
    "proposed": ("residue_unit", {}, 0),
    "compact": ("residue_unit", {"Compact": 1}, 1),
    "roy": ("residue_unit_roy", {}, 2),
    "tan": ("residue_unit_tan", {}, 3),
}
NAMES = {
    "proposed": "Proposed",
    "compact": "Ours (proposed, compact)",
    "roy": "Roy [11]",
    "tan": "Tan [12]",
}
# Bits of a coefficient: degree, the evaluated prime, and the maximum words of the Barrett reduction
# for the basis's pool.
SETS = {360: (2**13, 1073692673, 60), 1440: (2**15, 1073479681, 63)}
V = 30
# Numbers of registers at which all units are compared at 360 bits, and the units with a register
# behind every step: name, parameters, registers. Pieces of products fit the family's DSP blocks.
EQUAL = (4, 5)
DEEP = {"Ours, deep": ({"Paired": 1}, 10), "Roy [11], deep": ({"Paired": 0}, 9)}
TILES = {"xcup": {"XTile": 26, "FTile": 17}, "ecp5": {"XTile": 18, "FTile": 18}}

# The paper, [CP24]. Table I: bits, c, maximum bits of beta, p, primes.
PAPER_POOLS = [
    (360, 60, 24, 4, 9),
    (360, 62, 28, 4, 24),
    (360, 60, 24, 5, 35),
    (360, 62, 28, 5, 120),
    (720, 63, 29, 4, 20),
    (720, 63, 29, 5, 121),
    (1440, 63, 28, 4, 14),
    (1440, 63, 28, 5, 70),
]
# Table II: MHz without and with four stages.
PAPER_CLOCKS = {
    360: {"proposed": (56, 180), "roy": (53, 176), "tan": (46, 135)},
    1440: {"proposed": (50, 168), "roy": (46, 152), "tan": (39, 128)},
}
# Table III: LUT, DSP, FF.
PAPER_AREAS = {
    360: {"proposed": ("1.6k", 38, "1k"), "roy": ("1.4k", 48, "1.3k"), "tan": ("2.4k", 44, "1.1k")},
    1440: {"proposed": ("5.6k", 142, "3.6k"), "roy": ("4k", 186, "4.5k"), "tan": ("9.7k", 187, "4k")},
}
# Table III's area-delay products, in us.
PAPER_PRODUCTS = {
    360: {"proposed": ("8.85", "0.21", "5.83"), "roy": ("7.90", "0.27", "7.36"), "tan": ("17.41", "0.33", "8.12")},
    1440: {"proposed": ("33.42", "0.84", "21.54"), "roy": ("26.04", "1.23", "29.89"), "tan": ("76.01", "1.46", "31.36")},
}
# The supplement's table I: delay without stages, total delay with four, in ns, efficiency in %; it
# misprints 22.28 as 22.78.
PAPER_EFFICIENCIES = {
    360: {"proposed": (17.97, 22.78, 81), "roy": (18.82, 22.76, 83), "tan": (21.78, 29.6, 74)},
    1440: {"proposed": (19.85, 23.8, 83), "roy": (21.72, 26.36, 82), "tan": (25.68, 31.24, 82)},
}


def primes(bits, terms, longest, program):
    """Returns the pool of special primes, as `hearith rns primes` lists them."""
    degree = {360: 2**13, 720: 2**14, 1440: 2**15}[bits]
    settings = {"degree": degree, "modulus-bits": bits, "terms": terms, "max-word": longest}
    arguments = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    done = subprocess.run([*program, "rns", "primes", "--json", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return [prime["modulus"] for prime in json.loads(done.stdout)["primes"]]


def unit(architecture, bits, stages, prime=None):
    """Returns the resources of one unit and the cells on its longest path between registers, for
    the evaluated prime or another.
    """
    return mapped(*placed(architecture, bits, stages, prime))


def deep(name, family):
    """Returns the module and parameters of a deep unit for a family."""
    return "residue_unit_deep", {"Q": SETS[360][1], "Words": 360 // V, **DEEP[name][0], **TILES[family]}


def mapped(top, parameters):
    """Returns the resources of a module and the cells on its longest path between registers."""

    def work(name):
        report, depth = WORK / f"{name}.json", WORK / f"{name}.ltp"
        yosys(
            f"{read(top, parameters)}; {ultrascale.FAST}synth_xilinx -family xcup -noiopad -flatten -top {top}; tee -q -o {report} stat -json; "
            f"delete t:FD*; tee -q -o {depth} ltp",
            WORK / f"{name}.log",
        )
        (length,) = re.findall(r"length=(\d+)", depth.read_text())
        modules = json.loads(report.read_text())["modules"]
        (cells,) = (module["num_cells_by_type"] for module in modules.values())
        return {**ultrascale.resources(cells), "depth": int(length)}

    return kept("xcup-quick", top, parameters, work)


def joints(architecture, bits, moduli):
    """Returns the resources of the logic that joins the units of a basis, with the units as black
    boxes.
    """
    top, index = "residue_array", UNITS[architecture][2]
    digits = "".join(f"{prime:016x}" for prime in reversed(moduli))
    known = {"Count": len(moduli), "Words": bits // V, "Stages": 4, "Architecture": index}
    parameters = {**known, "Primes": f"{64 * len(moduli)}'h{digits}"}
    boxes = {module for module, *_ in UNITS.values()}

    def work(name):
        return ultrascale.resources(ultrascale.synthesise(top, parameters, name, boxes).cells())

    return kept("xcup-joints", top, {**known, "Primes": tools.short(digits)}, work)


def basis(architecture, bits, moduli):
    """Returns the resources of all units of a basis with four stages, and of each unit. Units and
    joining logic are synthesised separately.
    """
    joined, units = joints(architecture, bits, moduli), [unit(architecture, bits, 4, prime) for prime in moduli]
    if not joined or not all(units):
        return None
    return {kind: sum(part[kind] for part in (joined, *units)) for kind in ("LUT", "DSP", "FF")}, units


def placed(architecture, bits, stages, prime=None):
    """Returns the module and parameters of one unit, for the evaluated prime or another."""
    top, settings, _ = UNITS[architecture]
    return top, {"Q": prime or SETS[bits][1], "Words": bits // V, "Stages": stages, **settings}


# Whole banks of two primes, with their registers and streams.
BANKS = {
    "residue_bank, 60 bits": {"Words": 2, "StreamBits": 64},
    "residue_bank, 360 bits": {"Words": 12, "StreamBits": 64},
}


def table_1(pools):
    rows = [(f"(2^{13 + bits // 720}, {bits})", V, c, beta, p, count, len(pools[bits, p, c])) for bits, c, beta, p, count in PAPER_POOLS]
    return table(("(n, log2 q)", "log2 q_i", "c", "log2 beta at most", "p", "primes, paper", "primes, ours"), rows)


def table_2(units, clocks):
    rows = []
    for bits in SETS:
        for stages in (0, 4):
            for architecture, name in NAMES.items():
                paper = PAPER_CLOCKS[bits].get(architecture)
                used = units[architecture, bits, stages]
                ours = routing.least_and_median(clocks[architecture, bits, stages]) if (architecture, bits, stages) in clocks else ("-", "-")
                rows.append((name, bits, stages, paper[stages // 4] if paper else "-", used and used["depth"], *ours))
    paper, ours = "MHz, paper (Vivado, VU9P)", "MHz, ours (nextpnr, ECP5)"
    head = ("design", "bits", "stages", paper, "cells on the longest path, ours", f"{ours}: least", "median")
    return table(head, rows)


def table_3(units):
    rows = []
    for bits in SETS:
        for architecture, name in NAMES.items():
            paper = PAPER_AREAS[bits].get(architecture, ("-",) * 3)
            used = units[architecture, bits, 4]
            ours = [used[kind] for kind in ("LUT", "DSP", "FF")] if used else [None] * 3
            rows.append((name, bits, paper[0], ours[0], paper[1], ours[1], paper[2], ours[2]))
    kinds = [f"{kind}, {whose}" for kind in ("LUT", "DSP", "FF") for whose in ("paper, routed", "ours, mapped")]
    return table(("design", "bits", *kinds), rows)


def table_products(units):
    """Returns area-delay products: the paper's of routed designs, and ours of mapped cells at the
    paper's clock of the same architecture.
    """
    rows = []
    for bits in SETS:
        for architecture, name in NAMES.items():
            paper = PAPER_PRODUCTS[bits].get(architecture, ("-",) * 3)
            used = units[architecture, bits, 4]
            clock = PAPER_CLOCKS[bits].get(architecture, (None, None))[1]
            ours = [(f"{used[kind] / clock:.2f}" if clock else "-") if used else None for kind in ("LUT", "DSP", "FF")]
            rows.append((name, bits, *(value for pair in zip(paper, ours, strict=True) for value in pair)))
    kinds = [f"{kind}, {whose}" for kind in ("LUT", "DSP", "FF") for whose in ("paper, routed", "ours, projected")]
    return table(("design", "bits", *kinds), rows)


def table_efficiency(clocks):
    """Returns the pipeline efficiency as the paper defines it: the delay without stages over four
    times the delay with four.
    """
    rows = []
    for bits in SETS:
        for architecture, name in NAMES.items():
            paper = PAPER_EFFICIENCIES[bits].get(architecture, ("-",) * 3)
            before, after = (clocks.get((architecture, bits, stages)) for stages in (0, 4))
            if (architecture, bits, 0) not in clocks:
                ours = ("-",) * 3
            elif before and after:
                before, after = (statistics.median(one["MHz"] for one in found) for found in (before, after))
                before, after = 1000 / before, 4000 / after
                ours = (f"{before:.2f}", f"{after:.2f}", f"{100 * before / after:.0f}")
            else:
                ours = (None,) * 3
            rows.append((name, bits, *paper, *ours))
    head = ("design", "bits", "delay, ns, paper", "4 delays with stages, paper", "%, paper", "delay, ns, ours", "4 delays with stages, ours", "%, ours")
    return table(head, rows)


def spread(counts):
    """Returns the minimum and maximum, or the common value."""
    least, most = min(counts), max(counts)
    return f"{least} to {most}" if least < most else least


def table_equal(clocks):
    """Returns resources and frequencies of all units at equal numbers of registers."""
    designs = [(NAMES[one], stages, unit(one, 360, stages), clocks[one, 360, stages]) for stages in EQUAL for one in UNITS]
    designs += [(name, registers, mapped(*deep(name, "xcup")), routing.clocks(*deep(name, "ecp5"))) for name, (_, registers) in DEEP.items()]
    rows = []
    for name, registers, used, found in designs:
        cells = [used[kind] for kind in ("LUT", "DSP", "FF")] if used else [None] * 3
        placed_cells = found[0]["used"] if found else {}
        rows.append((name, registers, *cells, *routing.least_and_median(found), placed_cells.get("MULT18X18D"), routing.path_text(found) if found else None))
    kinds = ("LUT, mapped", "DSP, mapped", "FF, mapped", "MHz, ECP5: least", "median", "multipliers, ECP5", "longest path of the slowest placement")
    return table(("design", "registers", *kinds), rows)


def table_bases(bases):
    rows = []
    for bits in SETS:
        for architecture, name in NAMES.items():
            whole, units = bases[architecture, bits] or (None, ())
            cells = [whole and whole[kind] for kind in ("LUT", "DSP", "FF")]
            cells += [spread([one[kind] for one in units]) if units else None for kind in ("LUT", "DSP")]
            rows.append((name, f"{bits // V} primes, {bits} bits", *cells))
    return table(("design", "basis", "LUT", "DSP", "FF", "LUT of a unit", "DSP of a unit"), rows)


TEXT = """# Residue units: the paper's tables and ours

Written by `make synth-rns` ({tools}). *Paper* is Chiu and Parhi, "Low-Latency Preprocessing Architecture for Residue Number
System via Flexible Barrett Reduction for Homomorphic Encryption"; its rivals are HEPCloud in parallel form (Roy) and PaReNTT (Tan), both
rewritten here from the paper's descriptions. [rtl/rns/README.md](../../rtl/rns/README.md) describes the designs, their parameters and bounds. One unit reduces one coefficient per cycle
modulo one prime: {prime_360} at 360 bits, {prime_1440} at 1440.

**Limits of the comparison.** The paper's figures come from Vivado, placed and routed on a VCU118 (Virtex UltraScale+ VU9P). Ours come from Yosys, mapped to the same primitives (LUT6,
flip-flop, DSP48E2) before placement. Yosys cuts the longer operand of a product into pieces of 17 bits (the last may have 26) and leaves all additions between the pieces to LUTs, while
Vivado may use the blocks' own adders, so our LUT counts are higher. Our compact unit specifies how its products are cut. The paper does not say which wires its four cut sets cross, so
registers are at different cuts in the two, and FF counts differ. Open tools route no UltraScale+ part: frequencies are those of an ECP5 LFE5U-85F, speed grade 8, a slower family with
multipliers of 18 by 18 bits, and only their ratios are comparable with the paper's. A path is counted in cells (LUTs, carry chains of four bits, DSP blocks), whose delays differ widely.
LUTs are mapped with the quick form of ABC's script, which costs some LUTs. Each design is synthesised once, and placed and routed {seeds} times with seeds 1 to {seeds}, or the number
stated; the tables give the lowest frequency and the median. {packed}
The same sources, bounds and tools serve all architectures, so our rows can be compared with each other. Units of 1440 bits have more multipliers than the ECP5, so they have no
frequency. `make synth-rns` keeps each result and resumes where it was stopped; *not run* marks results that a run did not reach.

## Table I: special primes
Counted by `hearith rns primes`.

{table_1}

## Table II: timing
{table_2}

On the ECP5, the longest path of the proposed units is the pairs' additions and the product behind them, between two of the four registers; Roy's unit has no pairs. A fifth register
splits this path.

## Equal numbers of registers
All units at 360 bits with equal numbers of registers from end to end. With four and with five, Roy's unit is the fastest, because its products are shorter. With a register behind every
step, also between the multipliers of a product and the additions behind them (`residue_unit_deep`), ours is, with ten registers; Roy's unit, cut in the same places, has nine of them and takes
twice the DSP blocks. The
pieces of products have {tiles_xcup} bits on UltraScale+, and {tiles_ecp5} on the ECP5.

{table_equal}

## Table III: area of one unit, four stages
The paper's cells are placed and routed, ours are mapped: a netlist without wires.

{table_3}

Area-delay products, cells times microseconds. The paper's are of routed designs. Ours are projected: mapped cells at the paper's frequency for the same architecture, so they compare
areas only; the paper has no frequency for our compact unit. On the ECP5, where the same tool routed all of them, Roy's unit is the fastest with four registers, contrary to the paper's
ranking.

{table_products}

## The supplement's Table I: efficiency of pipelining
Delay without stages, divided by four times the delay with four stages; the paper prints 22.78 where 4 x 5.57 is 22.28. Ours use the medians of the ECP5's frequencies, where the registers
around the unit add a fifth segment to the four cuts.

{table_efficiency}

## Whole bases
The evaluated primes have betas among the smallest; a basis needs 12 or 48 primes. These are the largest primes (smallest betas) of the pools of five terms, {pools},
one unit each, four stages. Each unit is synthesised alone, and so is the logic that joins them, with the units as black boxes; the table gives the sums, and the least and the most of a
unit. The evaluated prime of a size is the basis's cheapest or close to it, because its beta is short and sparse, so the units above are not an average of a basis. With a longer beta a
pair needs more additions and is wider; at 1440 bits a product of the compact unit then needs six DSP blocks instead of the evaluated prime's four.

{table_bases}

## The bank, placed and routed
For two primes, with compact units, four stages, beats of 64 bits, registers and streams; the cells of the surrounding shift registers are subtracted.

{table_banks}
"""


def table_banks(found):
    rows = []
    for label, placements in found.items():
        used = placements[0]["used"] if placements else {}
        cells = [used.get(kind, 0) if placements else "" for kind in ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D")]
        rows.append((label, *routing.least_and_median(placements), *cells, routing.path_text(placements) if placements else ""))
    return table(("bank", "MHz, least", "MHz, median", "LUT4 and carries", "FF", "MULT18X18D", "longest path of the slowest placement"), rows)


def main():
    parser = pages.options(__doc__)
    parser.add_argument("--hearith", help="the program (default: build it)")
    arguments = parser.parse_args()
    program = [arguments.hearith] if arguments.hearith else ["cargo", "run", "--quiet", "--release", "--package", "hearith", "--"]

    pools = {(bits, p, c): primes(bits, p, c, program) for bits, c, _, p, _ in PAPER_POOLS}
    chosen = {bits: pools[bits, 5, longest][: bits // V] for bits, (_, _, longest) in SETS.items()}
    every = [(architecture, bits) for bits in SETS for architecture in UNITS]
    staged = [(*one, stages) for one in every for stages in (4, 0)]
    # Units of 1440 bits need more multipliers than the ECP5 has.
    equal = [(architecture, 360, stages) for stages in EQUAL for architecture in UNITS]
    clocked = [*dict.fromkeys([*(one for one in staged if one[1] == 360), *equal])]
    every_unit = dict.fromkeys([*staged, *equal])
    jobs = {f"unit {architecture}, {bits} bits, {stages} stages": functools.partial(unit, architecture, bits, stages) for architecture, bits, stages in every_unit}
    for name in DEEP:
        jobs[f"unit {name}"] = functools.partial(mapped, *deep(name, "xcup"))
        jobs |= routing.clock_jobs(f"unit {name}", *deep(name, "ecp5"))
    for one in clocked:
        jobs |= routing.clock_jobs("unit {}, {} bits, {} stages".format(*one), *placed(*one))
    for label, parameters in BANKS.items():
        jobs |= routing.clock_jobs(label, "residue_bank", parameters)
    for architecture, bits in every:
        jobs[f"basis {architecture}, {bits} bits, joints"] = functools.partial(joints, architecture, bits, chosen[bits])
        for prime in chosen[bits]:
            jobs[f"basis {architecture}, {bits} bits, prime {prime}"] = functools.partial(unit, architecture, bits, 4, prime)

    def page():
        clocks = {one: routing.clocks(*placed(*one)) for one in clocked}
        units = {one: unit(*one) for one in staged}
        bases = {one: basis(*one, chosen[one[1]]) for one in every}
        return TEXT.format(
            tools=pages.versions(),
            seeds=len(routing.SEEDS),
            packed=routing.PACKED,
            prime_360=SETS[360][1],
            prime_1440=SETS[1440][1],
            pools=" and ".join(f"c = {longest} at {bits} bits" for bits, (_, _, longest) in SETS.items()),
            table_1=table_1(pools),
            table_2=table_2(units, clocks),
            table_3=table_3(units),
            table_products=table_products(units),
            table_equal=table_equal(clocks),
            tiles_xcup=" by ".join(map(str, TILES["xcup"].values())),
            tiles_ecp5=" by ".join(map(str, TILES["ecp5"].values())),
            table_efficiency=table_efficiency(clocks),
            table_bases=table_bases(bases),
            table_banks=table_banks({label: routing.clocks("residue_bank", parameters) for label, parameters in BANKS.items()}),
        )

    pages.write("rns", jobs, arguments, page)


if __name__ == "__main__":
    main()
