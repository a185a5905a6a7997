"""Prevents pandas and NumPy from writing the displayed text of encrypted numbers, which would lose
them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FrameType

#: pandas modules that write elements as text that cannot be read back, with the name of the public
#: method; and functions with that effect in any module of pandas and NumPy.
_WRITERS = {
    "pandas.io.formats.csvs": "to_csv",
    "pandas.io.formats.excel": "to_excel",
    "pandas.io.formats.xml": "to_xml",
}
_FUNCTIONS = ("savetxt", "to_csv", "to_excel", "to_latex", "to_markdown", "to_xml")
#: Packages whose frames may lie between a writer and a number; Jinja templates have no package.
_BETWEEN = ("pandas", "numpy", "hearith", "jinja2", "tabulate", "")
#: The pandas module that compares object arrays, and converts a `TypeError` to a result.
_COMPARES = "pandas.core.ops.array_ops"


def check_kept(*, also: tuple[str, ...] = ()) -> None:
    """Checks that no text writer, nor a function named in `also`, is reading the numbers.

    Only the call stack shows this.

    Raises:
        TypeError: a writer is reading them, and would write text from which the numbers cannot be
            recovered.
    """
    for frame in _callers():
        module = _module(frame)
        package, name = module.partition(".")[0], _WRITERS.get(module, frame.f_code.co_name)
        if package in ("pandas", "numpy") and name in (*_FUNCTIONS, *also):
            text = "writes cells as text and would lose the encrypted numbers: write Parquet or Feather"
            raise TypeError(f"{name} {text}, or decrypt first")
        if package not in _BETWEEN:
            return


def refusal() -> type[TypeError | ValueError]:
    """Returns the error type of comparisons: `TypeError`, but `ValueError` where pandas compares
    objects, since it converts a `TypeError` to False.
    """
    comparing = next((frame for frame in _callers() if not _module(frame).startswith("hearith.")), None)
    return ValueError if comparing is not None and _module(comparing) == _COMPARES else TypeError


def _callers() -> Iterator[FrameType]:
    """Yields all frames of the call stack, innermost first."""
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name
