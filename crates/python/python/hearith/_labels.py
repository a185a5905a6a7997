"""Labels of encrypted numbers: the distinct ones, each as it was given, and who has which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith._operands import Shape, present
from hearith.errors import NumberError, ShapeError

#: A label with what it is compared by: the kind of things that it is one of, whether it is NaN, and
#: its value.
_Key: TypeAlias = tuple[str, bool, Any]


def distinct(labels: Any, shape: Shape) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The distinct labels of an array of numbers, in ascending order, and which of them each number
    has, row by row.

    Labels of several kinds, such as 1 and "1", stay apart: numbers come before texts. Of equal
    labels, such as 1 and 1.0, the first is kept. NaN equals itself and is the largest number, and
    zero has no sign: as where the command line groups rows.

    Raises:
        NullError: a label is missing.
        NumberError: labels cannot be ordered.
        ShapeError: there are not as many labels as numbers.
    """
    listed = isinstance(labels, Sequence) and not isinstance(labels, str | bytes)
    # As objects: NumPy would read large integers as floats, and numbers beside texts as texts.
    found = present(_objects(labels, shape) if listed else labels)
    if found.shape != shape:
        raise ShapeError(f"{found.size} labels for {math.prod(shape)} numbers", kind="lengths")
    flat = found.reshape(-1)
    return _of_objects(flat.tolist()) if flat.dtype.kind == "O" else _of_array(flat)


def _objects(labels: Sequence[Any], shape: Shape) -> npt.NDArray[Any]:
    """Labels in a list, or in lists within lists, as an array."""
    for length in shape[1:]:
        if not all(isinstance(part, list | tuple) and len(part) == length for part in labels):
            raise ShapeError(f"lists of labels that do not have the numbers' shape {shape}", kind="lengths")
        labels = [label for part in labels for label in part]
    array = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        array[place] = label
    return array.reshape(shape) if shape and array.size == math.prod(shape) else array


def _of_array(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    names, places = np.unique(labels, return_inverse=True)
    return _unsigned_zero(names), places


def _of_objects(labels: list[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    try:
        if _are_all(labels, np.datetime64 | np.timedelta64):
            return _of_array(np.array(labels))
        keys = [_key(label) for label in labels]
        first: dict[_Key, Any] = {}
        for key, label in zip(keys, labels, strict=True):
            first.setdefault(key, label)
        order = sorted(first)
    except (TypeError, OverflowError):
        raise NumberError("labels of a type that cannot be ordered or distinguished", kind="labels") from None
    number = {key: place for place, key in enumerate(order)}
    return _array([first[key] for key in order]), np.array([number[key] for key in keys], dtype=np.intp)


def _key(label: Any) -> _Key:
    if isinstance(label, np.datetime64 | np.timedelta64):
        # Whose item() is an integer, in some units.
        return type(label).__name__, False, label
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, tuple):
        return type(value).__name__, False, tuple(map(_key, value))
    number = isinstance(value, bool | int | float | Decimal | Fraction | np.floating)
    nan = value.is_nan() if isinstance(value, Decimal) else number and bool(value != value)
    return "" if number else type(value).__name__, nan, 0 if nan else value


def _array(names: list[Any]) -> npt.NDArray[Any]:
    """Labels as NumPy holds them where they are all of one type, and none would be another."""
    # NumPy drops what pads a text.
    if _are_all(names, str | int | float | np.number | np.bool_) and not any(
        isinstance(name, str) and name.endswith("\0") for name in names
    ):
        array = np.array(names)
        if array.dtype.kind != "f" or isinstance(names[0], float | np.floating):
            return _unsigned_zero(array)
    return _objects(names, (len(names),))


def _are_all(labels: list[Any], kinds: Any) -> bool:
    """Whether labels are all of one type, which is one of some."""
    return len({type(label) for label in labels}) == 1 and isinstance(labels[0], kinds)


def _unsigned_zero(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels with 0 in place of -0."""
    return names + 0 if names.dtype.kind == "f" else names
