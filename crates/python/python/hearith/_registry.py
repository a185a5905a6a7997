"""The public keys that this process has loaded, so that arrays, which carry only the key's id, find theirs again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from hearith.errors import KeyMismatchError

if TYPE_CHECKING:
    from hearith.keys import PublicKey

#: By identity: of two equal keys either may be dropped first.
_KEYS: WeakValueDictionary[int, PublicKey] = WeakValueDictionary()


def remember(key: PublicKey) -> None:
    """Notes a key for as long as somebody holds it."""
    _KEYS[id(key)] = key


def find(key_id: str) -> PublicKey:
    """The key of this id.

    Raises:
        KeyMismatchError: no such key is loaded.
    """
    key = next((key for key in list(_KEYS.values()) if key.id == key_id), None)
    if key is None:
        text = f"the public key {key_id} is not loaded in this process"
        raise KeyMismatchError(f"{text}: load it, and keep it, before computing with its numbers")
    return key
