"""Pickles of `phe`, read as objects of `hearith.phe`."""

from __future__ import annotations

import io
import pickle
from typing import IO, Any

from hearith.phe import encoding, paillier

#: What such pickles may name: the classes of `phe`, which are ours here, and what arrays of NumPy,
#: frames and dictionaries are made of.
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
#: Modules as protocols 0 to 2 name them.
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}


def _encoded(text: str, encoding: str) -> bytes:
    """Bytes as old protocols of pickle have them."""
    if encoding != "latin1":
        raise pickle.UnpicklingError("a pickle of phe's numbers and keys has no other bytes than latin1's")
    return text.encode("latin1")


def _no_bytes(*given: object) -> bytes:
    """`bytes` as old protocols of pickle call it: given a length it would allocate that much."""
    if given:
        raise pickle.UnpicklingError("a pickle of phe's numbers and keys makes only empty bytes so")
    return b""


def _from_buffer() -> Any:
    """What makes arrays in protocol 5, wherever this NumPy has it."""
    import numpy as np

    return np.zeros(1).__reduce_ex__(5)[0]


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names, if it may."""
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
            raise pickle.UnpicklingError(f"a pickle of phe's numbers and keys names no {module}.{name}")
        return super().find_class(module, name)


def load(file: IO[bytes]) -> Any:
    """What `phe`, or this package, has pickled into a file with any protocol: numbers and keys, in
    lists, dictionaries, sets and arrays.

    Nothing else is loaded: unlike `pickle.load`, this runs no code that a pickle brings along.

    Raises:
        pickle.UnpicklingError: the pickle names something else, or is none.
        ValueError: a key or ciphertext is none.
    """
    return _Unpickler(file).load()


def loads(data: bytes) -> Any:
    """`load`, from bytes.

    >>> import pickle
    >>> import hearith.phe as phe
    >>> public, private = phe.generate_paillier_keypair(n_length=256)
    >>> private.decrypt(phe.loads(pickle.dumps([public.encrypt(2)]))[0])
    2
    """
    return load(io.BytesIO(data))
