"""Arithmetic on encrypted numbers: which operands go together, what the result is bounded by, and the batches in Rust."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith import _shapes
from hearith._batches import joined
from hearith._encrypted import Encrypted, checked_bound
from hearith._factors import digits, factor_encoding
from hearith._integers import Integers, bit_length, negated, objects, packed, plaintexts
from hearith._native import Ciphertexts
from hearith._operands import Numbers, Shape, Vector, by_position, fraction, placed, plain, present
from hearith.encoding import Encoding
from hearith.errors import KeyMismatchError, NumberError, ScaleError, ShapeError

#: Bits of the widest weights of a dot product.
DOT_BITS = 127
#: Numbers that are added up in one step for a group.
PART = 256
#: Products that a matrix product holds at a time.
DOT_ROWS = 1 << 14


def added(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Sums of encrypted numbers."""
    return _row_by_row(left, right, left.key.native.add, progress)


def subtracted(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Differences of encrypted numbers."""
    return _row_by_row(left, right, left.key.native.subtract, progress)


def added_plain(left: Encrypted, numbers: Numbers, progress: bool, negative: bool = False) -> Encrypted:
    """Sums of encrypted and plain numbers, or differences; the result has all digits that the plain ones have."""
    found, shape = plain(by_position(numbers))
    with placed(shape):
        left = _with_digits_of(left, found)
        integers = left.encoding.integers(found, limit=1 << (left.bits - 2))
    if negative:
        integers = negated(integers)
    left, integers = _aligned(left, integers, shape)
    bound = checked_bound(left.bound + (1 << bit_length(integers)), left.bits)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        return key.add_plain(rows.range(start, stop), plaintexts(key, integers[start:stop]))

    return left.holding(joined(len(rows), piece, progress, "adding"), left.shape, bound=bound)


def negative(numbers: Encrypted) -> Encrypted:
    """The numbers with the opposite sign."""
    key, rows = numbers.key.native, numbers.rows
    opposite = joined(len(rows), lambda start, stop: key.negate(rows.range(start, stop)))
    return numbers.holding(opposite, numbers.shape)


def multiplied(
    left: Encrypted,
    factors: Numbers,
    *,
    scale: int | None = None,
    exponent: int | None = None,
    rounding: bool = False,
    progress: bool = False,
) -> Encrypted:
    """Products with plain numbers."""
    found, shape = plain(by_position(factors))
    with placed(shape):
        encoding = factor_encoding(found, left.encoding, scale, exponent)
        integers = encoding.integers(found, limit=2**left.bits, rounding=rounding)
    left, integers = _aligned(left, integers, shape)
    bits = bit_length(integers)
    bound = checked_bound(_times(left.bound, bits), left.bits)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        with packed(integers[start:stop]) as (data, width):
            return key.multiply(rows.range(start, stop), data, width, bits)

    product = joined(len(rows), piece, progress, "multiplying")
    return left.holding(product, left.shape, encoding=left.encoding.times(encoding), bound=bound)


def divided(left: Encrypted, divisor: Any) -> Encrypted:
    """Quotients by a single plain number: the same ciphertexts or multiples of them, divided when they are decrypted."""
    found, shape = plain(divisor)
    if shape != ():
        raise ShapeError("encrypted numbers are divided by a single number: multiply by reciprocals", kind="dimensions")
    quotient = fraction(found[0])
    if quotient == 0:
        raise ZeroDivisionError("division by zero")
    times = quotient.denominator if quotient > 0 else -quotient.denominator
    return (left if times == 1 else multiplied(left, times)).over(abs(quotient.numerator))


def total(numbers: Encrypted, progress: bool) -> Encrypted:
    """The sum of all numbers; of none it is 0."""
    key, rows = numbers.key.native, numbers.rows
    partial = joined(len(rows), lambda start, stop: key.sum(rows.range(start, stop)), progress, "adding")
    return numbers.holding(key.sum(partial), (), bound=numbers.bound * max(1, numbers.size))


def total_along(numbers: Encrypted, axis: int) -> Encrypted:
    """The sums along an axis."""
    length, shape = numbers.shape[axis], _shapes.without(numbers.shape, axis)
    groups = np.moveaxis(_shapes.places(numbers.shape), axis, -1).reshape(math.prod(shape), length).tolist()
    totals = _sum_groups(numbers, groups)
    return numbers.holding(totals, shape, bound=numbers.bound * max(1, length))


def running(numbers: Encrypted, axis: int) -> Encrypted:
    """The sums of the numbers up to each along an axis: pairs, then pairs of pairs, in as many steps as its length has bits."""
    length, native = numbers.shape[axis], numbers.key.native
    order = np.moveaxis(_shapes.places(numbers.shape), axis, 0)
    rows, width = numbers.rows.select(order.reshape(-1).tolist()), numbers.size // max(1, length)

    def added_up(rows: Ciphertexts, ahead: int) -> Callable[[int, int], Ciphertexts]:
        return lambda start, stop: native.add(rows.range(start + ahead, stop + ahead), rows.range(start, stop))

    step = 1
    while step < length:
        ahead, end = step * width, length * width
        rows = rows.range(0, ahead).concat([joined(end - ahead, added_up(rows, ahead))])
        step *= 2
    back = np.moveaxis(_shapes.places(order.shape), 0, axis)
    return numbers.holding(rows, order.shape, bound=numbers.bound * max(1, length)).selected(back)


def _sum_groups(numbers: Encrypted, groups: list[list[int]]) -> Ciphertexts:
    """The sum of each group of rows: parts of groups first, so that no single step takes long."""
    native, rows = numbers.key.native, numbers.rows
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
        # Of the rows that are meant alone: all of them would be read for each piece.
        ends = np.cumsum([0, *(len(group) for group in some)]).tolist()
        places = [list(range(first, last)) for first, last in pairwise(ends)]
        found: Ciphertexts = native.sum_groups(rows.select([row for group in some for row in group]), places)
        return found

    return piece


def totals_by(numbers: Encrypted, labels: Any) -> tuple[npt.NDArray[Any], Encrypted]:
    """The distinct labels in ascending order and the sum of each one's numbers."""
    found = present(objects(labels)) if isinstance(labels, list | tuple) else present(labels)
    if found.shape != numbers.shape:
        raise ShapeError(f"{found.size} labels for {numbers.size} numbers", kind="lengths")
    names, places = _distinct(found.reshape(-1))
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(names)))[:-1]
    groups = [group.tolist() for group in np.split(order, ends)] if len(names) else []
    largest = max((len(group) for group in groups), default=1)
    totals = _sum_groups(numbers, groups)
    return names, numbers.holding(totals, (len(names),), bound=numbers.bound * largest)


