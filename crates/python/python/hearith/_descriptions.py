"""The metadata entries `hearith.*` that describe the fields of encrypted tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import pyarrow as pa

#: The prefix of entry names.
PREFIX = "hearith."
#: The entry that only encrypted columns have.
SCHEME = PREFIX + "scheme"
#: The entry with the names of the plaintext columns that an encrypted one was made from.
COLUMNS = PREFIX + "columns"
#: The entry with the names of the columns that count its additions, and their suffix.
ADDITIONS = PREFIX + "additions"
COUNTING = ".additions"
#: The entry with the version of the format.
VERSION = PREFIX + "version"
#: The entry of totals with the names of the columns that count the encrypted values in them, and
#: their suffix.
VALUES = PREFIX + "values"
COUNTING_VALUES = ".values"
#: The entry of totals with the name of the column that counts the values of the rarest weight.
RAREST = PREFIX + "rarest"
#: The entry of an encrypted column with the id of its table, and the entry of the row count of
#: totals with the ids of all tables they include.
TABLE = PREFIX + "table"
TABLES = PREFIX + "tables"
#: The scheme entry of a batched column.
WHOLE = "bfv"
#: The entry with the role of a column that is not encrypted.
ROLE = PREFIX + "role"
#: The role, and the name in totals, of the column that counts rows.
ROWS = "rows"


def entries(field: pa.Field) -> dict[str, str]:
    """Returns the entries that describe a field; empty if it is plaintext."""
    found = (field.metadata or {}).items()
    return {name.decode(): text.decode() for name, text in found if name.startswith(PREFIX.encode())}


def is_encrypted(field: pa.Field) -> bool:
    """Whether the field holds one ciphertext per row.

    Batched columns (`hearith.bfv`) do not count.
    """
    return entries(field).get(SCHEME, WHOLE) != WHOLE


def counts_rows(field: pa.Field) -> bool:
    """Whether the field counts the rows of totals."""
    return entries(field).get(ROLE) == ROWS


def companions(described: Mapping[str, str]) -> list[str]:
    """Returns the columns that count the additions of an encrypted column with these entries."""
    return [str(name) for name in json.loads(described.get(ADDITIONS, "[]"))]


def values(described: Mapping[str, str]) -> list[str]:
    """Returns the columns of totals that count the encrypted values of a column with these
    entries.
    """
    return [str(name) for name in json.loads(described.get(VALUES, "[]"))]


def counts(described: Mapping[str, str]) -> list[str]:
    """Returns all columns that count additions or values of an encrypted column with these
    entries.
    """
    return [*companions(described), *values(described)]


def rarest(described: Mapping[str, str]) -> list[str]:
    """Returns the column of totals that counts the values of the rarest weight.

    It is the only counting column that may be null.
    """
    return [described[RAREST]] if RAREST in described else []


def renamed(field: pa.Field, counts: Collection[str]) -> dict[str, str]:
    """Returns the entries to change after an encrypted column was renamed; empty if it was not.

    Its companion is the counting column that was renamed with it: `NAME.additions`, or the old
    companion with the suffix that a join appended to both; otherwise the old companion.
    """
    described = entries(field)
    if not is_encrypted(field):
        # The chunks of batched columns are bound to the name they were encrypted with.
        return {}
    try:
        (before,) = json.loads(described.get(COLUMNS, "[]"))
        (companion,) = companions(described)
    except (ValueError, TypeError):
        # Several packed columns, a column of an array, or damage that the kernel reports.
        return {}
    if before == field.name or not isinstance(before, str):
        return {}
    ending = field.name.removeprefix(before) if field.name.startswith(before) else ""
    found = (name for name in (field.name + COUNTING, companion + ending) if name in counts)
    changed = {COLUMNS: json.dumps([field.name]), ADDITIONS: json.dumps([next(found, companion)])}
    for counting in values(described):
        # Never another column's companion. Without one, each ciphertext counts as one value.
        found = (name for name in (field.name + COUNTING_VALUES, counting + ending) if name in counts)
        changed[VALUES] = json.dumps([next(found, counting + ending)])
    return changed
