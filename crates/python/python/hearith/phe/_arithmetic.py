"""Single residues: put off and computed many at once in Rust, or at once in Python for moduli that
the engine does not take.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Protocol, TypeAlias

from hearith import _native
from hearith._packing import wipe
from hearith.errors import HearithError
from hearith.phe._pending import Holder, Number, Pending
from hearith.phe.util import base64_to_int, getprimeover, is_prime, random_below

#: A ciphertext as the arithmetic has it: put off, or Python's integer where the engine takes none
#: of it.
Residue: TypeAlias = Number | int


class PublicArithmetic(Protocol):
    """What needs only n: on numbers modulo n^2."""

    def ready(self, ciphertext: int) -> Residue:
        """A ciphertext that is known, whatever integer it is."""
        ...

    def integer(self, residue: Residue) -> int:
        """The ciphertext as an integer."""
        ...

    def encrypt(self, plaintext: int) -> Residue:
        """A ciphertext of a residue modulo n."""
        ...

    def rerandomise(self, residue: Residue) -> Residue:
        """Another ciphertext of the same number."""
        ...

    def sum(self, left: Residue, right: Residue) -> Residue:
        """The product modulo n^2."""
        ...

    def shifted(self, residue: Residue, plaintext: int) -> Residue:
        """The product with `1 + plaintext n`; the plaintext may be any integer."""
        ...

    def multiple(self, residue: Residue, factor: int) -> Residue:
        """The power modulo n^2, of a signed factor."""
        ...

    def public_multiple(self, residue: Residue, factor: int) -> Residue:
        """The same, of a factor that everybody may know."""
        ...

    def hold(self, holder: Holder) -> None:
        """Notes who holds a number that may have been put off."""
        ...

    def keep(self, count: int) -> None:
        """Keeps so many randomisers ready."""
        ...

    def kept(self) -> int:
        """Randomisers that are ready."""
        ...


class PurePythonBackend:
    """Everything at once, on Python's integers."""

    def __init__(self, n: int) -> None:
        """For the modulus `n`, whatever it is."""
        self._n, self._square = n, n * n

    def ready(self, ciphertext: int) -> Residue:
        """See `PublicArithmetic`, as for all that follows."""
        return ciphertext

    def integer(self, residue: Residue) -> int:
        """The integer itself."""
        assert isinstance(residue, int)
        return residue

    def encrypt(self, plaintext: int) -> Residue:
        """With a randomiser of its own."""
        return (1 + plaintext * self._n) * self._randomiser() % self._square

    def rerandomise(self, residue: Residue) -> Residue:
        """With a randomiser of its own."""
        return self.integer(residue) * self._randomiser() % self._square

    def sum(self, left: Residue, right: Residue) -> Residue:
        """One multiplication."""
        return self.integer(left) * self.integer(right) % self._square

    def shifted(self, residue: Residue, plaintext: int) -> Residue:
        """Two multiplications."""
        return self.integer(residue) * (1 + plaintext * self._n) % self._square

    def multiple(self, residue: Residue, factor: int) -> Residue:
        """A power."""
        return pow(self.integer(residue), factor, self._square)

    def public_multiple(self, residue: Residue, factor: int) -> Residue:
        """A power."""
        return self.multiple(residue, factor)

    def hold(self, holder: Holder) -> None:
        """Nothing is put off."""

    def keep(self, count: int) -> None:
        """Nothing is kept."""

    def kept(self) -> int:
        """None."""
        return 0

    def _randomiser(self) -> int:
        return pow(random_below(self._n - 1) + 1, self._n, self._square)