def product(left: Encrypted, weights: Any, progress: bool = False, *, transposed: bool = False) -> Encrypted:
    """`left @ weights`, sums of products with plain vectors or matrices; if transposed, `weights @ left`."""
    found, shape = plain(by_position(weights))
    for dimensions in (left.shape, shape):
        if len(dimensions) not in (1, 2):
            raise ShapeError(f"@ takes vectors and matrices, not {len(dimensions)} dimensions", kind="dimensions")
    with placed(shape):
        encoding = factor_encoding(found, left.encoding, None, None)
        integers = encoding.integers(found, limit=2**DOT_BITS - 1)
    bits = bit_length(integers)
    if transposed:
        # The transposed product is the product of the transposed.
        left, shape, integers = turned(left), shape[::-1], _turned(integers, shape)
    terms, columns = shape[0], shape[1:]
    if left.shape[-1] != terms:
        raise ShapeError(f"lengths {left.shape[-1]} and {terms} do not match", kind="lengths")
    bound = checked_bound(_times(left.bound, bits) * max(1, terms), left.bits)
    if left.shape == (terms,) and not columns:
        rows = _dots(left, integers, bits, progress)
    else:
        rows = _matrix(left, _turned(integers, shape), (terms, *columns), bits, progress)
    made = left.holding(rows, left.shape[:-1] + columns, encoding=left.encoding.times(encoding), bound=bound)
    return turned(made) if transposed else made


