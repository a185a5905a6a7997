"""Row-by-row arithmetic on encrypted numbers: operand checks, bounds of results, and the batches in
Rust.

Encodings are public. Operands with different encodings are converted exactly to the coarsest common
one, by integer multiples.
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

#: The most rows computed in one call, without splitting into pieces between which Ctrl-C is
#: handled.
SINGLE_CALL_ROWS = 64


def added(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Returns the sums of encrypted numbers."""
    if left.encoding is not right.encoding or left.key_id != right.key_id or left.shape != right.shape:
        left, right = _alike(left, right)
    if not progress and (not left.shape or left.size <= SINGLE_CALL_ROWS):
        return left.plus(right, left.bound + right.bound)
    return _row_by_row(left, right, left.key.native.add, progress)


def subtracted(left: Encrypted, right: Encrypted, progress: bool) -> Encrypted:
    """Returns the differences of encrypted numbers."""
    return _row_by_row(left, right, left.key.native.subtract, progress)


def added_plain(left: Encrypted, numbers: Numbers, progress: bool, negative: bool = False) -> Encrypted:
    """Returns the sums or differences of encrypted and plaintext numbers.

    The result keeps all digits of the plaintext ones.
    """
    found, shape = plain(by_position(numbers))
    with placed(shape):
        encoding = left.encoding.common(factor_encoding(found, left.encoding))
        integers = fitting(encoding, found, left)
    left = moved(left, encoding)
    if negative:
        integers = negated(integers)
    left, integers = _broadcast_both(left, integers, shape)
    bound = checked_bound(left.bound + (1 << bit_length(integers)), left.bits, left.bound)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        return key.add_plain(rows.range(start, stop), plaintexts(key, integers[start:stop]))

    if len(rows) <= SINGLE_CALL_ROWS and not progress:
        return left.replaced(key.add_plain(rows, plaintexts(key, integers)), left.shape, bound=bound)
    return left.replaced(joined(len(rows), piece, progress, "adding"), left.shape, bound=bound)


def negative(numbers: Encrypted) -> Encrypted:
    """Returns the negated numbers."""
    key, rows = numbers.key.native, numbers.rows
    opposite = joined(len(rows), lambda start, stop: key.negate(rows.range(start, stop)))
    return numbers.replaced(opposite, numbers.shape)


def multiplied(
    left: Encrypted,
    factors: Numbers,
    *,
    scale: int | None = None,
    exponent: int | None = None,
    rounding: bool = False,
    progress: bool = False,
) -> Encrypted:
    """Returns the products with plaintext numbers."""
    found, shape = plain(by_position(factors))
    with placed(shape):
        encoding = factor_encoding(found, left.encoding, scale, exponent)
        integers = fitting(encoding, found, left, rounding)
    left, integers = _broadcast_both(left, integers, shape)
    return _times(left, integers, encoding, progress)


def divided(left: Encrypted, divisors: Numbers) -> Encrypted:
    """Returns the quotients by plaintext numbers: the same ciphertexts or multiples of them, which
    are divided after decryption.
    """
    found, shape = plain(by_position(divisors))
    with placed(shape):
        factors, common = reciprocals(found, left.bits)
    left, integers = _broadcast_both(left, factors, shape)
    alone = all(factor == 1 for factor in factors)
    return (left if alone else _times(left, integers, Encoding(), False)).with_divisor(common)


def _times(left: Encrypted, integers: Integers, encoding: Encoding, progress: bool) -> Encrypted:
    """Returns the products with equally many integers."""
    bits = bit_length(integers)
    bound = checked_bound(left.bound << widening(bits), left.bits, left.bound)
    key, rows = left.key.native, left.rows

    def piece(start: int, stop: int) -> Ciphertexts:
        with packed(integers[start:stop]) as (data, width):
            return key.multiply(rows.range(start, stop), data, width, bits)

    product = joined(len(rows), piece, progress, "multiplying", key=key)
    return left.replaced(product, left.shape, encoding=left.encoding.times(encoding), bound=bound)


def moved(numbers: Encrypted, finer: Encoding, what: str = "the result") -> Encrypted:
    """Converts numbers to a finer encoding.

    Raises:
        RangeError: the headroom is too small.
        ScaleError: the encoding is not finer.
    """
    if numbers.encoding == finer:
        return numbers
    steps = numbers.encoding.steps_to(finer)
    bound = checked_bound(numbers.bound * steps, numbers.bits, numbers.bound, what)
    rows = numbers.rows if steps == 1 else _times(numbers, [steps] * len(numbers.rows), Encoding(), False).rows
    return numbers.replaced(rows, numbers.shape, encoding=finer, bound=bound)


