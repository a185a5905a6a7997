"""FHE over the integers: encrypted bits that can be added and multiplied.

The schemes are CMNT and CNT with the parameters of their papers, which are HISTORICAL AND BROKEN.
They protect nothing, and every constructor requires `insecure_historical_parameters`.
docs/explanation/dghv.md describes the attacks.

>>> from hearith import dghv
>>> import numpy as np
>>> public, private = dghv.generate_keypair("cmnt", "toy", insecure_historical_parameters=True)
>>> a, b = public.encrypt([True, True, False]), public.encrypt([True, False, False])
>>> private.decrypt(a ^ b), private.decrypt(a & b)
(array([False,  True, False]), array([ True, False, False]))
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from hearith import _native as rust
from hearith._operands import numbers
from hearith.errors import KeyMismatchError, NumberError, ShapeError

__all__ = ["EncryptedBits", "PrivateKey", "PublicKey", "generate_keypair"]


class PublicKey:
    """A public key, which encrypts bits and computes with encrypted ones."""

    #: The underlying Rust key, for the modules of this package.
    native: rust.DghvPublicKey

    def __init__(self, native: rust.DghvPublicKey) -> None:
        """Wraps a native key. Use `load` or `generate_keypair` instead."""
        if not isinstance(native, rust.DghvPublicKey):
            raise TypeError("PublicKey comes from load or generate_keypair")
        self.native = native

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, insecure_historical_parameters: bool = False, engine: str | None = None
    ) -> PublicKey:
        """Reads the key from a file (`public.dghv` of the command line).

        Raises:
            InvalidKeyError: the file contains no public key, or `insecure_historical_parameters` is
                not set.
            OSError: the file cannot be read.
        """
        native = rust.DghvPublicKey.load(
            path, insecure_historical_parameters=insecure_historical_parameters, engine=engine
        )
        return cls(native)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the key to a file, and replaces an existing one."""
        self.native.save(path)

    @property
    def id(self) -> str:
        """The key id, 32 hexadecimal digits."""
        return self.native.id

    @property
    def scheme(self) -> str:
        """`cmnt` or `cnt`."""
        return self.native.scheme

    @property
    def parameters(self) -> str:
        """The name of the parameter set, such as `cnt toy`."""
        return self.native.parameters

    @property
    def recrypts(self) -> bool:
        """Whether the key can recrypt (bootstrap) noisy bits, and so evaluate circuits of any
        depth.
        """
        return self.native.recrypts

    @property
    def rungs(self) -> int:
        """The number of levels of the key's ladder below its own, which bits descend to reduce
        noise; 0 without a ladder.
        """
        return self.native.rungs

    def encrypt(self, bits: Any) -> EncryptedBits:
        """Encrypts a vector of booleans, or of the numbers 0 and 1, bit by bit.

        Raises:
            NumberError: a value is neither 0 nor 1.
            ShapeError: `bits` is not one-dimensional.
        """
        return EncryptedBits(self, self.native.encrypt(_packed(bits)))

    def evaluate(self, circuit: str | PathLike[str], *inputs: EncryptedBits) -> list[EncryptedBits]:
        """Evaluates a circuit in Bristol Fashion, given as a path or as text, and returns its
        output values.

        Each input value has as many encrypted bits as the circuit specifies, its first wire first.

        Raises:
            CircuitError: the circuit is invalid; the error's row is the line at fault.
            KeyMismatchError: bits belong to another key.
            RangeError: the noise of a result would be too large to decrypt it.
            ShapeError: the numbers of values or bits do not match the circuit.
        """
        text = circuit if isinstance(circuit, str) and "\n" in circuit else Path(fspath(circuit)).read_text("ascii")
        for bits in inputs:
            self._check(bits)
        outputs = self.native.evaluate(text, [bits.native for bits in inputs])
        return [EncryptedBits(self, output) for output in outputs]

    def switch(self, bits: EncryptedBits, level: int) -> EncryptedBits:
        """Switches bits to a lower level of the key's ladder, with less noise.

        Operators and circuits do this automatically.

        Raises:
            KeyMismatchError: the bits belong to another key.
            RangeError: the level is above that of the bits or below the ladder, or the noise would
                be too large there.
        """
        self._check(bits)
        return EncryptedBits(self, self.native.switch(bits.native, level))

    def load_bits(self, path: str | PathLike[str]) -> EncryptedBits:
        """Reads encrypted bits from a file written by `EncryptedBits.save` or the command line.

        Raises:
            CiphertextError: the file contains no encrypted bits, or is damaged.
            KeyMismatchError: the bits belong to another key.
            OSError: the file cannot be read.
        """
        return EncryptedBits(self, self.native.load_bits(path))

    def _check(self, bits: EncryptedBits) -> None:
        if bits.key.id != self.id:
            raise KeyMismatchError(f"the bits are under key {bits.key.id}, but this is key {self.id}", kind="wrong_key")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<dghv.PublicKey {self.id}: {self.parameters}, INSECURE>"


