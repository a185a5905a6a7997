"""Synthesises the cores and MESA, and writes `bench/results/mesa.md`: the paper's tables and ours.

The clocks are on a separate page (mesa_clocks.py).

Cycles come from simulation (the examples `core_cycles` of rtl/ and `device_cycles` of
crates/simulated), everything else from Yosys. A result is kept in target/synth until one of its
sources changes, so jobs can run in any order and in parts: `--list` lists them, `--only WORD` runs
those whose name contains a word, `--jobs 2` runs two at a time.
"""

import json
import os
import pathlib
import subprocess
import sys

import pages
import tools
from tables import table
from tools import ROOT, resources

# Bits of a digit and a word, and the delay of the quotient, of the digit-serial multiplier and the
# ladder: the operand widths of a DSP48E1.
W, V, D = 17, 23, 2
CIOS = {"W": W, "V": 24, "D": D}
LADDER = {"W": W, "V": V, "D": D}
STAGES = {1024: 6, 2048: 3}
# The dual lanes' digits and words: the operand widths of a DSP48E1, or at 256 bits those for the 18
# x 18 multipliers of the ECP5.
DUAL = {256: {"W": 16, "V": 16, "D": 2}, 1024: {"W": 18, "V": 24, "D": 2}, 2048: {"W": 18, "V": 24, "D": 2}}
LANES = 10

# The MESA paper, [HDSST25] (tables I to IV): Vivado 2018.3, xc7vx690t, 100 MHz.
PAPER_MODULES = {
    2048: {"each ME": (18384, 21399, 526), "pre and post": (57915, 77528, 6), "full": (168219, 205922, 3162)},
    1024: {"each ME": (9216, 10877, 270), "pre and post": (31049, 40350, 24), "full": (141641, 170874, 3264)},
}
PAPER_CYCLES = {
    "Pre": 2087,
    "Each ME": 7567,
    "Post": 5222,
    "op": 7567,
    "div": 3081,
    "sub": 18,
    "com": "1 to 18",
    "add": 18,
    "MM_H": 87,
    "MM_B": 2087,
}
PAPER_INTERVALS = {1024: 7567, 2048: 57700}
PAPER_RIVALS = [
    ("San [13]", "Virtex-7", 1024, 323, 13.513, "13016/27/-/74", 74),
    ("Cai [14]", "65 nm FDSOI", 1024, 62.5, 2.740, "455000/-/-/-", 364.96),
    ("Che [27]", "S10 GX2800", 1024, 257, 0.142, "709171/461/895795/-", 7029.90),
    ("MESA, the paper", "Virtex-7", 1024, 100, 0.075, "141641/3264/170874/-", 13333.33),
    ("San [13]", "Virtex-7", 2048, 312, 111.111, "15472/27/-/-", 18),
    ("Bahadori [15], 1 core", "Zynq-7020", 2048, 122, 180.72, "1781/16/1933/5", 11.07),
    ("Bahadori [15], 12 cores", "Zynq-7020", 2048, 122, 15.06, "42871/192/53328/82", 132.80),
    ("Che [27]", "S10 GX2800", 2048, 187, 0.672, "1213056/922/1866240/-", 2976.20),
    ("MESA, the paper", "Virtex-7", 2048, 100, 0.577, "168219/3162/205922/-", 3466.20),
]


