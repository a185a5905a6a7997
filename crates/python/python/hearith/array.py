"""Encrypted arrays that compute as NumPy's do, where that can be done without the private key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from hearith import _arithmetic, _numpy, _phe_json, _products, _shapes, _sums
from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted, read_ciphertexts
from hearith._gathering import collected
from hearith._operands import Number, Numbers
from hearith._rows import Rows
from hearith.encoding import DEFAULT_RANGE, Encoding
from hearith.errors import ShapeError

if TYPE_CHECKING:
    import pyarrow as pa


class EncryptedArray(Rows):
    """Encrypted numbers under one public key, in an array of any shape, or a single one
    (`shape == ()`).

    `+` and `-` take other encrypted arrays, plain numbers and plain arrays; `*`, `/` and `@` take
    plain ones. Shapes go together as NumPy's do; slices, index arrays and masks, sums along an
    axis, `len` and iteration do what they do there. Operands of different scales or divisors, which
    are public, move to a common one exactly. What cannot be done without the private key is a
    `TypeError`.

    Plain numbers count exactly: a float stands for the shortest decimal that reads back as it, and
    the result has the digits that it takes (`scale`). Quotients and means divide what is decrypted,
    so nothing is rounded before; `decrypt` gives them as floats.

    The array knows how large its numbers can be: `bound` follows from the declared range and from
    every operation since. Where a result could outgrow the key, the operation raises `RangeError`,
    and so does a decryption that finds more than the bound: a number never wraps around unseen.

    Sums and products with plain numbers are not randomised: whoever knows the operand's ciphertexts
    and sees the result can test guesses of the plain numbers. `rerandomise()` before handing on
    what must hide them.

    >>> import hearith as he, numpy as np
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> c = public.encrypt(np.array([1500, -20, 7]))
    >>> private.decrypt(c[::-1] - 1)
    array([   6,  -21, 1499])
    >>> private.decrypt((c + c * 3).sum())
    5948
    """

    __slots__ = ()

    # Arithmetic

    def __add__(self, other: EncryptedArray | Numbers) -> EncryptedArray:
        if type(other) is EncryptedArray:
            # Nothing to look for in it: additions of single numbers come by the thousand.
            return EncryptedArray(_arithmetic.added(self.content, other.content, False))
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

    def __truediv__(self, other: Numbers) -> EncryptedArray:
        return self.divide(other)

    def __rtruediv__(self, other: object) -> NoReturn:
        raise TypeError("nothing can be divided by an encrypted number")

    def __pow__(self, other: object) -> NoReturn:
        raise TypeError("powers of encrypted numbers cannot be computed from Paillier ciphertexts")

    def __matmul__(self, other: Any) -> EncryptedArray:
        return EncryptedArray(_products.product(self.content, _plain(other)))

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        return EncryptedArray(_products.product(self.content, _plain(other), transposed=True))

    def add(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """`self + other`, with a progress bar if asked for."""
        other = collected(other)
        if isinstance(other, EncryptedArray):
            return EncryptedArray(_arithmetic.added(self.content, other.content, progress))
        return EncryptedArray(_arithmetic.added_plain(self.content, other, progress))

    def subtract(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """`self - other`, with a progress bar if asked for."""
        other = collected(other)
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

        Factors multiply as they are: a decimal adds its digits to the scale of the result, a float
        those of the shortest decimal that reads back as it (beside numbers on a power of sixteen,
        it adds its own binary digits). `scale` (decimal digits kept of the factors) or `exponent`
        (power of sixteen) keeps so many, and with `rounding` rounds factors that have more. The
        time depends on the length of the largest factor in bits, and on no factor's value. A
        multiple by 0 is a ciphertext that anybody recognises until it is randomised.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> price = public.encrypt("12.50", scale=2)
        >>> private.decrypt(price * 1.19)
        Decimal('14.8750')
        >>> private.decrypt(price.multiply(1 / 3, scale=4, rounding=True))
        Decimal('4.166250')
        """
        product = _arithmetic.multiplied(
            self.content, _plain(factors), scale=scale, exponent=exponent, rounding=rounding, progress=progress
        )
        return EncryptedArray(product)

    def divide(self, divisor: Numbers) -> EncryptedArray:
        """Quotients by plain numbers, which are exact until they are decrypted: as floats, the
        nearest to them.

        A single divisor that is a whole number costs nothing and leaves the ciphertexts as they
        are. Different divisors have a common multiple, which takes headroom.

        Raises:
            ScaleError: their common multiple exceeds the key.
            ZeroDivisionError: one is 0.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt([1, 2, 4]) / 4).tolist()
        [0.25, 0.5, 1.0]
        """
        return EncryptedArray(_arithmetic.divided(self.content, _plain(divisor)))

    def sum(
        self,
        axis: SupportsIndex | tuple[int, ...] | None = None,
        dtype: Any = None,
        *,
        keepdims: bool = False,
        initial: EncryptedArray | Number | None = None,
        progress: bool = False,
    ) -> EncryptedArray:
        """The sum of all numbers, or those along an axis or several; no numbers have the sum 0, one
        number that number's ciphertext itself. `keepdims` leaves the length 1 along the axes that
        are gone. `initial` is added to each sum.

        Raises:
            TypeError: a `dtype` is asked for that is not `object`.
        """
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"encrypted numbers have no sums of dtype {np.dtype(dtype)}: decrypt them first")
        if axis is None:
            content = _sums.total(self.content, progress)
        else:
            content = self.content
            for along in sorted(_shapes.axes_of(axis, self.shape), reverse=True):
                content = _sums.total_along(content, along)
        total = EncryptedArray(content.shaped(_shapes.kept(self.shape, axis)) if keepdims else content)
        return total if initial is None else total + initial

    def mean(self, axis: SupportsIndex | tuple[int, ...] | None = None, *, keepdims: bool = False) -> EncryptedArray:
        """The mean of all numbers, or those along an axis or several: the sum, divided by how many
        there are when it is decrypted.

        Raises:
            ShapeError: there are none.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt([[1, 2], [3, 5]]).mean(axis=0)).tolist()
        [2.0, 3.5]
        """
        count = self.size if axis is None else math.prod(self.shape[one] for one in _shapes.axes_of(axis, self.shape))
        if count == 0:
            raise ShapeError("the mean of no numbers", kind="dimensions")
        return self.sum(axis, keepdims=keepdims) / count

    def cumsum(self, axis: SupportsIndex | None = None) -> EncryptedArray:
        """The sums of the numbers up to each, row by row or along an axis."""
        array = self.ravel() if axis is None else self
        return EncryptedArray(_sums.running(array.content, _shapes.axis_of(axis or 0, array.shape)))

    def sum_by(self, labels: Any) -> tuple[npt.NDArray[Any], EncryptedArray]:
        """The distinct labels in ascending order and the sum of each one's numbers.

        Labels come back as they were given: in an array of their type, or of objects where they
        have several types or NumPy's integers cannot hold them. NaN is one label, the largest
        number; 0 and -0 are one. The total of a label that occurs once is the ciphertext of its row
        itself, and can be recognised as such; `rerandomise()` ends that.

        Raises:
            NullError: a label is missing.
            ShapeError: there are not as many labels as numbers.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> labels, totals = public.encrypt([1, 2, 40]).sum_by(["a", "b", "a"])
        >>> labels.tolist(), private.decrypt(totals).tolist()
        (['a', 'b'], [41, 2])
        """
        [(names, totals)] = _sums.totals_by(self.content, labels)
        return names, EncryptedArray(totals)

    def sums_by(self, groupings: Iterable[Any]) -> list[tuple[npt.NDArray[Any], EncryptedArray]]:
        """What `sum_by` gives for each of several groupings, such as the bins of every feature.

        On a graphics card the numbers are sent once, not once a grouping.

        Raises:
            NullError, ShapeError: as `sum_by`.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> by_team, by_site = public.encrypt([1, 2, 40]).sums_by([["a", "b", "a"], [7, 7, 9]])
        >>> private.decrypt(by_team[1]).tolist(), private.decrypt(by_site[1]).tolist()
        ([41, 2], [3, 40])
        """
        found = _sums.totals_by(self.content, *groupings)
        return [(names, EncryptedArray(totals)) for names, totals in found]

    def trace(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> EncryptedArray:
        """The sums of diagonals of two axes."""
        return self.diagonal(offset, axis1, axis2).sum(-1)

    def dot(self, weights: Any, *, progress: bool = False) -> EncryptedArray:
        """Sums of the products with plain weights, a vector or the columns of a matrix, as of
        `np.dot`; products with a single number.

        The result is not randomised: whoever knows the ciphertexts can test guesses of the weights.
        """
        return EncryptedArray(_products.dot(self.content, _plain(weights), progress))

    def rescale(self, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """The same numbers with more digits after the point.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt(3).rescale(scale=2) + public.encrypt("0.25", scale=2))
        Decimal('3.25')
        """
        return EncryptedArray(_arithmetic.moved(self.content, Encoding.of(scale, exponent)))

    def rerandomise(self, *, progress: bool = False) -> EncryptedArray:
        """The same numbers in ciphertexts that nobody can link to these without the private key."""
        return EncryptedArray(_arithmetic.rerandomised(self.content, progress))

    # In and out

    def to_bytes(self) -> bytes:
        """The ciphertexts one after another, big-endian, twice the bytes of n each."""
        return self.content.to_bytes()

    def tolist(self) -> Any:
        """The numbers as single encrypted ones, in lists nested as deep as the array has
        dimensions: what NumPy gives of plain numbers. A single number is itself. `decrypt` takes
        such lists.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> first, second = public.encrypt([1, 2]).tolist()
        >>> private.decrypt(first + second)
        3
        """
        return self if self.shape == () else [row.tolist() for row in self]

    def ciphertexts(self) -> list[int]:
        """The ciphertexts as integers in [1, n^2), in row-major order: what `ciphertext()` of
        python-paillier's numbers gives. Sums of these integers mean nothing; `to_phe` writes them
        with their exponents."""
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
        """Ciphertexts from their bytes; `range` bounds the numbers they hold (by default 2^63 - 1
        units).

        Raises:
            CiphertextError: a row is no ciphertext of this key, or the bytes are not a whole number
                of rows.
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
        """The numbers of an Arrow array or chunked array of that extension type, or of a column of
        an encrypted table.

        Raises:
            KeyMismatchError: the column is encrypted under another key.
            TableError: it is not encrypted, is packed, or holds nulls.
        """
        from hearith.arrow import from_arrow

        return cls(from_arrow(key, column))

    def to_phe(self) -> list[str]:
        """The numbers in python-paillier's JSON, `{"v": "...", "e": -8}` each; `PublicKey.from_phe`
        reads it.

        The ciphertexts go as they are: `rerandomise()` results first where plain operands must stay
        hidden.

        Raises:
            ScaleError: the numbers stand on a power of ten.
        """
        return _phe_json.write(self.ciphertexts(), self.encoding)

    def __reduce__(self) -> tuple[Any, ...]:
        """Key id, encoding, bound and ciphertexts; the key stays behind."""
        content = self.content
        encoding = (content.encoding.base, content.encoding.exponent, content.encoding.divisor)
        state = (content.key_id, content.bits, encoding, content.bound, content.shape, self.to_bytes())
        return _restore, state

    if TYPE_CHECKING:
        # To type checkers, an array of numbers that are encrypted arrays themselves: `np.sum` of it
        # is one.
        def __array__(self) -> np.ndarray[Any, np.dtype[Element]]: ...

    # NumPy's functions: hearith._numpy says which, and what they do.

    __array_ufunc__ = _numpy.Operators()

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        return _numpy.call(function, args, kwargs)


if TYPE_CHECKING:

    class Element(EncryptedArray, np.object_):  # type: ignore[misc]
        """What NumPy's type declarations take for an element of an encrypted array."""


def encrypted(array: Any) -> Encrypted:
    """What an encrypted array is made of.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(array, EncryptedArray):
        raise TypeError(f"an EncryptedArray is needed, not {type(array).__name__}")
    return array.content


def _plain(operand: Any) -> Any:
    """An operand of a product, which must not be encrypted."""
    if isinstance(collected(operand), EncryptedArray):
        raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
    return operand


def _restore(
    key_id: str, bits: int, encoding: tuple[int, int, int], bound: int, shape: tuple[int, ...], data: bytes
) -> EncryptedArray:
    """An unpickled array."""
    return EncryptedArray(Encrypted.pending(key_id, bits, Encoding(*encoding), bound, shape, data))
