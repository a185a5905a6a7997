"""Paillier keys: the public key encrypts and computes, the private key decrypts."""

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

#: Default key size in bits, for 128-bit security [SP800].
DEFAULT_BITS = rust.DEFAULT_BITS
#: Smallest key size in bits that does not need `insecure=True`.
MIN_SECURE_BITS = rust.MIN_SECURE_BITS
#: Upper limit that only keeps the integer in range. The Rust kernel checks the actual limits.
_MOST_BITS = 2**31 - 1


class PublicKey(PublicOperations):
    """A public key, which encrypts numbers and computes with ciphertexts.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> he.PublicKey.from_jwk(public.to_jwk(), insecure=True) == public
    True
    """

    native: rust.PublicKey

    def __init__(self, n: int, h: int | None = None, *, insecure: bool = False, engine: str | None = None) -> None:
        """Creates the key with modulus `n`, and of the DJN variant if a generator `h` is given.

        Raises:
            InvalidKeyError: `n` is detectably not the product of two large primes, or the key is
                insecure (below 2048 bits, prime, primes close together) and `insecure` is not set.
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
        """Reads a JSON Web Key written by `to_jwk`, the command line or python-paillier's
        `pheutil`.
        """
        return cls._of(rust.PublicKey.from_jwk(text, insecure=insecure, engine=engine))

    @classmethod
    def load(cls, path: str | PathLike[str], *, insecure: bool = False, engine: str | None = None) -> PublicKey:
        """Reads a file that contains a JSON Web Key.

        Raises:
            InvalidKeyError: the file contains no public key, or an insecure one and `insecure` is
                not set.
            OSError: the file cannot be read.
        """
        return cls._of(rust.PublicKey.load(path, insecure=insecure, engine=engine))

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_public, (self.to_jwk(), self.weakness is not None)


class PrivateKey(EncryptionKey, DecryptionKey):
    """A private key, which decrypts, and encrypts faster than the public key.

    It is wiped from memory when it is dropped. It can be neither printed nor pickled; use `to_jwk`
    to export it.
    """

    native: rust.PrivateKey

    def __init__(
        self, p: int, q: int, h: int | None = None, *, insecure: bool = False, engine: str | None = None
    ) -> None:
        """Creates the key with primes `p` and `q` of equal length.

        Raises:
            InvalidKeyError: the numbers do not form a valid key.
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
        """Reads a JSON Web Key written by `to_jwk`, the command line or python-paillier's
        `pheutil`.

        `passphrase` decrypts an encrypted key and is ignored for an unencrypted one.

        Raises:
            InvalidKeyError: the text is not a private key, the passphrase is wrong or missing, or
                the key is insecure and `insecure` is not set.
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
        """Reads a file that contains a JSON Web Key, encrypted or not, and wipes its text from
        memory.

        Warns if anyone but the file's owner can read it.

        Raises:
            InvalidKeyError: as in `from_jwk`.
            OSError: the file cannot be read.
        """
        return cls._of(rust.PrivateKey.load(path, passphrase=passphrase, insecure=insecure, engine=engine))

    def any_randomiser(self) -> PrivateKey:
        """Returns the same key, set to decrypt ciphertexts of any origin.

        Only `subgroup` keys need this; keys of other variants always do it. A subgroup key decrypts
        with short exponents. It rejects ciphertexts whose randomisers it did not generate, such as
        python-paillier's, and sums that include one (error kind `foreign_randomiser`). The returned
        key takes three to five times as long for every row.

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
        """Whether the key decrypts ciphertexts with any randomiser.

        False for a `subgroup` key as generated or read.
        """
        return self.native.decrypts_any_randomiser

    def to_jwk(self, *, passphrase: str | None = None) -> str:
        """Returns the secret key as a single-line JSON Web Key.

        With a passphrase, the result is encrypted (RFC 7517, section 7: PBES2-HS512+A256KW and
        A256GCM), which takes about half a second.
        """
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
        """The HTML representation for notebooks, without any secret."""
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
    """Generates a key pair of the Paillier scheme or of `hearith.bfv`.

    Args:
        bits: size of the modulus in bits, even, 2048 to 8192. Smaller sizes, from 64, require
            `insecure`.
        variant: `standard`, `djn` or `subgroup`. With `djn` [DJN10], encryption with the public key
            is several times faster, under one additional assumption. With `subgroup` [MHL21],
            decryption is also several times faster, under a further assumption, and numbers
            encrypted otherwise are rejected.
        scheme: `paillier`, or `bfv` for batched vectors and columns (docs/how-to/choosing.md).
        parameters: for `bfv` only: `bfv-4096`, `bfv-8192` (the default) or `bfv-16384`. Besides it,
            `bfv` accepts only `engine`.
        insecure: allows insecure keys.
        engine: `serial`, `avx2` or `ifma`. Defaults to `HEARITH_ENGINE`, else to the fastest engine
            of the machine. `cuda`, `cuda:1` and `cuda:all` select graphics cards, for Paillier keys
            of 1024 to 4096 bits. `auto` uses a card for 8192 rows or more if `HEARITH_ALLOW_CARD`
            is 1. Every function that generates or reads a key accepts an engine.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, "djn", insecure=True)
    >>> public.bits, public.variant
    (512, 'djn')

    Raises:
        InvalidKeyError: the arguments are invalid, or the key would be insecure and `insecure`
            is not set.
    """
    if scheme == "bfv":
        if bits is not None or variant is not None or insecure:
            raise InvalidKeyError(
                "bits, variant and insecure do not apply to bfv: choose parameters", kind="parameters"
            )
        return bfv.generate_keypair(parameters or bfv.DEFAULT_PARAMETERS, engine=engine)
    if scheme != "paillier":
        raise InvalidKeyError("unknown scheme; known are paillier and bfv", kind="unknown_scheme")
    if parameters is not None:
        raise InvalidKeyError("parameters apply only to bfv: choose bits and variant", kind="parameters")
    length = whole("bits", DEFAULT_BITS if bits is None else bits, 0, _MOST_BITS)
    chosen = "standard" if variant is None else variant
    private = PrivateKey._of(rust.PrivateKey.generate(length, chosen, insecure=insecure, engine=engine))
    return private.public, private


def _load_public(text: str, insecure: bool) -> PublicKey:
    """Restores a pickled key."""
    return PublicKey.from_jwk(text, insecure=insecure)


def _to_bytes(name: str, number: int) -> bytes:
    """Returns a number of a key as big-endian bytes."""
    if not isinstance(number, int):
        raise NumberError(f"{name} must be an integer", kind="not_a_number")
    if number < 0:
        raise InvalidKeyError(f"{name} must not be negative", kind="negative")
    return number.to_bytes(max(1, -(-number.bit_length() // 8)), "big")
