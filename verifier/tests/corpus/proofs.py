"""Ballots whose proofs do not hold, and challenges that open something else."""

from __future__ import annotations

from typing import Any

from cases import (
    BALLOT,
    BERT,
    CHALLENGE,
    Case,
    Cases,
    Change,
    changed,
    flipped,
    put,
    record,
    replaced,
    trustees,
)
from honest import (
    Entry,
    held_by_trustees,
)
from making import (
    P,
    Q,
    decode,
    encode,
    verifier,
)


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
    """Squares are compared: signs of ciphertexts and commitments that were there when the hash was
    taken are no fault.
    """
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
