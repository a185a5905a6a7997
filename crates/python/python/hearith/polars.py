"""Encrypted columns in polars: `df.he`, `lazy.he` and `series.he`, once this module is imported.

::

    import hearith.polars

    staff = df.he.encrypt(public, {"salary": {}, "bonus": {"scale": 2}})
    staff = staff.he.add("salary", "bonus", into="pay")
    means = staff.filter(pl.col("pay").is_not_null()).he.mean(by="dept")
    means.he.decrypt_means(private)

**Use `df.he`, not polars' own functions, on encrypted columns.** To polars they are bytes of a
foreign type. `pl.col("pay").mean()`, `median`, `max` and `std`, `series.sum()`, `+`, `/`,
`cum_sum`, `fill_null`, `cast` and `write_csv` raise an error, as does `concat` of columns with
different descriptions. A type cannot reject what follows:

- `series.mean()` and `series.median()` give None.
- `df.sum()`, `mean()`, `median()`, `std()`, `var()`, `quantile()`, `product()` and `describe()` of
  a whole frame give null, as do `group_by(...).agg(pl.col(...).sum())` and `.sum().over(...)`.
  `df.he.decrypt` rejects such a total.
- `sort`, `rank` and `top_k` order ciphertexts, which says nothing of the numbers.
- `==`, `unique`, `n_unique`, `mode` and `group_by` find every number different.
- `forward_fill`, `backward_fill` and columns under another's name leave `NAME.additions` as it is.
  `df.he.sum`, `mean` and `decrypt` reject numbers that it does not count.

polars has no arithmetic for columns of other libraries' types, so `df.he.add` and `df.he.multiply`
stand in its place. What is asked of a lazy frame collects it.
"""

from __future__ import annotations

try:
    import polars as pl
    import pyarrow as pa
except ImportError as error:
    raise ImportError("this module needs polars and pyarrow: pip install 'hearith[polars]'") from error

from hearith._cells import Cells
from hearith._column_arithmetic import key_of
from hearith._frames import Columns
from hearith.array import EncryptedArray
from hearith.columns import as_table

__all__ = ["FrameNamespace", "LazyNamespace", "SeriesNamespace"]


@pl.api.register_dataframe_namespace("he")
class FrameNamespace(Columns[pl.DataFrame]):
    """`df.he`: see `Columns`."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """The encrypted columns of a data frame."""
        super().__init__(frame, _frame)


@pl.api.register_lazyframe_namespace("he")
class LazyNamespace(Columns[pl.LazyFrame]):
    """`lazy.he`: see `Columns`.

    What is asked of a lazy frame collects it; results are lazy again.
    """

    def __init__(self, frame: pl.LazyFrame) -> None:
        """The encrypted columns of a lazy frame."""
        super().__init__(frame, lambda table: _frame(table).lazy())


@pl.api.register_series_namespace("he")
class SeriesNamespace:
    """`series.he`: a series of encrypted numbers as an array."""

    def __init__(self, series: pl.Series) -> None:
        """The numbers of a series."""
        self._series = series

    def array(self) -> EncryptedArray:
        """The numbers as an `EncryptedArray`.

        Raises:
            KeyMismatchError: the public key is not loaded in this process.
            NullError: one is missing.
            TableError: the series is not encrypted.
        """
        table = as_table(self._series)
        return Cells.of(key_of(table), table.column(0)).all()


def _frame(table: pa.Table) -> pl.DataFrame:
    """A table as a data frame."""
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame), "a table is no series"
    return found
