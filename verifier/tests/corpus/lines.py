"""Manipulated lines, files and heads."""

from __future__ import annotations

import re
from collections.abc import Callable

from cases import (
    FIRST_FILE,
    HEADS,
    SECOND_FILE,
    Case,
    Cases,
    files_of,
    flipped,
    text_of,
    trustees,
)
from honest import (
    ORGANISER,
    VOTERS,
    Entry,
    head_of,
    lines_of,
    root_of,
)
from making import (
    Signer,
    verifier,
)


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
        "2026-02-31T20:30:00Z", "2026-02-29T20:30:00Z", "1900-02-29T20:30:00Z", "2026-04-31T20:30:00Z",
        "2026-00-22T20:30:00Z", "2026-13-22T20:30:00Z", "2026-11-00T20:30:00Z", "0000-01-01T20:30:00Z",
        "2026-11-22T24:00:00Z", "2026-11-22T25:30:00Z", "2026-11-22T20:60:00Z", "2016-12-31T23:59:60Z",
    ):  # fmt: skip
        yield case(f"a time as {time!r}", "heads", [head_of(lines, time)])
    for time in ("2028-02-29T20:30:00Z", "2000-02-29T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        yield case(f"a time as {time!r}", None, [head_of(lines, time)])
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
