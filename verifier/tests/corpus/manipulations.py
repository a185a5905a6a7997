"""Manipulated records, family by family, each with the check that must fail: the first in the order
of docs/explanation/election.md.

A record whose check is None must be accepted: a verifier that rejects too much does not agree with
the others either.
"""

from __future__ import annotations

from collections.abc import Callable

from cases import Cases
from forms import encodings
from generated import generated
from keys import dealer, keys
from lines import chain, heads
from names import names
from proofs import proofs
from ranked import ranked
from rules import rules
from signatures import signatures
from terms import blanks, dates, descriptions, lists
from totals import openings, shares, tallies

FAMILIES: list[Callable[[], Cases]] = [
    chain, heads, encodings, names, keys, dealer, generated, signatures, rules, proofs, tallies, shares, openings,
    dates, lists, descriptions, blanks, ranked,
]  # fmt: skip


def cases() -> Cases:
    for family in FAMILIES:
        yield from family()
