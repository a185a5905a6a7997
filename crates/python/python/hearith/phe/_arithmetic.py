"""Arithmetic on single residues: deferred and batched in Rust, or immediate in Python for moduli
that the engine does not support.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Protocol, TypeAlias

from hearith import _native
from hearith._packing import wipe
from hearith.errors import HearithError
from hearith.phe._lazy import LazyGraph, LazyHolder, LazyNumber
from hearith.phe.util import base64_to_int, getprimeover, is_prime, random_below

#: A ciphertext: deferred, or a Python integer if the engine does not support it.
Residue: TypeAlias = LazyNumber | int


class PublicArithmetic(Protocol):
    """The operations modulo n^2 that need only n."""

    def ready(self, ciphertext: int) -> Residue:
        """Wraps a known ciphertext, which can be any integer."""
        ...

    def integer(self, residue: Residue) -> int:
        """Returns the ciphertext as an integer."""
        ...

    def encrypt(self, plaintext: int) -> Residue:
        """Encrypts a residue modulo n."""
        ...

    def rerandomise(self, residue: Residue) -> Residue:
        """Returns another ciphertext of the same number."""
        ...

    def sum(self, left: Residue, right: Residue) -> Residue:
        """Returns the product modulo n^2."""
        ...

    def shifted(self, residue: Residue, plaintext: int) -> Residue:
        """Returns the product with `1 + plaintext n`; the plaintext may be any integer."""
        ...

    def multiple(self, residue: Residue, factor: int) -> Residue:
        """Returns the power modulo n^2, with a signed exponent."""
        ...

    def public_multiple(self, residue: Residue, factor: int) -> Residue:
        """Returns the same with a public factor."""
        ...

    def register(self, holder: LazyHolder) -> None:
        """Registers the holder of a number that may be deferred."""
        ...

    def keep(self, count: int) -> None:
        """Keeps `count` randomisers ready."""
        ...

    def kept(self) -> int:
        """Returns the number of randomisers that are ready."""
        ...


class PurePythonBackend:
    """Immediate computation with Python integers."""

    def __init__(self, n: int) -> None:
        """Prepares any modulus `n`."""
        self._n, self._square = n, n * n

    def ready(self, ciphertext: int) -> Residue:
        """See `PublicArithmetic`, also for the methods below."""
        return ciphertext

    def integer(self, residue: Residue) -> int:
        """Returns the integer itself."""
        assert isinstance(residue, int)
        return residue

    def encrypt(self, plaintext: int) -> Residue:
        """Encrypts with a new randomiser."""
        return (1 + plaintext * self._n) * self._randomiser() % self._square

    def rerandomise(self, residue: Residue) -> Residue:
        """Multiplies by a new randomiser."""
        return self.integer(residue) * self._randomiser() % self._square

    def sum(self, left: Residue, right: Residue) -> Residue:
        """Computes one multiplication."""
        return self.integer(left) * self.integer(right) % self._square

    def shifted(self, residue: Residue, plaintext: int) -> Residue:
        """Computes two multiplications."""
        return self.integer(residue) * (1 + plaintext * self._n) % self._square

    def multiple(self, residue: Residue, factor: int) -> Residue:
        """Computes a power."""
        return pow(self.integer(residue), factor, self._square)

    def public_multiple(self, residue: Residue, factor: int) -> Residue:
        """Computes a power."""
        return self.multiple(residue, factor)

    def register(self, holder: LazyHolder) -> None:
        """Does nothing, since nothing is deferred."""

    def keep(self, count: int) -> None:
        """Does nothing, since no randomisers are kept."""

    def kept(self) -> int:
        """Returns 0."""
        return 0

    def _randomiser(self) -> int:
        return pow(random_below(self._n - 1) + 1, self._n, self._square)


class NativeBackend:
    """Batched computation in the engine.

    Integers outside `[1, n^2)`, which are not ciphertexts, are computed in Python.
    """

    def __init__(self, n: int, key: _native.PublicKey) -> None:
        """Prepares the modulus `n` of a key."""
        self._square = n * n
        self._plaintext_bytes, self._ciphertext_bytes = key.plaintext_bytes, key.ciphertext_bytes
        self._singles = _native.Singles(key)
        self._lazy = LazyGraph(self._singles, n, key.plaintext_bytes)
        self._in_python = PurePythonBackend(n)
        self.register = self._lazy.register
        self.keep, self.kept = self._singles.keep, self._singles.kept

    def ready(self, ciphertext: int) -> Residue:
        """See `PublicArithmetic`, also for the methods below."""
        if 0 < ciphertext < self._square:
            return LazyNumber(ciphertext.to_bytes(self._ciphertext_bytes, "big"))
        return ciphertext

    def integer(self, residue: Residue) -> int:
        """Returns the integer, after computing it if it was deferred."""
        return residue if isinstance(residue, int) else int.from_bytes(self._lazy.value(residue), "big")

    def encrypt(self, plaintext: int) -> Residue:
        """Encrypts with a randomiser from a batch that fills the lanes."""
        residue = bytearray(plaintext.to_bytes(self._plaintext_bytes, "big"))
        try:
            return LazyNumber(self._singles.encrypt(residue))
        finally:
            wipe(residue)

    def rerandomise(self, residue: Residue) -> Residue:
        """Multiplies by a randomiser from a batch that fills the lanes."""
        if isinstance(residue, int):
            return self.ready(self._in_python.integer(self._in_python.rerandomise(residue)))
        return LazyNumber(self._singles.rerandomise(self._lazy.value(residue)))

    def sum(self, left: Residue, right: Residue) -> Residue:
        """Defers the sum."""
        if isinstance(left, int) or isinstance(right, int):
            return self.ready(self.integer(left) * self.integer(right) % self._square)
        return self._lazy.sum(left, right)

    def shifted(self, residue: Residue, plaintext: int) -> Residue:
        """Defers the sum."""
        if isinstance(residue, int):
            return self.ready(self._in_python.integer(self._in_python.shifted(residue, plaintext)))
        return self._lazy.shifted(residue, plaintext) if plaintext else residue

    def multiple(self, residue: Residue, factor: int) -> Residue:
        """Defers the multiple."""
        if isinstance(residue, int):
            return self.ready(pow(residue, factor, self._square))
        return self._lazy.multiple(residue, factor)

    def public_multiple(self, residue: Residue, factor: int) -> Residue:
        """Defers and caches the multiple."""
        if isinstance(residue, int):
            return self.multiple(residue, factor)
        return self._lazy.public_multiple(residue, factor)


class PrivateArithmetic:
    """The operations that need the primes, p below q."""

    def __init__(self, p: int, q: int, key: _native.PrivateKey | None) -> None:
        """Prepares primes `p` and `q`, and their key if the engine supports them."""
        self.p, self.q = p, q
        self._square = (p * q) ** 2
        self._key = key
        if key is not None:
            self._singles = _native.Singles(key.public)
            self._width = key.public.ciphertext_bytes

    def decrypt(self, ciphertext: int) -> int:
        """Returns the residue modulo n in a ciphertext."""
        if self._key is not None:
            row = (ciphertext % self._square).to_bytes(self._width, "big")
            residue = self._singles.decrypt(self._key, row)
            try:
                return int.from_bytes(residue, "big")
            finally:
                wipe(residue)
        # The textbook formula with lambda and mu: [Paillier99], scheme 1, with g = n + 1.
        n = self.p * self.q
        exponent = math.lcm(self.p - 1, self.q - 1)
        return (pow(ciphertext, exponent, n * n) - 1) // n * pow(exponent, -1, n) % n


@lru_cache(maxsize=64)
def public(n: int) -> PublicArithmetic:
    """Returns the cached arithmetic of a modulus."""
    try:
        return NativeBackend(n, _native.PublicKey(_bytes(n), insecure=True))
    except HearithError:
        return PurePythonBackend(n)


def private(p: int, q: int) -> PrivateArithmetic:
    """Returns the arithmetic of primes, p below q.

    Raises:
        ValueError: a factor is not prime.
    """
    try:
        return PrivateArithmetic(p, q, _native.PrivateKey.from_primes(_bytes(p), _bytes(q), insecure=True))
    except HearithError:
        # The engine does not support these primes, or the factors are not prime.
        for name, factor in (("p", p), ("q", q)):
            if not is_prime(factor):
                raise ValueError(f"{name} is not prime") from None
        return PrivateArithmetic(p, q, None)


def generated(bits: int) -> PrivateArithmetic | None:
    """Returns the arithmetic of new primes with a product of `bits` bits; None if the engine does
    not support this size.
    """
    try:
        key = _native.PrivateKey.generate(bits, insecure=True)
    except HearithError:
        return None
    entries = json.loads(key.to_jwk())
    p, q = sorted(base64_to_int(entries[name]) for name in "pq")
    return PrivateArithmetic(p, q, key)


def _bytes(number: int) -> bytes:
    return number.to_bytes(-(-number.bit_length() // 8), "big")


def primes(n_length: int) -> tuple[int, int]:
    """Returns primes with a product of `n_length` bits, for sizes that the Rust engine does not
    support.
    """
    while True:
        p, q = getprimeover(n_length // 2), getprimeover(n_length // 2)
        if p != q and (p * q).bit_length() == n_length:
            return p, q
