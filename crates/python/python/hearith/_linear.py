"""Linear NumPy functions on encrypted arrays: sums, differences and plaintext products."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from hearith import _shapes
from hearith._gathering import collected
from hearith._operands import Shape, Vector, by_position, fraction, plain, present
from hearith._products import Labels, contracted
from hearith._rows import Rows
from hearith.errors import ShapeError


def refuse(name: str) -> NoReturn:
    """Raises the error for a function that cannot be computed, or is not supported."""
    raise TypeError(f"np.{name} cannot be computed on encrypted numbers, or is not supported")


def exact(values: Any) -> npt.NDArray[Any]:
    """Converts plaintext numbers to an array of fractions.

    A float stands for its shortest decimal that reads back as the same float.
    """
    found, shape = plain(by_position(values))
    array = np.empty(len(found), dtype=object)
    array[:] = [fraction(value) for value in found]
    return array.reshape(shape)


def product(a: Any, ours: Labels, b: Any, theirs: Labels, out: Labels) -> Any:
    """Returns products of an encrypted and a plaintext array, summed over labels not in `out`."""
    if isinstance(a, Rows) and isinstance(b, Rows):
        raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
    if isinstance(b, Rows):
        a, ours, b, theirs = b, theirs, a, ours
    return type(a)(contracted(a.content, ours, _read(b), theirs, out))


def along(array: Any, axis: int, weights: npt.NDArray[Any]) -> Any:
    """Returns sums of products along an axis, with a vector (removes it) or a matrix's rows."""
    ours = list(range(array.ndim))
    if weights.ndim == 1:
        return product(array, ours, weights, [axis], _shapes.without(tuple(ours), axis))
    out = [array.ndim if label == axis else label for label in ours]
    return product(array, ours, weights, [array.ndim, axis], out)


# Sums


