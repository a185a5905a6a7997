"""NumPy functions that apply a function to parts of an array."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from hearith import _shapes
from hearith._gathering import collected
from hearith._operands import Shape


def apply_along_axis(func1d: Any, axis: SupportsIndex, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`."""
    axis_index = _shapes.axis_of(axis, arr.shape)
    moved = np.moveaxis(arr, axis_index, -1)
    outside: Shape = moved.shape[:-1]
    found = [func1d(moved[index], *args, **kwargs) for index in np.ndindex(outside)]
    made = collected(found)
    made = made.reshape(outside + made.shape[1:])
    inside = made.ndim - len(outside)
    return np.moveaxis(made, range(len(outside), made.ndim), range(axis_index, axis_index + inside))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """`np.apply_over_axes`."""
    for axis in np.atleast_1d(axes):
        found = func(a, int(axis))
        a = found if found.ndim == a.ndim else np.expand_dims(found, int(axis))
    return a
