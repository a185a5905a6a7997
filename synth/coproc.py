"""Synthesises the Paillier co-processor's arithmetic cores, routes small ones, and writes
`bench/results/coproc.md`.

The page compares the co-design paper's tables with ours.

Areas are of the UltraScale+ family, clocks of an ECP5. A result is kept in target/synth until one
of its sources changes, so jobs can run in any order and in parts: `--list` lists them,
`--only WORD` runs those whose name contains a word.
"""

import json
import pathlib
import subprocess
import sys

import pages
import routing
from tables import table
from tools import ROOT
from ultrascale import area

KEYS = (512, 1024, 2048)
# Digits of the paper's size with words as wide as its rate requires, and digits that fill a
# DSP48E2's factor: four of them hold 1024 bits and the two above.
PAIRS = {
    "digits of 256 bits, words of 128": {"Digit": 256, "Width": 128, "Tile": 16},
    "digits of 272 bits, words of 136": {"Digit": 272, "Width": 136, "Tile": 17},
}
DUAL = {"W": 18, "V": 26, "D": 2}
CIOS = {"W": 17, "V": 26, "D": 2}
# Routed on the ECP5, whose multipliers are 18 x 18 bits: cores of a modulus of 256 bits, and the
# largest whole co-processor that nextpnr routes.
ROUTED = {
    "mont_mul_digit, modulus of 256 bits": ("mont_mul_digit", {"N": 256, "Digit": 64, "Width": 64, "Tile": 16}),
    "mod_exp_pair, modulus of 256 bits": ("mod_exp_pair", {"N": 256, "Digit": 64, "Width": 64, "Tile": 16}),
    "dual_mul, key of 256 bits (modulus of 512)": ("dual_mul", {"H": 256, "W": 16, "V": 16, "D": 2}),
    "coproc with dual_mul, key of 128 bits": ("coproc", {"N": 128, "Core": 2, "W": 16, "V": 16, "StreamBits": 32}),
}

# The paper, [RZ25], tables 2 to 4: xczu15eg, Vivado 2024.1, modulus of 1024 bits (a key of 512).
PAPER = {"LUT": 195955, "FF": 199844, "DSP": 2635}
PAPER_MHZ = 287
PAPER_PRODUCT_US, PAPER_POWER_US = 0.523, 667.42
PAPER_RATES = {"product": 1875.8e3, "power": 1498.3, "encryption": 3649.2}
ZU15EG = {"LUT": 341280, "FF": 682560, "DSP": 3528}
# The paper's table 4, all placed and routed: name, MHz, CLB, DSP, products (k/s), powers/s,
# encryptions/s, ATP of a product and of a power.
PAPER_RIVALS = [
    ("[13] of the paper", 278, 1027, 0, 180.8, "-", "-", "45.45", "-"),
    ("[14]", "-", 1272, 0, 992.41, 484.57, 956.69, "10.26", "21000.45"),
    ("[15]", "211/201", "510/1530", "0/56", 719.4, 657.9, "-", "5.67", "18604.64"),
    ("[16]", 386, 1530, 45, "-", "-", 680.3, "-", "-"),
    ("[17]", 257, 59098, 461, 1863.2, 3593.7, 7029.9, "253.88", "131574.37"),
    ("the paper", 287, 35478, 2609, 1875.8, 1498.3, 3649.2, "151.28", "189430.10"),
]
# LUTs per CLB, the unit of the paper's ATP.
CLB_LUTS = 8

# Whole devices for a key of 512 bits with one multiplier and four contexts, and their cycles for
# four encryptions, as a test counts them (crates/simulated/tests/all/coproc.rs) with the same
# digits and words.
DEVICE_KEY = 512
DEVICES = {"mont_mul_cios": (0, 187776), "mont_mul_digit": (1, 375152), "dual_mul": (2, 225177)}

# Window width of a power, and bits of a comb column (teeth).
WINDOW, TEETH = 5, 8

