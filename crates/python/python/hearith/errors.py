"""The exceptions of this package.

Every error is a `HearithError`, and also the closest built-in exception. It has a place (`row`,
counted from 0, and `column`) and a `kind`, a word that programs can compare; its cause is
`__cause__`. No message contains a plaintext, a table cell or key material.

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
    """The base class of this package's errors.

    Attributes:
        row: the row at fault, counted from 0, or None.
        column: the column at fault, or None.
        kind: the kind of error in one word, such as `out_of_range`, or None.
    """

    row: int | None
    column: str | None
    kind: str | None

    def __init__(
        self, text: str = "", row: int | None = None, column: str | None = None, kind: str | None = None
    ) -> None:
        """Creates an error whose message is the location, if known, followed by `text`."""
        self._text = text
        self.row, self.column, self.kind = row, column, kind
        super().__init__(self._message())

    def offset_rows(self, rows: int) -> None:
        """Adds `rows` to the row at fault, for an error in a batch that starts at row `rows`."""
        if self.row is not None:
            self.row += rows
            self.args = (self._message(),)

    def at_row(self, row: int) -> Self:
        """Returns the same error at a row."""
        return type(self)(self._text, row, self.column, self.kind)

    def at(self, row: int, column: str) -> Self:
        """Returns the same error at a row and column."""
        return type(self)(self._text, row, column, self.kind)

    def _message(self) -> str:
        row = [] if self.row is None else [f"row {self.row}"]
        column = [] if self.column is None else [f"column {self.column}"]
        location = ", ".join(row + column)
        return f"{location}: {self._text}" if location else self._text


class InvalidKeyError(HearithError, ValueError):
    """A key cannot be generated, read or accepted."""


class KeyMismatchError(HearithError, ValueError):
    """Numbers are encrypted under different keys, or a key is not the one they are encrypted
    under.
    """


class NumberError(HearithError, TypeError):
    """A value is not a number or an array of numbers."""


class NullError(NumberError):
    """A required value is missing (`None`, masked, null, `NA` or `NaT`)."""


class ShapeError(HearithError, ValueError):
    """The shapes of arrays do not match, or a value has the wrong dimensions."""


class ShareError(HearithError, ValueError):
    """A trustee's decryption share is wrong, or there are too few shares."""


class ScaleError(HearithError, ValueError):
    """Numbers have different scales, or a number has more digits than its scale keeps."""


class RangeError(HearithError, OverflowError):
    """A number, or the possible result of an operation, exceeds the available range."""


class CiphertextError(HearithError, ValueError):
    """A value is not a ciphertext: it is damaged, truncated or made with another key."""


class TableError(HearithError, ValueError):
    """A table cannot be encrypted, summed or decrypted as requested."""


class ServiceError(HearithError, ConnectionError):
    """A service (`hearith.remote`) is unreachable, rejects the request, or fails."""


class CircuitError(HearithError, ValueError):
    """A text is not a valid circuit."""
