"""Encrypted columns of tables: encrypt, add up by groups, decrypt.

Tables come as pyarrow, pandas or polars have them, or as anything that exports an Arrow stream;
results are pyarrow tables. Rows pass the Rust kernel in batches, so that progress shows and Ctrl-C
ends the work.
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

#: Bits beyond which no key has room for a range.
_MOST_BITS = 8192
#: Decimals of as many digits as that.
_EXACT = Context(prec=_MOST_BITS)
_ENDLESS = "the range is not finite, or far too large"


class EncryptingKey(Protocol):
    """A key of either kind: both encrypt."""

    @property
    def native(self) -> _native.PublicKey | _native.PrivateKey:
        """The key in Rust."""
        ...


class DecryptingKey(Protocol):
    """A private key, or that of a service that has it."""

    @property
    def native(self) -> _native.PrivateKey | _native.RemoteKey:
        """The key in Rust."""
        ...


@dataclass(frozen=True)
class ColumnOptions:
    """How to encrypt a column: decimal digits kept after the point (by default those of a decimal
    type, else none) and largest magnitude of a value (by default 2^63 - 1 units of the last digit).
    """

    scale: int | None = None
    range: Number | None = None


class Withheld(NamedTuple):
    """What of some totals was not given out: groups, the rows of these groups, and totals of single
    columns in other groups.
    """

    groups: int
    rows: int
    totals: int


class Totals:
    """Running totals of the encrypted columns of tables of one shape, by groups.

    `public` is the key, `schema` that of the tables, `by` the columns to group by. `others` are the
    schemas of tables that are to be added as well and may have other scales, ranges, numbers of
    additions and widths of group columns: all are brought to one. After an error the totals are
    gone.
    """

    def __init__(
        self,
        public: ComputingKey,
        schema: pa.Schema,
        by: str | Sequence[str] = (),
        *,
        others: Iterable[pa.Schema] = (),
    ) -> None:
        """Starts with nothing added.

        Raises:
            TableError: the scales and ranges of all tables together leave no room for additions.
        """
        names = [by] if isinstance(by, str) else list(by)
        schemas = [extended_schema(one) for one in (schema, *others)]
        alike = all(one.equals(schemas[0], check_metadata=True) for one in schemas)
        self._key = public
        self._alignment = None if alike else _native.Alignment(schemas, names)
        self._totals = _native.Totals(public.native, self._aligned(schemas[0]), names)

    def begin(self, schema: pa.Schema, *, allow_repeated: bool = False) -> None:
        """Turns to the next table, whose rows `update` then adds in as many pieces as there are.

        Raises:
            TableError: the table has rows of one that was begun or added before, and
                `allow_repeated` is false.
        """
        self._totals.begin(self._aligned(extended_schema(schema)), allow_repeated=allow_repeated)

    def update(self, table: Any, *, progress: bool = False) -> None:
        """Adds the rows of a table or record batch, whether or not they are of a table that is
        there already.
        """
        for start, batch in _batches(as_table(table), progress, "adding", self._key.native):
            with rows_from(start):
                if self._alignment is not None:
                    batch = self._alignment.align(self._key.native, batch)
                self._totals.update(batch)

    def _aligned(self, schema: pa.Schema) -> pa.Schema:
        return schema if self._alignment is None else self._alignment.schema(schema)

    def finish(self, *, min_rows: int = 0, rerandomise: bool = False) -> pa.Table:
        """The totals, one row a group in ascending order of the group columns: a table of encrypted
        columns again.

        Groups of fewer rows than `min_rows` are left out, and a total of fewer values is null;
        `withheld` says how many. Differences are not looked at: a total of all rows beside those of
        groups still gives a left-out group away to whoever decrypts.

        The total of a single value is that value's own ciphertext, and whoever has the table can
        tell which rows a total is of: `rerandomise` makes ciphertexts that nobody can link to the
        table's without the private key.
        """
        least = whole("min_rows", min_rows, 0)
        return extended(pa.Table.from_batches([self._totals.finish(min_rows=least, rerandomise=rerandomise)]))

    @property
    def withheld(self) -> Withheld:
        """What `finish` left out; nothing before."""
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
    """`PublicKey.encrypt_columns`."""
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
    """What encrypts the batches of a table of this schema; arguments as of
    `PublicKey.encrypt_columns`.
    """
    additions = None if max_additions is None else whole("max_additions", max_additions, 1)
    specs = specifications(columns)
    return _native.Encryptor(key, schema, specs, pack=pack, rounding=rounding, max_additions=additions)


def specifications(
    columns: str | Sequence[str] | Mapping[str, ColumnOptions | Mapping[str, Any]],
) -> list[tuple[str, int | None, str | None]]:
    """Names of columns with scale and range, as Rust takes them."""
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
    """`PublicKey.sum_columns`."""
    totals: Totals | None = None
    for part, is_piece in _tables_or_pieces(table):
        totals = totals or Totals(key, part.schema, by, others=_schemas(table))
        if not is_piece:
            totals.begin(part.schema, allow_repeated=allow_repeated)
        totals.update(part, progress=progress)
    if totals is None:
        raise TableError("no table to sum", kind="no_table")
    return totals.finish(min_rows=min_rows, rerandomise=rerandomise)


def decrypt_columns(key: DecryptingKey, table: Any, *, check: bool = False, progress: bool = False) -> pa.Table:
    """`PrivateKey.decrypt_columns`."""
    encrypted = as_table(table)
    decryptor = _native.Decryptor(key.native, encrypted.schema, check=check)
    decrypted = []
    for start, batch in _batches(encrypted, progress, "decrypting", key.native):
        with rows_from(start):
            decrypted.append(decryptor.decrypt(batch))
    return narrowed(pa.Table.from_batches(decrypted, decryptor.schema), encrypted.schema)


def share_columns(share: _native.KeyShare, table: Any, *, progress: bool = False) -> pa.Table:
    """`KeyShare.decrypt_columns`."""
    encrypted = as_table(table)
    sharer = _native.Sharer(share, encrypted.schema, _digest(encrypted))
    shares = []
    for start, batch in _batches(encrypted, progress, "decrypting"):
        with rows_from(start):
            shares.append(sharer.share(batch))
    return pa.Table.from_batches(shares, sharer.schema)


def combine_columns(
    verification: _native.Verification, table: Any, shares: Sequence[Any], *, progress: bool = False
) -> tuple[pa.Table, list[str]]:
    """`Verification.combine_columns`, and what was wrong with shares that were left aside."""
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
    """What shares are bound to: all that gives the numbers their meaning."""
    return bytes(_native.table_digest(table.schema, table.to_batches()))


def _single_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table in one batch."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def as_table(table: Any) -> pa.Table:
    """A table of pyarrow from a table or record batch of pyarrow, a data frame or series of pandas
    (without its index) or polars, lazy or not, or an Arrow stream. Encrypted columns that another
    library has passed on have their type and description again, and those that an encrypted array
    has become a companion.

    Raises:
        RangeError: an encrypted array's numbers may be larger than those of a column.
        TypeError: it is none of these.
    """
    return completed(extended(_as_arrow(table)))


def _as_arrow(table: Any) -> pa.Table:
    """A table of pyarrow as it comes, whatever has become of its encrypted columns."""
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
    raise TypeError(f"{type(table).__name__} is not a table: give one of pyarrow, pandas or polars")


def _without_long_integers(frame: Any) -> Any:
    """A frame of polars with decimals for integers of 128 bits, for which Arrow has no type.

    Raises:
        RangeError: one of them has more digits than a decimal of 38.
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
    # Whoever has a frame of pandas has pandas; others need not.
    from hearith._pandas_column import with_columns

    return with_columns(frame)


