"""Labels of encrypted numbers: finds the distinct ones, in their original form, and assigns them to
numbers.
"""

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

#: The sort key of a label: its kind, whether it is NaN, and its value.
_Key: TypeAlias = tuple[str, bool, Any]


def distinct(labels: Any, shape: Shape) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Returns the distinct labels of an array in ascending order, and for each number, row by row,
    the index of its label.

    Labels of different kinds, such as 1 and "1", stay distinct, and numbers precede texts. Of equal
    labels, such as 1 and 1.0, the first is kept. As in the command line's grouping, NaN equals
    itself and is the largest number, and zero has no sign.

    Raises:
        NullError: a label is missing.
        NumberError: labels cannot be ordered.
        ShapeError: the number of labels differs from the number of encrypted numbers.
    """
    listed = isinstance(labels, Sequence) and not isinstance(labels, str | bytes)
    # Kept as objects: NumPy would convert large integers to floats, and mixed numbers and texts to
    # texts.
    found = present(_objects(labels, shape) if listed else labels)
    if found.shape != shape:
        raise ShapeError(f"{found.size} labels for {math.prod(shape)} numbers", kind="lengths")
    flat = found.reshape(-1)
    return _of_objects(flat.tolist()) if flat.dtype.kind == "O" else _of_array(flat)


def _objects(labels: Sequence[Any], shape: Shape) -> npt.NDArray[Any]:
    """Converts a list of labels, possibly nested, to an array."""
    for length in shape[1:]:
        if not all(isinstance(part, list | tuple) and len(part) == length for part in labels):
            raise ShapeError(f"lists of labels must have the numbers' shape {shape}", kind="lengths")
        labels = [label for part in labels for label in part]
    array = np.empty(len(labels), dtype=object)
    for position, label in enumerate(labels):
        array[position] = label
    return array.reshape(shape) if shape and array.size == math.prod(shape) else array


def _of_array(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    names, positions = np.unique(labels, return_inverse=True)
    return _unsigned_zero(names), positions


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
        raise NumberError("the labels have a type that cannot be ordered or distinguished", kind="labels") from None
    number = {key: position for position, key in enumerate(order)}
    return _array([first[key] for key in order]), np.array([number[key] for key in keys], dtype=np.intp)


def _key(label: Any) -> _Key:
    if isinstance(label, np.datetime64 | np.timedelta64):
        # Their item() is an integer in some unit.
        return type(label).__name__, False, label
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, tuple):
        return type(value).__name__, False, tuple(map(_key, value))
    number = isinstance(value, bool | int | float | Decimal | Fraction | np.floating)
    nan = value.is_nan() if isinstance(value, Decimal) else number and bool(value != value)
    return "" if number else type(value).__name__, nan, 0 if nan else value


def _array(names: list[Any]) -> npt.NDArray[Any]:
    """Converts labels to a NumPy array of their type, if all have one type and none would change;
    else of objects.
    """
    # NumPy drops trailing null characters of texts.
    if _are_all(names, str | int | float | np.number | np.bool_) and not any(
        isinstance(name, str) and name.endswith("\0") for name in names
    ):
        array = np.array(names)
        if array.dtype.kind != "f" or isinstance(names[0], float | np.floating):
            return _unsigned_zero(array)
    return _objects(names, (len(names),))


def _are_all(labels: list[Any], kinds: Any) -> bool:
    """Whether all labels have the same type, which is one of `kinds`."""
    return len({type(label) for label in labels}) == 1 and isinstance(labels[0], kinds)


def _unsigned_zero(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Replaces -0 with 0."""
    return names + 0 if names.dtype.kind == "f" else names
