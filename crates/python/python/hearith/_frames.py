"""What data frames do with their encrypted columns: `df.he` in pandas and polars alike. Results are
of the library that they came from.
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

#: The library's data frame.
Frame = TypeVar("Frame")


class Columns(Generic[Frame]):
    """The encrypted columns of a data frame.

    What computes finds the public key among those that this process has loaded. `df.he` itself
    shows which columns are encrypted, and how.
    """

    def __init__(self, frame: Any, back: Callable[[pa.Table], Frame]) -> None:
        """The columns of a frame; `back` makes one of its library of a table of pyarrow."""
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
        """`PublicKey.encrypt_columns`; a single column may be named as it is."""
        chosen = [columns] if isinstance(columns, str) else columns
        options = {"pack": pack, "rounding": rounding, "max_additions": max_additions, "progress": progress}
        return self._back(encrypt_columns(key, self._frame, chosen, **options))  # type: ignore[arg-type]

    def multiply(self, column: str, factor: Any, *, into: str | None = None, progress: bool = False) -> Frame:
        """`PublicKey.multiply_column`."""
        table, key = self._keyed()
        return self._back(_column_arithmetic.multiply_column(key, table, column, factor, into=into, progress=progress))

    def add(self, left: str, right: Any, *, into: str, progress: bool = False) -> Frame:
        """`PublicKey.add_columns`."""
        table, key = self._keyed()
        return self._back(_column_arithmetic.add_columns(key, table, left, right, into=into, progress=progress))

    def sum(
        self, by: str | Sequence[str] = (), *, min_rows: int = 0, rerandomise: bool = False, progress: bool = False
    ) -> Frame:
        """`PublicKey.sum_columns`."""
        table, key = self._keyed()
        return self._back(sum_columns(key, table, by=by, min_rows=min_rows, rerandomise=rerandomise, progress=progress))

    def mean(
        self, by: str | Sequence[str] = (), *, min_rows: int = 0, rerandomise: bool = False, progress: bool = False
    ) -> Frame:
        """`PublicKey.mean_columns`: sums and counts, for `decrypt_means`."""
        table, key = self._keyed()
        options = {"min_rows": min_rows, "rerandomise": rerandomise, "progress": progress}
        return self._back(_column_arithmetic.mean_columns(key, table, by=by, **options))  # type: ignore[arg-type]

    def decrypt(self, private: DecryptionKey, *, check: bool = False, progress: bool = False) -> Frame:
        """`PrivateKey.decrypt_columns`."""
        return self._back(private.decrypt_columns(self._frame, check=check, progress=progress))

    def decrypt_means(self, private: DecryptionKey, *, check: bool = False, progress: bool = False) -> Frame:
        """`PrivateKey.decrypt_means`."""
        return self._back(private.decrypt_means(self._frame, check=check, progress=progress))

    def rename(self, names: Mapping[str, str]) -> Frame:
        """`hearith.rename`: columns together with their companions."""
        return self._back(as_table(_tables.rename(self._frame, names)))

    def describe(self, like: Any) -> Frame:
        """`hearith.describe`: the frame with descriptions that it has lost."""
        return self._back(_tables.describe(self._frame, like))

    def summary(self) -> Summary:
        """`hearith.summary`."""
        return Summary.of(self._frame)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        """What notebooks show: what the columns are, never a value."""
        return self.summary()._repr_html_()

    def _keyed(self) -> tuple[pa.Table, ComputingKey]:
        """The frame as a table, and the public key of its encrypted columns."""
        table = as_table(self._frame)
        return table, key_of(table)
