"""Batched table columns in the BFV scheme; `hearith.bfv` is the public interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hearith import _native
from hearith._arguments import whole
from hearith._batches import blocks, rows_from
from hearith.arrow import extended_schema
from hearith.columns import ColumnOptions, Withheld, as_table, specifications, tables
from hearith.errors import NumberError, ShapeError, TableError


class LatticeTotals:
    """Running totals of the encrypted columns of tables with one schema, by group.

    After an error the totals are lost.
    """

    def __init__(
        self,
        public: _native.BfvPublicKey,
        schema: pa.Schema,
        by: str | Sequence[str] = (),
        weight: str | None = None,
        condition: str | None = None,
        *,
        allow_repeated: bool = False,
        allow_rare_weights: bool = False,
    ) -> None:
        """Starts without any rows."""
        names = [by] if isinstance(by, str) else list(by)
        self._slots = public.slots
        self._totals = _native.BfvAggregator(public, extended_schema(schema), names, weight, condition)
        if allow_repeated:
            self._totals.allow_repeated()
        if allow_rare_weights:
            self._totals.allow_rare_weights()

    def update(self, table: Any, *, where: Any = None, progress: bool = False) -> None:
        """Adds the rows of a complete table, or those for which `where` is true."""
        rows = as_table(table)
        keep = None if where is None else _mask(where, rows.num_rows)
        self._totals.begin(rows.schema)
        for start, batch in _batches(rows, self._slots, progress, "adding"):
            kept = None if keep is None else keep[start : start + batch.num_rows]
            with rows_from(start):
                self._totals.update(batch, kept)
        self._totals.end()

    def finish(self, *, min_rows: int = 0) -> pa.Table:
        """Returns the totals, one row per group in ascending order of the group columns; `withheld`
        counts what was left out.
        """
        return pa.Table.from_batches([self._totals.finish(min_rows=whole("min_rows", min_rows, 0))])

    @property
    def withheld(self) -> Withheld:
        """Counts of what `finish` left out; zero before."""
        return Withheld(*self._totals.withheld)


def encrypt_columns(
    key: _native.BfvPublicKey | _native.BfvPrivateKey,
    slots: int,
    table: Any,
    columns: Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
    *,
    rounding: bool = False,
    max_additions: int | None = None,
    progress: bool = False,
) -> pa.Table:
    """Implements `encrypt_columns` of the keys of `hearith.bfv`."""
    plain = as_table(table)
    additions = None if max_additions is None else whole("max_additions", max_additions, 1)
    batches = (batch for _, batch in _batches(plain, slots, progress, "encrypting", chunks=1))
    schema, encrypted = _native.bfv_encrypt_table(
        key, plain.schema, batches, specifications(columns), rounding=rounding, max_additions=additions
    )
    return pa.Table.from_batches(encrypted, schema)


def sum_columns(
    key: _native.BfvPublicKey,
    table: Any,
    *,
    by: str | Sequence[str] = (),
    weight: str | None = None,
    where: Any = None,
    min_rows: int = 0,
    allow_repeated: bool = False,
    allow_rare_weights: bool = False,
    progress: bool = False,
) -> pa.Table:
    """Implements `hearith.bfv.PublicKey.sum_columns`."""
    condition, mask = (where, None) if isinstance(where, str) else (None, where)
    allowed = {"allow_repeated": allow_repeated, "allow_rare_weights": allow_rare_weights}
    totals: LatticeTotals | None = None
    for position, part in enumerate(tables(table)):
        if position and mask is not None:
            raise ShapeError("a mask applies to a single table: pass conditions as text", kind="lengths")
        totals = totals or LatticeTotals(key, part.schema, by, weight, condition, **allowed)
        totals.update(part, where=mask, progress=progress)
    if totals is None:
        raise TableError("no table to sum", kind="no_table")
    return totals.finish(min_rows=min_rows)


def decrypt_columns(key: _native.BfvPrivateKey, table: Any, *, progress: bool = False) -> pa.Table:
    """Implements `hearith.bfv.PrivateKey.decrypt_columns`."""
    encrypted = as_table(table)
    batches = (batch for _, batch in _batches(encrypted, key.public.slots, progress, "decrypting"))
    schema, decrypted = _native.bfv_decrypt_table(key, encrypted.schema, batches)
    return pa.Table.from_batches(decrypted, schema)


def _batches(
    table: pa.Table, slots: int, progress: bool, what: str, *, chunks: int = 16
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields the rows in record batches of complete chunks, each with the index of its first row;
    at least one batch.
    """
    for start, stop in blocks(table.num_rows, slots * chunks, progress, what):
        yield start, table.slice(start, stop - start).combine_chunks().to_batches()[0]
    if table.num_rows == 0:
        yield 0, pa.RecordBatch.from_pylist([], schema=table.schema)


def _mask(where: Any, rows: int) -> bytes:
    """Returns truth values as one byte each; null counts as false."""
    array = where.combine_chunks() if isinstance(where, pa.ChunkedArray) else where
    if not isinstance(array, pa.Array):
        array = pa.array(np.asarray(array) if not isinstance(array, list) else array)
    if array.type != pa.bool_():
        raise NumberError("where= must contain booleans", kind="not_a_mask")
    if len(array) != rows:
        raise ShapeError(f"where= has {len(array)} rows, but the table has {rows}", kind="lengths")
    return bytes(array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint8))