def levels(width, tile):
    """Returns the levels of the adder tree in an array (digit_mac)."""
    return next(levels for levels in range(1, 5) if 3**levels > width // tile)


def step(bits, shape):
    """Returns the cycles between products by large digits for a modulus of `bits` bits, by the
    formula in the header of digit_product.
    """
    digit, width = shape["Digit"], shape["Width"]
    per, words, terms = digit // width, -(-(bits + 3) // width), -(-(bits + 3) // digit)
    latency = 6 + levels(width, shape["Tile"])
    factor = max(words + 2 * per, per + latency + 1)
    period = max(factor + per + max(words + per, latency - per - 1), factor + per + latency)
    return terms * period + max(words + per, 2 * per + latency)


def job(key):
    """Returns the cycles of a job of dual_mul."""
    return dual_digits(key) + DUAL["D"] + 2


def dual_digits(key):
    """Returns the digits of one part of a dual number."""
    return (key + DUAL["W"] + 2) // DUAL["W"] + DUAL["D"] + 1


def cios(bits):
    """Returns the cycles between products of mont_mul_cios."""
    return -(-(bits + 2) // CIOS["W"]) + 2 * CIOS["D"] + 6


def formulas():
    """Returns what the simulation measures, by the formulas of the modules' headers."""
    digits = {name: step(1024, shape) for name, shape in zip(("digit_1024", "digit_1024_272"), PAIRS.values())}
    return {**digits, "cios_1024": cios(1024), "dual_mul_512": 3 * job(512), "dual_mul_512 square": 2 * job(512)}


def cores(key):
    """Returns each core for a key: its label, module and parameters."""
    found = {f"mod_exp_pair, {label}": ("mod_exp_pair", {"N": 2 * key, **parameters}) for label, parameters in PAIRS.items()}
    found["dual_mul"] = ("dual_mul", {"H": key, **DUAL})
    found["mont_mul_cios"] = ("mont_mul_cios", {"N": 2 * key, **CIOS})
    return found


def device(core):
    """Returns the resources of a whole device."""
    return area("coproc", {"N": DEVICE_KEY, "Core": core})


def jobs():
    """Returns every run of the tools by its name, areas first."""
    found = {f"device of {name}": lambda core=core: device(core) for name, (core, _) in DEVICES.items()}
    for key in KEYS:
        for label, (top, parameters) in cores(key).items():
            found[f"area {label}, key {key}"] = lambda top=top, parameters=parameters: area(top, parameters)
    for label, (top, parameters) in ROUTED.items():
        found |= routing.clock_jobs(label, top, parameters)
    return found


def measured(files):
    """Returns the cycles between products for a key of 512 bits, from saved output of the
    simulation or from a run.
    """
    if files:
        return {name: cycles for file in files for name, cycles in json.loads(pathlib.Path(file).read_text()).items()}
    command = ["cargo", "run", "--quiet", "--package", "hearith-rtl", "--example", "coproc_cycles"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


class Dual:
    """Cycles of `dual_mul` for a key, from those of a product and a square."""

    def __init__(self, key):
        self.key, self.product, self.square = key, 3 * job(key), 2 * job(key)

    def power(self, bits):
        """Returns the cycles of a power with fixed windows: conversion, table, windows, conversion
        back.
        """
        windows, half = -(-bits // WINDOW), 2 ** (WINDOW - 1) - 1
        products = 2 + half + (windows - 1) + 1
        return products * self.product + (half + WINDOW * (windows - 1)) * self.square

    def encryption(self):
        """Returns the cycles of (1 + m n) r^n: the conversion back is a product with (u, m), which
        includes the factor 1 + m n.
        """
        return self.power(self.key)

    def comb(self):
        """Returns the cycles of (1 + m n) h^a, with a of half the key's bits, by a table of 2^TEETH
        entries.
        """
        columns = -(-(self.key // 2) // TEETH)
        return (columns - 1) * self.square + columns * self.product

    def table_bits(self):
        """Returns the bits of the comb's table."""
        return 2**TEETH * 2 * DUAL["W"] * dual_digits(self.key)


def pairs(key):
    """Returns each pair of multipliers with its cycles per bit."""
    return [(label, step(2 * key, shape)) for label, shape in PAIRS.items()]


def areas(key):
    return {label: area(top, parameters) for label, (top, parameters) in cores(key).items()}


def shown(used):
    return [used[kind] if used else None for kind in ("LUT", "FF", "DSP")]


def table_resources(found):
    rows = [("the paper's system", 512, *(PAPER[kind] for kind in ("LUT", "FF", "DSP")), "-", "-", "-")]
    rows += [(label, key, "-", "-", "-", *shown(used)) for key in KEYS for label, used in found[key].items()]
    kinds = [f"{kind}, {step}" for step in ("routed", "mapped") for kind in ("LUT", "FF", "DSP")]
    return table(("design", "key", *kinds), rows)


def table_times():
    """Returns table 3 in cycles at a modulus of 1024 bits. The paper's times are routed; ours are
    cycles at its clock.
    """

    def row(name, product, bit="-", power=None):
        projected = f"{power / PAPER_MHZ:.2f}" if power else "-"
        return (name, product, "-", f"{product / PAPER_MHZ:.3f}", bit, "-", projected)

    rows = [("the paper", 150, PAPER_PRODUCT_US, "-", 187, PAPER_POWER_US, "-")]
    for label, bit in pairs(512):
        rows.append(row(f"mod_exp_pair, {label}", bit, bit, (1024 + 2) * bit))
    dual = Dual(512)
    rows.append(row("dual_mul", dual.product, f"{dual.power(1024) / 1024:.1f}", dual.power(1024)))
    rows.append(row("mont_mul_cios", cios(1024)))
    product, power = ([f"{what}, {step}" for step in ("routed", "projected")] for what in ("us a product", "us a power of 1024 bits"))
    return table(("design", "cycles a product", *product, "cycles a bit of the exponent", *power), rows)


def table_rivals():
    """Returns table 4 as the paper prints it: routed. Its ATP counts whole CLBs."""
    head = ("design", "MHz", "CLB", "DSP", "products (k/s)", "powers of 1024 bits (1/s)", "encryptions (1/s)", "ATP, product", "ATP, power")
    return table(head, PAPER_RIVALS)


def table_rates(found):
    """Returns our counterpart of table 4: mapped cells, and their rates at the paper's clock.

    It gives no product of the two, because they come from different design steps.
    """
    rows = []
    hertz = PAPER_MHZ * 1e6

    def row(name, used, product, power, encryption):
        rates = [f"{hertz / product / 1e3:.1f}", *(f"{hertz / taken:.1f}" if taken else "-" for taken in (power, encryption))]
        lut = used["LUT"] if used else None
        return (name, "-", lut, lut and -(-lut // CLB_LUTS), used["DSP"] if used else None, *rates)

    for label, bit in pairs(512):
        rows.append(row(f"mod_exp_pair, {label}", found[512][f"mod_exp_pair, {label}"], bit, (1024 + 2) * bit, (512 + 3) * bit))
    dual = Dual(512)
    rows.append(row("dual_mul", found[512]["dual_mul"], dual.product, dual.power(1024), dual.encryption()))
    rows.append(row("dual_mul, DJN", found[512]["dual_mul"], dual.product, dual.power(1024), dual.comb()))
    rows.append(row("mont_mul_cios", found[512]["mont_mul_cios"], cios(1024), None, None))
    projected = [f"{what}, projected" for what in ("products (k/s)", "powers of 1024 bits (1/s)", "encryptions (1/s)")]
    head = ("design", "MHz, routed", "LUT, mapped", "CLB that they fill, at least", "DSP, mapped", *projected)
    return table(head, rows)


def table_keys(found):
    """Returns the cycles of whole operations."""
    rows = []
    for key in KEYS:
        for label, bit in pairs(key):
            used = found[key][f"mod_exp_pair, {label}"]
            rows.append((key, f"mod_exp_pair, {label}", used and used["DSP"], bit, bit, (key + 3) * bit, "-", "-"))
        dual = Dual(key)
        used = found[key]["dual_mul"]
        each, table_size = f"{dual.power(2 * key) / (2 * key):.1f}", f"{dual.table_bits() / 1024:.0f}"
        rows.append((key, "dual_mul", used and used["DSP"], dual.product, each, dual.encryption(), dual.comb(), table_size))
        used = found[key]["mont_mul_cios"]
        rows.append((key, "mont_mul_cios", used and used["DSP"], cios(2 * key), "-", "-", "-", "-"))
    head = ("key", "design", "DSP", "cycles a product", "a bit of the exponent", "an encryption, r^n", "an encryption, DJN", "comb, kbit")
    return table(head, rows)


def table_ratios(found):
    """Returns the ratio to the paper's powers and encryptions, per cycle and DSP block."""
    rows = []
    power = PAPER_POWER_US * PAPER_MHZ
    encryption = PAPER_MHZ * 1e6 / PAPER_RATES["encryption"]
    ours = {f"mod_exp_pair, {label}": ((1024 + 2) * bit, (512 + 3) * bit) for label, bit in pairs(512)}
    dual = Dual(512)
    ours["dual_mul"] = (dual.power(1024), dual.encryption())
    ours["dual_mul, DJN"] = (dual.power(1024), dual.comb())
    for label, taken in ours.items():
        used = found[512][label.removesuffix(", DJN")]
        times = [f"{paper * PAPER['DSP'] / (cycles_taken * used['DSP']):.1f}" if used else None for paper, cycles_taken in zip((power, encryption), taken)]
        rows.append((label, *times))
    return table(("design", "powers, times the paper's (mapped to routed)", "encryptions, times the paper's (mapped to routed)"), rows)


def table_device(found):
    """Returns a projection: as many cores as fit the paper's part."""
    rows = [("the paper, measured", 512, 1, "-", f"{PAPER_RATES['encryption']:.1f}", "-")]
    for key in KEYS:
        used = found[key]["dual_mul"]
        if not used:
            rows.append(("dual_mul", key, None, None, None, None))
            continue
        fitting = {kind: ZU15EG[kind] // used[kind] for kind in ZU15EG}
        least = min(fitting, key=fitting.get)
        copies, dual = fitting[least], Dual(key)
        rates = [f"{copies * PAPER_MHZ * 1e6 / taken:.0f}" for taken in (dual.encryption(), dual.comb())]
        rows.append(("dual_mul, projected", key, copies, least, *rates))
    head = ("design", "key", "cores", "what they fill first", "encryptions a second, r^n", "encryptions a second, DJN")
    return table(head, rows)


def table_devices():
    """Returns the resources of whole devices, and encryptions per cycle and DSP block compared with
    the paper's.
    """
    kinds = ("LUT", "FF", "DSP", "BRAM36")
    encryption = PAPER_MHZ * 1e6 / PAPER_RATES["encryption"]
    # The paper's resources are routed, and have their own columns.
    rows = [("the paper's system", *(PAPER[kind] for kind in kinds[:3]), *("-",) * 4, f"{encryption:.0f}", "1.0")]
    for name, (core, four) in DEVICES.items():
        used = device(core)
        times = f"{encryption * PAPER['DSP'] / (four / 4 * used['DSP']):.1f}" if used else None
        rows.append((f"coproc, {name}", *("-",) * 3, *(used[kind] if used else None for kind in kinds), f"{four / 4:.0f}", times))
    heads = (*(f"{kind}, routed" for kind in kinds[:3]), *(f"{kind}, mapped" for kind in kinds))
    return table(("design", *heads, "cycles an encryption", "per cycle and DSP, times the paper's (mapped to routed)"), rows)


def table_clocks():
    rows = []
    for label, (top, parameters) in ROUTED.items():
        found = routing.clocks(top, parameters)
        least, median = routing.least_and_median(found)
        if found is None:
            rows.append((label, least, median, "", "", "", ""))
        else:
            used = found[0]["used"]
            kinds = ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D")
            rows.append((label, least, median, *(used.get(kind, 0) for kind in kinds), routing.path_text(found)))
    head = ("core", "MHz, least", "MHz, median", "LUT4 and carries", "FF", "MULT18X18D", "longest path of the slowest placement")
    return table(head, rows)


TEXT = """# The Paillier co-processor's cores: the paper's tables and ours

Written by `make synth-coproc` (synth/coproc.py) with {tools}. *Paper* is Ruan and Zhou's co-design, [RZ25] in the bibliography: modulus of 1024 bits
(a key of 512), xczu15eg, {mhz} MHz. Our cycles follow from the formulas in the modules' headers, which tests compare with simulations and which this page's run compared with a key of
512 bits (`cargo run --example coproc_cycles` in rtl/). Areas come from `synth_xilinx -family xcup` of Yosys for each core, with the hierarchy kept and without pins. Frequencies come from
nextpnr after placement and routing on an ECP5 (LFE5U-85F, speed grade 8), with shift registers around the core, whose cells are subtracted from the counts.

- `mod_exp_pair` is the paper's exponentiator, built from its description with our multipliers: a digit of 256 bits; one array for partial products, factors and reduction; square and
  product in parallel, from right to left, both always computed. Cycles per product are those of one of its two multipliers for back-to-back operations.
- `dual_mul` is ours: dual numbers, windows of {window} bits, or a comb of {teeth} teeth for an exponent of half the key's bits (DJN). Its counts assume products without gaps, which
  requires two or three powers at a time. The address of a table read depends on the exponent, so time is constant and power consumption is not.
- `mont_mul_cios` is the multiplier for single products modulo n^2.

**Limits of the comparison.** The paper's areas come from Vivado, placed and routed, for its whole system with memories, divider and control. Ours come from Yosys before placement, for
the cores alone. No timing was closed on an UltraScale+ part: our times and rates assume the paper's frequency, and nothing here has run on a board. The paper counts 78 647 cycles for an
encryption, about 150 for each of 512 bits of the exponent, and does not say how many products modulo n^2 that includes.

## Table 2: resources

{resources}

## Table 3: times at 1024 bits of modulus, {mhz} MHz

{times}

## Table 4: rates at 1024 bits of modulus
The paper and its rivals, as it prints them: whole systems, placed and routed. Its ATP is {clb_luts} times the CLBs (a CLB has {clb_luts} LUTs), times the microseconds of an
operation, times 10^-3.

{rivals}

Our figures are of three kinds. One number combines two of them only where its column says so: a multiple of the paper's, which divides its routed system by our mapped cells. *Routed*: placed and routed by a tool; no core of this size was. *Mapped*: cells of Yosys's netlist of the core
alone, without wires. *Projected*: our cycles at the paper's {mhz} MHz. The table has no ATP for our cores, because it would multiply mapped cells by a projected time and be compared with
that of whole placed systems.

{rates}

## Whole operations
Cycles; a comb's table holds 2^{teeth} dual numbers. *Not run* marks results that the run that wrote this page did not reach.

{keys}

## Per cycle and DSP block
The paper: 187 cycles per bit and 78 647 per encryption, {dsp} DSP.

{ratios}

## Whole devices
For a key of {device_key} bits, with one multiplier, four contexts, registers, streams, memories and the sequencer; digits of 17 and words of 24 bits, or 256 and 128 with large digits.
Cycles are those of four concurrent encryptions (r^n), divided by four.

{devices}

## The paper's part, filled: a projection
Cores of `dual_mul` alone, as many as fit the ZU15EG's LUTs, flip-flops and DSP blocks, at the paper's {mhz} MHz. They leave no space for memories' ports, control and streams, and no
placement has shown that such a device reaches that frequency: the projection shows what the arithmetic allows, not what a device achieves.

{device}

## Clocks, placed and routed
With registers packed into multipliers (synth/packing.py, which changes neither values nor cycles) and a target of 200 MHz. {seeds} placements each; the lowest frequency and the median.

{clocks}

**The whole co-processor** is routed for a key of 128 bits (modulus of 256, four contexts, 21 block RAMs). With a key of 256 bits it takes 22 668 LUTs and carries, 18 508 flip-flops,
40 multipliers and 35 block RAMs; with the paper's key of 512 bits 38 837 LUTs and carries (46 % of the part), 32 893 flip-flops, 72 multipliers and 63 block RAMs, harness included. Both fit, and
nextpnr places them, but was not seen to route them. At 256 bits the first router had 14 016 of 117 776 connections open after 400 000 steps. With nextpnr's placer `static`, whose wires are a
quarter shorter, the second router stays at 1 230 wires with two users after 24 rounds, all of them in 600 tiles beside the numbers' memory: it has a number in each word (640 bits for a key of 256),
and operands, constants, results and streams meet at its ports. At 512 bits the second router had 43 177 such wires after two rounds. These two sizes were tried before the key's numbers were kept word
by word, without a register of 2N bits (7 % fewer flip-flops at 512 bits, 8 % more block RAM).
"""


def page(files):
    """Returns the page's text, with cycles from files or a simulation."""
    if measured(files) != formulas():
        sys.exit(f"the simulation measures {measured(files)}, but the formulas give {formulas()}")
    found = {key: areas(key) for key in KEYS}
    return TEXT.format(
        tools=pages.versions(),
        mhz=PAPER_MHZ,
        window=WINDOW,
        teeth=TEETH,
        dsp=PAPER["DSP"],
        seeds=len(routing.SEEDS),
        resources=table_resources(found),
        times=table_times(),
        rivals=table_rivals(),
        clb_luts=CLB_LUTS,
        rates=table_rates(found),
        keys=table_keys(found),
        ratios=table_ratios(found),
        device_key=DEVICE_KEY,
        devices=table_devices(),
        device=table_device(found),
        clocks=table_clocks(),
    )


def main():
    parser = pages.options(__doc__)
    parser.add_argument("--cycles", action="append", default=[], help="read the output of the simulation from this file instead of running it")
    arguments = parser.parse_args()
    pages.write("coproc", jobs(), arguments, lambda: page(arguments.cycles))


if __name__ == "__main__":
    main()
