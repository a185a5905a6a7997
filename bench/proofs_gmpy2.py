"""Measures the equations of docs/explanation/proofs.md in a plain program over gmpy2.

Reads one JSON object: {"n", "base", "set", "single", "rows": [{"c", "opening", "chosen", "sides":
[{"A", "e", "z"}]}]}, numbers in hexadecimal. For fast ballots "base" is the n-th power of the
generator, otherwise null. Verifies all rows in batch form and the first `single` one by one, makes
as many new proofs, and answers {"batch", "single", "prove": seconds a row, "versions"}.
"""

import json
import platform
import secrets
import sys
import time

import gmpy2
from gmpy2 import mpz, powmod


def number(text):
    return mpz(text, 16)


def statement(c, m, n, squared):
    """c (1 + n)^(-m)"""
    return c * (1 - m * n) % squared


class Roots:
    """Openings r, whose n-th powers are used."""

    def __init__(self, n, squared):
        self.n, self.squared = n, squared

    def power(self, z):
        return powmod(z, self.n, self.squared)

    def draw(self):
        return mpz(secrets.randbelow(int(self.n)))

    def answer(self, zeta, opening, e):
        return zeta * powmod(opening, e, self.n) % self.n

    def combined(self, weighted):
        product = mpz(1)
        for z, weight in weighted:
            product = product * powmod(z, weight, self.n) % self.n
        return self.power(product)


class Exponents:
    """Openings a, the exponents of a base."""

    def __init__(self, base, n, squared):
        self.base, self.n, self.squared = base, n, squared

    def power(self, z):
        return powmod(self.base, z, self.squared)

    def draw(self):
        return mpz(secrets.randbits(self.n.bit_length() // 2 + 384))

    def answer(self, zeta, opening, e):
        return zeta + opening * e

    def combined(self, weighted):
        return self.power(sum(z * weight for z, weight in weighted))


def verify_batch(rows, members, form):
    """(prod z^g)^n, or base^(sum z g), = prod A^g u^(e g)"""
    n, squared = form.n, form.squared
    weighted, right = [], mpz(1)
    for row in rows:
        for m, (commitment, e, z) in zip(members, row["sides"]):
            weight = mpz(secrets.randbits(127)) << 1
            u = statement(row["c"], m, n, squared)
            weighted.append((z, weight))
            right = right * powmod(commitment, weight, squared) % squared
            right = right * powmod(u, e * weight, squared) % squared
    return form.combined(weighted) == right


def verify_single(row, members, form):
    """z^n, or base^z, = A u^e"""
    n, squared = form.n, form.squared
    for m, (commitment, e, z) in zip(members, row["sides"]):
        if form.power(z) != commitment * powmod(statement(row["c"], m, n, squared), e, squared) % squared:
            return False
    return True


def prove(row, members, form):
    """Proves one true branch and simulates the others; the hash is left out."""
    sides = []
    for side, m in enumerate(members):
        zeta = form.draw()
        if side == row["chosen"]:
            sides.append((form.power(zeta), form.answer(zeta, row["opening"], secrets.randbits(256))))
        else:
            u = statement(row["c"], m, form.n, form.squared)
            power = powmod(u, -secrets.randbits(256), form.squared)
            sides.append((form.power(zeta) * power % form.squared, zeta))
    return sides


def seconds(work, rows):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / rows


def main():
    request = json.load(sys.stdin)
    n = number(request["n"])
    squared = n * n
    base = request["base"]
    form = Exponents(number(base), n, squared) if base else Roots(n, squared)
    members = [number(text) for text in request["set"]]
    rows = [
        {
            "c": number(row["c"]),
            "opening": number(row["opening"]),
            "chosen": row["chosen"],
            "sides": [tuple(number(side[key]) for key in ("A", "e", "z")) for side in row["sides"]],
        }
        for row in request["rows"]
    ]
    few = rows[: request["single"]]
    results = []
    answer = {
        "batch": seconds(lambda: results.append(verify_batch(rows, members, form)), len(rows)),
        "single": seconds(lambda: results.extend(verify_single(row, members, form) for row in few), len(few)),
        "prove": seconds(lambda: [prove(row, members, form) for row in few], len(few)),
        "versions": f"Python {platform.python_version()}, gmpy2 {gmpy2.version()} ({gmpy2.mp_version()})",
    }
    assert all(results), "a proof that gmpy2 does not take"
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
