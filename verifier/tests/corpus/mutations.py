"""Random mutations of honest records.

Nobody says beforehand which check must fail: the verifiers have to agree on one.
"""

from __future__ import annotations

import copy
import random
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cases import FIRST_FILE, HEADS, Case, files_of, one_holder, ranks, terms, text_of, trustees
from honest import Entry, head_of, lines_of
from making import decode, encode, verifier

Random = random.Random


def remembered(function: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    """The function with what it gave or raised for a key kept."""
    known: dict[Any, tuple[Any, verifier.Wrong | None]] = {}

    def apply(*arguments: Any, **named: Any) -> Any:
        of = key(*arguments, **named)
        if of not in known:
            try:
                known[of] = function(*arguments, **named), None
            except verifier.Wrong as error:
                known[of] = None, error
        value, error = known[of]
        if error is not None:
            raise error
        return value

    apply.__name__ = "remembered"
    return apply


@cache
def remember() -> None:
    """Has the verifier keep what it has computed, since most records have most entries in
    common.
    """

    def ballot(election: Any, one: verifier.Ballot) -> Any:
        return election.id, one.voter, str(one.contests)

    def shares(election: Any, data: bytes, trustee: int, tally: list[int]) -> Any:
        return election.id, data, trustee, tuple(tally)

    election = verifier.Election
    election.check_ballot = remembered(election.check_ballot, ballot)
    election.read_shares = remembered(election.read_shares, shares)
    verifier.Election = remembered(election, lambda body, text, insecure: (text, insecure))
    verifier.signature_holds = cache(verifier.signature_holds)
    verifier.decompress = cache(verifier.decompress)


def failing(files: dict[str, bytes], insecure: bool = True) -> str | None:
    """The check that fails first by the second verifier."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_bytes(data)
        return first_fault(Path(folder), insecure)


def first_fault(folder: Path, insecure: bool) -> str | None:
    run = verifier.Verifier(insecure=insecure)
    run.run(folder)
    return next((step for step in verifier.STEPS if run.faults[step]), None)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all that is no list and no object."""
    if isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(member, (*path, name))
    else:
        yield path


def other_leaf(value: Any, rng: Random) -> Any:
    """Something else in place of a value: often the same with a bit turned round."""
    if isinstance(value, bool) or value is None:
        return rng.choice([not value, 0, None])
    if isinstance(value, int):
        return rng.choice([value + 1, max(value - 1, 0), value ^ 1 << rng.randrange(54), 0, rng.getrandbits(48)])
    if rng.random() < 0.7 and len(value) > 8 and verifier.is_base64url(value):
        data = bytearray(decode(value))
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return encode(bytes(data))
    at = rng.randrange(len(value) + 1)
    return rng.choice(
        [value[:at], value[:at] + rng.choice("aA0_é\0") + value[at:], value[:at] + value[at + 1 :], value * 2]
    )


def change_body(entries: list[Entry], rng: Random) -> None:
    at = 0 if rng.random() < 0.1 else rng.randrange(1, len(entries))
    body = copy.deepcopy(entries[at].body)
    if not any(leaves(body)):
        return
    *path, last = rng.choice(list(leaves(body)))
    place = body
    for part in path:
        place = place[part]
    if rng.random() < 0.1:
        del place[last]
    else:
        place[last] = other_leaf(place[last], rng)
    signature = entries[at].signed() if rng.random() < 0.1 else None
    try:
        entries[at] = Entry(entries[at].kind, body, signature, entries[at].by)
        entries[at].signed()
    except (KeyError, TypeError, UnicodeEncodeError):
        entries[at] = Entry(entries[at].kind, body, "")


def exchange_parts(entries: list[Entry], rng: Random) -> None:
    """Part of one body put into another, where it may fit."""
    one, other = (rng.randrange(1, len(entries)) for _ in range(2))
    body, source = copy.deepcopy(entries[one].body), entries[other].body
    if not any(leaves(source)):
        return
    *path, last = rng.choice(list(leaves(source)))
    place, origin = body, source
    try:
        for part in path:
            place, origin = place[part], origin[part]
        if isinstance(place, dict) != isinstance(last, str):
            return
        place[last] = origin[last]
        entries[one] = Entry(entries[one].kind, body, by=entries[one].by)
        entries[one].signed()
    except (KeyError, IndexError, TypeError):
        return


def move(entries: list[Entry], rng: Random) -> None:
    entries.insert(rng.randrange(len(entries)), entries.pop(rng.randrange(len(entries))))


def drop(entries: list[Entry], rng: Random) -> None:
    entries.pop(rng.randrange(len(entries)))


def repeat(entries: list[Entry], rng: Random) -> None:
    entries.insert(rng.randrange(len(entries) + 1), rng.choice(entries))


def end(entries: list[Entry], rng: Random) -> None:
    del entries[rng.randrange(1, len(entries)) :]


ENTRIES: list[Callable[[list[Entry], Random], None]] = [
    change_body, change_body, change_body, change_body, exchange_parts, exchange_parts, move, drop, repeat, end,
]  # fmt: skip


def spoil_bytes(files: dict[str, bytes], rng: Random) -> None:
    name = rng.choice([FIRST_FILE, HEADS])
    data = bytearray(files[name])
    at = rng.randrange(len(data))
    match rng.randrange(4):
        case 0:
            data[at] ^= 1 << rng.randrange(8)
        case 1:
            del data[at]
        case 2:
            data.insert(at, rng.choice(b'"{}[],:\n 019aZ\xff\x00'))
        case _:
            del data[at:]
    files[name] = bytes(data)


#: Before, while and after the election of terms is open, in order only by chance.
HOURS = ["2026-11-19T12:00:00Z", "2026-11-21T12:00:00Z", "2026-11-22T20:30:00Z", "2026-11-22T20:30:00Z"]


def mutation(rng: Random) -> dict[str, bytes]:
    entries = list(rng.choice([trustees, trustees, one_holder, terms, terms, ranks])().entries)
    if rng.random() < 0.15:
        files = files_of(lines_of(entries))
        spoil_bytes(files, rng)
        return files
    for _ in range(rng.choice([1, 1, 1, 2])):
        if len(entries) > 2:
            rng.choice(ENTRIES)(entries, rng)
    lines = lines_of(entries)
    if rng.random() < 0.1 and len(lines) > 2:
        some = sorted(rng.sample(range(1, len(lines) + 1), 2), reverse=rng.random() < 0.3)
        return {FIRST_FILE: text_of(lines), HEADS: text_of([head_of(lines[:size], rng.choice(HOURS)) for size in some])}
    return files_of(lines)


def mutations(count: int, seed: int) -> Iterator[Case]:
    remember()
    rng = Random(seed)
    for number in range(count):
        files = mutation(rng)
        yield Case("random", f"mutation {number} of seed {seed}", failing(files), files)
