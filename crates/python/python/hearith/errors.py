"""What can go wrong.

Every error of the package is a `HearithError`; each is also the built-in error that comes nearest.
An error says where it happened (`row`, counted from 0, and `column`) and what kind it is of
(`kind`, a word that programs can compare); what caused it is its `__cause__`. No message contains a
plaintext, a cell of a table or key material.

>>> import hearith as he
>>> public, private = he.generate_keypair(512, insecure=True)
>>> try:
...     public.encrypt([1, 2, 1000], range=10)
... except he.RangeError as error:
...     print(error, error.row, error.kind)
row 2: the number exceeds the declared range (range=) 2 out_of_range
"""

from __future__ import annotations

from typing import Self


class HearithError(Exception):
    """The base of this package's errors.

    Attributes:
        row: the row at fault, counted from 0, or None.
        column: the column at fault, or None.
        kind: what is wrong in one word, such as `out_of_range`, or None.
    """

    row: int | None
    column: str | None
    kind: str | None

    def __init__(
        self, text: str = "", row: int | None = None, column: str | None = None, kind: str | None = None
    ) -> None:
        """An error whose message is the place, if there is one, followed by `text`."""
        self._text = text
        self.row, self.column, self.kind = row, column, kind
        super().__init__(self._message())

    def offset_rows(self, rows: int) -> None:
        """Adds `rows` to the row at fault: for an error in a batch that starts there."""
        if self.row is not None:
            self.row += rows
            self.args = (self._message(),)

    def at_row(self, row: int) -> Self:
        """The same error about a row."""
        return type(self)(self._text, row, self.column, self.kind)

    def at(self, row: int, column: str) -> Self:
        """The same error about a place."""
        return type(self)(self._text, row, column, self.kind)

    def _message(self) -> str:
        row = [] if self.row is None else [f"row {self.row}"]
        column = [] if self.column is None else [f"column {self.column}"]
        place = ", ".join(row + column)
        return f"{place}: {self._text}" if place else self._text


class InvalidKeyError(HearithError, ValueError):
    """A key cannot be made, read or accepted."""


class KeyMismatchError(HearithError, ValueError):
    """Numbers encrypted under different keys meet, or a key is not the one that numbers belong
    to.
    """


class NumberError(HearithError, TypeError):
    """What should be a number, or an array of them, is something else."""


class NullError(NumberError):
    """A value is missing (`None`, masked, null, `NA` or `NaT`) where there must be one."""


class ShapeError(HearithError, ValueError):
    """Arrays meet whose shapes do not match, or something has other dimensions than it must
    have.
    """


class ShareError(HearithError, ValueError):
    """A trustee's share of a decryption is wrong, or there are too few."""


class ScaleError(HearithError, ValueError):
    """Numbers of different scales meet, or a number has more digits than its scale keeps."""


class RangeError(HearithError, OverflowError):
    """A number, or what an operation might produce, is larger than there is room for."""


class CiphertextError(HearithError, ValueError):
    """What should be a ciphertext is none: damaged, cut off, or made with another key."""


class TableError(HearithError, ValueError):
    """A table cannot be encrypted, added up or decrypted as asked."""


class ServiceError(HearithError, ConnectionError):
    """A service (`hearith.remote`) cannot be reached, refuses, or fails."""


class CircuitError(HearithError, ValueError):
    """A text that should be a circuit is none."""