class InRust:
    """Many at once, in the engine.

    Integers outside `[1, n^2)`, which are no ciphertexts, are left to Python.
    """

    def __init__(self, n: int, key: _native.PublicKey) -> None:
        """For the modulus `n` of a key."""
        self._square = n * n
        self._plaintext_bytes, self._ciphertext_bytes = key.plaintext_bytes, key.ciphertext_bytes
        self._singles = _native.Singles(key)
        self._pending = Pending(self._singles, n, key.plaintext_bytes)
        self._in_python = PurePythonBackend(n)
        self.hold = self._pending.hold
        self.keep, self.kept = self._singles.keep, self._singles.kept

    def ready(self, ciphertext: int) -> Residue:
        """See `PublicArithmetic`, as for all that follows."""
        if 0 < ciphertext < self._square:
            return Number(ciphertext.to_bytes(self._ciphertext_bytes, "big"))
        return ciphertext

    def integer(self, residue: Residue) -> int:
        """Computed now, if it was put off."""
        return residue if isinstance(residue, int) else int.from_bytes(self._pending.value(residue), "big")

    def encrypt(self, plaintext: int) -> Residue:
        """With one of the randomisers that are made a lane full at a time."""
        residue = bytearray(plaintext.to_bytes(self._plaintext_bytes, "big"))
        try:
            return Number(self._singles.encrypt(residue))
        finally:
            wipe(residue)

    def rerandomise(self, residue: Residue) -> Residue:
        """With one of the randomisers that are made a lane full at a time."""
        if isinstance(residue, int):
            return self.ready(self._in_python.integer(self._in_python.rerandomise(residue)))
        return Number(self._singles.rerandomise(self._pending.value(residue)))

    def sum(self, left: Residue, right: Residue) -> Residue:
        """Put off."""
        if isinstance(left, int) or isinstance(right, int):
            return self.ready(self.integer(left) * self.integer(right) % self._square)
        return self._pending.sum(left, right)

    def shifted(self, residue: Residue, plaintext: int) -> Residue:
        """Put off."""
        if isinstance(residue, int):
            return self.ready(self._in_python.integer(self._in_python.shifted(residue, plaintext)))
        return self._pending.shifted(residue, plaintext) if plaintext else residue

    def multiple(self, residue: Residue, factor: int) -> Residue:
        """Put off."""
        if isinstance(residue, int):
            return self.ready(pow(residue, factor, self._square))
        return self._pending.multiple(residue, factor)

    def public_multiple(self, residue: Residue, factor: int) -> Residue:
        """Put off, and remembered."""
        if isinstance(residue, int):
            return self.multiple(residue, factor)
        return self._pending.public_multiple(residue, factor)


class PrivateArithmetic:
    """What needs the primes, p below q."""

    def __init__(self, p: int, q: int, key: _native.PrivateKey | None) -> None:
        """For primes `p` and `q`, and their key if the engine takes them."""
        self.p, self.q = p, q
        self._square = (p * q) ** 2
        self._key = key
        if key is not None:
            self._singles = _native.Singles(key.public)
            self._width = key.public.ciphertext_bytes

    def decrypt(self, ciphertext: int) -> int:
        """The residue modulo n in a ciphertext."""
        if self._key is not None:
            row = (ciphertext % self._square).to_bytes(self._width, "big")
            residue = self._singles.decrypt(self._key, row)
            try:
                return int.from_bytes(residue, "big")
            finally:
                wipe(residue)
        # lambda and mu of the textbook: [Paillier99], scheme 1, with g = n + 1.
        n = self.p * self.q
        exponent = math.lcm(self.p - 1, self.q - 1)
        return (pow(ciphertext, exponent, n * n) - 1) // n * pow(exponent, -1, n) % n


@lru_cache(maxsize=64)
def public(n: int) -> PublicArithmetic:
    """The arithmetic of a modulus, prepared once."""
    try:
        return InRust(n, _native.PublicKey(_bytes(n), insecure=True))
    except HearithError:
        return PurePythonBackend(n)


def private(p: int, q: int) -> PrivateArithmetic:
    """The arithmetic of primes, p below q.

    Raises:
        ValueError: a factor is no prime.
    """
    try:
        return PrivateArithmetic(p, q, _native.PrivateKey.from_primes(_bytes(p), _bytes(q), insecure=True))
    except HearithError:
        # Primes that the engine does not take, or none.
        for name, factor in (("p", p), ("q", q)):
            if not is_prime(factor):
                raise ValueError(f"{name} is not prime") from None
        return PrivateArithmetic(p, q, None)


def generated(bits: int) -> PrivateArithmetic | None:
    """The arithmetic of new primes with a product of so many bits; None where the engine makes no
    keys of this size.
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
    """Primes with a product of `n_length` bits, where the Rust engine makes no keys of this
    size.
    """
    while True:
        p, q = getprimeover(n_length // 2), getprimeover(n_length // 2)
        if p != q and (p * q).bit_length() == n_length:
            return p, q
