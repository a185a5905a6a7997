"""Functions that rename, describe and summarise tables. They load pyarrow when called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from hearith._summary import Summary


def describe(table: Any, like: Any) -> pa.Table:
    """Restores lost descriptions of encrypted columns from the columns of the same names in `like`.

    `table` is any table that `encrypt_columns` accepts (pyarrow, pandas, polars). `like` is another
    table, an Arrow schema, or the path of a Parquet file. The table must contain the companion
    `NAME.additions` of each encrypted column. `hearith.duckdb` and `hearith.spark` have their own
    `describe`.

    Raises:
        TableError: the values of a described column have another length here, or its companion is
            missing.
        TypeError: `table` is not a table.
    """
    from hearith import _tables

    return _tables.describe(table, like)


def rename(table: Any, names: Mapping[str, str]) -> Any:
    """Renames columns of a table, `{old: new}`, and returns a table of the same library.

    The companion `OLD.additions` of an encrypted column becomes `NEW.additions`. Packed columns
    (`pack=True`) keep the names of the columns they contain.

    Raises:
        TableError: an old name does not exist, two columns would share a name, or a column is
            batched (`hearith.bfv`) and so must keep its name.
        TypeError: `table` is not a table.
    """
    from hearith import _tables

    return _tables.rename(table, names)


def summary(table: Any) -> Summary:
    """Summarises the columns of a table, for printing or notebooks: which are encrypted, under
    which key, with which range.

    `table` is any table that `encrypt_columns` accepts (pyarrow, pandas, polars). The summary
    contains no values.

    >>> import hearith as he, pyarrow as pa
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> print(he.summary(public.encrypt_column(pa.table({"name": ["Ada"], "pay": [7]}), "pay", range=99)))  # doctest: +ELLIPSIS
    1 rows, 1 of 3 columns encrypted
    column         type                 key          bits  scale  range  additions
    name           string
    pay            encrypted, paillier  ...  512   0      99     4294967296
    pay.additions  counts additions

    Raises:
        TypeError: `table` is not a table.
    """
    from hearith._summary import Summary

    return Summary.of(table)
