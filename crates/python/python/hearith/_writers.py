"""What pandas and NumPy write of encrypted numbers: not what cells show, which would lose the
numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FrameType

#: What of pandas writes cells as text that nobody reads back, by its module; and functions in any
#: module of pandas and NumPy that do.
_WRITERS = {
    "pandas.io.formats.csvs": "to_csv",
    "pandas.io.formats.excel": "to_excel",
    "pandas.io.formats.xml": "to_xml",
}
_FUNCTIONS = ("savetxt", "to_csv", "to_excel", "to_latex", "to_markdown", "to_xml")
#: Packages whose calls may be between a writer and a number; templates of Jinja have none.
_BETWEEN = ("pandas", "numpy", "hearith", "jinja2", "tabulate", "")
#: Compares arrays of objects, and takes a `TypeError` for an answer.
_COMPARES = "pandas.core.ops.array_ops"


def check_kept(*, also: tuple[str, ...] = ()) -> None:
    """Checks that no writer of text, nor another function named in `also`, asks for the numbers:
    the libraries have no other sign of that.

    Raises:
        TypeError: one does, and would write what cells show, from which nobody has the numbers.
    """
    for frame in _callers():
        module = _module(frame)
        package, name = module.partition(".")[0], _WRITERS.get(module, frame.f_code.co_name)
        if package in ("pandas", "numpy") and name in (*_FUNCTIONS, *also):
            text = "writes what cells show and would lose the encrypted numbers: write Parquet or Feather"
            raise TypeError(f"{name} {text}, or decrypt first")
        if package not in _BETWEEN:
            return


def refusal() -> type[TypeError | ValueError]:
    """The error of a comparison: a `TypeError`, but a `ValueError` where pandas compares objects,
    because it would answer False to a `TypeError`.
    """
    comparing = next((frame for frame in _callers() if not _module(frame).startswith("hearith.")), None)
    return ValueError if comparing is not None and _module(comparing) == _COMPARES else TypeError


def _callers() -> Iterator[FrameType]:
    """The frames of all calls, the latest first."""
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name
