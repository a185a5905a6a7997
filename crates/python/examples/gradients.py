"""One round of federated boosting on the features of two parties, as in SecureBoost.

The active party has the labels. For each sample it computes a gradient and a second derivative of
the loss, packs both into one integer and encrypts it. The passive party has the features, divided
into bins. Without a private key it sums the ciphertexts of every bin of every feature, which gives
a histogram. The active party decrypts the histograms and uses them to choose where to split a tree.

The program computes the round with the engine given by `--engine`, and the same round with
python-paillier on the first rows. It compares both with sums of the plaintext numbers, and fails if
a sum differs. Samples are random, since they do not affect the time.

    python examples/gradients.py [--rows 1000000] [--phe-rows 500] [--engine cuda] [--bits 2048]
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import hearith as he

Integers: TypeAlias = npt.NDArray[np.int64]

FEATURES, BINS = 30, 32
#: Gradients lie in [-1, 1] and second derivatives in [0, 1/4]. Both are rounded to multiples of
#: 2^-20.
STEP = 2**-20
#: Size in bits of the sums of second derivatives, which are stored below those of the gradients.
LOW = 40
#: The number of second derivatives whose sum fits.
MOST_ROWS = 2**LOW * 4 // 2**20


@dataclass
class Times:
    """The duration of each step of a round."""

    steps: list[tuple[str, int, float]] = field(default_factory=list)
    _began: float = field(default_factory=time.perf_counter)

    def step(self, what: str, count: int) -> None:
        """Records a step that has just ended."""
        now = time.perf_counter()
        self.steps.append((what, count, now - self._began))
        self._began = now


def samples(rows: int) -> tuple[Integers, Integers]:
    """Returns packed gradients, and the bin of each sample by feature."""
    random = np.random.default_rng(8)
    labels = random.integers(0, 2, rows)
    predicted = 1 / (1 + np.exp(-random.normal(size=rows)))
    gradients = np.rint((predicted - labels) / STEP).astype(np.int64)
    seconds = np.rint(predicted * (1 - predicted) / STEP).astype(np.int64)
    return (gradients << LOW) + seconds, random.integers(0, BINS, (FEATURES, rows))


def plain_round(packed: Integers, bins: Integers) -> list[list[int]]:
    """Returns the histograms of plaintext numbers, by feature."""
    # Python integers, since the packed sums of a million rows exceed 64 bits.
    low, high = packed & (2**LOW - 1), packed >> LOW
    totals = [[np.bincount(one, part, BINS) for part in (high, low)] for one in bins]
    return [[(int(g) << LOW) + int(h) for g, h in zip(*pair, strict=True)] for pair in totals]


def our_round(private: he.PrivateKey, packed: Integers, bins: Integers, times: Times) -> list[list[int]]:
    """Computes the same histograms with this package."""
    encrypted = private.encrypt(packed)
    times.step("encrypt pairs", len(packed))
    sums = encrypted.sums_by(bins)
    times.step("add to histograms", bins.size)
    histograms = []
    for names, totals in sums:
        histogram = dict(zip(names.tolist(), private.decrypt(totals).tolist(), strict=True))
        histograms.append([int(histogram.get(one, 0)) for one in range(BINS)])
    times.step("decrypt histograms", sum(len(names) for names, _ in sums))
    return histograms


def phe_round(private: he.PrivateKey, packed: Integers, bins: Integers, times: Times) -> list[list[int]]:
    """Computes the same histograms with python-paillier."""
    import phe
    import phe.util

    jwk = json.loads(private.to_jwk())
    p, q = (phe.util.base64_to_int(jwk[prime]) for prime in "pq")
    public = phe.PaillierPublicKey(p * q)
    key = phe.PaillierPrivateKey(public, p, q)
    times.step("", 0)
    encrypted = [public.encrypt(int(one)) for one in packed]
    times.step("encrypt pairs", len(packed))
    sums: list[dict[int, Any]] = []
    for one in bins:
        totals: dict[int, Any] = {}
        for place, number in zip(one.tolist(), encrypted, strict=True):
            totals[place] = totals[place] + number if place in totals else number
        sums.append(totals)
    times.step("add to histograms", bins.size)
    histograms = [[key.decrypt(totals[one]) if one in totals else 0 for one in range(BINS)] for totals in sums]
    times.step("decrypt histograms", sum(map(len, sums)))
    return histograms


def main() -> None:
    """Computes the round with both libraries and compares."""
    parser = argparse.ArgumentParser(description="A round of federated boosting")
    parser.add_argument("--rows", type=int, default=10**6, help=f"samples, at most {MOST_ROWS}")
    parser.add_argument("--phe-rows", type=int, default=500, help="samples of python-paillier's round (0: none)")
    parser.add_argument("--engine", help="what computes: ifma, avx2, serial, cuda, cuda:1, cuda:all or auto")
    parser.add_argument("--bits", type=int, default=2048, help="bits of the key (below 2048: for tests only)")
    arguments = parser.parse_args()
    if not 0 < arguments.rows <= MOST_ROWS:
        parser.error(f"--rows must be 1 to {MOST_ROWS}")

    insecure = arguments.bits < he.MIN_SECURE_BITS
    public, private = he.generate_keypair(arguments.bits, insecure=insecure, engine=arguments.engine)
    packed, bins = samples(arguments.rows)
    few = max(0, min(arguments.phe_rows, arguments.rows))
    ours, theirs = Times(), Times()
    right = our_round(private, packed, bins, ours) == plain_round(packed, bins)
    rounds = [(public.engine, ours)]
    if few:
        right &= phe_round(private, packed[:few], bins[:, :few], theirs) == plain_round(packed[:few], bins[:, :few])
        rounds.append(("phe", theirs))

    print(f"{arguments.rows} samples, {FEATURES} features of {BINS} bins, a key of {public.bits} bits\n")
    print(f"{'by':<10}{'step':<20}{'count':>12}{'seconds':>12}{'a second':>14}")
    for engine, times in rounds:
        for what, count, seconds in times.steps:
            if what:
                print(f"{engine:<10}{what:<20}{count:>12}{seconds:>12.3f}{count / max(seconds, 1e-9):>14.0f}")
    print(f"\nequal to sums of plain numbers: {right}")
    if not right:
        raise SystemExit("a histogram is wrong")


if __name__ == "__main__":
    main()
