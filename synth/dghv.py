"""Synthesises the blocks of rtl/ntt and rtl/dghv, routes some of them, and writes
`bench/results/dghv-hardware.md`.

The page compares the tables of the design for FHE over the integers with ours.

Areas are of the xc7 and UltraScale+ families, before placement, clocks of an ECP5. The areas of
fully parallel multipliers are sums of their parts, each synthesised once; the folded ones are
synthesised whole. A result is kept in target/synth until one of its sources changes: `--list` lists
the jobs, `--only WORD` runs those whose name contains a word.
"""

import collections
import json
import pathlib
import subprocess

import pages
import roofline
import routing
import tools
import ultrascale
from tables import table

# The paper, [CMOOH13]. Table 3: p, its exponents (2^A - 2^B + 1, or 2^A + 1 with B = 0), m, k, the
# root, b; corrections of the root and improvements of b; d / b.
SETS = {
    "2^32 + 1": {"A": 32, "B": 0, "K": 64, "printed": (2, 8), "corrected": (2, 12), "Group": 4},
    "2^32 - 2^20 + 1": {"A": 32, "B": 20, "K": 64, "printed": (17, 12), "corrected": (903718526, 12), "Group": 4},
    "2^64 + 1": {"A": 64, "B": 0, "K": 128, "printed": (2, 24), "corrected": (2, 28), "Group": 8},
    "2^64 - 2^32 + 1": {"A": 64, "B": 32, "K": 128, "printed": (7, 28), "corrected": (18446741870424883713, 28), "Group": 8},
}
# Table 4: MHz, DSP, registers, LUT.
PAPER = {
    "2^32 + 1": (304.990, 256, 191151, 237034),
    "2^32 - 2^20 + 1": (254.055, 6292, 213403, 170919),
    "2^64 + 1": (179.346, 2048, 955974, 1214269),
    "2^64 - 2^32 + 1": (166.450, 18496, 1122826, 954737),
}
# The paper's table 6: seconds of an encryption by scheme and modulus, toy to large.
PAPER_SECONDS = {
    "CMNT": {
        "2^32 + 1": ("0.003", "0.050", "0.872", "15.735"),
        "2^32 - 2^20 + 1": ("0.003", "0.057", "1.003", "18.110"),
        "2^64 + 1": ("0.000854", "0.0139", "0.239", "4.284"),
        "2^64 - 2^32 + 1": ("0.000815", "0.0130", "0.221", "3.958"),
    },
    "CNT": {
        "2^32 + 1": ("0.011", "0.306", "7.586", "159.173"),
        "2^32 - 2^20 + 1": ("0.012", "0.352", "8.731", "183.204"),
        "2^64 + 1": ("0.000786", "0.0142", "0.5165", "8.655"),
        "2^64 - 2^32 + 1": ("0.000739", "0.0132", "0.4772", "7.994"),
    },
}
# The software that the paper compares with: its references [8] and [9].
PAPER_SOFTWARE = {"CMNT": ("0.05", "0.79", "10", "177"), "CNT": ("0.05", "1.0", "21", "435")}
SIZES = ("toy", "small", "medium", "large")
# Cycles of a block in the paper's design, and in our equivalent.
STEP = 8
# Folded multipliers: parameters of folded_multiplier by the logarithm of the transform length.
# Roots are powers of one of order 4096; the root of order 128 consists of half powers of two and
# needs no multiplier.
P = 2**64 - 2**32 + 1
ROOT = 24545942927815091
FOLDED = {
    7: {"High": 4, "Low": 3, "Base": 28, "Halves": 1, "Root": "66'd18446741870424883713"},
    8: {"High": 4, "Low": 4, "Base": 28},
    12: {"High": 6, "Low": 6, "Base": 26},
}
# Of order 2^22, for four_step_multiplier.
FOUR_STEP_ROOT = 7915626813612114351
KINDS = ("LUT", "FF", "DSP", "BRAM")
PAGE = "dghv-hardware"


def folded(log):
    """Returns the parameters of a folded multiplier."""
    return {"Root": f"66'd{pow(ROOT, 1 << 12 - log, P)}", **FOLDED[log]}


