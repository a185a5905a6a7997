"""Array shapes: broadcasting, and the row-major positions that an operation selects."""

from __future__ import annotations

import math
import operator
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from hearith._operands import Shape
from hearith.errors import ShapeError


def together(left: Shape, right: Shape) -> Shape:
    """Returns the broadcast shape of two arrays.

    Raises:
        ShapeError: they do not match.
    """
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        if len(left) == len(right) == 1:
            raise ShapeError(f"lengths {left[0]} and {right[0]} do not match", kind="lengths") from None
        raise ShapeError(f"shapes {left} and {right} do not match", kind="lengths") from None


def positions(shape: Shape) -> npt.NDArray[np.intp]:
    """Returns the row-major positions of an array, in its shape."""
    return np.arange(math.prod(shape)).reshape(shape)


def repeated(shape: Shape, wanted: Shape) -> npt.NDArray[np.intp]:
    """Returns the positions of an array broadcast to another shape."""
    return np.broadcast_to(positions(shape), wanted)


def axis_of(axis: SupportsIndex, shape: Shape) -> int:
    """Returns an axis as an index from 0.

    Raises:
        ShapeError: there is no such axis.
    """
    number = operator.index(axis)
    if not -len(shape) <= number < len(shape):
        raise ShapeError(f"no axis {number} in {len(shape)} dimensions", kind="dimensions")
    return number % len(shape)


def axes_of(axis: Any, shape: Shape) -> Shape:
    """Returns one or several axes as indices from 0.

    Raises:
        ShapeError: there is no such axis, or one is repeated.
    """
    found = tuple(axis_of(one, shape) for one in (axis if isinstance(axis, tuple) else (axis,)))
    if len(set(found)) != len(found):
        raise ShapeError(f"an axis is named twice in {axis}", kind="dimensions")
    return found


def without(shape: Shape, axis: int) -> Shape:
    """Returns a shape without an axis."""
    return shape[:axis] + shape[axis + 1 :]


def kept(shape: Shape, axis: Any) -> Shape:
    """Returns a shape with the length 1 along one or several axes, or along all of them."""
    gone = range(len(shape)) if axis is None else axes_of(axis, shape)
    return tuple(1 if position in gone else length for position, length in enumerate(shape))


def reshaped(shape: Shape, wanted: tuple[Any, ...], order: Any = "C") -> npt.NDArray[np.intp]:
    """Returns the positions of an array reshaped to another shape of the same size.

    One length may be -1, for the remainder. With the order F, the first index varies fastest in
    both shapes.

    Raises:
        ShapeError: the sizes differ.
        ValueError: the order is neither C nor F, the only ones that do not depend on a memory
            layout.
    """
    lengths = wanted[0] if len(wanted) == 1 and isinstance(wanted[0], tuple | list) else wanted
    if order not in ("C", "F"):
        raise ValueError(f"the order of encrypted numbers is 'C' or 'F', not {order!r}")
    try:
        return positions(shape).reshape(tuple(map(operator.index, lengths)), order=order)
    except ValueError:
        text = f"{math.prod(shape)} encrypted numbers do not fit the shape {tuple(lengths)}"
        raise ShapeError(text, kind="dimensions") from None