class PrivateKey:
    """A private key, which decrypts.

    It is wiped from memory when it is dropped. It can be neither printed nor pickled.
    """

    #: The underlying Rust key, for the modules of this package.
    native: rust.DghvPrivateKey

    def __init__(self, native: rust.DghvPrivateKey) -> None:
        """Wraps a native key. Use `load` or `generate_keypair` instead."""
        if not isinstance(native, rust.DghvPrivateKey):
            raise TypeError("PrivateKey comes from load or generate_keypair")
        self.native = native

    @classmethod
    def load(cls, path: str | PathLike[str], *, insecure_historical_parameters: bool = False) -> PrivateKey:
        """Reads the key from a file (`private.dghv` of the command line).

        Warns if anyone but the file's owner can read it.

        Raises:
            InvalidKeyError: the file contains no private key, or `insecure_historical_parameters`
                is not set.
            OSError: the file cannot be read.
        """
        return cls(rust.DghvPrivateKey.load(path, insecure_historical_parameters=insecure_historical_parameters))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the key to a new file that only its owner can read.

        Raises:
            FileExistsError: the file already exists.
        """
        self.native.save(path)

    @property
    def id(self) -> str:
        """The id of the public key."""
        return self.native.id

    def decrypt(self, bits: EncryptedBits) -> npt.NDArray[np.bool_]:
        """Returns the bits.

        Raises:
            KeyMismatchError: the bits belong to another key.
        """
        if bits.key.id != self.id:
            raise KeyMismatchError(f"the bits are under key {bits.key.id}, but this is key {self.id}", kind="wrong_key")
        return np.frombuffer(self.native.decrypt(bits.native), dtype=np.bool_)

    def __repr__(self) -> str:
        return f"<dghv.PrivateKey {self.id}: INSECURE>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled: write it down deliberately with save()")


class EncryptedBits:
    """A vector of encrypted bits under one public key.

    `^`, `&` and `~` work as with NumPy booleans. Operands are encrypted bits, or plaintext booleans
    of the same length. Every operation adds noise. With a ladder, operands of `&` descend where
    that leaves more margin for noise. If the noise is too large, operands are recrypted first if
    the key supports it; otherwise `RangeError` is raised.
    """

    #: NumPy arrays leave operators to this class.
    __array_ufunc__: ClassVar[None] = None

    __slots__ = ("key", "native")

    #: The public key.
    key: PublicKey
    #: The underlying Rust ciphertexts, for the modules of this package.
    native: rust.DghvCiphertexts

    def __init__(self, key: PublicKey, native: rust.DghvCiphertexts) -> None:
        """Wraps native ciphertexts. Use `encrypt` or `load_bits` of a key instead."""
        if not isinstance(native, rust.DghvCiphertexts):
            raise TypeError("EncryptedBits comes from encrypt or load_bits of a PublicKey")
        self.key, self.native = key, native

    def __len__(self) -> int:
        return len(self.native)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the bits to a file that the command line reads, and replaces an existing one."""
        self.native.save(path)

    @property
    def noise(self) -> npt.NDArray[np.float64]:
        """The noise bound of each bit, in bits."""
        return np.array(self.native.noise())

    @property
    def level(self) -> int:
        """The level of the bits in the key's ladder; 0 is the key itself."""
        return self.native.level

    @property
    def levels(self) -> npt.NDArray[np.int64]:
        """For each bit, the number of successive multiplications with similar bits that still
        fit.
        """
        return np.array(self.native.levels(), dtype=np.int64)

    def __getitem__(self, index: Any) -> EncryptedBits:
        rows = np.atleast_1d(np.arange(len(self))[index])
        if rows.ndim != 1:
            raise ShapeError("bits must have one dimension", kind="dimensions")
        return EncryptedBits(self.key, self.native.select(rows.tolist()))

    def __xor__(self, other: Any) -> EncryptedBits:
        return EncryptedBits(self.key, self.key.native.add(self.native, self._operand(other)))

    __rxor__ = __xor__

    def __and__(self, other: Any) -> EncryptedBits:
        return EncryptedBits(self.key, self.key.native.multiply(self.native, self._operand(other)))

    __rand__ = __and__

    def __invert__(self) -> EncryptedBits:
        return self ^ np.ones(len(self), dtype=np.bool_)

    def _operand(self, other: Any) -> rust.DghvCiphertexts:
        """Returns encrypted bits, or plaintext ones as noiseless ciphertexts."""
        if isinstance(other, EncryptedBits):
            return other.native
        return self.key.native.plain(_packed(other))

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("encrypted bits cannot be compared: equal bits have different ciphertexts")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TypeError("encrypted bits are neither true nor false")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("encrypted bits cannot become a plaintext array: decrypt them with the private key")

    def __repr__(self) -> str:
        return f"<EncryptedBits: {len(self)}, key {self.key.id[:8]}..., INSECURE>"


