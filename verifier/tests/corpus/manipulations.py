"""Manipulated records, family by family, each with the check that must fail: the first in the order of docs/election.md.

A record whose check is None must be accepted: a verifier that rejects too much does not agree with the others either.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from honest import (
    BOARD,
    CONTESTS,
    ORGANISER,
    VOTERS,
    WEIGHTS,
    Body,
    Election,
    Entry,
    head_of,
    held_by_one,
    held_by_trustees,
    lines_of,
    root_of,
)
from making import (
    Dealing,
    Maker,
    P,
    Q,
    Signer,
    compress,
    decode,
    encode,
    is_prime,
    prime_from,
    times_base,
    verifier,
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
    entries[at] = Entry(entries[at].kind, body)
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


# Chain ---------------------------------------------------------------------------------------------------------------


def chain() -> Cases:
    lines = lines_of(trustees().entries)
    head = [head_of(lines)]

    def case(name: str, check: str | None, altered: list[str]) -> Case:
        return Case("chain", name, check, files_of(altered, head))

    last = len(lines) - 1
    for at in range(last):
        yield case(f"line {at} is missing", "chain", lines[:at] + lines[at + 1 :])
        yield case(
            f"lines {at} and {at + 1} are exchanged", "chain", [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        )
    yield case("the last line is missing", "heads", lines[:-1])
    yield case("half of the board is missing", "heads", lines[:7])
    for at in (0, 4, last):
        yield case(f"line {at} is there twice", "chain", [*lines[: at + 1], *lines[at:]])
    for at, other in [(1, 2), (2, 1), (5, 4), (last, last + 1)]:
        index = lines[at].replace(f'"index":{at}', f'"index":{other}')
        yield case(f"line {at} says that it is {other}", "chain", [*lines[:at], index, *lines[at + 1 :]])
    for at in (0, 1, last):
        previous = re.sub(
            '"previous":"[0-9a-f]', lambda found: found[0][:-1] + ("1" if found[0][-1] != "1" else "2"), lines[at]
        )
        yield case(f"line {at} follows another line", "chain", [*lines[:at], previous, *lines[at + 1 :]])
    for at in (3, 6, 10):
        yield case(
            f"line {at} has another signature", "chain", [*lines[:at], flip_signature(lines[at]), *lines[at + 1 :]]
        )
    yield case("the last line has another signature", "heads", [*lines[:-1], flip_signature(lines[-1])])
    yield from files(lines, head)


def flip_signature(line: str) -> str:
    return re.sub('"signature":"(..)', lambda found: '"signature":"' + ("AA" if found[1] != "AA" else "BA"), line)


def files(lines: list[str], head: list[str]) -> Cases:
    """Files that are not as they must be."""
    good = files_of(lines, head)
    board = good[FIRST_FILE]

    def case(name: str, check: str, more: dict[str, bytes | None]) -> Case:
        return Case("chain", name, check, {file: data for file, data in {**good, **more}.items() if data is not None})

    middle = board.index(b"\n", 6000) + 1
    for name, altered in {
        "the last line has no end": board[:-1],
        "the file ends in a line": board[:-200],
        "an empty line at the end": board + b"\n",
        "an empty line at the beginning": b"\n" + board,
        "an empty line between others": board[:middle] + b"\n" + board[middle:],
        "lines end as in Windows": board.replace(b"\n", b"\r\n"),
        "a byte order mark": b"\xef\xbb\xbf" + board,
        "a byte order mark in a later line": board[:middle] + b"\xef\xbb\xbf" + board[middle:],
        "a byte order mark in UTF-16": "\ufeff".encode("utf-16-le") + board,
        "a space before a line": board[:middle] + b" " + board[middle:],
        "a space after a line": board[: middle - 1] + b" " + board[middle - 1 :],
        "a byte of 0": board[:middle] + b"\0" + board[middle:],
        "a byte of 0 at the end": board + b"\0",
        "another record after it": board + board,
        "nothing": b"",
        "a byte that is not UTF-8": board[:middle] + b"\xff" + board[middle + 1 :],
        "a title that is not UTF-8": board.replace(b"The club", b"The cl\xfcb"),
        "a title cut within a character": board.replace(b"The club", b"The cl\xc3"),
        "a title with an overlong encoding": board.replace(b"The club", b"The \xc1\xa3lub"),
        "a title with half a surrogate pair": board.replace(b"The club", b"The \xed\xa0\x80"),
        "a title above Unicode": board.replace(b"The club", b"The \xf4\x90\x80\x80"),
        "a line that is too long": board + b"x" * (1 + (8 << 20)) + b"\n",
        "text": b"hello\n",
        "an array": b"[]\n",
        "a number": b"1\n",
        "half a line": board[:middle] + board[middle : middle + 40] + b"\n",
    }.items():
        yield case(name, "chain", {FIRST_FILE: altered})
    yield case("no board", "chain", {FIRST_FILE: None})
    yield case("no board and no heads", "chain", {FIRST_FILE: None, HEADS: None})
    yield case("a second file after one that is not full", "chain", {SECOND_FILE: board})
    yield case("an empty second file after one that is not full", "chain", {SECOND_FILE: b""})
    # A thousand lines more that may not come, and are no matter of the chain.
    filled = lines_of([*trustees().entries, *(Entry("open", {"election": trustees().id}, "") for _ in range(987))])
    yield Case("chain", "a thousand and one entries in a file", "chain", files_of(filled, [head_of(filled)]))
    full = {FIRST_FILE: text_of(filled[:1000]), SECOND_FILE: text_of(filled[1000:]), HEADS: text_of([head_of(filled)])}
    yield Case("chain", "the same in two files", "rules", full)
    yield Case("chain", "the same with an empty second file", "heads", {**full, SECOND_FILE: b""})


# Heads ---------------------------------------------------------------------------------------------------------------


def heads() -> Cases:
    lines = lines_of(trustees().entries)
    good = head_of(lines)
    early, later = head_of(lines[:4], "2026-11-22T20:10:00Z"), head_of(lines[:10], "2026-11-22T20:20:00Z")

    def case(name: str, check: str | None, some: list[str]) -> Case:
        return Case("heads", name, check, files_of(lines, some))

    yield case("three heads", None, [early, later, good])
    yield case("the same head twice", None, [good, good])
    yield case("two heads of one time", None, [head_of(lines[:4]), good])
    yield case("a head of every size", None, [head_of(lines[: size + 1]) for size in range(len(lines))])
    yield case("none", "heads", [])
    for name, some in {
        "the last is not of all entries": [early, later],
        "the last but one entry is the last that is signed": [head_of(lines[:-1])],
        "sizes go back": [later, head_of(lines[:4], "2026-11-22T20:25:00Z"), good],
        "sizes go back at the end": [good, early],
        "times go back": [head_of(lines[:4], "2026-11-22T20:40:00Z"), good],
        "times go back by a second": [head_of(lines[:4], "2026-11-22T20:30:01Z"), good],
    }.items():
        yield case(name, "heads", some)
    empty = {"root": root_of([]), "size": 0}
    yield case("a head of no entries", "heads", [head_of(lines, "2026-11-22T20:00:00Z", **empty), good])
    yield case(
        "a head of no entries with another root", "heads", [head_of(lines, "2026-11-22T20:00:00Z", size=0), good]
    )
    yield case("a head of no entries alone", "heads", [head_of(lines, **empty)])
    for size in (1, 13, 15, 1000, 2**53 - 1):
        yield case(f"a head that says it is of {size} entries", "heads", [head_of(lines, size=size)])
    yield case("a head of entries to come", "heads", [good, head_of(lines, "2026-11-22T21:00:00Z", size=15)])
    for at, root in [(0, "0" * 64), (1, root_of(lines[1:])), (2, root_of(lines[:-1])), (3, "f" + root_of(lines)[1:])]:
        yield case(f"another root, {at}", "heads", [head_of(lines, root=root)])
    yield case(
        "an early head has another root",
        "heads",
        [head_of(lines[:4], "2026-11-22T20:10:00Z", root=root_of(lines)), good],
    )
    for name, signer in {"the organiser": ORGANISER, "a voter": VOTERS["anna"], "nobody": Signer("nobody")}.items():
        yield case(f"a head that {name} signed", "heads", [head_of(lines, by=signer)])
    for byte in (0, 31, 32, 63):
        yield case(f"another signature, byte {byte}", "heads", [of_head(good, signature=flipped(byte))])
    for name, signature in {"short": "A" * 84, "long": "A" * 88, "empty": ""}.items():
        yield case(f"a signature that is {name}", "heads", [of_head(good, signature=lambda _, text=signature: text)])
    yield case(
        "the signature of an entry", "heads", [of_head(good, signature=lambda _: trustees().entries[3].signed())]
    )
    yield case("another time than was signed", "heads", [of_head(good, time=lambda _: "2026-11-22T20:30:01Z")])
    for time in (
        "2026-11-22 20:30:00Z", "2026-11-22t20:30:00Z", "2026-11-22T20:30:00z", "2026-11-22T20:30:00", "2026-11-22T20:30:00.0Z",
        "2026-11-22T20:30:00+00:00", "2026-11-22T20:30Z", "26-11-22T20:30:00Z", "2026-11-22T20:30:0\u0660Z", "", "today",
        "2026-11-22T20:30:00Z\n", " 2026-11-22T20:30:00Z", "+026-11-22T20:30:00Z",
    ):  # fmt: skip
        yield case(f"a time as {time!r}", "heads", [head_of(lines, time)])
    yield from forms_of_heads(lines, good)


def of_head(head: str, **changes: Callable[[str], str]) -> str:
    """A head with members changed, and not signed anew."""
    members = verifier.parse("a head", head)
    return verifier.canonical({**members, **{name: change(members[name]) for name, change in changes.items()}})


def forms_of_heads(lines: list[str], good: str) -> Cases:
    def case(name: str, text: bytes) -> Case:
        return Case("heads", name, "heads", {**files_of(lines), HEADS: text})

    members = verifier.parse("a head", good)
    for missing in members:
        rest = {name: value for name, value in members.items() if name != missing}
        yield case(f"a head without {missing}", text_of([verifier.canonical(rest)]))
        yield case(f"a head with null for {missing}", text_of([verifier.canonical({**members, missing: None})]))
    yield case("a head with a member more", text_of([verifier.canonical({**members, "x": 1})]))
    for name, text in {
        "a root in capitals": good.replace(members["root"], members["root"].upper()),
        "a root that is short": good.replace(members["root"], members["root"][1:]),
        "a size as a fraction": good.replace('"size":14', '"size":14.0'),
        "a size as a power": good.replace('"size":14', '"size":14e0'),
        "a size with a zero before it": good.replace('"size":14', '"size":014'),
        "a size below 0": good.replace('"size":14', '"size":-14'),
        "a size of 2^53": good.replace('"size":14', f'"size":{2**53}'),
        "a size of 2^64": good.replace('"size":14', f'"size":{2**64}'),
        "a size as text": good.replace('"size":14', '"size":"14"'),
        "a member twice": good.replace('"size":14', '"size":14,"size":14'),
        "a space": good.replace(":", ": ", 1),
        "an escape": good.replace("T20", "\\u005420"),
        "padding": good.replace('","size"', '==","size"'),
        "another order": verifier.json.dumps(dict(reversed(members.items())), separators=(",", ":")),
        "no JSON": "head",
        "an array": "[]",
        "nothing": "",
    }.items():
        yield case(f"a head with {name}", text_of([text]))
    data = text_of([good])
    yield case("heads without an end", data[:-1])
    yield case("heads with an empty line", data + b"\n")
    yield case("heads with a byte order mark", b"\xef\xbb\xbf" + data)
    yield case("heads that are not UTF-8", data.replace(b"2026", b"202\xff"))
    yield case("heads with lines as in Windows", data.replace(b"\n", b"\r\n"))
    yield case("a broken head before a good one", b"{}\n" + data)
    yield case("a broken head after a good one", data + b"{}\n")
    yield Case("heads", "no file of heads", "heads", {FIRST_FILE: text_of(lines)})


# Encodings -----------------------------------------------------------------------------------------------------------


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to every member of every object, the first of a list standing for the others."""
    if type(value) is dict:
        for name, member in value.items():
            yield (*path, name)
            yield from paths(member, (*path, name))
    elif type(value) is list and value:
        yield from paths(value[0], (*path, 0))


