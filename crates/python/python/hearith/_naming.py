"""Tables under other names, described again, and shown as what they are: what needs pyarrow is
loaded when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from hearith._summary import Summary


def describe(table: Any, like: Any) -> pa.Table:
    """The table with the descriptions of the encrypted columns of the same names in `like`, where
    it has lost them.

    `table` is one as `encrypt_columns` takes (pyarrow, pandas, polars); `like` is another, an Arrow
    schema, or the path of a Parquet file. An encrypted column needs its companion `NAME.additions`
    beside it. `hearith.duckdb` and `hearith.spark` have their own.

    Raises:
        TableError: a column described there has another length of values here, or its companion is
            missing.
        TypeError: the table is none.
    """
    from hearith import _tables

    return _tables.describe(table, like)


def rename(table: Any, names: Mapping[str, str]) -> Any:
    """The table, of the library that it came from, with other names for some columns: `{old: new}`.

    The companion `OLD.additions` of an encrypted column becomes `NEW.additions`. Packed columns
    (`pack=True`) keep the names of the columns within.

    Raises:
        TableError: there is no column of an old name, two would have one name, or one is encrypted
            whole (`hearith.bfv`), which keeps the name that it was encrypted with.
        TypeError: the table is none.
    """
    from hearith import _tables

    return _tables.rename(table, names)


def summary(table: Any) -> Summary:
    """What the columns of a table are, to print or to show in a notebook: which are encrypted,
    under which key, with which range.

    `table` is one as `encrypt_columns` takes (pyarrow, pandas, polars). No value is shown.

    >>> import hearith as he, pyarrow as pa
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> print(he.summary(public.encrypt_column(pa.table({"name": ["Ada"], "pay": [7]}), "pay", range=99)))  # doctest: +ELLIPSIS
    1 rows, 1 of 3 columns encrypted
    column         type                 key          bits  scale  range  additions
    name           string
    pay            encrypted, paillier  ...  512   0      99     4294967296
    pay.additions  counts additions

    Raises:
        TypeError: the table is none.
    """
    from hearith._summary import Summary

    return Summary.of(table)