def generate_keypair(
    scheme: str,
    parameters: str,
    *,
    short_coefficients: bool = False,
    recryption: bool = True,
    ladder: int = 0,
    insecure_historical_parameters: bool = False,
    engine: str | None = None,
) -> tuple[PublicKey, PrivateKey]:
    """Generates a key pair.

    Args:
        scheme: `cmnt` or `cnt`.
        parameters: `toy`, `small`, `medium` or `large`; all of them are broken.
        short_coefficients: uses encryption coefficients as short as those of `cmnt`, so that fresh
            `cnt` bits can be multiplied.
        recryption: includes the data that recrypts noisy bits. Without it, a key is half as long
            and supports only shallow circuits.
        ladder: number of rungs of a ladder of keys with shorter secrets, for `toy` and `small`;
            allows deeper circuits.
        insecure_historical_parameters: confirms that the key protects nothing; required.
        engine: `serial` or `ifma`. Defaults to `HEARITH_ENGINE`, else to the fastest engine of the
            machine.

    Raises:
        InvalidKeyError: the parameters are unknown, the ladder does not fit, or
            `insecure_historical_parameters` is not set.
    """
    public, private = rust.DghvPrivateKey.generate(
        scheme,
        parameters,
        short_coefficients=short_coefficients,
        recryption=recryption,
        ladder=ladder,
        insecure_historical_parameters=insecure_historical_parameters,
        engine=engine,
    )
    return PublicKey(public), PrivateKey(private)


def _packed(bits: Any) -> bytearray:
    """Returns the bits as one byte each."""
    array = numbers(bits)
    if array.ndim != 1:
        raise ShapeError(f"bits must have one dimension, not {array.ndim}", kind="dimensions")
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if wrong.size:
        raise NumberError("neither 0 nor 1", int(wrong[0]), kind="not_a_bit")
    return bytearray(array.astype(np.uint8).tobytes())
