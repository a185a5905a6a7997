"""Compares arrays of Hearith with lists of python-paillier in the main operations.

It measures encryption, decryption, sum and dot product.

    .venv/bin/python bench/python/compare_phe.py [--quick] [--bits 2048] [--rounds 5]

Each round measures every operation of both libraries once, in alternating order, with the same key;
the ratio is the median of the rounds' ratios per element. phe's time per number does not depend on
the count, so it is measured on fewer numbers (the table shows how many). With --quick Hearith also
encrypts and decrypts fewer numbers; sums and dot products always have 10^5 terms. Results are
checked before timing. Writes bench/results/python.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gmpy2
import machine
import numpy as np
import phe
import phe.util

import hearith as he
from hearith._native import PROFILE

#: The effect of a build profile on the figures.
NOTES = {"release": "", "debug": " (arithmetic optimised, overflow checks on)"}
RESULTS = Path(__file__).parents[1] / "results" / "python.md"
TERMS = 100_000


@dataclass
class Contest:
    """One operation of both libraries, and the seconds per element of each round."""

    name: str
    ours: Callable[[], Any]
    elements: int
    theirs: Callable[[], Any]
    their_elements: int
    seconds: list[float] = field(default_factory=list)
    their_seconds: list[float] = field(default_factory=list)

    def round(self, phe_first: bool) -> None:
        """Measures both libraries once."""
        for theirs in (phe_first, not phe_first):
            if theirs:
                self.their_seconds.append(timed(self.theirs) / self.their_elements)
            else:
                self.seconds.append(timed(self.ours) / self.elements)

    def row(self) -> str:
        """Returns the table row."""
        ratios = [b / a for a, b in zip(self.seconds, self.their_seconds, strict=True)]
        spread = f"{statistics.median(ratios):.3g} ({min(ratios):.3g}..{max(ratios):.3g})"
        rates = [1 / statistics.median(times) for times in (self.seconds, self.their_seconds)]
        cells = [
            self.name,
            f"{self.elements:,}",
            f"{rates[0]:,.0f}",
            f"{self.their_elements:,}",
            f"{rates[1]:,.0f}",
            spread,
        ]
        return "| " + " | ".join(cells) + " |"


def timed(work: Callable[[], Any]) -> float:
    """Returns the seconds that the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def contests(bits: int, quick: bool) -> list[Contest]:
    """Returns the operations, with inputs prepared and results checked."""
    public, private = he.generate_keypair(bits, insecure=bits < he.MIN_SECURE_BITS)
    jwk = json.loads(private.to_jwk())
    p, q = (phe.util.base64_to_int(jwk[prime]) for prime in "pq")
    their_public = phe.PaillierPublicKey(public.n)
    their_private = phe.PaillierPrivateKey(their_public, p, q)
    djn, _ = he.generate_keypair(bits, "djn", insecure=bits < he.MIN_SECURE_BITS)

    random = np.random.default_rng(1)
    count = 4_000 if quick else TERMS
    numbers = random.integers(-(2**30), 2**30, count)
    weights = random.integers(1, 2**16, TERMS)
    few, some = 30 if quick else 100, 1_000
    plain = numbers.tolist()
    weight_list = weights.tolist()

    array = private.encrypt(numbers)
    terms = array[np.arange(TERMS) % count]
    their_numbers = [phe.EncryptedNumber(their_public, c) for c in array[:some].ciphertexts()]

    def their_sum() -> Any:
        return sum(their_numbers[1:], start=their_numbers[0])

    def their_dot() -> Any:
        products = [number * weight for number, weight in zip(their_numbers, weight_list, strict=False)]
        return sum(products[1:], start=products[0])

    assert private.decrypt(terms.sum()) == int(numbers[np.arange(TERMS) % count].sum())
    assert private.decrypt(terms @ weights) == int(numbers[np.arange(TERMS) % count] @ weights)
    assert their_private.decrypt(their_dot()) == private.decrypt(array[:some] @ weights[:some])
    assert [their_private.decrypt(number) for number in their_numbers[:few]] == plain[:few]

    def their_encryption() -> list[Any]:
        return [their_public.encrypt(number) for number in plain[:few]]

    return [
        Contest("encrypt, public key", lambda: public.encrypt(numbers), count, their_encryption, few),
        Contest("encrypt, public key, DJN", lambda: djn.encrypt(numbers), count, their_encryption, few),
        Contest("encrypt, key owner", lambda: private.encrypt(numbers), count, their_encryption, few),
        Contest(
            "decrypt",
            lambda: private.decrypt(array),
            count,
            lambda: [their_private.decrypt(number) for number in their_numbers[:few]],
            few,
        ),
        Contest("sum", terms.sum, TERMS, their_sum, some),
        Contest("dot product, weights of 16 bits", lambda: terms @ weights, TERMS, their_dot, some),
    ]


def report(found: list[Contest], arguments: argparse.Namespace, engine: str) -> str:
    """Returns the page."""
    mpz = gmpy2.mp_version()
    lines = [
        "# Arrays in Python compared with python-paillier",
        "",
        f"Made by `bench/python/compare_phe.py{' --quick' if arguments.quick else ''}`. Results of everyday lines, here and in",
        "other libraries, are in [everyday.md](everyday.md).",
        "",
        f"- Machine: {machine.model()}, {len(os.sched_getaffinity(0))} hardware threads, {platform.system()} {platform.machine()}",
        f"- Engine: {engine}, {he.threads()} threads, built in the profile `{PROFILE}`{NOTES[PROFILE]}; python-paillier has one thread",
        f"- Date: {datetime.now(UTC):%Y-%m-%d}",
        f"- Versions: hearith {he.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"phe {phe.__version__} with gmpy2 {gmpy2.version()} ({mpz})",
        f"- Method: keys of {arguments.bits} bits; {arguments.rounds} rounds, each measuring every operation of both once "
        "in alternating order, including conversion from and to NumPy arrays and Python numbers. Rates are medians; a "
        "ratio is the median of the rounds' ratios per element, with the lowest and highest in brackets; above 1 Hearith "
        "is faster. phe's time is proportional to the number of elements, so it is measured on fewer.",
        "",
        "| operation | elements | per second | elements (phe) | per second (phe) | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *[contest.row() for contest in found],
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="encrypt and decrypt 4000 numbers, not 100 000")
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    found = contests(arguments.bits, arguments.quick)
    for number in range(arguments.rounds):
        for contest in found:
            contest.round(phe_first=number % 2 == 1)
    engine = he.generate_keypair(256, insecure=True)[0].engine
    page = report(found, arguments, engine)
    arguments.out.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
