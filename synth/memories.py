"""Synthesises the memories of rtl/lib for three families and writes their block RAMs to
`bench/results/memories.md`.

Fails if a memory maps to anything but block RAM, or takes more blocks than its bits need in the
shapes that a block supports.
"""

import argparse
import json
import re
import sys

import tools
from tables import table
from tools import ROOT, WORK, kept, read, yosys

# Module, parameters, and the expected block RAMs (of 18 kbit) on each family. A block has 16 kbit
# of data and 2 kbit more for words of a multiple of 9 bits; as true dual port, its words have at
# most 18 bits. A 7-series or UltraScale+ pair of blocks (36 kbit) counts as two.
SHAPES = (
    ("ram_1r1w", {"Width": 32, "Depth": 512}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("ram_1r1w", {"Width": 32, "Depth": 512, "Parity": 1}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("ram_1r1w", {"Width": 32, "Depth": 512, "Wiped": 0}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("ram_1r1w", {"Width": 72, "Depth": 512}, {"xc7": 2, "xcup": 2, "ecp5": 2}),
    ("ram_1r1w", {"Width": 18, "Depth": 4096}, {"xc7": 4, "xcup": 4, "ecp5": 4}),
    ("ram_1r1w", {"Width": 17, "Depth": 64}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("ram_1r1w", {"Width": 512, "Depth": 64}, {"xc7": 15, "xcup": 15, "ecp5": 15}),
    ("ram_2rw", {"Width": 18, "Depth": 1024}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("ram_2rw", {"Width": 32, "Depth": 1024, "Parity": 1}, {"xc7": 2, "xcup": 2, "ecp5": 2}),
    ("ram_2rw", {"Width": 64, "Depth": 512}, {"xc7": 4, "xcup": 4, "ecp5": 4}),
    ("rom", {"Width": 32, "Depth": 512}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("rom", {"Width": 17, "Depth": 1000, "Parity": 1}, {"xc7": 1, "xcup": 1, "ecp5": 1}),
    ("stream_fifo", {"Width": 64, "Depth": 512, "Memory": 1}, {"xc7": 2, "xcup": 2, "ecp5": 2}),
)

FLOWS = {
    "xc7": ("7 series", "synth_xilinx -family xc7 -noiopad -flatten"),
    "xcup": ("UltraScale+", "synth_xilinx -family xcup -noiopad -flatten"),
    "ecp5": ("ECP5", "synth_ecp5"),
}

# 18-kbit blocks in each block-RAM cell, and cells that are memory in LUTs.
BLOCKS = {"RAMB18E1": 1, "RAMB36E1": 2, "RAMB18E2": 1, "RAMB36E2": 2, "DP16KD": 1, "PDPW16KD": 1}
IN_LUTS = re.compile(r"RAM(32|64|128|256|512).*|TRELLIS_DPR16X4|DPR16X4.*|SRL.*")


def words(width, depth):
    """Returns the constant words of a ROM, which logic cannot compute (SplitMix64, truncated)."""
    state, found = 1, []
    for _ in range(depth):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        found.append((z ^ (z >> 31)) % 2**width)
    return f"{width * depth}'h" + format(sum(word << (width * k) for k, word in enumerate(found)), "x")


def cells(module, parameters, family):
    """Returns the cells of a memory on a family, by kind."""

    def work(name):
        report = WORK / f"{name}.json"
        given = parameters | ({"Words": words(parameters["Width"], parameters["Depth"])} if module == "rom" else {})
        yosys(f"{read(module, given)}; {FLOWS[family][1]} -top {module}; tee -q -o {report} stat -json", WORK / f"{name}.log")
        modules = json.loads(report.read_text())["modules"]
        (found,) = (content["num_cells_by_type"] for content in modules.values())
        return found

    return kept(f"memory-{family}", module, parameters, work, FLOWS[family][1])


def blocks(found):
    """Returns the 18-kbit block RAMs, LUTs, and flip-flops in a count of cells."""

    def total(pattern):
        return sum(number for kind, number in found.items() if re.fullmatch(pattern, kind))

    return sum(BLOCKS.get(kind, 0) * number for kind, number in found.items()), total("LUT[1-6]"), total(r"FD[RCSP]E.*|TRELLIS_FF")


def problems(module, parameters, family, expected, found):
    """Yields the faults in a memory's cells."""
    name = " ".join([module, *(f"{key}={value}" for key, value in parameters.items())])
    in_luts = sorted(kind for kind in found if IN_LUTS.fullmatch(kind))
    taken, _, flip_flops = blocks(found)
    if in_luts:
        yield f"{name} on {FLOWS[family][0]}: memory in LUTs: {', '.join(in_luts)}"
    if taken != expected:
        yield f"{name} on {FLOWS[family][0]}: {taken} block RAMs of 18 kbit, {expected} expected"
    # The counters of the wipe and of a FIFO with their control logic, but no data word.
    if flip_flops > 80:
        yield f"{name} on {FLOWS[family][0]}: {flip_flops} flip-flops"


TEXT = """# Memories and their block RAMs

Written by `make synth-memories` ({tools}). Block RAMs are counted in blocks of 18 kbit: a RAMB36 counts as two, a DP16KD of the ECP5 as one. No memory here uses LUT RAM. LUT RAM, another number of blocks, or flip-flops that
hold words make the command fail. LUTs are those of the wipe and of parity. [rtl/lib/README.md](../../rtl/lib/README.md) specifies the memories.

{table}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel jobs (1)")
    options = parser.parse_args()
    jobs = {
        f"{family} {module} {parameters}": lambda module=module, parameters=parameters, family=family: cells(module, parameters, family)
        for module, parameters, _ in SHAPES
        for family in FLOWS
    }
    if tools.run_jobs(jobs, at_once=options.jobs):
        sys.exit("synth-memories: some memories failed to synthesise")
    rows, wrong = [], []
    for module, parameters, expected in SHAPES:
        rest = {key: value for key, value in parameters.items() if key not in ("Width", "Depth")}
        row = [f"`{module}`", parameters["Width"], parameters["Depth"], ", ".join(f"{key} = {value}" for key, value in rest.items()) or "-"]
        for family in FLOWS:
            found = cells(module, parameters, family)
            wrong += problems(module, parameters, family, expected[family], found)
            row += blocks(found)
        rows.append(row)
    head = ["memory", "bits", "words", "parameters"]
    head += [f"{name}: {kind}" for name, _ in FLOWS.values() for kind in ("blocks", "LUT", "FF")]
    names = ", ".join(f"{name} {version}" for name, version in tools.TOOLS.items() if "yosys" in name)
    if wrong:
        sys.exit("\n".join(f"synth-memories: {line}" for line in wrong))
    (ROOT / "bench" / "results" / "memories.md").write_text(TEXT.format(tools=names, table=table(head, rows)))


if __name__ == "__main__":
    main()
