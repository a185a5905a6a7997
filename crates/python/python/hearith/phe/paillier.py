"""Keys and encrypted numbers with the interface of `phe.paillier`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from hearith.phe import _arithmetic, _strict, util
from hearith.phe._arithmetic import PrivateArithmetic, PublicArithmetic, Residue
from hearith.phe._keys import Key
from hearith.phe._lazy import LazyNumber
from hearith.phe.encoding import EncodedNumber, Modulus, growth, magnitude, plain

DEFAULT_KEYSIZE = 3072


def generate_paillier_keypair(
    private_keyring: PaillierPrivateKeyring | None = None, n_length: int = DEFAULT_KEYSIZE
) -> tuple[PaillierPublicKey, PaillierPrivateKey]:
    """Generates a key pair with an n of `n_length` bits, and adds the private key to the ring, if
    there is one.
    """
    arithmetic = _arithmetic.generated(n_length)
    p, q = (arithmetic.p, arithmetic.q) if arithmetic else _arithmetic.primes(n_length)
    public_key = PaillierPublicKey(p * q)
    # Skips the primality tests if the engine generated the primes.
    private_key = PaillierPrivateKey._of(public_key, arithmetic) if arithmetic else PaillierPrivateKey(public_key, p, q)
    if private_keyring is not None:
        private_keyring.add(private_key)
    return public_key, private_key


class PaillierPublicKey(Key):
    """A public key: the modulus n and the operations that need only n.

    `max_int` is the largest integer that can be encoded.
    """

    def __init__(self, n: int) -> None:
        """Creates the key with modulus `n`, and warns if it has fewer than 2048 bits.

        Raises:
            ValueError: it has a small factor, or is short in the mode of `strict()`.
        """
        _strict.check_modulus(n)
        self._hold(n)

    def _hold(self, n: int) -> None:
        self.n = n
        self.g = n + 1
        self.nsquare = n * n
        self.max_int = n // 3 - 1

    @cached_property
    def _arithmetic(self) -> PublicArithmetic:
        return _arithmetic.public(self.n)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a pickled key, also one of `phe`, with the checks of a new one."""
        n = operator.index(state["n"])
        _strict.check_modulus(n)
        self.__dict__.update(state)
        self._hold(n)

    def __repr__(self) -> str:
        return f"<PaillierPublicKey {hash(self) & 0xFFFFFFFFFF:010x}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PaillierPublicKey) and self.n == other.n

    def __hash__(self) -> int:
        return hash(self.n)

    def keep_randomisers(self, count: int) -> None:
        """Keeps `count` randomisers ready, made by a low-priority thread, with which encryption is
        immediate; 0 stops it.

        Not part of `phe`: see `RandomiserPool` in hearith-paillier. Randomisers take as much memory
        as ciphertexts. The thread makes them in batches that fill the engine's lanes, as soon as a
        batch is missing. After a minute they are wiped, and replaced at the next encryption. Moduli
        that the engine does not support have none.

        Raises:
            ValueError: the count is negative.
        """
        if count < 0:
            raise ValueError(f"a number of randomisers is needed, not {count}")
        self._arithmetic.keep(count)

    @property
    def randomisers_kept(self) -> int:
        """The number of randomisers that are ready; see `keep_randomisers`."""
        return self._arithmetic.kept()

    def get_random_lt_n(self) -> int:
        """Returns a random number in [1, n), from the operating system's generator."""
        return util.random_below(self.n - 1) + 1

    def raw_encrypt(self, plaintext: int, r_value: int | None = None) -> int:
        """Returns a ciphertext of `plaintext` modulo n, with the randomiser `r_value**n` if one is
        given.

        Raises:
            TypeError: the plaintext is not an integer.
        """
        if not isinstance(plaintext, int):
            raise TypeError(f"an int is needed as plaintext, not {type(plaintext)}")
        residue = plaintext % self.n
        if not r_value:
            return self._arithmetic.integer(self._arithmetic.encrypt(residue))
        return (1 + residue * self.n) * pow(r_value, self.n, self.nsquare) % self.nsquare

    def encrypt(
        self, value: int | float | EncodedNumber, precision: float | None = None, r_value: int | None = None
    ) -> EncryptedNumber:
        """Encodes and encrypts a number; `precision` and errors as in `EncodedNumber.encode`."""
        encoded = value if isinstance(value, EncodedNumber) else EncodedNumber.encode(self, value, precision)
        return self.encrypt_encoded(encoded, r_value)

    def encrypt_encoded(self, encoding: EncodedNumber, r_value: int | None) -> EncryptedNumber:
        """Encrypts an encoded number.

        A result with a given `r_value` does not count as obfuscated.
        """
        if r_value:
            number = EncryptedNumber(self, self.raw_encrypt(encoding.encoding, r_value), encoding.exponent)
        else:
            residue = self._arithmetic.encrypt(encoding.encoding % self.n)
            number = EncryptedNumber._of(self, residue, encoding.exponent, is_obfuscated=True)
        if _strict.is_on():
            number._bound = _strict.usual_bound(magnitude(self, encoding.encoding))
        return number


