"""Computes on encrypted numbers.

The public key encrypts numbers. Anyone can add the ciphertexts or multiply them by plaintext
numbers. Only the holder of the private key can decrypt the results.

>>> import hearith as he, numpy as np
>>> public, private = he.generate_keypair(512, insecure=True)  # 3072 bits where it matters
>>> c = public.encrypt(np.array([1500, -20, 7]))
>>> private.decrypt((c + c * 3).sum())
5948
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hearith import errors
from hearith._after_import import after_import
from hearith._naming import describe, rename, summary
from hearith._native import VERSION as __version__
from hearith._threads import set_threads, threads
from hearith.errors import (
    CiphertextError,
    CircuitError,
    HearithError,
    InvalidKeyError,
    KeyMismatchError,
    NullError,
    NumberError,
    RangeError,
    ScaleError,
    ServiceError,
    ShapeError,
    ShareError,
    TableError,
)

if TYPE_CHECKING:
    from hearith import arrow as arrow
    from hearith import bfv, signing
    from hearith._rows import concatenate
    from hearith.array import EncryptedArray
    from hearith.encoding import Encoding
    from hearith.federated import Aggregator, EncryptedUpdate
    from hearith.keys import DEFAULT_BITS, MIN_SECURE_BITS, PrivateKey, PublicKey, generate_keypair
    from hearith.sharing import KeyShare, Shares, VerificationKeys, generate_shared_key
    from hearith.signing import sign_table, verify_table

#: Names whose modules need NumPy or Arrow, by module. They are loaded on first access, since
#: `hearith.phe` needs neither library.
_LATER = {
    "hearith._rows": ("concatenate",),
    "hearith.array": ("EncryptedArray",),
    "hearith.encoding": ("Encoding",),
    "hearith.federated": ("Aggregator", "EncryptedUpdate"),
    "hearith.keys": ("DEFAULT_BITS", "MIN_SECURE_BITS", "PrivateKey", "PublicKey", "generate_keypair"),
    "hearith.signing": ("sign_table", "verify_table"),
    "hearith.sharing": ("KeyShare", "Shares", "VerificationKeys", "generate_shared_key"),
}
_HOMES = {name: home for home, names in _LATER.items() for name in names}
#: Submodules that are available without an explicit import.
_MODULES = ("array", "arrow", "bfv", "encoding", "federated", "keys", "sharing", "signing")


if not TYPE_CHECKING:  # Type checkers would accept any attribute of a module with __getattr__.

    def __getattr__(name: str) -> Any:
        """Loads a name or submodule on first access."""
        if name in _MODULES:
            return import_module(f"hearith.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'hearith' has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})


def _pandas_type(kind: arrow.EncryptedType) -> object:
    """Returns the pandas dtype of an Arrow column type. Imports pandas on first use."""
    from hearith._pandas_column import EncryptedDtype

    return EncryptedDtype(kind.description)


def _connect_pandas() -> None:
    import_module("hearith.arrow").EncryptedType.pandas_type = _pandas_type


# Arrow must know the extension type before it reads one from a file or a message, so it is
# registered as soon as pyarrow is imported.
after_import("hearith.arrow", _connect_pandas)
after_import("pyarrow", lambda: import_module("hearith.arrow"))

__all__ = [
    "DEFAULT_BITS",
    "MIN_SECURE_BITS",
    "Aggregator",
    "CiphertextError",
    "CircuitError",
    "Encoding",
    "EncryptedArray",
    "EncryptedUpdate",
    "HearithError",
    "InvalidKeyError",
    "KeyMismatchError",
    "KeyShare",
    "NullError",
    "NumberError",
    "PrivateKey",
    "PublicKey",
    "RangeError",
    "ScaleError",
    "ServiceError",
    "ShapeError",
    "ShareError",
    "Shares",
    "TableError",
    "VerificationKeys",
    "__version__",
    "bfv",
    "concatenate",
    "describe",
    "errors",
    "generate_keypair",
    "generate_shared_key",
    "rename",
    "set_threads",
    "sign_table",
    "signing",
    "summary",
    "threads",
    "verify_table",
]
