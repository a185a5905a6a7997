"""Converts a model's layers to one vector, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith._operands import Shape, numbers
from hearith.errors import NullError, NumberError, RangeError, ShapeError

#: An update: one array, or the layers of a model, as arrays in nested lists, tuples and mappings.
Layers: TypeAlias = npt.NDArray[Any] | Sequence[Any] | Mapping[Any, Any]
#: A decoded update.
Floats: TypeAlias = npt.NDArray[np.floating[Any]] | list[Any] | tuple[Any, ...] | dict[Any, Any]


@dataclass(frozen=True)
class Leaf:
    """The position of an array in an update, and its shape."""

    name: str
    shape: Shape


class Layout:
    """The shapes and positions of the arrays in an update."""

    def __init__(self, like: Layers) -> None:
        """Reads the layout of an example update.

        Raises:
            ShapeError: lists within a layer differ in length.
        """
        given = _listed(like)
        found = list(_leaves(given))
        leaves = [Leaf(name, _shape(name, layer)) for name, layer in found]
        self._tree = _filled(given, iter(leaves))
        #: The arrays in the order of their numbers.
        self.arrays = tuple((leaf.name, leaf.shape) for leaf in leaves)
        self._kinds = [_kind(layer) for _, layer in found]

    @property
    def size(self) -> int:
        """The number of numbers in an update."""
        return sum(int(np.prod(shape)) for _, shape in self.arrays)

    def flatten(self, update: Layers) -> npt.NDArray[np.float64]:
        """Returns the concatenated numbers of an update.

        Raises:
            NullError: a number is missing.
            NumberError: a layer contains no numbers.
            RangeError: a number exceeds a float.
            ShapeError: the arrays have other shapes or positions.
        """
        layers = [(name, _layer(name, layer)) for name, layer in _leaves(_listed(update))]
        found = tuple((name, layer.shape) for name, layer in layers)
        if found != self.arrays:
            (here, shapes), (names, wanted) = _names_and_shapes(found), _names_and_shapes(self.arrays)
            text = f"the arrays have shapes {shapes}, not {wanted}"
            raise ShapeError(
                text if len(here) != len(names) or here == names else f"the layers are {here}, not {names}",
                kind="shapes",
            )
        return np.concatenate([np.empty(0), *[layer.reshape(-1) for _, layer in layers]])

    def unflatten(self, flat: npt.NDArray[np.float64]) -> Floats:
        """Restores the arrays of an update from all its numbers.

        Floats have the length of those in the example update. They have 64 bits if the example has
        other numbers, or if a sum is too large for shorter ones."""
        ends = np.cumsum([int(np.prod(shape)) for _, shape in self.arrays])[:-1]
        parts = np.split(flat, ends) if self.arrays else []
        layers = [
            _shortened(part, kind).reshape(shape)
            for part, kind, (_, shape) in zip(parts, self._kinds, self.arrays, strict=True)
        ]
        filled: Floats = _filled(self._tree, iter(layers))
        return filled


def _listed(update: Layers) -> Any:
    """Returns an update as an array or a container.

    Any other iterable counts as a list of layers.
    """
    return update if isinstance(update, np.ndarray | Mapping | list | tuple) else list(update)


def _is_branch(node: Any) -> bool:
    """Whether a node contains layers rather than being one: a mapping, or a list that contains an
    array at any depth. A list of numbers is a layer.
    """
    if isinstance(node, list | tuple):
        return any(_is_array(one) or _is_branch(one) for one in node)
    return isinstance(node, Mapping)


def _is_array(node: Any) -> bool:
    return hasattr(node, "shape") and not isinstance(node, np.generic)


def _leaves(node: Any, name: str = "", top: bool = True) -> Iterator[tuple[str, Any]]:
    """Yields the layers with their names, such as `0` or `encoder.0.bias`; those of a mapping in
    the order of its keys.
    """
    if not (_is_branch(node) or (top and isinstance(node, list | tuple))):
        yield name or "0", node
        return
    for key in _keys(node):
        yield from _leaves(node[key], f"{name}.{key}" if name else str(key), False)


def _keys(node: Any) -> Sequence[Any]:
    return sorted(node, key=str) if isinstance(node, Mapping) else range(len(node))


def _filled(node: Any, layers: Iterator[Any], top: bool = True) -> Any:
    """Returns the same containers with other layers."""
    if not (_is_branch(node) or (top and isinstance(node, list | tuple))):
        return next(layers)
    found = {key: _filled(node[key], layers, False) for key in _keys(node)}
    if isinstance(node, Mapping):
        return {key: found[key] for key in node}
    if isinstance(node, tuple):
        return tuple(found.values()) if type(node) is tuple else type(node)(*found.values())
    return list(found.values())


def _kind(layer: Any) -> np.dtype[Any]:
    """Returns the dtype of a decoded layer."""
    kind = getattr(layer, "dtype", None)
    short = isinstance(kind, np.dtype) and kind.kind == "f" and kind.itemsize < 8
    return kind.newbyteorder("=") if short and isinstance(kind, np.dtype) else np.dtype(np.float64)


def _shortened(numbers: npt.NDArray[np.float64], kind: np.dtype[Any]) -> npt.NDArray[np.floating[Any]]:
    with np.errstate(over="ignore"):
        short: npt.NDArray[np.floating[Any]] = numbers.astype(kind)
    return short if np.isfinite(short).all() else numbers


def _names_and_shapes(arrays: tuple[tuple[str, Shape], ...]) -> tuple[list[str], list[Shape]]:
    return [name for name, _ in arrays], [shape for _, shape in arrays]


def _shape(name: str, layer: Any) -> Shape:
    try:
        return np.shape(layer)
    except ValueError:
        text = f"layer {name}: its lists differ in length"
        raise ShapeError(text, kind="shapes") from None


def _layer(name: str, layer: Any) -> npt.NDArray[np.float64]:
    try:
        return numbers(layer).astype(np.float64)
    except NullError as error:
        raise NullError(f"layer {name}: a number is missing (masked, null, NA or None)", kind=error.kind) from error
    except OverflowError:
        raise RangeError(f"layer {name}: a number is too large for a float", kind="out_of_range") from None
    except (TypeError, ValueError):
        raise NumberError(f"layer {name} holds something that is not a number", kind="not_a_number") from None