def cores(n, cios=CIOS, ladder=LADDER):
    """Returns each core with its parameters in MESA of n bits, for xc7 by default."""
    quotient = n // 2 + W * (D + 1) + 1
    # The divider from the low end consumes all bits of x, because the bits beyond the quotient show
    # whether it is exact.
    whole = n // 2 + quotient
    segment = -(-(n // 2 + 1) // STAGES.get(n, 2))
    return {
        "mont_mul_cios": {"N": n, **cios},
        "mont_mul_radix2": {"N": n, "XBits": 2 * n + 2},
        "mod_exp_ladder": {"N": n, **ladder, "Bits": segment},
        "div_exact": {"XBits": whole, "DBits": n // 2, "QBits": whole},
        "div_restoring": {"XBits": n // 2 + quotient, "DBits": n // 2, "QBits": quotient},
        "carry_resolve": {"Words": -(-(n + 1 - cios["W"]) // cios["V"]), "W": cios["V"], "B": cios["V"] + 1, "PerCycle": 3},
        "cond_sub": {"N": n},
        "mod_add": {"N": n},
        "wide_add": {"N": n},
        "dual_lanes": {"N": n, "Lanes": 1, **DUAL[n]},
    }


#: Exponent bits of a subgroup key, by key bits. At 1024 bits they match the papers' insecure size.
SHORT = {1024: 161, 2048: 257}


# Packages, their examples that measure cycles, the features that these need, the models, and the
# examples' arguments. Devices of 2048 bits would take hours.
SIMULATIONS = [
    ("hearith-rtl", "core_cycles", "arith", "cios_1024,cios_2048,radix2_1024,ladder_1024,div_exact_1076,div_restoring_564,mod_add_1024,cond_sub_1024,wide_add_1024", []),
    ("hearith-simulated", "device_cycles", "mesa,mesa-dual", "mesa_1024,mesa_dual_1024", ["mesa_1024", "mesa_dual_1024"]),
]


def intervals(n, exponent=None, stages=None):
    """Returns the cycles between two plaintexts of each decryptor, by the formulas of their
    headers.

    The formulas are parameter 6, which tests compare with simulations. The exponents have
    `exponent` bits, N/2 by default, and `mesa` has `stages` stages.
    """
    exponent, stages = exponent or n // 2, stages or STAGES[n]
    step = -(-(n + 2) // W) + 2 * D + 6
    radix2 = 2 * n + 2 + ((n + 31) // 32 + 2) // 2 + 4
    stage = -(-(exponent + 1) // stages) * step + 2
    digits = (n // 2 + DUAL[n]["W"] + 2) // DUAL[n]["W"]
    lane = (56 + 11 * ((exponent + 3) // 4)) * (digits + 2 * DUAL[n]["D"] + 3)
    after = DUAL[n]["W"] * (digits + DUAL[n]["D"] + 1) + 2
    return {"mesa": max(stage, 2 * radix2), "mesa_dual": max(lane / LANES, after)}


def with_formulas(cycles):
    """Adds the intervals of decryptors that were not simulated; simulated ones must agree with the
    formula.

    Where the following product limits the rate, the last ciphertexts have no successor to share it
    with and are a little faster.
    """
    for n in STAGES:
        for suffix, exponent in (("", n // 2), (f"_{SHORT[n]}", SHORT[n])):
            for top, interval in intervals(n, exponent).items():
                known = cycles.setdefault(f"{top}_{n}{suffix}", {"interval": interval})["interval"]
                if abs(known - interval) > interval / 8:
                    sys.exit(f"{top} at {n} bits: {known} cycles in simulation, {interval} by the formula")
    return cycles


def table_short(cycles):
    """Returns decryptions with the short exponents of subgroup keys, with full exponents, and by
    `mesa` with fewer stages.
    """
    rows = []
    for n, exponent in SHORT.items():
        paper = PAPER_INTERVALS[n]
        rows.append((n, "MESA, the paper", n // 2, 2 * STAGES[n], f"{paper}", "-", "1.00"))
        for top in ("mesa", "mesa_dual"):
            units = 2 * (STAGES[n] if top == "mesa" else LANES)
            full, short = (cycles[f"{top}_{n}{suffix}"] for suffix in ("", f"_{exponent}"))
            for bits, found in ((n // 2, full), (exponent, short)):
                share = f"{found['interval'] / full['interval']:.2f}"
                rows.append((n, top, bits, units, f"{found['interval']:g}", share, f"{paper / found['interval']:.2f}"))
        for stages in range(STAGES[n] - 1, 0, -1):
            fewer = intervals(n, exponent, stages)["mesa"]
            share = f"{fewer / cycles[f'mesa_{n}']['interval']:.2f}"
            rows.append((n, "mesa, fewer stages (by formula)", exponent, 2 * stages, f"{fewer:g}", share, f"{paper / fewer:.2f}"))
    head = ("N", "design", "bits of an exponent", "MEs or lanes", "cycles between two", "of its full exponent's", "times the paper's rate")
    return table(head, rows)


def measured_cycles(files):
    """Returns the results of the simulations, from a run or from saved files."""
    cycles = {}
    for file in files:
        cycles.update(json.loads(pathlib.Path(file).read_text()))
    if files:
        return cycles
    for package, example, features, models, arguments in SIMULATIONS:
        command = ["cargo", "run", "--quiet", "--package", package, "--no-default-features", "--features", features, "--example", example, "--", *arguments]
        # The widest models run longer than they take to compile, and no others are needed.
        environment = {**os.environ, "HEARITH_OPTIMISATION": "1", "HEARITH_MODELS": models}
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True, env=environment)
        cycles.update(json.loads(done.stdout))
    return cycles


def tops(n):
    """Returns whole decryptors of n bits."""
    return {"mesa": {"N": n, "Stages": STAGES[n]}, "mesa_dual": {"N": n, "Lanes": LANES, **DUAL[n]}}


def jobs():
    """Returns every run of the tools by its name, areas first."""
    found = {}
    for n in STAGES:
        for core, parameters in cores(n).items():
            found[f"area {core}, {n} bits"] = lambda core=core, parameters=parameters: tools.area(core, parameters, levels=True)
        for top, parameters in tops(n).items():
            found[f"area {top}, {n} bits"] = lambda top=top, parameters=parameters: tools.area(top, parameters)
        found[f"area across modules, {n} bits"] = lambda n=n: across(n)
    return found


def across(n):
    """Returns the area of `mesa` with nothing but its ladders kept apart, as in the paper's report,
    whose tool optimises across modules.
    """
    return tools.area("mesa", tops(n)["mesa"], across=["mod_exp_ladder"])


def areas(n):
    """Returns the areas of all cores and of the decryptors of n bits."""
    found = {core: tools.area(core, parameters, levels=True) for core, parameters in cores(n).items()}
    return found | {top: tools.area(top, parameters) for top, parameters in tops(n).items()}


def parts(decryptor):
    """Returns the resources of MESA's parts: one ladder (the largest), everything except ladders,
    and the total.
    """
    if decryptor is None:
        return {"each ME": None, "pre and post": None, "full": None}
    return {
        "each ME": resources(decryptor.cells(decryptor.find("mod_exp_ladder")[0])),
        "pre and post": resources(decryptor.cells(without=["mod_exp_ladder"])),
        "full": resources(decryptor.cells()),
    }


def table_1(mesa, dual):
    """Returns the products and comparisons after the exponentiation, of numbers of 2 N bits; ours
    are counted in the netlist.
    """

    def ours(name, design):
        if design is None:
            return name, None, None, None
        return name, design.instances("mont_mul_radix2") / 2, design.instances("cond_sub") / 2, design.instances("div_")

    rows = [
        ("CRT-base (paper)", 2, 2.5, "2"),
        ("eCRT (paper)", 1, 1, "2"),
        ours("mesa, ours", mesa),
        ours("mesa_dual, ours", dual),
    ]
    return table(("algorithm", "modular multiplications", "judgments", "divisions"), rows)


def table_2(found):
    rows = []
    for n, paper in PAPER_MODULES.items():
        ours = [parts(area) for area in (across(n), found[n].get("mesa"))]
        for part, of_paper in paper.items():
            row = [n, f"{part} ({2 * STAGES[n]} ME)" if part == "each ME" else part]
            for kind, theirs in zip(("LUT", "FF", "DSP"), of_paper, strict=True):
                row += [theirs, *(one[part] and one[part][kind] for one in ours)]
            rows.append(tuple(row))
    whose = ("paper, routed", "ours, mapped across modules", "ours, mapped by module")
    head = ("N", "module", *(f"{kind}, {one}" for kind in ("LUT", "FF", "DSP") for one in whose))
    return table(head, rows)


def table_3(cycles):
    def latency(name):
        return cycles[name]["latency"]

    mesa = cycles["mesa_1024"]
    latency_of_all = f" ({mesa['latency']} from a ciphertext to its plaintext)" if "latency" in mesa else ""
    after = ("div_exact_1076", "radix2_1024", "cond_sub_1024", "mod_add_1024")
    ours = {
        "Pre": latency("radix2_1024"),
        "Each ME": f"{latency('ladder_1024')} (86 bits and the exit product)",
        "Post": f"{sum(map(latency, after))} (div, MM_B, com, add)",
        "op": f"{mesa['interval']:g}{latency_of_all}",
        "div": f"{latency('div_exact_1076')} from the low end; {latency('div_restoring_564')} restoring",
        "sub": latency("cond_sub_1024"),
        "com": f"{latency('cond_sub_1024')}, in sub",
        "add": f"{latency('mod_add_1024')} modulo n; {latency('wide_add_1024')} plain",
        "MM_H": f"{cycles['cios_1024']['interval']} a product, {latency('cios_1024')} with carries resolved",
        "MM_B": latency("radix2_1024"),
    }
    rows = [(operation, paper, ours[operation]) for operation, paper in PAPER_CYCLES.items()]
    wide = f"{cycles['cios_2048']['interval']} a product, {latency('cios_2048')} with carries resolved"
    rows.append(("MM_H at N = 2048", "-", wide))
    return table(("operation", "cycles, paper", "cycles, ours"), rows)


def decryptors(found, cycles):
    """Returns our rows of Table IV: name, N, cycles per decryption, resources."""
    for n in STAGES:
        for top in ("mesa", "mesa_dual"):
            area = found[n].get(top)
            if area:
                yield f"{top}, ours", n, cycles[f"{top}_{n}"], resources(area.cells())


def table_4(found, cycles):
    rows = []
    for name, platform, n, clock, latency, used, throughput in PAPER_RIVALS:
        lut, dsp, ff, _ = used.split("/")
        per = [f"{throughput * 1024 / float(count):.2f}" if count != "-" else "-" for count in (lut, dsp, ff)]
        rows.append((name, platform, n, clock, "-", latency, "-", used, "-", throughput, *per))
    for name, n, measured, used in decryptors(found, cycles):
        interval = measured["interval"] / 100e3
        latency = f"{measured['latency'] / 100e3:.4f}" if "latency" in measured else "-"
        throughput = n * 1000 / 1024 / interval
        counts = "/".join(f"{used[kind]:g}" for kind in ("LUT", "DSP", "FF", "BRAM"))
        # Mapped cells and a projected clock must not be combined into one number.
        rows.append((name, "Yosys, xc7", n, "-", 100, f"{interval:.4f}", latency, "-", counts, f"{throughput:.2f}", "-", "-", "-"))
    clocks, cells = ("MHz, routed", "MHz, projected"), ("LUT/DSP/FF/BRAM, routed", "LUT/DSP/FF/BRAM, mapped")
    head = ("design", "platform", "N", *clocks, "ms between two", "ms latency", *cells, "TP (kbit/s)", "TP/LUT", "TP/DSP", "TP/FF")
    return table(head, rows)


def table_ratio(found, cycles):
    """Returns how many times as many decryptions per cycle and resource `mesa_dual` gives as
    others.
    """
    ours = {(name, n): (measured["interval"], used) for name, n, measured, used in decryptors(found, cycles)}
    rows = []
    for n, paper in PAPER_MODULES.items():
        if ("mesa_dual, ours", n) not in ours:
            rows.append((n, None, "", "", ""))
            continue
        interval, used = ours["mesa_dual, ours", n]
        lut, ff, dsp = paper["full"]
        rivals = {"MESA, the paper": (PAPER_INTERVALS[n], {"LUT": lut, "FF": ff, "DSP": dsp})}
        if ("mesa, ours", n) in ours:
            rivals["mesa, ours"] = ours["mesa, ours", n]
        for rival, (slower, more) in rivals.items():
            times = [f"{slower * more[kind] / (interval * used[kind]):.2f}" for kind in ("LUT", "DSP", "FF")]
            rows.append((n, rival, *times))
    return table(("N", "mesa_dual against", "per LUT", "per DSP", "per FF"), rows)


# The simulation's name of each core: measured at 1024 bits, the multiplier also at 2048.
MEASURED = {
    "mont_mul_cios": "cios_{}",
    "mont_mul_radix2": "radix2_{}",
    "mod_exp_ladder": "ladder_{}",
    "cond_sub": "cond_sub_{}",
    "mod_add": "mod_add_{}",
    "wide_add": "wide_add_{}",
    "div_exact": "div_exact_1076",
    "div_restoring": "div_restoring_564",
}


def table_cores(found, cycles):
    rows = []
    for n in STAGES:
        for core, parameters in cores(n).items():
            area = found[n].get(core)
            kinds = ("LUT", "FF", "DSP", *tools.DSP_REGISTERS, "BRAM")
            used = resources(area.cells()) if area else dict.fromkeys(kinds)
            through = (area.levels["LUT"], area.levels["multipliers"]) if area else (None, None)
            name = MEASURED.get(core, "").format(n)
            time = cycles.get(name) if not name.startswith("div_") or n == 1024 else None
            timing = (time["latency"], time["interval"]) if time else ("-", "-")
            settings = ", ".join(f"{name} = {value}" for name, value in parameters.items())
            rows.append((core, settings, *(used[kind] for kind in kinds), *through, *timing))
    head = ("core", "parameters", "LUT", "FF", "DSP48E1", *tools.DSP_REGISTERS, "BRAM36")
    return table((*head, "LUTs on a path", "multipliers on a path", "latency", "interval"), rows)


# Published results of [NEPV24]: 1024 bits, expanded, all registers of the DSP blocks; cycles
# between products, Vivado 2022.1, xczu9eg.
PEER_PRODUCT = ("FIOS, [NEPV24]", "Vivado, DSP48E2, placed and routed", 61, 126, 732)


def table_products(area, cycles):
    """Compares 1024-bit products with the fastest open design: DSP blocks times cycles."""
    name, tool, dsp, interval, clock = PEER_PRODUCT
    rows = [(name, tool, dsp, interval, dsp * interval, clock)]
    if area:
        used, interval = resources(area.cells())["DSP"], cycles["cios_1024"]["interval"]
        rows.append(("mont_mul_cios, ours", "Yosys, DSP48E1, not placed", used, interval, used * interval, "not timed"))
    return table(("design", "tool and block", "DSP", "cycles a product", "DSP cycles", "MHz"), rows)


TEXT = """# MESA: the paper's tables and ours

Written by `make synth-mesa` (synth/mesa.py) with {tools}. Cycles are measured in simulation (Verilator). Areas come from `synth_xilinx -family xc7` of Yosys for each
module, with the hierarchy kept and without pins. Unless stated otherwise, multipliers have digits of W = {w} bits and words of up to V = {v} bits, which fit a DSP48E1, and the
quotient has a delay of D = {d}. `mesa_dual` has balanced digits of 18 bits, words of 24 bits and {lanes} lanes per branch. Frequencies are in [mesa-clocks.md](mesa-clocks.md).

**Limits of the comparison.** The paper's areas and its 100 MHz come from Vivado 2018.3, placed and routed on a Virtex-7 690T. Ours come from Yosys before placement, and no timing was
closed on a Virtex-7. Yosys has neither Vivado's optimisations across modules nor its limits; both count the same primitives (LUT6, flip-flop, DSP48E1). So cells are *routed* (the papers')
or *mapped* (ours: a netlist without wires), and our milliseconds and throughput in Table IV are *projected*: our cycles at the paper's 100 MHz. A projected rate is not divided by mapped
cells. Routed frequencies, for another family and other widths, have their own page; no decryptor of 1024 or 2048 bits was routed on any. *Not run* marks results that the run that wrote
this page did not reach. `make synth-mesa` keeps each result, resumes where it was stopped, and repeats only what depends on a changed source.

## Table I: work after the exponentiation
In operations of 2 N bits, as the paper counts them; ours are counted in the netlist.

{table_1}

## Table II: resources
The paper: xc7vx690t. One ME is one ladder with its two multipliers. Vivado optimises across modules, and so does Yosys in the second column of each kind, where only
the ladders stay apart; in the third column, and on the rest of this page, each module is mapped alone.

{table_2}

A ladder saves blocks and flip-flops at the cost of LUTs: two additions per word, about 4 000 LUTs at 1024 bits, lie outside the DSP blocks, so that these use all their registers and
the widest words they accept (`rtl/arith/mont_word.sv`). Pre and post include a device's registers, packets and checksums (`rtl/lib`). What they take more than the paper's, about
3 200 LUTs at 1024 bits and 9 200 at 2048, is less than the price of two choices together, about 5 900 at 1024 bits and twice that at 2048: in each of the two branches, 2 048 LUTs choose
which number of the first pair is squared first, because an exponent may begin with zeros; and about 1 800 gate the two moduli and factors of the one multiplier for Pre and Post, because Yosys puts no gated addend into the LUT of a carry chain.

## Table III: cycles at N = 1024, 12 ME
The paper's times at 100 MHz are cycles / 100 in microseconds. Pre, Post and op overlap between ciphertexts: op is the time between two plaintexts. Our powers are modulo a multiple of
p^2, up to 51 bits longer (48 with digits of 16 bits), and the divisions process these bits: 564 bits of the quotient at three cycles each in the restoring divider, or all 1076 bits of
the power at one cycle each of div and of Post from the low end, which detects whether the division is exact.

{table_3}

## Table IV: decryptors
TP = (N 1000 / 1024) / ms in kbit/s, where ms is the time between two decryptions; per area in bit/s, as the paper defines them. Latency is from the first beat of a ciphertext to the
last beat of its plaintext in an empty device, for the devices that were simulated. For the others, the time between two decryptions follows from the formulas in their headers, which
tests check at smaller widths.

{table_4}

Decryptions per cycle and resource, as multiples; the paper's cells are routed, ours mapped:

{table_ratio}

## Short exponents
Subgroup keys ([docs/explanation/subgroup.md](../../docs/explanation/subgroup.md)) decrypt with exponents of 257 bits at 2048 bits. At 1024 bits, the table compares subgroups of 160 bits,
which are insecure, with the papers' figures. The hardware is the same, loaded with other constants: counted in simulation at N = 1024, by the formulas at N = 2048. In `mesa`, the two
radix-2 products of each ciphertext become the bottleneck as soon as the stages take less time, so with short exponents fewer stages are as fast.

{table_short}

## Every core
AREG to PREG count the DSP48E1 blocks with these registers: at both operands, behind the product, at the output. LUTs and multipliers on a path are the most on any path between registers;
a product that passes through a register inside its block is on none. Latency and interval are cycles, if measured.

{table_cores}

## A product of 1024 bits compared with a peer
DSP blocks times the cycles between two products. The vendor's tool timed the peer on its family at the frequency given. Ours is not timed, so the table compares work, not time.

{table_products}
"""


def page(files):
    """Returns the page's text, with cycles from files or simulations."""
    cycles = with_formulas(measured_cycles(files))
    found = {n: areas(n) for n in STAGES}
    return TEXT.format(
        tools=pages.versions(),
        w=W,
        v=V,
        d=D,
        lanes=LANES,
        table_1=table_1(found[1024].get("mesa"), found[1024].get("mesa_dual")),
        table_2=table_2(found),
        table_3=table_3(cycles),
        table_4=table_4(found, cycles),
        table_ratio=table_ratio(found, cycles),
        table_short=table_short(cycles),
        table_cores=table_cores(found, cycles),
        table_products=table_products(found[1024].get("mont_mul_cios"), cycles),
    )


def main():
    parser = pages.options(__doc__)
    parser.add_argument("--cycles", action="append", default=[], help="read the output of a simulation from this file instead of running it")
    arguments = parser.parse_args()
    pages.write("mesa", jobs(), arguments, lambda: page(arguments.cycles))


if __name__ == "__main__":
    main()
