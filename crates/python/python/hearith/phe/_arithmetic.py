"""Single residues through the Rust engine, or through Python for moduli that it does not take."""

from __future__ import annotations

import math
import secrets
from functools import lru_cache

from hearith import _native
from hearith._integers import packed, wipe
from hearith.errors import HearithError


class PublicArithmetic:
    """What needs only n: on numbers modulo n^2."""

    def __init__(self, n: int) -> None:
        """For the modulus `n`, whatever it is."""
        self.n, self.square = n, n * n
        self._key = _accepted(n)

    def encrypt(self, plaintext: int) -> int:
        """A ciphertext of a residue modulo n."""
        if self._key is None:
            return (1 + plaintext * self.n) * self._randomiser() % self.square
        residue = bytearray(plaintext.to_bytes(self._key.plaintext_bytes, "big"))
        try:
            return self._int(self._key.encrypt(self._key.residues(residue)))
        finally:
            wipe(residue)

    def rerandomise(self, ciphertext: int) -> int:
        """Another ciphertext of the same residue."""
        batch = self._batch(ciphertext)
        if self._key is None or batch is None:
            return ciphertext * self._randomiser() % self.square
        return self._int(self._key.rerandomise(batch))

    def multiply(self, ciphertext: int, scalar: int) -> int:
        """A ciphertext of the product with a signed integer."""
        batch = self._batch(ciphertext)
        if self._key is None or batch is None:
            return pow(ciphertext, scalar, self.square)
        with packed([scalar]) as (data, width):
            return self._int(self._key.multiply(batch, data, width, max(1, scalar.bit_length())))

    def _randomiser(self) -> int:
        return pow(secrets.randbelow(self.n - 1) + 1, self.n, self.square)

    def _batch(self, ciphertext: int) -> _native.Ciphertexts | None:
        """The number as a batch of one, if it is a ciphertext at all."""
        if self._key is None or not 0 < ciphertext < self.square:
            return None
        try:
            return self._key.ciphertexts(ciphertext.to_bytes(self._key.ciphertext_bytes, "big"))
        except HearithError:
            return None

    @staticmethod
    def _int(batch: _native.Ciphertexts) -> int:
        return int.from_bytes(batch.to_bytes(), "big")


class PrivateArithmetic:
    """What needs the primes, p below q."""

    def __init__(self, p: int, q: int) -> None:
        """For primes `p` and `q`."""
        self.p, self.q = p, q
        try:
            self._key: _native.PrivateKey | None = _native.PrivateKey.from_primes(_bytes(p), _bytes(q), insecure=True)
        except HearithError:
            self._key = None

    def decrypt(self, ciphertext: int) -> int:
        """The residue modulo n in a ciphertext."""
        if self._key is not None:
            public = self._key.public
            square = int.from_bytes(public.modulus(), "big") ** 2
            data = (ciphertext % square).to_bytes(public.ciphertext_bytes, "big")
            return int.from_bytes(self._key.decrypt(public.ciphertexts(data)).to_bytes(), "big")
        # lambda and mu of the textbook: [Paillier99], scheme 1, with g = n + 1.
        n = self.p * self.q
        exponent = math.lcm(self.p - 1, self.q - 1)
        return (pow(ciphertext, exponent, n * n) - 1) // n * pow(exponent, -1, n) % n


@lru_cache(maxsize=64)
def public(n: int) -> PublicArithmetic:
    """The arithmetic of a modulus, prepared once."""
    return PublicArithmetic(n)


def _accepted(n: int) -> _native.PublicKey | None:
    try:
        return _native.PublicKey(_bytes(n), insecure=True)
    except HearithError:
        return None


def _bytes(number: int) -> bytes:
    return number.to_bytes(-(-number.bit_length() // 8), "big")