def aligned(parts: Sequence[Encrypted], others: Sequence[Encoding] = ()) -> list[Encrypted]:
    """Converts several arrays exactly to the coarsest encoding that represents them and the
    encodings in `others`.

    Raises:
        KeyMismatchError: the arrays are under different keys.
        RangeError: the headroom is too small.
    """
    encoding = parts[0].encoding
    for other in parts[1:]:
        _check_key(parts[0], other)
        encoding = encoding.common(other.encoding)
    for one in others:
        encoding = encoding.common(one)
    return [moved(part, encoding, f"numbers rescaled from {part.encoding} to {encoding}") for part in parts]


def rerandomised(numbers: Encrypted, progress: bool) -> Encrypted:
    """Returns the same numbers in other ciphertexts."""
    key, rows = numbers.key.native, numbers.rows

    def randomised(start: int, stop: int) -> Ciphertexts:
        return key.rerandomise(rows.range(start, stop))

    others = joined(len(rows), randomised, progress, "randomising", key=key)
    return numbers.replaced(others, numbers.shape)


def concatenated(parts: Sequence[Encrypted], axis: int) -> Encrypted:
    """Concatenates arrays along an axis."""
    first, *rest = aligned(parts)
    starts = np.cumsum([0, *(part.size for part in parts)])
    blocks = [_shapes.positions(part.shape) + start for part, start in zip(parts, starts, strict=False)]
    try:
        order = np.concatenate(blocks, axis)
    except ValueError:
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ShapeError(f"shapes {shapes} do not match along axis {axis}", kind="dimensions") from None
    rows = first.rows.concat([other.rows for other in rest])
    whole = first.replaced(rows, (len(rows),), bound=max(part.bound for part in (first, *rest)))
    return whole.shaped(order.shape) if axis == 0 else whole.selected(order)


def fitting(encoding: Encoding, numbers: Vector, beside: Encrypted, rounding: bool = False) -> Integers:
    """Encodes plaintext numbers that are combined with encrypted ones.

    Raises:
        RangeError: a number needs more bits than the key has.
    """
    most = 1 << (beside.bits - 2)
    integers = encoding.integers(numbers, limit=most << (1 << 16), rounding=rounding)
    row = first_beyond(integers, most)
    if row is not None:
        text = f"the number needs more bits at this scale than a key of {beside.bits} bits has headroom for"
        raise RangeError(text, row, kind="headroom")
    return integers


def widening(bits: int) -> int:
    """Returns the growth in bits of products with integers of `bits` bits.

    A sign alone does not count.
    """
    return 0 if bits == 1 else bits


def _check_key(left: Encrypted, right: Encrypted) -> None:
    """Checks that numbers are under one key."""
    if left.key_id != right.key_id:
        raise KeyMismatchError(
            f"numbers under keys {left.key_id} and {right.key_id} cannot be combined", kind="wrong_key"
        )


def _broadcast(numbers: Encrypted, shape: Shape) -> Encrypted:
    """Broadcasts the numbers to a shape."""
    if numbers.shape == shape:
        return numbers
    if len(numbers.rows) == math.prod(shape):
        return numbers.shaped(shape)
    return numbers.selected(_shapes.repeated(numbers.shape, shape))


def _broadcast_both(left: Encrypted, integers: Integers, shape: Shape) -> tuple[Encrypted, Integers]:
    """Broadcasts encrypted numbers and plaintext integers to their common shape."""
    if left.shape == shape:
        return left, integers
    common = _shapes.together(left.shape, shape)
    if len(integers) != math.prod(common):
        positions = _shapes.repeated(shape, common).reshape(-1)
        integers = integers[positions] if isinstance(integers, np.ndarray) else [integers[index] for index in positions]
    return _broadcast(left, common), integers


def _alike(left: Encrypted, right: Encrypted) -> tuple[Encrypted, Encrypted]:
    """Converts operands to a common encoding and shape, and checks their keys."""
    alike = left.encoding is right.encoding or left.encoding == right.encoding
    if not alike or left.key_id != right.key_id:
        left, right = aligned((left, right))
    if left.shape != right.shape:
        shape = _shapes.together(left.shape, right.shape)
        left, right = _broadcast(left, shape), _broadcast(right, shape)
    return left, right


def _row_by_row(
    left: Encrypted, right: Encrypted, operation: Callable[[Ciphertexts, Ciphertexts], Ciphertexts], progress: bool
) -> Encrypted:
    left, right = _alike(left, right)
    bound = left.bound + right.bound
    a, b = left.rows, right.rows
    if len(a) <= SINGLE_CALL_ROWS and not progress:
        return left.replaced(operation(a, b), left.shape, bound=bound)
    # Raise an error before any work starts.
    checked_bound(bound, left.bits, left.bound)

    def piece(start: int, stop: int) -> Ciphertexts:
        return operation(a.range(start, stop), b.range(start, stop))

    return left.replaced(joined(len(a), piece, progress, "adding", key=left.key.native), left.shape, bound=bound)
