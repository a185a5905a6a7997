"""Long work in pieces: so that it shows progress and Ctrl-C ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hearith._native import Ciphertexts, Gathering, PrivateKey, PublicKey, threads
from hearith.errors import HearithError

#: Rows of the first piece, for each thread: a lane each.
_FIRST = 8
#: Seconds that a piece should take: half of what Ctrl-C may wait, long beside the overhead.
_PIECE = 0.05
#: Rows of a piece at most: 32 MiB of ciphertexts at 2048 bits.
_MOST = 1 << 16


def pieces(rows: int, progress: bool, what: str, together: int = 0) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of rows, as many rows each as take about a twentieth of a second, or
    `together`, which a graphics card takes at a time.

    Between two pieces Python sees a pending Ctrl-C. With `progress` a bar is shown (needs `tqdm`).
    """
    bar = _bar(rows, what) if progress else None
    least = together or _FIRST * threads()
    start, size = 0, least
    try:
        while start < rows:
            stop = min(start + size, rows)
            began = time.monotonic()
            yield start, stop
            seconds = max(time.monotonic() - began, 1e-9)
            if bar is not None:
                bar.update(stop - start)
            start = stop
            size = together or max(least, min(int(size * min(_PIECE / seconds, 4.0)), _MOST))
    finally:
        if bar is not None:
            bar.close()


def blocks(rows: int, size: int, progress: bool, what: str) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of `size` rows, and of fewer in the end; with `progress` a bar is
    shown.
    """
    bar = _bar(rows, what) if progress else None
    try:
        for start in range(0, rows, size):
            stop = min(start + size, rows)
            yield start, stop
            if bar is not None:
                bar.update(stop - start)
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def rows_from(start: int) -> Iterator[None]:
    """Errors within name the row of the whole, not that of the piece, which begins at row
    `start`.
    """
    try:
        yield
    except HearithError as error:
        error.offset_rows(start)
        raise


def joined(
    rows: int,
    piece: Callable[[int, int], Ciphertexts],
    progress: bool = False,
    what: str = "computing",
    *,
    key: PublicKey | PrivateKey | None = None,
) -> Ciphertexts:
    """The ciphertexts of all pieces one after another; one call of `piece` at least. The pieces are
    those that suit `key`, if that is what computes.
    """
    # Each piece goes to its place at once: pieces kept up to the end would take as much again as
    # the result.
    gathering, found = None, None
    for start, stop in pieces(rows, progress, what, 0 if key is None else key.batch_rows(rows)):
        with rows_from(start):
            found = piece(start, stop)
        if stop - start < rows:
            gathering = gathering or Gathering(rows)
            gathering.append(found)
    if gathering is not None:
        found = gathering.take()
    return piece(0, 0) if found is None else found


def _bar(rows: int, what: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'hearith[progress]'") from error
    return tqdm(total=rows, desc=what, unit="row", unit_scale=True)
