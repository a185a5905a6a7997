"""Synthesises the ballot machine, places and routes its parts, and writes
`bench/results/ballot-machine.md`.

The machine's sources are rtl/blocks, rtl/links and rtl/election. The page compares the tables of
the election machine's paper with ours.

Areas are of the xc7 family, before placement; clocks are of an ECP5. Cycles follow from formulas
that the tests of rtl/blocks check in simulations. A result is kept in target/synth until one of its
sources changes: `--list` lists the jobs, `--only WORD` runs those whose name contains a word,
`--kept` runs none.
"""

import functools
import math

import pages
import routing
import tools
from tables import table

PAGE = "ballot-machine"

# 32-bit blocks of the paper's 4096-bit numbers, and of its exponents.
BLOCKS, EXPONENT = 128, 64
CLOCK = 100e6
# The Spartan-7 with the paper's 120 DSP blocks, and the larger one: LUT, FF, DSP, block memories of
# 36 kbit.
DEVICES = {"XC7S50": (32600, 65200, 120, 75), "XC7S100": (64000, 128000, 160, 120)}
KINDS = ("LUT", "FF", "DSP", "BRAM")

FORM = {"Blocks": BLOCKS}
DUAL = {"W": 16, "V": 24, "D": 4, "Fold": 2}
# The synthesised designs: module and parameters.
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


# The boards with their own parameters for n of 256 bits: one contest with two candidates, a
# thousand voters, and digits and words of 32 or 64 bits.
KEY = {"N": 512, "ABits": 128}
BOARDS = {
    "encryptor board, digits of 32 bits": ("encryptor_board", KEY),
    "encryptor board, digits of 64 bits": ("encryptor_board", {**KEY, "Digit": 64}),
    "tally board, digits of 32 bits": ("tally_board", {"N": 512}),
    "tally board, digits of 64 bits": ("tally_board", {"N": 512, "Digit": 64}),
}
DESIGNS |= BOARDS
# Modules inside the boards whose cells are reported, including the modules below them.
INSIDE = {
    "encryptor board, digits of 32 bits": [
        *("uart_link", "spi_controller_link", "vote_processor", "noise_source_port", "health_tests", "vote_log", "spi_flash"),
        *("mark_prover", "proof_challenge", "sha256", "lockstep_power", "secret_power"),
    ],
    "tally board, digits of 32 bits": [
        *("uart_link", "spi_peripheral_link", "noise_source_port", "mod_exp_pair", "share_prover", "share_challenge", "sha256"),
    ],
}
# Placed and routed on the ECP5: the components of the block streams, the parts of the boards, and
# the boards.
STREAMS = (
    *("adder", "subtractor", "shifter", "bit selector", "running comparator", "accumulator"),
    *("grade-school multiplier", "parallel multiplier", "squarer", "Karatsuba multiplier"),
    *("Montgomery reduction", "parallel Montgomery reduction", "divider", "exponentiation", "parallel exponentiation"),
)
ROUTED = {
    **{name: DESIGNS[name] for name in STREAMS},
    "link over UART": ("uart_link", {"Words": 48}),
    "link over SPI, controller": ("spi_controller_link", {"Words": 48}),
    "link over SPI, peripheral": ("spi_peripheral_link", {"Words": 48}),
    "noise source": ("noise_source_port", {}),
    "SHA-256": ("sha256", {}),
    "votes": ("vote_processor", {"Candidates": 2}),
    "log": ("vote_log", {"Body": 34, "SlotLog": 8}),
    "challenges of proofs": ("proof_challenge", {"N": 512}),
    "power modulo n^2": ("secret_power", {"N": 512}),
    "tally board, digits of 32 bits": BOARDS["tally board, digits of 32 bits"],
    "encryptor board, digits of 32 bits": BOARDS["encryptor board, digits of 32 bits"],
}


