"""Arithmetic on encrypted numbers: which operands go together, what the result is bounded by, and the batches in Rust."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith._batches import joined
from hearith._encrypted import Encrypted, checked_bound
from hearith._integers import Integers, bit_length, negated, objects, packed, plaintexts, repeated
from hearith._native import Ciphertexts
from hearith._operands import Numbers, Vector, matrix, present, vector
from hearith.encoding import Encoding
from hearith.errors import KeyMismatchError, ScaleError, ShapeError

#: Bits of the widest weights of a dot product.
DOT_BITS = 127
#: Products that a matrix product holds at a time.
DOT_ROWS = 1 << 14


def added(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Sums of encrypted numbers."""
    return _row_by_row(left, right, left.key.native.add, progress)


def subtracted(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Differences of encrypted numbers."""
    return _row_by_row(left, right, left.key.native.subtract, progress)


def added_plain(left: Encrypted, numbers: Numbers, progress: bool, negative: bool = False) -> Encrypted:
    """Sums of encrypted and plain numbers, or differences."""
    integers, single = left.encoding.encode(numbers, limit=1 << (left.bits - 2))
    if negative:
        integers = negated(integers)
    left, integers, single = _aligned(left, integers, single)
    bound = checked_bound(left.bound + (1 << bit_length(integers)), left.bits)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        return key.add_plain(rows.range(start, stop), plaintexts(key, integers[start:stop]))

    return left.holding(joined(len(rows), piece, progress, "adding"), bound=bound, single=single)


def negative(numbers: Encrypted) -> Encrypted:
    """The numbers with the opposite sign."""
    key, rows = numbers.key.native, numbers.rows
    opposite = joined(len(rows), lambda start, stop: key.negate(rows.range(start, stop)))
    return numbers.holding(opposite, single=numbers.single)


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
    found, single = vector(factors)
    encoding = _factor_encoding(found, scale, exponent)
    integers = encoding.integers(found, limit=2**left.bits, rounding=rounding)
    left, integers, single = _aligned(left, integers, single)
    bits = bit_length(integers)
    bound = checked_bound(left.bound << bits, left.bits)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        with packed(integers[start:stop]) as (data, width):
            return key.multiply(rows.range(start, stop), data, width, bits)

    product = joined(len(rows), piece, progress, "multiplying")
    return left.holding(product, encoding=left.encoding.times(encoding), bound=bound, single=single)


def total(numbers: Encrypted, progress: bool) -> Encrypted:
    """The sum of all numbers; of none it is 0."""
    key, rows = numbers.key.native, numbers.rows
    partial = joined(len(rows), lambda start, stop: key.sum(rows.range(start, stop)), progress, "adding")
    return numbers.holding(key.sum(partial), bound=numbers.bound * max(1, numbers.size), single=True)


def totals_by(numbers: Encrypted, labels: Any) -> tuple[npt.NDArray[Any], Encrypted]:
    """The distinct labels in ascending order and the sum of each one's numbers."""
    names, places = np.unique(present(labels), return_inverse=True)
    shape = () if numbers.single else (numbers.size,)
    if places.shape != shape:
        raise ShapeError(f"{places.size} labels for {numbers.size} numbers", kind="lengths")
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(names)))[:-1]
    groups = [group.tolist() for group in np.split(order, ends)] if len(names) else []
    largest = max((len(group) for group in groups), default=1)
    totals = numbers.key.native.sum_groups(numbers.rows, groups)
    return names, numbers.holding(totals, bound=numbers.bound * largest, single=False)


def product(left: Encrypted, weights: Any, progress: bool = False, *, transposed: bool = False) -> Encrypted:
    """Of each row of `weights` (or column, if transposed; or of the one vector), the sum of the products with `left`."""
    found, shape = matrix(weights)
    if left.single:
        raise ShapeError("@ takes a vector of encrypted numbers, not a single one", kind="dimensions")
    if transposed and len(shape) == 2:
        found, shape = _transposed(found, shape)
    _check_lengths(left.size, shape[-1])
    encoding = _factor_encoding(found, None, None)
    integers = encoding.integers(found, limit=2**DOT_BITS - 1)
    bits = bit_length(integers)
    bound = checked_bound((left.bound << bits) * max(1, left.size), left.bits)
    rows = _dots(left, integers, bits, progress) if len(shape) == 1 else _matrix(left, integers, bits, progress)
    return left.holding(rows, encoding=left.encoding.times(encoding), bound=bound, single=len(shape) == 1)


def rescaled(numbers: Encrypted, finer: Encoding) -> Encrypted:
    """The same numbers on a finer encoding."""
    steps = numbers.encoding.steps_to(finer)
    if steps == 1:
        return numbers
    rows = multiplied(numbers, steps).rows
    return numbers.holding(rows, encoding=finer, bound=numbers.bound * steps, single=numbers.single)


def rerandomised(numbers: Encrypted, progress: bool) -> Encrypted:
    """The same numbers in other ciphertexts."""
    key, rows = numbers.key.native, numbers.rows
    others = joined(len(rows), lambda start, stop: key.rerandomise(rows.range(start, stop)), progress, "randomising")
    return numbers.holding(others, single=numbers.single)


