"""Compares additions of single encrypted numbers with python-paillier's, alternating in one run.

Writes bench/results/single-additions.md.

    PYTHONPATH=crates/python/python .venv/bin/python bench/python/single_additions.py [--rounds 15]

Each engine of the processor runs in its own process. Sums are deferred: the total of many numbers
is read at the end, the sum of a pair immediately. The module must be built in the profile `release`
(scripts/extension.sh release).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import gmpy2
import machine
import phe
from figures import spread

import hearith as he
from hearith import _native

RESULT = Path(__file__).parents[1] / "results/single-additions.md"
NUMBERS, BITS = 512, 2048
ENGINES = ("ifma", "avx2", "serial")


def total(numbers: list[Any], bytes_of: Callable[[Any], Any]) -> None:
    """Computes one sum of all numbers."""
    found = numbers[0]
    for one in numbers[1:]:
        found = found + one
    bytes_of(found)


def pairs(numbers: list[Any], bytes_of: Callable[[Any], Any]) -> None:
    """Computes the sum of every two neighbours."""
    for one, other in pairwise(numbers):
        bytes_of(one + other)


def seconds(work: Callable[[], None]) -> float:
    """Returns the seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Returns the microseconds per addition of each round, for Hearith and phe, with this process's
    engine.
    """
    public, _ = he.generate_keypair(BITS)
    other = phe.PaillierPublicKey(public.n)
    ours = list(public.encrypt(range(NUMBERS)))
    theirs = [phe.EncryptedNumber(other, one.ciphertexts()[0]) for one in ours]
    found: dict[str, list[tuple[float, float]]] = {}
    for name, work in (("a total of many", total), ("pairs", pairs)):
        for _ in range(rounds):
            here = seconds(lambda work=work: work(ours, lambda one: one.to_bytes()))
            there = seconds(lambda work=work: work(theirs, lambda one: one.ciphertext(be_secure=False)))
            found.setdefault(name, []).append((here / NUMBERS * 1e6, there / NUMBERS * 1e6))
    return found


def rows(engine: str, rounds: int) -> list[str]:
    """Returns the page's rows of one engine, or none if the processor lacks it."""
    command = [sys.executable, __file__, "--one", "--rounds", str(rounds)]
    done = subprocess.run(command, env=os.environ | {"HEARITH_ENGINE": engine}, capture_output=True, text=True)
    if done.returncode:
        return [f"| `{engine}` | not measured: {done.stderr.splitlines()[-1]} | | | |"]
    lines = []
    for name, times in json.loads(done.stdout).items():
        here, there = (statistics.median(one[side] for one in times) for side in (0, 1))
        ratio = spread([there / here for here, there in times])
        lines.append(f"| `{engine}` | {name} | {here:.1f} | {there:.1f} | {ratio} |")
    return lines


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="number of rounds")
    parser.add_argument("--one", action="store_true", help="measure with this process's engine and print JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.rounds)))
        return
    if _native.PROFILE != "release":
        sys.exit("build the module first: scripts/extension.sh release")
    lines = [
        "# Additions of single numbers compared with python-paillier",
        "",
        "Made by `bench/python/single_additions.py` (`make bench-everyday`).",
        "",
        f"- Machine: {machine.model()}, {platform.system()} {platform.machine()}",
        f"- Versions: hearith {he.__version__}, phe {version('phe')} with gmpy2 {gmpy2.version()}, "
        f"Python {platform.python_version()}",
        f"- Date: {time.strftime('%Y-%m-%d')}",
        f"- Method: keys of {BITS} bits, {NUMBERS} numbers, {options.rounds} rounds in alternation; medians, and the",
        "  median of the rounds' ratios with the lowest and highest. Times are complete Python lines: for",
        "  a total one line reads its bytes, for pairs each line does",
        "",
        "| engine | what | hearith, us per addition | phe, us | times phe's speed |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for engine in ENGINES:
        lines += rows(engine, options.rounds)
    RESULT.write_text("\n".join(lines) + "\n")
    print(RESULT.read_text())


if __name__ == "__main__":
    main()
