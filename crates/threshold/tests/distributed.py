"""An independent implementation of distributed key generation with Python integers and GMP.

    distributed.py SEED BITS NEEDED TRUSTEES CANDIDATES VARIANT

computes a run of all trustees from their seeds and verifies every equation of its specification,
crates/threshold/src/distributed/README.md. It writes the hash of every message (without its
signature), the numbers of the key and all shares. A test of the crate compares its own messages and
keys with those in `distributed.txt`.
"""

import hashlib
import math
import sys

import gmpy2
from gmpy2 import mpz

MERSENNE = [127, 521, 607, 1279, 2203, 2281, 3217, 4253, 4423, 9689, 9941, 11213, 19937]
SIEVE = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61]
TESTS = 128
STAGES = ["hello", "seeds", "coin", "shares", "product commitments", "products", "answer commitments", "answers"]
STAGES += ["agreement", "opening", "opening agreement", "test commitments", "tests", "blinding"]
STAGES += ["result commitments", "results", "verification", "key agreement", "done"]


def derive(label: str, *parts: bytes) -> bytes:
    """The specified hash: the label and all parts, each preceded by its length."""
    parts = (b"hearith-distributed 1 " + label.encode(), *parts)
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()


class Stream:
    """The stream of numbers derived from a seed."""

    def __init__(self, seed: bytes) -> None:
        self.seed, self.counter, self.rest = seed, 0, b""

    def bytes(self, count: int) -> bytes:
        while len(self.rest) < count:
            self.rest += hashlib.sha256(self.seed + self.counter.to_bytes(8, "big")).digest()
            self.counter += 1
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, bits: int) -> int:
        return int.from_bytes(self.bytes(-(-bits // 8)), "big") % (1 << bits)

    def below(self, bound: int) -> int:
        return int.from_bytes(self.bytes(8), "big") * bound >> 64


class Sizes:
    """All lengths, derived from the parameters of the key."""

    def __init__(self, bits: int, needed: int, trustees: int, candidates: int, variant: str) -> None:
        self.bits, self.needed, self.trustees, self.candidates = bits, needed, trustees, candidates
        self.variant = variant
        self.everybody = range(1, trustees + 1)
        self.prime_bits, self.factorial = bits // 2, math.factorial(trustees)
        powers = sum(trustees**power for power in range(needed)).bit_length()
        of_trustees, of_factorial = trustees.bit_length(), self.factorial.bit_length()
        self.coefficient_bits = self.prime_bits + 128 + of_factorial + needed - 1
        self.share_bits = self.coefficient_bits + powers
        self.rho_bits = bits + 128 + of_trustees
        self.blind_coefficient_bits = self.rho_bits + 128 + of_factorial + needed - 1
        self.blind_share_bits = self.blind_coefficient_bits + 1 + powers
        self.result_bits = of_factorial + of_trustees + bits + self.rho_bits + 1
        self.field_bits = next(m for m in MERSENNE if m > bits)
        self.wide_bits = next(m for m in MERSENNE if m > self.result_bits)
        # The sieve: primes as long as 4 times their product has at most a quarter of a prime's
        # bits.
        self.period, self.primes = 4, []
        for prime in SIEVE:
            if (self.period * prime).bit_length() <= self.prime_bits // 4:
                self.period *= prime
                self.primes.append(prime)
        self.multiple_bits = self.prime_bits - 2 - (of_trustees + self.period.bit_length() + 1)
        self.base = -(-3 * 2 ** (self.prime_bits - 2) // self.period) * self.period

    def unit(self, modulus: int) -> int:
        """The number that is 1 modulo one factor of the period and 0 modulo the others."""
        others = self.period // modulus
        return others * int(gmpy2.invert(others, modulus))

    def own_primes(self, trustee: int) -> list[int]:
        return [prime for index, prime in enumerate(self.primes) if index % self.trustees == trustee - 1]

    def to_bytes(self) -> bytes:
        numbers = [self.bits, self.needed, self.trustees, self.candidates]
        return b"".join(number.to_bytes(4, "big") for number in numbers) + self.variant.encode()

    def lagrange(self, chosen: list[int]) -> list[int]:
        """D times the Lagrange coefficients at 0."""
        found = []
        for i in chosen:
            over = math.prod(j for j in chosen if j != i)
            under = math.prod(j - i for j in chosen if j != i)
            assert self.factorial * over % under == 0
            found.append(self.factorial * over // under)
        return found


def be(number: int, bits: int) -> bytes:
    return int(number).to_bytes(-(-bits // 8), "big")


def value(polynomial: list[int], at: int) -> int:
    return sum(coefficient * at**power for power, coefficient in enumerate(polynomial))


class Contribution:
    """One trustee's contribution to one candidate."""

    def __init__(self, sizes: Sizes, trustee: int, seed: bytes, coin: bytes) -> None:
        self.numbers, self.polynomials = [], []
        stream = Stream(derive("candidate", seed, coin, bytes([trustee])))
        for _ in range(2):
            number = stream.number(sizes.multiple_bits) * sizes.period
            if trustee == 1:
                number += 3 * sizes.unit(4) + sizes.base
            for prime in sizes.own_primes(trustee):
                number += (2 + stream.below(prime - 2)) * sizes.unit(prime)
            more = [stream.number(sizes.coefficient_bits) for _ in range(sizes.needed - 1)]
            self.numbers.append(number)
            self.polynomials.append([sizes.factorial * number, *more])


def hashed(proof: str, n: int, bits: int, count: int) -> list[int]:
    """Numbers modulo n derived from a hash of n (crates/proofs/README.md)."""
    width = -(-bits // 8) + 16
    numbers = []
    for index in range(count):
        blocks = b""
        for block in range(-(-width // 32)):
            counters = index.to_bytes(4, "big") + block.to_bytes(4, "big")
            parts = [b"hearith-proofs 1 " + proof.encode(), be(n, bits), counters]
            hashed_parts = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
            blocks += hashlib.sha256(hashed_parts).digest()
        numbers.append(int.from_bytes(blocks[:width], "big") % n)
    return numbers


def has_small_factor(n: int) -> bool:
    return gmpy2.gcd(n, SMALL) > 1


SMALL = gmpy2.primorial((1 << 16) - 1) // 2


class Run:
    """All trustees of a run, computed from their seeds."""

    def __init__(self, sizes: Sizes, masters: list[bytes], session: bytes) -> None:
        self.sizes, self.masters, self.session = sizes, masters, session
        self.view, self.round, self.messages = session, 0, []

    def send(self, stage: str, broadcasts: list[bytes], private: list[list[bytes]] | None = None) -> None:
        """Sends each trustee's broadcast and private messages of a round."""
        sizes = self.sizes
        for sender in sizes.everybody:
            for receiver in sizes.everybody:
                if sender == receiver:
                    continue
                secret = private[sender - 1][receiver - 1] if private else b""
                message = b"HDKG\x01" + bytes([0, STAGES.index(stage), sender, receiver])
                message += self.round.to_bytes(4, "big") + self.session + self.view
                message += len(broadcasts[sender - 1]).to_bytes(4, "big") + len(secret).to_bytes(4, "big")
                message += broadcasts[sender - 1] + secret
                self.messages.append((stage, sender, receiver, message))
        self.view = derive("view", self.view, *broadcasts)
        self.round += 1

    def committed(self, commitments: str, opened: str, batch: int, contents: list[bytes]) -> None:
        stage = STAGES.index(commitments)
        texts = []
        for master, content in zip(self.masters, contents, strict=True):
            texts.append(derive("nonce", master, batch.to_bytes(4, "big"), bytes([stage])) + content)
        hashes = [derive("commitment", bytes([trustee]), text) for trustee, text in enumerate(texts, 1)]
        self.send(commitments, hashes)
        self.send(opened, texts)

    def key(self) -> dict:
        """Runs the protocol and returns the numbers of the key."""
        self.send("hello", [derive("master", master) for master in self.masters])
        batch = 0
        while (survivor := self.batch(batch)) is None:
            batch += 1
        return self.finish(batch, *survivor)

    def batch(self, batch: int):
        sizes, everybody, empty = self.sizes, self.sizes.everybody, [b""] * self.sizes.trustees
        number = batch.to_bytes(4, "big")
        seeds = [
            [derive("seed", master, number, index.to_bytes(4, "big")) for index in range(sizes.candidates)]
            for master in self.masters
        ]
        parts = [derive("coin part", master, number, b"") for master in self.masters]
        hashes = [b"".join(derive("seed hash", seed) for seed in own) for own in seeds]
        coins = [derive("coin hash", bytes([trustee]), part) for trustee, part in enumerate(parts, 1)]
        self.send("seeds", [own + coin for own, coin in zip(hashes, coins, strict=True)])
        self.send("coin", parts)
        coin = derive("coin", *parts)

        # Shares of D p_i and D q_i, and seeds of masks.
        all_parts = [[Contribution(sizes, i, seed, coin) for seed in seeds[i - 1]] for i in everybody]
        masks = {
            (i, j, index): derive("mask", seeds[i - 1][index], coin, bytes([i]), bytes([j]))
            for i in everybody
            for j in everybody
            for index in range(sizes.candidates)
        }

        def message(i: int, j: int) -> bytes:
            text = b""
            for index, part in enumerate(all_parts[i - 1]):
                for polynomial in part.polynomials:
                    text += be(value(polynomial, j), sizes.share_bits)
                text += masks[i, j, index]
            return text

        self.send("shares", empty, [[message(i, j) for j in everybody] for i in everybody])

        # Products.
        field, lagrange = 2**sizes.field_bits - 1, sizes.lagrange(list(everybody))
        scale = int(gmpy2.invert(sizes.factorial**3, field))

        def expanded(i: int, j: int, index: int) -> int:
            return Stream(masks[i, j, index]).number(sizes.field_bits)

        products = [[0] * sizes.candidates for _ in everybody]
        for index in range(sizes.candidates):
            for i in everybody:
                shares = [sum(value(own[index].polynomials[half], i) for own in all_parts) for half in (0, 1)]
                mask = sum(expanded(j, i, index) - expanded(i, j, index) for j in everybody if j != i)
                products[i - 1][index] = (lagrange[i - 1] * scale * shares[0] * shares[1] + mask) % field
        contents = [b"".join(be(one, sizes.field_bits) for one in own) for own in products]
        self.committed("product commitments", "products", batch, contents)
        moduli = [sum(own[index] for own in products) % field for index in range(sizes.candidates)]
        primes = [[sum(own[index].numbers[half] for own in all_parts) for half in (0, 1)] for index in range(sizes.candidates)]
        for n, (p, q) in zip(moduli, primes, strict=True):
            assert n == p * q and n.bit_length() == sizes.bits
            assert all(x % 4 == 3 and all(x % prime > 1 for prime in sizes.primes) for x in (p, q))

        # Boneh and Franklin's test with base 4.
        tested = [index for index, n in enumerate(moduli) if not has_small_factor(n)]

        def answer(i: int, index: int) -> int:
            part = sum(all_parts[i - 1][index].numbers)
            exponent = moduli[index] + 1 - part if i == 1 else part
            assert exponent % 4 == 0
            return int(gmpy2.powmod(4, exponent // 4, moduli[index]))

        answers = [[answer(i, index) for index in tested] for i in everybody]
        contents = [b"".join(be(one, sizes.bits) for one in own) for own in answers]
        self.committed("answer commitments", "answers", batch, contents)
        passed = []
        for row, index in enumerate(tested):
            product = math.prod(own[row] for own in answers[1:]) % moduli[index]
            is_good = answers[0][row] == product
            assert is_good == all(gmpy2.powmod(2, x - 1, x) == 1 for x in primes[index])
            passed += [index] if is_good else []
        self.send("agreement", empty)
        rejected = [index for index in range(sizes.candidates) if index not in passed[:1]]
        self.send("opening", [b"".join(own[index] for index in rejected) for own in seeds])
        self.send("opening agreement", empty)
        if not passed:
            return None
        chosen = passed[0]
        return moduli[chosen], primes[chosen], [own[chosen] for own in all_parts]

    def finish(self, batch: int, n: int, primes: list[int], parts: list[Contribution]) -> dict:
        sizes, everybody, factorial = self.sizes, self.sizes.everybody, self.sizes.factorial
        p, q = primes
        assert gmpy2.is_prime(p, 40) and gmpy2.is_prime(q, 40)
        sums = [sum(value(polynomial, i) for part in parts for polynomial in part.polynomials) for i in everybody]

        # 128 rounds of the test, and windows in the exponents.
        bases = [g for g in hashed("biprimality", n, sizes.bits, 4 * TESTS) if gmpy2.jacobi(g, n) == 1][:TESTS]

        def exponent(i: int) -> int:
            part = sum(parts[i - 1].numbers)
            return (n + 1 - part if i == 1 else part) // 4

        answers = [[int(gmpy2.powmod(g, exponent(i), n)) for g in bases] for i in everybody]
        shares = [[int(gmpy2.powmod(g, sums[i - 1], n)) for g in bases] for i in everybody]
        contents = [b"".join(be(one, sizes.bits) for one in a + y) for a, y in zip(answers, shares, strict=True)]
        self.committed("test commitments", "tests", batch, contents)
        for row, g in enumerate(bases):
            product = math.prod(own[row] for own in answers[1:]) % n
            assert answers[0][row] in (product, n - product)
            for window in self.windows():
                pairs = zip(window, sizes.lagrange(window), strict=True)
                combined = math.prod(int(gmpy2.powmod(shares[i - 1][row], power, n)) for i, power in pairs) % n
                assert combined == gmpy2.powmod(g, factorial**2 * (n + 1), n)

        # Theta = D (phi beta + N rho).
        wide = 2**sizes.wide_bits - 1
        number = batch.to_bytes(4, "big")
        of_beta, of_rho, masks = [], [], {}
        for i, master in zip(everybody, self.masters, strict=True):
            stream = Stream(derive("blinding", master, number, b""))
            beta = stream.number(sizes.bits + 128) % n
            of_beta.append([beta, *(stream.number(sizes.wide_bits) % wide for _ in range(sizes.needed - 1))])
            rho = stream.number(sizes.rho_bits)
            more = [stream.number(sizes.blind_coefficient_bits) for _ in range(sizes.needed - 1)]
            more[0] += 1 << sizes.blind_coefficient_bits
            of_rho.append([factorial * rho, *more])
            for j in everybody:
                masks[i, j] = derive("blinding mask", master, number, bytes([i, j]))

        def message(i: int, j: int) -> bytes:
            blind = be(value(of_rho[i - 1], j), sizes.blind_share_bits)
            return be(value(of_beta[i - 1], j) % wide, sizes.wide_bits) + blind + masks[i, j]

        self.send("blinding", [b""] * sizes.trustees, [[message(i, j) for j in everybody] for i in everybody])
        lagrange = sizes.lagrange(list(everybody))
        scale = int(gmpy2.invert(factorial, wide))
        blinds, results = [], []
        for i in everybody:
            phi = factorial * (n + 1) - sums[i - 1]
            beta = sum(value(own, i) for own in of_beta)
            blind = sum(value(own, i) for own in of_rho)
            mask = sum(Stream(masks[j, i]).number(sizes.wide_bits) for j in everybody if j != i)
            mask -= sum(Stream(masks[i, j]).number(sizes.wide_bits) for j in everybody if j != i)
            blinds.append(blind)
            results.append((lagrange[i - 1] * scale * (phi * beta + n * blind) + mask) % wide)
        self.committed("result commitments", "results", batch, [be(one, sizes.wide_bits) for one in results])
        theta = sum(results) % wide
        order = (p - 1) * (q - 1)
        beta, rho = sum(own[0] for own in of_beta), sum(own[0] for own in of_rho)
        assert theta == factorial * order * beta + n * rho and theta < 2**sizes.result_bits
        assert theta % factorial == 0

        # Shares of the exponent.
        inverse = int(gmpy2.invert(-theta, n))
        secrets = [inverse * (n * blind - theta) for blind in blinds]
        whole = inverse * (n * rho - theta)
        assert whole % n == 1 and whole % order == 0 and min(secrets) > 0
        limit = 2 * sizes.bits + sizes.blind_share_bits + sizes.trustees.bit_length()
        assert max(secrets).bit_length() <= limit
        squared = n * n
        root = hashed("base", n, sizes.bits, 1)[0]
        v = int(gmpy2.powmod((1 + n) * gmpy2.powmod(root, n, squared), 2, squared))
        v_i = [int(gmpy2.powmod(v, factorial * secret, squared)) for secret in secrets]
        shown = [be(one, 2 * sizes.bits) for one in v_i]
        if sizes.variant == "djn":
            rhos = [own[0] for own in of_rho]
            shown = [a + b for a, b in zip(shown, self.proofs(n, theta, inverse, rhos, parts), strict=True)]
        self.send("verification", shown)
        for window in self.windows():
            pairs = zip(window, sizes.lagrange(window), strict=True)
            combined = math.prod(int(gmpy2.powmod(v_i[i - 1], power, squared)) for i, power in pairs) % squared
            assert combined == 1 + n * (2 * factorial**2 % n) % squared
            # The same over the integers: D f(0).
            pairs = zip(window, sizes.lagrange(window), strict=True)
            assert sum(power * secrets[i - 1] for i, power in pairs) == factorial * whole

        # The shares of the last trustees decrypt a ciphertext.
        plaintext = 5650
        ciphertext = (1 + plaintext * n) * gmpy2.powmod(7, n, squared) % squared
        window = self.windows()[-1]
        pairs = zip(window, sizes.lagrange(window), strict=True)
        parts_of = ((gmpy2.powmod(ciphertext, 2 * factorial * secrets[i - 1], squared), power) for i, power in pairs)
        combined = math.prod(int(gmpy2.powmod(part, 2 * power, squared)) for part, power in parts_of) % squared
        assert combined == (1 + 4 * factorial**2 * plaintext * n) % squared
        self.send("key agreement", [b""] * sizes.trustees)
        self.send("done", [b""] * sizes.trustees)
        h = (-(hashed("generator", n, sizes.bits, 1)[0] ** 2)) % n if sizes.variant == "djn" else None
        return {"n": n, "h": h, "v_i": v_i, "s": secrets}

    def proofs(self, n: int, theta: int, inverse: int, rhos: list[int], parts: list[Contribution]) -> list[bytes]:
        """Each trustee's parts of the proofs about the key."""
        sizes, w = self.sizes, next(w for w in range(2, 1000) if gmpy2.jacobi(w, n) == -1)
        # N-th roots: y^(u - t R(0)).
        numbers = hashed("roots", n, sizes.bits, 11)
        roots = [[int(gmpy2.powmod(y, inverse * rho, n)) for y in numbers] for rho in rhos]
        u, rest = divmod(inverse * theta + 1, n)
        assert rest == 0
        for row, y in enumerate(numbers):
            others = math.prod(own[row] for own in roots)
            assert gmpy2.powmod(gmpy2.powmod(y, u, n) * gmpy2.invert(others, n), n, n) == y
        # Square roots of z or -z.
        halves = [y if gmpy2.jacobi(y, n) == 1 else w * y % n for y in hashed("blum", n, sizes.bits, 128)]
        exponents = [sum(part.numbers) for part in parts]
        exponents[0] = n + 1 - exponents[0]
        quarters = [exponent // 4 for exponent in exponents]
        squares = [[int(gmpy2.powmod(z, quarter // 2, n)) for z in halves] for quarter in quarters]
        odd = [quarter % 2 for quarter in quarters]
        correction = (odd[0] - sum(odd[1:]) + 1) // 2
        assert (odd[0] - sum(odd[1:])) % 2 == 1
        for row, z in enumerate(halves):
            others = math.prod(own[row] for own in squares[1:])
            root = squares[0][row] * gmpy2.invert(others, n) * gmpy2.powmod(z, correction, n) % n
            assert root * root % n in (z, n - z)
        return [b"".join(be(one, sizes.bits) for one in a + b) for a, b in zip(roots, squares, strict=True)]

    def windows(self) -> list[list[int]]:
        last = self.sizes.trustees - self.sizes.needed + 1
        return [list(range(first, first + self.sizes.needed)) for first in range(1, last + 1)]


def public_key(secret: bytes) -> bytes:
    """The public key of an Ed25519 private key (RFC 8032, section 5.1.5)."""
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime) % prime
    scalar = int.from_bytes(hashlib.sha512(secret).digest()[:32], "little")
    scalar = scalar & (2**254 - 8) | 2**254
    y = 4 * pow(5, -1, prime) % prime
    x = pow((y * y - 1) * pow(d * y * y + 1, -1, prime) % prime, (prime + 3) // 8, prime)
    if (x * x * (d * y * y + 1) - (y * y - 1)) % prime:
        x = x * pow(2, (prime - 1) // 4, prime) % prime
    point, total = (prime - x if x % 2 else x, y), (0, 1)

    def add(a: tuple, b: tuple) -> tuple:
        product = d * a[0] * b[0] * a[1] * b[1] % prime
        above = (a[0] * b[1] + b[0] * a[1]) * pow(1 + product, -1, prime) % prime
        return above, (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, prime) % prime

    for bit in range(255):
        if scalar >> bit & 1:
            total = add(total, point)
        point = add(point, point)
    return (total[1] | (total[0] & 1) << 255).to_bytes(32, "little")


def main() -> None:
    seed, bits, needed, trustees, candidates = map(int, sys.argv[1:6])
    variant = sys.argv[6]
    sizes = Sizes(bits, needed, trustees, candidates, variant)

    def test_hash(label: str, trustee: int) -> bytes:
        return derive(label, bytes([seed, trustee]))

    keys = b"".join(public_key(test_hash("test identity", trustee)) for trustee in sizes.everybody)
    nonces = b"".join(bytes([trustee]) * 32 for trustee in sizes.everybody)
    session = derive("session", sizes.to_bytes(), keys, nonces)
    run = Run(sizes, [test_hash("test seed", trustee) for trustee in sizes.everybody], session)
    key = run.key()
    print(f"run {seed} {bits} {needed} {trustees} {candidates} {variant} {keys.hex()}")
    for stage, sender, receiver, message in run.messages:
        print(f"message {STAGES.index(stage)} {sender} {receiver} {hashlib.sha256(message).hexdigest()[:16]}")
    print(f"n {key['n']:x}")
    if key["h"] is not None:
        print(f"h {key['h']:x}")
    for trustee, (v_i, secret) in enumerate(zip(key["v_i"], key["s"], strict=True), 1):
        print(f"trustee {trustee} {v_i:x} {secret:x}")
    print(f"transcript {run.view.hex()}")


if __name__ == "__main__":
    main()
