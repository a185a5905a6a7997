"""Encrypted columns in DuckDB: the SQL functions `he_sum`, `he_avg`, `he_add`, `he_multiply`,
`he_rerandomise`, `he_key_id` and `he_decrypt`. `FROM he_functions()` lists and describes them all.

The wheel includes the DuckDB extension. `connect` opens a database with it; `load` adds it to a
connection. A ciphertext is a `BLOB`, as in the Parquet files written by `hearith encrypt` and
`PublicKey.encrypt_columns`::

    con = hearith.duckdb.connect()
    hearith.duckdb.load_key(con, public)
    con.sql("SELECT dept, he_sum(salary) FROM 'staff.parquet' GROUP BY dept")

Such a file also describes its encrypted columns: key, encoding and headroom. SQL sees only bytes,
so `sum_columns` checks the descriptions, sums, counts additions, and returns totals with
descriptions. `describe` restores the descriptions on the result of your own query.
`PrivateKey.decrypt_columns` decrypts and checks the tables of both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from hearith import _descriptions
from hearith.errors import HearithError, KeyMismatchError, TableError
from hearith.keys import PublicKey

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise ImportError("this module needs duckdb and pyarrow: pip install 'hearith[duckdb]'") from error

from hearith._tables import described
from hearith.arrow import EncryptedType, extended_schema
from hearith.columns import Aggregator

#: The path of the extension that belongs to this version of the package.
EXTENSION = Path(__file__).with_name("hearith.duckdb_extension")
_UNSIGNED = "allow_unsigned_extensions"
_INSECURE = "hearith_allow_insecure_keys"
#: Characters that make a name a pattern.
_PATTERN = re.compile(r"[*?\[]")

File = str | PathLike[str]


def connect(
    database: File = ":memory:", *, config: dict[str, Any] | None = None, **options: Any
) -> duckdb.DuckDBPyConnection:
    """Calls `duckdb.connect` and loads the extension.

    Allows unsigned extensions in this database, since DuckDB's authors have not signed Hearith's.
    """
    return load(duckdb.connect(fspath(database), config={_UNSIGNED: "true", **(config or {})}, **options))


def load(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Loads the extension into the database of a connection, and returns the connection.

    Raises:
        HearithError: the database was not opened with
            `config={"allow_unsigned_extensions": "true"}`, this DuckDB is older than 1.5.6, or the
            wheel is for another platform.
    """
    if not EXTENSION.exists():
        raise HearithError(f"{EXTENSION} is missing: build it with crates/duckdb/package.py, or install the wheel")
    (allowed,) = con.execute("SELECT current_setting(?)", [_UNSIGNED]).fetchall()[0]
    if not allowed:
        raise HearithError(
            f'open the database with hearith.duckdb.connect(), or duckdb.connect(config={{"{_UNSIGNED}": "true"}}): '
            "DuckDB loads unsigned extensions only if this is set when the database is opened"
        )
    try:
        con.load_extension(str(EXTENSION))
    except duckdb.Error as error:
        raise HearithError(f"DuckDB {duckdb.__version__} cannot load the extension: {error}") from error
    return con


def load_key(con: duckdb.DuckDBPyConnection, public: PublicKey | File) -> str:
    """Loads a public key, or a key file, for all connections of the database, and returns its id.

    SQL functions use the key if only one is loaded. With several, they accept an id as the last
    argument.
    """
    if isinstance(public, PublicKey):
        if public.weakness is not None:
            # The caller has already allowed insecure keys to create the key object; the session
            # need not.
            return _with_insecure(con, public.to_jwk())
        return _load(con, public.to_jwk())
    return _load(con, fspath(public))


def encrypted_columns(file: File) -> dict[str, dict[str, str]]:
    """Returns the encrypted columns of a Parquet file and their descriptions: `key`, `bits`,
    `encoding`, `scale`, `max_additions`, ...
    """
    return _encrypted(pq.read_schema(fspath(file)))