def turned(numbers: Encrypted) -> Encrypted:
    """The numbers with their axes in the opposite order."""
    return numbers if len(numbers.shape) < 2 else numbers.selected(_shapes.places(numbers.shape).T)


def rescaled(numbers: Encrypted, finer: Encoding) -> Encrypted:
    """The same numbers on a finer encoding."""
    steps = numbers.encoding.steps_to(finer)
    if steps == 1:
        return numbers
    rows = multiplied(numbers, steps).rows
    return numbers.holding(rows, numbers.shape, encoding=finer, bound=numbers.bound * steps)


def rerandomised(numbers: Encrypted, progress: bool) -> Encrypted:
    """The same numbers in other ciphertexts."""
    key, rows = numbers.key.native, numbers.rows
    others = joined(len(rows), lambda start, stop: key.rerandomise(rows.range(start, stop)), progress, "randomising")
    return numbers.holding(others, numbers.shape)


def concatenated(parts: Sequence[Encrypted], axis: int) -> Encrypted:
    """The numbers of several arrays one after another along an axis."""
    first, rest = parts[0], parts[1:]
    for other in rest:
        _check_same(first, other, "go together")
    starts = np.cumsum([0, *(part.size for part in parts)])
    blocks = [_shapes.places(part.shape) + start for part, start in zip(parts, starts, strict=False)]
    try:
        order = np.concatenate(blocks, axis)
    except ValueError:
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ShapeError(f"shapes {shapes} do not go together along axis {axis}", kind="dimensions") from None
    rows = first.rows.concat([other.rows for other in rest])
    whole = first.holding(rows, (len(rows),), bound=max(part.bound for part in parts))
    return whole.shaped(order.shape) if axis == 0 else whole.selected(order)


def _check_same(left: Encrypted, right: Encrypted, what: str) -> None:
    """Checks that numbers are under one key and of one encoding."""
    if left.key_id != right.key_id:
        raise KeyMismatchError(f"numbers under key {left.key_id} and under key {right.key_id}", kind="wrong_key")
    if left.encoding != right.encoding:
        text = f"{left.encoding} and {right.encoding} do not {what}: rescale() one of them"
        raise ScaleError(text, kind="scales_differ")


def _spread(numbers: Encrypted, shape: Shape) -> Encrypted:
    """The numbers, repeated where the shape asks for it."""
    if numbers.shape == shape:
        return numbers
    if len(numbers.rows) == math.prod(shape):
        return numbers.shaped(shape)
    return numbers.selected(_shapes.repeated(numbers.shape, shape))


def _aligned(left: Encrypted, integers: Integers, shape: Shape) -> tuple[Encrypted, Integers]:
    """Encrypted numbers and plain integers of one shape."""
    common = _shapes.together(left.shape, shape)
    if len(integers) != math.prod(common):
        places = _shapes.repeated(shape, common).reshape(-1)
        integers = integers[places] if isinstance(integers, np.ndarray) else [integers[place] for place in places]
    return _spread(left, common), integers


def _row_by_row(
    left: Encrypted, right: Encrypted, operation: Callable[[Ciphertexts, Ciphertexts], Ciphertexts], progress: bool
) -> Encrypted:
    _check_same(left, right, "add up")
    common = _shapes.together(left.shape, right.shape)
    left, right = _spread(left, common), _spread(right, common)
    bound = checked_bound(left.bound + right.bound, left.bits)
    a, b = left.rows, right.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        return operation(a.range(start, stop), b.range(start, stop))

    return left.holding(joined(len(a), piece, progress, "adding"), common, bound=bound)


def _times(bound: int, bits: int) -> int:
    """The bound of products with integers of so many bits: a sign alone needs no room."""
    return bound << (0 if bits == 1 else bits)


