"""Encrypted columns with nulls: the numbers that are there as an encrypted array, and which rows
have one.
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

#: Which rows have a number.
Present = npt.NDArray[np.bool_]


class Cells:
    """The numbers of a column, row by row; what is null in an operand is null in a result, as in
    SQL.
    """

    __slots__ = ("numbers", "present")

    def __init__(self, numbers: EncryptedArray, present: Present) -> None:
        """The numbers of the rows that have one, in order."""
        self.numbers, self.present = numbers, present

    @classmethod
    def of(cls, key: ComputingKey, column: Any, additions: int | None = None) -> Cells:
        """The cells of a column of the extension type; `additions` is the most that any of its
        ciphertexts holds, where that is known.

        Raises:
            KeyMismatchError: it is encrypted under another key.
            TableError: it is not encrypted, or packed.
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
        """The column: its type says the bound of its numbers, and nothing of a table."""
        found = to_arrow(self.numbers.content)
        places = pa.array(np.cumsum(self.present) - 1, pa.int64(), mask=~self.present)
        return pa.ExtensionArray.from_storage(found.type, found.storage.take(places))

    def times(self, factors: Any, progress: bool = False) -> Cells:
        """Products with a plain number, or row by row with a plain column."""
        return self._with_plain(factors, lambda numbers, plain: numbers.multiply(plain, progress=progress))

    def plus(self, other: Any, progress: bool = False) -> Cells:
        """Sums with other cells, a plain number, or row by row a plain column.

        The sum has the digits of whichever has more.
        """
        if isinstance(other, Cells):
            check_rows(len(self.present), len(other.present))
            both = self.present & other.present
            left, right = _alike(self.picked(both).numbers, other.picked(both).numbers)
            return Cells(left.add(right, progress=progress), both)
        return self._with_plain(other, lambda numbers, plain: numbers.add(plain, progress=progress))

    def minus(self, other: Any, progress: bool = False) -> Cells:
        """Differences, as `plus` makes sums."""
        if isinstance(other, Cells):
            return self.plus(other.negative(), progress)
        return self._with_plain(other, lambda numbers, plain: numbers.subtract(plain, progress=progress))

    def over(self, divisors: Any) -> Cells:
        """Quotients by a plain number, or row by row by a plain column.

        Raises:
            ScaleError: a quotient by one of them may have endless digits, for which a column has
                no place.
            ZeroDivisionError: one of them is 0.
        """
        if _is_number(divisors):
            return self.times(self._reciprocal(divisors, 0))
        picked, beside = self._beside(divisors)
        rows = np.flatnonzero(picked.present)
        plain = beside if isinstance(beside, list) else beside.to_pylist()
        factors = [self._reciprocal(divisor, int(row)) for row, divisor in zip(rows, plain, strict=True)]
        return Cells(picked.numbers.multiply(factors), picked.present)

    def _reciprocal(self, divisor: Any, row: int) -> Any:
        """One over a number: of a column of doubles a double."""
        exact = fraction(divisor)
        if not exact:
            raise ZeroDivisionError("division by zero")
        if self.numbers.encoding.base == 16 and Fraction(float(1 / exact)) == 1 / exact:
            return float(1 / exact)
        if 10**MAX_SCALE % (1 / exact).denominator:
            text = f"quotients by {divisor} have endless digits, and columns a few: decrypt first, or divide arrays"
            raise ScaleError(text, row, kind="too_many_digits")
        return 1 / exact

    def running(self, *, skipna: bool = True) -> Cells:
        """Running sums: over what is missing, or missing from there on."""
        there = self if skipna else self.picked(np.logical_and.accumulate(self.present))
        return Cells(there.numbers.cumsum(), there.present)

    def totals(self, groups: npt.NDArray[np.intp], count: int, *, least: int, skipna: bool = True) -> Cells:
        """The sum of each of so many groups, whose number every row says (-1 is none): of no
        numbers it is 0, and missing in a group of fewer than `least`, or without `skipna` where a
        number is.
        """
        labels = groups[self.present]
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels[labels >= 0], minlength=count)
        members = np.split(order[labels[order] >= 0], np.cumsum(sizes)[:-1]) if count else []
        content = self.numbers.content
        sums = sum_groups(content, [some.tolist() for some in members])
        found = content.holding(sums, (count,), bound=content.bound * max(1, int(sizes.max(initial=0))))
        there = sizes >= least
        if not skipna:
            there &= sizes == np.bincount(groups[groups >= 0], minlength=count)
        return Cells(EncryptedArray(found)[there], there)

    def filled(self, number: Any, limit: int | None = None) -> Cells:
        """The column with a plain or single encrypted number in place of what is missing, of the
        first `limit` at most.
        """
        places = np.flatnonzero(~self.present)[:limit]
        numbers = Gathered()
        order = np.zeros(len(self.present), dtype=np.intp)
        order[self.present] = numbers.places(self.numbers)
        one = isinstance(number, EncryptedArray)
        order[places] = numbers.places(number.reshape(1)) if one else numbers.places([number] * len(places))
        present = self.present.copy()
        present[places] = True
        return Cells(numbers.numbers(order[present]), present)

    def negative(self) -> Cells:
        """The numbers with the opposite sign."""
        return Cells(-self.numbers, self.present)

    def all(self) -> EncryptedArray:
        """The numbers of all rows.

        Raises:
            NullError: one is missing.
        """
        if not self.present.all():
            raise NullError("the value is null: drop or fill it first", int(np.argmin(self.present)), kind="missing")
        return self.numbers

    def picked(self, rows: Present) -> Cells:
        """The column with nulls in all other rows; all of the rows have a number."""
        return self if np.array_equal(rows, self.present) else Cells(self.numbers[rows[self.present]], rows)

    def _with_plain(self, plain: Any, operation: Callable[[EncryptedArray, Any], EncryptedArray]) -> Cells:
        """What an operation makes of the rows that have both a number and a plain one; errors name
        the row of the column.
        """
        if _is_number(plain):
            check_decimals([plain])
            return Cells(operation(self.numbers, plain), self.present)
        picked, beside = self._beside(plain)
        try:
            # Columns have no divisors, and few digits.
            check_decimals(beside if isinstance(beside, list) else ())
            return Cells(operation(picked.numbers, beside), picked.present)
        except HearithError as error:
            if error.row is None:
                raise
            raise error.at_row(int(np.flatnonzero(picked.present)[error.row])) from None

    def _beside(self, plain: Any) -> tuple[Cells, Any]:
        """The cells and the plain numbers of the rows that have both."""
        try:
            column = (
                _joined(plain) if isinstance(plain, pa.ChunkedArray | pa.Array) else pa.array(plain, from_pandas=True)
            )
        except (pa.ArrowException, OverflowError):
            # Arrow has no type for fractions and very long integers; it would show what it does not
            # understand.
            every = list(plain)
            check_rows(len(self.present), len(every))
            return self, [every[row] for row in np.flatnonzero(self.present)]
        check_rows(len(self.present), len(column))
        both = self.present & valid(column)
        return self.picked(both), column.filter(pa.array(both))


