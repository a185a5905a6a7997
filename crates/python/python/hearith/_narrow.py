"""Decimals of 76 digits, of which other libraries know nothing, made narrower where all numbers
fit.
"""

from __future__ import annotations

import pyarrow as pa

#: Digits that `decimal128` holds.
DIGITS = 38


def narrowed(numbers: pa.Table, encrypted: pa.Schema) -> pa.Table:
    """The decrypted table with `decimal128(38, scale)` instead of `decimal256` where a column's
    numbers all fit.

    DuckDB reads the wider type as doubles, and polars does not read it. Plain columns keep their
    types.
    """
    for index, field in enumerate(numbers.schema):
        position = encrypted.get_field_index(field.name)
        is_plain = position >= 0 and encrypted.field(position).type == field.type
        if not pa.types.is_decimal256(field.type) or is_plain:
            continue
        kind = pa.decimal128(DIGITS, field.type.scale)
        try:
            column = numbers.column(index).cast(kind)
        except pa.ArrowInvalid:
            continue
        numbers = numbers.set_column(index, field.with_type(kind), column)
    return numbers
