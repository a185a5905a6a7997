"""Encrypted vectors that compute as NumPy's do, where that can be done without the private key."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from hearith import _registry
from hearith._batches import joined
from hearith._native import Ciphertexts
from hearith.encoding import DEFAULT_RANGE, Encoding, Integers, Number, Numbers, bit_length, pack
from hearith.errors import CiphertextError, KeyMismatchError, RangeError, ScaleError

if TYPE_CHECKING:
    import pyarrow as pa

    from hearith.keys import PublicKey

#: Bits of the widest weights of a dot product.
_DOT_BITS = 127
#: Products that a matrix product holds at a time.
_DOT_ROWS = 1 << 14


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

    __slots__ = ("_bits", "_bound", "_encoding", "_key", "_key_id", "_rows", "_single")

    _key: PublicKey | None
    _key_id: str
    _bits: int
    _rows: Ciphertexts | bytes
    _encoding: Encoding
    _bound: int
    _single: bool

    def __init__(self) -> None:
        """Arrays come from `PublicKey.encrypt` and from operations on others."""
        raise TypeError("EncryptedArray comes from PublicKey.encrypt, from_bytes or from_arrow")

    @classmethod
    def _new(
        cls, key: PublicKey, rows: Ciphertexts, encoding: Encoding, bound: int, single: bool = False
    ) -> EncryptedArray:
        self = object.__new__(cls)
        self._key, self._key_id, self._bits = key, key.id, key.bits
        self._rows, self._encoding, self._single = rows, encoding, single
        self._bound = _checked(bound, key.bits)
        return self

    # What it is

    @property
    def key_id(self) -> str:
        """Id of the public key: 32 hexadecimal digits."""
        return self._key_id

    @property
    def key(self) -> PublicKey:
        """The public key.

        Raises:
            KeyMismatchError: the array was unpickled in a process that has not loaded the key.
        """
        if self._key is None:
            self._key = _registry.find(self._key_id)
        return self._key

    @property
    def encoding(self) -> Encoding:
        """What the encrypted integers stand for."""
        return self._encoding

    @property
    def scale(self) -> int:
        """Decimal digits after the point."""
        return self._encoding.scale

    @property
    def bound(self) -> int:
        """Largest magnitude that an encrypted integer can have."""
        return self._bound

    @property
    def shape(self) -> tuple[int, ...]:
        """`(length,)`, or `()` for a single number."""
        return () if self._single else (self.size,)

    @property
    def ndim(self) -> int:
        """1, or 0 for a single number."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self._rows) // (2 * -(-self._bits // 8)) if isinstance(self._rows, bytes) else len(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts."""
        return self.size * 2 * -(-self._bits // 8)

    def __len__(self) -> int:
        if self._single:
            raise TypeError("len() of a single encrypted number")
        return self.size

    def __repr__(self) -> str:
        shape = "single" if self._single else f"{self.size} numbers"
        return f"<EncryptedArray: {shape}, {self._encoding}, key {self._key_id[:8]}..., {self._bits} bits>"

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("encrypted numbers cannot be compared: equal numbers have different ciphertexts")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TypeError("an encrypted number is neither true nor false")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("encrypted numbers have no plain array: decrypt them with the private key")

    # Rows

    def __getitem__(self, index: Any) -> EncryptedArray:
        if self._single:
            raise IndexError("a single encrypted number has no rows")
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(self.size)
            return self._with(self._native.range(start, max(start, stop)))
        rows = np.arange(self.size)[index]
        if rows.ndim > 1:
            raise IndexError(f"one dimension, not {rows.ndim}")
        return self._with(self._native.select(rows.reshape(-1).tolist()), single=rows.ndim == 0)

    def __iter__(self) -> Iterator[EncryptedArray]:
        return (self[row] for row in range(len(self)))

    def reshape(self, *shape: int | tuple[int, ...]) -> EncryptedArray:
        """A vector of one from a single number, or back: `reshape(-1)`, `reshape(())`."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if wanted not in ((), (-1,), (self.size,)) or (wanted == () and self.size != 1):
            raise ValueError(f"{self.size} encrypted numbers do not take the shape {wanted}")
        return self._with(self._rows, single=wanted == ())

    # Arithmetic

    def __add__(self, other: EncryptedArray | Numbers) -> EncryptedArray:
        return self._add(other)

    def __radd__(self, other: Numbers) -> EncryptedArray:
        return self._add(other)

    def __sub__(self, other: EncryptedArray | Numbers) -> EncryptedArray:
        return self._subtract(other)

    def __rsub__(self, other: Numbers) -> EncryptedArray:
        return (-self)._add(other)

    def __pos__(self) -> EncryptedArray:
        return self

    def __neg__(self) -> EncryptedArray:
        key, rows = self.key._native, self._native
        return self._with(joined(len(rows), lambda start, stop: key.neg(rows.range(start, stop))))

    def __mul__(self, other: Numbers) -> EncryptedArray:
        return self.multiply(other)

    def __rmul__(self, other: Numbers) -> EncryptedArray:
        return self.multiply(other)

    def __matmul__(self, other: Any) -> EncryptedArray:
        return self._product(np.asarray(other).T if np.ndim(other) > 1 else other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        return self._product(other)

    def add(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """`self + other`, with a progress bar if asked for."""
        return self._add(other, progress)

    def subtract(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """`self - other`, with a progress bar if asked for."""
        return self._subtract(other, progress)

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
        if isinstance(factors, EncryptedArray):
            raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
        encoding = _factor_encoding(factors, scale, exponent)
        integers, single = encoding.encode(factors, limit=2**self._bits, rounding=rounding)
        left, integers, single = self._aligned(integers, single)
        bits = bit_length(integers)
        bound = self._bound << bits
        _checked(bound, self._bits)
        key, rows = self.key._native, left._native

        def piece(start: int, stop: int) -> Ciphertexts:
            return key.scale(rows.range(start, stop), *pack(integers[start:stop]), bits)

        product = joined(len(rows), piece, progress, "multiplying")
        return self._with(product, encoding=self._encoding.times(encoding), bound=bound, single=single)

    def sum(self, *, progress: bool = False) -> EncryptedArray:
        """The sum of all numbers; an empty array has the sum 0."""
        key, rows = self.key._native, self._native
        partial = joined(len(rows), lambda start, stop: key.sum(rows.range(start, stop)), progress, "adding")
        return self._with(key.sum(partial), bound=self._bound * max(1, self.size), single=True)

    def sum_by(self, labels: Any) -> tuple[npt.NDArray[Any], EncryptedArray]:
        """The distinct labels in ascending order and the sum of each one's numbers.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> labels, totals = public.encrypt([1, 2, 40]).sum_by(["a", "b", "a"])
        >>> labels.tolist(), private.decrypt(totals).tolist()
        (['a', 'b'], [41, 2])
        """
        names, places = np.unique(np.asarray(labels), return_inverse=True)
        if places.shape != self.shape:
            raise ValueError(f"{places.size} labels for {self.size} numbers")
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(names)))[:-1]
        groups = [group.tolist() for group in np.split(order, ends)] if len(names) else []
        largest = max((len(group) for group in groups), default=1)
        totals = self.key._native.sum_groups(self._native, groups)
        return names, self._with(totals, bound=self._bound * largest, single=False)

    def dot(self, weights: Any, *, progress: bool = False) -> EncryptedArray:
        """`self @ weights`, with a progress bar if asked for."""
        return self._product(np.asarray(weights).T if np.ndim(weights) > 1 else weights, progress)

    def rescale(self, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """The same numbers with more digits after the point.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt(3).rescale(scale=2) + public.encrypt("0.25", scale=2))
        Decimal('3.25')
        """
        finer = Encoding.of(scale, exponent)
        steps = self._encoding.steps_to(finer)
        return self if steps == 1 else self._with(self.multiply(steps)._rows, encoding=finer, bound=self._bound * steps)

    def rerandomise(self, *, progress: bool = False) -> EncryptedArray:
        """The same numbers in ciphertexts that nobody can link to these without the private key."""
        key, rows = self.key._native, self._native
        return self._with(joined(len(rows), lambda a, b: key.rerandomise(rows.range(a, b)), progress, "randomising"))

    # In and out

    def to_bytes(self) -> bytes:
        """The ciphertexts one after another, big-endian, twice the bytes of n each."""
        return self._rows if isinstance(self._rows, bytes) else self._rows.to_bytes()

    def tolist(self) -> list[int]:
        """The ciphertexts as integers in [1, n^2)."""
        data, width = self.to_bytes(), 2 * -(-self._bits // 8)
        return [int.from_bytes(data[row : row + width], "big") for row in range(0, len(data), width)]

    @classmethod
    def from_bytes(
        cls,
        key: PublicKey,
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
        return cls._new(key, _read(key, data), encoding, bound)

    def to_arrow(self) -> pa.Array:
        """An Arrow array of the extension type `hearith.arrow.EncryptedType` (needs `pyarrow`)."""
        from hearith.arrow import array_to_arrow

        return array_to_arrow(self)

    @classmethod
    def from_arrow(cls, key: PublicKey, column: Any) -> EncryptedArray:
        """The numbers of an Arrow array or chunked array of that extension type, or of a column of an encrypted table."""
        from hearith.arrow import array_from_arrow

        return array_from_arrow(key, column)

    def to_phe(self) -> list[str]:
        """The numbers in python-paillier's JSON, `{"v": "...", "e": -8}` each; `PublicKey.from_phe` reads it.

        The ciphertexts go as they are: `rerandomise()` results first where plain operands must stay hidden.

        Raises:
            ScaleError: the numbers stand on a power of ten.
        """
        from hearith._phe_json import write

        return write(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Key id, encoding, bound and ciphertexts; the key stays behind."""
        encoding = (self._encoding.base, self._encoding.exponent)
        return _restore, (self._key_id, self._bits, encoding, self._bound, self._single, self.to_bytes())

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """`np.concatenate`, `np.sum` and `np.dot`."""
        handler = _FUNCTIONS.get(function)
        return NotImplemented if handler is None else handler(*args, **kwargs)

    # Inside

    @property
    def _native(self) -> Ciphertexts:
        """The batch; read and checked when it is first needed after unpickling."""
        if isinstance(self._rows, bytes):
            self._rows = _read(self.key, self._rows)
        return self._rows

    def _with(
        self,
        rows: Any,
        *,
        encoding: Encoding | None = None,
        bound: int | None = None,
        single: bool | None = None,
    ) -> EncryptedArray:
        new = object.__new__(type(self))
        new._key, new._key_id, new._bits, new._rows = self._key, self._key_id, self._bits, rows
        new._encoding = self._encoding if encoding is None else encoding
        new._bound = self._bound if bound is None else _checked(bound, self._bits)
        new._single = self._single if single is None else single
        return new

    def _aligned(self, integers: Integers, single: bool) -> tuple[EncryptedArray, Integers, bool]:
        """Self and plain integers of one length, and whether both were single."""
        if single and not self._single:
            repeated = np.repeat(integers, self.size) if isinstance(integers, np.ndarray) else integers * self.size
            return self, repeated, False
        if self._single and not single:
            return self._repeated(len(integers)), integers, False
        _check_lengths(self.size, len(integers))
        return self, integers, single

    def _repeated(self, count: int) -> EncryptedArray:
        return self._with(self._native.select([0] * count), single=False)

    def _paired(self, other: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
        """Self and other of one length."""
        if self._key_id != other._key_id:
            raise KeyMismatchError(f"numbers under key {self._key_id} and under key {other._key_id}")
        if self._encoding != other._encoding:
            raise ScaleError(f"{self._encoding} and {other._encoding} do not add up: rescale() one of them")
        if self._single and not other._single:
            return self._repeated(other.size), other
        if other._single and not self._single:
            return self, other._repeated(self.size)
        _check_lengths(self.size, other.size)
        return self, other

    def _add(self, other: EncryptedArray | Numbers, progress: bool = False) -> EncryptedArray:
        if not isinstance(other, EncryptedArray):
            return self._add_plain(other, progress)
        left, right = self._paired(other)
        return left._row_by_row(right, self.key._native.add, progress)

    def _subtract(self, other: EncryptedArray | Numbers, progress: bool = False) -> EncryptedArray:
        if not isinstance(other, EncryptedArray):
            return self._add_plain(other, progress, negative=True)
        left, right = self._paired(other)
        return left._row_by_row(right, self.key._native.sub, progress)

    def _row_by_row(
        self, other: EncryptedArray, operation: Callable[[Ciphertexts, Ciphertexts], Ciphertexts], progress: bool
    ) -> EncryptedArray:
        bound = _checked(self._bound + other._bound, self._bits)
        a, b = self._native, other._native

        def piece(start: int, stop: int) -> Ciphertexts:
            return operation(a.range(start, stop), b.range(start, stop))

        return self._with(joined(len(a), piece, progress, "adding"), bound=bound)

    def _add_plain(self, numbers: Numbers, progress: bool, negative: bool = False) -> EncryptedArray:
        room = 1 << (self._bits - 2)
        integers, single = self._encoding.encode(numbers, limit=room)
        if negative:
            integers = -integers if isinstance(integers, np.ndarray) else [-value for value in integers]
        left, integers, single = self._aligned(integers, single)
        bound = _checked(self._bound + (1 << bit_length(integers)), self._bits)
        key, rows = self.key, left._native

        def piece(start: int, stop: int) -> Ciphertexts:
            return key._native.add_plain(rows.range(start, stop), key._plaintexts(integers[start:stop]))

        return self._with(joined(len(rows), piece, progress, "adding"), bound=bound, single=single)

    def _product(self, weights: Any, progress: bool = False) -> EncryptedArray:
        """Of each row of `weights` (or of the one vector), the sum of the products with self."""
        if isinstance(weights, EncryptedArray):
            raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
        matrix = np.asarray(weights) if not _has_decimals(weights) else np.asarray(weights, dtype=object)
        if self._single or matrix.ndim not in (1, 2):
            raise ValueError("@ takes a vector or a matrix of plain numbers")
        _check_lengths(self.size, matrix.shape[-1])
        encoding = _factor_encoding(matrix.reshape(-1), None, None)
        integers, _ = encoding.encode(matrix.reshape(-1), limit=2**_DOT_BITS - 1)
        bits = bit_length(integers)
        bound = _checked((self._bound << bits) * max(1, self.size), self._bits)
        rows = _dots(self, integers, bits, progress) if matrix.ndim == 1 else _matrix(self, integers, bits, progress)
        return self._with(rows, encoding=self._encoding.times(encoding), bound=bound, single=matrix.ndim == 1)


def concatenate(arrays: Sequence[EncryptedArray]) -> EncryptedArray:
    """One array of the numbers of several, all under one key and of one encoding; single numbers count as vectors of one.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> private.decrypt(he.concatenate([public.encrypt([1, 2]), public.encrypt([3])]))
    array([1, 2, 3])
    """
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    first, rest = arrays[0], arrays[1:]
    for other in rest:
        if other.key_id != first.key_id:
            raise KeyMismatchError(f"numbers under key {first.key_id} and under key {other.key_id}")
        if other.encoding != first.encoding:
            raise ScaleError(f"{first.encoding} and {other.encoding} do not go together: rescale() one of them")
    rows = first._native.concat([other._native for other in rest])
    return first._with(rows, bound=max(array.bound for array in arrays), single=False)


def _dots(array: EncryptedArray, weights: Integers, bits: int, progress: bool) -> Ciphertexts:
    """The sum of the products with a vector of weights."""
    key, rows = array.key._native, array._native

    def piece(start: int, stop: int) -> Ciphertexts:
        if start == stop:
            return key.zeros(1)
        return key.dot(rows.range(start, stop), *pack(weights[start:stop]), stop - start, bits)

    return key.sum(joined(len(rows), piece, progress, "multiplying"))


def _matrix(array: EncryptedArray, weights: Integers, bits: int, progress: bool) -> Ciphertexts:
    """The sum of the products with each row of a matrix, given row by row."""
    key, rows, terms = array.key._native, array._native, array.size
    if terms == 0:
        return key.zeros(0)
    sums = len(weights) // terms
    together = max(1, _DOT_ROWS // terms)

    def some(first: int, last: int) -> Ciphertexts:
        repeated = rows.select(list(range(terms)) * (last - first))
        return key.dot(repeated, *pack(weights[first * terms : last * terms]), terms, bits)

    def piece(start: int, stop: int) -> Ciphertexts:
        parts = [some(first, min(first + together, stop)) for first in range(start, stop, together)]
        return parts[0].concat(parts[1:]) if parts else key.zeros(0)

    return joined(sums, piece, progress, "multiplying")


def _factor_encoding(factors: Any, scale: int | None, exponent: int | None) -> Encoding:
    """The encoding of plain factors: as asked for, else that of integers or of the decimal with most digits."""
    if scale is not None or exponent is not None:
        return Encoding.of(scale, exponent)
    values = [factors] if np.ndim(factors) == 0 else factors
    kind = getattr(values, "dtype", None)
    if kind is not None and kind.kind in "iub":
        return Encoding()
    digits = 0
    for value in values:
        if isinstance(value, float | np.floating) and not float(value).is_integer():
            raise ScaleError("floats need a number of digits: multiply(..., scale=) or exponent=, or use Decimal")
        places = getattr(value, "as_tuple", None)
        if places is not None and isinstance(places().exponent, int):
            digits = max(digits, -places().exponent)
    return Encoding.of(scale=digits)


def _has_decimals(weights: Any) -> bool:
    return isinstance(weights, list | tuple)


def _checked(bound: int, bits: int) -> int:
    """The bound, if numbers so large are below half of any n of so many bits."""
    if bound.bit_length() > bits - 2:
        raise RangeError(f"the result could need {bound.bit_length() + 1} bits, more than a key of {bits} bits holds")
    return bound


def _check_lengths(left: int, right: int) -> None:
    if left != right:
        raise ValueError(f"lengths {left} and {right} do not match")


def _read(key: PublicKey, data: bytes) -> Ciphertexts:
    try:
        return key._native.ciphertexts(data)
    except CiphertextError:
        raise
    except ValueError as error:
        raise CiphertextError(str(error)) from None


def _restore(
    key_id: str, bits: int, encoding: tuple[int, int], bound: int, single: bool, data: bytes
) -> EncryptedArray:
    """An unpickled array: its key is looked for when it is first needed."""
    width = 2 * -(-operator.index(bits) // 8)
    if len(data) % width or (single and len(data) != width):
        raise CiphertextError(f"{len(data)} bytes are no whole number of ciphertexts of {width} bytes")
    self = object.__new__(EncryptedArray)
    self._key, self._key_id, self._bits, self._rows = None, key_id, bits, data
    self._encoding, self._bound, self._single = Encoding(*encoding), _checked(bound, bits), single
    return self


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
