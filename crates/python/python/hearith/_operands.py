"""Reads plaintext operands: scalars, lists, and arrays of NumPy, pandas, polars and Arrow.

An encrypted array has a number in every position. So missing values (`None`, masked, null, `NA`,
`NaT`) in plaintext operands are errors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith.errors import HearithError, NullError, NumberError, RangeError, ShapeError

#: A plaintext number.
Number: TypeAlias = int | float | Decimal | Fraction | np.integer[Any] | np.floating[Any]
#: A plaintext number or an array of them.
Numbers: TypeAlias = Number | Sequence[Number] | Sequence[Sequence[Number]] | npt.NDArray[Any]
#: Parsed numbers: a one-dimensional array, or a list of Python objects.
Vector: TypeAlias = npt.NDArray[Any] | list[Any]
#: Lengths along each axis; `()` for a scalar.
Shape: TypeAlias = tuple[int, ...]

#: polars types that neither NumPy nor Arrow supports.
LONG_INTEGERS = ("Int128", "UInt128")

_MOST_DIGITS = 5000


def plain(values: Any) -> tuple[Vector, Shape]:
    """Returns the numbers of an array of any shape, or of nested lists, in row-major order, and the
    shape.

    Raises:
        NullError: a value is missing.
        NumberError: the values are not numbers.
        ShapeError: nested lists differ in length.
    """
    if isinstance(values, list | tuple | range):
        if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
            return np.array(values, dtype=np.int64), (len(values),)
        if not any(np.iterable(value) for value in values):
            refuse_missing(values)
            return list(values), (len(values),)
        return _nested(values)
    if isinstance(values, int | float | Decimal | Fraction):
        return [values], ()
    array = numbers(values)
    return array.reshape(-1), array.shape


def by_position(values: Any) -> Any:
    """Returns plaintext numbers that are combined with encrypted ones by position.

    Raises:
        ShapeError: they are a pandas series with an index of its own, which encrypted numbers do
            not have.
    """
    pandas = sys.modules.get("pandas")
    if (
        pandas is not None
        and isinstance(values, pandas.Series)
        and not values.index.equals(pandas.RangeIndex(len(values)))
    ):
        text = "the series has an index, but encrypted numbers have none: pass its to_numpy(), which goes by position"
        raise ShapeError(text, kind="index")
    return values


@contextmanager
def placed(shape: Shape) -> Iterator[None]:
    """Converts row-major positions in errors to rows, with the remaining indices as columns."""
    try:
        yield
    except HearithError as error:
        if error.row is None or len(shape) < 2:
            raise
        row, *rest = (int(index) for index in np.unravel_index(error.row, shape))
        raise error.at(row, ", ".join(map(str, rest))) from None


def numbers(values: Any) -> npt.NDArray[Any]:
    """Returns an array of numbers, of any shape, with a value in every position.

    Raises:
        NullError: a value is missing.
        NumberError: the values are not numbers.
    """
    array = present(values)
    if array.dtype.kind not in "iubfO":
        raise NumberError(f"an array of {array.dtype} holds no numbers", kind="not_a_number")
    return array


def present(values: Any) -> npt.NDArray[Any]:
    """Returns an array of values of any kind, with one in every position.

    Raises:
        NullError: a value is missing.
    """
    if isinstance(values, list | tuple):
        # NumPy would read masked elements of a list as numbers.
        refuse_missing(_leaves(values))
    nulls = _nulls(values)
    if nulls is not None and nulls.any():
        _refuse(nulls)
    array = _plain(values)
    if array.dtype.kind in "mM" and np.isnat(array).any():
        _refuse(np.isnat(array))
    if array.dtype.kind == "O":
        refuse_missing(array.reshape(-1).tolist(), array.shape)
    return array


def refuse_missing(values: Iterable[Any], shape: tuple[int, ...] = (1,)) -> None:
    """Raises `NullError` if one of the objects, the elements of an array of this shape, is a
    missing value.
    """
    position = next((position for position, value in enumerate(values) if is_missing(value)), None)
    if position is not None:
        raise _missing(position, shape)


def is_missing(value: Any) -> bool:
    """Whether an object represents a missing value. A float NaN does not."""
    if value is None or (isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return True
    # Arrow scalars.
    return getattr(value, "is_valid", True) is False


def fraction(value: Any) -> Fraction:
    """Returns the exact number.

    A float stands for its shortest decimal that reads back as the same float.

    Raises:
        NumberError: the value is not a number.
        RangeError: it is not finite, or far too large or small.
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
    raise NumberError(f"{type(value).__name__} is not a number", kind="not_a_number")


_MISSING = "the value is missing (masked, null, NA or None): drop or fill it first"


def _nested(values: Sequence[Any]) -> tuple[Vector, Shape]:
    """Returns the numbers of nested lists, and their shape."""
    parts = [_part(position, value) for position, value in enumerate(values)]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise ShapeError("nested lists must have the same length", kind="dimensions")
    flat = [part for part, _ in parts]
    shape = (len(parts), *shapes.pop())
    if all(isinstance(part, np.ndarray) and part.dtype == np.int64 for part in flat):
        return np.concatenate(flat), shape
    return [value for part in flat for value in part], shape


def _part(position: int, values: Any) -> tuple[Vector, Shape]:
    """Reads a nested list. Errors about missing values name its row."""
    try:
        return plain(values)
    except NullError as error:
        column = None if error.row is None else str(error.row)
        raise NullError(_MISSING, position, column, error.kind) from None


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    """Yields the elements of nested lists."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _leaves(value)
        else:
            yield value


def _nulls(values: Any) -> npt.NDArray[np.bool_] | None:
    """Returns the mask of missing values, according to the library of `values`."""
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
        # Arrow arrays copy only if allowed.
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if str(getattr(values, "dtype", "")) in LONG_INTEGERS:
        return np.array(values.to_list(), dtype=object)
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    return np.asarray(values)


def _refuse(nulls: npt.NDArray[np.bool_]) -> None:
    raise _missing(int(np.argmax(nulls)), nulls.shape)


def _missing(position: int, shape: tuple[int, ...]) -> NullError:
    """Returns the error about an element, by its row-major position."""
    if not shape:
        return NullError(_MISSING, kind="missing")
    if len(shape) == 1:
        return NullError(_MISSING, position, kind="missing")
    row, *rest = (int(index) for index in np.unravel_index(position, shape))
    return NullError(_MISSING, row, ", ".join(map(str, rest)), "missing")
