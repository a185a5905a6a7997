"""Wrong tallies, shares, openings and results."""

from __future__ import annotations

from cases import (
    BALLOT,
    CHALLENGE,
    CLOSE,
    OPENED,
    OPENING,
    RESULT,
    SHARE,
    TALLY,
    Case,
    Cases,
    Change,
    changed,
    flipped,
    one_holder,
    put,
    record,
    replaced,
    trustees,
)
from honest import (
    WEIGHTS,
    Entry,
)
from making import (
    P,
    decode,
    encode,
)


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
            record([*own.entries[:13], Entry("share", body), own.entries[RESULT]]),
        )
        entries = [*own.entries[:12], Entry("share", body), own.entries[RESULT]]
        yield Case("shares", f"another second share, {name}", check, record(entries))
    others = {**own.share_body(2, [*totals[1:], totals[0]]), "election": own.id}
    yield Case("shares", "of other totals", "decryption", record([*own.entries[:12], Entry("share", others)]))
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
