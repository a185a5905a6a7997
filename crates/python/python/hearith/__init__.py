"""Add up private numbers without seeing them.

Numbers are encrypted with a public key; anybody can add the ciphertexts up, or weigh them with plain numbers; only the owner of the
private key can decrypt the results.

>>> import hearith as he, numpy as np
>>> public, private = he.generate_keypair(512, insecure=True)  # 3072 bits where it matters
>>> c = public.encrypt(np.array([1500, -20, 7]))
>>> private.decrypt((c + c * 3).sum())
5948
"""

from importlib.util import find_spec

from hearith import bfv, errors
from hearith._naming import describe, rename, summary
from hearith._native import VERSION as __version__
from hearith._rows import concatenate
from hearith._threads import set_threads, threads
from hearith.array import EncryptedArray
from hearith.encoding import Encoding
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
from hearith.federated import Aggregator, EncryptedUpdate
from hearith.keys import DEFAULT_BITS, MIN_SECURE_BITS, PrivateKey, PublicKey, generate_keypair
from hearith.sharing import KeyShare, Shares, Verification, generate_shared_key

if find_spec("pyarrow") is not None:
    # Arrow has to know the extension type before it meets one, in a file or a message.
    from hearith import arrow as arrow

    def _pandas_type(kind: arrow.EncryptedType) -> object:
        """pandas' type of a column of Arrow's; pandas is loaded when it asks."""
        from hearith._pandas_column import EncryptedDtype

        return EncryptedDtype(kind.description)

    arrow.EncryptedType.pandas_type = _pandas_type

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
    "Verification",
    "__version__",
    "bfv",
    "concatenate",
    "describe",
    "errors",
    "generate_keypair",
    "generate_shared_key",
    "rename",
    "set_threads",
    "summary",
    "threads",
]
