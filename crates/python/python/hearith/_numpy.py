"""NumPy's functions on encrypted arrays.

A function that is missing here needs the private key, or is not supported. It raises a `TypeError`
that names it."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hearith import _functional, _linear, _moves, _polynomials
from hearith._einsum import einsum
from hearith._linear import refuse
from hearith._rows import Rows, concatenate


class Operators:
    """NumPy's operators on encrypted arrays.

    NumPy looks up `__array_ufunc__` on the class. Its masked arrays look it up on the array, and
    leave an operator to it only if it is None. Then `hearith._operands` handles them and checks
    their masks."""

    def __get__(self, array: Any, owner: type) -> Callable[..., Any] | None:
        """Returns the ufunc handler for a class, and None for an array."""
        return None if array is not None else _operate


def _operate(_: Any, function: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
    return operate(function, method, operands, options)


def operate(function: np.ufunc, method: str, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Applies a ufunc with an encrypted operand, such as `np.add`."""
    special = _METHODS.get((function, method))
    if special is not None:
        return _checked(f"{function.__name__}.{method}", special, *operands, **options)
    handler = _OPERATORS.get(function)
    if method == "outer" and handler is not None and not options and len(operands) == 2:
        left, right = (operand if isinstance(operand, Rows) else np.asarray(operand) for operand in operands)
        return handler(left.reshape(left.shape + (1,) * right.ndim), right)
    if function in _FUNCTIONS and method == "__call__":
        return _checked(function.__name__, _FUNCTIONS[function], *operands, **options)
    if method != "__call__" or handler is None or options:
        refuse(function.__name__ if method == "__call__" else f"{function.__name__}.{method}")
    return handler(*(_unwrapped(operand) for operand in operands))


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Applies a NumPy function with an encrypted argument, such as `np.concatenate`."""
    if function is np.concatenate and not kwargs and len(args) == 1 and all(isinstance(one, Rows) for one in args[0]):
        return concatenate(args[0])
    handler = _FUNCTIONS.get(function)
    if handler is not None:
        return _checked(function.__name__, handler, *args, **kwargs)
    names = _moves.FUNCTIONS.get(function)
    if names is None:
        module = function.__module__.removeprefix("numpy").removeprefix(".")
        refuse(f"{module}.{function.__name__}" if module in ("fft", "linalg") else function.__name__)
    return _moves.call(function, names, args, kwargs)


def _checked(name: str, handler: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a handler.

    Rejects arguments that it does not support, under the function's public name.
    """
    named = {key: value for key, value in kwargs.items() if not _is_default(key, value)}
    try:
        inspect.signature(handler).bind(*args, **named)
    except TypeError:
        refuse(f"{name} with {', '.join(named) or 'these arguments'}")
    return handler(*args, **named)


def _is_default(name: str, value: Any) -> bool:
    """Whether an argument requests the default."""
    return (value is None and name in ("out", "dtype")) or (value is object and name == "dtype")


def _unwrapped(operand: Any) -> Any:
    """Converts zero-dimensional plaintext operands to scalars."""
    return operand.item() if isinstance(operand, np.ndarray) and operand.ndim == 0 else operand


def _swapped(operation: Callable[[Any, Any], Any], mirrored: str) -> Callable[[Any, Any], Any]:
    """Wraps an operation whose left operand may be a NumPy object, which would dispatch to NumPy
    first.
    """

    def operate(left: Any, right: Any) -> Any:
        return operation(left, right) if isinstance(left, Rows) else getattr(right, mirrored)(left)

    return operate


def _identity(array: Any) -> Any:
    return array


#: Operators, which the class defines on either side.
_OPERATORS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _swapped(operator.add, "__radd__"),
    np.subtract: _swapped(operator.sub, "__rsub__"),
    np.multiply: _swapped(operator.mul, "__rmul__"),
    np.true_divide: _swapped(operator.truediv, "__rtruediv__"),
    np.matmul: _swapped(operator.matmul, "__rmatmul__"),
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.conjugate: _identity,
}

#: Methods of ufuncs with their own handlers.
_METHODS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    (np.add, "reduce"): _linear.reduced,
    (np.add, "reduceat"): _linear.reduceat,
    (np.add, "accumulate"): lambda array, axis=0: array.cumsum(axis),
}

_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.apply_along_axis: _functional.apply_along_axis,
    np.apply_over_axes: _functional.apply_over_axes,
    np.average: _linear.average,
    np.bincount: _linear.bincount,
    np.convolve: _linear.convolve,
    np.correlate: _linear.correlate,
    np.cross: _linear.cross,
    np.cumsum: _linear.cumsum,
    np.diff: _linear.diff,
    np.dot: _linear.dot,
    np.ediff1d: _linear.ediff1d,
    np.einsum: einsum,
    np.gradient: _linear.gradient,
    # Uninitialised memory would not hold valid positions of numbers.
    np.empty_like: lambda prototype, **options: np.zeros_like(prototype, **options),
    np.histogram: _linear.histogram,
    np.inner: _linear.inner,
    np.interp: _linear.interp,
    np.iscomplexobj: lambda x: False,
    np.isrealobj: lambda x: True,
    np.kron: _linear.kron,
    np.linalg.cross: _linear.linalg_cross,
    np.linalg.matmul: lambda x1, x2: np.matmul(x1, x2),
    np.linalg.matrix_power: _linear.matrix_power,
    np.linalg.multi_dot: _linear.multi_dot,
    np.linalg.outer: _linear.outer,
    np.linalg.tensordot: lambda x1, x2, *, axes=2: _linear.tensordot(x1, x2, axes),
    np.linalg.trace: _linear.linalg_trace,
    np.linalg.vecdot: _linear.vecdot,
    np.linspace: _linear.linspace,
    np.mean: _linear.mean,
    np.nancumsum: _linear.cumsum,
    np.nanmean: _linear.mean,
    np.nansum: _linear.total,
    np.ndim: lambda a: a.ndim,
    np.ones_like: lambda a, **options: np.full_like(a, 1, **options),
    np.outer: _linear.outer,
    np.polyadd: _polynomials.polyadd,
    np.polyder: _polynomials.polyder,
    np.polyint: _polynomials.polyint,
    np.polymul: _polynomials.polymul,
    np.polysub: _polynomials.polysub,
    np.polyval: _linear.polyval,
    np.real: _identity,
    np.shape: lambda a: a.shape,
    np.size: lambda a, axis=None: a.size if axis is None else np.broadcast_to(0, a.shape).shape[axis],
    np.sum: _linear.total,
    np.tensordot: _linear.tensordot,
    np.trace: _linear.trace,
    np.vdot: _linear.vdot,
}

# Functions that only some versions of NumPy have.
for _name, _handler in (
    (
        "cumulative_sum",
        lambda x, /, *, axis=None, include_initial=False: _linear.cumsum(x, axis, include_initial=include_initial),
    ),
    ("trapezoid", _linear.trapezoid),
    ("trapz", _linear.trapezoid),
    ("vecdot", _linear.vecdot),
    ("matvec", _linear.matvec),
    ("vecmat", _linear.vecmat),
):
    if hasattr(np, _name):
        _FUNCTIONS[getattr(np, _name)] = _handler
