"""Encrypted columns in pandas: their type, and `df.he` and `series.he`, once this module is
imported.

::

    import hearith.pandas

    staff = df.he.encrypt(public, {"salary": {}, "bonus": {"scale": 2}})
    staff["pay"] = staff["salary"] * 2 + staff["bonus"]
    means = staff.he.mean(by="dept")
    means.he.decrypt_means(private)

**`to_csv`, `to_xml`, `to_excel`, `to_latex` and `to_markdown` raise a `TypeError`, `to_json` a
`ValueError`** where a number is encrypted: pandas would write what it shows of the numbers and lose
them. Write Parquet or Feather. `to_html` and `to_string` show `<encrypted>`.

**Make a series with `pd.Series(array, dtype="hearith")`.** `pd.Series(array)` alone holds objects:
`==` and `!=` of it raise a `ValueError`, but `duplicated`, `drop_duplicates`, `isin`, `mode`,
`value_counts` and `describe` find every number different, because pandas ignores their error.

**A column and its companion `NAME.additions` belong together.** `fillna`, `ffill` and `bfill` of a
series or frame count what they fill in. Other copies (`df["a"] = df["b"]`, `groupby(...).ffill()`,
`combine_first`) change no companion: copy it as well. `sum`, `mean` and `decrypt` reject numbers
that no companion counts.

A column that `to_pandas` or `read_parquet` gives has the type `EncryptedDtype` ("hearith"), whether
this module is imported or not. It can be filtered, taken, joined, concatenated (columns of unlike
scales get the finer one), shown and written. `+`, `-` and `*` compute as `EncryptedArray` does,
with plain columns and numbers, `+` and `-` with other encrypted columns, `/` by plain numbers whose
quotients have no endless digits; `sum` and `mean` give a single encrypted number, `cumsum` and
`groupby(...).sum()` a column of them; `fillna` encrypts what it fills in. Everything else is a
`TypeError`, `round` and `describe` of a frame with an encrypted column among it: nobody sees the
numbers.
"""

from __future__ import annotations

from typing import Any

try:
    import pandas as pd
    import pyarrow as pa
except ImportError as error:
    raise ImportError("this module needs pandas and pyarrow: pip install 'hearith[pandas]'") from error

from hearith._cells import Cells
from hearith._frames import Columns
from hearith._pandas_column import EncryptedColumn, EncryptedDtype
from hearith.array import EncryptedArray

__all__ = ["EncryptedColumn", "EncryptedDtype", "FrameAccessor", "SeriesAccessor"]


@pd.api.extensions.register_dataframe_accessor("he")
class FrameAccessor(Columns[pd.DataFrame]):
    """`df.he`: see `Columns`. Results have an index of their own, by position."""

    def __init__(self, frame: pd.DataFrame) -> None:
        """The encrypted columns of a data frame."""
        super().__init__(frame, pa.Table.to_pandas)


@pd.api.extensions.register_series_accessor("he")
class SeriesAccessor:
    """`series.he`: a series of encrypted numbers as an array."""

    def __init__(self, series: Any) -> None:
        """The numbers of a series.

        Raises:
            AttributeError: they are not encrypted.
        """
        if not isinstance(series.array, EncryptedColumn):
            raise AttributeError("the series is not encrypted: PublicKey.encrypt makes an array of it")
        self._cells: Cells = series.array.cells()

    def array(self) -> EncryptedArray:
        """The numbers as an `EncryptedArray`.

        Raises:
            NullError: one is missing.
        """
        return self._cells.all()
