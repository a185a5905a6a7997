"""Arithmetic on encrypted numbers, row by row: which operands go together, what the result is
bounded by, and the batches in Rust.

Encodings are public. Operands of different ones move to the coarsest that holds both exactly, by
multiples with whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from hearith import _shapes
from hearith._batches import joined
from hearith._encrypted import Encrypted, checked_bound
from hearith._factors import factor_encoding, reciprocals
from hearith._integers import Integers, bit_length, first_beyond, negated, packed, plaintexts
from hearith._native import Ciphertexts
from hearith._operands import Numbers, Shape, Vector, by_position, placed, plain
from hearith.encoding import Encoding
from hearith.errors import KeyMismatchError, RangeError, ShapeError

#: Rows that are computed with in one call, without the pieces in which Ctrl-C ends long work.
FEW = 64


def added(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Sums of encrypted numbers."""
    if left.encoding is not right.encoding or left.key_id != right.key_id or left.shape != right.shape:
        left, right = _alike(left, right)
    if not progress and (not left.shape or left.size <= FEW):
        return left.plus(right, left.bound + right.bound)
    return _row_by_row(left, right, left.key.native.add, progress)


def subtracted(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Differences of encrypted numbers."""
    return _row_by_row(left, right, left.key.native.subtract, progress)


def added_plain(left: Encrypted, numbers: Numbers, progress: bool, negative: bool = False) -> Encrypted:
    """Sums of encrypted and plain numbers, or differences; the result has all digits that the plain
    ones have.
    """
    found, shape = plain(by_position(numbers))
    with placed(shape):
        encoding = left.encoding.common(factor_encoding(found, left.encoding))
        integers = fitting(encoding, found, left)
    left = moved(left, encoding)
    if negative:
        integers = negated(integers)
    left, integers = _spread_both(left, integers, shape)
    bound = checked_bound(left.bound + (1 << bit_length(integers)), left.bits, left.bound)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        return key.add_plain(rows.range(start, stop), plaintexts(key, integers[start:stop]))

    if len(rows) <= FEW and not progress:
        return left.holding(key.add_plain(rows, plaintexts(key, integers)), left.shape, bound=bound)
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
        integers = fitting(encoding, found, left, rounding)
    left, integers = _spread_both(left, integers, shape)
    return _times(left, integers, encoding, progress)


def divided(left: Encrypted, divisors: Numbers) -> Encrypted:
    """Quotients by plain numbers: the same ciphertexts or multiples of them, divided when they are
    decrypted.
    """
    found, shape = plain(by_position(divisors))
    with placed(shape):
        factors, common = reciprocals(found, left.bits)
    left, integers = _spread_both(left, factors, shape)
    alone = all(factor == 1 for factor in factors)
    return (left if alone else _times(left, integers, Encoding(), False)).over(common)


def _times(left: Encrypted, integers: Integers, encoding: Encoding, progress: bool) -> Encrypted:
    """Products with as many integers as there are numbers."""
    bits = bit_length(integers)
    bound = checked_bound(left.bound << widening(bits), left.bits, left.bound)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        with packed(integers[start:stop]) as (data, width):
            return key.multiply(rows.range(start, stop), data, width, bits)

    product = joined(len(rows), piece, progress, "multiplying", key=key)
    return left.holding(product, left.shape, encoding=left.encoding.times(encoding), bound=bound)


def moved(numbers: Encrypted, finer: Encoding, what: str = "the result") -> Encrypted:
    """The same numbers on a finer encoding.

    Raises:
        RangeError: there is no headroom for them.
        ScaleError: the encoding is not finer.
    """
    if numbers.encoding == finer:
        return numbers
    steps = numbers.encoding.steps_to(finer)
    bound = checked_bound(numbers.bound * steps, numbers.bits, numbers.bound, what)
    rows = numbers.rows if steps == 1 else _times(numbers, [steps] * len(numbers.rows), Encoding(), False).rows
    return numbers.holding(rows, numbers.shape, encoding=finer, bound=bound)


def aligned(parts: Sequence[Encrypted], others: Sequence[Encoding] = ()) -> list[Encrypted]:
    """The numbers of several arrays on the coarsest encoding that holds all of them, and those of
    other encodings, exactly.

    Raises:
        KeyMismatchError: they are under different keys.
        RangeError: there is no headroom for that.
    """
    encoding = parts[0].encoding
    for other in parts[1:]:
        _check_key(parts[0], other)
        encoding = encoding.common(other.encoding)
    for one in others:
        encoding = encoding.common(one)
    return [moved(part, encoding, f"numbers that move from {part.encoding} to {encoding}") for part in parts]


def rerandomised(numbers: Encrypted, progress: bool) -> Encrypted:
    """The same numbers in other ciphertexts."""
    key, rows = numbers.key.native, numbers.rows

    def randomised(start: int, stop: int) -> Ciphertexts:
        return key.rerandomise(rows.range(start, stop))

    others = joined(len(rows), randomised, progress, "randomising", key=key)
    return numbers.holding(others, numbers.shape)


def concatenated(parts: Sequence[Encrypted], axis: int) -> Encrypted:
    """The numbers of several arrays one after another along an axis."""
    first, *rest = aligned(parts)
    starts = np.cumsum([0, *(part.size for part in parts)])
    blocks = [_shapes.places(part.shape) + start for part, start in zip(parts, starts, strict=False)]
    try:
        order = np.concatenate(blocks, axis)
    except ValueError:
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ShapeError(f"shapes {shapes} do not match along axis {axis}", kind="dimensions") from None
    rows = first.rows.concat([other.rows for other in rest])
    whole = first.holding(rows, (len(rows),), bound=max(part.bound for part in (first, *rest)))
    return whole.shaped(order.shape) if axis == 0 else whole.selected(order)


def fitting(encoding: Encoding, numbers: Vector, beside: Encrypted, rounding: bool = False) -> Integers:
    """The integers of plain numbers that are computed with beside encrypted ones.

    Raises:
        RangeError: one takes more bits than the key has.
    """
    most = 1 << (beside.bits - 2)
    integers = encoding.integers(numbers, limit=most << (1 << 16), rounding=rounding)
    row = first_beyond(integers, most)
    if row is not None:
        text = f"the number takes more bits, at the scale of these, than the headroom of a key of {beside.bits} bits"
        raise RangeError(text, row, kind="headroom")
    return integers


def widening(bits: int) -> int:
    """Bits that products with integers of so many bits grow by: a sign alone needs no room."""
    return 0 if bits == 1 else bits


def _check_key(left: Encrypted, right: Encrypted) -> None:
    """Checks that numbers are under one key."""
    if left.key_id != right.key_id:
        raise KeyMismatchError(f"numbers under key {left.key_id} and under key {right.key_id}", kind="wrong_key")


def _spread(numbers: Encrypted, shape: Shape) -> Encrypted:
    """The numbers, repeated where the shape asks for it."""
    if numbers.shape == shape:
        return numbers
    if len(numbers.rows) == math.prod(shape):
        return numbers.shaped(shape)
    return numbers.selected(_shapes.repeated(numbers.shape, shape))


def _spread_both(left: Encrypted, integers: Integers, shape: Shape) -> tuple[Encrypted, Integers]:
    """Encrypted numbers and plain integers, repeated in their common shape."""
    if left.shape == shape:
        return left, integers
    common = _shapes.together(left.shape, shape)
    if len(integers) != math.prod(common):
        places = _shapes.repeated(shape, common).reshape(-1)
        integers = integers[places] if isinstance(integers, np.ndarray) else [integers[place] for place in places]
    return _spread(left, common), integers


def _alike(left: Encrypted, right: Encrypted) -> tuple[Encrypted, Encrypted]:
    """Operands of one key, encoding and shape."""
    alike = left.encoding is right.encoding or left.encoding == right.encoding
    if not alike or left.key_id != right.key_id:
        left, right = aligned((left, right))
    if left.shape != right.shape:
        shape = _shapes.together(left.shape, right.shape)
        left, right = _spread(left, shape), _spread(right, shape)
    return left, right


def _row_by_row(
    left: Encrypted, right: Encrypted, operation: Callable[[Ciphertexts, Ciphertexts], Ciphertexts], progress: bool
) -> Encrypted:
    left, right = _alike(left, right)
    bound = left.bound + right.bound
    a, b = left.rows, right.rows
    if len(a) <= FEW and not progress:
        return left.holding(operation(a, b), left.shape, bound=bound)
    # Before anything is computed.
    checked_bound(bound, left.bits, left.bound)

    def piece(start: int, stop: int) -> Ciphertexts:
        return operation(a.range(start, stop), b.range(start, stop))

    return left.holding(joined(len(a), piece, progress, "adding", key=left.key.native), left.shape, bound=bound)
