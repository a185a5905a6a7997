"""Number theory with the interface of `phe.util`.

It uses Python integers. Keys of the usual sizes do not need it, since their arithmetic is in Rust.
"""

from __future__ import annotations

import base64
import math
from functools import cache

#: The flags of phe for its optional libraries; nothing here depends on them.
HAVE_GMP = False
HAVE_CRYPTO = False


@cache
def _first_primes() -> list[int]:
    return primes_below(17881)


def random_below(limit: int) -> int:
    """Returns a random number in [0, limit), from the operating system's generator."""
    # Imported only if needed: it takes a tenth of a small program's start-up time.
    from secrets import randbelow

    return randbelow(limit)


def primes_below(limit: int) -> list[int]:
    """Returns the primes below `limit`, by the sieve of Eratosthenes."""
    candidates = bytearray([1]) * limit
    candidates[:2] = b"\0\0"
    for number in range(2, math.isqrt(limit) + 1):
        if candidates[number]:
            candidates[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return [number for number in range(limit) if candidates[number]]


def __getattr__(name: str) -> list[int]:
    """Computes `first_primes` on first access: the primes below 17881, used for trial division."""
    if name == "first_primes":
        return _first_primes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def powmod(a: int, b: int, c: int) -> int:
    """Returns `a**b` modulo `c`."""
    return pow(a, b, c)


def mulmod(a: int, b: int, c: int) -> int:
    """Returns `a * b` modulo `c`."""
    return a * b % c


def invert(a: int, b: int) -> int:
    """Returns the inverse of `a` modulo `b`.

    Raises:
        ZeroDivisionError: there is none.
    """
    try:
        return pow(a, -1, b)
    except ValueError:
        raise ZeroDivisionError("there is no inverse") from None


def extended_euclidean_algorithm(a: int, b: int) -> tuple[int, int, int]:
    """Returns `(g, s, t)` with `g = gcd(a, b) = s a + t b`.

    >>> extended_euclidean_algorithm(240, 46)
    (2, -9, 47)
    """
    left, right = (a, 1, 0), (b, 0, 1)
    while right[0]:
        quotient = left[0] // right[0]
        rest = (left[0] - quotient * right[0], left[1] - quotient * right[1], left[2] - quotient * right[2])
        left, right = right, rest
    return left


def isqrt(N: int) -> int:
    """Returns the integer part of the square root."""
    return math.isqrt(N)


improved_i_sqrt = isqrt


def getprimeover(N: int) -> int:
    """Returns a random prime of at least `N` bits."""
    candidate = random_below(1 << N) | 1 << (N - 1) | 1
    while not is_prime(candidate):
        candidate += 2
    return candidate


def miller_rabin(n: int, k: int) -> bool:
    """Returns whether `n`, above 3, passes `k` rounds of the Miller-Rabin test with random
    bases.
    """
    if n % 2 == 0:
        return False
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    odd = (n - 1) >> twos
    return all(_passes(n, random_below(n - 3) + 2, odd, twos) for _ in range(k))


def _passes(n: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, n)
    if power in (1, n - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % n
        if power == n - 1:
            return True
    return False


def is_prime(n: int, mr_rounds: int = 25) -> bool:
    """Returns whether `n` is prime; a composite passes with a probability below 4^-`mr_rounds`."""
    primes = _first_primes()
    if n <= primes[-1]:
        return n in primes
    return all(n % prime for prime in primes) and miller_rabin(n, mr_rounds)


def base64url_encode(payload: bytes | str) -> str:
    """Encodes as unpadded base64url."""
    data = payload.encode() if isinstance(payload, str) else payload
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def base64url_decode(payload: str) -> bytes:
    """Decodes unpadded base64url.

    Raises:
        ValueError: the length is impossible for encoded bytes.
    """
    if len(payload) % 4 == 1:
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))


def base64_to_int(source: str) -> int:
    """Reads a number from the unpadded base64url of its big-endian bytes."""
    return int.from_bytes(base64url_decode(source), "big")


def int_to_base64(source: int) -> str:
    """Writes a positive number's big-endian bytes as unpadded base64url.

    Raises:
        AssertionError: the number is 0 or below, as in `phe`.
    """
    if source <= 0:
        raise AssertionError("only positive numbers can be written as base64url")
    return base64url_encode(source.to_bytes(-(-source.bit_length() // 8), "big"))
