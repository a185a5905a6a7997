"""Encrypted pandas columns: an extension dtype and array over Arrow, so that data frames can store,
show and compute with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, NoReturn, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype, take

from hearith import _computing
from hearith._arithmetic import aligned, moved
from hearith._encrypted import Encrypted
from hearith._pandas_refusals import NoPlaintextMethods
from hearith._series import EncryptedSeries, valid
from hearith._writers import check_kept
from hearith.array import EncryptedArray
from hearith.arrow import Description, EncryptedType, read_encoding, to_arrow
from hearith.encoding import MAX_SCALE, Encoding
from hearith.errors import KeyMismatchError, RangeError, TableError


@register_extension_dtype
class EncryptedDtype(ExtensionDtype):
    """The dtype of an encrypted column, named `hearith` in pandas.

    It stores key, encoding and bound.
    """

    name = "hearith"
    type = EncryptedArray
    kind = "O"
    na_value = pd.NA
    _metadata = ("description",)
    #: pandas rounds only numeric columns, and silently leaves others unchanged.
    _is_numeric = True

    def __init__(self, description: Description | None = None) -> None:
        """Creates the dtype of columns with this description; None stands for any encrypted
        numbers.
        """
        self.description = description

    @classmethod
    def construct_from_string(cls, string: str) -> EncryptedDtype:
        """Returns the dtype without a description."""
        if string != cls.name:
            raise TypeError(f"cannot construct an EncryptedDtype from '{string}'")
        return cls()

    @classmethod
    def construct_array_type(cls) -> Any:
        """Returns the array class of this dtype."""
        return EncryptedColumn

    def __from_arrow__(self, column: Any) -> EncryptedColumn:
        return EncryptedColumn(column)

    def _get_common_dtype(self, dtypes: Sequence[Any]) -> Any:
        """Returns the dtype of concatenated columns, with the finest scale and a bound for the
        largest numbers. Returns None for columns under different keys, and for packed and plaintext
        ones.
        """
        if not all(isinstance(one, EncryptedDtype) for one in dtypes):
            return None
        found = [one.description for one in dtypes if one.description is not None]
        if all(one == found[0] for one in found):
            return EncryptedDtype(found[0]) if found else self
        if len({one.key for one in found}) > 1 or any(one.encoding == "slots" for one in found):
            return None
        encodings = [read_encoding(one) for one in found]
        common = reduce(Encoding.common, encodings)
        if common.divisor != 1 or common.scale > MAX_SCALE:
            return None
        bounds = [one.bound * encoding.steps_to(common) for one, encoding in zip(found, encodings, strict=True)]
        return EncryptedDtype(Description.of_bound(found[0].key, found[0].bits, common, max(bounds)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other == self.name
        return isinstance(other, EncryptedDtype) and other.description == self.description

    def __hash__(self) -> int:
        return hash((self.name, self.description))

    def __repr__(self) -> str:
        said = self.description
        if said is None:
            return self.name
        scale = said.encoding if said.encoding != "fixed" else f"scale {said.scales[0]}"
        return f"{self.name}[{said.scheme}, {said.bits} bits, {scale}, key {said.key[:8]}...]"


class EncryptedColumn(NoPlaintextMethods, ExtensionArray):
    """Encrypted numbers, some of which may be missing.

    The array is immutable. An element is a scalar `EncryptedArray`.
    """

    def __init__(self, column: Any) -> None:
        """Wraps an Arrow array, or chunked array, of the extension type
        `hearith.arrow.EncryptedType`.

        Raises:
            TableError: it has another type.
        """
        if not isinstance(column.type, EncryptedType):
            raise TableError(f"a column of {column.type} is not encrypted", kind="not_encrypted")
        self._kind = EncryptedType(column.type.description)
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        stored = [chunk.storage.cast(self._kind.storage_type) for chunk in chunks]
        self._storage = pa.concat_arrays(stored) if stored else pa.array([], self._kind.storage_type)

    # The pandas extension array interface

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:
        if isinstance(scalars, cls):
            return scalars
        given = dtype.description if isinstance(dtype, EncryptedDtype) else None
        singles = [None if cell is None or cell is pd.NA else _single(cell) for cell in scalars]
        there = [cell for cell in singles if cell is not None]
        if len({cell.encoding for cell in there}) > 1:
            there = aligned(there)
        kind = EncryptedType(_common(there, given))
        found = iter(there)
        rows = [None if cell is None else next(found).to_bytes() for cell in singles]
        return cls(pa.ExtensionArray.from_storage(kind, pa.array(rows, kind.storage_type)))

    @property
    def dtype(self) -> EncryptedDtype:
        """The dtype, with the description."""
        return EncryptedDtype(self._kind.description)

    @property
    def nbytes(self) -> int:
        """The size of the ciphertexts in bytes."""
        return int(self._storage.nbytes)

    def __len__(self) -> int:
        return len(self._storage)

    def __getitem__(self, item: Any) -> Any:
        item = pd.api.indexers.check_array_indexer(self, item)
        if isinstance(item, int | np.integer):
            return self._cell(int(item))
        if isinstance(item, slice):
            return self._of(self._storage.take(pa.array(np.arange(len(self))[item])))
        return self.take(np.flatnonzero(item) if item.dtype == bool else item)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError("encrypted columns are immutable: replace the whole column")

    def isna(self) -> np.typing.NDArray[np.bool_]:
        """Returns the mask of missing numbers."""
        return ~valid(self._storage)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Returns the numbers at some positions.

        With `allow_fill`, the position `-1` gives a missing number.
        """
        positions = take(np.arange(len(self)), np.asarray(indices, np.intp), allow_fill=allow_fill, fill_value=-1)
        return self._of(self._storage.take(pa.array(positions, pa.int64(), mask=positions < 0)))

    def copy(self) -> Self:
        """Returns the array itself, which is immutable."""
        return self._of(self._storage)

    def view(self, dtype: Any = None) -> Self:
        """Returns the array itself, which is immutable."""
        if dtype is not None:
            raise TypeError("encrypted columns cannot be cast to another type")
        return self.copy()

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        chunks = [column.__arrow_array__() for column in to_concat]
        return cls(pa.chunked_array(chunks, chunks[0].type))

    def equals(self, other: object) -> bool:
        """Whether the ciphertexts are the same.

        Different ciphertexts may still hold equal numbers.
        """
        return isinstance(other, EncryptedColumn) and self.dtype == other.dtype and self._bytes == other._bytes

    def __arrow_array__(self, type: Any = None) -> Any:
        return pa.ExtensionArray.from_storage(self._kind, self._storage)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Returns the column unchanged, with the description of another one, or its elements as
        objects.

        Raises:
            KeyMismatchError: the other description belongs to another key.
            RangeError: its bound is too small for these numbers.
            ScaleError: it has fewer digits.
            TypeError: the type is not supported, or a pandas function is about to write the
                displayed text.
        """
        kind = pd.api.types.pandas_dtype(dtype)
        if not isinstance(kind, EncryptedDtype):
            return self.__array__(kind if isinstance(kind, np.dtype) else "str")
        if kind.description in (None, self._kind.description):
            return self.copy()
        return self._described(kind.description)

    def _described(self, description: Description) -> Self:
        """Converts the numbers to a column with this description."""
        if description.key != self._kind.description.key:
            text = f"numbers under keys {self._kind.description.key} and {description.key} cannot be combined"
            raise KeyMismatchError(text, kind="wrong_key")
        cells = self.series()
        numbers = moved(cells.numbers.content, read_encoding(description))
        if numbers.bound > description.bound:
            raise RangeError("the numbers may be larger than those of the other column", kind="out_of_range")
        stored = EncryptedSeries(EncryptedArray(numbers), cells.present).to_arrow().storage
        return type(self)(pa.ExtensionArray.from_storage(EncryptedType(description), stored))

    def __iter__(self) -> Iterator[Any]:
        check_kept()
        return map(self._cell, range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.typing.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError("encrypted numbers cannot become a plaintext array: decrypt them with the private key")
        check_kept()
        cells = np.empty(len(self), object)
        for position in range(len(self)):
            cells[position] = self._cell(position)
        return cells

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = pd.NA) -> np.typing.NDArray[Any]:
        """Returns the numbers as objects, each a scalar `EncryptedArray` or missing."""
        return self.__array__(dtype)

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:
        return lambda cell: "<NA>" if cell is pd.NA else "<encrypted>"

    # Arithmetic

    def __add__(self, other: Any) -> Any:
        return self._computed(other, EncryptedSeries.add)

    def __radd__(self, other: Any) -> Any:
        return self._computed(other, EncryptedSeries.add)

    def __sub__(self, other: Any) -> Any:
        return self._computed(other, EncryptedSeries.subtract)

    def __rsub__(self, other: Any) -> Any:
        return self._computed(other, lambda series, plain: series.negative().add(plain))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, EncryptedColumn | EncryptedArray):
            raise TypeError("the product of two encrypted columns cannot be computed from Paillier ciphertexts")
        return self._computed(other, EncryptedSeries.multiply)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, EncryptedColumn | EncryptedArray):
            raise TypeError("the quotient of two encrypted columns cannot be computed from Paillier ciphertexts")
        return self._computed(other, EncryptedSeries.divide)

    def __neg__(self) -> Self:
        return type(self)(self.series().negative().to_arrow())

    def __eq__(self, other: object) -> Any:
        raise TypeError("encrypted numbers cannot be compared: equal numbers have different ciphertexts")

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def series(self) -> EncryptedSeries:
        """Returns the non-null numbers and their mask.

        Raises:
            KeyMismatchError: the public key is not loaded in this process.
        """
        return EncryptedSeries.of(_computing.find(self._kind.description.key), self.__arrow_array__())

    def _computed(self, other: Any, operation: Callable[[EncryptedSeries, Any], EncryptedSeries]) -> Any:
        """Applies an operation.

        For a frame, a series or an index, pandas calls again with its values in order.
        """
        if isinstance(other, pd.DataFrame | pd.Series | pd.Index):
            return NotImplemented
        return type(self)(operation(self.series(), _operand(other)).to_arrow())

    def _accumulate(self, name: str, *, skipna: bool = True, **options: Any) -> Self:
        if name != "cumsum":
            raise TypeError(f"'{name}' cannot be computed on encrypted numbers")
        return type(self)(self.series().cumsum(skipna=skipna).to_arrow())

    def fillna(self, value: Any, limit: int | None = None, copy: bool = True) -> Self:
        """Replaces missing numbers with an encrypted scalar, or with a plaintext number after
        encrypting it.

        Raises:
            ScaleError: the numbers have no common scale in a column.
            TypeError: the value is not a single number.
        """
        if np.ndim(value) != 0 or value is None or value is pd.NA:
            raise TypeError("encrypted columns can only be filled with a single number, encrypted or plaintext")
        if not self.isna().any():
            return self.copy()
        return type(self)(self.series().fillna(value, limit).to_arrow())

    def _pad_or_backfill(
        self, *, method: Any, limit: int | None = None, limit_area: Any = None, copy: bool = True
    ) -> Self:
        found: Self = super()._pad_or_backfill(method=method, limit=limit, limit_area=limit_area, copy=copy)
        return found._uncounted() if found.isna().sum() < self.isna().sum() else found

    def _uncounted(self) -> Self:
        """Detaches the column from its table.

        Its old companion counts nothing where a number was missing, so the frame needs a new one.

        Raises:
            TypeError: it is a column of totals, whose values are counted by other columns.
        """
        said = self._kind.description
        if said.values:
            raise TypeError("totals cannot be filled with those of other groups: their counts would be wrong")
        if not said.columns or said.encoding == "slots":
            return self
        alone = Description.of_bound(said.key, said.bits, read_encoding(said), said.bound)
        return type(self)(pa.ExtensionArray.from_storage(EncryptedType(alone), self._storage))

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, min_count: int = 0, **options: Any
    ) -> Any:
        if name not in ("sum", "mean"):
            raise TypeError(f"'{name}' cannot be computed on encrypted numbers")
        missing = int(self.isna().sum())
        if (missing and not skipna) or len(self) - missing < min_count:
            return type(self)._from_sequence([pd.NA], dtype=self.dtype) if keepdims else pd.NA
        found = getattr(self.series().numbers, name)()
        return type(self)._from_sequence([found], dtype=None) if keepdims else found

    def _groupby_op(self, *, how: str, min_count: int, ngroups: int, ids: Any, **options: Any) -> Any:
        if how != "sum":
            return super()._groupby_op(how=how, min_count=min_count, ngroups=ngroups, ids=ids, **options)
        totals = self.series().totals(ids, ngroups, least=min_count, skipna=options.get("skipna", True))
        return type(self)(totals.to_arrow())

    def _cell(self, position: int) -> Any:
        """Returns a scalar, or `pd.NA` for a missing number."""
        stored = self._storage[position]
        if not stored.is_valid:
            return pd.NA
        said = self._kind.description
        encoding = read_encoding(said)
        return EncryptedArray(Encrypted.pending(said.key, said.bits, encoding, said.bound, (), stored.as_py()))

    @property
    def _bytes(self) -> Any:
        return self._storage.to_pylist()

    def _of(self, storage: Any) -> Self:
        return type(self)(pa.ExtensionArray.from_storage(self._kind, storage))


def with_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Converts object columns of encrypted numbers, as left by `apply`, `T` and assignments, to
    encrypted columns.

    Raises:
        KeyMismatchError: the numbers of a column are under different keys.
        RangeError, ScaleError: they have no common scale in a column.
    """
    for position, kind in enumerate(frame.dtypes):
        cells = frame.iloc[:, position]
        if kind == np.dtype(object) and any(isinstance(cell, EncryptedArray) for cell in cells):
            missing = cells.isna()
            column = EncryptedColumn._from_sequence(
                [None if gone else cell for cell, gone in zip(cells, missing, strict=True)]
            )
            frame = frame.copy(deep=False)
            frame.isetitem(position, column)
    return frame


