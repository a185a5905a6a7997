"""How many threads batches run on."""

from __future__ import annotations

from hearith import _native
from hearith._arguments import whole

#: Most threads that may be asked for.
MOST_THREADS = 4096


def threads() -> int:
    """How many threads batches run on."""
    return _native.threads()


def set_threads(count: int) -> None:
    """Runs later batches on `count` threads (0: one a core).

    Raises:
        NumberError: `count` is no whole number.
        RangeError: it is negative, or above 4096.
    """
    _native.set_threads(whole("threads", count, 0, MOST_THREADS))
