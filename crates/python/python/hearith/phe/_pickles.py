"""Reads pickles of `phe` as objects of `hearith.phe`."""

from __future__ import annotations

import io
import pickle
from typing import IO, Any

from hearith.phe import encoding, paillier

#: The names allowed in such pickles: the classes of `phe`, which map to ours, and those needed for
#: NumPy arrays, frames and dictionaries.
_OURS = {
    ("phe.paillier", name): getattr(paillier, name)
    for name in ("EncryptedNumber", "PaillierPrivateKey", "PaillierPrivateKeyring", "PaillierPublicKey")
} | {("phe.encoding", "EncodedNumber"): encoding.EncodedNumber}
_OTHERS = {
    ("collections", "OrderedDict"),
    ("copyreg", "_reconstructor"),
    ("builtins", "frozenset"),
    ("builtins", "object"),
    ("builtins", "set"),
    ("gmpy2", "from_binary"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
}
#: Module names in protocols 0 to 2.
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}


def _encoded(text: str, encoding: str) -> bytes:
    """Decodes bytes in the form of old pickle protocols."""
    if encoding != "latin1":
        raise pickle.UnpicklingError("a pickle of phe's numbers and keys must encode bytes as latin1")
    return text.encode("latin1")


def _no_bytes(*given: object) -> bytes:
    """Replaces `bytes` in old pickle protocols: called with a length, it would allocate that
    much.
    """
    if given:
        raise pickle.UnpicklingError("a pickle of phe's numbers and keys must call bytes without arguments")
    return b""


def _from_buffer() -> Any:
    """Returns NumPy's constructor for arrays in protocol 5, whose module depends on the version."""
    import numpy as np

    return np.zeros(1).__reduce_ex__(5)[0]


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Returns an object that a pickle names, if it is allowed."""
        module = _RENAMED.get(module, module)
        if (module, name) == ("_codecs", "encode"):
            return _encoded
        if (module, name) == ("builtins", "bytes"):
            return _no_bytes
        if (module.replace("_core", "core"), name) == ("numpy.core.numeric", "_frombuffer"):
            return _from_buffer()
        ours = _OURS.get((module.replace("hearith.phe", "phe", 1), name))
        if ours is not None:
            return ours
        if (module, name) not in _OTHERS:
            raise pickle.UnpicklingError(f"a pickle of phe's numbers and keys must not refer to {module}.{name}")
        return super().find_class(module, name)


def load(file: IO[bytes]) -> Any:
    """Loads what `phe`, or this package, pickled into a file with any protocol: numbers and keys,
    in lists, dictionaries, sets and arrays.

    Nothing else is loaded. Unlike `pickle.load`, this never runs code from the pickle.

    Raises:
        pickle.UnpicklingError: the pickle names something else, or is invalid.
        ValueError: a key or ciphertext is invalid.
    """
    return _Unpickler(file).load()


def loads(data: bytes) -> Any:
    """Does the same as `load`, from bytes.

    >>> import pickle
    >>> import hearith.phe as phe
    >>> public, private = phe.generate_paillier_keypair(n_length=256)
    >>> private.decrypt(phe.loads(pickle.dumps([public.encrypt(2)]))[0])
    2
    """
    return load(io.BytesIO(data))