def _operand(other: Any) -> Any:
    """Returns the numbers of an encrypted column; other operands unchanged."""
    if isinstance(other, EncryptedColumn):
        return other.series()
    return other


def _single(cell: Any) -> Encrypted:
    """Returns the content of an encrypted scalar.

    Raises:
        TypeError: the argument is something else.
    """
    if not isinstance(cell, EncryptedArray) or not cell.content.single:
        raise TypeError(f"{type(cell).__name__} is not a single encrypted number")
    return cell.content


def _common(cells: Sequence[Encrypted], given: Description | None) -> Description:
    """Returns the description of a column of these numbers, which have one encoding.

    It is `given` if they all come from such a column, else only their bound.

    Raises:
        KeyMismatchError: the numbers are under different keys.
        ScaleError: they are quotients, or have too many digits for a column.
        TypeError: there are no numbers, and `given` is None.
    """
    if not cells:
        if given is None:
            raise TypeError("a column must come from encryption or contain at least one encrypted number")
        return given
    largest = max(cells, key=lambda cell: cell.bound)
    for cell in cells:
        if cell.key_id != largest.key_id:
            raise KeyMismatchError(
                f"numbers under keys {cell.key_id} and {largest.key_id} cannot be combined", kind="wrong_key"
            )
    if given is not None and all(_is_of(cell, given) for cell in cells):
        return given
    described: Description = to_arrow(largest.shaped((1,))).type.description
    return described


def _is_of(cell: Encrypted, description: Description) -> bool:
    """Whether a number could be an unchanged element of a column with this description."""
    found = (cell.key_id, cell.encoding, cell.bound)
    return found == (description.key, read_encoding(description), description.bound)
