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
    ("builtins", "object"),
    ("gmpy2", "from_binary"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "_reconstruct"),
}


def _encoded(text: str, encoding: str) -> bytes:
    """Bytes as old protocols of pickle have them."""
    if encoding != "latin1":
        raise pickle.UnpicklingError("a pickle of phe's numbers and keys has no other bytes than latin1's")
    return text.encode("latin1")


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names, if it may."""
        if (module, name) == ("_codecs", "encode"):
            return _encoded
        ours = _OURS.get((module.replace("hearith.phe", "phe", 1), name))
        if ours is not None:
            return ours
        if (module, name) not in _OTHERS:
            raise pickle.UnpicklingError(f"a pickle of phe's numbers and keys names no {module}.{name}")
        return super().find_class(module, name)


def load(file: IO[bytes]) -> Any:
    """What `phe`, or this package, has pickled into a file: numbers and keys, in lists,
    dictionaries and arrays.

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
