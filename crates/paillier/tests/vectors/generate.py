#!/usr/bin/env python3
"""Writes the known answers of vectors.json: keys, encryptions, decryptions and sums. They are
computed with gmpy2 by the textbook formulas, independently of Hearith, and confirmed by
python-paillier.

    pip install phe==1.5.0 gmpy2 && python3 generate.py > vectors.json
"""

import json
import random

from gmpy2 import bit_length, gcd, invert, is_prime, isqrt, lcm, mpz, next_prime, powmod
from phe import PaillierPrivateKey, PaillierPublicKey

RANDOM = random.Random("Hearith known answers")


def primes_from(start, step):
    """All primes from `start`, upwards or downwards."""
    candidate = mpz(start) | 1
    while True:
        if is_prime(candidate, 40):
            yield candidate
        candidate += 2 * step


def random_prime(bits, remainder=None):
    """A prime of exactly `bits` bits. The two highest bits are set, so a product of two such primes
    has `2 * bits` bits.
    """
    while True:
        start = mpz(RANDOM.getrandbits(bits)) | (mpz(3) << (bits - 2))
        prime = next_prime(start)
        if bit_length(prime) == bits and (remainder is None or prime % 4 == remainder):
            return prime


def random_key(bits):
    return "random", random_prime(bits // 2), random_prime(bits // 2)


def least_key(bits):
    """The two smallest primes of half the length whose product has the full length: `n` is just
    above a power of two.
    """
    primes = primes_from(isqrt(mpz(1) << (bits - 1)) + 1, 1)
    return "least", next(primes), next(primes)


def greatest_key(bits):
    """The two largest primes of half the length: `n` is just below a power of two."""
    primes = primes_from((mpz(1) << (bits // 2)) - 1, -1)
    q = next(primes)
    return "greatest", next(primes), q


def uneven_key(bits):
    """The largest prime of half the length, and the smallest whose product with it has the full
    length.
    """
    q = next(primes_from((mpz(1) << (bits // 2)) - 1, -1))
    return "uneven", next(primes_from(((mpz(1) << (bits - 1)) // q) + 1, 1)), q


def unit(n):
    while True:
        r = mpz(RANDOM.randrange(1, int(n)))
        if gcd(r, n) == 1:
            return r


def decrypt(c, p, q):
    """Paillier's original formula, with lambda and mu."""
    n, order = p * q, lcm(p - 1, q - 1)
    return (powmod(c, order, n * n) - 1) // n * invert(order, n) % n


def text(number):
    return format(int(number), "x")


def vector(kind, p, q):
    p, q = min(p, q), max(p, q)
    n = p * q
    bits, square = bit_length(n), n * n
    assert p != q and bit_length(p) == bit_length(q) == bits // 2 and is_prime(p, 40) and is_prime(q, 40)
    public = PaillierPublicKey(int(n))
    private = PaillierPrivateKey(public, int(p), int(q))

    encryptions = []
    for m in [0, 1, n - 1, n // 2, n // 2 + 1, RANDOM.randrange(int(n))]:
        for r in [1, n - 1, unit(n)] if m == 1 else [unit(n)]:
            c = (1 + mpz(m) * n) * powmod(r, n, square) % square
            assert c == public.raw_encrypt(int(m), r_value=int(r))
            encryptions.append({"m": text(m), "r": text(r), "c": text(c)})

    decryptions = []
    for c in [1, square - 1, n + 1, square - n + 1, 2, unit(square), unit(square)]:
        m = decrypt(mpz(c), p, q)
        assert m == private.raw_decrypt(int(c))
        decryptions.append({"c": text(c), "m": text(m)})

    a, b = unit(square), unit(square)
    k, m = RANDOM.getrandbits(100), mpz(RANDOM.randrange(int(n)))
    arithmetic = {
        "a": text(a), "b": text(b), "k": text(k), "m": text(m),
        "add": text(a * b % square),
        "neg": text(invert(a, square)),
        "sub": text(a * invert(b, square) % square),
        "scale": text(powmod(a, k, square)),
        "scale_neg": text(invert(powmod(a, k, square), square)),
        "add_plain": text(a * (1 + m * n) % square),
        "dot": text(powmod(a, k, square) * invert(powmod(b, 3, square), square) % square),
    }
    return {
        "kind": kind, "bits": bits, "p": text(p), "q": text(q), "n": text(n),
        "encryptions": encryptions, "decryptions": decryptions, "arithmetic": arithmetic,
    }


def djn_vector(bits):
    """A key of the variant of Damgard, Jurik and Nielsen, with powers of `h^n` for exponents of
    half the length.
    """
    while True:
        p, q = random_prime(bits // 2, 3), random_prime(bits // 2, 3)
        if p != q and gcd(p - 1, q - 1) == 2:
            break
    n = p * q
    square, h = n * n, -(unit(n) ** 2) % n
    h_s = powmod(h, n, square)
    most = (1 << (bits // 2)) - 1
    encryptions = []
    for a in [0, 1, most, RANDOM.getrandbits(bits // 2)]:
        m = mpz(RANDOM.randrange(int(n)))
        c = (1 + m * n) * powmod(h_s, a, square) % square
        assert decrypt(c, p, q) == m
        encryptions.append({"m": text(m), "a": text(a), "c": text(c)})
    return {"bits": bits, "p": text(min(p, q)), "q": text(max(p, q)), "n": text(n), "h": text(h), "encryptions": encryptions}


def large_vector(bits):
    """A key without encryptions, whose numbers would be long."""
    _, p, q = random_key(bits)
    return {"bits": bits, "p": text(min(p, q)), "q": text(max(p, q))}


def main():
    keys = [random_key(bits) for bits in [64, 66, 96, 126, 128, 130, 192, 256, 320, 512, 1024, 2048, 3072]]
    keys += [least_key(bits) for bits in [64, 66, 128, 130, 194, 512, 514, 1026]]
    keys += [greatest_key(bits) for bits in [64, 66, 128, 192, 512, 1024]]
    keys += [uneven_key(bits) for bits in [64, 128, 514]]
    vectors = {
        "keys": [vector(*key) for key in keys],
        "djn": [djn_vector(bits) for bits in [64, 130, 256, 512, 2048]],
        "large": [large_vector(bits) for bits in [4096, 8192]],
    }
    print(json.dumps(vectors, indent=1))


main()