def concatenated(parts: Sequence[Encrypted]) -> Encrypted:
    """The numbers of several arrays one after another."""
    first, rest = parts[0], parts[1:]
    for other in rest:
        _check_same(first, other, "go together")
    rows = first.rows.concat([other.rows for other in rest])
    return first.holding(rows, bound=max(part.bound for part in parts), single=False)


def _check_same(left: Encrypted, right: Encrypted, what: str) -> None:
    """Checks that numbers are under one key and of one encoding."""
    if left.key_id != right.key_id:
        raise KeyMismatchError(f"numbers under key {left.key_id} and under key {right.key_id}", kind="wrong_key")
    if left.encoding != right.encoding:
        text = f"{left.encoding} and {right.encoding} do not {what}: rescale() one of them"
        raise ScaleError(text, kind="scales_differ")


def _check_lengths(left: int, right: int) -> None:
    if left != right:
        raise ShapeError(f"lengths {left} and {right} do not match", kind="lengths")


def _repeated(numbers: Encrypted, count: int) -> Encrypted:
    return numbers.holding(numbers.rows.select([0] * count), single=False)


def _aligned(left: Encrypted, integers: Integers, single: bool) -> tuple[Encrypted, Integers, bool]:
    """Encrypted numbers and plain integers of one length, and whether both were single."""
    if single and not left.single:
        return left, repeated(integers, left.size), False
    if left.single and not single:
        return _repeated(left, len(integers)), integers, False
    _check_lengths(left.size, len(integers))
    return left, integers, single


def _paired(left: Encrypted, right: Encrypted) -> tuple[Encrypted, Encrypted]:
    """Encrypted numbers of one length."""
    _check_same(left, right, "add up")
    if left.single and not right.single:
        return _repeated(left, right.size), right
    if right.single and not left.single:
        return left, _repeated(right, left.size)
    _check_lengths(left.size, right.size)
    return left, right


def _row_by_row(
    left: Encrypted, right: Encrypted, operation: Callable[[Ciphertexts, Ciphertexts], Ciphertexts], progress: bool
) -> Encrypted:
    left, right = _paired(left, right)
    bound = checked_bound(left.bound + right.bound, left.bits)
    a, b = left.rows, right.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        return operation(a.range(start, stop), b.range(start, stop))

    return left.holding(joined(len(a), piece, progress, "adding"), bound=bound, single=left.single)


def _dots(numbers: Encrypted, weights: Integers, bits: int, progress: bool) -> Ciphertexts:
    """The sum of the products with a vector of weights."""
    key, rows = numbers.key.native, numbers.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        if start == stop:
            return key.zeros(1)
        with packed(weights[start:stop]) as (data, width):
            return key.dot(rows.range(start, stop), data, width, stop - start, bits)

    return key.sum(joined(len(rows), piece, progress, "multiplying"))


def _matrix(numbers: Encrypted, weights: Integers, bits: int, progress: bool) -> Ciphertexts:
    """The sum of the products with each row of a matrix, given row by row."""
    key, rows, terms = numbers.key.native, numbers.rows, numbers.size
    if terms == 0:
        return key.zeros(0)
    sums = len(weights) // terms
    together = max(1, DOT_ROWS // terms)

    def some(first: int, last: int) -> Ciphertexts:
        every = rows.select(list(range(terms)) * (last - first))
        with packed(weights[first * terms : last * terms]) as (data, width):
            return key.dot(every, data, width, terms, bits)

    def piece(start: int, stop: int) -> Ciphertexts:
        parts = [some(first, min(first + together, stop)) for first in range(start, stop, together)]
        return parts[0].concat(parts[1:]) if parts else key.zeros(0)

    return joined(sums, piece, progress, "multiplying")


def _transposed(numbers: Vector, shape: tuple[int, ...]) -> tuple[Vector, tuple[int, ...]]:
    array = numbers if isinstance(numbers, np.ndarray) else objects(numbers)
    return array.reshape(shape).T.reshape(-1), shape[::-1]


def _factor_encoding(factors: Vector, scale: int | None, exponent: int | None) -> Encoding:
    """The encoding of plain factors: as asked for, else that of integers or of the decimal with most digits."""
    if scale is not None or exponent is not None:
        return Encoding.of(scale, exponent)
    if isinstance(factors, np.ndarray) and factors.dtype.kind in "iub":
        return Encoding()
    return Encoding.of(scale=max(map(_digits, factors), default=0))


def _digits(factor: Any) -> int:
    """Decimal digits after the point of a factor; what is no finite number has none, and is refused when it is encoded."""
    if isinstance(factor, float | np.floating) and np.isfinite(factor) and not float(factor).is_integer():
        text = "floats need a number of digits: multiply(..., scale=) or exponent=, or use Decimal"
        raise ScaleError(text, kind="no_scale")
    places = getattr(factor, "as_tuple", None)
    exponent = 0 if places is None else places().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0
