"""Plain numbers as they come: single ones, lists, arrays of NumPy, pandas, polars and Arrow.

An encrypted array has a number in every place, so what is missing (`None`, masked, null, `NA`, `NaT`) is an error here,
wherever plain numbers meet encrypted ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith.errors import NullError, NumberError, RangeError, ShapeError

#: A plaintext number.
Number: TypeAlias = int | float | Decimal | Fraction | np.integer[Any] | np.floating[Any]
#: A plaintext number or a vector of them.
Numbers: TypeAlias = Number | Sequence[Number] | npt.NDArray[Any]
#: Numbers that have been read: an array of one dimension, or a list of Python objects.
Vector: TypeAlias = npt.NDArray[Any] | list[Any]

_MOST_DIGITS = 5000


def vector(values: Any) -> tuple[Vector, bool]:
    """A vector of numbers, and whether it was a single number.

    Raises:
        NullError: a value is missing.
        NumberError: what is given holds no numbers.
        ShapeError: it has more than one dimension.
    """
    if isinstance(values, list | tuple | range):
        if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
            return np.array(values, dtype=np.int64), False
        refuse_missing(values)
        return list(values), False
    if isinstance(values, int | float | Decimal | Fraction):
        return [values], True
    array = numbers(values)
    if array.ndim > 1:
        raise ShapeError(f"one dimension, not {array.ndim}: ravel() the array and keep its shape", kind="dimensions")
    return array.reshape(-1), array.ndim == 0


def matrix(values: Any) -> tuple[Vector, tuple[int, ...]]:
    """The numbers of a vector or a matrix row by row, and its shape.

    Raises:
        NullError: a value is missing.
        NumberError: what is given holds no numbers.
        ShapeError: it is neither a vector nor a matrix.
    """
    if isinstance(values, list | tuple):
        if not any(np.iterable(value) for value in values):
            found, _ = vector(values)
            return found, (len(found),)
        rows = [_row(place, row) for place, row in enumerate(values)]
        if len({len(row) for row in rows}) > 1:
            raise ShapeError("the rows of a matrix must have one length", kind="dimensions")
        return [value for row in rows for value in row], (len(rows), len(rows[0]))
    array = numbers(values)
    if array.ndim not in (1, 2):
        raise ShapeError(f"a vector or a matrix of plain numbers, not {array.ndim} dimensions", kind="dimensions")
    return array.reshape(-1), array.shape


def numbers(values: Any) -> npt.NDArray[Any]:
    """An array of numbers, of any shape, with a value in every place.

    Raises:
        NullError: a value is missing.
        NumberError: what is given holds no numbers.
    """
    array = present(values)
    if array.dtype.kind not in "iubfO":
        raise NumberError(f"an array of {array.dtype} holds no numbers", kind="not_a_number")
    return array


def present(values: Any) -> npt.NDArray[Any]:
    """An array of whatever values, with one in every place.

    Raises:
        NullError: a value is missing.
    """
    if isinstance(values, list | tuple):
        # NumPy reads masked elements of a list as numbers.
        refuse_missing(_leaves(values))
    nulls = _nulls(values)
    if nulls is not None and nulls.any():
        _refuse(nulls)
    array = _plain(values)
    if array.dtype.kind == "O":
        refuse_missing(array.reshape(-1).tolist(), array.shape)
    return array


def refuse_missing(values: Iterable[Any], shape: tuple[int, ...] = (1,)) -> None:
    """Raises `NullError` if one of some objects, the elements of an array of this shape, stands for a missing value."""
    place = next((place for place, value in enumerate(values) if is_missing(value)), None)
    if place is not None:
        raise _missing(place, shape)


def is_missing(value: Any) -> bool:
    """Whether a single object stands for a missing value; a float's NaN is no number, but not missing."""
    if value is None or (isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return True
    # Scalars of Arrow.
    return getattr(value, "is_valid", True) is False


def fraction(value: Any) -> Fraction:
    """The number exactly; a float as the shortest decimal that reads back as it.

    Raises:
        NumberError: it is no number.
        RangeError: it is not finite, or hopelessly large or small.
    """
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        # float32 and float16 print their own shortest decimal.
        value = Decimal(str(value))
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _MOST_DIGITS:
            raise RangeError("not a finite number, or far too large", kind="not_finite")
        return Fraction(value)
    if isinstance(value, Fraction):
        return value
    if is_missing(value):
        raise NullError(_MISSING, kind="missing")
    raise NumberError(f"{type(value).__name__} is no number", kind="not_a_number")


_MISSING = "the value is missing (masked, null, NA or None): drop or fill it first"


def _row(place: int, values: Any) -> Vector:
    """A row of a matrix that is given as a list of rows."""
    try:
        row, single = vector(values)
    except NullError as error:
        column = None if error.row is None else str(error.row)
        raise NullError(_MISSING, place, column, error.kind) from None
    if single:
        raise ShapeError("a number stands where the matrix has rows", place, kind="dimensions")
    return row


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    """The elements of lists within lists."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _leaves(value)
        else:
            yield value


def _nulls(values: Any) -> npt.NDArray[np.bool_] | None:
    """Which values are missing, as the library that they come from says."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    if hasattr(values, "isna"):
        return np.asarray(values.isna(), dtype=bool)
    if hasattr(values, "null_count") and hasattr(values, "is_null"):
        return np.asarray(values.is_null(), dtype=bool)
    return None


def _plain(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getdata(values))
    if hasattr(values, "buffers") and hasattr(values, "to_numpy"):
        # An array of Arrow, which copies only when told that it may.
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    return np.asarray(values)


def _refuse(nulls: npt.NDArray[np.bool_]) -> None:
    raise _missing(int(np.argmax(nulls)), nulls.shape)


def _missing(place: int, shape: tuple[int, ...]) -> NullError:
    """The error about an element, by its place in row-major order."""
    if not shape:
        return NullError(_MISSING, kind="missing")
    if len(shape) == 1:
        return NullError(_MISSING, place, kind="missing")
    row, *rest = (int(index) for index in np.unravel_index(place, shape))
    return NullError(_MISSING, row, ", ".join(map(str, rest)), "missing")
