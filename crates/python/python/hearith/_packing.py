"""Packs Python integers for Rust, as rows of little-endian two's complement.

The bytes are wiped after use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def packed(integers: list[int]) -> Iterator[tuple[bytearray, int]]:
    """Yields rows of little-endian two's complement and their width, a multiple of 8 bytes.

    Wipes the rows afterwards.
    """
    bits = max((value.bit_length() for value in integers), default=0) + 1
    width = 8 * -(-bits // 64)
    data = bytearray(width * len(integers))
    try:
        for row, value in enumerate(integers):
            data[row * width : (row + 1) * width] = value.to_bytes(width, "little", signed=True)
        yield data, width
    finally:
        wipe(data)


def wipe(data: bytearray) -> None:
    """Overwrites the bytes in place."""
    data[:] = bytes(len(data))
