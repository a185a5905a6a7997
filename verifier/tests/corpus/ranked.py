"""Orders of candidates: a mark for each rank and candidate, and sums of both."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

from cases import Case, Cases, Change, changed, flipped, put, ranks, record, replaced
from honest import VOTERS, Body, Entry, order
from making import decode, encode
from terms import hash_of

# Where entries are in the record of ranks.
FIRST, BALLOT, CHALLENGE, RESULT = 0, 4, 6, 11
GOOD = [order(3, 0, 1, 2), order(3, 2, 0), order(2, 0)]


def ranked() -> Cases:
    yield Case("ranks", "the record", None, record(ranks().entries))
    yield from orders()
    yield from sums()
    yield from opened()
    yield from manifests()
    yield from weights()
    yield from results()


def orders() -> Cases:
    """What marks hold, with the best proofs that there are."""
    own = ranks()

    def ballot(name: str, contest: int, held: list[int], check: str | None, **how: Any) -> Case:
        choices = [held if at == contest else one for at, one in enumerate(GOOD)]
        body, _ = own.ballot("anna", choices, **how)
        return Case(
            "ranks", f"contest {contest}: {name}", check, record([*own.entries[:BALLOT], Entry("ballot", body)])
        )

    for some in permutations(range(3)):
        yield ballot(f"order {some}", 0, order(3, *some), None)
        yield ballot(f"order {some[:2]}", 1, order(3, *some[:2]), None)
    yield ballot("order (1,)", 2, order(2, 1), None)
    for contest, name, held in [
        (0, "a rank twice", [1, 1, 0, 0, 0, 0, 0, 0, 1]),
        (0, "a candidate at two ranks", [1, 0, 0, 1, 0, 0, 0, 0, 1]),
        (0, "a candidate at every rank", [1, 0, 0, 1, 0, 0, 1, 0, 0]),
        (0, "nobody at the last rank", [1, 0, 0, 0, 1, 0, 0, 0, 0]),
        (0, "nobody", [0] * 9),
        (0, "everybody everywhere", [1] * 9),
        (1, "a rank twice", [1, 1, 0, 0, 0, 0]),
        (1, "a candidate at two ranks", [0, 1, 0, 0, 1, 0]),
        (1, "nobody at the second rank", [1, 0, 0, 0, 0, 0]),
        (1, "nobody", [0] * 6),
        (2, "a rank twice", [1, 1]),
        (2, "nobody", [0, 0]),
    ]:
        yield ballot(name, contest, held, "ballots")
    balanced = {(0, 0): 2, (0, 1): -1, (0, 3): -1, (0, 4): 2}
    yield ballot("marks of 2 that balance", 0, GOOD[0], "ballots", instead=balanced)
    balanced = {(1, 0): -1, (1, 2): 2, (1, 3): 2, (1, 5): -1}
    yield ballot("marks of 2 that balance", 1, GOOD[1], "ballots", instead=balanced)
    yield ballot("a mark of 2 alone", 2, GOOD[2], "ballots", instead={(2, 0): 2, (2, 1): -1})
    yield ballot("proofs of sums that are not numbered", 0, GOOD[0], "ballots", numbered=False)


def sums() -> Cases:
    """Proofs of sums: exchanged, left out, changed."""
    own = ranks()
    key = own.maker.key
    widths = [[own.read.sum_bytes(one) for one in contest.sums] for contest in own.read.contests]

    def case(name: str, check: str | None, contest: int, change: Callable[[str], str] | str | None) -> Case:
        changed_at = changed(own, BALLOT, put("contests", contest, "sum", to=change))
        return Case("ranks", f"contest {contest}, sums: {name}", check, record(changed_at))

    def parts(text: str, contest: int) -> list[bytes]:
        data, found = decode(text), []
        for width in widths[contest]:
            found.append(data[:width])
            data = data[width:]
        return found

    def exchanged(contest: int, one: int, other: int) -> Callable[[str], str]:
        def apply(text: str) -> str:
            proofs = parts(text, contest)
            proofs[one], proofs[other] = proofs[other], proofs[one]
            return encode(b"".join(proofs))

        return apply

    def without(contest: int, one: int) -> Callable[[str], str]:
        def apply(text: str) -> str:
            proofs = parts(text, contest)
            del proofs[one]
            return encode(b"".join(proofs))

        return apply

    for contest, one, other in [(0, 0, 1), (0, 0, 3), (0, 3, 5), (1, 0, 1), (1, 2, 4), (1, 1, 2)]:
        yield case(f"{one} and {other} are exchanged", "ballots", contest, exchanged(contest, one, other))
    for contest, one in [(0, 0), (0, 5), (1, 1), (1, 4), (2, 0)]:
        yield case(f"without {one}", "rules", contest, without(contest, one))
    for contest in range(3):
        yield case("none", "rules", contest, None)
        yield case("one byte more", "rules", contest, lambda text: encode(decode(text) + bytes(1)))
        start = 0
        for number, width in enumerate(widths[contest]):
            yield case(f"another answer in {number}", "ballots", contest, flipped(start + width - 1))
            yield case(f"another commitment in {number}", "ballots", contest, flipped(start + 20))
            start += width
    candidates = sum(widths[1][:2])
    for what, number in {"0": 0, "n^2": key.square, "n": key.n}.items():
        for place, start in {"a rank": 0, "a candidate": candidates}.items():
            name = f"a commitment of {place} that is {what}"
            yield case(name, "ballots", 1, replaced(start, number, 2 * key.width))
    others = own.entries[BALLOT + 1].body["contests"][0]["sum"]
    yield case("those of another voter", "ballots", 0, others)


def opened() -> Cases:
    own = ranks()

    def case(name: str, change: Change) -> Case:
        return Case("ranks", f"challenge: {name}", "challenges", record(changed(own, CHALLENGE, change)))

    def exchange(body: Any) -> None:
        openings = body["openings"][0]
        openings[:3], openings[3:6] = openings[3:6], openings[:3]

    def exchange_values(body: Any) -> None:
        one, other = body["openings"][0][0], body["openings"][0][1]
        one["value"], other["value"] = other["value"], one["value"]

    yield case("two ranks are exchanged", exchange)
    yield case("two values are exchanged", exchange_values)
    yield case("another sum", put("ballot", "contests", 1, "sum", to=flipped(80)))


def manifests() -> Cases:
    def case(name: str, check: str | None, change: Change) -> Case:
        return Case("ranks", f"manifest: {name}", check, record(changed(ranks(), FIRST, change)))

    method = ("contests", 0, "method")
    for what, points, check in [
        ("rise", [1, 2, 3], "election"),
        ("are equal", [2, 2, 1], "election"),
        ("are equal at the end", [3, 1, 1], "election"),
        ("end in 0", [2, 1, 0], "election"),
        ("begin with 65536", [65536, 2, 1], "election"),
        ("begin with 65535", [65535, 2, 1], None),
        ("begin with 2^53 - 1", [2**53 - 1, 2, 1], "election"),
        ("begin with 2^53", [2**53, 2, 1], "chain"),
        ("are none", [], "election"),
        ("are for a rank more than candidates", [4, 3, 2, 1], "election"),
        ("are for one rank", [7], None),
        ("are for two ranks", [7, 3], None),
        ("are negative", [2, 1, -1], "chain"),
        ("have a text", [3, 2, "1"], "chain"),
        ("have null", [3, 2, None], "chain"),
        ("are a number", 3, "chain"),
        ("are null", None, "chain"),
    ]:
        yield case(f"points {what}", check, put(*method, "rank", "points", to=points))
    for what, value in {
        "without points": {"rank": {}},
        "of a list": {"rank": [3, 2, 1]},
        "of text": "rank",
        "with another member": {"rank": {"points": [3, 2, 1], "ties": True}},
        "with another method": {"choose": {"exactly": 1}, "rank": {"points": [3, 2, 1]}},
        "that is null": {"rank": None},
    }.items():
        yield case(f"a method {what}", "chain", put(*method, to=value))
    yield case("a blank vote", "election", put("contests", 0, "blank", to=True))
    yield case("a blank vote with one rank", "election", put("contests", 2, "blank", to=True))
    yield case("candidates that are shuffled", None, put("contests", 0, "shuffled", to=True))

    def of(candidates: int, count: int) -> Body:
        names = [f"candidate {one}" for one in range(candidates)]
        return {"candidates": names, "method": {"rank": {"points": list(range(count, 0, -1))}}, "title": "Many"}

    for what, contests, check in [
        ("22 ranks of 22", [of(22, 22)], None),
        ("23 ranks of 23", [of(23, 23)], "election"),
        ("two ranks of 256", [of(256, 2)], None),
        ("two ranks of 256, and one of one", [of(256, 2), of(1, 1)], "election"),
        ("three ranks of 171", [of(171, 3)], "election"),
        ("one rank of one", [of(1, 1)], None),
    ]:
        yield case(what, check, put("contests", to=contests))


def weights() -> Cases:
    """A candidate's points stay below 2^53, whatever is voted."""

    def case(name: str, first: int, voters: int, check: str | None) -> Case:
        manifest = changed(ranks(), FIRST, put("contests", 1, "method", "rank", "points", to=[first, 1]))[0]
        listed = [
            {"id": f"voter {number}", "key": encode(VOTERS["anna"].public), "weight": 2**32} for number in range(voters)
        ]
        entry = Entry("voters", {"election": hash_of(manifest), "voters": listed})
        return Case("ranks", f"weights: {name}", check, record([manifest, entry]))

    yield case("32 voters of 2^32, 65535 points", 65535, 32, None)
    yield case("33 voters of 2^32, 65535 points", 65535, 33, "rules")
    yield case("63 voters of 2^32, 32769 points", 32769, 63, None)
    yield case("64 voters of 2^32, 32768 points", 32768, 64, "rules")


def results() -> Cases:
    own = ranks()

    def case(name: str, check: str, change: Callable[[list[int]], list[int]]) -> Case:
        return Case("ranks", f"result: {name}", check, record(changed(own, RESULT, put("contests", 0, to=change))))

    yield case("a point moves", "result", lambda votes: [votes[0] + 1, votes[1] - 1, *votes[2:]])
    yield case("points are exchanged", "result", lambda votes: [votes[1], votes[0], *votes[2:]])
    yield case("counts are exchanged", "result", lambda votes: [*votes[:4], votes[5], votes[4], *votes[6:]])
    yield case("counts before points", "result", lambda votes: [*votes[3:], *votes[:3]])
    turned = lambda votes: [votes[3 + 3 * rank + one] for one in range(3) for rank in range(3)]  # noqa: E731
    yield case("candidate by candidate", "result", lambda votes: [*votes[:3], *turned(votes)])
    yield case("points alone", "rules", lambda votes: votes[:3])
    yield case("counts alone", "rules", lambda votes: votes[3:])
    yield case("a number more", "rules", lambda votes: [*votes, 0])
