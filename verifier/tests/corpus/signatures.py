"""Signatures of others, and points that are none."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from cases import (
    BALLOT,
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
    changed,
    flipped,
    put,
    record,
    trustees,
)
from honest import (
    BOARD,
    ORGANISER,
    TRUSTEES,
    VOTERS,
    Entry,
)
from making import (
    Signer,
    compress,
    decode,
    encode,
    times_base,
    verifier,
)


def signatures() -> Cases:
    own = trustees()
    stranger = Signer("mallory")

    def signed(at: int, signature: str | None = None, by: Signer | None = None) -> dict[str, bytes]:
        entries = list(own.entries[: at + 1])
        entries[at] = Entry(entries[at].kind, entries[at].body, signature, by)
        return record(entries)

    for at in (FIRST, LISTED, OPEN, BALLOT, CHALLENGE, CLOSE, TALLY, SHARE, RESULT):
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
    yield from of_shares(signed)
    yield from torsion(signed)


def of_shares(signed: Callable[..., dict[str, bytes]]) -> Cases:
    """Shares that their trustee did not sign: whoever dealt the key could make the rest of them."""
    own = trustees()
    share, other = own.entries[SHARE], own.entries[SHARE + 1]

    def case(name: str, check: str | None, some: list[Entry]) -> Case:
        return Case("signatures", f"share: {name}", check, record(some))

    before = own.entries[:SHARE]
    for name, signer in {
        "another trustee": TRUSTEES[2], "a trustee of another election": TRUSTEES[7],
        "the organiser": ORGANISER, "the board": BOARD, "a voter": VOTERS["anna"],
    }.items():  # fmt: skip
        yield Case("signatures", f"share: signed by {name}", "signatures", signed(SHARE, by=signer))
    text = verifier.canonical(share.body)
    for name, signature in {
        "of the body alone": TRUSTEES[0].sign("entry", text),
        "as a head": TRUSTEES[0].sign("head", verifier.canonical({"body": share.body, "kind": "share"})),
        "of another kind": TRUSTEES[0].sign("entry", verifier.canonical({"body": share.body, "kind": "tally"})),
        "of the other trustee's share": decode(other.signed()),
        "of zeros": bytes(64),
    }.items():
        yield Case("signatures", f"share: a signature {name}", "signatures", signed(SHARE, encode(signature)))
    # What a dealer can make: the right numbers under the number of another trustee, or its own
    # signature.
    made = {**own.share_body(2, own.totals()), "election": own.id}
    yield case(
        "made by the dealer, signed by another trustee", "signatures", [*before, Entry("share", made, by=TRUSTEES[0])]
    )
    yield case("made by the dealer, signed by nobody", "signatures", [*before, Entry("share", made, "")])
    yield case("signed, of another election", "rules", [*before, Entry("share", {**share.body, "election": "0" * 64})])
    renamed = Entry("share", {**share.body, "trustee": 3}, share.signed())
    yield case("with the name of another trustee", "signatures", [*before, renamed])
    altered = Entry("share", {**share.body, "shares": flipped(9)(share.body["shares"])}, share.signed())
    yield case("altered after it was signed", "signatures", [*before, altered])
    yield case("signed again", None, [*before, Entry("share", share.body, by=TRUSTEES[0]), *own.entries[SHARE + 1 :]])
    yield case(
        "the second is unsigned", "signatures", [*before, share, Entry("share", other.body, ""), own.entries[RESULT]]
    )


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
