"""FHE over the integers: encrypted bits that can be added and multiplied.

The schemes are CMNT and CNT with the parameters of their papers, which are HISTORICAL AND BROKEN:
they protect nothing, and every constructor asks for them by name. docs/explanation/dghv.md has the
attacks.

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
    """What anybody may have: encrypts bits, and computes with encrypted ones."""

    #: The key in Rust, for the modules of this package.
    native: rust.DghvPublicKey

    def __init__(self, native: rust.DghvPublicKey) -> None:
        """Keys come from `load` and `generate_keypair`."""
        if not isinstance(native, rust.DghvPublicKey):
            raise TypeError("PublicKey comes from load or generate_keypair")
        self.native = native

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, insecure_historical_parameters: bool = False, engine: str | None = None
    ) -> PublicKey:
        """The key in a file (`public.dghv` of the command line).

        Raises:
            InvalidKeyError: it holds no public key, or `insecure_historical_parameters` is not set.
            OSError: it cannot be read.
        """
        native = rust.DghvPublicKey.load(
            path, insecure_historical_parameters=insecure_historical_parameters, engine=engine
        )
        return cls(native)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the key to a file, in the place of one that is there."""
        self.native.save(path)

    @property
    def id(self) -> str:
        """32 hexadecimal digits that name the key."""
        return self.native.id

    @property
    def scheme(self) -> str:
        """`cmnt` or `cnt`."""
        return self.native.scheme

    @property
    def parameters(self) -> str:
        """What the parameters are called, such as `cnt toy`."""
        return self.native.parameters

    @property
    def recrypts(self) -> bool:
        """Whether the key can recrypt bits that are too noisy, so that circuits may be of any
        depth.
        """
        return self.native.recrypts

    @property
    def rungs(self) -> int:
        """Levels of the key's ladder below its own, down which bits leave noise behind; 0 without
        one.
        """
        return self.native.rungs

    def encrypt(self, bits: Any) -> EncryptedBits:
        """A vector of booleans, or of the numbers 0 and 1, encrypted one by one.

        Raises:
            NumberError: a value is neither 0 nor 1.
            ShapeError: `bits` has not one dimension.
        """
        return EncryptedBits(self, self.native.encrypt(_packed(bits)))

    def evaluate(self, circuit: str | PathLike[str], *inputs: EncryptedBits) -> list[EncryptedBits]:
        """The output values of a circuit in Bristol Fashion, which is a path or the text itself.

        Each input value takes as many encrypted bits as the circuit says, its first wire first.

        Raises:
            CircuitError: the circuit is none; its row is the line at fault.
            KeyMismatchError: bits of another key.
            RangeError: the noise of a result would be too large to decrypt it.
            ShapeError: other numbers of values or bits than the circuit has.
        """
        text = circuit if isinstance(circuit, str) and "\n" in circuit else Path(fspath(circuit)).read_text("ascii")
        for bits in inputs:
            self._check(bits)
        outputs = self.native.evaluate(text, [bits.native for bits in inputs])
        return [EncryptedBits(self, output) for output in outputs]

    def switch(self, bits: EncryptedBits, level: int) -> EncryptedBits:
        """The same bits at a lower level of the key's ladder, with less noise.

        Operators and circuits do that by themselves.

        Raises:
            KeyMismatchError: bits of another key.
            RangeError: a level above that of the bits, or below the ladder; or the noise would be
                too large there.
        """
        self._check(bits)
        return EncryptedBits(self, self.native.switch(bits.native, level))

    def load_bits(self, path: str | PathLike[str]) -> EncryptedBits:
        """Encrypted bits from a file, as `EncryptedBits.save` and the command line write them.

        Raises:
            CiphertextError: the file holds no encrypted bits, or is damaged.
            KeyMismatchError: they belong to another key.
            OSError: it cannot be read.
        """
        return EncryptedBits(self, self.native.load_bits(path))

    def _check(self, bits: EncryptedBits) -> None:
        if bits.key.id != self.id:
            raise KeyMismatchError(f"bits under key {bits.key.id}, but this is key {self.id}", kind="wrong_key")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<dghv.PublicKey {self.id}: {self.parameters}, INSECURE>"


