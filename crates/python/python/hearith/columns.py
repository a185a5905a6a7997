"""Encrypted columns of tables: encryption, grouped sums and decryption.

Functions accept tables of pyarrow, pandas or polars, or any object that exports an Arrow stream,
and return pyarrow tables. The Rust kernel processes rows in batches, so that progress can be shown
and Ctrl-C interrupts the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, NamedTuple, Protocol

from hearith import _native
from hearith._arguments import whole
from hearith._batches import pieces, rows_from
from hearith._computing import ComputingKey
from hearith._operands import LONG_INTEGERS, Number, fraction
from hearith.encoding import MAX_SCALE
from hearith.errors import RangeError, TableError

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError("encrypted columns need pyarrow: pip install 'hearith[arrow]'") from error

from hearith._companions import completed
from hearith._narrow import narrowed
from hearith.arrow import extended, extended_schema

#: A range of more bits fits no key.
_MOST_BITS = 8192
#: Decimal arithmetic with that many digits.
_EXACT = Context(prec=_MOST_BITS)
_ENDLESS = "the range is not finite, or far too large"


class EncryptingKey(Protocol):
    """A public or private key: both encrypt."""

    @property
    def native(self) -> _native.PublicKey | _native.PrivateKey:
        """The underlying Rust key."""
        ...


class DecryptingKey(Protocol):
    """A private key, or a service that holds one."""

    @property
    def native(self) -> _native.PrivateKey | _native.RemoteKey:
        """The underlying Rust key."""
        ...


@dataclass(frozen=True)
class ColumnOptions:
    """Options for the encryption of a column.

    Attributes:
        scale: decimal digits kept after the point; by default those of a decimal type, else none.
        range: largest magnitude of a value; by default 2^63 - 1 units of the last digit.
    """

    scale: int | None = None
    range: Number | None = None


class Withheld(NamedTuple):
    """Counts of suppressed results: groups, the rows of these groups, and totals of single columns
    in other groups.
    """

    groups: int
    rows: int
    totals: int


class Aggregator:
    """Running totals of the encrypted columns of tables with one schema, by group.

    `public` is the key, `schema` the schema of the tables, and `by` the columns to group by.
    `others` are the schemas of further tables. They may differ in scale, range, number of additions
    and width of group columns; all are aligned. After an error the totals are lost.
    """

    def __init__(
        self,
        public: ComputingKey,
        schema: pa.Schema,
        by: str | Sequence[str] = (),
        *,
        others: Iterable[pa.Schema] = (),
    ) -> None:
        """Starts without any rows.

        Raises:
            TableError: the combined scales and ranges of all tables leave no headroom for
                additions.
        """
        names = [by] if isinstance(by, str) else list(by)
        schemas = [extended_schema(one) for one in (schema, *others)]
        alike = all(one.equals(schemas[0], check_metadata=True) for one in schemas)
        self._key = public
        self._alignment = None if alike else _native.Alignment(schemas, names)
        self._totals = _native.Aggregator(public.native, self._aligned(schemas[0]), names)

    def begin(self, schema: pa.Schema, *, allow_repeated: bool = False) -> None:
        """Starts the next table, whose rows follow in any number of calls to `update`.

        Raises:
            TableError: the table shares rows with one that was added before, and `allow_repeated`
                is false.
        """
        self._totals.begin(self._aligned(extended_schema(schema)), allow_repeated=allow_repeated)

    def update(self, table: Any, *, progress: bool = False) -> None:
        """Adds the rows of a table or record batch, without checking for repeated tables."""
        for start, batch in _batches(as_table(table), progress, "adding", self._key.native):
            with rows_from(start):
                if self._alignment is not None:
                    batch = self._alignment.align(self._key.native, batch)
                self._totals.update(batch)

    def _aligned(self, schema: pa.Schema) -> pa.Schema:
        return schema if self._alignment is None else self._alignment.schema(schema)

    def finish(self, *, min_rows: int = 0, rerandomise: bool = False) -> pa.Table:
        """Returns the totals as a table of encrypted columns, one row per group, in ascending order
        of the group columns.

        Groups with fewer rows than `min_rows` are left out, and a total of fewer values is null;
        `withheld` counts both. Differences are not checked: a total of all rows together with the
        group totals still reveals a left-out group to the key holder.

        The total of a single value is that value's own ciphertext, and anyone who holds the table
        can determine which rows a total covers. `rerandomise` returns ciphertexts that cannot be
        linked to the table's without the private key.
        """
        least = whole("min_rows", min_rows, 0)
        return extended(pa.Table.from_batches([self._totals.finish(min_rows=least, rerandomise=rerandomise)]))

    @property
    def withheld(self) -> Withheld:
        """Counts of what `finish` left out; zero before."""
        return Withheld(*self._totals.withheld)


def encrypt_columns(
    key: EncryptingKey,
    table: Any,
    columns: Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
    *,
    pack: bool = False,
    rounding: bool = False,
    max_additions: int | None = None,
    progress: bool = False,
) -> pa.Table:
    """Implements `PublicKey.encrypt_columns`."""
    plain = as_table(table)
    encryptor = encryptor_of(key.native, plain.schema, columns, pack, rounding, max_additions)
    encrypted = []
    for start, batch in _batches(plain, progress, "encrypting", key.native):
        with rows_from(start):
            encrypted.append(encryptor.encrypt(batch))
    return extended(pa.Table.from_batches(encrypted, encryptor.schema))


def encryptor_of(
    key: _native.PublicKey | _native.PrivateKey,
    schema: pa.Schema,
    columns: str | Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
    pack: bool,
    rounding: bool,
    max_additions: int | None,
) -> _native.Encryptor:
    """Returns the encryptor for batches of a table with this schema.

    Arguments as in `PublicKey.encrypt_columns`.
    """
    additions = None if max_additions is None else whole("max_additions", max_additions, 1)
    specs = specifications(columns)
    return _native.Encryptor(key, schema, specs, pack=pack, rounding=rounding, max_additions=additions)


def specifications(
    columns: str | Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
) -> list[tuple[str, int | None, str | None]]:
    """Returns column names with scale and range in the form that Rust accepts."""
    options = columns if isinstance(columns, Mapping) else dict.fromkeys(column_names(columns), ColumnOptions())
    return [(name, *_spec(name, option)) for name, option in options.items()]


def sum_columns(
    key: ComputingKey,
    table: Any,
    *,
    by: str | Sequence[str] = (),
    min_rows: int = 0,
    rerandomise: bool = False,
    allow_repeated: bool = False,
    progress: bool = False,
) -> pa.Table:
    """Implements `PublicKey.sum_columns`."""
    totals: Aggregator | None = None
    for part, is_piece in _tables_or_pieces(table):
        totals = totals or Aggregator(key, part.schema, by, others=_schemas(table))
        if not is_piece:
            totals.begin(part.schema, allow_repeated=allow_repeated)
        totals.update(part, progress=progress)
    if totals is None:
        raise TableError("no table to sum", kind="no_table")
    return totals.finish(min_rows=min_rows, rerandomise=rerandomise)


def decrypt_columns(key: DecryptingKey, table: Any, *, check: bool = False, progress: bool = False) -> pa.Table:
    """Implements `PrivateKey.decrypt_columns`."""
    encrypted = as_table(table)
    decryptor = _native.Decryptor(key.native, encrypted.schema, check=check)
    decrypted = []
    for start, batch in _batches(encrypted, progress, "decrypting", key.native):
        with rows_from(start):
            decrypted.append(decryptor.decrypt(batch))
    return narrowed(pa.Table.from_batches(decrypted, decryptor.schema), encrypted.schema)


def share_columns(share: _native.KeyShare, table: Any, *, progress: bool = False) -> pa.Table:
    """Implements `KeyShare.decrypt_columns`."""
    encrypted = as_table(table)
    sharer = _native.Sharer(share, encrypted.schema, _digest(encrypted))
    shares = []
    for start, batch in _batches(encrypted, progress, "decrypting"):
        with rows_from(start):
            shares.append(sharer.share(batch))
    return pa.Table.from_batches(shares, sharer.schema)


def combine_columns(
    verification: _native.VerificationKeys, table: Any, shares: Sequence[Any], *, progress: bool = False
) -> tuple[pa.Table, list[str]]:
    """Implements `VerificationKeys.combine_columns`.

    Also returns errors about the shares that were ignored.
    """
    encrypted, tables = as_table(table), [as_table(one) for one in shares]
    schemas = [one.schema for one in tables]
    combiner = _native.Combiner(verification, encrypted.schema, schemas, _digest(encrypted))
    other = next((one for one in tables if one.num_rows != encrypted.num_rows), None)
    if other is not None:
        rows = f"{other.num_rows} rows of shares for {encrypted.num_rows} rows"
        raise TableError(rows, kind="not_shares")
    combined, wrong = [], []
    for start, batch in _batches(encrypted, progress, "combining"):
        parts = [one.slice(start, batch.num_rows) for one in tables]
        parts = [_single_batch(part) for part in parts]
        with rows_from(start):
            numbers, errors = combiner.combine(batch, parts)
        combined.append(numbers)
        wrong.extend(errors)
    return narrowed(pa.Table.from_batches(combined, combiner.schema), encrypted.schema), wrong


def _digest(table: pa.Table) -> bytes:
    """Returns the digest that shares are bound to.

    It covers everything that gives the numbers their meaning.
    """
    return bytes(_native.table_digest(table.schema, table.to_batches()))


def _single_batch(table: pa.Table) -> pa.RecordBatch:
    """Returns all rows of a table in one batch."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def as_table(table: Any) -> pa.Table:
    """Converts a table to pyarrow.

    Accepts a pyarrow table or record batch, a pandas (without its index) or polars data frame or
    series, a lazy polars frame, or an Arrow stream. Restores type and description of encrypted
    columns that another library passed on, and adds companions to columns of encrypted arrays.

    Raises:
        RangeError: an encrypted array's numbers may exceed the range of a column.
        TypeError: the argument is not a table.
    """
    return completed(extended(_as_arrow(table)))


