"""Synthesises the block streams of rtl/blocks and writes `bench/results/ballot-machine.md`: the tables of the election machine beside ours.

Areas are of the xc7 family, before placement. Cycles follow from formulas that the tests of rtl/blocks count in simulations. A result is kept in target/synth until a source
that it depends on changes: `--list` names the jobs, `--only WORD` runs those whose name contains a word, `--kept` runs none.
"""

import argparse
import functools
import math
import sys

import tools
from tables import table

PAGE = tools.ROOT / "bench" / "results" / "ballot-machine.md"

# Blocks of 32 bits of the paper's 4096 bits, and of its exponents.
BLOCKS, EXPONENT = 128, 64
CLOCK = 100e6
# The Spartan-7 of the paper's 120 DSP blocks, and the larger one: LUT, FF, DSP, block memories of 36 kbit.
DEVICES = {"XC7S50": (32600, 65200, 120, 75), "XC7S100": (64000, 128000, 160, 120)}
KINDS = ("LUT", "FF", "DSP", "BRAM")

FORM = {"Blocks": BLOCKS}
DUAL = {"W": 16, "V": 24, "D": 4, "Fold": 2}
# What is synthesised: module and parameters.
DESIGNS = {
    "adder": ("block_add", {}),
    "subtractor": ("block_add", {"Sub": 1}),
    "shifter": ("block_shift", {}),
    "bit selector": ("block_select", {}),
    "running comparator": ("block_compare", {}),
    "accumulator": ("block_accumulate", FORM),
    "grade-school multiplier": ("block_mul", FORM),
    "parallel multiplier": ("block_mul", {**FORM, "Lanes": 4}),
    "squarer": ("block_square", FORM),
    "Karatsuba multiplier": ("block_karatsuba", FORM),
    "Montgomery reduction": ("block_reduce", FORM),
    "parallel Montgomery reduction": ("block_reduce", {**FORM, "Lanes": 4}),
    "divider": ("block_divide", FORM),
    "exponentiation": ("block_power", FORM),
    "parallel exponentiation": ("block_power", {**FORM, "Lanes": 4}),
    "encryptor": ("block_encryptor", {**FORM, "Lanes": 4}),
    "row of the dual encryptor": ("dual_row", {"H": 2048, **DUAL}),
    "dual encryptor, r^n": ("dual_encryptor", {"N": 2048}),
    "dual encryptor, comb of 6 teeth": ("dual_encryptor", {"N": 2048, "Teeth": 6}),
}