def at_path(body: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        body = body[part]
    return body


def another_type(value: Any) -> Any:
    return {str: 1, int: "1", bool: 0, list: {}, dict: [], type(None): 1}[type(value)]


def encodings() -> Cases:
    seen = set()
    for election, at in [*((trustees(), at) for at in range(14)), (one_holder(), OPENING)]:
        kind, body = election.entries[at].kind, election.entries[at].body
        if kind in seen:
            continue
        seen.add(kind)
        for path in paths(body):
            where = f"{kind}: {'.'.join(map(str, path))}"
            # An old key has no proof of its factors, and is refused by name.
            check = "election" if path[-1] == "blum" else "chain"
            missing = changed(election, at, lambda body, path=path: at_path(body, path[:-1]).pop(path[-1]))
            yield Case("encodings", f"{where} is missing", check, record(missing))
            other = changed(election, at, put(*path, to=another_type))
            yield Case("encodings", f"{where} is of another type", "chain", record(other))
        for path in [(), *(path for path in paths(body) if type(at_path(body, path)) is dict)]:
            more = changed(election, at, lambda body, path=path: at_path(body, path).update(zz=1))
            where = ".".join(map(str, (kind, *path)))
            yield Case("encodings", f"{where} has a member more", "chain", record(more))
    yield from lines_of_entries()
    yield from texts_of_entries()
    yield from names()


def lines_of_entries() -> Cases:
    """The line around a body."""
    lines = lines_of(trustees().entries[:4])
    line = lines[3]
    members = verifier.json.loads(line)
    for name in members:
        rest = verifier.canonical({one: value for one, value in members.items() if one != name})
        yield Case("encodings", f"an entry without {name}", "chain", files_of([*lines[:3], rest]))
    reordered = verifier.json.dumps(dict(reversed(members.items())), separators=(",", ":"))
    for what, text in {
        "a member more": verifier.canonical({**members, "x": 1}),
        "another order": reordered,
        "an unknown kind": line.replace('"kind":"open"', '"kind":"opened"'),
        "a kind in capitals": line.replace('"kind":"open"', '"kind":"Open"'),
        "an empty kind": line.replace('"kind":"open"', '"kind":""'),
        "a kind that objects have": line.replace('"kind":"open"', '"kind":"constructor"'),
        "an escape": line.replace('"open"', '"\\u006fpen"'),
        "an index as a fraction": line.replace('"index":3', '"index":3.0'),
        "an index as a power": line.replace('"index":3', '"index":3e0'),
        "an index with a zero before it": line.replace('"index":3', '"index":03'),
        "an index below 0": line.replace('"index":3', '"index":-3'),
        "an index of 2^53": line.replace('"index":3', f'"index":{2**53}'),
        "an index of 2^64 + 3": line.replace('"index":3', f'"index":{2**64 + 3}'),
        "an index as text": line.replace('"index":3', '"index":"3"'),
        "a member twice": line.replace('"index":3', '"index":3,"index":3'),
        "a body twice": line.replace('{"body"', '{"body":{},"body"'),
        "a hash in capitals": line.replace(members["previous"], members["previous"].upper()),
        "a hash that is short": line.replace(members["previous"], members["previous"][:-1]),
        "no hash": line.replace(f'"{members["previous"]}"', "null"),
        "a signature with padding": line.replace('"}', '=="}'),
        "a signature in the other alphabet": re.sub('"signature":"..', '"signature":"+/', line),
        "a signature with bits to spare": line[:-3] + "B" + line[-2:],
        "a signature with a space": re.sub('"signature":".', '"signature":" ', line),
        "a signature with a line's end": re.sub('"signature":".', r'"signature":"\\n', line),
        "a comma too many": line[:-1] + ",}",
        "an end too many": line + "}",
        "deep nesting": line.replace('"body":{', '"body":{"a":' + "[" * 300 + "]" * 300 + ","),
        "very deep nesting": line.replace('"body":{', '"body":{"a":' + "[" * 100_000 + "]" * 100_000 + ","),
        "a number that is none": line.replace('"index":3', '"index":NaN'),
        "an endless number": line.replace('"index":3', '"index":Infinity'),
        "a very long number": line.replace('"index":3', '"index":' + "9" * 5000),
        "a comment": line.replace('"index"', '/* */"index"'),
        "a member that objects have": line.replace('"index"', '"__proto__":{},"index"'),
    }.items():
        assert text != line, what
        yield Case("encodings", f"an entry with {what}", "chain", files_of([*lines[:3], text]))


def texts_of_entries() -> Cases:
    """Numbers and texts within bodies."""
    lines = lines_of(trustees().entries[:1])
    for what, (found, text) in {
        "half a surrogate pair, escaped": ('"The club"', '"The \\ud800"'),
        "an escape where none is needed": ('"The club"', '"\\u0054he club"'),
        "an escaped slash": ('"The club"', '"The\\/club"'),
        "an escape in capitals": ('"The club"', '"The \\u001F"'),
        "an escape that there is not": ('"The club"', '"The \\x41"'),
        "a tab as it is": ('"The club"', '"The\tclub"'),
        "true in capitals": ('"revoting":true', '"revoting":True'),
        "true as a text": ('"revoting":true', '"revoting":"true"'),
        "a limit below 0": ('{"exactly":1}', '{"exactly":-1}'),
        "a limit of 2^32": ('{"exactly":1}', f'{{"exactly":{2**32}}}'),
        "two limits": ('{"exactly":1}', '{"at_most":1,"exactly":1}'),
        "no limit": ('{"exactly":1}', "{}"),
        "a limit that there is not": ('{"exactly":1}', '{"at_least":1}'),
        "a method that there is not": ('"approval"', '"ranked"'),
        "a method that objects have": ('"approval"', '"toString"'),
        "a method and more": ('{"choose":{"exactly":1}}', '{"choose":{"exactly":1},"x":1}'),
        "trustees needed as a fraction": ('"needed":2', '"needed":2.0'),
        "2^32 trustees needed": ('"needed":2', f'"needed":{2**32}'),
    }.items():
        altered = lines[0].replace(found, text)
        assert altered != lines[0], what
        yield Case("encodings", f"an election with {what}", "chain", files_of([altered]))
    for number, (at, path, to, check) in enumerate(
        [
            (LISTED, ("voters", 0, "weight"), 2**53 - 1, "rules"),
            (LISTED, ("voters", 0, "weight"), 2**53, "chain"),
            (LISTED, ("voters", 0, "weight"), 2**64, "chain"),
            (LISTED, ("voters", 0, "weight"), -1, "chain"),
            (LISTED, ("voters", 0, "weight"), 1.5, "chain"),
            (LISTED, ("voters", 0, "weight"), True, "chain"),
            (CHALLENGE, ("openings", 0, 0, "value"), 2**53 - 1, "rules"),
            (CHALLENGE, ("openings", 0, 0, "value"), 2**53, "chain"),
            (TALLY, ("counted",), 2**53 - 1, "rules"),
            (TALLY, ("counted",), 2**53, "chain"),
            (TALLY, ("weight",), 2**63, "chain"),
            (SHARE, ("trustee",), 2**32 - 1, "rules"),
            (SHARE, ("trustee",), 2**32, "chain"),
            (RESULT, ("contests", 0, 0), 2**53 - 1, "result"),
            (RESULT, ("contests", 0, 0), 2**53, "chain"),
            (BALLOT, ("election",), "0" * 63, "chain"),
            (BALLOT, ("election",), "A" * 64, "chain"),
            (BALLOT, ("contests", 0, "marks", 0, "ciphertext"), lambda text: text + "=", "chain"),
            (BALLOT, ("contests", 0, "marks", 0, "proof"), lambda text: "+" + text[1:], "chain"),
            (BALLOT, ("contests", 0, "marks", 0, "ciphertext"), lambda text: text[:-1] + "_", "chain"),
            (SHARE, ("shares",), lambda text: text + "AAA", "chain"),
        ]
    ):
        name = f"{trustees().entries[at].kind} with {'.'.join(map(str, path))} as {to if not callable(to) else f'other base64, {number}'}"
        yield Case("encodings", name, check, record(changed(trustees(), at, put(*path, to=to))))


def names() -> Cases:
    for what, name, good in [
        ("empty", "", False), ("of 400 bytes", "é" * 200, True), ("of 401 bytes", "é" * 200 + "x", False),
        ("with a null", "a\0b", False), ("with a line's end", "a\nb", False), ("with DEL", "a\x7f", False),
        ("with a control of Latin 1", "a\x85", False), ("with the last control", "a\x9f", False),
        ("with a space that does not break", "a\xa0b", True), ("with a separator of lines", "a\u2028b", True),
        ("beyond the first plane", "🗳", True), ("with a quote and a backslash", '"\\', True),
    ]:  # fmt: skip
        check = None if good else "election"
        yield single("encodings", f"a title {what}", check, put("title", to=name))
        yield single("encodings", f"a candidate {what}", check, put("contests", 1, "candidates", 0, to=name))
    for what, name, good in [
        ("of 128 bytes", "é" * 64, True), ("of 129 bytes", "é" * 64 + "x", False), ("empty", "", False), ("with a tab", "a\tb", False),
    ]:  # fmt: skip
        voter = changed(trustees(), LISTED, put("voters", 0, "id", to=name))
        yield Case("encodings", f"a voter's id {what}", None if good else "rules", record(voter))


# Keys ----------------------------------------------------------------------------------------------------------------


def single(family: str, name: str, check: str | None, change: Change, insecure: bool = True) -> Case:
    """A record of its first entry, changed and signed anew."""
    return Case(family, name, check, record(changed(trustees(), FIRST, change)), insecure)


def with_key(members: Body, **more: Any) -> Change:
    """The election of one holder with another key."""

    def apply(body: Body) -> None:
        body.update(key=members, trustees=None, **more)

    return apply


SHORT = [CONTESTS[4]]


def keys() -> Cases:
    for name, maker, check in moduli():
        yield single("keys", name, check, with_key(maker.members(), contests=SHORT))
    yield single(
        "keys",
        "a short key where none is asked for",
        "election",
        with_key(Maker({P: 1, Q: 1}).members()),
        insecure=False,
    )
    n, own = trustees().maker.n, trustees().maker
    for name, h, good in [
        ("0", 0, False), ("1", 1, False), ("2", 2, True), ("3", 3, True), ("n - 1", n - 1, False), ("n - 2", n - 2, True),
        ("a prime factor", P, False), ("a multiple of one", 12345 * Q, False), ("n", n, False), ("above n", n + 2, False),
    ]:  # fmt: skip
        members = {**own.members(), "generator": encode(own.key.narrow(h))}
        yield single("keys", f"a generator that is {name}", None if good else "election", with_key(members))
    yield from numbers_of_keys(own)
    yield from candidates()


def moduli() -> Iterator[tuple[str, Maker, str | None]]:
    """Moduli with the most that their owner could show of them."""
    for name, check, primes, rest in shapes_of_moduli():
        maker = Maker(primes)
        # Nothing else is wrong with them than what they are made for.
        assert (maker.key.bits % 2, maker.n % 4) == rest, (name, maker.key.bits, maker.n % 4)
        yield name, maker, check


def shapes_of_moduli() -> Iterator[tuple[str, str | None, dict[int, int], tuple[int, int]]]:
    """Prime factors, with the last bit of the modulus's length and its rest modulo 4."""
    usual = (0, 1)
    start = 3 << 126
    p3, q3 = prime_from(start, 3), prime_from(start + (1 << 120), 3)
    p1, q1 = prime_from(start, 1), prime_from(start + (1 << 120), 1)
    yield "a good key", None, {p3: 1, q3: 1}, usual
    yield "a prime", "election", {prime_from(3 << 254, 1): 1}, usual
    yield "a prime that is 5 modulo 8", "election", {prime_from(3 << 254, 5, 8): 1}, usual
    yield "a square", "election", {p3: 2}, usual
    yield "a square of a prime that is 1 modulo 4", "election", {p1: 2}, usual
    yield "a cube", "election", {prime_from(1 << 85, 1): 3}, usual
    yield "a cube times a prime", "election", {prime_from(3 << 62, 3): 3, prime_from(3 << 61, 3): 1}, usual
    yield "primes that are 1 modulo 4", "election", {p1: 1, q1: 1}, usual
    yield "primes that are 1 and 3 modulo 4", "election", {p1: 1, q3: 1}, (0, 3)
    yield "neighbouring primes", "election", {p3: 1, prime_from(p3 + 4, 3): 1}, usual
    fifty = prime_from(p3 + (70 << 62), 3)
    yield "primes that Fermat's method finds in fifty steps", "election", {p3: 1, fifty: 1}, usual
    three = {prime_from(1 << 85, 3): 1, prime_from(3 << 84, 3): 1, prime_from(5 << 83, 1): 1}
    yield "three primes", "election", three, usual
    short = primes_from(78643, 1)
    yield "fifteen primes of 17 bits", "election", {next(short): 1 for _ in range(15)}, usual
    yield "a factor of 3", "election", {3: 1, prime_from(1 << 254, 3): 1}, usual
    yield "a factor of 65521", "election", {65521: 1, prime_from(1 << 240, 1): 1}, usual
    # Nothing shows that both are long, and nothing needs it: what is proven is proven modulo the longer one.
    yield "a factor just above 2^16", None, {65539: 1, prime_from(1 << 239, 3): 1}, usual
    yield "one prime much longer than the other", None, {prime_from(1 << 49, 3): 1, prime_from(1 << 206, 3): 1}, usual
    yield "an odd number of bits", "election", {prime_from(1 << 127, 3): 1, prime_from(257 << 119, 3): 1}, (1, 1)
    yield "too few bits", "election", {prime_from(3 << 29, 3): 1, prime_from(7 << 28, 3): 1}, usual
    pseudoprime = next(p for p in primes_from(1 << 126, 3) if is_prime(3 * p - 2) and pow(2, p - 1, 3 * p - 2) == 1)
    yield "what Fermat's test takes for a prime", "election", {pseudoprime: 1, 3 * pseudoprime - 2: 1}, usual
    multiples = (factor * p3 + 1 for factor in itertools.count(2, 4))
    divided = next(q for q in multiples if is_prime(q) and q % 4 == 3 and (q * p3).bit_length() % 2 == 0)
    yield "a prime that divides the other less 1", "election", {p3: 1, divided: 1}, usual


def primes_from(start: int, rest: int) -> Iterator[int]:
    while True:
        start = prime_from(start, rest)
        yield start
        start += 4


def numbers_of_keys(own: Maker) -> Cases:
    """Numbers of a key that are written in another way, or are others."""
    good = own.members()

    def case(name: str, check: str | None, change: Change) -> Case:
        members = copy.deepcopy(good)
        change(members)
        return single("keys", name, check, with_key(members))

    longer, shorter = (lambda text: encode(b"\0" + decode(text))), (lambda text: encode(decode(text)[1:]))
    for part in ("modulus", "generator"):
        yield case(f"the {part} with a zero before it", "election", put(part, to=longer))
        yield case(f"the {part} without its first byte", "election", put(part, to=shorter))
        yield case(f"no {part}", "election", put(part, to=""))
        yield case(f"the {part} of zeros", "election", put(part, to=encode(bytes(32))))
    yield case("a modulus of 1", "election", put("modulus", to=encode((1).to_bytes(32, "big"))))
    yield case("an even modulus", "election", put("modulus", to=encode((own.n + 1).to_bytes(32, "big"))))
    yield case("a modulus that is 3 modulo 4", "election", put("modulus", to=encode((own.n + 2).to_bytes(32, "big"))))
    yield case("a modulus of 8194 bits", "election", put("modulus", to=encode(b"\3" + b"\xff" * 1024)))
    yield case("a modulus of 2^20 bits", "election", put("modulus", to=encode(b"\xff" * (1 << 17))))
    for part, count in (("roots", 11), ("blum", 128)):
        yield case(f"none of the {part}", "election", put(part, to=[]))
        yield case(f"one of the {part} is missing", "election", lambda members, part=part: members[part].pop())
        yield case(
            f"one of the {part} too many", "election", lambda members, part=part: members[part].append(members[part][0])
        )
        yield case(f"the {part} in another order", "election", lambda members, part=part: members[part].reverse())
        for at in (0, count - 1):
            yield case(f"another number {at} of the {part}", "election", put(part, at, to=flipped(20)))
            yield case(f"number {at} of the {part} is 0", "election", put(part, at, to=encode(bytes(32))))
            yield case(f"number {at} of the {part} is n", "election", put(part, at, to=encode(own.key.narrow(own.n))))
            yield case(f"number {at} of the {part} is short", "election", put(part, at, to=shorter))
            yield case(f"number {at} of the {part} is long", "election", put(part, at, to=longer))
    negated = put("blum", 5, to=lambda text: encode(own.key.narrow(own.n - int.from_bytes(decode(text), "big"))))
    yield case("the other square root", None, negated)
    negated = put("roots", 5, to=lambda text: encode(own.key.narrow(own.n - int.from_bytes(decode(text), "big"))))
    yield case("the negative of a root", "election", negated)
    another = Maker({prime_from(3 << 126, 3): 1, prime_from(7 << 125, 3): 1}).members()
    for part in ("roots", "blum", "modulus"):
        yield case(f"the {part} of another key", "election", put(part, to=another[part]))


def candidates() -> Cases:
    """How many candidates a key has room for, and what else is asked of contests."""
    long = trustees().maker.members()
    short = {
        bits: Maker({prime_from(3 << (bits // 2 - 2), 3): 1, prime_from(7 << (bits // 2 - 3), 3): 1}).members()
        for bits in (96, 98)
    }

    def case(name: str, check: str | None, *contests: Body, key: Body = long) -> Case:
        return single("keys", name, check, with_key(key, contests=list(contests)))

    def contest(method: Any, count: int) -> Body:
        return {"candidates": [f"candidate {one}" for one in range(count)], "method": method, "title": "One"}

    yield case("as many candidates as half of the key has room for", None, contest("plurality", 2))
    yield case("one candidate more than that", "election", contest("plurality", 3))
    yield case("as many as would fit the whole key", "election", contest("plurality", 5))
    yield case("a count in a key of 98 bits", None, contest("yes_no", 2), key=short[98])
    yield case("a count in a key of 96 bits", "election", contest("yes_no", 2), key=short[96])
    yield case("an approval in a key of 96 bits", "election", contest("approval", 2), key=short[96])
    yield case("many candidates with a mark each", None, contest("approval", 256))
    yield case("too many candidates of a contest", "election", contest("approval", 257))
    yield case(
        "too many candidates of all contests",
        "election",
        contest("approval", 256),
        contest("approval", 256),
        contest("approval", 1),
    )
    yield case("no contest", "election")
    yield case("64 contests", None, *(contest("yes_no", 2) for _ in range(64)))
    yield case("65 contests", "election", *(contest("yes_no", 2) for _ in range(65)))
    yield case("no candidate", "election", contest("approval", 0))
    yield case("three candidates of yes and no", "election", contest("yes_no", 3))
    yield case("one candidate of yes and no", "election", contest("yes_no", 1))
    for method in (
        {"choose": {"exactly": 0}},
        {"choose": {"at_most": 0}},
        {"choose": {"exactly": 3}},
        {"choose": {"at_most": 3}},
    ):
        yield case(f"two candidates, of whom one may {method}", "election", contest(method, 2))
    twice = {**contest("approval", 2), "candidates": ["Ada", "Ada"]}
    yield case("a candidate twice", "election", twice)


# Dealers -------------------------------------------------------------------------------------------------------------


def dealer() -> Cases:
    own = trustees()
    assert own.dealing is not None
    key = own.maker.key

    def case(name: str, check: str | None, change: Change) -> Case:
        return single("dealer", name, check, lambda body: change(body["trustees"]))

    def power(exponent: int) -> Callable[[str], str]:
        return lambda text: encode(key.wide(pow(int.from_bytes(decode(text), "big"), exponent, key.square)))

    def times(factor: int) -> Callable[[str], str]:
        return lambda text: encode(key.wide(int.from_bytes(decode(text), "big") * factor % key.square))

    def each(change: Callable[[str], str]) -> Change:
        return put("keys", to=lambda keys: [change(one) for one in keys])

    def both(change: Callable[[str], str]) -> Change:
        def apply(of: Any) -> None:
            each(change)(of)
            put("base", to=change)(of)

        return apply

    one = encode(key.wide(1))
    yield case("honest", None, lambda _: None)
    for factor in (0, 2, 3, key.n - 1):
        dishonest = Dealing(own.maker, 2, 3, d=factor)
        yield case(
            f"deals {factor if factor < 9 else 'n - 1'} times the result",
            "election",
            lambda of, one=dishonest: of.update(one.members()),
        )
    yield case("squares every share", "election", each(power(2)))
    yield case("inverts every share", "election", each(power(-1)))
    yield case("shows ones", "election", each(lambda _: one))
    yield case("shows ones, and one for v", "election", both(lambda _: one))
    yield case("shows n-th powers", "election", both(power(key.n)))
    yield case("squares v and every share", "election", both(power(2)))
    yield case("chooses v", "election", put("base", to=times(1 + key.n)))
    yield case("negates v", "election", put("base", to=times(-1)))
    for trustee in range(3):
        yield case(
            f"deals trustee {trustee + 1} what is off the polynomial",
            "election",
            put("keys", trustee, to=times(1 + key.n)),
        )
        yield case(
            f"deals trustee {trustee + 1} another n-th power", "election", put("keys", trustee, to=times(key.base))
        )
        yield case(f"shows 0 for trustee {trustee + 1}", "election", put("keys", trustee, to=encode(key.wide(0))))
        # Squares are compared: a sign proves nothing and spoils nothing.
        yield case(f"negates trustee {trustee + 1}", None, put("keys", trustee, to=times(-1)))
    yield case("exchanges two trustees", "election", put("keys", to=lambda keys: [keys[1], keys[0], keys[2]]))
    yield case("deals two trustees the same", "election", put("keys", to=lambda keys: [keys[0], keys[0], keys[2]]))
    yield case("shows n^2", "election", put("keys", 0, to=encode(key.square.to_bytes(64, "big"))))
    yield case("shows a number above n^2", "election", put("keys", 0, to=encode(b"\xff" * 64)))
    yield case("shows a multiple of p", "election", put("keys", 0, to=encode(key.wide(P * 1234567))))
    yield case("shows a short number", "election", put("keys", 0, to=lambda text: encode(decode(text)[1:])))
    yield case("shows a long number", "election", put("keys", 0, to=lambda text: encode(b"\0" + decode(text))))
    yield case("shows no v", "election", put("base", to=""))
    yield case("shows a v of 0", "election", put("base", to=encode(key.wide(0))))
    for needed, check in [(0, "election"), (1, "election"), (3, None), (4, "election"), (2**32 - 1, "election")]:
        # The polynomial of two is one of three as well: whoever says so asks for a trustee more than it takes.
        yield case(f"says that {needed} are needed", check, put("needed", to=needed))
    yield case("has no trustees", "election", put("keys", to=[]))
    yield case("leaves one out", "election", put("keys", to=lambda keys: keys[:2]))
    many = Dealing(own.maker, 2, 20)
    yield case("deals to twenty", None, lambda of: of.update(many.members()))
    yield case("deals to twenty-one", "election", lambda of: of.update(keys=[*many.members()["keys"], one]))
    alone = Dealing(own.maker, 1, 1)
    yield case("deals to one", None, lambda of: of.update(alone.members()))


# Signatures ----------------------------------------------------------------------------------------------------------


def signatures() -> Cases:
    own = trustees()
    stranger = Signer("mallory")

    def signed(at: int, signature: str | None = None, by: Signer | None = None) -> dict[str, bytes]:
        entries = list(own.entries[: at + 1])
        entries[at] = Entry(entries[at].kind, entries[at].body, signature, by)
        return record(entries)

    for at in (FIRST, LISTED, OPEN, BALLOT, CHALLENGE, CLOSE, TALLY, RESULT):
        kind, good = own.entries[at].kind, decode(own.entries[at].signed())
        for name, signature in {
            "of a stranger": None,
            "with another R": flipped(3)(encode(good)),
            "with another s": flipped(40)(encode(good)),
            "with s above the order": encode(
                good[:32] + (int.from_bytes(good[32:], "little") + verifier.ORDER).to_bytes(32, "little")
            ),
            "that is missing": "",
        }.items():
            by = stranger if signature is None else None
            yield Case("signatures", f"{kind}: a signature {name}", "signatures", signed(at, signature, by))
    good = decode(own.entries[BALLOT].signed())
    for name, signature in {"short": good[:63], "long": good + b"\0", "of zeros": bytes(64)}.items():
        yield Case("signatures", f"ballot: a signature that is {name}", "signatures", signed(BALLOT, encode(signature)))
    yield Case("signatures", "ballot: signed by another voter", "signatures", signed(BALLOT, by=VOTERS["bert"]))
    yield Case("signatures", "ballot: signed by the organiser", "signatures", signed(BALLOT, by=ORGANISER))
    yield Case("signatures", "close: signed by the board", "signatures", signed(CLOSE, by=BOARD))
    yield Case("signatures", "close: signed as open", "signatures", signed(CLOSE, own.entries[OPEN].signed()))
    yield Case("signatures", "share: with a signature", "rules", signed(SHARE, encode(ORGANISER.sign("entry", "x"))))
    yield from torsion(signed)


def torsion(signed: Callable[..., dict[str, bytes]]) -> Cases:
    """Points of small order, which verifiers with a cofactor overlook."""
    own, anna = trustees(), VOTERS["anna"]
    text = verifier.canonical({"body": own.entries[BALLOT].body, "kind": "ballot"})
    message = f"hearith-election 1 entry\n{text}".encode()

    def hash_of(r: bytes, key: bytes) -> int:
        return int.from_bytes(verifier.hashlib.sha512(r + key + message).digest(), "little") % verifier.ORDER

    small = small_order()
    neutral = compress(verifier.NEUTRAL)
    s = hash_of(neutral, anna.public) * anna.scalar % verifier.ORDER
    yield Case(
        "signatures",
        "ballot: an R of order 1",
        "signatures",
        signed(BALLOT, encode(neutral + s.to_bytes(32, "little"))),
    )
    r = compress(verifier.add(times_base(12345), small))
    s = (12345 + hash_of(r, anna.public) * anna.scalar) % verifier.ORDER
    yield Case(
        "signatures",
        "ballot: an R with a part of order 8",
        "signatures",
        signed(BALLOT, encode(r + s.to_bytes(32, "little"))),
    )
    # A key with such a part is one; under it signatures hold whose hash is a multiple of 8.
    mixed = compress(verifier.add(times_base(anna.scalar), small))
    listed = changed(own, LISTED, put("voters", 0, "key", to=encode(mixed)))[LISTED]
    for good in (True, False):
        for nonce in itertools.count(777):
            r = compress(times_base(nonce))
            h = hash_of(r, mixed)
            if (h % 8 == 0) == good:
                break
        s = (nonce + h * anna.scalar) % verifier.ORDER
        ballot = Entry("ballot", own.entries[BALLOT].body, encode(r + s.to_bytes(32, "little")))
        entries = [own.entries[0], listed, *own.entries[2:4], ballot]
        name = f"ballot: a key with a part of order 8, a hash that is {'' if good else 'not '}a multiple of 8"
        yield Case("signatures", name, None if good else "signatures", record(entries))


def small_order() -> verifier.Point:
    """A point of order 8."""
    for y in itertools.count(2):
        point = verifier.decompress(y.to_bytes(32, "little"))
        if point is None:
            continue
        found = verifier.times(verifier.ORDER, point)
        if not verifier.same(verifier.times(4, found), verifier.NEUTRAL):
            return found
    raise AssertionError


def bad_keys() -> dict[str, str]:
    """What is no public key."""
    return {
        "of order 1": encode((1).to_bytes(32, "little")),
        "of order 2": encode((verifier.P - 1).to_bytes(32, "little")),
        "of order 4": encode(bytes(32)),
        "of order 8": encode(compress(small_order())),
        "that is not below p": encode((verifier.P + 3).to_bytes(32, "little")),
        "of no point": encode((2).to_bytes(32, "little")),
        "with a sign of 0": encode((1 | 1 << 255).to_bytes(32, "little")),
        "of 31 bytes": encode(bytes(range(31))),
        "of 33 bytes": encode(VOTERS["anna"].public + b"\0"),
        "of no bytes": "",
    }


# Rules ---------------------------------------------------------------------------------------------------------------


def rules() -> Cases:
    own, alone = trustees(), one_holder()
    entries = own.entries

    def case(name: str, some: list[Entry], check: str | None = "rules", family: str = "ballots") -> Case:
        return Case(family, name, check, record(some))

    yield Case("rules", "the record of trustees", None, record(entries))
    yield Case("rules", "the record of one holder", None, record(alone.entries))
    for size in range(1, len(entries)):
        yield Case("rules", f"the first {size} entries", None, record(entries[:size]))
    # Order.
    for at, other in [(3, 4), (8, 9), (9, 10), (10, 11), (12, 13)]:
        swapped = [*entries[:at], entries[other], entries[at], *entries[other + 1 :]]
        yield case(f"entries {at} and {other} are exchanged", swapped, family="rules")
    for at in (OPEN, CLOSE, TALLY):
        yield case(f"no {entries[at].kind}", [*entries[:at], *entries[at + 1 :]], family="rules")
    for at in range(len(entries)):
        if at not in (SHARE, SHARE + 1):
            yield case(f"a second time, at the end: entry {at}", [*entries, entries[at]], family="rules")
    for at in (FIRST, LISTED, OPEN, CLOSE, TALLY):
        yield case(f"a second time, at once: entry {at}", [*entries[: at + 1], entries[at]], family="rules")
    yield case("it begins with voters", entries[1:3], "election", family="rules")
    yield case("it opens without voters", [entries[0], entries[3]], family="rules")
    yield case("a share before the tally", [*entries[:10], entries[11]], family="rules")
    yield case(
        "an opening where there are trustees",
        [*entries[:11], Entry("opening", {"contests": [], "election": own.id})],
        family="rules",
    )
    share = Entry("share", {"election": alone.id, "shares": "", "trustee": 1}, "")
    yield case("a share where there is one holder", [*alone.entries[:9], share], family="rules")
    for at in (LISTED, OPEN, BALLOT, CHALLENGE, CLOSE, TALLY, SHARE, RESULT):
        other = changed(own, at, put("election", to="0" * 64))
        yield case(f"of another election: {entries[at].kind}", other, family="rules")
    inner = changed(own, CHALLENGE, put("ballot", "election", to="0" * 64))
    yield case("of another election: the ballot of a challenge", inner, family="rules")
    yield from voters()
    yield from organisers()
    # Doubles.
    yield case("a ballot is played again", [*entries[:8], entries[BALLOT]])
    yield case("a ballot is played again, and counted", [*entries[:8], entries[BALLOT], *entries[8:]])
    challenged = Entry("ballot", entries[CHALLENGE].body["ballot"])
    yield case("a challenged ballot is cast", [*entries[:7], challenged])
    yield case("a cast ballot is challenged", [*entries[:5], challenge_of(own, entries[BALLOT])])
    yield case("a challenge is played again", [*entries[:7], entries[CHALLENGE]])
    for voter in ("bert", "dora"):
        copied = Entry("ballot", {**copy.deepcopy(entries[BALLOT].body), "voter": voter})
        yield case(f"a ballot is copied by {voter}", [*entries[:5], copied])
        yield case(f"a ballot is taken by {voter}", [*entries[:4], copied], "ballots")
    for contest, mark in [(0, 1), (2, 1), (4, 0)]:
        stolen = changed(
            own,
            BERT,
            put("contests", contest, "marks", mark, to=entries[BALLOT].body["contests"][contest]["marks"][mark]),
        )
        yield case(f"a ballot with mark {mark} of contest {contest} of another", stolen)
    twice = changed(
        own, BALLOT, lambda body: body["contests"][2]["marks"].__setitem__(1, body["contests"][2]["marks"][0])
    )
    yield case("a mark twice in a ballot", twice)
    again, _ = alone.ballot("anna", [[0, 1], [0]])
    yield case("a second ballot where the first is final", [*alone.entries[:5], Entry("ballot", again)])
    for voter in ("mallory", "", "Anna", "anna ", "a" * 1000):
        body, _ = own.ballot(voter, [[1, 0], [1, 0], [1, 1], [0], [1]])
        yield case(
            f"a ballot of {voter[:9]!r}, who is no voter", [*entries[:4], Entry("ballot", body, by=Signer("mallory"))]
        )
    body, openings = own.ballot("mallory", [[1, 0], [1, 0], [1, 1], [0], [1]])
    strange = Entry("challenge", {"ballot": body, "election": own.id, "openings": openings}, by=Signer("mallory"))
    yield case("a challenge of somebody who is no voter", [*entries[:4], strange])
    yield from shapes()


def challenge_of(own: Election, ballot: Entry) -> Entry:
    """A challenge of a ballot, with whatever openings."""
    return Entry(
        "challenge", {"ballot": ballot.body, "election": own.id, "openings": own.entries[CHALLENGE].body["openings"]}
    )


def voters() -> Cases:
    own = trustees()

    def case(name: str, check: str | None, change: Change) -> Case:
        return Case("rules", name, check, record(changed(own, LISTED, change)))

    yield case("no voters in an entry", "rules", put("voters", to=[]))
    many = [{"id": f"voter {number}", "key": encode(VOTERS["anna"].public), "weight": 1} for number in range(1001)]
    yield case("a thousand voters in an entry", None, put("voters", to=many[:1000]))
    yield case("a thousand and one voters in an entry", "rules", put("voters", to=many))
    yield case("a voter twice in an entry", "rules", put("voters", 1, "id", to="anna"))
    twice = changed(own, 2, put("voters", 0, "id", to="anna"))
    yield Case("rules", "a voter twice in two entries", "rules", record(twice))
    for weight, check in [(0, "rules"), (2**32, None), (2**32 + 1, "rules")]:
        yield case(f"a weight of {weight}", check, put("voters", 0, "weight", to=weight))
    for name, key in bad_keys().items():
        yield case(f"a voter's key {name}", "rules", put("voters", 0, "key", to=key))
    heavier = changed(own, LISTED, put("voters", 0, "weight", to=2), whole=True)
    yield Case("rules", "a heavier voter than was counted", "rules", record(heavier))


def organisers() -> Cases:
    for part in ("organiser", "board"):
        for name, key in bad_keys().items():
            yield single("rules", f"the {part}'s key {name}", "election", put(part, to=key))
    yield single(
        "rules", "one key for organiser and board", "election", lambda body: body.update(board=body["organiser"])
    )


def shapes() -> Cases:
    """Ballots without the parts that contests ask for."""
    own = trustees()

    def case(name: str, change: Change, at: int = BALLOT) -> Case:
        return Case("ballots", name, "rules", record(changed(own, at, change)))

    yield case("a contest is missing", lambda body: body["contests"].pop())
    yield case("no contests", put("contests", to=[]))
    yield case("a contest too many", lambda body: body["contests"].append(body["contests"][0]))
    shorter, longer = (lambda text: encode(decode(text)[:-1])), (lambda text: encode(decode(text) + b"\0"))
    for contest in range(5):
        marks = ("contests", contest, "marks")
        yield case(f"contest {contest}: a mark is missing", put(*marks, to=lambda marks: marks[:-1]))
        yield case(f"contest {contest}: a mark too many", put(*marks, to=lambda marks: [*marks, marks[0]]))
        for part in ("ciphertext", "proof"):
            yield case(f"contest {contest}: a short {part}", put(*marks, 0, part, to=shorter))
            yield case(f"contest {contest}: a long {part}", put(*marks, 0, part, to=longer))
            yield case(f"contest {contest}: no {part}", put(*marks, 0, part, to=""))
        place = ("contests", contest, "sum")
        if contest < 2:
            yield case(f"contest {contest}: no sum", put(*place, to=None))
            yield case(f"contest {contest}: a short sum", put(*place, to=shorter))
            yield case(f"contest {contest}: a long sum", put(*place, to=longer))
        else:
            yield case(
                f"contest {contest}: a sum that is not asked for",
                put(*place, to=own.entries[BALLOT].body["contests"][0]["sum"]),
            )
    inside = lambda change: lambda body: change(body["ballot"])  # noqa: E731
    yield case(
        "challenge: a mark is missing", inside(put("contests", 0, "marks", to=lambda marks: marks[:-1])), CHALLENGE
    )
    yield case("challenge: a short proof", inside(put("contests", 0, "marks", 0, "proof", to=shorter)), CHALLENGE)
    yield case("challenge: no openings", put("openings", to=[]), CHALLENGE)
    yield case("challenge: an opening is missing", put("openings", 2, to=lambda some: some[:-1]), CHALLENGE)
    yield case("challenge: an opening too many", put("openings", 2, to=lambda some: [*some, some[0]]), CHALLENGE)
    yield case("challenge: a short exponent", put("openings", 0, 0, "exponent", to=shorter), CHALLENGE)
    yield case("challenge: a long exponent", put("openings", 0, 0, "exponent", to=longer), CHALLENGE)
    for contest, value in [(0, 2), (3, 2), (4, 255)]:
        yield case(
            f"challenge: contest {contest} held number {value}",
            put("openings", contest, 0, "value", to=value),
            CHALLENGE,
        )


# Proofs --------------------------------------------------------------------------------------------------------------


def proofs() -> Cases:
    own = trustees()
    key = own.maker.key
    wide, answer = 2 * key.width, verifier.response_bytes(key.short_bits)
    side = wide + 32 + answer

    def case(name: str, check: str | None, change: Change, at: int = BALLOT) -> Case:
        return Case("proofs", name, check, record(changed(own, at, change)))

    for contest, mark in [(0, 0), (0, 1), (1, 1), (2, 0), (3, 0), (4, 0)]:
        path = ("contests", contest, "marks", mark, "proof")
        for start in (0, side):
            for part, byte, bit in [
                ("A", 40, 0), ("A's first bit", 0, 7), ("e", wide, 0), ("e's last bit", wide + 31, 0),
                ("z", wide + 40, 3), ("z beyond its bits", wide + 32, 2), ("z's last bit", side - 1, 0),
            ]:  # fmt: skip
                name = f"contest {contest}, mark {mark}, side {start // side}: another {part}"
                yield case(name, "ballots", put(*path, to=flipped(start + byte, bit)))
        yield case(
            f"contest {contest}, mark {mark}: another ciphertext",
            "ballots",
            put(*path[:-1], "ciphertext", to=flipped(50)),
        )
    for contest in (0, 1):
        size = len(decode(own.entries[BALLOT].body["contests"][contest]["sum"]))
        for byte in (0, 20, wide + 3, size // 2, size - 1):
            yield case(
                f"contest {contest}: another sum, byte {byte}",
                "ballots",
                put("contests", contest, "sum", to=flipped(byte)),
            )
    first = ("contests", 0, "marks", 0)
    for what, number in {
        "0": 0, "n^2": key.square, "above n^2": 2 ** (8 * wide) - 1, "n": key.n, "a multiple of p": P * 987654321, "a multiple of q^2": Q * Q,
    }.items():  # fmt: skip
        yield case(
            f"a ciphertext that is {what}",
            "ballots",
            put(*first, "ciphertext", to=encode(number.to_bytes(wide, "big"))),
        )
        yield case(f"a commitment that is {what}", "ballots", put(*first, "proof", to=replaced(0, number, wide)))
        yield case(
            f"a sum's commitment that is {what}", "ballots", put("contests", 0, "sum", to=replaced(0, number, wide))
        )
    yield case(
        "an answer of the most bits", "ballots", put(*first, "proof", to=replaced(wide + 32, (1 << 513) - 1, answer))
    )
    yield case("an answer of a bit more", "ballots", put(*first, "proof", to=replaced(wide + 32, 1 << 513, answer)))
    yield case("an answer of 0", "ballots", put(*first, "proof", to=replaced(wide + 32, 0, answer)))

    def exchange(body: Any) -> None:
        one, other = body["contests"][0]["marks"]
        one["proof"], other["proof"] = other["proof"], one["proof"]

    def exchange_marks(body: Any) -> None:
        body["contests"][0]["marks"].reverse()

    def exchange_contests(body: Any) -> None:
        body["contests"][0]["marks"], body["contests"][1]["marks"] = (
            body["contests"][1]["marks"],
            body["contests"][0]["marks"],
        )

    def exchange_sides(text: str) -> str:
        data = decode(text)
        return encode(data[side:] + data[:side])

    yield case("proofs of two marks are exchanged", "ballots", exchange)
    yield case("two marks are exchanged", "ballots", exchange_marks)
    yield case("marks of two contests are exchanged", "ballots", exchange_contests)
    yield case("two sides of a proof are exchanged", "ballots", put(*first, "proof", to=exchange_sides))
    yield from lies()
    yield from signs()
    yield from challenges()


def cast(name: str, check: str | None, choices: list[list[int]], whole: bool = False, **how: Any) -> Case:
    """Bert's ballot with other choices, or made in another way."""
    own = trustees()
    body, _ = own.ballot("bert", choices, **how)
    entries = list(own.entries if whole else own.entries[: BERT + 1])
    entries[BERT] = Entry("ballot", body)
    return Case("proofs", name, check, record(entries))


def lies() -> Cases:
    """Ballots that hold what they must not, with the best proofs that there are."""
    yield cast("two where one is asked for", "ballots", [[1, 1], [0, 0], [1, 0], [1], [0]])
    yield cast("none where one is asked for", "ballots", [[0, 0], [0, 0], [1, 0], [1], [0]])
    yield cast("two where at most one is allowed", "ballots", [[0, 1], [1, 1], [1, 0], [1], [0]])
    yield cast("a mark of 2", "ballots", [[0, 1], [0, 0], [1, 0], [1], [0]], lies=True)
    yield cast("another choice than is counted", "tally", [[1, 0], [0, 0], [1, 0], [1], [0]], whole=True)


def signs() -> Cases:
    """Squares are compared: signs of ciphertexts and commitments that were there when the hash was taken are no fault."""
    for name, how in {"commitments": {"sign": -1}, "ciphertexts": {"negated": True}}.items():
        yield Case("proofs", f"negated {name}", None, record(held_by_trustees(**how).entries))
    own = trustees()
    key = own.maker.key

    def negated(text: str) -> str:
        data, width = decode(text), 2 * key.width
        return encode(key.wide(-int.from_bytes(data[:width], "big") % key.square) + data[width:])

    for part in ("ciphertext", "proof"):
        change = put("contests", 0, "marks", 0, part, to=negated)
        yield Case("proofs", f"a {part} negated afterwards", "ballots", record(changed(own, BALLOT, change)))


def challenges() -> Cases:
    own = trustees()

    def case(name: str, check: str | None, change: Change) -> Case:
        return Case("challenges", name, check, record(changed(own, CHALLENGE, change)))

    for contest, mark in [(0, 0), (1, 1), (2, 0), (3, 0), (4, 0)]:
        path = ("openings", contest, mark)
        yield case(
            f"contest {contest}, mark {mark}: another value",
            "challenges",
            put(*path, "value", to=lambda value: 1 - value),
        )
        yield case(
            f"contest {contest}, mark {mark}: another exponent", "challenges", put(*path, "exponent", to=flipped(7))
        )
        proof = ("ballot", "contests", contest, "marks", mark, "proof")
        yield case(f"contest {contest}, mark {mark}: another proof", "challenges", put(*proof, to=flipped(100)))
    yield case("another sum", "challenges", put("ballot", "contests", 0, "sum", to=flipped(80)))
    yield case("an exponent of 0", "challenges", put("openings", 0, 0, "exponent", to=encode(bytes(16))))
    zero = put("ballot", "contests", 0, "marks", 0, "ciphertext", to=encode(bytes(64)))
    yield case("a ciphertext of 0", "challenges", zero)
    other = changed(own, CHALLENGE, put("ballot", "voter", to="dora"))
    yield Case("challenges", "the ballot of another voter", "challenges", record(other))


# Tallies, shares, openings, results ----------------------------------------------------------------------------------


def tallies() -> Cases:
    own = trustees()
    key = own.maker.key

    def case(name: str, check: str | None, change: Change) -> Case:
        return Case("tallies", name, check, record(changed(own, TALLY, change)))

    def tallied(name: str, totals: list[int]) -> Case:
        body = {**own.tally_body(totals), "election": own.id}
        return Case("tallies", name, "tally", record([*own.entries[:TALLY], Entry("tally", body)]))

    totals = own.totals()
    one = (1 + key.n) * key.power_of_base(99) % key.square
    for at in range(len(totals)):
        yield tallied(
            f"a vote more in mark {at}",
            [total * one % key.square if at == mark else total for mark, total in enumerate(totals)],
        )
    yield tallied("encrypted again", [total * key.power_of_base(7) % key.square for total in totals])
    yield tallied("negated", [-total % key.square for total in totals])
    yield tallied("two marks exchanged", [totals[1], totals[0], *totals[2:]])
    yield tallied("ones", [1] * len(totals))
    for voter in ("anna", "bert", "cleo"):
        without = {name: body for name, body in own.counted.items() if name != voter}
        yield tallied(f"without {voter}", own.totals(without))
    yield tallied("without weights", own.totals(weights=dict.fromkeys(WEIGHTS, 1)))
    yield tallied("with anna's first ballot", own.totals({**own.counted, "anna": own.entries[BALLOT].body}))
    challenged = own.entries[CHALLENGE].body["ballot"]
    yield tallied("with the challenged ballot", own.totals({**own.counted, "dora": challenged}))
    for part in ("counted", "weight"):
        for more in (-1, 1):
            yield case(f"{part} is {more} more", "rules", put(part, to=lambda number, more=more: number + more))
        yield case(f"{part} is 0", "rules", put(part, to=0))
    first = ("contests", 0, 0)
    yield case("a number that is short", "rules", put(*first, to=lambda text: encode(decode(text)[1:])))
    yield case("a number that is long", "rules", put(*first, to=lambda text: encode(b"\0" + decode(text))))
    yield case("a number is missing", "rules", lambda body: body["contests"][0].pop())
    yield case("a number too many", "rules", lambda body: body["contests"][4].append(body["contests"][4][0]))
    yield case("a contest is missing", "rules", lambda body: body["contests"].pop())
    yield case("no contests", "rules", put("contests", to=[]))
    yield case("a number of 0", "tally", put(*first, to=encode(bytes(64))))
    yield case("a number above n^2", "tally", put(*first, to=encode(b"\xff" * 64)))
    yield case("a number and n^2", "tally", put(*first, to=encode(key.square.to_bytes(64, "big"))))
    nobody = [
        *own.entries[:4],
        own.entries[CLOSE],
        Entry("tally", {**own.tally_body([1] * 8), "counted": 0, "weight": 0, "election": own.id}),
    ]
    yield Case("tallies", "of nobody", None, record(nobody))


def shares() -> Cases:
    own = trustees()
    key = own.maker.key
    wide = 2 * key.width
    answer = (2 * key.bits + 512 + 7) // 8
    row = 3 * wide + answer

    def case(name: str, check: str | None, change: Change) -> Case:
        return Case("shares", name, check, record(changed(own, SHARE, change)))

    for mark in (0, 3, 7):
        for part, byte in [
            ("c_i", 5),
            ("a", wide + 5),
            ("b", 2 * wide + 5),
            ("z", row - 9),
            ("z's last bit", row - 1),
            ("z's first bit", 3 * wide),
        ]:
            yield case(f"mark {mark}: another {part}", "decryption", put("shares", to=flipped(mark * row + byte)))
    for place, part in enumerate(("c_i", "a", "b")):
        for what, number in {"0": 0, "n^2": key.square, "n": key.n, "a multiple of p": P * 55555, "1": 1}.items():
            yield case(f"{part} is {what}", "decryption", put("shares", to=replaced(place * wide, number, wide)))
    yield case("z is 0", "decryption", put("shares", to=replaced(3 * wide, 0, answer)))
    yield case("z has all bits", "decryption", put("shares", to=replaced(3 * wide, (1 << 8 * answer) - 1, answer)))
    yield case(
        "two rows are exchanged",
        "decryption",
        put(
            "shares", to=lambda text: encode(decode(text)[row : 2 * row] + decode(text)[:row] + decode(text)[2 * row :])
        ),
    )
    for trustee, check in [
        (0, "rules"),
        (2, "decryption"),
        (3, "decryption"),
        (4, "rules"),
        (20, "rules"),
        (21, "rules"),
    ]:
        yield case(f"as trustee {trustee}", check, put("trustee", to=trustee))
    twice = [*own.entries[:13], own.entries[SHARE]]
    yield Case("shares", "twice", "rules", record(twice))
    yield case("a row is missing", "rules", put("shares", to=lambda text: encode(decode(text)[:-row])))
    yield case("a byte is missing", "rules", put("shares", to=lambda text: encode(decode(text)[:-1])))
    yield case("a byte too many", "rules", put("shares", to=lambda text: encode(decode(text) + b"\0")))
    yield case("nothing", "rules", put("shares", to=""))
    one_less = [*own.entries[:12], own.entries[RESULT]]
    yield Case("shares", "one too few", "rules", record(one_less))
    totals = own.totals()
    for name, sign, check in [("negated, with proofs of that", -1, None), ("made again", 1, None)]:
        body = {**own.share_body(2, totals, sign), "election": own.id}
        yield Case(
            "shares",
            f"a third share, {name}",
            check,
            record([*own.entries[:13], Entry("share", body, ""), own.entries[RESULT]]),
        )
        entries = [*own.entries[:12], Entry("share", body, ""), own.entries[RESULT]]
        yield Case("shares", f"another second share, {name}", check, record(entries))
    others = {**own.share_body(2, [*totals[1:], totals[0]]), "election": own.id}
    yield Case("shares", "of other totals", "decryption", record([*own.entries[:12], Entry("share", others, "")]))
    yield from results()


def results() -> Cases:
    own = trustees()

    def case(name: str, check: str | None, change: Change) -> Case:
        return Case("shares", name, check, record(changed(own, RESULT, change)))

    for contest in range(5):
        yield case(f"result: contest {contest} turned round", "result", put("contests", contest, to=turned))
        yield case(
            f"result: a vote more in contest {contest}",
            "result",
            put("contests", contest, 0, to=lambda votes: votes + 1),
        )
        yield case(
            f"result: a vote moved in contest {contest}",
            "result",
            put("contests", contest, to=lambda votes: [votes[0] - 1, votes[1] + 1]),
        )
    yield case("result: contests exchanged", "result", lambda body: body["contests"].insert(0, body["contests"].pop(1)))
    yield case("result: all of it 0", "result", put("contests", to=[[0, 0]] * 5))
    yield case("result: a contest is missing", "rules", lambda body: body["contests"].pop())
    yield case("result: a contest too many", "rules", lambda body: body["contests"].append([1, 2]))
    yield case("result: a candidate is missing", "rules", put("contests", 0, to=[1]))
    yield case("result: a candidate too many", "rules", put("contests", 0, to=[1, 2, 0]))
    yield case("result: nothing", "rules", put("contests", to=[]))


def turned(votes: list[int]) -> list[int]:
    """The votes in another order; one more where the order makes no difference."""
    return votes[::-1] if votes[0] != votes[1] else [votes[0] + 1, votes[1]]


def openings() -> Cases:
    own = one_holder()
    n = own.maker.n

    def case(name: str, check: str | None, change: Change, at: int = OPENING) -> Case:
        return Case("openings", name, check, record(changed(own, at, change)))

    narrow = own.maker.key.narrow
    for contest, mark in [(0, 0), (0, 1), (1, 0)]:
        path = ("contests", contest, mark)
        where = f"contest {contest}, mark {mark}"
        yield case(f"{where}: another opening", "decryption", put(*path, "opening", to=flipped(9)))
        yield case(f"{where}: another number", "decryption", put(*path, "plaintext", to=flipped(31)))
        yield case(
            f"{where}: the negative opening",
            "decryption",
            put(*path, "opening", to=lambda text: encode(narrow(n - int.from_bytes(decode(text), "big")))),
        )
        for what, number in {"0": 0, "n": n, "above n": 2**256 - 1, "1": 1}.items():
            yield case(
                f"{where}: an opening of {what}",
                "decryption",
                put(*path, "opening", to=encode(number.to_bytes(32, "big"))),
            )
        for what, number in {"n": n, "above n": 2**256 - 1}.items():
            yield case(
                f"{where}: a number of {what}",
                "decryption",
                put(*path, "plaintext", to=encode(number.to_bytes(32, "big"))),
            )
        for part in ("opening", "plaintext"):
            yield case(f"{where}: a short {part}", "rules", put(*path, part, to=lambda text: encode(decode(text)[1:])))
            yield case(
                f"{where}: a long {part}", "rules", put(*path, part, to=lambda text: encode(b"\0" + decode(text)))
            )
    yield case("openings exchanged", "decryption", put("contests", 0, to=lambda marks: marks[::-1]))
    yield case("a mark is missing", "rules", put("contests", 0, to=lambda marks: marks[:-1]))
    yield case("a contest is missing", "rules", lambda body: body["contests"].pop())
    entries = own.entries
    yield Case("openings", "none", "rules", record([*entries[:OPENING], entries[OPENED]]))
    yield Case("openings", "two", "rules", record([*entries[:OPENED], entries[OPENING]]))
    yield Case("openings", "before the tally", "rules", record([*entries[:8], entries[OPENING]]))
    for at, contest in ((0, 0), (1, 1)):
        yield case(f"result: contest {contest} turned round", "result", put("contests", at, to=turned), OPENED)


FAMILIES: list[Callable[[], Cases]] = [
    chain, heads, encodings, keys, dealer, signatures, rules, proofs, tallies, shares, openings,
]  # fmt: skip


def cases() -> Cases:
    for family in FAMILIES:
        yield from family()