def _distinct(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The distinct labels in ascending order, and which of them each is. Labels of several kinds, such as 1 and "1", stay apart: numbers
    come before texts."""
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)
    keyed = [_kind(label) for label in labels]
    try:
        names = sorted(dict(zip(keyed, labels, strict=True)).items(), key=lambda item: item[0])
        number = {key: place for place, (key, _) in enumerate(names)}
    except TypeError:
        raise NumberError("labels of a kind that has no order, or cannot be told apart", kind="labels") from None
    found = np.array([number[key] for key in keyed], dtype=np.intp)
    return _plain_if_alike([name for _, name in names]), found


def _kind(label: Any) -> tuple[str, Any]:
    """A label with the kind of things that it is compared with."""
    value = label.item() if isinstance(label, np.generic) else label
    number = isinstance(value, bool | int | float | Decimal | Fraction)
    return "" if number else type(value).__name__, value


def _plain_if_alike(names: list[Any]) -> npt.NDArray[Any]:
    """Labels as NumPy holds them where they are all of one type."""
    alike = len({type(name) for name in names}) == 1 and isinstance(names[0], str | int | float)
    return np.array(names) if alike else objects(names)


def _with_digits_of(left: Encrypted, found: Vector) -> Encrypted:
    """Encrypted numbers with as many decimal digits as plain ones have, where they stand on a power of ten."""
    encoding = left.encoding
    if (isinstance(found, np.ndarray) and found.dtype.kind in "iub") or encoding.base != 10:
        return left
    finer = max((digits(number, row) for row, number in enumerate(found)), default=0)
    return left if finer <= encoding.scale else rescaled(left, Encoding(10, -finer, encoding.divisor))


def _dots(numbers: Encrypted, weights: Integers, bits: int, progress: bool) -> Ciphertexts:
    """The sum of the products with a vector of weights."""
    key, rows = numbers.key.native, numbers.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        if start == stop:
            return key.zeros(1)
        with packed(weights[start:stop]) as (data, width):
            return key.dot(rows.range(start, stop), data, width, stop - start, bits)

    return key.sum(joined(len(rows), piece, progress, "multiplying"))


def _matrix(numbers: Encrypted, weights: Integers, shape: Shape, bits: int, progress: bool) -> Ciphertexts:
    """The sums of the products of each row of the numbers with each row of the weights; `shape` is terms by rows of weights, or terms."""
    key, rows, terms, columns = numbers.key.native, numbers.rows, shape[0], math.prod(shape[1:])
    sums = math.prod(numbers.shape[:-1]) * columns
    if terms == 0:
        return key.zeros(sums)
    together = max(1, DOT_ROWS // terms)

    def some(first: int, last: int) -> Ciphertexts:
        row, column = np.divmod(np.arange(first, last), columns)
        with packed(_rows_of(weights, terms, column)) as (data, width):
            return key.dot(
                rows.select(_rows_of(np.arange(numbers.size), terms, row).tolist()), data, width, terms, bits
            )

    def piece(start: int, stop: int) -> Ciphertexts:
        parts = [some(first, min(first + together, stop)) for first in range(start, stop, together)]
        return parts[0].concat(parts[1:]) if parts else key.zeros(0)

    return joined(sums, piece, progress, "multiplying")


def _rows_of(integers: Any, width: int, rows: npt.NDArray[np.intp]) -> Any:
    """Some rows of a matrix that is given row by row, one after another."""
    if isinstance(integers, np.ndarray):
        return integers.reshape(-1, width)[rows].reshape(-1)
    return [value for row in rows for value in integers[row * width : (row + 1) * width]]


def _turned(integers: Integers, shape: Shape) -> Integers:
    """The integers of a matrix column by column; a vector's as they are."""
    if len(shape) == 1:
        return integers
    order = _shapes.places(shape).T.reshape(-1)
    return integers[order] if isinstance(integers, np.ndarray) else [integers[place] for place in order]
