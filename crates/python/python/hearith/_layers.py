"""The numbers of a model's layers as one vector, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith._operands import numbers
from hearith.errors import NullError, NumberError, RangeError, ShapeError

#: An update: one array, or the layers of a model.
Layers: TypeAlias = npt.NDArray[Any] | Sequence[npt.NDArray[Any]]
#: An update as it comes back.
Floats: TypeAlias = npt.NDArray[np.float64] | list[npt.NDArray[np.float64]]


class Layout:
    """The shapes of the arrays of an update; `single` if it is one array and no list."""

    def __init__(self, like: Layers) -> None:
        """The layout of an update like this one."""
        self.single = isinstance(like, np.ndarray)
        self.shapes = tuple(np.shape(layer) for layer in _listed(like))

    @property
    def size(self) -> int:
        """How many numbers an update has."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def flattened(self, update: Layers) -> npt.NDArray[np.float64]:
        """The numbers of an update one after another.

        Raises:
            NullError: a number is missing.
            NumberError: a layer holds no numbers.
            RangeError: a number exceeds a float.
            ShapeError: the arrays have other shapes.
        """
        layers = [_layer(place, layer) for place, layer in enumerate(_listed(update))]
        shapes = tuple(layer.shape for layer in layers)
        if shapes != self.shapes:
            raise ShapeError(f"arrays of shapes {list(shapes)}, not {list(self.shapes)}", kind="shapes")
        return np.concatenate([np.empty(0), *[layer.reshape(-1) for layer in layers]])

    def parted(self, flat: npt.NDArray[np.float64]) -> Floats:
        """The arrays of an update from all its numbers."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        parts = np.split(flat, ends) if self.shapes else []
        layers = [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]
        return layers[0] if self.single else layers


def _listed(update: Layers) -> list[Any]:
    return [update] if isinstance(update, np.ndarray) else list(update)


def _layer(place: int, layer: Any) -> npt.NDArray[np.float64]:
    try:
        return numbers(layer).astype(np.float64)
    except NullError as error:
        raise NullError(f"layer {place}: a number is missing (masked, null, NA or None)", kind=error.kind) from error
    except OverflowError:
        raise RangeError(f"layer {place}: a number exceeds a float", kind="out_of_range") from None
    except (TypeError, ValueError):
        raise NumberError(f"layer {place} holds something that is no number", kind="not_a_number") from None
