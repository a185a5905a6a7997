"""Companion columns for encrypted arrays that are stored in tables.

Each encrypted column of a table has a companion that counts the numbers added into each ciphertext.
The bound of a computed column already includes its additions, so each of its numbers counts as one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from hearith import _descriptions
from hearith.arrow import Description, EncryptedType
from hearith.errors import RangeError, TableError

#: Largest size of a column's numbers in bits.
MOST_BITS = 127
#: log2 of the additions that a column has headroom for, unless its key has less: the default of
#: encrypted columns.
_MOST_ADDITIONS = 32


def completed(table: pa.Table) -> pa.Table:
    """Adds a companion to each column of an encrypted array, and replaces an existing one."""
    for field in table.schema:
        if isinstance(field.type, EncryptedType) and not field.type.description.columns:
            table = placed(table, field.name, table.column(field.name))
    return table


def placed(table: pa.Table, name: str, column: Any) -> pa.Table:
    """Stores a column of an encrypted array with its companion, in place of the column of that
    name, or at the end.

    Raises:
        RangeError: the column's numbers may be larger than a table allows, or the key has no
            headroom to sum any.
        TableError: another column has the companion's name.
    """
    companion = name + _descriptions.COUNTING
    old = table.schema.field(companion) if companion in table.column_names else None
    if old is not None and old.type != pa.uint64():
        raise TableError(
            "already exists, but an encrypted column needs this name to count its additions",
            column=companion,
            kind="companion",
        )
    position = table.schema.get_field_index(name)
    without = table.drop_columns([one for one in (name, companion) if one in table.column_names])
    position = without.num_columns if position < 0 else min(position, without.num_columns)
    kind = EncryptedType(_with_companion(column.type.description, name, companion))
    chunks = [pa.ExtensionArray.from_storage(kind, chunk.storage.cast(kind.storage_type)) for chunk in _chunks(column)]
    entries = {key.encode(): text.encode() for key, text in kind.description.entries().items()}
    field = pa.field(name, kind, metadata=entries)
    with_column = without.add_column(position, field, pa.chunked_array(chunks, type=kind))
    counts = column.is_valid().cast(pa.uint64())
    return with_column.add_column(position + 1, pa.field(companion, pa.uint64(), nullable=False), counts)


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _with_companion(description: Description, name: str, companion: str) -> Description:
    """Returns the description of a column whose ciphertexts count as one addition each."""
    range_bits = max(description.ranges).bit_length()
    if range_bits > MOST_BITS:
        text = f"may hold numbers of {range_bits} bits, more than the {MOST_BITS} of a column: encrypt with a smaller range (range=)"
        raise RangeError(text, column=name, kind="headroom")
    # Two bits: the sign, and one that keeps sums below half of n.
    headroom = description.bits - 4 * abs(description.exponent) - 2 - range_bits
    if headroom < 0:
        text = f"a key of {description.bits} bits has no headroom for numbers of {range_bits} bits"
        raise RangeError(text, column=name, kind="headroom")
    additions = 1 << min(headroom, _MOST_ADDITIONS)
    return replace(description, columns=(name,), additions=(companion,), values=(), max_additions=additions)
