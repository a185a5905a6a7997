#!/usr/bin/env python3
"""Writes the known answers of subgroup.json: subgroup keys (Ma, Han and Lei, ACSAC 2021),
ciphertexts and their plaintexts. They are computed with gmpy2 by the textbook formulas,
independently of Hearith.

    pip install gmpy2 && python3 generate_subgroup.py > subgroup.json
"""

import hashlib
import json
import random

from gmpy2 import bit_length, gcd, invert, is_prime, lcm, mpz, next_prime, powmod

RANDOM = random.Random("Hearith subgroup keys")
#: Bits of a key, and of the primes of its subgroup.
SIZES = {1024: 160, 2048: 256, 3072: 288}


def prime(bits):
    """A prime of exactly `bits` bits, with the two highest bits set."""
    while True:
        found = next_prime(mpz(RANDOM.getrandbits(bits)) | (mpz(3) << (bits - 2)))
        if bit_length(found) == bits:
            return found


def half(bits, order_bits):
    """Primes P = 2 p u + 1, p and u. P has `bits` bits, with the two highest bits set."""
    p = prime(order_bits)
    while True:
        target = mpz(RANDOM.getrandbits(bits)) | (mpz(3) << (bits - 2))
        u = next_prime(target // (2 * p))
        for _ in range(200):
            big = 2 * p * u + 1
            if bit_length(big) == bits and big >> (bits - 2) == 3 and is_prime(big, 40):
                return big, p, u
            u = next_prime(u)


def text(number):
    """A number in hexadecimal digits."""
    return format(int(number), "x")


def vector(bits, order_bits):
    """A key with its own ciphertexts and foreign ones."""
    (big_p, p, u), (big_q, q, v) = sorted((half(bits // 2, order_bits), half(bits // 2, order_bits)))
    n = big_p * big_q
    square = n * n
    assert bit_length(n) == bits and gcd(big_p - 1, big_q - 1) == 2 and gcd(p * q, n) == 1
    assert len({p, q, u, v}) == 4 and all(is_prime(one, 40) for one in (p, q, u, v, big_p, big_q))
    y = mpz(RANDOM.randrange(2, int(n)))
    h = -powmod(y, 2 * u * v, n) % n
    assert powmod(h, p * q, n) == n - 1 and powmod(h, 2 * p * q, n) == 1
    assert all(pow(h, 2, prime) != 1 for prime in (big_p, big_q))
    exponent_bits = int(bit_length(p * q)) + 128
    width = (bits + 7) // 8
    message = b"hearith subgroup key 1\0" + exponent_bits.to_bytes(4, "big")
    message += int(n).to_bytes(width, "big") + int(h).to_bytes(width, "big")

    def encrypt(m, base, exponent):
        return (1 + m * n) * powmod(base, n * exponent, square) % square

    def decrypt(c):
        order = lcm(big_p - 1, big_q - 1)
        return (powmod(c, order, square) - 1) // n * invert(order, n) % n

    def short(c):
        """Decrypts with the short exponents; None if the low part of a half is not 1."""
        found = []
        for prime, order, other in ((big_p, p, big_q), (big_q, q, big_p)):
            power = powmod(c, 2 * order, prime * prime)
            if power % prime != 1:
                return None
            found.append((power - 1) // prime * invert(2 * order * other, prime) % prime)
        return (found[0] + big_p * ((found[1] - found[0]) * invert(big_p, big_q) % big_q)) % n

    plaintexts = [mpz(0), mpz(1), n - 1, n // 2, *(mpz(RANDOM.randrange(int(n))) for _ in range(4))]
    own, foreign = [], []
    for m in plaintexts:
        exponent = mpz(RANDOM.getrandbits(exponent_bits))
        c = encrypt(m, h, exponent)
        assert decrypt(c) == m == short(c)
        own.append({"m": text(m), "r": text(exponent), "c": text(c)})
        # The n-th power of any unit: Paillier's original randomisers.
        c = encrypt(m, mpz(RANDOM.randrange(2, int(n))), 1)
        assert decrypt(c) == m and short(c) is None
        foreign.append({"m": text(m), "c": text(c)})
    key = {"P": big_p, "Q": big_q, "p": p, "q": q, "h": h}
    return {
        "bits": bits,
        "x": exponent_bits,
        "id": hashlib.sha256(message).hexdigest()[:32],
        **{name: text(number) for name, number in key.items()},
        "own": own,
        "foreign": foreign,
    }


if __name__ == "__main__":
    print(json.dumps([vector(bits, order_bits) for bits, order_bits in SIZES.items()], indent=1))
