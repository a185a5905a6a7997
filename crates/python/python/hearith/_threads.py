"""The number of threads for batches."""

from __future__ import annotations

from hearith import _native
from hearith._arguments import whole

#: Largest number of threads.
MOST_THREADS = 4096


def threads() -> int:
    """Returns the number of threads that batches run on."""
    return _native.threads()


def set_threads(count: int) -> None:
    """Runs later batches on `count` threads (0: one per core).

    Raises:
        NumberError: `count` is not an integer.
        RangeError: `count` is negative, or above 4096.
    """
    _native.set_threads(whole("threads", count, 0, MOST_THREADS))
