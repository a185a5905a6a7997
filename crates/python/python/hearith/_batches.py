"""Splits long work into pieces, to show progress and handle Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hearith._native import Ciphertexts, Gathering, PrivateKey, PublicKey, threads
from hearith.errors import HearithError

#: Rows of the first piece per thread: one per lane.
_FIRST = 8
#: Target time of a piece in seconds: half of the longest delay of Ctrl-C, and long compared with
#: the overhead.
_PIECE = 0.05
#: Largest number of rows in a piece: 32 MiB of ciphertexts at 2048 bits.
_MOST = 1 << 16


def pieces(rows: int, progress: bool, what: str, together: int = 0) -> Iterator[tuple[int, int]]:
    """Yields consecutive ranges of rows.

    Each takes about a twentieth of a second, or has `together` rows, the batch size of a graphics
    card.

    Python handles a pending Ctrl-C between pieces. `progress` shows a bar (needs `tqdm`).
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
    """Yields consecutive ranges of `size` rows; the last may be shorter. `progress` shows a bar."""
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
    """Offsets the rows in errors by `start`, the first row of the piece, so that they refer to the
    whole.
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
    """Returns the concatenated ciphertexts of all pieces.

    Calls `piece` at least once. Piece sizes suit `key`, if it does the computation.
    """
    # Each piece is appended at once. Keeping pieces until the end would double the memory.
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
