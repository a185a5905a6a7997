"""Entries that may not come, or not from those, and ballots without their parts."""

from __future__ import annotations

import copy

from cases import (
    BALLOT,
    BERT,
    CHALLENGE,
    CLOSE,
    FIRST,
    LISTED,
    OPEN,
    RESULT,
    SHARE,
    TALLY,
    Case,
    Cases,
    Change,
    changed,
    one_holder,
    put,
    record,
    single,
    trustees,
)
from honest import (
    VOTERS,
    Election,
    Entry,
)
from making import (
    Signer,
    decode,
    encode,
)
from signatures import bad_keys


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
    share = Entry("share", {"election": alone.id, "shares": "", "trustee": 1})
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
