"""An independent implementation of threshold decryption, written from
docs/explanation/threshold.md and the crate's README with only Python's standard library.

Usage: `python3 vectors.py > vectors.txt` deals a key and makes shares.
`python3 vectors.py check < FILE` verifies and combines the shares in a file of the same form, and
prints the plaintexts. The primes are derived from fixed starts, so only the random numbers of the
dealer and the trustees change.
"""

import base64
import hashlib
import json
import math
import secrets
import sys

CONTEXT = (b"shared", b"row")
NEEDED, TRUSTEES = 3, 5


def is_prime(number):
    """Fermat's test with a few bases, which suffices for a test key."""
    return all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7, 11, 13))


def safe_prime_from(start):
    number = start | 3
    small = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73]
    while True:
        number += 4
        if all(number % prime and (number >> 1) % prime for prime in small):
            if pow(2, number >> 1, number) in (1, number - 1) and is_prime(number >> 1) and is_prime(number):
                return number


def number(be):
    return int.from_bytes(be, "big")


def text(value, width=None):
    be = value.to_bytes(width or -(-value.bit_length() // 8), "big")
    return base64.urlsafe_b64encode(be).rstrip(b"=").decode()


def untext(value):
    return number(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))


class Key:
    def __init__(self, n, needed, trustees, v, of_trustees):
        self.n, self.squared, self.needed, self.trustees, self.v = n, n * n, needed, trustees, v
        self.of_trustees = of_trustees
        self.bits = n.bit_length()
        self.width = -(-self.bits // 8)
        self.factorial = math.factorial(trustees)

    def wide(self, value):
        return value.to_bytes(2 * self.width, "big")

    def challenge(self, i, c, share, a, b):
        counters = b"".join(value.to_bytes(4, "big") for value in (self.needed, self.trustees, i))
        numbers = [self.wide(value) for value in (self.v, self.of_trustees[i], c, share, a, b)]
        key = [self.n.to_bytes(self.width, "big"), counters]
        parts = [b"hearith-proofs 1 share", *CONTEXT, *key, *numbers]
        return number(hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest())

    def share(self, i, s, c):
        x = self.factorial * s
        share = pow(c, 2 * x, self.squared)
        rho = secrets.randbits(2 * self.bits + 511)
        a, b = pow(c, 4 * rho, self.squared), pow(self.v, rho, self.squared)
        z = rho + self.challenge(i, c, share, a, b) * x
        return b"".join(map(self.wide, (share, a, b))) + z.to_bytes((2 * self.bits + 512 + 7) // 8, "big")

    def verified(self, i, c, row):
        w = 2 * self.width
        share, a, b, z = number(row[:w]), number(row[w : 2 * w]), number(row[2 * w : 3 * w]), number(row[3 * w :])
        assert z.bit_length() <= 2 * self.bits + 512
        assert all(0 < value < self.squared and math.gcd(value, self.n) == 1 for value in (c, share, a, b))
        e = self.challenge(i, c, share, a, b)
        left = a * pow(share, 2 * e, self.squared) % self.squared
        assert left**2 % self.squared == pow(c, 8 * z, self.squared), "the first equation"
        right = b * pow(self.of_trustees[i], e, self.squared) % self.squared
        assert right**2 % self.squared == pow(self.v, 2 * z, self.squared), "the second equation"
        return share

    def combined(self, shares):
        product = 1
        for i in shares:
            over = math.prod(j for j in shares if j != i)
            under = math.prod(j - i for j in shares if j != i)
            assert self.factorial * over % under == 0
            product = product * pow(shares[i], 2 * (self.factorial * over // under), self.squared) % self.squared
        assert product % self.n == 1
        return (product - 1) // self.n * pow(4 * self.factorial**2, -1, self.n) % self.n


def base(n):
    """((1 + n) H(n)^n)^2"""
    width = -(-n.bit_length() // 8)
    blocks = b""
    for block in range(-(-(width + 16) // 32)):
        counters = bytes(4) + block.to_bytes(4, "big")
        parts = [b"hearith-proofs 1 base", n.to_bytes(width, "big"), counters]
        blocks += hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()
    hashed = number(blocks[: width + 16]) % n
    return ((1 + n) * pow(hashed, n, n * n)) ** 2 % (n * n)


def windows(key):
    """Whether all v_i lie on one polynomial whose value at 0 decrypts."""
    for first in range(1, key.trustees - key.needed + 2):
        window, product = range(first, first + key.needed), 1
        for i in window:
            over = math.prod(j for j in window if j != i)
            under = math.prod(j - i for j in window if j != i)
            product = product * pow(key.of_trustees[i], key.factorial * over // under, key.squared) % key.squared
        expected = 1 + 2 * key.factorial**2 * key.n
        assert (product**2 - expected**2) % key.squared == 0, "the windows"


def deal():
    p, q = (
        safe_prime_from(number(hashlib.sha256(name).digest()) | 3 << 254 | 1)
        for name in (b"threshold p", b"threshold q")
    )
    n, m = p * q, (p >> 1) * (q >> 1)
    d = m * pow(m, -1, n)
    coefficients = [d] + [secrets.randbelow(n * m) for _ in range(NEEDED - 1)]
    shares = {i: sum(a * i**k for k, a in enumerate(coefficients)) % (n * m) for i in range(1, TRUSTEES + 1)}
    v = base(n)
    of_trustees = {i: pow(v, math.factorial(TRUSTEES) * s, n * n) for i, s in shares.items()}
    return Key(n, NEEDED, TRUSTEES, v, of_trustees), shares


def make():
    key, secret = deal()
    public = {"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": text(key.n)}
    width = 2 * key.width

    def shared(trustees):
        numbers = [text(key.of_trustees[i], width) for i in trustees]
        return {"needed": NEEDED, "trustees": TRUSTEES, "v": text(key.v, width), "v_i": numbers}

    print("verification", json.dumps(public | {"shared": shared(secret)}, separators=(",", ":")))
    for i, s in secret.items():
        members = {"kty": "DAJ", "key_ops": ["decrypt-share"], "i": i, "s": text(s), "shared": shared([i])}
        print("key", i, json.dumps(members | {"pub": public, "kid": ""}, separators=(",", ":")))
    for plaintext in (0, 123_456_789, key.n - 1):
        c = (1 + plaintext * key.n) * pow(secrets.randbelow(key.n), key.n, key.squared) % key.squared
        print("ciphertext", text(plaintext, key.width), key.wide(c).hex())
        for i, s in secret.items():
            print("share", i, key.share(i, s, c).hex())


def check():
    shares, c = {}, None

    def finish():
        if c is not None:
            print(key.combined(dict(sorted(shares.items())[-key.needed :])))
        shares.clear()

    for line in sys.stdin:
        what, rest = line.rstrip("\n").split(" ", 1)
        before, _, after = rest.partition(" ")
        if what == "verification":
            members = json.loads(rest)
            shared = members["shared"]
            numbers = {i + 1: untext(value) for i, value in enumerate(shared["v_i"])}
            key = Key(untext(members["n"]), shared["needed"], shared["trustees"], untext(shared["v"]), numbers)
            assert key.v == base(key.n), "v"
            windows(key)
        elif what == "key":
            members = json.loads(after)
            x = key.factorial * untext(members["s"])
            assert pow(key.v, x, key.squared) == key.of_trustees[int(before)] == untext(members["shared"]["v_i"][0])
        elif what == "ciphertext":
            finish()
            c = number(bytes.fromhex(after))
        elif what == "share":
            shares[int(before)] = key.verified(int(before), c, bytes.fromhex(after))
    finish()


if __name__ == "__main__":
    check() if sys.argv[1:] == ["check"] else make()
