"""Additions of single encrypted numbers here and in python-paillier, in turns within one run.

    PYTHONPATH=crates/python/python .venv/bin/python bench/python/single_additions.py [--rounds 15]

Prints microseconds an addition, as medians over the rounds, and the median of the rounds' ratios. A
sum of many numbers is asked for in the end, a pair each time: sums are put off until then.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import phe

import hearith as he
from hearith import _native

NUMBERS = 512


def total(numbers: list[Any], bytes_of: Callable[[Any], Any]) -> None:
    """One sum of all numbers."""
    found = numbers[0]
    for one in numbers[1:]:
        found = found + one
    bytes_of(found)


def pairs(numbers: list[Any], bytes_of: Callable[[Any], Any]) -> None:
    """The sum of every two neighbours."""
    for one, other in zip(numbers, numbers[1:], strict=False):
        bytes_of(one + other)


def seconds(work: Callable[[], None]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="how often both are measured")
    rounds = parser.parse_args().rounds
    public, _ = he.generate_keypair(2048)
    other = phe.PaillierPublicKey(public.n)
    ours = list(public.encrypt(range(NUMBERS)))
    theirs = [phe.EncryptedNumber(other, one.ciphertexts()[0]) for one in ours]
    print(f"2048 bits, engine {public.engine}, profile {_native.PROFILE}")
    for name, work in (("a total", total), ("pairs", pairs)):
        times: list[tuple[float, float]] = []
        for _ in range(rounds):
            here = seconds(lambda: work(ours, lambda one: one.to_bytes()))
            times.append((here, seconds(lambda: work(theirs, lambda one: one.ciphertext(be_secure=False)))))
        here, there = (statistics.median(one[side] for one in times) / NUMBERS * 1e6 for side in (0, 1))
        ratio = statistics.median(there / here for here, there in times)
        print(f"{name}: hearith {here:.1f} us, phe {there:.1f} us, {ratio:.2f} times phe's speed")


if __name__ == "__main__":
    main()