def total(a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """`np.sum`."""
    found = (a if where is None else a * _mask(where)).sum(axis, keepdims=keepdims)
    return found if initial is None else found + initial


def reduced(a: Any, axis: Any = 0, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """`np.add.reduce`."""
    return total(a, axis, keepdims=keepdims, initial=initial, where=where)


def mean(a: Any, axis: Any = None, *, keepdims: bool = False, where: Any = None) -> Any:
    """`np.mean`."""
    if where is None:
        return a.mean(axis, keepdims=keepdims)
    counts = np.broadcast_to(_mask(where), a.shape).sum(axis, keepdims=keepdims)
    if not np.all(counts):
        raise ShapeError("the mean of no numbers is undefined", kind="dimensions")
    return total(a, axis, keepdims=keepdims, where=where) / counts


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """`np.average`: plaintext weights have the array's shape or that of one axis."""
    if weights is None:
        found = mean(a, axis, keepdims=keepdims)
        return (found, np.full(found.shape, a.size / max(1, found.size))) if returned else found
    factors = exact(weights)
    if factors.shape != a.shape:
        axes = None if axis is None else _shapes.axes_of(axis, a.shape)
        if axes is None or len(axes) != 1 or factors.shape != (a.shape[axes[0]],):
            text = f"weights of shape {factors.shape} do not fit the shape {a.shape} and axis {axis}"
            raise ShapeError(text, kind="dimensions")
        factors = np.moveaxis(np.broadcast_to(factors, _shapes.without(a.shape, axes[0]) + factors.shape), -1, axes[0])
    sums = factors.sum(axis, keepdims=keepdims)
    found = total(a * factors, axis, keepdims=keepdims) / sums
    return (found, np.asarray(sums, dtype=float)) if returned else found


def cumsum(a: Any, axis: Any = None, *, include_initial: bool = False) -> Any:
    """`np.cumsum`, and `np.cumulative_sum`."""
    found = a.cumsum(axis)
    if not include_initial:
        return found
    return np.concatenate([np.zeros_like(found.take([0], axis or 0)), found], axis or 0)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """`np.bincount` with encrypted weights."""
    positions = np.asarray(x)
    if isinstance(x, Rows) or positions.dtype.kind not in "iu" or (positions.size and positions.min() < 0):
        refuse("bincount of anything but non-negative integers")
    length = max(minlength, int(positions.max(initial=-1)) + 1)
    names, sums = weights.sum_by(positions)
    order = np.zeros(length, dtype=np.intp)
    order[names] = np.arange(1, len(names) + 1)
    return np.concatenate([np.zeros_like(weights[:1]), sums])[order]


def reduceat(a: Any, indices: Any, axis: SupportsIndex = 0) -> Any:
    """`np.add.reduceat`: the sums from each index up to the next one."""
    axis_index = _shapes.axis_of(axis, a.shape)
    starts = np.asarray(indices)
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or isinstance(indices, Rows):
        refuse("add.reduceat with anything but a vector of indices")
    length = a.shape[axis_index]
    if not all(0 <= start < length for start in starts):
        raise IndexError(f"indices must be from 0 to {length - 1}, the last along axis {axis_index}")
    ends = [end if start < end else start + 1 for start, end in itertools.pairwise(starts)]
    spans = zip(starts, [*ends, length], strict=False)
    return np.stack([_slice(a, axis_index, int(start), int(end)).sum(axis_index) for start, end in spans], axis_index)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram` of plaintext numbers with encrypted weights: the sums, and the plaintext
    edges.
    """
    if isinstance(a, Rows) or not isinstance(weights, Rows) or density:
        refuse("histogram of anything but plaintext numbers with encrypted weights")
    values = np.asarray(a)
    if values.shape != weights.shape:
        text = f"weights of shape {weights.shape} do not fit numbers of shape {values.shape}"
        raise ShapeError(text, kind="dimensions")
    values = values.ravel()
    edges = np.histogram_bin_edges(values, bins, range)
    positions = np.searchsorted(edges, values, "right") - 1
    # The last bin includes its upper edge.
    positions[values == edges[-1]] = len(edges) - 2
    inside = (values >= edges[0]) & (values <= edges[-1])
    return bincount(positions[inside], weights.ravel()[inside], len(edges) - 1), edges


# Differences and linear functions of a few neighbours


def diff(a: Any, n: SupportsIndex = 1, axis: SupportsIndex = -1, prepend: Any = None, append: Any = None) -> Any:
    """`np.diff`."""
    axis_index = _shapes.axis_of(axis, a.shape)
    ends = [_end(a, one, axis_index) for one in (prepend, append)]
    parts = [one for one in (ends[0], a, ends[1]) if one is not None]
    found = a if len(parts) == 1 else np.concatenate(parts, axis_index)
    for _ in range(operator.index(n)):
        found = _slice(found, axis_index, 1, None) - _slice(found, axis_index, None, -1)
    return found


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """`np.ediff1d`."""
    parts = [part for part in (to_begin, diff(ary.ravel()), to_end) if part is not None]
    return parts[0] if len(parts) == 1 else np.concatenate([np.ravel(part) for part in parts])


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`np.gradient`: second order in the interior, first order at the edges."""
    if edge_order != 1:
        refuse("gradient with edge_order 2")
    axes = tuple(range(f.ndim)) if axis is None else _shapes.axes_of(axis, f.shape)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1,) * len(axes)
    if len(steps) != len(axes):
        raise ShapeError(f"{len(steps)} spacings for {len(axes)} axes", kind="dimensions")
    found = [along(f, one, _slopes(f.shape[one], step)) for one, step in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(length: int, spacing: Any) -> npt.NDArray[Any]:
    """Returns the matrix of `np.gradient`."""
    given = exact(spacing)
    if length < 2 or (given.ndim and given.shape != (length,)):
        raise ShapeError(f"{length} numbers along an axis do not fit {given.size} coordinates", kind="lengths")
    steps = np.diff(given) if given.ndim else np.full(length - 1, given[()])
    found = np.full((length, length), Fraction(0))
    found[0, :2] = [-1 / steps[0], 1 / steps[0]]
    found[-1, -2:] = [-1 / steps[-1], 1 / steps[-1]]
    for row in range(1, length - 1):
        before, after = steps[row - 1], steps[row]
        both = before + after
        middle = (after - before) / (before * after)
        found[row, row - 1 : row + 2] = [-after / (before * both), middle, before / (after * both)]
    return found


def trapezoid(y: Any, x: Any = None, dx: Any = 1, axis: SupportsIndex = -1) -> Any:
    """`np.trapezoid`, with one-dimensional plaintext coordinates."""
    axis_index = _shapes.axis_of(axis, y.shape)
    steps = np.full(y.shape[axis_index] - 1, exact(dx)[()]) if x is None else np.diff(exact(x))
    if steps.shape != (y.shape[axis_index] - 1,):
        raise ShapeError(f"{y.shape[axis_index]} numbers do not fit {steps.size + 1} coordinates", kind="lengths")
    return along(y, axis_index, (np.append(steps, 0) + np.append(0, steps)) * Fraction(1, 2))


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """`np.interp` of encrypted values at plaintext coordinates."""
    if isinstance(x, Rows) or isinstance(xp, Rows):
        refuse("interp at encrypted coordinates")
    at, known = exact(x), exact(xp)
    if fp.shape != known.shape or fp.ndim != 1 or np.any(np.diff(known) <= 0):
        raise ShapeError("np.interp needs ascending coordinates, one for each value", kind="lengths")
    weights = np.full((at.size, known.size), Fraction(0))
    for row, one in enumerate(at.reshape(-1)):
        after = int(np.searchsorted(known, one))
        if after in (0, known.size) or known[after] == one:
            weights[row, min(after, known.size - 1)] = Fraction(1)
        else:
            part = (one - known[after - 1]) / (known[after] - known[after - 1])
            weights[row, after - 1 : after + 1] = [1 - part, part]
    return (along(fp, 0, weights)).reshape(at.shape)


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval` of encrypted coefficients at plaintext numbers."""
    if isinstance(x, Rows):
        refuse("polyval at encrypted numbers")
    at = exact(x)
    powers = np.array([[one**power for power in reversed(range(len(p)))] for one in at.reshape(-1)], dtype=object)
    return along(p, 0, powers.reshape(at.size, len(p))).reshape(at.shape)


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    """`np.linspace` between two numbers, of which at least one is encrypted."""
    parts = max(1, operator.index(num) - bool(endpoint))
    steps = [start + (stop - start) * Fraction(position, parts) for position in range(operator.index(num))]
    return collected(steps) if steps else np.zeros_like(collected([start, stop]))[:0]


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`: one of the vectors is encrypted."""
    plain = v if isinstance(a, Rows) else a
    if isinstance(plain, Rows):
        raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
    encrypted: Any = a if isinstance(a, Rows) else v
    numbers = np.atleast_1d(encrypted)
    weights = np.atleast_1d(exact(plain))
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be full, same or valid, not {mode!r}")
    if numbers.ndim != 1 or weights.ndim != 1 or not len(numbers) or not len(weights):
        raise ShapeError("only vectors that are not empty can be convolved", kind="dimensions")
    beside = len(weights) - 1
    positions = np.lib.stride_tricks.sliding_window_view(np.pad(np.arange(1, len(numbers) + 1), beside), beside + 1)
    full = np.concatenate([np.zeros_like(numbers[:1]), numbers])[positions] @ weights[::-1]
    least, most = sorted((len(numbers), len(weights)))
    skipped = {"full": 0, "same": (least - 1) // 2, "valid": least - 1}[mode]
    return full[skipped : skipped + {"full": least + most - 1, "same": most, "valid": most - least + 1}[mode]]


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """`np.correlate`: one of the vectors is encrypted."""
    numbers, others = np.atleast_1d(a), np.atleast_1d(v)
    if len(numbers) < len(others):
        return convolve(others, numbers[::-1], mode)[::-1]
    return convolve(numbers, others[::-1], mode)


# Products


def dot(a: Any, b: Any) -> Any:
    """`np.dot`: combines the last axis of the left with the second-to-last of the right operand."""
    a, b = _checked_array(a), _checked_array(b)
    left, right = a.ndim, b.ndim
    if 0 in (left, right):
        return a * b
    ours: list[int | str] = [*range(left - 1), "term"]
    theirs: list[int | str] = [*range(left, left + right - 1)]
    theirs.insert(max(0, right - 2), "term")
    return _strict(a, ours, b, theirs, [label for label in (*ours, *theirs) if label != "term"])


def inner(a: Any, b: Any) -> Any:
    """`np.inner`."""
    a, b = _checked_array(a), _checked_array(b)
    left, right = a.ndim, b.ndim
    if 0 in (left, right):
        return a * b
    ours, theirs = [*range(left - 1)], [*range(left, left + right - 1)]
    return _strict(a, [*ours, "term"], b, [*theirs, "term"], [*ours, *theirs])


def vdot(a: Any, b: Any) -> Any:
    """`np.vdot`."""
    return inner(np.ravel(a), np.ravel(b))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`np.vecdot`, and `np.linalg.vecdot`."""
    left, right = (np.moveaxis(_array(one), axis, -1) for one in (x1, x2))
    return (left[..., None, :] @ right[..., :, None])[..., 0, 0]


def matvec(x1: Any, x2: Any, /) -> Any:
    """`np.matvec`."""
    return (_array(x1) @ _array(x2)[..., :, None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """`np.vecmat`."""
    return (_array(x1)[..., None, :] @ _array(x2))[..., 0, :]


def outer(a: Any, b: Any) -> Any:
    """`np.outer`."""
    return product(np.ravel(a), "i", np.ravel(b), "j", "ij")


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """`np.tensordot`."""
    left, right = np.ndim(a), np.ndim(b)
    if isinstance(axes, int | np.integer):
        axes = (list(range(left - int(axes), left)), list(range(int(axes))))
    first, second = (
        [_shapes.axis_of(one, np.shape(array)) for one in np.atleast_1d(some)]
        for array, some in zip((a, b), axes, strict=True)
    )
    if len(first) != len(second):
        raise ShapeError(f"{len(first)} axes cannot be paired with {len(second)}", kind="dimensions")
    theirs: list[Any] = [left + position for position in range(right)]
    for one, other in zip(first, second, strict=True):
        theirs[other] = one
    out = [position for position in (*range(left), *theirs) if position not in first]
    return _strict(a, list(range(left)), b, theirs, out)


def kron(a: Any, b: Any) -> Any:
    """`np.kron`."""
    depth = max(np.ndim(a), np.ndim(b))
    shapes = [(1,) * (depth - np.ndim(one)) + np.shape(one) for one in (a, b)]
    ours, theirs = [f"a{position}" for position in range(depth)], [f"b{position}" for position in range(depth)]
    out = [label for pair in zip(ours, theirs, strict=True) for label in pair]
    found = product(np.reshape(a, shapes[0]), ours, np.reshape(b, shapes[1]), theirs, out)
    return found.reshape(tuple(one * other for one, other in zip(*shapes, strict=True)))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """`np.cross` of vectors of length 3."""
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = np.moveaxis(_array(a), axisa, -1), np.moveaxis(_array(b), axisb, -1)
    if left.shape[-1] != 3 or right.shape[-1] != 3:
        raise ShapeError("np.cross needs vectors of length 3", kind="lengths")
    one, other = [1, 2, 0], [2, 0, 1]
    found = left[..., one] * right[..., other] - left[..., other] * right[..., one]
    return np.moveaxis(found, -1, axisc)


def multi_dot(arrays: Sequence[Any]) -> Any:
    """`np.linalg.multi_dot`."""
    found: Any = arrays[0]
    for one in arrays[1:]:
        encrypted = any(isinstance(each, Rows) for each in (found, one))
        found = found @ one if encrypted else exact(found) @ exact(one)
    return found


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """`np.trace`."""
    return np.diagonal(a, offset, axis1, axis2).sum(-1)


def linalg_trace(x: Any, /, *, offset: int = 0) -> Any:
    """`np.linalg.trace`."""
    return trace(x, offset, -2, -1)


def matrix_power(a: Any, n: SupportsIndex) -> Any:
    """`np.linalg.matrix_power` with the powers 0 and 1.

    Higher powers would multiply encrypted numbers.
    """
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"an array of shape {a.shape} holds no square matrices", kind="dimensions")
    power = operator.index(n)
    if power not in (0, 1):
        refuse(f"linalg.matrix_power with the power {power}")
    return a if power else np.zeros_like(a) + np.eye(a.shape[-1], dtype=int)


def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`np.linalg.cross`."""
    return cross(x1, x2, axis=axis)


def _strict(a: Any, ours: Labels, b: Any, theirs: Labels, out: Labels) -> Any:
    """Computes `product` without broadcasting axes of length 1."""
    for label in set(ours) & set(theirs):
        one, other = np.shape(a)[list(ours).index(label)], np.shape(b)[list(theirs).index(label)]
        if one != other:
            raise ShapeError(f"lengths {one} and {other} do not match", kind="lengths")
    return product(a, ours, b, theirs, out)


def _read(weights: Any) -> tuple[Vector, Shape]:
    return plain(by_position(weights))


def _array(values: Any) -> Any:
    return values if isinstance(values, Rows) else exact(values)


def _checked_array(values: Any) -> Any:
    """Returns an operand as an array, after checking that no value is missing."""
    return values if isinstance(values, Rows) else present(by_position(values))


def _mask(where: Any) -> npt.NDArray[np.int64]:
    if isinstance(where, Rows) or np.asarray(where).dtype.kind != "b":
        raise TypeError("where= must contain plaintext booleans: encrypted ones cannot be read")
    return np.asarray(where).astype(np.int64)


def _slice(array: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return array[(slice(None),) * axis + (slice(start, stop),)]


def _end(array: Any, values: Any, axis: int) -> Any:
    """Returns what `np.diff` puts before or after an array.

    Scalars are broadcast along the edge.
    """
    if values is None or (values.ndim if isinstance(values, Rows) else np.ndim(values)):
        return values
    shape = tuple(1 if position == axis else length for position, length in enumerate(array.shape))
    edge: Any = values
    return np.broadcast_to(edge, shape)
