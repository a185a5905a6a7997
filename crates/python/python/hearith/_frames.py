"""The common implementation of `df.he` in pandas and polars.

Results are frames of the same library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from hearith import _column_arithmetic, _tables
from hearith._column_arithmetic import key_of
from hearith._computing import ComputingKey
from hearith._summary import Summary
from hearith.columns import EncryptingKey, as_table, encrypt_columns, sum_columns

if TYPE_CHECKING:
    from hearith._decryption import DecryptionKey

#: The data frame type of the library.
Frame = TypeVar("Frame")


class Columns(Generic[Frame]):
    """The encrypted columns of a data frame.

    Operations look up the public key among those that this process has loaded. Displaying `df.he`
    shows which columns are encrypted, and how.
    """

    def __init__(self, frame: Any, back: Callable[[pa.Table], Frame]) -> None:
        """Wraps a frame. `back` converts a pyarrow table to the frame's library."""
        self._frame, self._back = frame, back

    def encrypt(
        self,
        key: EncryptingKey,
        columns: str | Sequence[str] | Mapping[str, Any],
        *,
        pack: bool = False,
        rounding: bool = False,
        max_additions: int | None = None,
        progress: bool = False,
    ) -> Frame:
        """See `PublicKey.encrypt_columns`. A single column can be passed as a string."""
        chosen = [columns] if isinstance(columns, str) else columns
        options = {"pack": pack, "rounding": rounding, "max_additions": max_additions, "progress": progress}
        return self._back(encrypt_columns(key, self._frame, chosen, **options))  # type: ignore[arg-type]

    def multiply(self, column: str, factor: Any, *, into: str | None = None, progress: bool = False) -> Frame:
        """See `PublicKey.multiply_column`."""
        table, key = self._keyed()
        return self._back(_column_arithmetic.multiply_column(key, table, column, factor, into=into, progress=progress))

    def add(self, left: str, right: Any, *, into: str, progress: bool = False) -> Frame:
        """See `PublicKey.add_columns`."""
        table, key = self._keyed()
        return self._back(_column_arithmetic.add_columns(key, table, left, right, into=into, progress=progress))

    def sum(
        self, by: str | Sequence[str] = (), *, min_rows: int = 0, rerandomise: bool = False, progress: bool = False
    ) -> Frame:
        """See `PublicKey.sum_columns`."""
        table, key = self._keyed()
        return self._back(sum_columns(key, table, by=by, min_rows=min_rows, rerandomise=rerandomise, progress=progress))

    def mean(
        self, by: str | Sequence[str] = (), *, min_rows: int = 0, rerandomise: bool = False, progress: bool = False
    ) -> Frame:
        """See `PublicKey.mean_columns`: returns sums and counts for `decrypt_means`."""
        table, key = self._keyed()
        options = {"min_rows": min_rows, "rerandomise": rerandomise, "progress": progress}
        return self._back(_column_arithmetic.mean_columns(key, table, by=by, **options))  # type: ignore[arg-type]

    def decrypt(self, private: DecryptionKey, *, check: bool = False, progress: bool = False) -> Frame:
        """See `PrivateKey.decrypt_columns`."""
        return self._back(private.decrypt_columns(self._frame, check=check, progress=progress))

    def decrypt_means(self, private: DecryptionKey, *, check: bool = False, progress: bool = False) -> Frame:
        """See `PrivateKey.decrypt_means`."""
        return self._back(private.decrypt_means(self._frame, check=check, progress=progress))

    def rename(self, names: Mapping[str, str]) -> Frame:
        """Renames columns together with their companions; see `hearith.rename`."""
        return self._back(as_table(_tables.rename(self._frame, names)))

    def describe(self, like: Any) -> Frame:
        """Restores lost descriptions; see `hearith.describe`."""
        return self._back(_tables.describe(self._frame, like))

    def summary(self) -> Summary:
        """See `hearith.summary`."""
        return Summary.of(self._frame)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        """The HTML representation for notebooks: the columns' descriptions, never a value."""
        return self.summary()._repr_html_()

    def _keyed(self) -> tuple[pa.Table, ComputingKey]:
        """Returns the frame as a table, and the public key of its encrypted columns."""
        table = as_table(self._frame)
        return table, key_of(table)
