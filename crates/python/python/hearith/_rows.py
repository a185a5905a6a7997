"""What encrypted arrays are and how their places are taken, moved and put together; `hearith.array`
computes with them.
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
    """The numbers of an encrypted array and their shape, without any arithmetic."""

    __slots__ = ("content",)

    #: Above that of frames: pandas leaves operators to encrypted arrays, which reject what is
    #: missing.
    __pandas_priority__ = 5000

    #: The ciphertexts and what they stand for, for the modules of this package.
    content: Encrypted

    def __init__(self, content: Encrypted) -> None:
        """Arrays come from `PublicKey.encrypt`, `from_bytes`, `from_arrow` and from operations on
        others.
        """
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
        """Lengths along each axis: `(length,)` of a vector, `()` of a single number."""
        return self.content.shape

    @property
    def ndim(self) -> int:
        """How many axes there are; 0 for a single number."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What NumPy's arrays of other things have: objects."""
        return np.dtype(object)

    @property
    def T(self) -> Self:
        """The array with its axes in the opposite order."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """The array with its last two axes exchanged.

        Raises:
            ShapeError: it has fewer than two.
        """
        if self.ndim < 2:
            raise ShapeError(f"an array of {self.ndim} dimensions has no matrices to transpose", kind="dimensions")
        return self.swapaxes(-1, -2)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.content.size

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts."""
        return self.size * self.content.width

    # Type checkers would take encrypted arrays for plain ones, and what NumPy makes of both.
    if not TYPE_CHECKING:

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
            """Single encrypted numbers in an array of objects, for functions that know nothing of
            encrypted arrays.
            """
            if dtype is not None and np.dtype(dtype) != object:
                raise TypeError("encrypted numbers have no plain array: decrypt them with the private key")
            array = np.empty(self.size, dtype=object)
            rows = self.content.rows
            for place in range(self.size):
                array[place] = self._of(rows.range(place, place + 1), ())
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
        """What notebooks show: what it is, and never a value."""
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
        return type(self)(content.selected(_shapes.places(self.shape)[index]))

    def _row(self, index: int) -> Self:
        """What stands at an index of the first axis."""
        length, rest = self.shape[0], self.shape[1:]
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of bounds for {length} rows")
        width = self.size // length
        start = index % length * width
        return self._of(self.content.rows.range(start, start + width), rest)

    def _of(self, rows: Ciphertexts, shape: tuple[int, ...]) -> Self:
        return type(self)(self.content.holding(rows, shape))

    def __iter__(self) -> Iterator[Self]:
        return map(self._row, range(len(self)))

    def reshape(self, *shape: int | Sequence[int], order: str = "C") -> Self:
        """The numbers in another shape of as many places: `reshape(2, -1)`, `reshape((2, 3))`,
        `reshape(())`. With the order `"F"` the first index runs fastest.

        Raises:
            ShapeError: it has more or fewer places.
            ValueError: there is no such order.
        """
        places = _shapes.reshaped(self.shape, shape, order)
        return type(self)(self.content.selected(places) if order == "F" else self.content.shaped(places.shape))

    def ravel(self, order: str = "C") -> Self:
        """The numbers as a vector, row by row, or with the order `"F"` column by column.

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
        """The array itself, which nothing changes."""
        return self

    def transpose(self, *axes: int | Sequence[int]) -> Self:
        """The array with its axes in the opposite order, or in that of `axes`."""
        return type(self)(self.content.selected(_shapes.places(self.shape).transpose(*axes)))

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Self:
        """The array with two of its axes exchanged."""
        return type(self)(self.content.selected(_shapes.places(self.shape).swapaxes(axis1, axis2)))

    def squeeze(self, axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None) -> Self:
        """The array without axes of length 1: all of them, or those that are named."""
        return self.reshape(_shapes.places(self.shape).squeeze(axis).shape)

    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Self:
        """The numbers on a diagonal of two axes, `offset` above the main one."""
        return type(self)(self.content.selected(_shapes.places(self.shape).diagonal(offset, axis1, axis2)))

    def take(self, indices: Any, axis: SupportsIndex | None = None) -> Self:
        """The numbers at some indices, of all of them row by row or along an axis."""
        if axis is None:
            return self.ravel()[np.asarray(indices)]
        return type(self)(self.content.selected(np.take(_shapes.places(self.shape), indices, axis)))

    def repeat(self, repeats: Any, axis: SupportsIndex | None = None) -> Self:
        """Every number several times, as a vector or along an axis.

        Ciphertexts repeat as they are.
        """
        return type(self)(self.content.selected(np.repeat(_shapes.places(self.shape), repeats, axis)))


AnyRows = TypeVar("AnyRows", bound=Rows)


def concatenate(arrays: Sequence[AnyRows], axis: SupportsIndex = 0) -> AnyRows:
    """One array of the numbers of several along an axis, all under one key and of one encoding;
    single numbers count as vectors of one.

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