class PaillierPrivateKey(Key):
    """A private key: the primes, p below q, and the operations that need them."""

    def __init__(self, public_key: PaillierPublicKey, p: int, q: int) -> None:
        """Creates the key from the primes of the public key's n, in either order.

        Raises:
            ValueError: their product is not n, they are equal, or not prime.
        """
        if p * q != public_key.n:
            raise ValueError("the primes p and q do not belong to the public key")
        if p == q:
            raise ValueError("the primes p and q must be different")
        self.public_key = public_key
        self.p, self.q = min(p, q), max(p, q)
        self._arithmetic = _arithmetic.private(self.p, self.q)

    @classmethod
    def _of(cls, public_key: PaillierPublicKey, arithmetic: PrivateArithmetic) -> PaillierPrivateKey:
        """Wraps an arithmetic, whose factors are known to be prime."""
        key = cls.__new__(cls)
        key.public_key, key.p, key.q = public_key, arithmetic.p, arithmetic.q
        key._arithmetic = arithmetic
        return key

    @cached_property
    def _arithmetic(self) -> PrivateArithmetic:
        return _arithmetic.private(self.p, self.q)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a pickled key, also one of `phe`, with the checks of a new one."""
        self.__dict__.update(state)
        PaillierPrivateKey.__init__(self, state["public_key"], operator.index(state["p"]), operator.index(state["q"]))

    @staticmethod
    def from_totient(public_key: PaillierPublicKey, totient: int) -> PaillierPrivateKey:
        """Returns the key for a known (p - 1)(q - 1).

        Raises:
            ValueError: it does not belong to the public key.
        """
        total = public_key.n - totient + 1
        square = total * total - 4 * public_key.n
        difference = util.isqrt(square) if square >= 0 else 0
        p, q = (total - difference) // 2, (total + difference) // 2
        if p * q != public_key.n:
            raise ValueError("the totient does not belong to the public key")
        return PaillierPrivateKey(public_key, p, q)

    def __repr__(self) -> str:
        return f"<PaillierPrivateKey for {self.public_key!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PaillierPrivateKey) and (self.p, self.q) == (other.p, other.q)

    def __hash__(self) -> int:
        return hash((self.p, self.q))

    def raw_decrypt(self, ciphertext: int) -> int:
        """Returns the residue in a ciphertext.

        Raises:
            TypeError: the ciphertext is not an integer.
            ValueError: it does not belong to this key.
        """
        if not isinstance(ciphertext, int):
            raise TypeError(f"an int is needed as ciphertext, not {type(ciphertext)}")
        return self._arithmetic.decrypt(ciphertext)

    def decrypt_encoded(
        self, encrypted_number: EncryptedNumber, Encoding: type[EncodedNumber] | None = None
    ) -> EncodedNumber:
        """Decrypts without decoding, to an `EncodedNumber` or an instance of the class `Encoding`.

        Raises:
            TypeError: the argument is not an encrypted number.
            ValueError: it belongs to another key.
        """
        if not isinstance(encrypted_number, EncryptedNumber):
            raise TypeError(f"an EncryptedNumber is needed, not {type(encrypted_number)}")
        if encrypted_number.public_key != self.public_key:
            raise ValueError("the number was encrypted under a different key")
        residue = self.raw_decrypt(encrypted_number.ciphertext(be_secure=False))
        return (Encoding or EncodedNumber)(self.public_key, residue, encrypted_number.exponent)

    def decrypt(self, encrypted_number: EncryptedNumber) -> int | float:
        """Decrypts and decodes a number; errors as in `decrypt_encoded` and
        `EncodedNumber.decode`.
        """
        return self.decrypt_encoded(encrypted_number).decode()


class PaillierPrivateKeyring(Mapping[PaillierPublicKey, PaillierPrivateKey]):
    """A mapping of public keys to private keys."""

    def __init__(self, private_keys: Iterable[PaillierPrivateKey] | None = None) -> None:
        """Creates a ring with these keys."""
        self.__keyring = {key.public_key: key for key in private_keys or ()}

    def __getitem__(self, key: PaillierPublicKey) -> PaillierPrivateKey:
        return self.__keyring[key]

    def __len__(self) -> int:
        return len(self.__keyring)

    def __iter__(self) -> Iterator[PaillierPublicKey]:
        return iter(self.__keyring)

    def __delitem__(self, public_key: PaillierPublicKey) -> None:
        del self.__keyring[public_key]

    def add(self, private_key: PaillierPrivateKey) -> None:
        """Adds a key.

        Raises:
            TypeError: the argument is not a private key.
        """
        if not isinstance(private_key, PaillierPrivateKey):
            raise TypeError(f"a PaillierPrivateKey is needed, not {type(private_key)}")
        self.__keyring[private_key.public_key] = private_key

    def decrypt(self, encrypted_number: EncryptedNumber) -> int | float:
        """Decrypts with the matching key.

        Raises:
            KeyError: there is none.
        """
        return self.__keyring[encrypted_number.public_key].decrypt(encrypted_number)


class EncryptedNumber:
    """An encrypted number, which supports addition of encrypted and plaintext numbers, and
    multiplication by plaintext ones.

    Results are not obfuscated until `ciphertext()` returns them.
    """

    #: Upper limit of the encoded integer's magnitude; None if the strict mode was off.
    _bound: int | None = None

    def __init__(self, public_key: PaillierPublicKey, ciphertext: int, exponent: int = 0) -> None:
        """Wraps a ciphertext with exponent `exponent` of `EncodedNumber.BASE`.

        Raises:
            TypeError: the ciphertext is an encrypted number itself, or the key is not a public key.
        """
        if isinstance(ciphertext, EncryptedNumber):
            raise TypeError("the ciphertext must be an integer")
        if not isinstance(public_key, PaillierPublicKey):
            raise TypeError("the key must be a PaillierPublicKey")
        self.public_key = public_key
        self.exponent = exponent
        self._residue = public_key._arithmetic.ready(ciphertext)
        self.__is_obfuscated = False

    @classmethod
    def _of(
        cls, public_key: PaillierPublicKey, residue: Residue, exponent: int, *, is_obfuscated: bool = False
    ) -> EncryptedNumber:
        """Wraps a residue that was computed, or just encrypted with a random randomiser
        (`is_obfuscated`).
        """
        number = cls.__new__(cls)
        number.public_key = public_key
        number.exponent = exponent
        number._residue = residue
        number.__is_obfuscated = is_obfuscated
        return number

    def _computed(self, residue: Residue, exponent: int, bound: int | None = None) -> EncryptedNumber:
        """Wraps the result of an operation, which may be deferred."""
        number = EncryptedNumber._of(self.public_key, residue, exponent)
        if bound is not None:
            number._bound = bound
        self.public_key._arithmetic.register(number)
        return number

    @property
    def pending(self) -> LazyNumber | None:
        """The deferred number, for the arithmetic only."""
        return self._residue if isinstance(self._residue, LazyNumber) else None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_residue": self.ciphertext(be_secure=False)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # `phe` uses another name for the ciphertext.
        name = "_residue" if "_residue" in state else "_EncryptedNumber__ciphertext"
        EncryptedNumber.__init__(self, state["public_key"], state[name], state["exponent"])
        self.__dict__.update({key: value for key, value in state.items() if key != name})

    def ciphertext(self, be_secure: bool = True) -> int:
        """Returns the ciphertext, after obfuscating it unless it already is or `be_secure` is
        false.
        """
        if be_secure and not self.__is_obfuscated:
            self.obfuscate()
        return self.public_key._arithmetic.integer(self._residue)

    def obfuscate(self) -> None:
        """Re-randomises the ciphertext, which hides what it was computed from."""
        self._residue = self.public_key._arithmetic.rerandomise(self._residue)
        self.__is_obfuscated = True

    def decrease_exponent_to(self, new_exp: int) -> EncryptedNumber:
        """Returns the same number with a lower exponent.

        Raises:
            ValueError: the exponent is higher than the number's, or so low that no number fits
                below n / 3.
        """
        return self._computed(self._aligned(new_exp), new_exp, self._bounded(new_exp))

    def __add__(self, other: EncryptedNumber | EncodedNumber | int | float) -> EncryptedNumber:
        if isinstance(other, EncryptedNumber):
            self._check_key(other.public_key)
            exponent = min(self.exponent, other.exponent)
            bound = self._bounded(exponent, other) if _strict.is_on() else None
            total = self.public_key._arithmetic.sum(self._aligned(exponent), other._aligned(exponent))
            return self._computed(total, exponent, bound)
        if not isinstance(other, EncodedNumber):
            other = EncodedNumber.encode(self.public_key, other, max_exponent=self.exponent)
        self._check_key(other.public_key)
        exponent = min(self.exponent, other.exponent)
        added, bound = other.encoding, None
        if _strict.is_on():
            grown = magnitude(self.public_key, added) * EncodedNumber.BASE ** (other.exponent - exponent)
            bound = self._bounded(exponent, added=grown)
        if other.exponent != exponent:
            added *= growth(self.public_key, other.exponent, exponent)
        # Added without a trivial ciphertext. The sum is no more obfuscated than any other.
        return self._computed(self.public_key._arithmetic.shifted(self._aligned(exponent), added), exponent, bound)

    def __radd__(self, other: EncodedNumber | int | float) -> EncryptedNumber:
        return self + other

    def __sub__(self, other: EncryptedNumber | int | float) -> EncryptedNumber:
        return self + (other._negative() if isinstance(other, EncryptedNumber) else plain(other) * -1)

    def __rsub__(self, other: int | float) -> EncryptedNumber:
        return self._negative() + other

    def _negative(self) -> EncryptedNumber:
        opposite = self.public_key._arithmetic.public_multiple(self._residue, -1)
        return self._computed(opposite, self.exponent, self._bound)

    def __mul__(self, other: EncodedNumber | int | float) -> EncryptedNumber:
        if isinstance(other, EncryptedNumber):
            raise NotImplementedError("the product of two encrypted numbers cannot be computed")
        if not isinstance(other, EncodedNumber):
            other = EncodedNumber.encode(self.public_key, other)
        n, most = self.public_key.n, self.public_key.max_int
        if not 0 <= other.encoding < n:
            raise ValueError("the factor's encoding is not in [0, n)")
        factor = other.encoding - n if other.encoding >= n - most else other.encoding
        return self._times(factor, self.exponent + other.exponent)

    def __rmul__(self, other: EncodedNumber | int | float) -> EncryptedNumber:
        return self * other

    def __truediv__(self, scalar: int | float) -> EncryptedNumber:
        return self * (1 / plain(scalar))

    def _times(self, factor: int, exponent: int) -> EncryptedNumber:
        residue = self._residue
        bound = self._bounded(self.exponent, times=abs(factor)) if _strict.is_on() else None
        if factor != 1:
            residue = self.public_key._arithmetic.multiple(residue, factor)
        return self._computed(residue, exponent, bound)

    def _bounded(
        self, exponent: int, other: EncryptedNumber | None = None, *, added: int = 0, times: int = 1
    ) -> int | None:
        """Returns the bound of a multiple and a sum at a lower exponent; None if the strict mode is
        off.

        Raises:
            OverflowError: the bound exceeds n / 3.
        """
        if not _strict.is_on():
            return None
        bound = (self._bound or _strict.usual_bound()) * EncodedNumber.BASE ** max(0, self.exponent - exponent) * times
        if other is not None:
            bound += other._bounded(exponent) or 0
        return _strict.checked(bound + added, self.public_key.max_int)

    def _aligned(self, exponent: int) -> Residue:
        """Returns the ciphertext of the same number at another exponent; errors as in
        `decrease_exponent_to`.
        """
        if exponent == self.exponent:
            return self._residue
        factor = growth(self.public_key, self.exponent, exponent)
        return self.public_key._arithmetic.public_multiple(self._residue, factor)

    def _check_key(self, key: Modulus) -> None:
        if key is not self.public_key and key != self.public_key:
            raise ValueError("numbers under different public keys cannot be added")
