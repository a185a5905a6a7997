"""Signed integers of any size, from Python or NumPy, and their packed form for Rust: rows of
little-endian two's complement.

The packed bytes are wiped after use. The Python integers and NumPy arrays they come from are not,
since the interpreter owns them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hearith import _packing
from hearith._native import Plaintexts, PublicKey
from hearith._packing import wipe
from hearith.errors import RangeError

#: Signed integers of any size: an `int64` array where they fit, else a list.
Integers: TypeAlias = npt.NDArray[np.int64] | list[int]

#: Largest width in bytes of integers that Rust encodes; Python reduces wider ones modulo n.
_SMALL = 16
_INT64 = np.iinfo(np.int64)


def narrow(integers: list[int]) -> Integers:
    """Converts the integers to an array, if they fit."""
    if all(_INT64.min < value <= _INT64.max for value in integers):
        return np.array(integers, dtype=np.int64)
    return integers


def joined_integers(parts: Iterable[Integers]) -> Integers:
    """Concatenates the integers of several batches."""
    batches = list(parts)
    if all(isinstance(batch, np.ndarray) for batch in batches):
        return np.concatenate([np.empty(0, dtype=np.int64), *batches])
    return [int(value) for batch in batches for value in batch]


def negated(integers: Integers) -> Integers:
    """Returns the negated integers."""
    return -integers if isinstance(integers, np.ndarray) else [-value for value in integers]


def bit_length(integers: Integers) -> int:
    """Returns the size in bits of the largest magnitude."""
    if isinstance(integers, np.ndarray):
        return max(int(integers.max()).bit_length(), int(integers.min()).bit_length()) if integers.size else 0
    return max((value.bit_length() for value in integers), default=0)


def first_beyond(integers: Integers, limit: int) -> int | None:
    """Returns the row of the first integer that exceeds `limit` in magnitude, or None."""
    if isinstance(integers, np.ndarray):
        if limit >= 2**63:
            return None
        outside = (integers > limit) | (integers < -limit)
        return int(np.argmax(outside)) if outside.any() else None
    return next((row for row, value in enumerate(integers) if abs(value) > limit), None)


def check_range(integers: Integers, limit: int) -> None:
    """Raises `RangeError`, naming the row, if an integer exceeds `limit` in magnitude."""
    row = first_beyond(integers, limit)
    if row is not None:
        raise RangeError("the number exceeds the declared range (range=)", row, kind="out_of_range")


@contextmanager
def packed(integers: Integers) -> Iterator[tuple[bytearray, int]]:
    """Yields rows of little-endian two's complement and their width, a multiple of 8 bytes.

    Wipes the rows afterwards.
    """
    if not isinstance(integers, np.ndarray):
        with _packing.packed(integers) as rows:
            yield rows
        return
    data = bytearray(np.ascontiguousarray(integers.astype("<i8", copy=False)))
    try:
        yield data, 8
    finally:
        wipe(data)


def unpack(data: bytearray, width: int) -> Integers:
    """Returns the integers in packed rows, and wipes the rows."""
    try:
        if width == 8:
            return np.frombuffer(data, dtype="<i8").astype(np.int64)
        rows = range(0, len(data), width)
        return [int.from_bytes(data[row : row + width], "little", signed=True) for row in rows]
    finally:
        wipe(data)


def plaintexts(key: PublicKey, integers: Integers) -> Plaintexts:
    """Encodes integers of magnitude below n / 2 as residues modulo n."""
    with packed(integers) as (data, width):
        if width <= _SMALL:
            return key.encode(data, width)
    n, size = int.from_bytes(key.modulus(), "big"), key.plaintext_bytes
    residues = bytearray(size * len(integers))
    try:
        for row, value in enumerate(integers):
            residues[row * size : (row + 1) * size] = (int(value) % n).to_bytes(size, "big")
        return key.residues(residues)
    finally:
        wipe(residues)


def objects(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Returns a one-dimensional array of Python objects."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