def tables(given: Any) -> Iterator[pa.Table]:
    """A single table, or each of several."""
    single = isinstance(given, pa.Table | pa.RecordBatch) or not isinstance(given, Iterable)
    if single or hasattr(given, "__arrow_c_stream__"):
        yield as_table(given)
    else:
        yield from map(as_table, given)


def _tables_or_pieces(given: Any) -> Iterator[tuple[pa.Table, bool]]:
    """A single table, or each of several, and whether it is a record batch: a piece of a table, of
    which there may be others.
    """
    single = isinstance(given, pa.Table | pa.RecordBatch) or not isinstance(given, Iterable)
    for one in [given] if single or hasattr(given, "__arrow_c_stream__") else given:
        yield as_table(one), isinstance(one, pa.RecordBatch)


def _schemas(given: Any) -> Iterator[pa.Schema]:
    """The schemas of all tables of a list; those of an iterator are not known before it is used
    up.
    """
    if isinstance(given, Sequence) and len(given) > 1:
        yield from (as_table(one).schema for one in given)


def column_names(columns: str | Sequence[str]) -> list[str]:
    """Names of columns, each of which must stand there once; a single name counts as a list of
    one.
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TableError("named twice", column=twice, kind="duplicate_column")
    return names


def _batches(
    table: pa.Table, progress: bool, what: str, key: _native.PublicKey | _native.PrivateKey | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows in record batches that suit what computes, each with the number of its first row; at
    least one.
    """
    empty = True
    together = 0 if key is None else key.batch_rows(table.num_rows)
    for start, stop in pieces(table.num_rows, progress, what, together):
        empty = False
        yield start, table.slice(start, stop - start).combine_chunks().to_batches()[0]
    if empty:
        yield 0, pa.RecordBatch.from_pylist([], schema=table.schema)


def _spec(name: str, options: ColumnOptions | Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Scale, and range as decimal text, as the kernel takes them."""
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