def sum_columns(
    con: duckdb.DuckDBPyConnection,
    public: PublicKey,
    files: File | Sequence[File],
    *,
    by: str | Sequence[str] = (),
    min_rows: int = 0,
    rerandomise: bool = False,
    allow_repeated: bool = False,
) -> pa.Table:
    """Returns the encrypted totals of all encrypted columns of Parquet files, by group.

    Equivalent to `PublicKey.sum_columns`, but runs on DuckDB's threads.

    Args:
        con: a connection with the extension.
        public: the key that the files are encrypted under.
        files: names, or DuckDB patterns (`'parts/*.parquet'`, `'**/2026-*.parquet'`, `?`, `[a-c]`).
            A name that exists literally is that file. A pattern adds only files that are not yet in
            the list. Files may differ in scale, range, number of additions and width of group
            columns.
        by: the columns to group by.
        min_rows: leaves out groups with fewer rows, and sets totals of fewer values to null.
        rerandomise: whether to return ciphertexts that cannot be linked to the rows.
        allow_repeated: whether files may have rows in common, such as copies, or totals and their
            own table. Files written by a DuckDB query have no id, so repetitions among them are not
            detected.

    Raises:
        KeyMismatchError: a file is encrypted under another key.
        TableError: a pattern matches no file, no column is encrypted, files differ in their
            columns, a group column is missing, the combined scales and ranges of all files leave no
            headroom for additions, a total has more additions than its headroom allows, or a file
            has rows of an earlier one and `allow_repeated` is false.
    """
    paths = _found(con, [fspath(file) for file in ([files] if isinstance(files, str | PathLike) else files)])
    groups = [by] if isinstance(by, str) else list(by)
    if not paths:
        raise TableError("no files to sum", kind="no_table")
    shapes = _shapes(paths, public, groups)
    # Errors in keys, descriptions and groups are raised here, before any rows are read.
    schemas = [_counted(schema, groups) for schema, _ in shapes]
    tables = _tables(Aggregator(public, schemas[0], groups, others=schemas[1:]), paths, allow_repeated)
    load_key(con, public)
    added = [_totals_of(con, public, schema, groups, alike) for schema, (_, alike) in zip(schemas, shapes, strict=True)]
    # One row per group and shape. The kernel checks headroom, and orders rows like the command
    # line.
    totals = Aggregator(public, added[0].schema, groups, others=[one.schema for one in added[1:]])
    for one in added:
        totals.begin(_naming(one.schema, tables), allow_repeated=True)
        totals.update(one)
    return totals.finish(min_rows=min_rows, rerandomise=rerandomise)


def _totals_of(
    con: duckdb.DuckDBPyConnection, public: PublicKey, schema: pa.Schema, groups: list[str], paths: list[str]
) -> pa.Table:
    """Returns the totals of files with the same encrypted columns, with the counts that the kernel
    checks.
    """
    query = _query(schema, groups, public.id)
    result = describe(con.sql(query, params={"files": [_literal(path) for path in paths]}).to_arrow_table(), schema)
    role = {_descriptions.ROLE: _descriptions.ROWS}
    counted = pa.field(_descriptions.ROWS, pa.uint64(), nullable=False, metadata=role)
    position = result.schema.get_field_index(_descriptions.ROWS)
    return result.set_column(position, counted, result.column(position).cast(pa.uint64()))


def _tables(totals: Aggregator, paths: list[str], allow_repeated: bool) -> dict[bytes, bytes]:
    """Returns the metadata entry that names the tables included in the totals of these files.

    Raises:
        TableError: a file has rows of an earlier one, and `allow_repeated` is false.
    """
    for path in paths:
        try:
            totals.begin(pq.read_schema(path), allow_repeated=allow_repeated)
        except TableError as error:
            raise TableError(f"{path}: {error}", kind=error.kind) from error
    (rows,) = (field for field in totals.finish().schema if _descriptions.counts_rows(field))
    return {name: text for name, text in rows.metadata.items() if name == _descriptions.TABLES.encode()}


