"""Lets NumPy rearrange indices in place of encrypted numbers, and then applies the result to the
numbers of several arrays.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from hearith._arithmetic import aligned, fitting
from hearith._batches import joined
from hearith._encrypted import Encrypted, checked_bound
from hearith._factors import factor_encoding
from hearith._integers import bit_length, plaintexts
from hearith._operands import Shape, Vector, by_position, placed, plain
from hearith._rows import Rows
from hearith.errors import ShapeError


class Gathered:
    """A sequence of encrypted and plaintext numbers.

    Position 0 holds a zero, for NumPy functions that fill with zeros.

    Plaintext numbers are encrypted. The zero is a ciphertext that anyone can recognise until it is
    randomised.
    """

    def __init__(self) -> None:
        """Starts without numbers."""
        self._parts: list[Encrypted | tuple[Vector, Shape]] = []
        self._size = 1
        self._kind: type[Rows] = Rows

    def positions(self, values: Any, *, blocks: bool = False) -> Any:
        """Returns the positions that stand for the numbers of an array, or of lists of arrays.

        With `blocks`, lists never count as arrays themselves.
        """
        if isinstance(values, Rows):
            self._kind = type(values)
            return self._placed(values.content, values.shape)
        found = listed(values)
        if isinstance(found, list | tuple) and (blocks or _holds_arrays(found)):
            return [self.positions(one, blocks=blocks) for one in found]
        numbers = plain(by_position(values))
        return self._placed(numbers, numbers[1])

    def _placed(self, part: Encrypted | tuple[Vector, Shape], shape: Shape) -> Any:
        self._parts.append(part)
        start, self._size = self._size, self._size + int(np.prod(shape, dtype=np.intp))
        return np.arange(start, self._size).reshape(shape)

    def numbers(self, positions: Any) -> Any:
        """Returns the numbers at some positions: an encrypted array, or a list of them."""
        if isinstance(positions, list | tuple):
            return type(positions)(self.numbers(one) for one in positions)
        found = np.asarray(positions)
        if found.dtype.kind not in "iu":
            raise TypeError("encrypted numbers cannot be cast to another dtype")
        if len(self._parts) == 1 and isinstance(self._parts[0], Encrypted) and (found > 0).all():
            return self._kind(self._parts[0].selected(found - 1))
        return self._kind(self._whole().selected(found))

    def _whole(self) -> Encrypted:
        """Returns all numbers in order, in the coarsest encoding that represents them."""
        known = [part for part in self._parts if isinstance(part, Encrypted)]
        others = [
            factor_encoding(part[0], known[0].encoding) for part in self._parts if not isinstance(part, Encrypted)
        ]
        moved = aligned(known, others)
        first, rest = moved[0], iter(moved)
        parts = [next(rest) if isinstance(part, Encrypted) else _encrypted(part, first) for part in self._parts]
        rows = first.key.native.zeros(1).concat([part.rows for part in parts])
        return first.replaced(rows, (len(rows),), bound=max(part.bound for part in parts))


def _encrypted(numbers: tuple[Vector, Shape], like: Encrypted) -> Encrypted:
    """Encrypts plaintext numbers in the encoding of others."""
    found, shape = numbers
    with placed(shape):
        integers = fitting(like.encoding, found, like)
    key = like.key.native
    bound = checked_bound((1 << bit_length(integers)) - 1, like.bits, like.bound)
    rows = joined(len(integers), lambda start, stop: key.encrypt(plaintexts(key, integers[start:stop])), key=key)
    return like.replaced(rows, shape, bound=bound)


def listed(values: Any) -> Any:
    """Converts object arrays and series, which may contain encrypted numbers, to lists."""
    pandas = sys.modules.get("pandas")
    of_pandas = pandas is not None and isinstance(values, pandas.Series | pandas.DataFrame | pandas.Index)
    array = values.to_numpy() if of_pandas else values
    return array.tolist() if isinstance(array, np.ndarray) and array.dtype == object else values


def holds_encrypted(values: Any) -> bool:
    """Whether a list, possibly nested, contains encrypted numbers."""
    if isinstance(values, list | tuple):
        return any(holds_encrypted(one) for one in values)
    return isinstance(values, Rows)


def _holds_arrays(values: Any) -> bool:
    """Whether a list, possibly nested, contains encrypted or plaintext arrays."""
    if isinstance(values, list | tuple):
        return any(_holds_arrays(one) for one in values)
    return isinstance(values, Rows) or (hasattr(values, "__array__") and np.iterable(values))


def collected(values: Any) -> Any:
    """Combines the encrypted numbers of a list, an object array or a series into one encrypted
    array. Returns other values unchanged.

    Raises:
        ShapeError: the arrays in a list differ in shape.
    """
    if isinstance(values, Rows):
        return values
    found = listed(values)
    if not isinstance(found, list | tuple) or not holds_encrypted(found):
        return values
    numbers = Gathered()
    try:
        positions = np.array(numbers.positions(found))
    except ValueError:
        raise ShapeError("arrays in a list must have the same shape", kind="dimensions") from None
    return numbers.numbers(positions)
