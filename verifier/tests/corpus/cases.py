"""Cases of the corpus, and what they are made with: honest records, changed and signed anew."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from honest import (
    Body,
    Election,
    Entry,
    head_of,
    held_by_generators,
    held_by_one,
    held_by_ranks,
    held_by_terms,
    held_by_trustees,
    lines_of,
)
from making import (
    decode,
    encode,
)

FIRST_FILE = "board/00000000.jsonl"
SECOND_FILE = "board/00001000.jsonl"
HEADS = "heads.jsonl"


@dataclass
class Case:
    """A record, and what must come of it: the check that fails first, or None."""

    family: str
    name: str
    check: str | None
    files: dict[str, bytes]
    insecure: bool = True


Change = Callable[[Any], Any]
Cases = Iterator[Case]


def text_of(lines: list[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def files_of(lines: list[str], heads: list[str] | None = None) -> dict[str, bytes]:
    """The files of a record; with a head of all lines, unless others are given."""
    return {FIRST_FILE: text_of(lines), HEADS: text_of([head_of(lines)] if heads is None else heads)}


def record(entries: list[Entry]) -> dict[str, bytes]:
    return files_of(lines_of(entries))


@cache
def trustees() -> Election:
    return held_by_trustees()


@cache
def one_holder() -> Election:
    return held_by_one()


@cache
def generators() -> Election:
    return held_by_generators()


@cache
def terms() -> Election:
    return held_by_terms()


@cache
def ranks() -> Election:
    return held_by_ranks()


# Where entries are in the record of trustees.
FIRST, LISTED, OPEN, BALLOT, BERT, CHALLENGE, AGAIN, CLEO, CLOSE, TALLY, SHARE, RESULT = (
    0,
    1,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    13,
)
# And in that of one holder.
OPENING, OPENED = 9, 10


def changed(election: Election, at: int, change: Change, whole: bool = False) -> list[Entry]:
    """The entries with one body changed and signed anew, up to it or whole."""
    entries = list(election.entries if whole else election.entries[: at + 1])
    body = copy.deepcopy(entries[at].body)
    change(body)
    entries[at] = Entry(entries[at].kind, body, by=entries[at].by)
    return entries


def put(*path: Any, to: Any) -> Change:
    """Sets what is at the end of a path, by a function of what is there if it is one."""

    def apply(body: Any) -> None:
        for part in path[:-1]:
            body = body[part]
        body[path[-1]] = to(body[path[-1]]) if callable(to) else to

    return apply


def flipped(byte: int, bit: int = 0) -> Callable[[str], str]:
    def apply(text: str) -> str:
        data = bytearray(decode(text))
        data[byte] ^= 1 << bit
        return encode(bytes(data))

    return apply


def replaced(start: int, number: int, width: int) -> Callable[[str], str]:
    """A number written over the bytes of a text from some byte on."""

    def apply(text: str) -> str:
        data = decode(text)
        return encode(data[:start] + number.to_bytes(width, "big") + data[start + width :])

    return apply


def single(family: str, name: str, check: str | None, change: Change, insecure: bool = True) -> Case:
    """A record of its first entry, changed and signed anew."""
    return Case(family, name, check, record(changed(trustees(), FIRST, change)), insecure)


def with_key(members: Body, **more: Any) -> Change:
    """The election of one holder with another key."""

    def apply(body: Body) -> None:
        body.update(key=members, trustees=None, **more)

    return apply
