"""How the fields of an encrypted table say what they are: entries `hearith.*` in their metadata."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import pyarrow as pa

#: What the names of the entries begin with.
PREFIX = "hearith."
#: The entry that only encrypted columns have.
SCHEME = PREFIX + "scheme"
#: The entry with the names of the columns that an encrypted one was made of.
COLUMNS = PREFIX + "columns"
#: The entry with the names of the columns that count its additions, and what these end in.
ADDITIONS = PREFIX + "additions"
COUNTING = ".additions"
#: The entry with the version of the format.
VERSION = PREFIX + "version"
#: The entry of totals with the names of the columns that count the encrypted values in them, and
#: what these end in.
VALUES = PREFIX + "values"
COUNTING_VALUES = ".values"
#: The entry of totals with the name of the column that says how many values have the rarest weight.
RAREST = PREFIX + "rarest"
#: The entry of an encrypted column with the id of its table, and that of the rows of totals with
#: those of all tables in them.
TABLE = PREFIX + "table"
TABLES = PREFIX + "tables"
#: What it says of a column that is encrypted whole.
WHOLE = "bfv"
#: The entry that says what a column is that is not encrypted.
ROLE = PREFIX + "role"
#: The role, and the name in totals, of the column that counts rows.
ROWS = "rows"


def entries(field: pa.Field) -> dict[str, str]:
    """The entries that describe a field; none if it is plain."""
    found = (field.metadata or {}).items()
    return {name.decode(): text.decode() for name, text in found if name.startswith(PREFIX.encode())}


def is_encrypted(field: pa.Field) -> bool:
    """Whether the field holds ciphertexts, one a row: columns that are encrypted whole
    (`hearith.bfv`) stay as they are.
    """
    return entries(field).get(SCHEME, WHOLE) != WHOLE


def counts_rows(field: pa.Field) -> bool:
    """Whether the field counts the rows of totals."""
    return entries(field).get(ROLE) == ROWS


def companions(described: Mapping[str, str]) -> list[str]:
    """The columns that count the additions of an encrypted one, of which these are the entries."""
    return [str(name) for name in json.loads(described.get(ADDITIONS, "[]"))]


def values(described: Mapping[str, str]) -> list[str]:
    """The columns of totals that count the encrypted values of one, of which these are the
    entries.
    """
    return [str(name) for name in json.loads(described.get(VALUES, "[]"))]


def counts(described: Mapping[str, str]) -> list[str]:
    """All columns that count additions or values of an encrypted one, of which these are the
    entries.
    """
    return [*companions(described), *values(described)]


def rarest(described: Mapping[str, str]) -> list[str]:
    """The column of totals that says how many values of one have the rarest weight; it alone of
    those that count may be null.
    """
    return [described[RAREST]] if RAREST in described else []


def renamed(field: pa.Field, counts: Collection[str]) -> dict[str, str]:
    """What the entries of an encrypted column have to say once it has another name than it was
    encrypted with; nothing if it has not.

    Its companion is the column that has been renamed with it, of those that may count:
    `NAME.additions`, or what a join gave the ending that it gave the column; otherwise the one that
    it was.
    """
    described = entries(field)
    if not is_encrypted(field):
        # The chunks of columns that are encrypted whole are bound to the name that they were
        # encrypted with.
        return {}
    try:
        (before,) = json.loads(described.get(COLUMNS, "[]"))
        (companion,) = companions(described)
    except (ValueError, TypeError):
        # Several columns in one, a column of an array, or damage, of which the kernel tells.
        return {}
    if before == field.name or not isinstance(before, str):
        return {}
    ending = field.name.removeprefix(before) if field.name.startswith(before) else ""
    found = (name for name in (field.name + COUNTING, companion + ending) if name in counts)
    changed = {COLUMNS: json.dumps([field.name]), ADDITIONS: json.dumps([next(found, companion)])}
    for counting in values(described):
        # Never another column's: where there is none of these, each ciphertext counts as one value.
        found = (name for name in (field.name + COUNTING_VALUES, counting + ending) if name in counts)
        changed[VALUES] = json.dumps([next(found, counting + ending)])
    return changed
