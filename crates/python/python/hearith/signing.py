"""Signed tables: who encrypted a table, and that nobody has changed it since (Ed25519,
docs/reference/tables.md of the repository).

::

    key = hearith.signing.SigningKey.generate()
    pq.write_table(hearith.sign_table(encrypted, key), "staff.parquet")
    hearith.verify_table(pq.read_table("staff.parquet"), key.public)

The signature covers names, types and order of all columns, every plain value, count and ciphertext,
all descriptions, and the order of rows. It is kept in the metadata of the table's schema, which
pyarrow writes into Parquet files and reads from them; `hearith sum --require-signature` checks it
there. pandas, polars and DuckDB drop it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hearith._native import SigningKey, VerifyingKey
from hearith._native import verify_table as _verify

__all__ = ["SigningKey", "VerifyingKey", "sign_table", "verify_table"]


def sign_table(table: Any, key: SigningKey) -> Any:
    """The table, encrypted or not, with the signature of the key's owner in the metadata of its
    schema; a `pyarrow.Table`.

    To be signed last: any edit ends the signature. Of types that Parquet does not have, such as
    times in whole seconds, pyarrow writes others: cast such columns before.

    Raises:
        TableError: a column is of a type that signatures do not cover (unions, views of lists).

    >>> import hearith as he, pyarrow as pa
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> key = he.signing.SigningKey.generate()
    >>> table = he.sign_table(public.encrypt_columns(pa.table({"pay": [1, 2]}), ["pay"]), key)
    >>> he.verify_table(table, key.public) == key.public
    True
    """
    from hearith.columns import as_table

    whole = as_table(table)
    signature = {name.encode(): text.encode() for name, text in key.sign(whole.schema, whole.to_batches())}
    return whole.replace_schema_metadata({**(whole.schema.metadata or {}), **signature})


def verify_table(table: Any, keys: VerifyingKey | Iterable[VerifyingKey]) -> VerifyingKey:
    """The key that signed the table, which must be one of those given.

    Raises:
        TableError: the table is not signed (`kind` is `unsigned`), is signed by another
            (`other_signer`), or was changed since (`altered`).
    """
    from hearith.columns import as_table

    whole = as_table(table)
    given = [keys] if isinstance(keys, VerifyingKey) else list(keys)
    return _verify(whole.schema, whole.to_batches(), given)
