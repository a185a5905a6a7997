"""Encrypted columns in polars: `df.he`, `lazy.he` and `series.he`, which importing this module
registers.

::

    import hearith.polars

    staff = df.he.encrypt(public, {"salary": {}, "bonus": {"scale": 2}})
    staff = staff.he.add("salary", "bonus", into="pay")
    means = staff.filter(pl.col("pay").is_not_null()).he.mean(by="dept")
    means.he.decrypt_means(private)

**Use `df.he`, not polars' own functions, on encrypted columns.** Polars sees them as bytes of an
extension type. `pl.col("pay").mean()`, `median`, `max` and `std`, `series.sum()`, `+`, `/`,
`cum_sum`, `fill_null`, `cast` and `write_csv` raise an error, as does `concat` of columns with
different descriptions. An extension type cannot reject the following:

- `series.mean()` and `series.median()` return None.
- `df.sum()`, `mean()`, `median()`, `std()`, `var()`, `quantile()`, `product()` and `describe()` of
  a whole frame return null, as do `group_by(...).agg(pl.col(...).sum())` and `.sum().over(...)`.
  `df.he.decrypt` rejects such a total.
- `sort`, `rank` and `top_k` order ciphertexts, which is unrelated to the order of the numbers.
- `==`, `unique`, `n_unique`, `mode` and `group_by` treat all numbers as different.
- `forward_fill`, `backward_fill` and columns copied to another name do not update
  `NAME.additions`. `df.he.sum`, `mean` and `decrypt` reject numbers that it does not count.

Polars has no arithmetic for extension types; use `df.he.add` and `df.he.multiply` instead.
Operations on a lazy frame collect it.
"""

from __future__ import annotations

try:
    import polars as pl
    import pyarrow as pa
except ImportError as error:
    raise ImportError("this module needs polars and pyarrow: pip install 'hearith[polars]'") from error

from hearith._column_arithmetic import key_of
from hearith._frames import Columns
from hearith._series import EncryptedSeries
from hearith.array import EncryptedArray
from hearith.columns import as_table

__all__ = ["FrameNamespace", "LazyNamespace", "SeriesNamespace"]


@pl.api.register_dataframe_namespace("he")
class FrameNamespace(Columns[pl.DataFrame]):
    """The namespace `df.he`; see `Columns`."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Wraps a data frame with encrypted columns."""
        super().__init__(frame, _frame)


@pl.api.register_lazyframe_namespace("he")
class LazyNamespace(Columns[pl.LazyFrame]):
    """The namespace `lazy.he`; see `Columns`.

    Operations collect the lazy frame and return lazy frames.
    """

    def __init__(self, frame: pl.LazyFrame) -> None:
        """Wraps a lazy frame with encrypted columns."""
        super().__init__(frame, lambda table: _frame(table).lazy())


@pl.api.register_series_namespace("he")
class SeriesNamespace:
    """The namespace `series.he`, which converts a series of encrypted numbers to an array."""

    def __init__(self, series: pl.Series) -> None:
        """Wraps a series."""
        self._series = series

    def array(self) -> EncryptedArray:
        """Returns the numbers as an `EncryptedArray`.

        Raises:
            KeyMismatchError: the public key is not loaded in this process.
            NullError: a number is missing.
            TableError: the series is not encrypted.
        """
        table = as_table(self._series)
        return EncryptedSeries.of(key_of(table), table.column(0)).all()


def _frame(table: pa.Table) -> pl.DataFrame:
    """Converts a table to a data frame."""
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame), "a table is not a series"
    return found