def _is_number(plain: Any) -> bool:
    """Whether an operand is one number, and not a column."""
    return np.ndim(plain) == 0 and not isinstance(plain, pa.ChunkedArray | pa.Array)


def valid(column: Any) -> Present:
    """Which rows of an Arrow column are not null."""
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)


def check_rows(left: int, right: int) -> None:
    """Raises `ShapeError` unless two columns have as many rows."""
    if left != right:
        raise ShapeError(f"columns of {left} and {right} rows", kind="lengths")


def _joined(column: Any) -> Any:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if isinstance(column.type, EncryptedType):
        kind = EncryptedType(column.type.description)
        parts = [chunk.storage.cast(kind.storage_type) for chunk in column.chunks]
        storage = pa.concat_arrays(parts) if parts else pa.array([], kind.storage_type)
        return pa.ExtensionArray.from_storage(kind, storage)
    return column.combine_chunks()


def _alike(left: EncryptedArray, right: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
    """Two arrays that add up in a column, which has no divisor as a power of ten and one of sixteen
    would take.

    Raises:
        ScaleError: they do not.
    """
    if {array.encoding.base for array in (left, right) if array.encoding.exponent} == {10, 16}:
        text = f"{left.encoding} and {right.encoding} do not add up in one column"
        raise ScaleError(text, kind="scales_differ")
    return left, right
