"""Narrows decimals of 76 digits, which other libraries do not support, where all numbers fit."""

from __future__ import annotations

import pyarrow as pa

#: The number of digits in a `decimal128`.
DIGITS = 38


def narrowed(numbers: pa.Table, encrypted: pa.Schema) -> pa.Table:
    """Converts decrypted columns from `decimal256` to `decimal128(38, scale)` where all their
    numbers fit.

    DuckDB reads the wider type as doubles, and polars cannot read it. Plaintext columns keep their
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
