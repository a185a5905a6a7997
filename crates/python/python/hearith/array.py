"""Encrypted arrays that support the NumPy operations that need no private key."""

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
    """An array of numbers encrypted under one public key, of any shape; a scalar has `shape == ()`.

    `+` and `-` accept encrypted arrays, plaintext numbers and plaintext arrays. `*`, `/` and `@`
    accept plaintext operands only. Broadcasting, slices, index arrays, masks, sums along an axis,
    `len` and iteration follow NumPy. Operands of different scales or divisors, which are public,
    are converted exactly to a common one. Operations that would need the private key raise
    `TypeError`.

    Plaintext operands are exact. A float stands for its shortest decimal that reads back as the
    same float, and the result gets as many digits as it needs (`scale`). Quotients and means are
    divided after decryption, so nothing is rounded earlier; `decrypt` returns them as floats.

    The array tracks how large its numbers can be: `bound` follows from the declared range and all
    operations since. An operation whose result could exceed the key's capacity raises `RangeError`,
    and so does a decryption that finds a number above the bound. Numbers never wrap around
    silently.

    Sums and products with plaintext numbers are not randomised. Anyone who knows the operand's
    ciphertexts and sees the result can test guesses of the plaintext numbers. Call `rerandomise()`
    before you pass on results that must hide them.

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
            # Fast path without `collected`, since scalar additions come in large numbers.
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
        """Returns `self + other`; `progress` shows a progress bar."""
        other = collected(other)
        if isinstance(other, EncryptedArray):
            return EncryptedArray(_arithmetic.added(self.content, other.content, progress))
        return EncryptedArray(_arithmetic.added_plain(self.content, other, progress))

    def subtract(self, other: EncryptedArray | Numbers, *, progress: bool = False) -> EncryptedArray:
        """Returns `self - other`; `progress` shows a progress bar."""
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
        """Returns the products with plaintext numbers.

        By default, factors are exact. A decimal adds its digits to the scale of the result; a float
        adds those of its shortest decimal that reads back as the same float. If the array's numbers
        are scaled by a power of sixteen, a float adds its own binary digits. `scale` (decimal
        digits) or `exponent` (power of sixteen) sets the digits kept of the factors; `rounding`
        rounds factors that have more.

        The time depends on the bit length of the largest factor, but not on the factors' values. A
        product with 0 is a ciphertext that anyone can recognise until it is randomised.

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
        """Returns the quotients by plaintext numbers.

        Quotients stay exact until decryption, which returns the nearest floats. A single integer
        divisor costs nothing and leaves the ciphertexts unchanged. Different divisors are converted
        to a common multiple, which uses headroom.

        Raises:
            ScaleError: the common multiple exceeds the key's capacity.
            ZeroDivisionError: a divisor is 0.

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
        """Returns the sum of all numbers, or the sums along one or more axes.

        The sum of no numbers is 0. The sum of one number is that number's own ciphertext.
        `keepdims` keeps the summed axes with length 1. `initial` is added to each sum.

        Raises:
            TypeError: `dtype` is given and is not `object`.
        """
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"encrypted numbers cannot be summed as {np.dtype(dtype)}: decrypt them first")
        if axis is None:
            content = _sums.total(self.content, progress)
        else:
            content = self.content
            for along in sorted(_shapes.axes_of(axis, self.shape), reverse=True):
                content = _sums.total_along(content, along)
        total = EncryptedArray(content.shaped(_shapes.kept(self.shape, axis)) if keepdims else content)
        return total if initial is None else total + initial

    def mean(self, axis: SupportsIndex | tuple[int, ...] | None = None, *, keepdims: bool = False) -> EncryptedArray:
        """Returns the mean of all numbers, or the means along one or more axes.

        The sum is divided by the count at decryption.

        Raises:
            ShapeError: there are no numbers.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt([[1, 2], [3, 5]]).mean(axis=0)).tolist()
        [2.0, 3.5]
        """
        count = self.size if axis is None else math.prod(self.shape[one] for one in _shapes.axes_of(axis, self.shape))
        if count == 0:
            raise ShapeError("the mean of no numbers is undefined", kind="dimensions")
        return self.sum(axis, keepdims=keepdims) / count

    def cumsum(self, axis: SupportsIndex | None = None) -> EncryptedArray:
        """Returns the cumulative sums, of the flattened array or along an axis."""
        array = self.ravel() if axis is None else self
        return EncryptedArray(_sums.cumsum(array.content, _shapes.axis_of(axis or 0, array.shape)))

    def sum_by(self, labels: Any) -> tuple[npt.NDArray[Any], EncryptedArray]:
        """Returns the distinct labels in ascending order, and the sum of the numbers of each label.

        Labels keep their type: they are returned in an array of that type, or of objects if there
        are several types or NumPy's integers cannot hold them. NaN is a single label and sorts
        last; 0 and -0 are one label. The total of a label that occurs once is the ciphertext of its
        row, and can be recognised as such; `rerandomise()` prevents this.

        Raises:
            NullError: a label is missing.
            ShapeError: the number of labels differs from the number of rows.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> labels, totals = public.encrypt([1, 2, 40]).sum_by(["a", "b", "a"])
        >>> labels.tolist(), private.decrypt(totals).tolist()
        (['a', 'b'], [41, 2])
        """
        [(names, totals)] = _sums.totals_by(self.content, labels)
        return names, EncryptedArray(totals)

    def sums_by(self, groupings: Iterable[Any]) -> list[tuple[npt.NDArray[Any], EncryptedArray]]:
        """Returns the result of `sum_by` for each of several groupings, such as the bins of every
        feature.

        The numbers are sent to a graphics card once, not once per grouping.

        Raises:
            NullError, ShapeError: as in `sum_by`.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> by_team, by_site = public.encrypt([1, 2, 40]).sums_by([["a", "b", "a"], [7, 7, 9]])
        >>> private.decrypt(by_team[1]).tolist(), private.decrypt(by_site[1]).tolist()
        ([41, 2], [3, 40])
        """
        found = _sums.totals_by(self.content, *groupings)
        return [(names, EncryptedArray(totals)) for names, totals in found]

    def trace(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> EncryptedArray:
        """Returns the sums of the diagonals of two axes."""
        return self.diagonal(offset, axis1, axis2).sum(-1)

    def dot(self, weights: Any, *, progress: bool = False) -> EncryptedArray:
        """Returns the dot product with plaintext weights, a vector or a matrix, like `np.dot`.

        A scalar weight multiplies each number.

        The result is not randomised: anyone who knows the ciphertexts can test guesses of the
        weights.
        """
        return EncryptedArray(_products.dot(self.content, _plain(weights), progress))

    def rescale(self, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """Returns the same numbers with more digits after the point.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt(3).rescale(scale=2) + public.encrypt("0.25", scale=2))
        Decimal('3.25')
        """
        return EncryptedArray(_arithmetic.moved(self.content, Encoding.of(scale, exponent)))

    def rerandomise(self, *, progress: bool = False) -> EncryptedArray:
        """Returns the same numbers in ciphertexts that cannot be linked to these without the
        private key.
        """
        return EncryptedArray(_arithmetic.rerandomised(self.content, progress))

    # Conversion

    def to_bytes(self) -> bytes:
        """Returns the concatenated ciphertexts, big-endian, each twice as long as n in bytes."""
        return self.content.to_bytes()

    def tolist(self) -> Any:
        """Returns the numbers as encrypted scalars, in lists nested like those of NumPy's `tolist`.

        A scalar returns itself. `decrypt` accepts such lists.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> first, second = public.encrypt([1, 2]).tolist()
        >>> private.decrypt(first + second)
        3
        """
        return self if self.shape == () else [row.tolist() for row in self]

    def ciphertexts(self) -> list[int]:
        """Returns the ciphertexts as integers in [1, n^2), in row-major order, like `ciphertext()`
        of python-paillier's numbers.

        Sums of these integers have no meaning. `to_phe` exports ciphertexts with their exponents.
        """
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
        """Reads ciphertexts from bytes. `range` bounds their numbers (by default 2^63 - 1 units).

        Raises:
            CiphertextError: a row is not a ciphertext of this key, or the bytes are not a whole
                number of rows.
        """
        encoding = Encoding.of(scale, exponent)
        bound = DEFAULT_RANGE if range is None else encoding.bound(range)
        return cls(Encrypted(key, read_ciphertexts(key, data), encoding, bound))

    def to_arrow(self) -> pa.Array:
        """Returns an Arrow array of the extension type `hearith.arrow.EncryptedType` (needs
        `pyarrow`).
        """
        from hearith.arrow import to_arrow

        return to_arrow(self.content)

    @classmethod
    def from_arrow(cls, key: ComputingKey, column: Any) -> EncryptedArray:
        """Reads an Arrow array or chunked array of that extension type, or a column of an encrypted
        table.

        Raises:
            KeyMismatchError: the column is encrypted under another key.
            TableError: the column is not encrypted, is packed, or contains nulls.
        """
        from hearith.arrow import from_arrow

        return cls(from_arrow(key, column))

    def to_phe(self) -> list[str]:
        """Returns the numbers in python-paillier's JSON, `{"v": "...", "e": -8}` each, which
        `PublicKey.from_phe` reads.

        The ciphertexts are exported unchanged. Call `rerandomise()` first if plaintext operands
        must stay hidden.

        Raises:
            ScaleError: the numbers are scaled by a power of ten.
        """
        return _phe_json.write(self.ciphertexts(), self.encoding)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles key id, encoding, bound and ciphertexts, but not the key."""
        content = self.content
        encoding = (content.encoding.base, content.encoding.exponent, content.encoding.divisor)
        state = (content.key_id, content.bits, encoding, content.bound, content.shape, self.to_bytes())
        return _restore, state

    if TYPE_CHECKING:
        # For type checkers, the elements of an encrypted array are encrypted arrays, so that
        # `np.sum` returns one.
        def __array__(self) -> np.ndarray[Any, np.dtype[Element]]: ...

    # NumPy functions are dispatched to hearith._numpy.

    __array_ufunc__ = _numpy.Operators()

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        return _numpy.call(function, args, kwargs)


if TYPE_CHECKING:

    class Element(EncryptedArray, np.object_):  # type: ignore[misc]
        """The element type of an encrypted array, as NumPy's type declarations see it."""


def encrypted(array: Any) -> Encrypted:
    """Returns the content of an encrypted array.

    Raises:
        TypeError: the argument is not an encrypted array.
    """
    if not isinstance(array, EncryptedArray):
        raise TypeError(f"an EncryptedArray is needed, not {type(array).__name__}")
    return array.content


def _plain(operand: Any) -> Any:
    """Returns an operand of a product, after checking that it is not encrypted."""
    if isinstance(collected(operand), EncryptedArray):
        raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
    return operand


def _restore(
    key_id: str, bits: int, encoding: tuple[int, int, int], bound: int, shape: tuple[int, ...], data: bytes
) -> EncryptedArray:
    """Restores a pickled array."""
    return EncryptedArray(Encrypted.pending(key_id, bits, Encoding(*encoding), bound, shape, data))
