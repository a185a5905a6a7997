"""NumPy's functions on encrypted arrays. What is not here cannot be computed without the private key, or is not offered: a `TypeError`
that names it."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from hearith import _shapes
from hearith._rows import Rows, concatenate
from hearith.errors import ShapeError


class Operators:
    """NumPy's operators on encrypted arrays. NumPy asks the class for them; its masked arrays ask the array, and leave an operator to it
    only if it says None: so they come to `hearith._operands`, which looks at their masks."""

    def __get__(self, array: Any, owner: type) -> Callable[..., Any] | None:
        """What NumPy calls, for a class; None for an array."""
        return None if array is not None else _operate


def _operate(_: Any, function: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
    return operate(function, method, operands, options)


def operate(function: np.ufunc, method: str, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc with an encrypted operand, such as `np.add`."""
    if method == "reduce" and function is np.add:
        return _checked("add.reduce", _reduced, *operands, **options)
    handler = _OPERATORS.get(function)
    if method != "__call__" or handler is None or options:
        _refuse(function.__name__ if method == "__call__" else f"{function.__name__}.{method}")
    return handler(*(_unwrapped(operand) for operand in operands))


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy's with an encrypted argument, such as `np.concatenate`."""
    handler = _FUNCTIONS.get(function)
    if handler is None:
        _refuse(function.__name__)
    return _checked(function.__name__, handler, *args, **kwargs)


def _refuse(name: str) -> NoReturn:
    raise TypeError(f"np.{name} cannot be computed on encrypted numbers, or is not offered")