def _naming(schema: pa.Schema, tables: dict[bytes, bytes]) -> pa.Schema:
    """Returns the schema of totals, with the names of the tables they include."""
    named = [
        field.with_metadata({**field.metadata, **tables}) if _descriptions.counts_rows(field) else field
        for field in schema
    ]
    return pa.schema(named)


def describe(table: pa.Table, like: pa.Schema | File) -> pa.Table:
    """Adds the descriptions in `like`, a schema or a Parquet file, to a query's result, by column
    name.

    An encrypted column must keep its name, and the query must also sum its companions
    `NAME.additions`::

        SELECT dept, he_sum(salary) AS salary, sum("salary.additions") AS "salary.additions" FROM
        'staff.parquet' GROUP BY dept

    Raises:
        TableError: the values of a described column have another length here, or its companion
            is missing.
    """
    return described(table, like if isinstance(like, pa.Schema) else pq.read_schema(fspath(like)))


def _with_insecure(con: duckdb.DuckDBPyConnection, jwk: str) -> str:
    (before,) = con.execute("SELECT current_setting(?)", [_INSECURE]).fetchall()[0]
    con.execute(f"SET {_INSECURE} = true")
    try:
        return _load(con, jwk)
    finally:
        con.execute(f"SET {_INSECURE} = {bool(before)}")


def _load(con: duckdb.DuckDBPyConnection, source: str) -> str:
    try:
        (id,) = con.execute("SELECT he_load_key(?)", [source]).fetchall()[0]
    except duckdb.CatalogException as error:
        raise HearithError("the extension is not loaded: hearith.duckdb.load(con) first") from error
    except duckdb.InvalidInputException as error:
        raise HearithError(str(error)) from error
    return str(id)


def _found(con: duckdb.DuckDBPyConnection, names: list[str]) -> list[str]:
    """Returns the files that match names and patterns, by DuckDB's own matching.

    A pattern adds only files that are not yet in the list.
    """
    paths: list[str] = []
    found: set[str] = set()
    for name in names:
        if Path(name).exists() or not _PATTERN.search(name):
            paths.append(name)
            found.add(name)
            continue
        here = [path for (path,) in con.execute("SELECT file FROM glob(?) ORDER BY file", [name]).fetchall()]
        if not here:
            raise TableError(f"{name}: no file matches", kind="no_table")
        paths += [path for path in here if path not in found]
        found.update(here)
    return paths


def _literal(path: str) -> str:
    """Returns a pattern that matches only this file, since `read_parquet` treats names as
    patterns.
    """
    return _PATTERN.sub(lambda character: f"[{character[0]}]", path)


def _shapes(paths: list[str], public: PublicKey, groups: list[str]) -> list[tuple[pa.Schema, list[str]]]:
    """Groups the files by the descriptions of their encrypted columns, each group with the schema
    of its first file. Groups may differ in scale, range and number of additions, and can be tables
    or totals.

    Raises:
        KeyMismatchError, TableError: the columns of a file cannot be summed with those of the
            first.
    """
    schemas = [pq.read_schema(path) for path in paths]
    alike: dict[str, list[int]] = {}
    for position, schema in enumerate(schemas):
        counted = [field.name for field in schema if _descriptions.counts_rows(field)]
        alike.setdefault(json.dumps([_summable_entries(schema), counted], sort_keys=True), []).append(position)
    firsts = [same[0] for same in alike.values()]
    for first in firsts[1:]:
        try:
            both = Aggregator(public, schemas[0], groups, others=[schemas[first]])
            both.begin(schemas[first], allow_repeated=True)
        except HearithError as error:
            keys = {entries.get("key") for position in (0, first) for entries in _encrypted(schemas[position]).values()}
            kind = KeyMismatchError if len(keys) > 1 else TableError
            text = f"{paths[first]}: its encrypted columns do not match those of {paths[0]}: {error}"
            raise kind(text, kind="differs") from error
    return [(_common([schemas[one] for one in same]), [paths[one] for one in same]) for same in alike.values()]