class PrivateKey:
    """What only the owner has: decrypts.

    It is wiped when it is dropped, and neither printed nor pickled.
    """

    #: The key in Rust, for the modules of this package.
    native: rust.DghvPrivateKey

    def __init__(self, native: rust.DghvPrivateKey) -> None:
        """Keys come from `load` and `generate_keypair`."""
        if not isinstance(native, rust.DghvPrivateKey):
            raise TypeError("PrivateKey comes from load or generate_keypair")
        self.native = native

    @classmethod
    def load(cls, path: str | PathLike[str], *, insecure_historical_parameters: bool = False) -> PrivateKey:
        """The key in a file (`private.dghv` of the command line).

        Warns if others than the file's owner can read it.

        Raises:
            InvalidKeyError: it holds no private key, or `insecure_historical_parameters` is not
                set.
            OSError: it cannot be read.
        """
        return cls(rust.DghvPrivateKey.load(path, insecure_historical_parameters=insecure_historical_parameters))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the key to a new file, which its owner alone can read.

        Raises:
            FileExistsError: there is a file already.
        """
        self.native.save(path)

    @property
    def id(self) -> str:
        """The id of the public key."""
        return self.native.id

    def decrypt(self, bits: EncryptedBits) -> npt.NDArray[np.bool_]:
        """The bits.

        Raises:
            KeyMismatchError: they belong to another key.
        """
        if bits.key.id != self.id:
            raise KeyMismatchError(f"bits under key {bits.key.id}, but this is key {self.id}", kind="wrong_key")
        return np.frombuffer(self.native.decrypt(bits.native), dtype=np.bool_)

    def __repr__(self) -> str:
        return f"<dghv.PrivateKey {self.id}: INSECURE>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled: write it down deliberately with save()")


class EncryptedBits:
    """A vector of encrypted bits under one public key.

    `^`, `&` and `~` do what they do with NumPy's booleans; operands are other encrypted bits, or
    plain booleans of the same length. Every operation adds noise. With a ladder, operands of `&` go
    down it where that leaves more room for noise. Where there is too much, operands are recrypted
    first if the key can do that, and else `RangeError` is raised.
    """

    #: Arrays of NumPy leave operators to this class.
    __array_ufunc__: ClassVar[None] = None

    __slots__ = ("key", "native")

    #: The public key.
    key: PublicKey
    #: The ciphertexts in Rust, for the modules of this package.
    native: rust.DghvCiphertexts

    def __init__(self, key: PublicKey, native: rust.DghvCiphertexts) -> None:
        """Bits come from `encrypt` and `load_bits` of a `PublicKey` and from operations on
        others.
        """
        if not isinstance(native, rust.DghvCiphertexts):
            raise TypeError("EncryptedBits comes from encrypt or load_bits of a PublicKey")
        self.key, self.native = key, native

    def __len__(self) -> int:
        return len(self.native)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the bits to a file, which the command line reads, in the place of one that is
        there.
        """
        self.native.save(path)

    @property
    def noise(self) -> npt.NDArray[np.float64]:
        """Of each bit, the bits that its noise can have."""
        return np.array(self.native.noise())

    @property
    def level(self) -> int:
        """The level in the key's ladder at which the bits are: 0 is the key itself."""
        return self.native.level

    @property
    def levels(self) -> npt.NDArray[np.int64]:
        """Of each bit, how many multiplications with its like still fit, one after the other."""
        return np.array(self.native.levels(), dtype=np.int64)

    def __getitem__(self, index: Any) -> EncryptedBits:
        rows = np.atleast_1d(np.arange(len(self))[index])
        if rows.ndim != 1:
            raise ShapeError("one dimension of bits", kind="dimensions")
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
        """Encrypted bits, or plain ones as ciphertexts without noise."""
        if isinstance(other, EncryptedBits):
            return other.native
        return self.key.native.plain(_packed(other))

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("encrypted bits cannot be compared: equal bits have different ciphertexts")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TypeError("encrypted bits are neither true nor false")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("encrypted bits have no plain array: decrypt them with the private key")

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
    """A new key pair.

    Args:
        scheme: `cmnt` or `cnt`.
        parameters: `toy`, `small`, `medium` or `large`; all of them are broken.
        short_coefficients: coefficients of encryption as short as those of `cmnt`, so that fresh
            bits of `cnt` can be multiplied.
        recryption: with what recrypts bits that are too noisy; without it a key is half as long,
            and circuits are shallow.
        ladder: rungs of a ladder of keys with shorter secrets, for `toy` and `small`: circuits may
            be deeper.
        insecure_historical_parameters: says that the key shall protect nothing; no key is made
            without.
        engine: `serial` or `ifma`; by default what `HEARITH_ENGINE` says, else the fastest that the
            machine has.

    Raises:
        InvalidKeyError: no such parameters, no room for such a ladder, or
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
    """A byte a bit."""
    array = numbers(bits)
    if array.ndim != 1:
        raise ShapeError(f"one dimension of bits, not {array.ndim}", kind="dimensions")
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if wrong.size:
        raise NumberError("neither 0 nor 1", int(wrong[0]), kind="not_a_bit")
    return bytearray(array.astype(np.uint8).tobytes())
