"""The equations of docs/proofs.md in a plain program over gmpy2, measured.

Reads one JSON object: {"n", "set", "single", "rows": [{"c", "r", "chosen", "sides": [{"A", "e", "z"}]}]}, numbers in hexadecimal. Verifies all rows
in batch form and the first `single` one by one, proves as many anew, and answers {"batch", "single", "prove": seconds a row, "versions"}.
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


def verify_batch(rows, members, n, squared):
    """(prod z^g)^n = prod A^g u^(e g)"""
    left, right = mpz(1), mpz(1)
    for row in rows:
        for m, (commitment, e, z) in zip(members, row["sides"]):
            weight = mpz(secrets.randbits(127)) << 1
            u = statement(row["c"], m, n, squared)
            left = left * powmod(z, weight, n) % n
            right = right * powmod(commitment, weight, squared) % squared
            right = right * powmod(u, e * weight, squared) % squared
    return powmod(left, n, squared) == right


def verify_single(row, members, n, squared):
    """z^n = A u^e"""
    for m, (commitment, e, z) in zip(members, row["sides"]):
        if powmod(z, n, squared) != commitment * powmod(statement(row["c"], m, n, squared), e, squared) % squared:
            return False
    return True


def prove(row, members, n, squared):
    """One branch true, the others simulated; the hash is left out."""
    sides = []
    for side, m in enumerate(members):
        zeta = mpz(secrets.randbelow(int(n)))
        if side == row["chosen"]:
            sides.append((powmod(zeta, n, squared), zeta * powmod(row["r"], secrets.randbits(256), n) % n))
        else:
            u = statement(row["c"], m, n, squared)
            sides.append((powmod(zeta, n, squared) * powmod(u, -secrets.randbits(256), squared) % squared, zeta))
    return sides


def seconds(work, rows):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / rows


def main():
    request = json.load(sys.stdin)
    n = number(request["n"])
    squared = n * n
    members = [number(text) for text in request["set"]]
    rows = [
        {
            "c": number(row["c"]),
            "r": number(row["r"]),
            "chosen": row["chosen"],
            "sides": [tuple(number(side[key]) for key in ("A", "e", "z")) for side in row["sides"]],
        }
        for row in request["rows"]
    ]
    few = rows[: request["single"]]
    results = []
    answer = {
        "batch": seconds(lambda: results.append(verify_batch(rows, members, n, squared)), len(rows)),
        "single": seconds(lambda: results.extend(verify_single(row, members, n, squared) for row in few), len(few)),
        "prove": seconds(lambda: [prove(row, members, n, squared) for row in few], len(few)),
        "versions": f"Python {platform.python_version()}, gmpy2 {gmpy2.version()} ({gmpy2.mp_version()})",
    }
    assert all(results), "a proof that gmpy2 does not take"
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