def _common(schemas: list[pa.Schema]) -> pa.Schema:
    """Returns the schema of files that are alike. It counts values only if all files do."""
    counted = all(set(_value_columns(schema)) <= set(schema.names) for schema in schemas)
    counted = counted and all(_value_columns(schema) == _value_columns(schemas[0]) for schema in schemas)
    return schemas[0] if counted else _without_values(schemas[0])


def _value_columns(schema: pa.Schema) -> list[str]:
    """Returns the columns that count the values of the encrypted columns."""
    return [name for field in schema for name in _descriptions.values(_descriptions.entries(field))]


def _without_values(schema: pa.Schema) -> pa.Schema:
    """Returns the schema without value counts, for files of which some do not have them."""
    key = _descriptions.VALUES.encode()
    metadata = [{name: text for name, text in (field.metadata or {}).items() if name != key} for field in schema]
    return pa.schema([field.with_metadata(texts or None) for field, texts in zip(schema, metadata, strict=True)])


def _counted(schema: pa.Schema, groups: list[str]) -> pa.Schema:
    """Returns the schema of totals with value counts, in the columns of the files or in new
    ones.
    """
    taken, fields = {*schema.names, *groups, _descriptions.ROWS}, []
    for field in extended_schema(schema):
        entries = _descriptions.entries(field)
        if _descriptions.is_encrypted(field) and not _descriptions.values(entries):
            names = []
            for companion in _descriptions.companions(entries):
                base = companion.removesuffix(_descriptions.COUNTING) + _descriptions.COUNTING_VALUES
                names.append(next(name for name in _numbered(base) if name not in taken))
                taken.add(names[-1])
            described = {**(field.metadata or {}), _descriptions.VALUES.encode(): json.dumps(names).encode()}
            kind = field.type
            if isinstance(kind, EncryptedType):
                kind = EncryptedType(replace(kind.description, values=tuple(names)), kind.storage_type)
            field = pa.field(field.name, kind, field.nullable, described)
        fields.append(field)
    return pa.schema(fields)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}.{number}" for number in count(1))


def _query(schema: pa.Schema, groups: list[str], key: str) -> str:
    """Returns the query for totals with the counts that the kernel checks."""
    rows = next((field.name for field in schema if _descriptions.counts_rows(field)), None)
    counted = "count(*)" if rows is None else f"sum({_quoted(rows)})"
    columns = [*map(_quoted, groups), f"{counted} AS {_descriptions.ROWS}"]
    for field in filter(_descriptions.is_encrypted, schema):
        columns.append(f"he_sum({_quoted(field.name)}, '{key}') AS {_quoted(field.name)}")
        entries = _descriptions.entries(field)
        names = list(map(_quoted, _descriptions.companions(entries)))
        columns += [f"sum({name}) AS {name}" for name in names]
        for name, values in zip(names, _descriptions.values(entries), strict=True):
            # Where values are not counted yet, each ciphertext counts as one.
            value = _quoted(values) if values in schema.names else "1"
            columns.append(f"coalesce(sum({value}) FILTER (WHERE {name} > 0), 0) AS {_quoted(values)}")
    grouping = f" GROUP BY {', '.join(map(_quoted, groups))}" if groups else ""
    return f"SELECT {', '.join(columns)} FROM read_parquet($files){grouping}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _encrypted(schema: pa.Schema) -> dict[str, dict[str, str]]:
    """Returns the descriptions of the encrypted columns, without the prefix of their entries."""
    return {
        field.name: {name.removeprefix(_descriptions.PREFIX): text for name, text in entries.items()}
        for field in schema
        if _descriptions.SCHEME in (entries := _descriptions.entries(field))
    }


def _summable_entries(schema: pa.Schema) -> dict[str, dict[str, str]]:
    """Returns the part of the descriptions that must agree between files that are summed."""
    own = {
        name.removeprefix(_descriptions.PREFIX)
        for name in (_descriptions.TABLE, _descriptions.VALUES, _descriptions.VERSION)
    }
    return {
        column: {name: text for name, text in entries.items() if name not in own}
        for column, entries in _encrypted(schema).items()
    }
