"""How the fields of an encrypted table say what they are: entries `hearith.*` in their metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

#: What the names of the entries begin with.
PREFIX = "hearith."
#: The entry that only encrypted columns have.
SCHEME = PREFIX + "scheme"
#: The entry that says what a column is that is not encrypted.
ROLE = PREFIX + "role"
#: The role, and the name in totals, of the column that counts rows.
ROWS = "rows"


def entries(field: pa.Field) -> dict[str, str]:
    """The entries that describe a field; none if it is plain."""
    found = (field.metadata or {}).items()
    return {name.decode(): text.decode() for name, text in found if name.startswith(PREFIX.encode())}


def is_encrypted(field: pa.Field) -> bool:
    """Whether the field holds ciphertexts."""
    return SCHEME in entries(field)


def counts_rows(field: pa.Field) -> bool:
    """Whether the field counts the rows of totals."""
    return entries(field).get(ROLE) == ROWS


def companions(described: Mapping[str, str]) -> list[str]:
    """The columns that count the additions of an encrypted one, of which these are the entries."""
    return [str(name) for name in json.loads(described.get(PREFIX + "additions", "[]"))]
