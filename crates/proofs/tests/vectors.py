"""Makes vectors.txt: proofs by an independent implementation, written from
docs/explanation/proofs.md and the crate's README with only Python's standard library.

Usage: python3 vectors.py > vectors.txt. The primes of the key are derived from fixed starts, so
only the prover's randomness changes.
"""

import hashlib
import secrets


def is_prime(number):
    """Fermat's test with a few bases, which suffices for a test key."""
    return all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7, 11, 13))


def prime_from(start):
    number = start | 3
    while not is_prime(number):
        number += 4
    return number


P = prime_from(int.from_bytes(hashlib.sha256(b"p").digest(), "big") | 3 << 254)
Q = prime_from(int.from_bytes(hashlib.sha256(b"q").digest(), "big") | 3 << 254)
N = P * Q
SQUARED = N * N
WIDTH = (N.bit_length() + 7) // 8
# A generator h = -x^2, and its n-th power.
H = -pow(3, 2, N) % N
BASE = pow(H, N, SQUARED)


def narrow(number):
    return number.to_bytes(WIDTH, "big")


def wide(number):
    return number.to_bytes(2 * WIDTH, "big")


def challenge(*parts):
    hashed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return int.from_bytes(hashlib.sha256(hashed).digest(), "big")


def unit():
    return secrets.randbelow(N - 1) + 1


def lesser(z):
    """The smaller of an answer and its negative, which is the canonical one."""
    return min(z, N - z)


def encrypt(m, r):
    return (1 + m * N) * pow(r, N, SQUARED) % SQUARED


def residue(context, u, r):
    rho = unit()
    commitment = pow(rho, N, SQUARED)
    e = challenge(b"hearith-proofs 1 residue", *context, narrow(N), wide(u), wide(commitment))
    return wide(commitment) + narrow(lesser(rho * pow(r, e, N) % N))


def membership(context, members, c, r, chosen):
    zeta = [unit() for _ in members]
    challenges = [0 if side == chosen else secrets.randbits(256) for side in range(len(members))]
    commitments = [
        pow(z, N, SQUARED) * pow(c * (1 - m * N) % SQUARED, -e, SQUARED) % SQUARED
        for m, e, z in zip(members, challenges, zeta)
    ]
    numbers = b"".join(narrow(m % N) for m in members)
    e = challenge(
        b"hearith-proofs 1 membership", *context, narrow(N), numbers, wide(c), b"".join(wide(a) for a in commitments)
    )
    challenges[chosen] = (e - sum(challenges)) % 2**256
    zeta[chosen] = zeta[chosen] * pow(r, challenges[chosen], N) % N
    answers = zip(commitments, challenges, map(lesser, zeta))
    return b"".join(wide(a) + e.to_bytes(32, "big") + narrow(z) for a, e, z in answers)


def fast(context, members, c, a, chosen):
    """A membership proof by an exponent, or a residue proof if there are no members."""
    hiding = N.bit_length() // 2 + 384
    width = (hiding + 1 + 7) // 8
    zeta = [secrets.randbits(hiding) for _ in members or [0]]
    if not members:
        commitment = pow(BASE, zeta[0], SQUARED)
        e = challenge(b"hearith-proofs 1 residue, short", *context, narrow(N), narrow(H), wide(c), wide(commitment))
        return wide(commitment) + (zeta[0] + e * a).to_bytes(width, "big")
    challenges = [0 if side == chosen else secrets.randbits(256) for side in range(len(members))]
    commitments = [
        pow(BASE, z, SQUARED) * pow(c * (1 - m * N) % SQUARED, -e, SQUARED) % SQUARED
        for m, e, z in zip(members, challenges, zeta)
    ]
    numbers = b"".join(narrow(m % N) for m in members)
    all_commitments = b"".join(wide(a) for a in commitments)
    parts = [narrow(N), narrow(H), numbers, wide(c), all_commitments]
    e = challenge(b"hearith-proofs 1 membership, short", *context, *parts)
    challenges[chosen] = (e - sum(challenges)) % 2**256
    zeta[chosen] += a * challenges[chosen]
    answers = zip(commitments, challenges, zeta)
    return b"".join(wide(a) + e.to_bytes(32, "big") + z.to_bytes(width, "big") for a, e, z in answers)


def hashed(proof, index):
    counters = [index.to_bytes(4, "big") + block.to_bytes(4, "big") for block in range(WIDTH // 32 + 2)]
    blocks = b"".join(challenge(proof, narrow(N), counter).to_bytes(32, "big") for counter in counters)
    return int.from_bytes(blocks[: WIDTH + 16], "big") % N


def roots():
    exponent = pow(N, -1, (P - 1) * (Q - 1))
    return b"".join(narrow(pow(hashed(b"hearith-proofs 1 roots", index), exponent, N)) for index in range(11))


def is_square(number, prime):
    return pow(number, (prime - 1) // 2, prime) == 1


def blum():
    """For each number, or its multiple that is a square modulo both primes, the root that is a
    square itself.
    """
    w = next(w for w in range(2, 1000) if is_square(w, P) != is_square(w, Q))
    found = b""
    for index in range(128):
        y = hashed(b"hearith-proofs 1 blum", index)
        square = next(one for one in (y, w * y, -y, -w * y) if is_square(one, P) and is_square(one, Q))
        of_p, of_q = (pow(square, (prime + 1) // 4, prime) for prime in (P, Q))
        found += narrow(of_p + P * ((of_q - of_p) * pow(P, -1, Q) % Q))
    return found


def main():
    print("n", narrow(N).hex(), narrow(H).hex())
    print("roots", roots().hex())
    print("blum", blum().hex())
    r = unit()
    u = encrypt(0, r)
    print("residue", wide(u).hex(), residue((b"shared", b"row"), u, r).hex())
    for chosen in range(3):
        r = unit()
        members = [0, 1, -5]
        c = encrypt(members[chosen] % N, r)
        print("membership", wide(c).hex(), membership((b"shared", b"row"), members, c, r, chosen).hex())
    for members, chosen in [([], 0), ([0, 1, -5], 2)]:
        a = secrets.randbits(N.bit_length() // 2)
        m = members[chosen] if members else 0
        c = (1 + m * N) * pow(BASE, a, SQUARED) % SQUARED
        name = "fast-membership" if members else "fast-residue"
        print(name, wide(c).hex(), fast((b"shared", b"row"), members, c, a, chosen).hex())


if __name__ == "__main__":
    main()
