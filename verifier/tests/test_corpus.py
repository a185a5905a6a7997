"""The corpus of manipulated records: the second verifier finds in each what must be found.

The others have the same test.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "corpus"))

from cases import Case, record
from honest import RANK_CONTESTS, VOTERS, WEIGHTS, Election, order
from making import Maker, P, Q
from manipulations import cases
from mutations import failing, mutations, remember


@pytest.fixture(scope="module")
def corpus() -> list[Case]:
    remember()
    return list(cases())


def test_every_manipulation_is_found_by_the_check_that_it_concerns(corpus: list[Case]) -> None:
    wrong = []
    for case in corpus:
        found = failing(case.files, case.insecure)
        if found != case.check:
            wrong.append(f"{case.family}: {case.name}: {found}, not {case.check}")
    assert not wrong, "\n".join(wrong)


def test_the_corpus_has_every_family_and_check(corpus: list[Case]) -> None:
    families = Counter(case.family for case in corpus)
    asked = [
        "chain", "heads", "encodings", "names", "keys", "dealer", "generated", "ballots", "proofs", "tallies", "shares", "openings",
        "dates", "lists", "descriptions", "blanks", "ranks",
    ]  # fmt: skip
    assert all(families[family] >= 20 for family in asked), families
    assert sum(case.check is not None for case in corpus) >= 370
    names = Counter((case.family, case.name) for case in corpus)
    assert [name for name, count in names.items() if count > 1] == []


def test_the_corpus_is_the_same_every_time(corpus: list[Case]) -> None:
    """Of what has no randomness of its own: records are built anew from the same secrets."""
    again = {(case.family, case.name): case.files for case in cases()}
    chain = [case for case in corpus if case.family == "chain"]
    assert chain
    assert all(case.files == again[case.family, case.name] for case in chain)


def test_random_orders_come_to_what_plain_counting_gives() -> None:
    chance = random.Random(2026)
    for _ in range(3):
        election = Election(Maker({P: 1, Q: 1}), None, RANK_CONTESTS, revoting=False)
        election.begin()
        chair, day = [[0] * 3 for _ in range(4)], [[0] * 3 for _ in range(3)]
        colour = [0] * 2
        for voter in VOTERS:
            first, second, third = chance.sample(range(3), 3)
            best, next_best = chance.sample(range(3), 2)
            one = chance.randrange(2)
            weight = WEIGHTS[voter]
            for points, candidate in ((3, first), (2, second), (1, third)):
                chair[0][candidate] += points * weight
                chair[4 - points][candidate] += weight
            for rank, points, candidate in ((1, 5, best), (2, 2, next_best)):
                day[0][candidate] += points * weight
                day[rank][candidate] += weight
            colour[one] += weight
            election.cast(voter, [order(3, first, second, third), order(3, best, next_best), order(2, one)])
        flat = [[number for row in rows for number in row] for rows in (chair, day)]
        election.finish([*flat, colour * 2])
        assert failing(record(election.entries)) is None
        election.entries[-1].body["contests"][0][0] += 1
        assert failing(record(election.entries)) == "result"


@pytest.mark.skipif(not os.environ.get("INCLUDE_IGNORED"), reason="a long test: INCLUDE_IGNORED=1 runs it")
def test_random_mutations_do_not_stop_the_verifier() -> None:
    assert len(list(mutations(1000, seed=2))) == 1000