def _as_arrow(table: Any) -> pa.Table:
    """Converts a table to pyarrow without restoring its encrypted columns."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    library = type(table).__module__.partition(".")[0]
    if library == "polars" and hasattr(table, "collect"):
        table = table.collect()
    if library in ("pandas", "polars") and hasattr(table, "to_frame"):
        table = table.to_frame()
    if library == "polars" and hasattr(table, "schema"):
        table = _without_long_integers(table)
    if library == "pandas":
        return pa.Table.from_pandas(_with_columns(table), preserve_index=False)
    if hasattr(table, "__arrow_c_stream__"):
        return pa.table(table)
    raise TypeError(f"{type(table).__name__} is not a table: pass one of pyarrow, pandas or polars")


def _without_long_integers(frame: Any) -> Any:
    """Converts the 128-bit integers of a polars frame to decimals, since Arrow has no type for
    them.

    Raises:
        RangeError: an integer has more than 38 digits.
    """
    for name, kind in frame.schema.items():
        if str(kind) in LONG_INTEGERS:
            import polars as pl

            try:
                frame = frame.with_columns(frame[name].cast(pl.Decimal(38, 0)))
            except pl.exceptions.PolarsError:
                text = f"an integer of {kind} has more than 38 digits"
                raise RangeError(text, column=name, kind="out_of_range") from None
    return frame


def _with_columns(frame: Any) -> Any:
    # Imported here, since only callers with a pandas frame have pandas.
    from hearith._pandas_column import with_columns

    return with_columns(frame)


def tables(given: Any) -> Iterator[pa.Table]:
    """Yields a single table, or each of several."""
    single = isinstance(given, pa.Table | pa.RecordBatch) or not isinstance(given, Iterable)
    if single or hasattr(given, "__arrow_c_stream__"):
        yield as_table(given)
    else:
        yield from map(as_table, given)


def _tables_or_pieces(given: Any) -> Iterator[tuple[pa.Table, bool]]:
    """Yields a single table, or each of several, and whether it is a record batch: a piece of a
    table that may have others.
    """
    single = isinstance(given, pa.Table | pa.RecordBatch) or not isinstance(given, Iterable)
    for one in [given] if single or hasattr(given, "__arrow_c_stream__") else given:
        yield as_table(one), isinstance(one, pa.RecordBatch)


def _schemas(given: Any) -> Iterator[pa.Schema]:
    """Yields the schemas of all tables of a list.

    Those of an iterator are unknown before it is consumed.
    """
    if isinstance(given, Sequence) and len(given) > 1:
        yield from (as_table(one).schema for one in given)


def column_names(columns: str | Sequence[str]) -> list[str]:
    """Returns the names of columns, which must be distinct.

    A string counts as a list of one name.
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TableError("named twice", column=twice, kind="duplicate_column")
    return names


