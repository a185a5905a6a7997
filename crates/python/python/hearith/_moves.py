"""NumPy functions that rearrange numbers or fill with zeros.

They rearrange positions, and the numbers follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hearith._gathering import Gathered, holds_encrypted, listed
from hearith.errors import ShapeError

#: Unsupported parameters, for which only the default value is accepted.
_IGNORED = ("dtype", "out", "casting", "subok")
#: Parameters that are always passed by name, as are all after them.
_BY_NAME = ("axis", "k", "order", "mode", "copy", "offset")
#: The modes of `np.pad` that need no computation.
_PADDING = ("constant", "edge", "reflect", "symmetric", "wrap")

#: The parameters of each function in order. Those ending in a star hold numbers; a star alone
#: stands for any number of arrays.
_PARAMETERS: dict[str, str] = {
    "append": "arr* values* axis",
    "array_split": "ary* indices_or_sections axis",
    "atleast_1d": "*",
    "atleast_2d": "*",
    "atleast_3d": "*",
    "block": "arrays*",
    "broadcast_arrays": "* subok",
    "broadcast_to": "array* shape subok",
    "choose": "a choices* out mode",
    "column_stack": "tup*",
    "compress": "condition a* axis out",
    "concatenate": "arrays* axis out dtype casting",
    "copy": "a* order subok",
    "delete": "arr* obj axis",
    "diag": "v* k",
    "diagflat": "v* k",
    "diagonal": "a* offset axis1 axis2",
    "dsplit": "ary* indices_or_sections",
    "dstack": "tup*",
    "expand_dims": "a* axis",
    "extract": "condition arr*",
    "flip": "m* axis",
    "fliplr": "m*",
    "flipud": "m*",
    "full_like": "a* fill_value* dtype order subok shape",
    "hsplit": "ary* indices_or_sections",
    "hstack": "tup* dtype casting",
    "insert": "arr* obj values* axis",
    "matrix_transpose": "x*",
    "meshgrid": "* indexing sparse copy",
    "moveaxis": "a* source destination",
    "pad": "array* pad_width mode constant_values* reflect_type",
    "ravel": "a* order",
    "repeat": "a* repeats axis",
    "reshape": "a* shape order copy",
    "resize": "a* new_shape",
    "roll": "a* shift axis",
    "rollaxis": "a* axis start",
    "rot90": "m* k axes",
    "select": "condlist choicelist* default*",
    "split": "ary* indices_or_sections axis",
    "squeeze": "a* axis",
    "stack": "arrays* axis out dtype casting",
    "swapaxes": "a* axis1 axis2",
    "take": "a* indices axis out mode",
    "take_along_axis": "arr* indices axis",
    "tile": "A* reps",
    "transpose": "a* axes",
    "tril": "m* k",
    "triu": "m* k",
    "unstack": "x* axis",
    "vsplit": "ary* indices_or_sections",
    "vstack": "tup* dtype casting",
    "where": "condition x* y*",
    "zeros_like": "a* dtype order subok shape",
}


def call(function: Callable[..., Any], names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Applies a function to encrypted arrays.

    Plaintext numbers among its number parameters are encrypted.

    Raises:
        ShapeError: the shapes do not match.
        TypeError: a parameter is not supported, or an encrypted array is passed for a parameter
            that does not hold numbers.
    """
    several = names[0] == "*"
    named = dict(kwargs) if several else _named(function, names, args, kwargs)
    numbers, others = Gathered(), {}
    values = {name.rstrip("*") for name in names if name.endswith("*")}
    positions = [numbers.positions(one) for one in args] if several else []
    for name, value in named.items():
        if name not in {one.rstrip("*") for one in names}:
            _refuse(f"{function.__name__} with {name}")
        if name in values:
            others[name] = numbers.positions(value, blocks=function is np.block)
        elif holds_encrypted(listed(value)):
            raise TypeError(f"np.{function.__name__} does not accept encrypted numbers as {name}")
        elif name not in _IGNORED:
            others[name] = value
        elif isinstance(value, np.ndarray) or value not in (None, False, object, "same_kind"):
            _refuse(f"{function.__name__} with {name}")
    if function is np.pad:
        _check_padding(others)
    try:
        found = function(*positions, **others) if several else function(*_positional(function, others), **others)
    except ValueError as error:
        raise ShapeError(str(error), kind="dimensions") from None
    return numbers.numbers(found)


def _refuse(name: str) -> NoReturn:
    raise TypeError(f"np.{name} cannot be computed on encrypted numbers, or is not supported")


def _named(
    function: Callable[..., Any], names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the arguments by name."""
    if len(args) > len(names):
        raise TypeError(f"np.{function.__name__} takes {len(names)} arguments, not {len(args)}")
    return dict(zip((name.rstrip("*") for name in names), args, strict=False)) | dict(kwargs)


def _positional(function: Callable[..., Any], named: dict[str, Any]) -> list[Any]:
    """Removes the arguments that NumPy accepts only by position, or under other names, from the
    named ones, and returns them in order.
    """
    given = FUNCTIONS[function]
    taken = []
    for name in (one.rstrip("*") for one in given):
        if name not in named or name in _BY_NAME:
            break
        taken.append(named.pop(name))
    return taken


def _check_padding(named: Mapping[str, Any]) -> None:
    """Raises `TypeError` if padding would compute with the values at the edges."""
    mode = named.get("mode", "constant")
    if mode not in _PADDING or named.get("reflect_type", "even") != "even":
        text = f"np.pad with mode {mode!r}" if mode not in _PADDING else "np.pad with reflect_type 'odd'"
        raise TypeError(f"{text} cannot be computed on encrypted numbers: {', '.join(_PADDING)} can")


def _window(x: Any, window_shape: Any, axis: Any = None) -> Any:
    return np.ascontiguousarray(sliding_window_view(x, window_shape, axis))


#: Functions and the names of their parameters. NumPy's aliases are the same function objects.
FUNCTIONS: dict[Callable[..., Any], list[str]] = {
    getattr(np, name): parameters.split() for name, parameters in _PARAMETERS.items() if hasattr(np, name)
}
FUNCTIONS[sliding_window_view] = ["x*", "window_shape", "axis"]
FUNCTIONS[np.linalg.diagonal] = ["x*", "offset"]
FUNCTIONS[np.linalg.matrix_transpose] = ["x*"]
