"""The public keys that this process has loaded, so that arrays, which carry only the key's id, find theirs again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from hearith.errors import KeyMismatchError

if TYPE_CHECKING:
    from hearith.keys import PublicKey

_KEYS: WeakValueDictionary[str, PublicKey] = WeakValueDictionary()


def remember(key: PublicKey) -> None:
    """Notes a key for as long as somebody holds it."""
    _KEYS[key.id] = key


def find(key_id: str) -> PublicKey:
    """The key of this id.

    Raises:
        KeyMismatchError: no such key is loaded.
    """
    key = _KEYS.get(key_id)
    if key is None:
        text = f"the public key {key_id} is not loaded in this process"
        raise KeyMismatchError(f"{text}: load it, and keep it, before computing with its numbers")
    return key
