"""Keys that trustees generated together: what they say of them, and their shares."""

from __future__ import annotations

from typing import Any

from cases import Case, Cases, Change, changed, flipped, generators, put, record
from honest import ORGANISER, TRUSTEES, trustees_of
from honest import generated as statements
from making import Dealing, decode, encode

#: Where the first share is in the record of trustees who generated their key.
SHARE = 8


def generated() -> Cases:
    election = generators()
    maker, shared = election.maker, election.manifest["trustees"]
    key, signers = election.manifest["key"], TRUSTEES[:3]

    def case(name: str, check: str | None, change: Change, at: int = 0) -> Case:
        return Case("generated", name, check, record(changed(election, at, change)))

    def of_trustees(name: str, check: str | None, change: Change) -> Case:
        return case(name, check, lambda body: change(body["trustees"]))

    def said(name: str, check: str | None, members: Any) -> Case:
        return of_trustees(name, check, put("generated", to=members))

    honest = shared["generated"]
    yield Case("generated", "an election that is held honestly", None, record(election.entries))
    yield said("the same statements again", None, statements(key, shared, signers))
    texts = honest["statements"]
    for name, some in [
        ("no statements", []), ("a statement less", texts[:2]), ("a statement more", [*texts, texts[0]]),
        ("one statement three times", [texts[0]] * 3), ("two statements exchanged", [texts[1], texts[0], texts[2]]),
        ("an empty statement", [*texts[:2], ""]), ("a short statement", [*texts[:2], encode(decode(texts[2])[1:])]),
    ]:  # fmt: skip
        yield said(name, "election", {**honest, "statements": some})
    yield said("another transcript", "election", {**honest, "transcript": "0" * 64})
    yield said("statements of another transcript", "election", statements(key, shared, signers, transcript="0" * 64))
    yield said("statements that more are needed", "election", statements(key, shared, signers, needed=3))
    others = Dealing(maker, 2, 3, generated=True).members()
    yield said("statements of another sharing", "election", statements(key, {**shared, **others}, signers))
    other_key = {**key, "roots": key["roots"][::-1]}
    yield said("statements of other roots", "election", statements(other_key, shared, signers))
    yield said("statements that all say to be the first's", "election", statements(key, shared, signers, trustee=1))
    yield said("statements with a member more", "election", statements(key, shared, signers, closes=True))
    for tag in ("entry", "head", "receipt"):
        yield said(f"statements signed as if they were a {tag}", "election", statements(key, shared, signers, tag))
    for at in range(3):
        signed_by = [*signers[:at], ORGANISER, *signers[at + 1 :]]
        name = f"the organiser signs for trustee {at + 1}"
        yield said(name, "election", statements(key, shared, signed_by))
    for name, members in [
        ("null", None), ("an empty object", {}), ("a list", []), ("no transcript", {"statements": texts}),
        ("no list of statements", {"transcript": honest["transcript"]}), ("a member more", {**honest, "run": 1}),
        ("a transcript in capitals", {**honest, "transcript": honest["transcript"].upper()}),
        ("a short transcript", {**honest, "transcript": honest["transcript"][1:]}),
        ("a number for a statement", {**honest, "statements": [*texts[:2], 1]}),
    ]:  # fmt: skip
        yield said(f"statements: {name}", "chain", members)
    yield from sharings(case)
    # Without statements the key counts as dealt, and shares are too long.
    yield of_trustees("the statements left out", None, lambda of: of.pop("generated"))


def sharings(case: Any) -> Cases:
    """How many trustees there are and are needed, and how long their shares are."""
    election = generators()
    for needed, trustees, check in [
        (2, 3, None), (3, 5, None), (4, 7, None), (2, 9, None), (5, 9, None), (1, 3, "election"), (2, 2, "election"),
        (3, 4, "election"), (3, 3, "election"), (5, 8, "election"), (2, 10, "election"), (1, 1, "election"),
    ]:  # fmt: skip
        dealing = Dealing(election.maker, needed, trustees, generated=True)
        name = f"{needed} of {trustees} trustees"
        yield case(name, check, lambda body, dealing=dealing: body["trustees"].update(trustees_of(dealing)))
    for name, change in [
        ("a byte shorter", lambda text: encode(decode(text)[:-1])),
        ("a byte longer", lambda text: encode(decode(text) + b"\0")),
        ("of the length of a dealt key's", lambda text: encode(decode(text)[: 3 * 64 + 128])),
    ]:  # fmt: skip
        yield case(f"a share {name}", "rules", put("shares", to=change), SHARE)
    yield case("a share with another answer", "decryption", put("shares", to=flipped(-1)), SHARE)
