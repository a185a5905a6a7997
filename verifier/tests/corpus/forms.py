"""Bodies and lines in other forms than the one there is, and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cases import (
    BALLOT,
    CHALLENGE,
    LISTED,
    OPENING,
    RESULT,
    SHARE,
    TALLY,
    Case,
    Cases,
    changed,
    files_of,
    one_holder,
    put,
    record,
    single,
    trustees,
)
from honest import (
    lines_of,
)
from making import (
    verifier,
)


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
            # Earlier versions had no proof of the key's factors, and no keys of trustees: these are
            # refused by name.
            check = "election" if path[-1] in ("blum", "signing") else "chain"
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
        ("with a space that does not break", "a\xa0b", True), ("with a separator of lines", "a\u2028b", False),
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
