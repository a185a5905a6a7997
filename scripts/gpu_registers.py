#!/usr/bin/env python3
"""Writes the registers and spills of an image's kernels into a table: gpu_registers.py IMAGE LOG.

LOG is the output of `ptxas -v`. The table is crates/cuda/images/registers.tsv, with a line for each
kernel of each image: image, kernel, registers per thread, bytes of local memory, bytes spilled.
"""

import re
import sys
from pathlib import Path

TABLE = Path(__file__).parent.parent / "crates/cuda/images/registers.tsv"
HEADER = "image\tkernel\tregisters\tlocal\tspilled"


def kernels(log: str) -> list[tuple[str, int, int, int]]:
    """Returns the name, registers, local memory and spilled bytes of each kernel."""
    found = []
    for part in log.split("Compiling entry function '")[1:]:
        name = part.split("'")[0]
        stack, stores, loads = map(
            int, re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups()
        )
        registers = int(re.search(r"Used (\d+) registers", part).group(1))
        found.append((name, registers, stack, stores + loads))
    return sorted(found)


def main() -> None:
    """Replaces the lines of one image in the table."""
    image, log = sys.argv[1], Path(sys.argv[2]).read_text()
    lines = TABLE.read_text().splitlines()[1:] if TABLE.exists() else []
    kept = [line for line in lines if line.split("\t")[0] != image]
    made = ["\t".join(map(str, (image, *kernel))) for kernel in kernels(log)]
    TABLE.write_text("\n".join([HEADER, *sorted(kept + made)]) + "\n")


if __name__ == "__main__":
    main()
