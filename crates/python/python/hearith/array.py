"""Encrypted vectors that compute as NumPy's do, where that can be done without the private key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from hearith import _arithmetic, _phe_json
from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted, read_ciphertexts
from hearith._operands import Number, Numbers
from hearith.encoding import DEFAULT_RANGE, Encoding
from hearith.errors import NullError

if TYPE_CHECKING:
    import pyarrow as pa


class EncryptedArray:
    """A vector of encrypted numbers under one public key, or a single one (`shape == ()`).

    `+` and `-` take other encrypted arrays, plain numbers and plain vectors; `*` and `@` take plain ones. Slices, index arrays and
    masks, `sum`, `len` and iteration do what they do in NumPy. Operands of one length, or one of them single.

    The array knows how large its numbers can be: `bound` follows from the declared range and from every operation since. Where
    a result could outgrow the key, the operation raises `RangeError`, and so does a decryption that finds more than the
    bound: a number never wraps around unseen.

    Sums and products with plain numbers are not randomised: whoever knows the operand's ciphertexts and sees the
    result can test guesses of the plain numbers. `rerandomise()` before handing on what must hide them.

    >>> import hearith as he, numpy as np
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> c = public.encrypt(np.array([1500, -20, 7]))
    >>> private.decrypt(c[::-1] - 1)
    array([   6,  -21, 1499])
    >>> private.decrypt((c + c * 3).sum())
    5948
    """

    #: Arrays of NumPy leave operators to this class.
    __array_ufunc__: ClassVar[None] = None

    __slots__ = ("content",)

    #: The ciphertexts and what they stand for, for the modules of this package.
    content: Encrypted

    def __init__(self, content: Encrypted) -> None:
        """Arrays come from `PublicKey.encrypt`, `from_bytes`, `from_arrow` and from operations on others."""
        if not isinstance(content, Encrypted):
            raise TypeError("EncryptedArray comes from PublicKey.encrypt, from_bytes or from_arrow")
        self.content = content

    # What it is

    @property
    def key_id(self) -> str:
        """Id of the public key: 32 hexadecimal digits."""
        return self.content.key_id

    @property
    def key(self) -> ComputingKey:
        """The public key.

        Raises:
            KeyMismatchError: the array was unpickled in a process that has not loaded the key.
        """
        return self.content.key

    @property
    def encoding(self) -> Encoding:
        """What the encrypted integers stand for."""
        return self.content.encoding

    @property
    def scale(self) -> int:
        """Decimal digits after the point."""
        return self.encoding.scale

    @property
    def bound(self) -> int:
        """Largest magnitude that an encrypted integer can have."""
        return self.content.bound

    @property
    def shape(self) -> tuple[int, ...]:
        """`(length,)`, or `()` for a single number."""
        return () if self.content.single else (self.size,)

    @property
    def ndim(self) -> int:
        """1, or 0 for a single number."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.content.size

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts."""
        return self.size * self.content.width

    def __len__(self) -> int:
        if self.content.single:
            raise TypeError("len() of a single encrypted number")
        return self.size

    def __repr__(self) -> str:
        shape = f"{self.size} numbers" if self.shape else "single"
        return f"<EncryptedArray: {shape}, {self.encoding}, key {self.key_id[:8]}..., {self.content.bits} bits>"

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("encrypted numbers cannot be compared: equal numbers have different ciphertexts")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TypeError("an encrypted number is neither true nor false")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("encrypted numbers have no plain array: decrypt them with the private key")

    # Rows

    def __getitem__(self, index: Any) -> EncryptedArray:
        content = self.content
        if content.single:
            raise IndexError("a single encrypted number has no rows")
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(self.size)
            return EncryptedArray(content.holding(content.rows.range(start, max(start, stop)), single=False))
        if isinstance(index, np.ma.MaskedArray) and np.ma.is_masked(index):
            raise NullError("an index is missing (masked)", kind="missing")
        rows = np.arange(self.size)[index]
        if rows.ndim > 1:
            raise IndexError(f"one dimension, not {rows.ndim}")
        return EncryptedArray(content.holding(content.rows.select(rows.reshape(-1).tolist()), single=rows.ndim == 0))

    def __iter__(self) -> Iterator[EncryptedArray]:
        return (self[row] for row in range(len(self)))

    def reshape(self, *shape: int | tuple[int, ...]) -> EncryptedArray:
        """A vector of one from a single number, or back: `reshape(-1)`, `reshape(())`."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if wanted not in ((), (-1,), (self.size,)) or (wanted == () and self.size != 1):
            raise ValueError(f"{self.size} encrypted numbers do not take the shape {wanted}")
        return EncryptedArray(self.content.shaped(single=wanted == ()))

    # Arithmetic

    def __add__(self, other: EncryptedArray | Numbers) -> EncryptedArray:
        return self.add(other)

    def __radd__(self, other: Numbers) -> EncryptedArray:
        return self.add(other)

    def __sub__(self, other: EncryptedArray | Numbers) -> EncryptedArray:
        return self.subtract(other)

    def __rsub__(self, other: Numbers) -> EncryptedArray:
        return (-self).add(other)

    def __pos__(self) -> EncryptedArray:
        return self

    def __neg__(self) -> EncryptedArray:
        return EncryptedArray(_arithmetic.negative(self.content))

    def __mul__(self, other: Numbers) -> EncryptedArray:
        return self.multiply(other)

    def __rmul__(self, other: Numbers) -> EncryptedArray:
        return self.multiply(other)

    def __matmul__(self, other: Any) -> EncryptedArray:
        return self.dot(other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        return EncryptedArray(_arithmetic.product(self.content, _plain(other)))

    def add(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """`self + other`, with a progress bar if asked for."""
        if isinstance(other, EncryptedArray):
            return EncryptedArray(_arithmetic.added(self.content, other.content, progress))
        return EncryptedArray(_arithmetic.added_plain(self.content, other, progress))

    def subtract(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """`self - other`, with a progress bar if asked for."""
        if isinstance(other, EncryptedArray):
            return EncryptedArray(_arithmetic.subtracted(self.content, other.content, progress))
        return EncryptedArray(_arithmetic.added_plain(self.content, other, progress, negative=True))

    def multiply(
        self,
        factors: Numbers,
        *,
        scale: int | None = None,
        exponent: int | None = None,
        rounding: bool = False,
        progress: bool = False,
    ) -> EncryptedArray:
        """Products with plain numbers.

        Integers and decimals multiply as they are: a decimal adds its digits to the scale of the result. Floats need `scale`
        (decimal digits kept of the factors) or `exponent` (power of sixteen). The time depends on the length of the largest
        factor in bits, and on no factor's value. A multiple by 0 is a ciphertext that anybody recognises until it is
        randomised.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> price = public.encrypt("12.50", scale=2)
        >>> private.decrypt(price.multiply(1.19, scale=2))
        Decimal('14.8750')
        """
        product = _arithmetic.multiplied(
            self.content, _plain(factors), scale=scale, exponent=exponent, rounding=rounding, progress=progress
        )
        return EncryptedArray(product)

    def sum(self, *, progress: bool = False) -> EncryptedArray:
        """The sum of all numbers; an empty array has the sum 0, an array of one number that number's ciphertext itself."""
        return EncryptedArray(_arithmetic.total(self.content, progress))

    def sum_by(self, labels: Any) -> tuple[npt.NDArray[Any], EncryptedArray]:
        """The distinct labels in ascending order and the sum of each one's numbers.

        The total of a label that occurs once is the ciphertext of its row itself, and can be recognised as such;
        `rerandomise()` ends that.

        Raises:
            NullError: a label is missing.
            ShapeError: there are not as many labels as numbers.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> labels, totals = public.encrypt([1, 2, 40]).sum_by(["a", "b", "a"])
        >>> labels.tolist(), private.decrypt(totals).tolist()
        (['a', 'b'], [41, 2])
        """
        names, totals = _arithmetic.totals_by(self.content, labels)
        return names, EncryptedArray(totals)

    def dot(self, weights: Any, *, progress: bool = False) -> EncryptedArray:
        """`self @ weights`, the sum of the products with plain weights, or with each column of a matrix of them.

        The result is not randomised: whoever knows the ciphertexts can test guesses of the weights.
        """
        return EncryptedArray(_arithmetic.product(self.content, _plain(weights), progress, transposed=True))

    def rescale(self, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """The same numbers with more digits after the point.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt(3).rescale(scale=2) + public.encrypt("0.25", scale=2))
        Decimal('3.25')
        """
        return EncryptedArray(_arithmetic.rescaled(self.content, Encoding.of(scale, exponent)))

    def rerandomise(self, *, progress: bool = False) -> EncryptedArray:
        """The same numbers in ciphertexts that nobody can link to these without the private key."""
        return EncryptedArray(_arithmetic.rerandomised(self.content, progress))

    # In and out

    def to_bytes(self) -> bytes:
        """The ciphertexts one after another, big-endian, twice the bytes of n each."""
        return self.content.to_bytes()

    def tolist(self) -> list[int]:
        """The ciphertexts as integers in [1, n^2)."""
        data, width = self.to_bytes(), self.content.width
        return [int.from_bytes(data[row : row + width], "big") for row in range(0, len(data), width)]

    @classmethod
    def from_bytes(
        cls,
        key: ComputingKey,
        data: bytes,
        *,
        scale: int | None = None,
        exponent: int | None = None,
        range: Number | None = None,
    ) -> EncryptedArray:
        """Ciphertexts from their bytes; `range` bounds the numbers they hold (by default 2^63 - 1 units).

        Raises:
            CiphertextError: a row is no ciphertext of this key, or the bytes are no whole number of rows.
        """
        encoding = Encoding.of(scale, exponent)
        bound = DEFAULT_RANGE if range is None else encoding.bound(range)
        return cls(Encrypted(key, read_ciphertexts(key, data), encoding, bound))

    def to_arrow(self) -> pa.Array:
        """An Arrow array of the extension type `hearith.arrow.EncryptedType` (needs `pyarrow`)."""
        from hearith.arrow import to_arrow

        return to_arrow(self.content)

    @classmethod
    def from_arrow(cls, key: ComputingKey, column: Any) -> EncryptedArray:
        """The numbers of an Arrow array or chunked array of that extension type, or of a column of an encrypted table.

        Raises:
            KeyMismatchError: the column is encrypted under another key.
            TableError: it is not encrypted, is packed, or holds nulls.
        """
        from hearith.arrow import from_arrow

        return cls(from_arrow(key, column))

    def to_phe(self) -> list[str]:
        """The numbers in python-paillier's JSON, `{"v": "...", "e": -8}` each; `PublicKey.from_phe` reads it.

        The ciphertexts go as they are: `rerandomise()` results first where plain operands must stay hidden.

        Raises:
            ScaleError: the numbers stand on a power of ten.
        """
        return _phe_json.write(self.tolist(), self.encoding)

    def __reduce__(self) -> tuple[Any, ...]:
        """Key id, encoding, bound and ciphertexts; the key stays behind."""
        content = self.content
        encoding = (content.encoding.base, content.encoding.exponent)
        state = (content.key_id, content.bits, encoding, content.bound, content.single, self.to_bytes())
        return _restore, state

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """`np.concatenate`, `np.sum` and `np.dot`."""
        handler = _FUNCTIONS.get(function)
        return NotImplemented if handler is None else handler(*args, **kwargs)


def concatenate(arrays: Sequence[EncryptedArray]) -> EncryptedArray:
    """One array of the numbers of several, all under one key and of one encoding; single numbers count as vectors of one.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> private.decrypt(he.concatenate([public.encrypt([1, 2]), public.encrypt([3])]))
    array([1, 2, 3])
    """
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if not all(isinstance(array, EncryptedArray) for array in arrays):
        raise TypeError("encrypted arrays go together with encrypted ones only: encrypt the others first")
    return EncryptedArray(_arithmetic.concatenated([array.content for array in arrays]))


def _plain(operand: Any) -> Any:
    """An operand of a product, which must not be encrypted."""
    if isinstance(operand, EncryptedArray):
        raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
    return operand


def _restore(
    key_id: str, bits: int, encoding: tuple[int, int], bound: int, single: bool, data: bytes
) -> EncryptedArray:
    """An unpickled array."""
    return EncryptedArray(Encrypted.pending(key_id, bits, Encoding(*encoding), bound, single, data))


def _sum(array: EncryptedArray, axis: SupportsIndex | None = None) -> EncryptedArray:
    if axis not in (None, 0, -1):
        raise ValueError(f"one dimension: there is no axis {axis}")
    return array.sum()


def _concatenate(arrays: Sequence[EncryptedArray], axis: SupportsIndex = 0) -> EncryptedArray:
    if axis not in (0, -1):
        raise ValueError(f"one dimension: there is no axis {axis}")
    return concatenate(arrays)


def _dot(a: Any, b: Any) -> EncryptedArray:
    product: EncryptedArray = a @ b
    return product


_FUNCTIONS: dict[Callable[..., Any], Callable[..., EncryptedArray]] = {
    np.concatenate: _concatenate,
    np.sum: _sum,
    np.dot: _dot,
}
