"""Paillier's scheme and the text of encrypted numbers, by GMP: the tests' oracle, which shares
nothing with the extension.
"""

import base64
import hashlib
import json
import secrets

import gmpy2


def _base64(number, size):
    return base64.urlsafe_b64encode(int(number).to_bytes(size, "big")).rstrip(b"=").decode()


def _prime(bits):
    while True:
        candidate = secrets.randbits(bits) | 3 << (bits - 2) | 3
        if gmpy2.is_prime(candidate):
            return gmpy2.mpz(candidate)


class Key:
    """A key pair of the standard variant."""

    def __init__(self, bits=1024):
        self.p, self.q = _prime(bits // 2), _prime(bits // 2)
        self.n = self.p * self.q
        self.bits = bits
        self.phi = (self.p - 1) * (self.q - 1)
        self.square = self.n * self.n
        self.id = hashlib.sha256(int(self.n).to_bytes(bits // 8, "big")).hexdigest()[:32]

    def public(self):
        """The public key as a JSON Web Key."""
        n = _base64(self.n, self.bits // 8)
        return json.dumps({"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": n, "kid": "a test's"})

    def private(self):
        """The private key as a JSON Web Key."""
        p, q = (_base64(prime, self.bits // 16) for prime in sorted((self.p, self.q)))
        return json.dumps({"kty": "DAJ", "key_ops": ["decrypt"], "p": p, "q": q, "pub": json.loads(self.public())})

    def encrypt(self, number):
        """The ciphertext of an integer."""
        randomness = gmpy2.powmod(secrets.randbelow(int(self.n) - 1) + 1, self.n, self.square)
        return (1 + number % self.n * self.n) * randomness % self.square

    def decrypt(self, ciphertext):
        """The signed integer in a ciphertext."""
        power = gmpy2.powmod(ciphertext, self.phi, self.square)
        number = (power - 1) // self.n * gmpy2.invert(self.phi, self.n) % self.n
        return int(number if number <= self.n // 2 else number - self.n)

    def value(self, number, scale=0, limit=2**63 - 1, headroom=2**32, additions=1):
        """The text of an encrypted number, given in units of its last digit."""
        return self.text(self.encrypt(number), scale, limit, headroom, additions)

    def text(self, ciphertext, scale=0, limit=2**63 - 1, headroom=2**32, additions=1):
        """The text of a ciphertext."""
        ciphertext = _base64(ciphertext, self.bits // 4)
        return f"he1:{self.id}:{self.bits}:{scale}:{limit}:{headroom}:{additions}:{ciphertext}"

    def read(self, text):
        """What a text says: the decrypted integer, scale, range, headroom and additions."""
        version, key, bits, *numbers, ciphertext = text.split(":")
        assert (version, key, bits) == ("he1", self.id, str(self.bits))
        ciphertext = int.from_bytes(base64.urlsafe_b64decode(ciphertext + "=" * (-len(ciphertext) % 4)), "big")
        return (self.decrypt(ciphertext), *map(int, numbers))

    def number(self, text):
        """The decrypted integer and its scale."""
        return self.read(text)[:2]
