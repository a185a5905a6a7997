"""Signed tables, which prove who encrypted a table and that it was not changed since (Ed25519,
docs/reference/tables.md of the repository).

::

    key = hearith.signing.SigningKey.generate()
    pq.write_table(hearith.sign_table(encrypted, key), "staff.parquet")
    hearith.verify_table(pq.read_table("staff.parquet"), key.public)

The signature covers the names, types and order of all columns, every plaintext value, count and
ciphertext, all descriptions, and the order of rows. It is stored in the metadata of the table's
schema. pyarrow keeps it when it writes and reads Parquet files, and
`hearith sum --require-signature` checks it there. pandas, polars and DuckDB drop it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hearith._native import SigningKey, VerifyingKey
from hearith._native import verify_table as _verify

__all__ = ["SigningKey", "VerifyingKey", "sign_table", "verify_table"]


def sign_table(table: Any, key: SigningKey) -> Any:
    """Signs a table, encrypted or not, and returns a `pyarrow.Table` with the signature in the
    metadata of its schema.

    Sign last: any later edit invalidates the signature. pyarrow converts types that Parquet lacks,
    such as times in whole seconds, so cast such columns first.

    Raises:
        TableError: a column has a type that signatures do not cover (unions, list views).

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
    """Returns the key that signed the table, which must be one of the given keys.

    Raises:
        TableError: the table is not signed (`kind` is `unsigned`), was signed by another key
            (`other_signer`), or was changed since (`altered`).
    """
    from hearith.columns import as_table

    whole = as_table(table)
    given = [keys] if isinstance(keys, VerifyingKey) else list(keys)
    return _verify(whole.schema, whole.to_batches(), given)
