"""Encrypted columns in pandas: their dtype, and the accessors `df.he` and `series.he`, which
importing this module registers.

::

    import hearith.pandas

    staff = df.he.encrypt(public, {"salary": {}, "bonus": {"scale": 2}})
    staff["pay"] = staff["salary"] * 2 + staff["bonus"]
    means = staff.he.mean(by="dept")
    means.he.decrypt_means(private)

**On encrypted columns, `to_csv`, `to_xml`, `to_excel`, `to_latex` and `to_markdown` raise a
`TypeError`, and `to_json` a `ValueError`**: pandas would write the displayed text and lose the
numbers. Write Parquet or Feather instead. `to_html` and `to_string` show `<encrypted>`.

**Create a series with `pd.Series(array, dtype="hearith")`.** `pd.Series(array)` without the dtype
holds objects. Its `==` and `!=` raise a `ValueError`, but `duplicated`, `drop_duplicates`, `isin`,
`mode`, `value_counts` and `describe` treat all numbers as different, because pandas ignores the
error.

**A column and its companion `NAME.additions` belong together.** `fillna`, `ffill` and `bfill` of a
series or frame update the count of filled values. Other copies (`df["a"] = df["b"]`,
`groupby(...).ffill()`, `combine_first`) do not change the companion: copy it as well. `sum`, `mean`
and `decrypt` reject numbers that no companion counts.

Columns from `to_pandas` or `read_parquet` have the type `EncryptedDtype` ("hearith"), whether or
not this module is imported. They can be filtered, selected, joined, concatenated (columns of
different scales get the finer one), displayed and written. `+`, `-` and `*` work as in
`EncryptedArray` with plaintext columns and numbers. `+` and `-` also accept encrypted columns. `/`
accepts plaintext numbers whose quotients terminate. `sum` and `mean` return an encrypted scalar;
`cumsum` and `groupby(...).sum()` return an encrypted column. `fillna` encrypts the filled values.
Everything else raises a `TypeError`, including `round` and `describe` of a frame with an encrypted
column, since it would need the plaintext numbers.
"""

from __future__ import annotations

from typing import Any

try:
    import pandas as pd
    import pyarrow as pa
except ImportError as error:
    raise ImportError("this module needs pandas and pyarrow: pip install 'hearith[pandas]'") from error

from hearith._frames import Columns
from hearith._pandas_column import EncryptedColumn, EncryptedDtype
from hearith._series import EncryptedSeries
from hearith.array import EncryptedArray

__all__ = ["EncryptedColumn", "EncryptedDtype", "FrameAccessor", "SeriesAccessor"]


@pd.api.extensions.register_dataframe_accessor("he")
class FrameAccessor(Columns[pd.DataFrame]):
    """The accessor `df.he`; see `Columns`. Results have a positional index of their own."""

    def __init__(self, frame: pd.DataFrame) -> None:
        """Wraps a data frame with encrypted columns."""
        super().__init__(frame, pa.Table.to_pandas)


@pd.api.extensions.register_series_accessor("he")
class SeriesAccessor:
    """The accessor `series.he`, which converts a series of encrypted numbers to an array."""

    def __init__(self, series: Any) -> None:
        """Wraps a series.

        Raises:
            AttributeError: the series is not encrypted.
        """
        if not isinstance(series.array, EncryptedColumn):
            raise AttributeError("the series is not encrypted: encrypt it with PublicKey.encrypt")
        self._series: EncryptedSeries = series.array.series()

    def array(self) -> EncryptedArray:
        """Returns the numbers as an `EncryptedArray`.

        Raises:
            NullError: a number is missing.
        """
        return self._series.all()
