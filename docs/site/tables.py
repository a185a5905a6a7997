"""Reads the Markdown tables of a page."""

from __future__ import annotations

import re
from pathlib import Path

#: A number as tables write it: with spaces or commas between thousands, or before an interval.
_NUMBER = re.compile(r"-?\d[\d ,]*(\.\d+)?")


class Table:
    """A table under a heading: names of columns and rows of cells."""

    def __init__(self, heading: str, columns: list[str], rows: list[list[str]]) -> None:
        """Cells are text without surrounding space."""
        self.heading, self.columns, self.rows = heading, columns, rows

    def column(self, name: str) -> list[str]:
        """Returns the cells of a column.

        Raises:
            KeyError: the table has no such column.
        """
        if name not in self.columns:
            raise KeyError(f"no column {name} under {self.heading}")
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def tables(page: Path) -> list[Table]:
    """Returns all tables of a page, in order."""
    found: list[Table] = []
    heading, lines = "", [*page.read_text().splitlines(), ""]
    block: list[list[str]] = []
    for line in lines:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif block:
            found.append(Table(heading, block[0], block[2:]))
            block = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
    return found


def table(page: Path, heading: str, column: str) -> Table:
    """Returns the first table under a heading that has a column.

    Raises:
        KeyError: there is none.
    """
    for one in tables(page):
        if one.heading == heading and column in one.columns:
            return one
    raise KeyError(f"no table with {column} under {heading} in {page.name}")


def number(cell: str) -> float | None:
    """Returns the number at the start of a cell, or None if there is none."""
    match = _NUMBER.match(cell)
    return None if match is None else float(re.sub(r"[ ,]", "", match.group()))
