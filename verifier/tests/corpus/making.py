"""What honest and dishonest makers of a record need: keys, proofs and signatures, as
docs/explanation/election.md has them.

Everything random comes from one generator with a fixed seed, so that a corpus is the same every
time. The key's primes have 128 bits and are printed here: nothing of this protects anything.
"""

from __future__ import annotations

import base64
import hashlib
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import factorial, lcm
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import hearith_verify as verifier

RANDOM = random.Random("the corpus of manipulated records")
# Two safe primes.
P = 0xDD3387279F5901D32FB1A64EFACB59AB
Q = 0xE0E272366445AC87EB40108030C07DFB


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# Signatures ---------------------------------------------------------------------------------------


@cache
def powers_of_base() -> list[list[verifier.Point]]:
    """Multiples of the base point by every digit of four bits in every place."""
    rows, unit = [], verifier.BASE
    for _ in range(64):
        row = [verifier.NEUTRAL]
        for _ in range(15):
            row.append(verifier.add(row[-1], unit))
        rows.append(row)
        unit = verifier.add(row[-1], unit)
    return rows


def times_base(scalar: int) -> verifier.Point:
    result = verifier.NEUTRAL
    for place, row in enumerate(powers_of_base()):
        result = verifier.add(result, row[scalar >> (4 * place) & 15])
    return result


def compress(point: verifier.Point) -> bytes:
    inverse = pow(point[2], -1, verifier.P)
    x, y = point[0] * inverse % verifier.P, point[1] * inverse % verifier.P
    return (y | (x & 1) << 255).to_bytes(32, "little")


class Signer:
    """RFC 8032, 5.1.5 and 5.1.6, with a secret that follows from a name."""

    def __init__(self, name: str) -> None:
        digest = hashlib.sha512(hashlib.sha256(f"the secret of {name}".encode()).digest()).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
        self.prefix = digest[32:]
        self.public = compress(times_base(self.scalar))
        self.known: dict[bytes, bytes] = {}

    def sign(self, tag: str, text: str) -> bytes:
        message = f"hearith-election 1 {tag}\n{text}".encode()
        if message not in self.known:
            r = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % verifier.ORDER
            big_r = compress(times_base(r))
            h = int.from_bytes(hashlib.sha512(big_r + self.public + message).digest(), "little") % verifier.ORDER
            s = (r + h * self.scalar) % verifier.ORDER
            self.known[message] = big_r + s.to_bytes(32, "little")
        return self.known[message]


# Keys ---------------------------------------------------------------------------------------------


def is_prime(number: int) -> bool:
    """Fermat's test to several bases, which none of the numbers here deceives."""
    return all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7, 11, 13))


def prime_from(start: int, rest: int, modulo: int = 4) -> int:
    """The first prime from a number on that has this rest."""
    number = start + (rest - start) % modulo
    while not is_prime(number):
        number += modulo
    return number