def columns(lanes, low=False, square=False, n=BLOCKS):
    """Returns the cycles of a product's columns (block_columns)."""
    high = [(k // 2 if square else min(k, n - 1)) // lanes for k in range(n if low else 2 * n - 1)]
    return sum(top + 1 - max(0, k - n + 1) // lanes for k, top in enumerate(high)) + (not low)


def product(lanes, **kind):
    """Returns the cycles from accepting the first block to sending the last, both included."""
    return columns(lanes, **kind) + 6


def reduction(lanes):
    return columns(lanes) + BLOCKS + REDUCE


def interval(lanes):
    """Returns the cycles from one square of block_power to the next."""
    return columns(lanes) + BLOCKS // lanes + POWER


def power(lanes, bits):
    return interval(lanes) * (bits + 2) + BLOCKS


# Pipeline overhead of a reduction and of an interval (counted by rtl/tests/all/block_streams.rs).
REDUCE, POWER = 15, 20


# Upper bound for the input of numbers and the conversion from dual numbers (coproc_core_dual).
WAY_OUT = 4000


def digits(bits=2048):
    return (bits + 18) // 16 + DUAL["D"] + 1


def job():
    """Returns the cycles of a job of the folded row."""
    return DUAL["Fold"] * (digits() + DUAL["D"] + 2)


def by_windows():
    """Returns the cycles of one of two parallel encryptions: a product every three jobs, a square
    every two (dual_encryptor).
    """
    return job() * (11 * (2048 // 4 - 1) + 3 * 16) + WAY_OUT


def by_comb(teeth, exponent=1024):
    return job() * (5 * (math.ceil(exponent / teeth) - 1) + 3) + WAY_OUT


def step(bits, digit):
    """Returns the cycles of a step of two parallel products modulo a number of `bits` bits, by
    digits and words of `digit` bits (rtl/arith/digit_product.sv).
    """
    terms, tiles = (bits + digit + 2) // digit, digit // 16
    latency = 6 + (1 if tiles < 3 else 2 if tiles < 9 else 3 if tiles < 27 else 4)
    product_at = max(terms, latency) + 3
    period = product_at + max(terms + 1, latency)
    return terms * period + max(terms + 1, latency + 2)


# The mask of an opening is this many bits longer than the opening.
HIDING = 384


def board_steps(bits):
    """Returns the steps of the boards' powers modulo n^2 for n of `bits` bits.

    Each power takes as many steps as its exponent has bits, plus two. The entries are: a ballot of
    two marks, one of them chosen, with its proofs (mark_prover); multiplying its marks to the
    totals; decrypting a total; and a trustee's share of it with its proof (tally_board,
    share_prover).
    """
    power = 2
    mark = (bits // 2 + power) + 2 * (256 + power) + 2 * (bits // 2 + HIDING + power)
    opening = bits // 2 + 32
    known_sum = (opening + power) + (opening + HIDING + power)
    share = (2 * bits + 65 + power) + 2 * (2 * bits + 513 + power)
    return {"ballot": 2 * mark + known_sum, "count": 2 * (1 + power), "decrypt": 2 * bits + power, "share": share}


# Cycles counted in simulations, including the serial line and the noise source
# (rtl/tests/all/ballot_machine.rs), by bits of n, digit and operation.
COUNTED = {(256, 64, "share"): 582000, (2048, 256, "ballot"): 7856726}


def table_times():
    """Returns the boards' times for a ballot and for a tally."""
    words = {
        "ballot": "encryptor board: encrypt a ballot of two marks, with its proofs",
        "count": "tally board: multiply a ballot into the totals",
        "decrypt": "tally board: decrypt a total with the whole key",
        "share": "tally board: compute a trustee's share of a total, with its proof",
    }
    rows = []
    for bits, digit in ((256, 32), (256, 64), (2048, 256)):
        for what, steps in board_steps(bits).items():
            cycles = steps * step(2 * bits, digit)
            rows.append((bits, digit, words[what], steps, cycles, COUNTED.get((bits, digit, what), ""), f"{1000 * cycles / CLOCK:.2f}"))
    return table(("bits of n", "of a digit", "what", "steps", "cycles of the steps", "total, simulated", "ms at 100 MHz"), rows)


def cells(name):
    """Returns the resources of a design."""
    return tools.used(*DESIGNS[name])


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
    return table(("of 4096 bits", "cycles, paper", "cycles, ours", "BRAM, paper, routed", "BRAM, mapped", "DSP, paper, routed", "DSP, mapped", "LUT, mapped", "FF, mapped"), rows)


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
    return table(("component", "cycles, paper", "cycles, ours", "BRAM, paper, routed", "LUT, mapped", "FF, mapped", "DSP, mapped", "BRAM, mapped"), rows)


def table_rates():
    rows = [("paper, r^n", 27000000, "3.7", 120)]
    for label, cycles, name in (
        ("block streams, r^n", power(4, 32 * EXPONENT), "encryptor"),
        ("dual numbers, r^n", by_windows(), "row of the dual encryptor"),
        ("dual numbers, DJN, comb of 6 teeth", by_comb(6), "row of the dual encryptor"),
    ):
        rows.append((label, cycles, f"{CLOCK / cycles:.1f}", *of(name, "DSP")))
    return table(("encryption, n of 2048 bits", "cycles", "per second, projected (100 MHz)", "DSP"), rows)


def inside(board):
    """Returns the modules inside a board, with what is below them: the number of instances, and the
    cells of one.
    """
    return tools.inside(*BOARDS[board], INSIDE[board])


def table_inside():
    rows = []
    for board, modules in INSIDE.items():
        found = inside(board)
        for module in modules:
            many, used = found[module] if found else (None, dict.fromkeys(KINDS))
            rows.append((board.split(",")[0], f"`{module}`", many, *(used[kind] if used[kind] is None else f"{used[kind]:g}" for kind in KINDS)))
    return table(("board", "module", "times", *KINDS), rows)


def table_devices():
    rows = [(name, *of(name, *KINDS)) for name in ("encryptor", "dual encryptor, r^n", "dual encryptor, comb of 6 teeth", *BOARDS)]
    rows += [(device, *have) for device, have in DEVICES.items()]
    return table(("design", *KINDS), rows)


def of(name, *kinds):
    used = cells(name)
    return [used and f"{used[kind]:g}" for kind in kinds]


def table_room():
    """Returns whether a board fits each part, and the remaining resources of each kind."""
    rows = []
    for name in BOARDS:
        used = cells(name)
        for device, have in DEVICES.items():
            if used is None:
                rows.append((name, device, *[None] * 5))
                continue
            left = [capacity - used[kind] for kind, capacity in zip(KINDS, have)]
            share = [f"{rest:g} ({100 * rest / capacity:.0f} %)" for rest, capacity in zip(left, have)]
            rows.append((name, device, "yes" if min(left) >= 0 else "no", *share))
    return table(("board", "part", "fits", *(f"{kind} left" for kind in KINDS)), rows)


def table_clocks():
    rows = []
    for name, (top, parameters) in ROUTED.items():
        found = routing.clocks(top, parameters)
        least, median = routing.least_and_median(found)
        used = found[0]["used"] if found else {}
        kinds = [used.get(kind, 0) if found else "" for kind in ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D", "DP16KD")]
        rows.append((name, least, median, *kinds, routing.path_text(found) if found else ""))
    head = ("part", "MHz, least", "MHz, median", "LUT4 and carries", "FF", "MULT18X18D", "block RAM", "longest path of the slowest placement")
    return table(head, rows)


def key_registers():
    """Returns the bits of the encryptor board's key ports: seven numbers modulo n^2, an inverse,
    two numbers of the length of n, and the election's id.
    """
    return 7 * KEY["N"] + 32 + 2 * KEY["N"] // 2 + 256


def jobs():
    """Returns every run of the tools by its name, areas first."""
    found = {f"area {name}": functools.partial(cells, name) for name in DESIGNS}
    found |= {f"inside {board}": functools.partial(inside, board) for board in INSIDE}
    for name, design in ROUTED.items():
        found |= routing.clock_jobs(name, *design)
    return found


TEXT = """# The ballot machine: the paper's tables and ours

Written by `synth/ballot.py` ({tools}). *Paper* is Gomez, Turino and Gorbea, "Hardware Implementation of a Partially Homomorphic Cryptosystem" [GTG24]. The designs are in
[rtl/blocks/README.md](../../rtl/blocks/README.md) and [docs/explanation/ballot-machine.md](../../docs/explanation/ballot-machine.md).

**Limits of the comparison.** The paper's figures come from Vivado, placed and routed on a Spartan-7. Ours come from Yosys, mapped to the same primitives (LUT6, flip-flop, DSP48E1,
36-kbit block RAM) before placement, with the hierarchy kept. Rates assume the paper's 100 MHz; no tool here has shown that frequency for this part. Cycles count from accepting the
first block to delivering the last, both included. Simulations (`rtl/tests/all/block_streams.rs`, `rtl/tests/all/dual_encryptor.rs`) count them up to the sizes stated in
[rtl/blocks/README.md](../../rtl/blocks/README.md); for larger exponents they follow from the formulas there. *Not run* marks designs not synthesised when this page was written.

## Table I: multipliers
{table_1}

## Table II: components
{table_2}

The paper's 25 989 120 cycles are 2048 x 3 x 4230 and its 102 273 024 are 2048 x 3 x 16 646: three multiplications in sequence, in the parallel form with blocks of 64 bits. Our
design computes the square, m and m N concurrently, and the next square begins as soon as the first block of the previous one is available.

**Block RAM.** A memory here has one read port and takes at least half a block. Four multipliers read four blocks of each factor per cycle, from eight memories of 32 blocks: 4 of RAM where the
paper has 3. A reduction has two multipliers with memories of their own, and a power two Montgomery products at a time, where the paper's three multiplications follow each other. That takes more
RAM for fewer cycles: RAM times cycles is 1.30 times the paper's for the parallel multiplier, but 0.61 and 0.76 for the two reductions, 0.39 and 0.51 for the two exponentiations.

## Encryptions
{table_rates}

The paper's multipliers are its own 120 blocks. For dual numbers, cycles are those of one of two encryptions in parallel, and DSP blocks are those of the row of multipliers, which
contains all of them. r^n uses windows of four bits of n; the comb has an exponent of 1024 bits.

## The boards, in parts
For n of 256 bits, two marks per ballot, a thousand voters and as many slots in the log: the cells of one module with its submodules, and the number of its instances. The encryptor
board computes every power modulo n^2 twice (`lockstep_power`), with digits and words of 32 bits. The hash of the proofs, the hash of the receipt and the noise source each have a `sha256`.

{table_inside}

## Times of the boards
The paper simulated its decryptor and gives no time for it. A step is two parallel products modulo n^2. The number and length of the steps depend on neither votes nor keys. The other
cycles are those of the hashes, the answers, the noise source and above all the serial links; they are listed where a complete simulation counted them.

{table_times}

## Devices
{table_devices}

## Room on the Spartan-7
The resources left on each part, by cells before placement. No tool fills a part to the last cell, and these counts do not contain a board's surroundings (clocks, configuration). Keys
are ports of the boards, so the counts do not contain the registers that store them either: about {key_registers} bits for the encryptor board.

{table_room}

## Clocks, placed and routed
On an ECP5 (LFE5U-85F, speed grade 8) by nextpnr, with shift registers around each part, whose cells are subtracted from the counts. This is another family than the Spartan-7, for
which the open tools have no timing. {packed} The lowest frequency and the median of {seeds} placements,
or of the number stated.

{table_clocks}
"""


def page():
    """Returns the page's text."""
    return TEXT.format(
        tools=pages.versions(),
        seeds=len(routing.SEEDS),
        packed=routing.PACKED,
        key_registers=key_registers(),
        table_1=table_1(),
        table_2=table_2(),
        table_rates=table_rates(),
        table_inside=table_inside(),
        table_times=table_times(),
        table_devices=table_devices(),
        table_room=table_room(),
        table_clocks=table_clocks(),
    )


def main():
    arguments = pages.options(__doc__).parse_args()
    pages.write(PAGE, jobs(), arguments, page)


if __name__ == "__main__":
    main()
