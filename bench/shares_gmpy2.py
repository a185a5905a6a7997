"""Measures the equations of docs/explanation/threshold.md in a plain program over gmpy2.

Reads one JSON object: {"file": a trustee's file, "single", "rows": [{"c", "share", "a", "b",
"z"}]}, numbers of rows in hexadecimal. Checks all rows in batch form and the first `single` one by
one, makes as many new shares, and answers {"decrypt", "batch", "single": seconds a row}.
"""

import base64
import hashlib
import json
import math
import secrets
import sys
import time

from gmpy2 import mpz, powmod


def number(be):
    return mpz(int.from_bytes(be, "big"))


def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Trustee:
    def __init__(self, file):
        members = json.loads(file)
        shared = members["shared"]
        self.n = number(unbase64(members["pub"]["n"]))
        self.squared, self.bits = self.n**2, self.n.bit_length()
        self.v, self.v_i = (
            number(unbase64(shared["v"])),
            number(unbase64(shared["v_i"][0])),
        )
        self.exponent = math.factorial(shared["trustees"]) * number(
            unbase64(members["s"])
        )
        self.counters = [shared["needed"], shared["trustees"], members["i"]]

    def challenge(self, c, share, a, b):
        width = (self.bits + 7) // 8
        counters = b"".join(value.to_bytes(4, "big") for value in self.counters)
        numbers = [
            int(value).to_bytes(2 * width, "big")
            for value in (self.v, self.v_i, c, share, a, b)
        ]
        parts = [
            b"hearith-proofs 1 share",
            b"bench",
            b"row",
            int(self.n).to_bytes(width, "big"),
            counters,
            *numbers,
        ]
        hashed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return number(hashlib.sha256(hashed).digest())

    def decrypt(self, c):
        share = powmod(c, 2 * self.exponent, self.squared)
        rho = mpz(secrets.randbits(2 * self.bits + 511))
        a, b = powmod(c, 4 * rho, self.squared), powmod(self.v, rho, self.squared)
        return share, a, b, rho + self.challenge(c, share, a, b) * self.exponent

    def verify_single(self, c, share, a, b, z):
        """a c_i^(2 e) = c^(4 z), b v_i^e = v^z"""
        e = self.challenge(c, share, a, b)
        first = a * powmod(share, 2 * e, self.squared) % self.squared == powmod(
            c, 4 * z, self.squared
        )
        return first and b * powmod(self.v_i, e, self.squared) % self.squared == powmod(
            self.v, z, self.squared
        )

    def verify_batch(self, rows):
        """prod c^(4 z g) v^(sum of z h) = prod a^g b^h c_i^(2 e g) v_i^(sum of e h)"""
        left, right, of_v, of_v_i = mpz(1), mpz(1), mpz(0), mpz(0)
        for c, share, a, b, z in rows:
            g, h = mpz(secrets.randbits(127)) << 1, mpz(secrets.randbits(127)) << 1
            e = self.challenge(c, share, a, b)
            left = left * powmod(c, 4 * z * g, self.squared) % self.squared
            right = right * powmod(a, g, self.squared) % self.squared
            right = right * powmod(b, h, self.squared) % self.squared
            right = right * powmod(share, 2 * e * g, self.squared) % self.squared
            of_v, of_v_i = of_v + z * h, of_v_i + e * h
        left = left * powmod(self.v, of_v, self.squared) % self.squared
        return left == right * powmod(self.v_i, of_v_i, self.squared) % self.squared


def seconds(work, rows):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / rows


def main():
    request = json.load(sys.stdin)
    trustee = Trustee(request["file"])
    rows = [
        tuple(mpz(row[key], 16) for key in ("c", "share", "a", "b", "z"))
        for row in request["rows"]
    ]
    few = rows[: request["single"]]
    results, made = [], []
    answer = {
        "decrypt": seconds(
            lambda: made.extend(trustee.decrypt(row[0]) for row in few), len(few)
        ),
        "batch": seconds(lambda: results.append(trustee.verify_batch(rows)), len(rows)),
        "single": seconds(
            lambda: results.extend(trustee.verify_single(*row) for row in few), len(few)
        ),
    }
    assert all(results), "a share that gmpy2 does not take"
    assert all(share == row[1] for (share, *_), row in zip(made, few, strict=True)), (
        "another share"
    )
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