def square_root(number: int, prime: int) -> int:
    """A root of a square modulo a prime, by Tonelli's method."""
    if prime % 4 == 3:
        return pow(number, (prime + 1) // 4, prime)
    odd, twos = prime - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    other = next(one for one in range(2, 1000) if pow(one, (prime - 1) // 2, prime) == prime - 1)
    step, root, rest = pow(other, odd, prime), pow(number, (odd + 1) // 2, prime), pow(number, odd, prime)
    while rest != 1:
        order, power = 0, rest
        while power != 1:
            order, power = order + 1, power * power % prime
        factor = pow(step, 1 << (twos - order - 1), prime)
        root, step = root * factor % prime, factor * factor % prime
        rest, twos = rest * step % prime, order
    return root


def combined(rests: Sequence[int], moduli: Sequence[int]) -> int:
    """The number with these rests."""
    number, product = 0, 1
    for rest, modulus in zip(rests, moduli, strict=True):
        number += product * ((rest - number) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return number


@dataclass
class Maker:
    """A key by its prime powers, with all that its owner can show of it, or as much as there is to
    show.
    """

    primes: dict[int, int]
    h: int = 0
    n: int = 1
    key: verifier.Key = field(init=False)

    def __post_init__(self) -> None:
        for prime, exponent in self.primes.items():
            self.n *= prime**exponent
        # -x^2, as keys are made.
        self.h = self.h or -(RANDOM.randrange(self.n) ** 2) % self.n
        self.key = verifier.Key(self.n, self.h)

    def roots(self) -> list[int]:
        """`n`-th roots; where there are none the numbers themselves."""
        order = 1
        for prime, exponent in self.primes.items():
            order = lcm(order, (prime - 1) * prime ** (exponent - 1))
        numbers = [verifier.hashed(self.key, "roots", index) for index in range(11)]
        try:
            inverse = pow(self.n, -1, order)
        except ValueError:
            return numbers
        return [pow(number, inverse, self.n) for number in numbers]

    def square_roots(self) -> list[int]:
        """Roots of the one of `y`, `w y`, `-y`, `-w y` that is a square, or 1 where none is."""
        w = next((w for w in range(2, 1000) if verifier.jacobi(w, self.n) == -1), 2)
        return [self.square_root_of(verifier.hashed(self.key, "blum", index), w) for index in range(128)]

    def square_root_of(self, y: int, w: int) -> int:
        moduli = [prime**exponent for prime, exponent in self.primes.items()]
        for one in (y, w * y, -y, -w * y):
            if all(pow(one, (prime - 1) // 2, prime) == 1 for prime in self.primes):
                roots = []
                for prime, exponent in self.primes.items():
                    root = square_root(one, prime)
                    for _ in range(exponent):
                        root = (root - (root * root - one) * pow(2 * root, -1, prime**exponent)) % prime**exponent
                    roots.append(root)
                return combined(roots, moduli)
        return 1

    def members(self) -> dict[str, object]:
        """The key as an election has it."""
        narrow = self.key.narrow
        return {
            "blum": [encode(narrow(root)) for root in self.square_roots()],
            "generator": encode(narrow(self.h)),
            "modulus": encode(narrow(self.n)),
            "roots": [encode(narrow(root)) for root in self.roots()],
        }


def draw_opening(key: verifier.Key) -> int:
    return RANDOM.getrandbits(key.short_bits)


# Proofs -------------------------------------------------------------------------------------------

Context = tuple[bytes, bytes]


def residue(key: verifier.Key, context: Context, bits: int, u: int, opening: int, sign: int = 1) -> bytes:
    """That u is a power of h^n; with its commitment negated where that is asked for."""
    rho = RANDOM.getrandbits(bits + 384)
    a = sign * key.power_of_base(rho) % key.square
    e = verifier.transcript("residue, short", *context, key.narrow(key.n), key.narrow(key.h), key.wide(u), key.wide(a))
    return key.wide(a) + (rho + e * opening).to_bytes(verifier.response_bytes(bits), "big")


def membership(
    key: verifier.Key,
    context: Context,
    bits: int,
    numbers: list[int],
    c: int,
    opening: int,
    chosen: int,
    sign: int = 1,
) -> bytes:
    """That c holds one of the numbers; the others' sides are simulated.

    Of a lie the proof does not hold.
    """
    challenges = [RANDOM.getrandbits(256) for _ in numbers]
    answers = [RANDOM.getrandbits(bits + 384) for _ in numbers]
    commitments = []
    for side, (number, e, z) in enumerate(zip(numbers, challenges, answers, strict=True)):
        u = c * (1 - number * key.n) % key.square
        simulated = key.power_of_base(z) * pow(pow(u, e, key.square), -1, key.square)
        commitments.append(sign * (key.power_of_base(z) if side == chosen else simulated) % key.square)
    wanted = verifier.transcript(
        "membership, short", *context, key.narrow(key.n), key.narrow(key.h),
        b"".join(key.narrow(number) for number in numbers), key.wide(c), b"".join(key.wide(a) for a in commitments),
    )  # fmt: skip
    challenges[chosen] = (wanted - sum(challenges) + challenges[chosen]) % (1 << 256)
    answers[chosen] += challenges[chosen] * opening
    width = verifier.response_bytes(bits)
    sides = zip(commitments, challenges, answers, strict=True)
    return b"".join(key.wide(a) + e.to_bytes(32, "big") + z.to_bytes(width, "big") for a, e, z in sides)


# Trustees -----------------------------------------------------------------------------------------


@dataclass
class Dealing:
    """A key that is shared, by a dealer who may be dishonest about `d`.

    Of a key that the trustees are said to have generated together, shares are as long as those may
    be.
    """

    maker: Maker
    needed: int
    trustees: int
    d: int = 1
    generated: bool = False

    def __post_init__(self) -> None:
        key = self.maker.key
        half = (P - 1) // 2 * ((Q - 1) // 2)
        modulus = key.n * half
        first = half * pow(half, -1, key.n) * self.d
        coefficients = [first, *(RANDOM.randrange(modulus) for _ in range(self.needed - 1))]
        places = range(1, self.trustees + 1)
        self.secrets = [sum(a * i**power for power, a in enumerate(coefficients)) % modulus for i in places]
        self.bits = 2 * key.bits
        if self.generated:
            self.bits = verifier.generated_bits(key.bits, self.needed, self.trustees)
            multiple = modulus << (self.bits - modulus.bit_length() - 1)
            self.secrets = [secret + multiple for secret in self.secrets]
        self.base = ((1 + key.n) * pow(verifier.hashed(key, "base", 0), key.n, key.square)) ** 2 % key.square
        self.delta = factorial(self.trustees)
        self.keys = [pow(self.base, self.delta * secret, key.square) for secret in self.secrets]

    def members(self) -> dict[str, object]:
        wide = self.maker.key.wide
        return {
            "base": encode(wide(self.base)),
            "keys": [encode(wide(one)) for one in self.keys],
            "needed": self.needed,
        }

    def share(self, trustee: int, contexts: list[Context], totals: list[int], sign: int = 1) -> bytes:
        """Shares of all totals, each with its proof; negated where that is asked for."""
        key, bits = self.maker.key, self.bits + 512
        exponent = self.delta * self.secrets[trustee - 1]
        counters = b"".join(one.to_bytes(4, "big") for one in (self.needed, self.trustees, trustee))
        rows = []
        for context, c in zip(contexts, totals, strict=True):
            rho = RANDOM.getrandbits(bits - 1)
            c_i = sign * pow(c, 2 * exponent, key.square) % key.square
            a, b = pow(c, 4 * rho, key.square), pow(self.base, rho, key.square)
            wides = [key.wide(one) for one in (self.base, self.keys[trustee - 1], c, c_i, a, b)]
            e = verifier.transcript("share", *context, key.narrow(key.n), counters, *wides)
            z = rho + e * exponent
            rows.append(b"".join(key.wide(one) for one in (c_i, a, b)) + z.to_bytes((bits + 7) // 8, "big"))
        return b"".join(rows)