def _checked(name: str, handler: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a handler gives; arguments that it does not have are refused under the name that people called."""
    try:
        inspect.signature(handler).bind(*args, **kwargs)
    except TypeError:
        _refuse(f"{name} with {', '.join(kwargs) or 'these arguments'}")
    return handler(*args, **kwargs)


def _reduced(array: Any, axis: Any = 0, *, keepdims: bool = False) -> Any:
    """`np.add.reduce`: a sum along an axis or several."""
    return _summed(array, axis, keepdims=keepdims)


def _summed(array: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """`np.sum`."""
    return _kept(array, axis, array.sum(axis), keepdims)


def _mean(array: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """`np.mean`."""
    return _kept(array, axis, array.mean(axis), keepdims)


def _kept(array: Any, axis: Any, reduced: Any, keepdims: bool) -> Any:
    """What an array was reduced to; on request with the length 1 along the axes that are gone."""
    if not keepdims:
        return reduced
    gone = range(array.ndim) if axis is None else _shapes.axes_of(axis, array.shape)
    return reduced.reshape(tuple(1 if place in gone else length for place, length in enumerate(array.shape)))


def _unwrapped(operand: Any) -> Any:
    """Plain operands of dimension 0 as the numbers that they are."""
    return operand.item() if isinstance(operand, np.ndarray) and operand.ndim == 0 else operand


#: Operators, which the class defines from either side.
_OPERATORS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.matmul: operator.matmul,
    np.negative: operator.neg,
    np.positive: operator.pos,
}


def _swapped(operation: Callable[[Any, Any], Any], mirrored: str) -> Callable[[Any, Any], Any]:
    """An operation whose left operand may be NumPy's own, which would ask NumPy first."""

    def operate(left: Any, right: Any) -> Any:
        return operation(left, right) if isinstance(left, Rows) else getattr(right, mirrored)(left)

    return operate


for _function, _mirrored in (
    (np.add, "__radd__"),
    (np.subtract, "__rsub__"),
    (np.multiply, "__rmul__"),
    (np.true_divide, "__rtruediv__"),
    (np.matmul, "__rmatmul__"),
):
    _OPERATORS[_function] = _swapped(_OPERATORS[_function], _mirrored)


def _average(array: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """`np.average`: the mean, or a sum of products over the sum of plain weights, which have the array's shape, or one along an axis."""
    if weights is None:
        return _mean(array, axis, keepdims=keepdims)
    found = np.asarray(weights)
    if found.shape != array.shape:
        along = None if axis is None else _shapes.axes_of(axis, array.shape)
        if along is None or len(along) != 1 or found.shape != (array.shape[along[0]],):
            text = f"weights of shape {found.shape} do not go with the shape {array.shape} and axis {axis}"
            raise ShapeError(text, kind="dimensions")
        found = np.moveaxis(np.broadcast_to(found, _shapes.without(array.shape, along[0]) + found.shape), -1, along[0])
    if axis is None and array.ndim == 1 and not keepdims:
        return array @ found / found.sum().item()
    sums = set(np.ravel(found.sum(axis)).tolist())
    if len(sums) != 1:
        _refuse("average with weights of different sums along the axis")
    return _summed(array * found, axis, keepdims=keepdims) / sums.pop()


def _diff(array: Any, n: SupportsIndex = 1, axis: SupportsIndex = -1) -> Any:
    along = _shapes.axis_of(axis, array.shape)
    before: list[Any] = [slice(None)] * array.ndim
    after = list(before)
    before[along], after[along] = slice(None, -1), slice(1, None)
    for _ in range(operator.index(n)):
        array = array[tuple(after)] - array[tuple(before)]
    return array


def _stack(arrays: Sequence[Any], axis: SupportsIndex = 0) -> Any:
    return concatenate([_expanded(array, axis) for array in arrays], axis)


def _expanded(array: Any, axis: Any) -> Any:
    return array.reshape(np.expand_dims(_shapes.places(array.shape), axis).shape)


def _hstack(arrays: Sequence[Any]) -> Any:
    return concatenate(arrays, 0 if all(array.ndim < 2 for array in arrays) else 1)


def _vstack(arrays: Sequence[Any]) -> Any:
    return concatenate([array if array.ndim > 1 else array.reshape(1, -1) for array in arrays])


def _append(array: Any, values: Any, axis: SupportsIndex | None = None) -> Any:
    parts = [array, values]
    return concatenate([part.ravel() for part in parts]) if axis is None else concatenate(parts, axis)


def _broadcast_to(array: Any, shape: Any) -> Any:
    places = np.broadcast_to(_shapes.places(array.shape), shape)
    return type(array)(array.content.selected(places))


def _dot(a: Any, b: Any) -> Any:
    single = any(
        isinstance(operand, int | float | np.generic) or getattr(operand, "shape", None) == () for operand in (a, b)
    )
    return a * b if single else a @ b


def _moved(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only moves numbers: the places are moved in their stead."""

    def move(array: Any, *args: Any, **kwargs: Any) -> Any:
        return type(array)(array.content.selected(function(_shapes.places(array.shape), *args, **kwargs)))

    return move


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.append: _append,
    np.average: _average,
    np.broadcast_to: _broadcast_to,
    np.concatenate: concatenate,
    np.copy: lambda array: array,
    np.cumsum: lambda array, axis=None: array.cumsum(axis),
    np.diff: _diff,
    np.dot: _dot,
    np.expand_dims: _expanded,
    np.hstack: _hstack,
    np.mean: _mean,
    np.ndim: lambda array: array.ndim,
    np.ravel: lambda array: array.ravel(),
    np.repeat: lambda array, repeats, axis=None: array.repeat(repeats, axis),
    np.reshape: lambda array, shape: array.reshape(shape),
    np.shape: lambda array: array.shape,
    np.size: lambda array: array.size,
    np.stack: _stack,
    np.sum: _summed,
    np.take: lambda array, indices, axis=None: array.take(indices, axis),
    np.transpose: lambda array, axes=None: array.transpose(axes) if axes is not None else array.T,
    np.vstack: _vstack,
    **{function: _moved(function) for function in (np.flip, np.roll, np.squeeze, np.moveaxis, np.swapaxes, np.tile)},
}
