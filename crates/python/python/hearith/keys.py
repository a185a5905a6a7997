"""Keys: what encrypts, and what decrypts."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal, NoReturn, overload

from hearith import _native as rust
from hearith import bfv
from hearith._arguments import whole
from hearith._computing import ComputingKey
from hearith._decryption import DecryptionKey
from hearith._encryption import EncryptionKey
from hearith._html import shown
from hearith._public import PublicOperations
from hearith.errors import InvalidKeyError, NumberError

#: Bits of a key unless one chooses: 128-bit security [SP800].
DEFAULT_BITS = rust.DEFAULT_BITS
#: Bits below which a key has to be asked for as insecure.
MIN_SECURE_BITS = rust.MIN_SECURE_BITS
#: Far more bits than any key has; what keys may have, Rust says.
_MOST_BITS = 2**31 - 1


class PublicKey(PublicOperations):
    """What anybody may have: encrypts, and computes with ciphertexts.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> he.PublicKey.from_jwk(public.to_jwk(), insecure=True) == public
    True
    """

    native: rust.PublicKey

    def __init__(self, n: int, h: int | None = None, *, insecure: bool = False, engine: str | None = None) -> None:
        """The key with modulus `n`; with a generator `h` it is of the DJN variant.

        Raises:
            InvalidKeyError: `n` is no product of two large primes as far as can be seen, or the key
                protects nothing (below 2048 bits, prime, primes close together) and `insecure` is
                not set.
        """
        generator = None if h is None else _to_bytes("h", h)
        super().__init__(rust.PublicKey(_to_bytes("n", n), generator, insecure=insecure, engine=engine))

    @classmethod
    def _of(cls, native: rust.PublicKey) -> PublicKey:
        self = object.__new__(cls)
        ComputingKey.__init__(self, native)
        return self

    @classmethod
    def from_jwk(cls, text: str, *, insecure: bool = False, engine: str | None = None) -> PublicKey:
        """The key in a JSON Web Key, as `to_jwk`, the command line and python-paillier's `pheutil`
        write it.
        """
        return cls._of(rust.PublicKey.from_jwk(text, insecure=insecure, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, insecure: bool = False, engine: str | None = None) -> PublicKey:
        """The key in a file with its JSON Web Key.

        Raises:
            InvalidKeyError: it holds no public key, or one that protects nothing and `insecure` is
                not set.
            OSError: it cannot be read.
        """
        return cls._of(rust.PublicKey.load(path, insecure=insecure, engine=engine))

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_public, (self.to_jwk(), self.weakness is not None)


class PrivateKey(EncryptionKey, DecryptionKey):
    """What only the owner has: decrypts, and encrypts faster than the public key.

    It is wiped when it is dropped, and neither printed nor pickled; `to_jwk` writes it down
    deliberately.
    """

    native: rust.PrivateKey

    def __init__(
        self, p: int, q: int, h: int | None = None, *, insecure: bool = False, engine: str | None = None
    ) -> None:
        """The key with primes `p` and `q` of equal length.

        Raises:
            InvalidKeyError: the numbers make no key.
        """
        generator = None if h is None else _to_bytes("h", h)
        primes = _to_bytes("p", p), _to_bytes("q", q)
        self._set(rust.PrivateKey.from_primes(*primes, generator, insecure=insecure, engine=engine))

    def _set(self, native: rust.PrivateKey) -> None:
        self.native = native
        self._key = PublicKey._of(native.public)

    @classmethod
    def _of(cls, native: rust.PrivateKey) -> PrivateKey:
        self = object.__new__(cls)
        self._set(native)
        return self

    @classmethod
    def from_jwk(
        cls, text: str, *, passphrase: str | None = None, insecure: bool = False, engine: str | None = None
    ) -> PrivateKey:
        """The key in a JSON Web Key, as `to_jwk`, the command line and python-paillier's `pheutil`
        write it.

        `passphrase` opens an encrypted one; for one in the clear it is not used.

        Raises:
            InvalidKeyError: the text is no private key, the passphrase is wrong or missing, or the
                key protects nothing and `insecure` is not set.
        """
        return cls._of(rust.PrivateKey.from_jwk(text, passphrase=passphrase, insecure=insecure, engine=engine))

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        passphrase: str | None = None,
        insecure: bool = False,
        engine: str | None = None,
    ) -> PrivateKey:
        """The key in a file with its JSON Web Key, encrypted or not; its text is wiped from memory.

        Warns if others than the file's owner can read it.

        Raises:
            InvalidKeyError: as `from_jwk`.
            OSError: the file cannot be read.
        """
        return cls._of(rust.PrivateKey.load(path, passphrase=passphrase, insecure=insecure, engine=engine))

    def any_randomiser(self) -> PrivateKey:
        """The same key, decrypting ciphertexts of any origin; under a variant other than `subgroup`
        every key does.

        A subgroup key decrypts with short exponents, and rejects ciphertexts whose randomisers are
        not its own, such as python-paillier's, and sums with one of them (the error's kind is
        `foreign_randomiser`). What this key decrypts takes three to five times as long, every row
        alike.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(1024, "subgroup", insecure=True)
        >>> foreign = he.PublicKey(public.n, insecure=True).encrypt(-7)
        >>> foreign = he.EncryptedArray.from_bytes(public, foreign.to_bytes())
        >>> private.any_randomiser().decrypt(foreign)
        array([-7])
        """
        return PrivateKey._of(self.native.any_randomiser())

    @property
    def decrypts_any_randomiser(self) -> bool:
        """Whether it decrypts ciphertexts whatever their randomisers: false of a `subgroup` key as
        it was generated or read.
        """
        return self.native.decrypts_any_randomiser

    def to_jwk(self, *, passphrase: str | None = None) -> str:
        """The key, secret as it is, as a JSON Web Key of one line; with a passphrase as an
        encrypted one (RFC 7517, section 7: PBES2-HS512+A256KW and A256GCM), which takes about half
        a second."""
        return self.native.to_jwk() if passphrase is None else self.native.to_encrypted_jwk(passphrase)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key

    @property
    def id(self) -> str:
        """The id of the public key."""
        return self._key.id

    @property
    def bits(self) -> int:
        """Bits of the modulus."""
        return self._key.bits

    def __repr__(self) -> str:
        return f"<PrivateKey {self.id}: {self.bits} bits>"

    def _repr_html_(self) -> str:
        """What notebooks show: nothing of the secret."""
        return shown("Private key", {"id": self.id, "bits": str(self.bits)})

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled: write it down deliberately with to_jwk()")


@overload
def generate_keypair(
    bits: int = DEFAULT_BITS,
    variant: str = "standard",
    *,
    scheme: Literal["paillier"] = "paillier",
    insecure: bool = False,
    engine: str | None = None,
) -> tuple[PublicKey, PrivateKey]: ...


@overload
def generate_keypair(
    *, scheme: Literal["bfv"], parameters: str = bfv.DEFAULT_PARAMETERS, engine: str | None = None
) -> tuple[bfv.PublicKey, bfv.PrivateKey]: ...


def generate_keypair(
    bits: int | None = None,
    variant: str | None = None,
    *,
    scheme: str = "paillier",
    parameters: str | None = None,
    insecure: bool = False,
    engine: str | None = None,
) -> tuple[PublicKey, PrivateKey] | tuple[bfv.PublicKey, bfv.PrivateKey]:
    """A new key pair, of Paillier's scheme or of `hearith.bfv`.

    Args:
        bits: bits of the modulus, even, 2048 to 8192; less, from 64 on, only with `insecure`.
        variant: `standard`; `djn` [DJN10]: encryption with the public key is several times faster,
            secure under one more assumption; or `subgroup` [MHL21]: decryption is several times
            faster too, under a further one, and numbers that were encrypted otherwise are rejected.
        scheme: `paillier`, or `bfv` for vectors and columns that are encrypted whole
            (docs/how-to/choosing.md).
        parameters: of `bfv` alone, which has no other arguments but the engine: `bfv-4096`,
            `bfv-8192` (the default) or `bfv-16384`.
        insecure: allows keys that protect nothing.
        engine: `serial`, `avx2` or `ifma`; by default what `HEARITH_ENGINE` says, else the fastest
            that the machine has. `cuda`, `cuda:1` and `cuda:all` are graphics cards, for keys of
            1024 to 4096 bits of Paillier's scheme; `auto` takes one for 8192 rows and more where
            `HEARITH_ALLOW_CARD` is 1. Every key that is made or read can name its engine.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, "djn", insecure=True)
    >>> public.bits, public.variant
    (512, 'djn')

    Raises:
        InvalidKeyError: there are no such keys, or they would protect nothing and `insecure` is not
            set.
    """
    if scheme == "bfv":
        if bits is not None or variant is not None or insecure:
            raise InvalidKeyError("bits, variant and insecure are not for bfv: choose parameters", kind="parameters")
        return bfv.generate_keypair(parameters or bfv.DEFAULT_PARAMETERS, engine=engine)
    if scheme != "paillier":
        raise InvalidKeyError("unknown scheme; known are paillier and bfv", kind="unknown_scheme")
    if parameters is not None:
        raise InvalidKeyError("parameters are for bfv: choose bits and variant", kind="parameters")
    length = whole("bits", DEFAULT_BITS if bits is None else bits, 0, _MOST_BITS)
    chosen = "standard" if variant is None else variant
    private = PrivateKey._of(rust.PrivateKey.generate(length, chosen, insecure=insecure, engine=engine))
    return private.public, private


def _load_public(text: str, insecure: bool) -> PublicKey:
    """An unpickled key."""
    return PublicKey.from_jwk(text, insecure=insecure)


def _to_bytes(name: str, number: int) -> bytes:
    """A number of a key, big-endian."""
    if not isinstance(number, int):
        raise NumberError(f"{name} must be an integer", kind="not_a_number")
    if number < 0:
        raise InvalidKeyError(f"{name} must not be negative", kind="negative")
    return number.to_bytes(max(1, -(-number.bit_length() // 8)), "big")
