"""Keys and candidates that must not be, and dealers who are dishonest."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from cases import (
    Case,
    Cases,
    Change,
    flipped,
    put,
    single,
    trustees,
    with_key,
)
from honest import (
    BOARD,
    CONTESTS,
    ORGANISER,
    TRUSTEES,
    Body,
    trustees_of,
)
from making import (
    Dealing,
    Maker,
    P,
    Q,
    decode,
    encode,
    is_prime,
    prime_from,
)
from signatures import bad_keys

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
        ("a prime factor", P, False), ("a multiple of one", 12345 * Q, False),
        ("1 modulo a prime factor", 12345 * P + 1, False), ("-1 modulo one", 12345 * Q - 1, False),
        ("n", n, False), ("above n", n + 2, False),
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
    # Nothing shows that both are long, and nothing needs it: what is proven is proven modulo the
    # longer one.
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
        # The polynomial of two is one of three as well: whoever says so asks for a trustee more
        # than it takes.
        yield case(f"says that {needed} are needed", check, put("needed", to=needed))
    yield case("has no trustees", "election", put("keys", to=[]))
    yield case("leaves one out", "election", put("keys", to=lambda keys: keys[:2]))
    many = Dealing(own.maker, 2, 20)
    yield case("deals to twenty", None, lambda of: of.update(trustees_of(many)))
    yield case("deals to twenty-one", "election", lambda of: of.update(keys=[*many.members()["keys"], one]))
    alone = Dealing(own.maker, 1, 1)
    yield case("deals to one", None, lambda of: of.update(trustees_of(alone)))
    yield from signing()


def signing() -> Cases:
    """Keys that trustees' shares are signed with."""

    def case(name: str, check: str | None, change: Change) -> Case:
        return single("dealer", f"signing: {name}", check, lambda body: change(body["trustees"]))

    keys = [encode(signer.public) for signer in TRUSTEES]
    yield case("none, as earlier versions had it", "election", lambda of: of.pop("signing"))
    yield case("null", "chain", put("signing", to=None))
    yield case("an empty list", "election", put("signing", to=[]))
    yield case("a key is missing", "election", put("signing", to=keys[:2]))
    yield case("a key too many", "election", put("signing", to=keys[:4]))
    yield case("another order", None, put("signing", to=keys[2::-1]))
    yield case("one key for two trustees", "election", put("signing", 1, to=keys[0]))
    yield case("the organiser's key", "election", put("signing", 1, to=encode(ORGANISER.public)))
    yield case("the board's key", "election", put("signing", 1, to=encode(BOARD.public)))
    for name, key in bad_keys().items():
        yield case(f"a key {name}", "election", put("signing", 2, to=key))