def columns(lanes, low=False, square=False, n=BLOCKS):
    """The cycles of a product's columns (block_columns)."""
    high = [(k // 2 if square else min(k, n - 1)) // lanes for k in range(n if low else 2 * n - 1)]
    return sum(top + 1 - max(0, k - n + 1) // lanes for k, top in enumerate(high)) + (not low)


def product(lanes, **kind):
    """From the first block's taking to the last one's leaving, both included."""
    return columns(lanes, **kind) + 6


def reduction(lanes):
    return columns(lanes) + BLOCKS + REDUCE


def interval(lanes):
    """From one square of block_power to the next."""
    return columns(lanes) + BLOCKS // lanes + POWER


def power(lanes, bits):
    return interval(lanes) * (bits + 2) + BLOCKS


# What the pipelines add to a reduction and to an interval (rtl/tests/block_streams.rs counts them).
REDUCE, POWER = 15, 20


# No more than that for numbers in and the way out of dual numbers (coproc_core_dual).
WAY_OUT = 4000


def digits(bits=2048):
    return (bits + 18) // 16 + DUAL["D"] + 1


def job():
    """Cycles of a job of the folded row."""
    return DUAL["Fold"] * (digits() + DUAL["D"] + 2)


def by_windows():
    """Cycles of one of two encryptions side by side: a product every three jobs, a square every two (dual_encryptor)."""
    return job() * (11 * (2048 // 4 - 1) + 3 * 16) + WAY_OUT


def by_comb(teeth, exponent=1024):
    return job() * (5 * (math.ceil(exponent / teeth) - 1) + 3) + WAY_OUT


def cells(name):
    """What a design takes."""
    area = tools.area(*DESIGNS[name])
    return area and tools.resources(area.cells())


def of(name, *kinds):
    used = cells(name)
    return [used and f"{used[kind]:g}" for kind in kinds]


def table_1():
    paper = {"grade-school multiplier": (16646, 1.5, 4), "parallel multiplier": (4296, 3, 16)}
    rows = []
    for name, cycles in (
        ("grade-school multiplier", product(1)),
        ("parallel multiplier", product(4)),
        ("Karatsuba multiplier", BLOCKS * (BLOCKS + 1) // 2 + 7),
        ("squarer", product(1, square=True)),
    ):
        printed = paper.get(name, ("", "", ""))
        rows.append((name, printed[0], cycles, printed[1], *of(name, "BRAM"), printed[2], *of(name, "DSP", "LUT", "FF")))
    return table(("of 4096 bits", "cycles, paper", "ours", "BRAM, paper", "ours", "DSP, paper", "ours", "LUT", "FF"), rows)


def table_2():
    bits = 32 * EXPONENT
    simple = {"adder": 129, "subtractor": 129, "shifter": 130, "bit selector": 129, "running comparator": 129}
    rows = [(name, 128, cycles, 0, *of(name, *KINDS)) for name, cycles in simple.items()]
    for name, printed, cycles, memories in (
        ("accumulator", "", 130, ""),
        ("grade-school multiplier", 16646, product(1), 1.5),
        ("parallel multiplier", 4296, product(4), 3),
        ("Montgomery reduction", 33680, reduction(1), 4),
        ("parallel Montgomery reduction", 8980, reduction(4), 7),
        ("exponentiation", 102273024, power(1, bits), 12),
        ("parallel exponentiation", 25989120, power(4, bits), 21),
        ("divider", 16902, columns(1) + 9, 2),
    ):
        rows.append((name, printed, cycles, memories, *of(name, *KINDS)))
    return table(("component", "cycles, paper", "ours", "BRAM, paper", "LUT", "FF", "DSP", "BRAM"), rows)


def table_rates():
    rows = [("paper, r^n", 27000000, "3.7", 120)]
    for label, cycles, name in (
        ("block streams, r^n", power(4, 32 * EXPONENT), "encryptor"),
        ("dual numbers, r^n", by_windows(), "row of the dual encryptor"),
        ("dual numbers, DJN, comb of 6 teeth", by_comb(6), "row of the dual encryptor"),
    ):
        rows.append((label, cycles, f"{CLOCK / cycles:.1f}", *of(name, "DSP")))
    return table(("encryption, n of 2048 bits", "cycles", "a second at 100 MHz", "DSP"), rows)


def table_devices():
    rows = []
    for name in ("encryptor", "dual encryptor, r^n", "dual encryptor, comb of 6 teeth"):
        used = cells(name)
        rows.append((name, *(used and f"{used[kind]:g}" for kind in KINDS)))
    rows += [(device, *have) for device, have in DEVICES.items()]
    return table(("design", *KINDS), rows)


TEXT = """# The ballot machine: the paper's tables and ours

Written by `synth/ballot.py` ({tools}). *Paper* is Gomez, Turino and Gorbea, "Hardware Implementation of a Partially Homomorphic Cryptosystem" [GTG24]. So far the
arithmetic; the designs are in [docs/block-streams.md](../../docs/block-streams.md).

**What cannot be compared.** The paper's figures come from Vivado, placed and routed on a Spartan-7; ours are Yosys's, mapped to the same primitives (LUT6, flip-flop, DSP48E1, block
RAM of 36 kbit) before placement, with the hierarchy kept. Rates are cycles at the paper's 100 MHz, which no tool here has shown for this part. Cycles are from the first block's
being taken to the last one's being given, both included, and counted in simulations (`rtl/tests/block_streams.rs`, `rtl/tests/dual_encryptor.rs`) up to the sizes said in
[docs/block-streams.md](../../docs/block-streams.md); those of larger exponents follow from the formulas there. *Not run*: not synthesised when this page was written.

## Table I: multipliers
{table_1}

## Table II: components
{table_2}

The paper's 25 989 120 cycles are 2048 x 3 x 4230 and its 102 273 024 are 2048 x 3 x 16 646: three multiplications after one another, in the parallel form those of blocks of 64 bits. Ours make
the square, m and m N at once, and the next square begins when the first block of the last one is there.

## Encryptions
{table_rates}

The paper's multipliers are its own 120 blocks. Dual numbers are counted for one of two encryptions side by side; DSP blocks are those of the row of multipliers, in which all
of them are. r^n takes windows of four bits of n, the comb an exponent of 1024 bits.

## Devices
{table_devices}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names of all jobs, and run none")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="run the jobs whose name contains a word, and write nothing")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--kept", action="store_true", help="run no tool: what earlier runs have not left is 'not run'")
    arguments = parser.parse_args()
    jobs = {name: functools.partial(cells, name) for name in DESIGNS}
    if arguments.list:
        print("\n".join(jobs))
        return
    failures = 0 if arguments.kept else tools.run_jobs(jobs, arguments.only, arguments.jobs)
    if not arguments.only:
        # What failed is not tried again.
        tools.ONLY_KEPT = True
        page = TEXT.format(
            tools=", ".join(f"{name} {version}" for name, version in tools.TOOLS.items() if "yosys" in name),
            table_1=table_1(),
            table_2=table_2(),
            table_rates=table_rates(),
            table_devices=table_devices(),
        )
        PAGE.write_text(page)
    if failures:
        sys.exit(f"{failures} of the jobs failed")


if __name__ == "__main__":
    main()