def _batches(
    table: pa.Table, progress: bool, what: str, key: _native.PublicKey | _native.PrivateKey | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields the rows in record batches of a size that suits the engine, each with the index of its
    first row; at least one batch.
    """
    empty = True
    together = 0 if key is None else key.batch_rows(table.num_rows)
    for start, stop in pieces(table.num_rows, progress, what, together):
        empty = False
        yield start, table.slice(start, stop - start).combine_chunks().to_batches()[0]
    if empty:
        yield 0, pa.RecordBatch.from_pylist([], schema=table.schema)


def _spec(name: str, options: ColumnOptions | Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Returns scale, and range as decimal text, in the form that the kernel accepts."""
    chosen = options if isinstance(options, ColumnOptions) else ColumnOptions(**options)
    scale = None if chosen.scale is None else whole("scale", chosen.scale, 0, MAX_SCALE)
    if chosen.range is None:
        return scale, None
    try:
        range = fraction(chosen.range)
    except RangeError as error:
        raise RangeError(_ENDLESS, column=name, kind=error.kind) from None
    if range.numerator.bit_length() > _MOST_BITS:
        raise RangeError(_ENDLESS, column=name, kind="out_of_range")
    units = range * 10 ** (scale or 0)
    if units.denominator != 1:
        raise TableError("the range has more digits than the scale keeps", column=name, kind="too_many_digits")
    return scale, f"{_EXACT.scaleb(Decimal(units.numerator), -(scale or 0)):f}"
