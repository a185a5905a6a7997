"""The corpus of manipulated records: the second verifier finds in each what must be found.

The others have the same test.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "corpus"))

from cases import Case
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
        "chain", "heads", "encodings", "names", "keys", "dealer", "ballots", "proofs", "tallies", "shares", "openings",
        "dates", "lists", "descriptions", "blanks",
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


@pytest.mark.skipif(not os.environ.get("INCLUDE_IGNORED"), reason="a long test: INCLUDE_IGNORED=1 runs it")
def test_random_mutations_do_not_stop_the_verifier() -> None:
    assert len(list(mutations(1000, seed=2))) == 1000