def half_order(a, b):
    """Returns T with 2^T = -1, or 0 if powers of two are not roots."""
    return a if b == 0 else 3 * b if a == 2 * b else 0


def modular(name, **more):
    """Returns the parameters of a modulus."""
    one = SETS[name]
    return {"A": one["A"], "B": one["B"], **more}


def rooted(name, **more):
    """Returns the parameters of a part of the transforms."""
    one = SETS[name]
    root = {} if half_order(one["A"], one["B"]) else {"Root": f"66'd{one['corrected'][0]}"}
    return modular(name, K=one["K"], **root, **more)


def butterflies(name):
    """Counts the butterflies of each kind in the three transforms, by a representative's exponent
    and halvings.
    """
    a, b, k = (SETS[name][key] for key in ("A", "B", "K"))
    ranks, t, found = k.bit_length() - 1, half_order(a, b), collections.Counter()
    kinds = {}
    for inverse in (0, 0, 1):
        for rank in range(ranks):
            halvings = ranks if inverse and rank == ranks - 1 else 0
            for node in range(1 << rank):
                exponent = node * (k >> rank + 1)
                halves = (4 * t // k * exponent - 2 * halvings) if t else 0
                kind = (exponent == 0, halves % 2, halvings)
                chosen = kinds.setdefault(kind, (exponent, halvings))
                found[chosen] += k >> rank + 1
    return found


def area(top, parameters):
    """Returns LUT, FF, DSP and block RAM of a module, or None."""
    found = tools.used(top, parameters)
    return found and {kind: found[kind] for kind in KINDS if kind in found}


def parts(name):
    """Yields the parts of a fully parallel multiplier: count, module, parameters."""
    one = SETS[name]
    base = one["corrected"][1]
    bound = 2 * base + one["K"].bit_length() - 2
    word = bound + base * (one["Group"] - 1) + 1
    for (exponent, halvings), count in butterflies(name).items():
        yield count, "butterfly", rooted(name, Exponent=exponent, Halvings=halvings)
    yield one["K"], "modular_product", modular(name)
    yield 1, "pair_sums", {"K": one["K"], "Base": base, "Bound": bound, "Group": one["Group"]}
    yield 1, "block_rows", {"Half": one["K"] // one["Group"] // 2, "Width": one["Group"] * base, "WordBits": word}


def whole(name):
    """Returns the cells of a fully parallel multiplier as the sum of its parts, or None if that was
    not run.
    """

    def work(_):
        total = collections.Counter()
        for count, top, parameters in parts(name):
            for kind, number in area(top, parameters).items():
                total[kind] += count * number
        return total

    one = SETS[name]
    return tools.kept("xc7-parts", "block_multiplier", modular(name, K=one["K"], Base=one["corrected"][1], Group=one["Group"]), work)


def products(log):
    """Returns the products of residues per cycle in a folded multiplier: one of points, and one in
    each transform that has a multiplier.
    """
    return 1 if FOLDED[log].get("Halves") else 4


UNITS = {
    "Barrett, 2^32 - 2^20 + 1": ("reduce_barrett", {}),
    "folds, 2^32 - 2^20 + 1": ("reduce_solinas", {"A": 32, "B": 20}),
    "special form, 2^32 + 1": ("reduce_fermat", {"A": 32}),
    "special form, 2^64 + 1": ("reduce_fermat", {"A": 64}),
    "folds, 2^64 - 2^32 + 1": ("reduce_solinas", {"A": 64, "B": 32}),
    "product, Barrett, 2^32 - 2^20 + 1": ("modular_product", {"A": 32, "B": 20, "Barrett": 1}),
    "product, folds, 2^32 - 2^20 + 1": ("modular_product", {"A": 32, "B": 20}),
    "product, 2^32 + 1": ("modular_product", {"A": 32, "B": 0}),
    "product, 2^64 + 1": ("modular_product", {"A": 64, "B": 0}),
    "product, 2^64 - 2^32 + 1": ("modular_product", {"A": 64, "B": 32}),
    "sum and difference, 2^64 - 2^32 + 1": ("modular_pair", {"A": 64, "B": 32}),
    "a shift that comes along, 2^64 - 2^32 + 1": ("variable_shift", {}),
}

# The whole encryptor and its parts: as built, with blocks of 64 digits of 28 bits and words of 64.
# Each whole lists its parameters, its parts, and those parts, with parameters, that are synthesised
# separately and added.
ENCRYPTOR = (
    *("dghv_encryptor", {}),
    {
        "product_pairs": "which blocks meet",
        "block_operands": "their words from memory and from the seed",
        "folded_multiplier": "products of blocks",
        "block_product": "the same in words",
        "column_sum": "sums of columns",
        "column_writer": "columns to memory",
        "super_product": "sums of products over memory",
        "super_sum": "sums and differences over memory",
        "super_reduce": "steps of a reduction",
        "cnt_controller": "steps of CNT",
        "cmnt_controller": "steps of CMNT",
        "memory_isolate": "the way to memory",
    },
    {"folded_multiplier": folded(7)},
)
# The accelerator: the encryptor with the generator of its elements, memory port and registers.
ACCELERATOR = (
    *("dghv", {}),
    {
        "aes_ctr": "AES in counter mode, two circuits",
        "element_rows": "rows of elements from the seed",
        "dghv_encryptor": "the encryptor",
        "memory_port": "the memory's port",
        "dghv_control": "commands",
        "packet_port": "packets",
    },
    {"aes_ctr": {"Rounds": 2}, "dghv_encryptor": {}},
)
# The multiplier by four-step transforms: as built, of up to 2048 by 2048 points, tiles of 16
# columns, digits of 20 bits.
FOUR_STEP = (
    *("four_step_multiplier", {}),
    {
        "ntt_lengths": "the transform",
        "root_product": "powers of a root",
        "tile_compute": "what becomes of a tile",
        "tile_loader": "tiles from memory",
        "tile_writer": "tiles to memory",
        "coefficient_carry": "the carry",
        "four_step": "a product, with three tiles' memories",
        "memory_isolate": "the way to memory",
        "memory_port": "the memory's port",
    },
    {
        "ntt_lengths": {"High": 6, "Low": 5, "Root": f"66'd{pow(FOUR_STEP_ROOT, 1 << 11, P)}"},
        "root_product": {"Log": 22, "Root": f"66'd{FOUR_STEP_ROOT}"},
        "memory_port": {"CountWidth": 11},
    },
)
WHOLES = (ENCRYPTOR, ACCELERATOR, FOUR_STEP)
FAMILIES = {"xc7": tools, "UltraScale+": ultrascale}
# Placed and routed on the ECP5, which has 156 multipliers.
ROUTED = {
    "sums of columns": ("column_sum", {}),
    "columns to memory": ("column_writer", {}),
    "sums and differences over memory": ("super_sum", {}),
    "the way to memory": ("memory_isolate", {}),
    "AES in counter mode, two circuits": ("aes_ctr", {"Rounds": 2}),
    "the memory's port": ("memory_port", {}),
    "products of blocks, in words": ("block_product", {}),
}


def rate(bits, cycles, dsp):
    """Returns the products of single bits per cycle and DSP block."""
    return bits * bits / cycles / dsp


def table_3():
    rows = []
    for name, one in SETS.items():
        (root, base), (right, better) = one["printed"], one["corrected"]
        rows.append((name, one["K"], root, "none of that order" if root != right else "right", right, base, better, one["K"] * better // 2))
    return table(("p", "k", "root, paper", "it is", "root, ours", "b, paper", "b, ours", "bits of a block, ours"), rows)


def table_4():
    rows = []
    for name, (clock, dsp, ff, lut) in PAPER.items():
        one, ours = SETS[name], whole(name)
        (_, base), (_, better) = one["printed"], one["corrected"]
        own = [ours[kind] for kind in ("DSP", "FF", "LUT")] if ours else [None] * 3
        figures = f"{rate(one['K'] * base // 2, STEP, dsp):.1f}", ours and f"{rate(one['K'] * better // 2, STEP, ours['DSP']):.1f}"
        rows.append((name, clock, dsp, own[0], ff, own[1], lut, own[2], *figures))
    head = ("p", "MHz, paper", *(f"{kind}, {whose}" for kind in ("DSP", "FF", "LUT") for whose in ("paper", "ours, mapped")), "bits^2, paper", "bits^2, ours")
    return table(head, rows)


def table_folded():
    rows = []
    best = max(rate(one["K"] * one["printed"][1] // 2, STEP, PAPER[name][1]) for name, one in SETS.items())
    mended = max(rate(one["K"] * one["corrected"][1] // 2, STEP, PAPER[name][1]) for name, one in SETS.items())
    for log, parameters in FOLDED.items():
        n, used = 1 << log, area("folded_multiplier", folded(log))
        bits = n // 2 * parameters["Base"]
        own = [used[kind] for kind in ("DSP", "LUT", "FF", "BRAM")] if used else [None] * 4
        found = rate(bits, n, used["DSP"]) if used else None
        counted = rate(bits, n, 16 * products(log))
        times = [f"{counted / best:.0f}", found and f"{found / mended:.0f}"]
        rows.append((n, bits, n, *own, found and f"{found:.0f}", f"{counted:.0f}", *times))
    head = ("N", "bits of a block", "cycles", "DSP", "LUT", "FF", "block RAM", "bits^2", "with 16 DSP a product", "times the paper's best", "times its best with b = 28")
    return table(head, rows)


def table_units():
    rows = []
    for name, (top, parameters) in UNITS.items():
        used = area(top, parameters)
        rows.append((name, f"`{top}`", *(used and used[kind] for kind in KINDS[:3])))
    return table(("unit", "module", *KINDS[:3]), rows)


def taken(family, top, parameters):
    """Returns the resources of a module in a family, a whole with its parts, or None if that was
    not run.
    """
    for design in WHOLES:
        if top == design[0]:
            found = whole_parts(family, *design)
            return found and {kind: found[top][1].get(kind, 0) for kind in (KINDS if family == "xc7" else ultrascale.KINDS)}
    return area(top, parameters) if family == "xc7" else ultrascale.area(top, parameters)


def whole_parts(family, top, parameters, names, apart):
    """Returns the resources of a whole and its parts in a family: number of instances, and the
    cells of one.
    """
    boxes = {name: taken(family, name, settings) for name, settings in apart.items()}
    return FAMILIES[family].inside(top, parameters, [*names, top], boxes)


def table_families(top, parameters, names, apart):
    """Returns the resources of a design and its parts in both families."""
    own, up = (whole_parts(family, top, parameters, names, apart) for family in FAMILIES)
    rows = []
    for module, name in (names | {top: "all of it"}).items():
        cells = [found and f"{found[module][1][kind]:g}" for found, kinds in ((own, KINDS), (up, ultrascale.KINDS)) for kind in kinds]
        rows.append((name, f"`{module}`", own and own[module][0], *cells))
    kinds = ("LUT", "FF", "DSP", "block RAM")
    return table(("unit", "module", "times", *kinds, *(f"{kind}, UltraScale+" for kind in kinds)), rows)


def checked(form):
    """Returns the xc7 resources of a configuration according to `make synth-check`, synthesised in
    one piece.
    """
    used = json.loads((tools.ROOT / "synth" / "check.json").read_text())["designs"][form]
    return f"{used['LUT']} LUT, {used['FF']} flip-flops, {used['DSP']} DSP and {used['BRAM']:g} block RAM"


def table_clocks():
    rows = []
    for name, (top, parameters) in ROUTED.items():
        found = routing.clocks(top, parameters)
        used = found[0]["used"] if found else {}
        cells = [used.get(kind, 0) if found else "" for kind in ("TRELLIS_COMB", "MULT18X18D", "DP16KD")]
        rows.append((name, *routing.least_and_median(found), *cells, routing.path_text(found) if found else ""))
    head = ("unit", "MHz, least", "MHz, median", "LUT4 and carries", "MULT18X18D", "block RAM", "longest path of the slowest placement")
    return table(head, rows)


def multipliers():
    """Returns every block multiplier, for the roofline: its name, bits of a block, cycles of a
    product, the paper's clock in MHz for the modulus, cells.
    """
    for name, one in SETS.items():
        yield f"parallel, {name}", one["K"] * one["corrected"][1] // 2, STEP, PAPER[name][0], whole(name)
    for log, parameters in FOLDED.items():
        n = 1 << log
        yield f"folded, {n} points", n // 2 * parameters["Base"], n, PAPER["2^64 - 2^32 + 1"][0], area("folded_multiplier", folded(log))


def printed_by(example, files):
    """Returns the lines that an example of crates/golden prints, or has printed into files, split
    at their bars.
    """
    if files:
        lines = [line for file in files for line in pathlib.Path(file).read_text().splitlines()]
    else:
        command = ["cargo", "run", "--quiet", "--package", "hearith-golden", "--example", example]
        lines = subprocess.run(command, cwd=tools.ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("|") for line in lines]


def long_products(files):
    """Returns the table of `crates/golden/examples/long_products.rs`, and the crossovers.

    A crossover is the number of bits from which transforms take less, by the points of the block
    that they are compared with.
    """
    lines = printed_by("long_products", files)
    head = (
        *("", "bits", "cycles, blocks of 128 points", "of 4096", "N", "cycles, four-step", "times fewer than 128's", "than 4096's"),
        *("words moved, 128's", "four-step", "words a cycle, 128's", "four-step"),
    )
    least = {line[1]: int(line[2]) for line in lines if line[0] == "crossover"}
    return table(head, [line for line in lines if line[0] != "crossover"]), least


def four_step_roofs():
    """Returns a sentence for the page on the number of four-step multipliers that fit a device.

    It names the resource that runs out first, and compares the bytes per cycle that these
    multipliers move with those that memory delivers.
    """
    own = whole_parts("xc7", *FOUR_STEP)
    # Three memories of 2^15 words of 64 bits: 64 blocks of 2^15 words of a bit each.
    many, first = roofline.copies(own[FOUR_STEP[0]][1] if own else {"BRAM": 3 * 64})
    what = {"BRAM": "block RAM"}.get(first, first) + ("" if own else ", counting its tiles' memories alone")
    clock = PAPER["2^64 - 2^32 + 1"][0]
    # They move 8 N words of 8 bytes in 7 N cycles, without the latencies of tiles.
    taken, brought = many * 64 / 7, roofline.BANDWIDTH / clock / 1e6
    bound = "memory is" if taken > brought else "cells are"
    return f"The device of the roofline fits {many} by {what}; together they move at most {taken:.0f} of the {brought:.0f} bytes per cycle that its memory supplies at the paper's frequency: {bound} the limit."


def table_6(files):
    """Returns the golden model's rows, from a run of crates/golden/examples/table_6.rs or its saved
    output.
    """
    head = ("", "seconds, printed", "by equation 12", "cycles by it", "with b = 28", "cycles, ours", "times theirs", "products a DSP block, times theirs")
    return table(head, printed_by("table_6", files))


def table_seconds(files):
    """Returns table 6 in seconds, all of them projected. The paper's are simulated cycles at a
    synthesis clock, ours are cycles at the paper's clock.
    """
    cycles = {line[0].strip(): int(line[5]) for line in printed_by("table_6", files) if len(line) > 5 and line[5].strip().isdigit()}
    clock = PAPER["2^64 - 2^32 + 1"][0]
    rows = []
    for scheme, groups in PAPER_SECONDS.items():
        rows += [(f"{scheme}, {modulus}", PAPER[modulus][0], PAPER[modulus][1], *seconds) for modulus, seconds in groups.items()]
        ours = [cycles.get(f"{scheme} {size}") for size in SIZES]
        rows.append((f"{scheme}, ours", f"{clock} (assumed)", 16, *(f"{one / clock / 1e6:.6g}" if one else None for one in ours)))
        rows.append((f"{scheme}, software of the paper's table", "-", "-", *PAPER_SOFTWARE[scheme]))
    return table(("seconds, projected", "MHz", "DSP", *SIZES), rows)


TEXT = """# Encryption for FHE over the integers in hardware: the paper's tables and ours

Written by `synth/dghv.py` ({tools}). *Paper* is Cao, Moore, O'Neill, O'Sullivan and Hanley, "Accelerating Fully Homomorphic Encryption over the Integers with
Super-size Hardware Multiplier and Modular Reduction". The designs are in
[rtl/ntt/README.md](../../rtl/ntt/README.md) and [rtl/dghv/README.md](../../rtl/dghv/README.md).

**Limits of the comparison.** The paper's figures come from ISE on a Virtex-7, placed and routed or stated to be too large for it. Ours come from Yosys, mapped to the same primitives (LUT6,
flip-flop, DSP48E1) before placement; our frequencies are those of single parts on an ECP5, another family. Yosys leaves the additions between a product's pieces to LUTs, while ISE may
use the blocks' own adders. *bits^2* is a design's yield: the squared bits of a block per cycle and DSP block, which is what a schoolbook product of long numbers uses.

## Table 3: parameters
b is an even number of bits, and no coefficient of a product may reach p. A root is wrong if its power k / 2 is not -1.

{table_3}

## Table 4: multipliers, fully parallel
Both process a block every {step} cycles. Ours are the sums of their parts (butterflies of each kind, products, addition recovery, rows), with the corrected roots and digits. Roots that are half
powers of two are shifts in ours, while the paper multiplies modulo 2^64 - 2^32 + 1. The paper's DSP blocks follow from counting: 1156 products of 16 blocks, 484 of 13, 128 of 16,
64 of 4 (`crates/golden`, `integer_fft::cost`).

{table_4}

## Folded transforms, ours
Modulo 2^64 - 2^32 + 1, one item per cycle: `folded_multiplier`, synthesised as a whole. The prediction, written down before the design, was 48 blocks and N cycles (four products of
residues per cycle, of 12 blocks each as Yosys cuts them or 16 as in the paper). With 128 points, the only product is that of the points. The last columns compare with the paper's best
design, 2^64 + 1: ours with 16 blocks per product, as the paper counts, against its printed table; then ours as synthesised against its best with digits of 28 bits.

{table_folded}

## Table 5: the encryptor
One encryptor for both schemes. The paper's, with 2^32 + 1, takes 256 DSP blocks, 237 031 LUTs and 191 176 flip-flops (CMNT), all of them in the multiplier except for the controllers. Ours has
one folded multiplier of 128 points, which is synthesised separately with the same parameters and added: synthesis keeps the hierarchy either way. The columns for UltraScale+ come from
`synth_xilinx -family xcup` of Yosys, with the quick form of its mapping to LUTs. A part's cells include its submodules; "all of it" contains the multiplier, the steps and the memory port.

{table_encryptor}

## The accelerator
The encryptor with elements from the seed, a memory port and registers ([docs/explanation/dghv-hardware.md](../../docs/explanation/dghv-hardware.md)): cells of each part with its
submodules. The encryptor, as above, and the AES circuits are synthesised separately. With one AES circuit and streams of 32 bits, and the encryptor as built, it takes
{checked_accelerator} of xc7: every `make synth-check` synthesises that form as a whole.

{table_accelerator}

## Roofline
The bounds by a device's cells and by its memory. The device is {device}: {have}; two channels of DDR3, as on the board VC709, supply at most {gigabytes:.1f} GB/s. *Copies* is the
number of multipliers that fit, limited by the kind of cell that runs out first, with nothing left for their surroundings. *bits^2* are products of single bits per cycle, of all copies.
Columns of long products read both blocks of each product from memory, or one if the other is made from the seed: that many bytes per cycle at the paper's frequency for the modulus (ours
have none on this family). *Attainable* is the lower of the two bounds, in bits^2 per cycle: what the cells compute, and what the memory supplies.

{table_roofline}

## Clocks, placed and routed
On an ECP5 (LFE5U-85F, speed grade 8) by nextpnr, with shift registers around each unit, whose cells are subtracted from the counts. Shift registers at unused inputs of a unit
disappear, so flip-flops are not listed. {packed} The lowest frequency and the median of {seeds} placements,
or of the number stated.

{table_clocks}

## Table 6: encryptions
All four groups of the paper, the fastest of which is 2^64 - 2^32 + 1, and the software that it compares with. The paper's seconds are projected too: cycles of a simulation at the frequency
of synthesis. Ours are our cycles at the paper's frequency for the same modulus, with the DSP blocks of one 64-bit product as the paper counts them.

{table_seconds}

The paper's best design by DSP blocks, 2^64 + 1 (2048 blocks, 179.346 MHz): its seconds, the result of equation 12 with the corrected number of blocks, and that with digits of 28 bits. Ours
are cycles of the reference model (`integer_fft::encryption`), which tests compare with simulation, for a memory that responds immediately, with 16 DSP blocks as the paper counts them.
**CMNT is not the same work**: ours computes every product A_i0 A_j1 from the seed, while the paper assumes those products modulo A_0 as given. The table shows the performance of one
multiplier of 16 blocks, not of a full device.

{table_6}

## Long products: schoolbook and four-step transforms
The square of a number as long as each key's modulus: cycles of the reference models (`integer_fft::encryption` and `integer_fft::four_step`), which tests compare with simulation, for a
memory that responds immediately, and 64-bit words read and written. Schoolbook is `super_product` over `folded_multiplier`, with 12 DSP blocks (128 points) or 48 (4096 points). Four-step
is `four_step`, with transforms of N points and three products of residues, 36 DSP blocks. From {crossover_128} bits on it takes fewer cycles than blocks of 128 points at every length, and from
{crossover_4096} bits on than those of 4096 points. N is a power of two: just above a power of two it is half empty.

{table_long}

Cells of `four_step_multiplier` as built, up to 2048 by 2048 points, and its parts with their submodules. The transform, the powers and the memory port are synthesised separately. A small
form, of up to 128 by 128 points with tiles of 4 columns, takes {checked_four_step} of xc7 (`make synth-check`).

{table_four_step}

{four_step_roofs}

## Units
{table_units}
"""


def jobs():
    """Returns every run of the tools by its name."""
    found = {f"unit {name}": lambda top=top, parameters=parameters: area(top, parameters) for name, (top, parameters) in UNITS.items()}
    for design in WHOLES:
        top, apart = design[0], design[3]
        for family in FAMILIES:
            for name, settings in apart.items():
                if all(name != one[0] for one in WHOLES):
                    found[f"{family} {top}, {name} alone"] = lambda family=family, name=name, settings=settings: taken(family, name, settings)
            found[f"{family} {top}"] = lambda family=family, design=design: whole_parts(family, *design)
    for name, design in ROUTED.items():
        found |= routing.clock_jobs(name, *design)
    for name in SETS:
        found[f"parallel {name}"] = lambda name=name: whole(name)
    for log in FOLDED:
        found[f"folded {1 << log}"] = lambda log=log: area("folded_multiplier", folded(log))
    return found


def page(arguments):
    """Returns the page's text."""
    table_long, least = long_products(arguments.long_products)
    return TEXT.format(
        table_long=table_long,
        crossover_128=least["128"],
        crossover_4096=least["4096"],
        table_four_step=table_families(*FOUR_STEP),
        checked_accelerator=checked("dghv Rounds=1 StreamBits=32"),
        checked_four_step=checked("four_step_multiplier High=6 Low=1 Root=66'd18026564079049828345 Columns=4 Base=16"),
        four_step_roofs=four_step_roofs(),
        tools=pages.versions(),
        seeds=len(routing.SEEDS),
        packed=routing.PACKED,
        step=STEP,
        table_3=table_3(),
        table_4=table_4(),
        table_folded=table_folded(),
        table_units=table_units(),
        table_encryptor=table_families(*ENCRYPTOR),
        table_accelerator=table_families(*ACCELERATOR),
        table_roofline=roofline.rows(multipliers()),
        table_clocks=table_clocks(),
        table_seconds=table_seconds(arguments.table_6),
        table_6=table_6(arguments.table_6),
        **roofline.device(),
    )


def main():
    parser = pages.options(__doc__)
    parser.add_argument("--table-6", action="append", default=[], metavar="FILE", help="read the output of the reference model's example from this file instead of running it")
    parser.add_argument("--long-products", action="append", default=[], metavar="FILE", help="the same for the other example")
    arguments = parser.parse_args()
    pages.write(PAGE, jobs(), arguments, lambda: page(arguments))


if __name__ == "__main__":
    main()
