"""The part of a public key that computes with ciphertexts, and the registry of loaded keys.

Arrays store only the key's id, and look up the key here.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from hearith._html import shown
from hearith._native import PublicKey as NativeKey
from hearith.errors import KeyMismatchError


class ComputingKey:
    """The modulus, and the engine that computes modulo its square: a `PublicKey` without
    encryption.
    """

    #: The underlying Rust key, for the modules of this package.
    native: NativeKey

    def __init__(self, native: NativeKey, *, noted: bool = True) -> None:
        """Wraps a Rust key, and registers it while it is referenced, unless `noted` is false."""
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
        """The size of the modulus in bits."""
        return self.native.bits

    @property
    def id(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the modulus."""
        return self.native.id

    @property
    def variant(self) -> str:
        """The variant: `standard`, `djn` or `subgroup` (see `hearith.generate_keypair`)."""
        return self.native.variant

    @property
    def engine(self) -> str:
        """The engine: `ifma`, `avx2`, `serial`, or graphics cards (`cuda`, `cuda:1`, `cuda:all`,
        `auto`).
        """
        return self.native.engine

    @property
    def comment(self) -> str:
        """The `kid` of the JSON Web Key."""
        return self.native.comment

    def to_jwk(self) -> str:
        """Returns the key as a single-line JSON Web Key."""
        return self.native.to_jwk()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComputingKey) and bool(self.native == other.native)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<PublicKey {self.id}: {self.bits} bits, {self.variant}>"

    def _repr_html_(self) -> str:
        """The HTML representation for notebooks."""
        return shown("Public key", {"id": self.id, "bits": str(self.bits), "variant": self.variant})


def check_scheme(scheme: str | None, own: str) -> None:
    """Raises `KeyMismatchError` if `scheme` is given and is not the key's own."""
    if scheme not in (None, own):
        text = f"scheme {scheme!r} needs another key: this is a {own} key"
        raise KeyMismatchError(text, kind="wrong_scheme")


#: Loaded keys by object identity, since either of two equal keys may be dropped first.
_KEYS: WeakValueDictionary[int, ComputingKey] = WeakValueDictionary()


def find(key_id: str) -> ComputingKey:
    """Returns the loaded key with this id.

    Raises:
        KeyMismatchError: it is not loaded.
    """
    key = next((key for key in list(_KEYS.values()) if key.id == key_id), None)
    if key is None:
        text = f"the public key {key_id} is not loaded in this process"
        raise KeyMismatchError(f"{text}: load it, and keep it, before computing with its numbers", kind="not_loaded")
    return key
