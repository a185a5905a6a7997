"""What pandas writes of encrypted columns: not what cells show, which would lose the numbers."""

from __future__ import annotations

import inspect

#: What of pandas writes cells as text that nobody reads back, by its module.
_WRITERS = {
    "pandas.io.formats.csvs": "to_csv",
    "pandas.io.formats.excel": "to_excel",
    "pandas.io.formats.xml": "to_xml",
}
#: Packages whose calls may be between a writer and a column.
_BETWEEN = ("pandas", "numpy", "hearith")


def check_kept() -> None:
    """Checks that no writer of text asks for the cells: pandas has no other sign of that.

    Raises:
        TypeError: one does, and would write what cells show, from which nobody has the numbers.
    """
    frame = inspect.currentframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module in _WRITERS:
            text = "writes what cells show and would lose the encrypted numbers: write Parquet or Feather"
            raise TypeError(f"{_WRITERS[module]} {text}, or decrypt first")
        if module.partition(".")[0] not in _BETWEEN:
            return
        frame = frame.f_back
