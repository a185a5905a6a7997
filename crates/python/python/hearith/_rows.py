"""The shape operations of encrypted arrays: indexing, reshaping and concatenation.

`hearith.array` adds arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from hearith import _arithmetic, _shapes
from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted
from hearith._html import shown
from hearith._native import Ciphertexts
from hearith._no_plaintext_operators import NoPlaintextOperators
from hearith._writers import check_kept
from hearith.encoding import Encoding
from hearith.errors import NullError, ShapeError


class Rows(NoPlaintextOperators):
    """The numbers of an encrypted array and their shape, without arithmetic."""

    __slots__ = ("content",)

    #: Higher than that of frames, so that pandas leaves operators to encrypted arrays, which reject
    #: missing values.
    __pandas_priority__ = 5000

    #: The ciphertexts and their encoding, for the modules of this package.
    content: Encrypted

    def __init__(self, content: Encrypted) -> None:
        """Wraps encrypted content.

        Use `PublicKey.encrypt`, `from_bytes` or `from_arrow` instead.
        """
        if not isinstance(content, Encrypted):
            raise TypeError("EncryptedArray comes from PublicKey.encrypt, from_bytes or from_arrow")
        self.content = content

    # Properties

    @property
    def key_id(self) -> str:
        """The id of the public key: 32 hexadecimal digits."""
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
        """The encoding of the encrypted integers."""
        return self.content.encoding

    @property
    def scale(self) -> int:
        """The number of decimal digits after the point."""
        return self.encoding.scale

    @property
    def bound(self) -> int:
        """The largest possible magnitude of an encrypted integer."""
        return self.content.bound

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis: `(length,)` for a vector, `()` for a scalar."""
        return self.content.shape

    @property
    def ndim(self) -> int:
        """The number of axes; 0 for a scalar."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype `object`, as for any NumPy array of Python objects."""
        return np.dtype(object)

    @property
    def T(self) -> Self:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """The array with its last two axes swapped.

        Raises:
            ShapeError: the array has fewer than two axes.
        """
        if self.ndim < 2:
            raise ShapeError(f"an array of {self.ndim} dimensions has no matrices to transpose", kind="dimensions")
        return self.swapaxes(-1, -2)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.content.size

    @property
    def nbytes(self) -> int:
        """The size of the ciphertexts in bytes."""
        return self.size * self.content.width

    # With `__array__`, type checkers would accept encrypted arrays as plaintext ones, and NumPy's
    # results of both.
    if not TYPE_CHECKING:

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
            """Returns an object array of encrypted scalars, for functions that do not support
            encrypted arrays.
            """
            if dtype is not None and np.dtype(dtype) != object:
                raise TypeError("encrypted numbers cannot become a plaintext array: decrypt them with the private key")
            array = np.empty(self.size, dtype=object)
            rows = self.content.rows
            for position in range(self.size):
                array[position] = self._of(rows.range(position, position + 1), ())
            return array.reshape(self.shape)

    def __len__(self) -> int:
        if self.content.single:
            raise TypeError("len() of a single encrypted number")
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"<EncryptedArray: {self._extent()}, {self.encoding}, key {self.key_id[:8]}..., {self.content.bits} bits>"
        )

    def __str__(self) -> str:
        check_kept(also=("astype",))
        return repr(self)

    def _repr_html_(self) -> str:
        """The HTML representation for notebooks: a description, never a value."""
        entries = {
            "numbers": self._extent(),
            "encoding": str(self.encoding),
            "key": f"{self.key_id} ({self.content.bits} bits)",
            "ciphertexts": f"{self.nbytes / 1024:.1f} KiB",
        }
        return shown("Encrypted array", entries)

    def _extent(self) -> str:
        if self.ndim > 1:
            return f"{' x '.join(map(str, self.shape))} numbers"
        return f"{self.size} numbers" if self.shape else "single"

    # Rows

    def __getitem__(self, index: Any) -> Self:
        content = self.content
        if content.single:
            raise IndexError("a single encrypted number has no rows")
        if self.ndim == 1 and isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(self.size)
            return self._of(content.rows.range(start, max(start, stop)), (max(0, stop - start),))
        if isinstance(index, int | np.integer) and not isinstance(index, bool | np.bool_):
            return self._row(int(index))
        if any(isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one) for one in _several(index)):
            raise NullError("an index is missing (masked)", kind="missing")
        return type(self)(content.selected(_shapes.positions(self.shape)[index]))

    def _row(self, index: int) -> Self:
        """Returns the item at an index of the first axis."""
        length, rest = self.shape[0], self.shape[1:]
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of bounds for {length} rows")
        width = self.size // length
        start = index % length * width
        return self._of(self.content.rows.range(start, start + width), rest)

    def _of(self, rows: Ciphertexts, shape: tuple[int, ...]) -> Self:
        return type(self)(self.content.replaced(rows, shape))

    def __iter__(self) -> Iterator[Self]:
        return map(self._row, range(len(self)))

    def reshape(self, *shape: int | Sequence[int], order: str = "C") -> Self:
        """Returns the numbers in another shape of the same size: `reshape(2, -1)`,
        `reshape((2, 3))`, `reshape(())`. With the order `"F"`, the first index varies fastest.

        Raises:
            ShapeError: the new shape has another size.
            ValueError: there is no such order.
        """
        positions = _shapes.reshaped(self.shape, shape, order)
        return type(self)(self.content.selected(positions) if order == "F" else self.content.shaped(positions.shape))

    def ravel(self, order: str = "C") -> Self:
        """Returns the numbers as a vector, row by row, or with the order `"F"` column by column.

        Raises:
            ValueError: there is no such order.
        """
        return self.reshape(-1, order=order)

    flatten = ravel

    @property
    def flat(self) -> Self:
        """The numbers as a vector, row by row."""
        return self.ravel()

    def copy(self) -> Self:
        """Returns the array itself, which is immutable."""
        return self

    def transpose(self, *axes: int | Sequence[int]) -> Self:
        """Returns the array with its axes reversed, or in the order of `axes`."""
        return type(self)(self.content.selected(_shapes.positions(self.shape).transpose(*axes)))

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Self:
        """Returns the array with two axes swapped."""
        return type(self)(self.content.selected(_shapes.positions(self.shape).swapaxes(axis1, axis2)))

    def squeeze(self, axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None) -> Self:
        """Returns the array without axes of length 1: all of them, or those in `axis`."""
        return self.reshape(_shapes.positions(self.shape).squeeze(axis).shape)

    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Self:
        """Returns the numbers on a diagonal of two axes, `offset` above the main one."""
        return type(self)(self.content.selected(_shapes.positions(self.shape).diagonal(offset, axis1, axis2)))

    def take(self, indices: Any, axis: SupportsIndex | None = None) -> Self:
        """Returns the numbers at `indices`, of the flattened array or along an axis."""
        if axis is None:
            return self.ravel()[np.asarray(indices)]
        return type(self)(self.content.selected(np.take(_shapes.positions(self.shape), indices, axis)))

    def repeat(self, repeats: Any, axis: SupportsIndex | None = None) -> Self:
        """Repeats every number, in the flattened array or along an axis.

        The repeated ciphertexts are identical.
        """
        return type(self)(self.content.selected(np.repeat(_shapes.positions(self.shape), repeats, axis)))


AnyRows = TypeVar("AnyRows", bound=Rows)


def concatenate(arrays: Sequence[AnyRows], axis: SupportsIndex = 0) -> AnyRows:
    """Concatenates arrays along an axis.

    All must be under one key; different encodings are converted exactly to a common one. Scalars
    count as vectors of length one.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> private.decrypt(he.concatenate([public.encrypt([1, 2]), public.encrypt([3])]))
    array([1, 2, 3])
    """
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if not all(isinstance(array, Rows) for array in arrays):
        raise TypeError("encrypted arrays combine only with encrypted arrays: encrypt the others first")
    parts = [array.content if array.ndim else array.ravel().content for array in arrays]
    return type(arrays[0])(_arithmetic.concatenated(parts, _shapes.axis_of(axis, parts[0].shape)))


def _several(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)
