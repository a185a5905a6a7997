"""Human-readable summaries of tables: which columns are encrypted, under which key, with which
headroom; never a value.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hearith import _descriptions
from hearith.columns import as_table

_HEADS = ("column", "type", "key", "bits", "scale", "range", "additions")


@dataclass(frozen=True)
class Summary:
    """A summary with one row per column: name and type, and for encrypted columns key, bits, scale,
    range and the additions that the headroom allows.
    """

    rows: tuple[tuple[str, ...], ...]
    length: int

    @classmethod
    def of(cls, table: Any) -> Summary:
        """Summarises a table that `encrypt_columns` accepts."""
        found = as_table(table)
        counting: dict[str, str] = {}
        for entries in map(_descriptions.entries, found.schema):
            counting |= dict.fromkeys(_descriptions.companions(entries), "counts additions")
            counting |= dict.fromkeys(_descriptions.values(entries), "counts values")
            counting |= dict.fromkeys([entries.get(_descriptions.RAREST, "")], "counts values of the rarest weight")
        return cls(tuple(_row(field, counting.get(field.name)) for field in found.schema), found.num_rows)

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(_HEADS, *self.rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (_HEADS, *self.rows)
        ]
        return "\n".join([self._caption(), *lines])

    def _repr_html_(self) -> str:
        """The HTML representation for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in _HEADS)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
        return f"<table><caption>{self._caption()}</caption><tr>{head}</tr>{rows}</table>"

    def _caption(self) -> str:
        encrypted = sum(1 for row in self.rows if row[2])
        return f"{self.length} rows, {encrypted} of {len(self.rows)} columns encrypted"


def _row(field: pa.Field, counting: str | None) -> tuple[str, ...]:
    entries = _descriptions.entries(field)
    scheme = entries.get(_descriptions.SCHEME)
    if scheme is None:
        kind = counting or ("counts rows" if _descriptions.counts_rows(field) else str(field.type))
        return (field.name, kind, "", "", "", "", "")
    said = {name.removeprefix(_descriptions.PREFIX): text for name, text in entries.items()}
    scale = f"16^{said['exponent']}" if "exponent" in said else said.get("scale", "")
    kind = f"encrypted, {scheme}" + (f", {said['slots']} slots" if "slots" in said else "")
    headroom = said.get("max_additions", "")
    return (field.name, kind, said["key"][:8] + "...", said.get("bits", ""), scale, said.get("range", ""), headroom)
