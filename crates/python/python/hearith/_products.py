"""Sums of products with plaintext numbers: matrix products, and general contractions over the axes
of two arrays.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith import _shapes
from hearith._arithmetic import fitting, widening
from hearith._batches import joined
from hearith._encrypted import Encrypted, checked_bound
from hearith._factors import factor_encoding
from hearith._integers import Integers, bit_length, packed
from hearith._native import Ciphertexts
from hearith._operands import Shape, by_position, placed, plain
from hearith.errors import ShapeError

#: Largest weight in bits for which Rust sums products in one step.
DOT_BITS = 127
#: Largest number of products that a matrix product holds at once.
DOT_ROWS = 1 << 14

#: Labels of the axes of an array.
Labels = Sequence[Hashable]
#: Offsets in row-major order.
Positions = npt.NDArray[np.intp]


def product(left: Encrypted, weights: Any, progress: bool = False, *, transposed: bool = False) -> Encrypted:
    """Returns `left @ weights` with a plaintext array, like `np.matmul`; if transposed,
    `weights @ left`.
    """
    found = plain(by_position(weights))
    one, other = (found[1], left.shape) if transposed else (left.shape, found[1])
    ours, theirs, out = _matmul(one, other)
    if transposed:
        ours, theirs = theirs, ours
    return contracted(left, ours, found, theirs, out, progress)


def dot(left: Encrypted, weights: Any, progress: bool = False) -> Encrypted:
    """Returns the dot product with a plaintext array, like `np.dot`; a scalar multiplies each
    number.
    """
    found = plain(by_position(weights))
    ours, theirs, out = _dot_labels(left.shape, found[1])
    return contracted(left, ours, found, theirs, out, progress)


def contracted(
    left: Encrypted, ours: Labels, weights: tuple[Any, Shape], theirs: Labels, out: Labels, progress: bool = False
) -> Encrypted:
    """Returns products summed over every label that is not in `out`.

    `weights` are numbers and shape from `plain`.

    An axis of length 1 is broadcast.
    """
    found, shape = weights
    with placed(shape):
        encoding = factor_encoding(found, left.encoding)
        integers = fitting(encoding, found, left)
    lengths = _lengths((left.shape, ours), (shape, theirs))
    summed = [label for label in lengths if label not in out]
    terms, made = math.prod(lengths[label] for label in summed), tuple(lengths[label] for label in out)
    bits = bit_length(integers)
    bound = checked_bound((left.bound << widening(bits)) * max(1, terms), left.bits, left.bound)
    pairs = [
        (_offsets(axes, labels, out, lengths), _offsets(axes, labels, summed, lengths))
        for axes, labels in ((left.shape, ours), (shape, theirs))
    ]
    if terms == 0:
        rows = left.key.native.zeros(math.prod(made))
    elif math.prod(made) == 1:
        (start, along), (first, across) = pairs
        rows = _dots(left, start + along, _select(integers, first + across), bits, progress)
    else:
        rows = _sums(left, integers, pairs, bits, progress)
    return left.replaced(rows, made, encoding=left.encoding.times(encoding), bound=bound)


def _matmul(left: Shape, right: Shape) -> tuple[Labels, Labels, Labels]:
    """Returns the labels of `np.matmul`, which pairs the last axis of the left with the
    second-to-last, or only, axis of the right operand.
    """
    if not left or not right:
        raise ShapeError("@ needs vectors or matrices, not 0 dimensions", kind="dimensions")
    if left[-1] != right[-2:][0]:
        raise ShapeError(f"lengths {left[-1]} and {right[-2:][0]} do not match", kind="lengths")
    _shapes.together(left[:-2], right[:-2])
    batch = [f"batch {position}" for position in range(max(len(left), len(right)) - 2)]
    ours = [*batch[len(batch) - len(left[:-2]) :], *(["row"] if len(left) > 1 else []), "term"]
    theirs = [*batch[len(batch) - len(right[:-2]) :], "term", *(["column"] if len(right) > 1 else [])]
    return ours, theirs, [*batch, *ours[len(left[:-2]) : -1], *theirs[len(right[:-2]) + 1 :]]


def _dot_labels(left: Shape, right: Shape) -> tuple[Labels, Labels, Labels]:
    """Returns the labels of `np.dot`, which pairs the last axis of the left with the
    second-to-last, or only, axis of the right operand. All other axes are unpaired.
    """
    ours, theirs = [f"row {row}" for row in range(len(left))], [f"column {column}" for column in range(len(right))]
    if not left or not right:
        return ours, theirs, [*ours, *theirs]
    position = max(0, len(right) - 2)
    if left[-1] != right[position]:
        raise ShapeError(f"lengths {left[-1]} and {right[position]} do not match", kind="lengths")
    ours[-1] = theirs[position] = "term"
    return ours, theirs, [*ours[:-1], *theirs[:position], *theirs[position + 1 :]]


def _lengths(*arrays: tuple[Shape, Labels]) -> dict[Hashable, int]:
    """Returns the length of each label.

    Raises:
        ShapeError: the lengths of a label differ.
    """
    lengths: dict[Hashable, int] = {}
    for shape, labels in arrays:
        if len(shape) != len(labels):
            raise ShapeError(f"{len(labels)} labels for {len(shape)} dimensions", kind="dimensions")
        for length, label in zip(shape, labels, strict=True):
            known = lengths.setdefault(label, length)
            if 1 not in (known, length) and known != length:
                raise ShapeError(f"lengths {known} and {length} do not match", kind="lengths")
            if known == 1:
                lengths[label] = length
    return lengths


def _offsets(shape: Shape, labels: Labels, over: Labels, lengths: Mapping[Hashable, int]) -> Positions:
    """Returns row-major offsets into an array, one for every combination of indices of the labels
    in `over`, in row-major order.
    """
    strides = dict.fromkeys(over, 0)
    step = 1
    for length, label in reversed(list(zip(shape, labels, strict=True))):
        if label in strides and length != 1:
            strides[label] += step
        step *= length
    found = np.zeros((), dtype=np.intp)
    for label, stride in strides.items():
        found = found[..., None] + np.arange(lengths[label]) * stride
    return found.reshape(-1)


def _dots(numbers: Encrypted, positions: Positions, weights: Integers, bits: int, progress: bool) -> Ciphertexts:
    """Computes one sum of products, in pieces."""
    key, rows = numbers.key.native, numbers.rows
    if not np.array_equal(positions, np.arange(len(rows))):
        rows = rows.select(positions.tolist())

    def piece(start: int, stop: int) -> Ciphertexts:
        return _dot(numbers, rows.range(start, stop), weights[start:stop], stop - start, bits)

    return key.sum(joined(len(rows), piece, progress, "multiplying"))


def _sums(
    numbers: Encrypted, weights: Integers, pairs: list[tuple[Positions, Positions]], bits: int, progress: bool
) -> Ciphertexts:
    """Computes sums of products.

    The terms of a sum lie at all steps from its start, in the numbers and in the weights.
    """
    (starts, steps), (others, paces) = pairs
    terms = len(steps)
    together = max(1, DOT_ROWS // terms)

    def some(first: int, last: int) -> Ciphertexts:
        positions = (starts[first:last, None] + steps).reshape(-1)
        factors = _select(weights, (others[first:last, None] + paces).reshape(-1))
        return _dot(numbers, numbers.rows.select(positions.tolist()), factors, terms, bits)

    def piece(start: int, stop: int) -> Ciphertexts:
        parts = [some(first, min(first + together, stop)) for first in range(start, stop, together)]
        return parts[0].concat(parts[1:]) if parts else numbers.key.native.zeros(0)

    return joined(len(starts), piece, progress, "multiplying")


def _dot(numbers: Encrypted, rows: Ciphertexts, weights: Integers, terms: int, bits: int) -> Ciphertexts:
    """Sums the products of every `terms` rows with weights of any width."""
    key = numbers.key.native
    with packed(weights) as (data, width):
        if bits <= DOT_BITS:
            return key.dot(rows, data, width, terms, bits)
        products = key.multiply(rows, data, width, bits)
    return key.sum_groups(products, [list(range(first, first + terms)) for first in range(0, len(rows), terms)])


def _select(integers: Integers, positions: Positions) -> Integers:
    if isinstance(integers, np.ndarray):
        return integers[positions]
    return [integers[position] for position in positions]
