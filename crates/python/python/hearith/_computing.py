"""What computing with ciphertexts needs of a public key, and the keys that this process has loaded,
so that arrays, which carry only the key's id, find theirs again.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from hearith._html import shown
from hearith._native import PublicKey as NativeKey
from hearith.errors import KeyMismatchError


class ComputingKey:
    """The modulus, and the engine that computes modulo its square: everything of a `PublicKey` but
    encryption.
    """

    #: The key in Rust, for the modules of this package.
    native: NativeKey

    def __init__(self, native: NativeKey, *, noted: bool = True) -> None:
        """Takes a key of Rust's, and notes it for as long as somebody holds it, unless arrays are
        not to find it.
        """
        self.native = native
        self._n = int.from_bytes(native.modulus(), "big")
        if noted:
            _KEYS[id(self)] = self

    @property
    def n(self) -> int:
        """The modulus."""
        return self._n

    @property
    def bits(self) -> int:
        """Bits of the modulus."""
        return self.native.bits

    @property
    def id(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the modulus."""
        return self.native.id

    @property
    def variant(self) -> str:
        """`standard`, or `djn`: faster encryption under one more assumption."""
        return self.native.variant

    @property
    def engine(self) -> str:
        """What computes: `ifma`, `avx2`, `serial`, or cards (`cuda`, `cuda:1`, `cuda:all`,
        `auto`).
        """
        return self.native.engine

    @property
    def comment(self) -> str:
        """The `kid` of the JSON Web Key."""
        return self.native.comment

    def to_jwk(self) -> str:
        """The key as a JSON Web Key of one line."""
        return self.native.to_jwk()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComputingKey) and bool(self.native == other.native)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<PublicKey {self.id}: {self.bits} bits, {self.variant}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return shown("Public key", {"id": self.id, "bits": str(self.bits), "variant": self.variant})


def check_scheme(scheme: str | None, own: str) -> None:
    """Raises `KeyMismatchError` if a scheme is asked for that is not the key's own."""
    if scheme not in (None, own):
        text = f"scheme {scheme!r} needs another key: this is one of {own}"
        raise KeyMismatchError(text, kind="wrong_scheme")


#: By identity: of two equal keys either may be dropped first.
_KEYS: WeakValueDictionary[int, ComputingKey] = WeakValueDictionary()


def find(key_id: str) -> ComputingKey:
    """The loaded key of this id.

    Raises:
        KeyMismatchError: there is none.
    """
    key = next((key for key in list(_KEYS.values()) if key.id == key_id), None)
    if key is None:
        text = f"the public key {key_id} is not loaded in this process"
        raise KeyMismatchError(f"{text}: load it, and keep it, before computing with its numbers", kind="not_loaded")
    return key
