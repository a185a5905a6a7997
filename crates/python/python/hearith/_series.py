"""Encrypted columns with nulls: an encrypted array of the non-null numbers, and a mask of their
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted
from hearith._factors import check_decimals
from hearith._gathering import Gathered
from hearith._operands import fraction
from hearith._sums import sum_groups
from hearith.array import EncryptedArray
from hearith.arrow import EncryptedType, from_arrow, to_arrow
from hearith.encoding import MAX_SCALE
from hearith.errors import HearithError, NullError, ScaleError, ShapeError, TableError

#: The mask of rows that have a number.
Present = npt.NDArray[np.bool_]


class EncryptedSeries:
    """The numbers of a column, row by row. As in SQL, a null operand gives a null result."""

    __slots__ = ("numbers", "present")

    def __init__(self, numbers: EncryptedArray, present: Present) -> None:
        """Wraps the non-null numbers, in row order, and the mask of their rows."""
        self.numbers, self.present = numbers, present

    @classmethod
    def of(cls, key: ComputingKey, column: Any, additions: int | None = None) -> EncryptedSeries:
        """Reads a column of the extension type.

        `additions` is the largest number of additions in any of its ciphertexts, if known.

        Raises:
            KeyMismatchError: the column is encrypted under another key.
            TableError: the column is not encrypted, or packed.
        """
        if not isinstance(column.type, EncryptedType):
            raise TableError(f"a column of {column.type} is not encrypted", kind="not_encrypted")
        whole = _joined(column)
        there = pa.ExtensionArray.from_storage(column.type, whole.storage.drop_null())
        content = from_arrow(key, there)
        if additions is not None:
            bound = content.bound // column.type.description.max_additions * additions
            content = Encrypted(key, content.rows, content.encoding, bound, content.shape)
        return cls(EncryptedArray(content), valid(whole))

    def to_arrow(self) -> pa.ExtensionArray:
        """Returns the column as an array whose type has the bound of its numbers, but no table
        entries.
        """
        found = to_arrow(self.numbers.content)
        positions = pa.array(np.cumsum(self.present) - 1, pa.int64(), mask=~self.present)
        return pa.ExtensionArray.from_storage(found.type, found.storage.take(positions))

    def multiply(self, factors: Any, progress: bool = False) -> EncryptedSeries:
        """Returns the products with a plaintext number, or row by row with a plaintext column."""
        return self._with_plain(factors, lambda numbers, plain: numbers.multiply(plain, progress=progress))

    def add(self, other: Any, progress: bool = False) -> EncryptedSeries:
        """Returns the sums with another encrypted series, a plaintext number, or row by row a
        plaintext column.

        The sum has the digits of the operand with more digits.
        """
        if isinstance(other, EncryptedSeries):
            check_rows(len(self.present), len(other.present))
            both = self.present & other.present
            left, right = _alike(self.select(both).numbers, other.select(both).numbers)
            return EncryptedSeries(left.add(right, progress=progress), both)
        return self._with_plain(other, lambda numbers, plain: numbers.add(plain, progress=progress))

    def subtract(self, other: Any, progress: bool = False) -> EncryptedSeries:
        """Returns the differences; operands as in `add`."""
        if isinstance(other, EncryptedSeries):
            return self.add(other.negative(), progress)
        return self._with_plain(other, lambda numbers, plain: numbers.subtract(plain, progress=progress))

    def divide(self, divisors: Any) -> EncryptedSeries:
        """Returns the quotients by a plaintext number, or row by row by a plaintext column.

        Raises:
            ScaleError: a quotient may have endless digits, which a column cannot hold.
            ZeroDivisionError: a divisor is 0.
        """
        if _is_number(divisors):
            return self.multiply(self._reciprocal(divisors, 0))
        picked, beside = self._paired(divisors)
        rows = np.flatnonzero(picked.present)
        plain = beside if isinstance(beside, list) else beside.to_pylist()
        factors = [self._reciprocal(divisor, int(row)) for row, divisor in zip(rows, plain, strict=True)]
        return EncryptedSeries(picked.numbers.multiply(factors), picked.present)

    def _reciprocal(self, divisor: Any, row: int) -> Any:
        """Returns the reciprocal of a number: a double if the column holds doubles and it is
        exact.
        """
        exact = fraction(divisor)
        if not exact:
            raise ZeroDivisionError("division by zero")
        if self.numbers.encoding.base == 16 and Fraction(float(1 / exact)) == 1 / exact:
            return float(1 / exact)
        if 10**MAX_SCALE % (1 / exact).denominator:
            text = f"quotients by {divisor} have too many digits for a column: decrypt first, or divide arrays"
            raise ScaleError(text, row, kind="too_many_digits")
        return 1 / exact

    def cumsum(self, *, skipna: bool = True) -> EncryptedSeries:
        """Returns the running sums.

        With `skipna` they skip nulls, otherwise they are null from the first null on.
        """
        there = self if skipna else self.select(np.logical_and.accumulate(self.present))
        return EncryptedSeries(there.numbers.cumsum(), there.present)

    def totals(self, groups: npt.NDArray[np.intp], count: int, *, least: int, skipna: bool = True) -> EncryptedSeries:
        """Returns the sums of `count` groups.

        `groups` holds the group index of every row (-1 for none).

        The sum of no numbers is 0. It is null for a group of fewer than `least` numbers, and
        without `skipna` also for a group with a null.
        """
        labels = groups[self.present]
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels[labels >= 0], minlength=count)
        members = np.split(order[labels[order] >= 0], np.cumsum(sizes)[:-1]) if count else []
        content = self.numbers.content
        sums = sum_groups(content, [some.tolist() for some in members])
        found = content.replaced(sums, (count,), bound=content.bound * max(1, int(sizes.max(initial=0))))
        there = sizes >= least
        if not skipna:
            there &= sizes == np.bincount(groups[groups >= 0], minlength=count)
        return EncryptedSeries(EncryptedArray(found)[there], there)

    def fillna(self, number: Any, limit: int | None = None) -> EncryptedSeries:
        """Replaces nulls, at most the first `limit`, with a plaintext number or an encrypted
        scalar.
        """
        positions = np.flatnonzero(~self.present)[:limit]
        numbers = Gathered()
        order = np.zeros(len(self.present), dtype=np.intp)
        order[self.present] = numbers.positions(self.numbers)
        one = isinstance(number, EncryptedArray)
        order[positions] = numbers.positions(number.reshape(1)) if one else numbers.positions([number] * len(positions))
        present = self.present.copy()
        present[positions] = True
        return EncryptedSeries(numbers.numbers(order[present]), present)

    def negative(self) -> EncryptedSeries:
        """Returns the negated numbers."""
        return EncryptedSeries(-self.numbers, self.present)

    def all(self) -> EncryptedArray:
        """Returns the numbers of all rows.

        Raises:
            NullError: a number is missing.
        """
        if not self.present.all():
            raise NullError("the value is null: drop or fill it first", int(np.argmin(self.present)), kind="missing")
        return self.numbers

    def select(self, rows: Present) -> EncryptedSeries:
        """Returns the column with nulls in all other rows. All selected rows must have a number."""
        return self if np.array_equal(rows, self.present) else EncryptedSeries(self.numbers[rows[self.present]], rows)

    def _with_plain(self, plain: Any, operation: Callable[[EncryptedArray, Any], EncryptedArray]) -> EncryptedSeries:
        """Applies an operation to the rows that have both a number and a plaintext operand.

        Errors name the row of the column.
        """
        if _is_number(plain):
            check_decimals([plain])
            return EncryptedSeries(operation(self.numbers, plain), self.present)
        picked, beside = self._paired(plain)
        try:
            # Columns have no divisors, and limited digits.
            check_decimals(beside if isinstance(beside, list) else ())
            return EncryptedSeries(operation(picked.numbers, beside), picked.present)
        except HearithError as error:
            if error.row is None:
                raise
            raise error.at_row(int(np.flatnonzero(picked.present)[error.row])) from None

    def _paired(self, plain: Any) -> tuple[EncryptedSeries, Any]:
        """Returns the encrypted and the plaintext numbers of the rows that have both."""
        try:
            column = (
                _joined(plain) if isinstance(plain, pa.ChunkedArray | pa.Array) else pa.array(plain, from_pandas=True)
            )
        except (pa.ArrowException, OverflowError):
            # Arrow has no type for fractions and very long integers, and its message would show the
            # value.
            every = list(plain)
            check_rows(len(self.present), len(every))
            return self, [every[row] for row in np.flatnonzero(self.present)]
        check_rows(len(self.present), len(column))
        both = self.present & valid(column)
        return self.select(both), column.filter(pa.array(both))


def _is_number(plain: Any) -> bool:
    """Whether an operand is a single number rather than a column."""
    return np.ndim(plain) == 0 and not isinstance(plain, pa.ChunkedArray | pa.Array)


def valid(column: Any) -> Present:
    """Returns the mask of non-null rows of an Arrow column."""
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)


def check_rows(left: int, right: int) -> None:
    """Raises `ShapeError` unless two columns have the same number of rows."""
    if left != right:
        raise ShapeError(f"the columns have {left} and {right} rows", kind="lengths")


def _joined(column: Any) -> Any:
    """Returns a column in one chunk."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if isinstance(column.type, EncryptedType):
        kind = EncryptedType(column.type.description)
        parts = [chunk.storage.cast(kind.storage_type) for chunk in column.chunks]
        storage = pa.concat_arrays(parts) if parts else pa.array([], kind.storage_type)
        return pa.ExtensionArray.from_storage(kind, storage)
    return column.combine_chunks()


def _alike(left: EncryptedArray, right: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
    """Checks that two arrays can be summed in a column.

    A column has no divisor, which the sum of a power of ten and one of sixteen would need.

    Raises:
        ScaleError: they cannot.
    """
    if {array.encoding.base for array in (left, right) if array.encoding.exponent} == {10, 16}:
        text = f"{left.encoding} and {right.encoding} cannot be combined in one column"
        raise ScaleError(text, kind="scales_differ")
    return left, right
