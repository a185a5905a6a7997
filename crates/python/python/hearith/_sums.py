"""Sums of encrypted numbers: total, along axes, cumulative, and by label."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith import _shapes
from hearith._batches import joined
from hearith._encrypted import Encrypted
from hearith._labels import distinct
from hearith._native import Ciphertexts

#: Numbers summed in one step for a group.
PART = 256


def total(numbers: Encrypted, progress: bool) -> Encrypted:
    """Returns the sum of all numbers, which is 0 if there are none."""
    key, rows = numbers.key.native, numbers.rows
    if key.batch_rows(len(rows)):
        return numbers.replaced(key.sum(rows), (), bound=numbers.bound * max(1, numbers.size))
    partial = joined(len(rows), lambda start, stop: key.sum(rows.range(start, stop)), progress, "adding")
    return numbers.replaced(key.sum(partial), (), bound=numbers.bound * max(1, numbers.size))


def total_along(numbers: Encrypted, axis: int) -> Encrypted:
    """Returns the sums along an axis."""
    length, shape = numbers.shape[axis], _shapes.without(numbers.shape, axis)
    groups = np.moveaxis(_shapes.positions(numbers.shape), axis, -1).reshape(math.prod(shape), length).tolist()
    totals = sum_groups(numbers, groups)
    return numbers.replaced(totals, shape, bound=numbers.bound * max(1, length))


def cumsum(numbers: Encrypted, axis: int) -> Encrypted:
    """Returns the cumulative sums along an axis: of pairs, then of pairs of pairs, in log2(length)
    steps.
    """
    length, native = numbers.shape[axis], numbers.key.native
    order = np.moveaxis(_shapes.positions(numbers.shape), axis, 0)
    rows, width = numbers.rows.select(order.reshape(-1).tolist()), numbers.size // max(1, length)

    def added_up(rows: Ciphertexts, ahead: int) -> Callable[[int, int], Ciphertexts]:
        return lambda start, stop: native.add(rows.range(start + ahead, stop + ahead), rows.range(start, stop))

    step = 1
    while step < length:
        ahead, end = step * width, length * width
        rows = rows.range(0, ahead).concat([joined(end - ahead, added_up(rows, ahead))])
        step *= 2
    back = np.moveaxis(_shapes.positions(order.shape), 0, axis)
    return numbers.replaced(rows, order.shape, bound=numbers.bound * max(1, length)).selected(back)


def sum_groups(numbers: Encrypted, groups: list[list[int]]) -> Ciphertexts:
    """Returns the sum of each group of rows.

    Large groups are summed in parts, so that no single step takes long.
    """
    native, rows = numbers.key.native, numbers.rows
    if native.batch_rows(len(rows)):
        return native.sum_groups(rows, groups)
    while max(map(len, groups), default=0) > PART:
        parts = [group[start : start + PART] for group in groups for start in range(0, len(group), PART)]
        rows = joined(len(parts), _sums_of(native, rows, parts))
        counts = [-(-len(group) // PART) for group in groups]
        ends = np.cumsum(counts).tolist()
        groups = [list(range(end - count, end)) for end, count in zip(ends, counts, strict=True)]
    return joined(len(groups), _sums_of(native, rows, groups))


def _sums_of(native: Any, rows: Ciphertexts, groups: list[list[int]]) -> Callable[[int, int], Ciphertexts]:
    def piece(start: int, stop: int) -> Ciphertexts:
        some = groups[start:stop]
        # Selects only the rows needed, since each piece would otherwise read all of them.
        ends = np.cumsum([0, *(len(group) for group in some)]).tolist()
        positions = [list(range(first, last)) for first, last in pairwise(ends)]
        found: Ciphertexts = native.sum_groups(rows.select([row for group in some for row in group]), positions)
        return found

    return piece


def totals_by(numbers: Encrypted, *groupings: Any) -> list[tuple[npt.NDArray[Any], Encrypted]]:
    """Returns, for each grouping with one label per number, the distinct labels in ascending order
    and the sum of the numbers of each label.
    """
    found = [_grouped(numbers, labels) for labels in groupings]
    totals = sum_groups(numbers, [group for _, groups in found for group in groups])
    results, start = [], 0
    for names, groups in found:
        largest = max((len(group) for group in groups), default=1)
        rows = totals.range(start, start + len(names))
        results.append((names, numbers.replaced(rows, (len(names),), bound=numbers.bound * largest)))
        start += len(names)
    return results


def _grouped(numbers: Encrypted, labels: Any) -> tuple[npt.NDArray[Any], list[list[int]]]:
    """Returns the distinct labels in ascending order, and the rows of each label."""
    names, positions = distinct(labels, numbers.shape)
    order = np.argsort(positions, kind="stable")
    ends = np.cumsum(np.bincount(positions, minlength=len(names)))[:-1]
    return names, [group.tolist() for group in np.split(order, ends)] if len(names) else []
