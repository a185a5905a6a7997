"""Values and keys that move: COPY, pg_dump and restore, replication, and pg_upgrade."""

import itertools
import shutil
import time
from pathlib import Path

import pytest
from installation import Installation
from servers import INSTALLATIONS, Server, as_user, place
from test_values import failure


@pytest.fixture
def kept(sql, key):
    """A table of numbers with different descriptions and a gap, and what its texts are."""
    values = [
        key.value(-1250, scale=2),
        key.value(7, limit=2**100, headroom=5, additions=3),
        key.value(0, scale=38, limit=1),
        None,
    ]
    sql.execute("CREATE TABLE kept (id int PRIMARY KEY, c ciphertext)")
    for index, value in enumerate(values):
        sql.execute("INSERT INTO kept VALUES (%s, %s)", [index, value])
    return values


def values(connection, table="test.kept"):
    return [row[0] for row in connection.execute(f"SELECT c::text FROM {table} ORDER BY id")]


@pytest.mark.parametrize("form", ["text", "csv", "binary"])
def test_copy_takes_what_it_gives(sql, kept, form):
    sql.execute("CREATE TABLE copied (LIKE kept)")
    with sql.cursor() as out, out.copy(f"COPY kept TO STDOUT (FORMAT {form})") as rows:
        data = b"".join(rows)
    with sql.cursor() as into, into.copy(f"COPY copied FROM STDIN (FORMAT {form})") as copy:
        copy.write(data)
    assert values(sql, "copied") == kept
    # The documented bytes: a description of 52 and the ciphertext.
    sizes = {row[0] for row in sql.execute("SELECT length(c::bytea) FROM copied WHERE c IS NOT NULL")}
    assert sizes == {52 + 1024 // 4}


def test_columns_can_demand_a_description(sql, one, key, other):
    sql.execute(f"CREATE TABLE strict (c ciphertext CHECK (he_scale(c) = 2 AND he_key_id(c) = '{key.id}'))")
    sql.execute("INSERT INTO strict VALUES (%s)", [key.value(5, scale=2)])
    for wrong in (key.value(5), other.value(5, scale=2)):
        assert failure(sql, "INSERT INTO strict VALUES (%s)", wrong)[0] == "23514"


@pytest.fixture
def database(server):
    """A database in which a dump is restored; its name."""
    with server.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS restored")
        connection.execute("CREATE DATABASE restored")
        connection.execute("ALTER DATABASE restored SET hearith.allow_insecure_keys = on")
    yield "restored"
    with server.connect() as connection:
        connection.execute("DROP DATABASE restored WITH (FORCE)")


def rich(sql):
    """A view and a materialised view over the table."""
    sql.execute("CREATE VIEW doubled AS SELECT id, c * 2 AS c FROM kept WHERE id = 0")
    sql.execute("CREATE MATERIALIZED VIEW total AS SELECT 0 AS id, sum(c) AS c FROM kept WHERE id < 1")


def check_restored(server, key, kept, database):
    with server.connect(database=database) as connection:
        assert values(connection) == kept
        assert key.number(values(connection, "test.total")[0]) == (-1250, 2)
        assert key.number(values(connection, "test.doubled")[0]) == (-2500, 2)
        assert connection.execute("SELECT count(*) FROM hearith.keys").fetchone()[0] == 2


def test_a_plain_dump_restores(server, sql, key, kept, database):
    rich(sql)
    dump = server.run("pg_dump", "--format=plain")
    assert dump.index("CREATE EXTENSION") < dump.index("COPY hearith.keys") and "CREATE TYPE" not in dump
    as_user(
        server.installation.bin / "psql",
        f"--dbname={server.address(database=database)}",
        *["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"],
        input=dump,
    )
    check_restored(server, key, kept, database)


def test_a_custom_dump_restores_in_any_order(server, sql, key, kept, database):
    rich(sql)
    file = server.folder / "dump"
    server.run("pg_dump", "--format=custom", f"--file={file}")
    listing = as_user(server.installation.bin / "pg_restore", "--list", file).stdout.splitlines()
    keys, rest = (
        [line for line in listing if (" TABLE DATA hearith keys " in line) == wanted] for wanted in (True, False)
    )
    assert len(keys) == 1
    # What is computed from the data needs the key: all of it comes last.
    late = [line for line in rest if "MATERIALIZED VIEW DATA" in line]
    for part, lines in (("data", [line for line in rest if line not in late]), ("keys", keys), ("late", late)):
        chosen = server.folder / f"list-of-{part}"
        chosen.write_text("\n".join(lines))
        server.run("pg_restore", "--exit-on-error", f"--use-list={chosen}", file, database=database)
        if part == "data":
            with server.connect(database=database) as connection:
                assert values(connection) == kept
                assert failure(connection, "SELECT sum(c) FROM test.kept WHERE id < 1")[0] == "42704"
    check_restored(server, key, kept, database)


def eventually(what, seconds=60):
    """Waits until something is so."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("binary", ["false", "true"])
def test_rows_and_keys_are_replicated(server, sql, key, other, kept, binary):
    replica = Server(server.installation, f"replica-{binary}", port="5433").start()
    sql.execute("CREATE PUBLICATION numbers FOR TABLE test.kept, hearith.keys")
    try:
        replica.prepare()
        with replica.connect() as reader:
            reader.execute("CREATE SCHEMA test; CREATE TABLE test.kept (id int PRIMARY KEY, c ciphertext)")
            reader.execute(
                f"CREATE SUBSCRIPTION numbers CONNECTION '{server.address()}' PUBLICATION numbers WITH (binary = {binary})"
            )
            eventually(lambda: values(reader) == kept)
            total = "SELECT sum(c)::text FROM test.kept WHERE id IN (0, 10)"
            known = lambda: reader.execute("SELECT count(*) FROM hearith.keys").fetchone()[0]  # noqa: E731
            eventually(lambda: known() == 2)
            assert key.number(reader.execute(total).fetchone()[0]) == (-1250, 2)
            # Streamed rows, after those that were copied at first.
            sql.execute("INSERT INTO kept VALUES (10, %s)", [key.value(1250, scale=2)])
            sql.execute("UPDATE kept SET c = c * 2 WHERE id = 10")
            eventually(lambda: reader.execute("SELECT he_additions(c) FROM test.kept WHERE id = 10").fetchone() == (2,))
            assert key.number(reader.execute(total).fetchone()[0]) == (1250, 2)
            # The session has used the key, and must notice each change of it.
            for removal in (f"DELETE FROM hearith.keys WHERE id = '{key.id}'", "TRUNCATE hearith.keys"):
                sql.execute(removal)
                eventually(lambda: known() < 2)
                assert failure(reader, total)[0] == "42704"
                sql.execute("SELECT he_load_key(%s)", [key.public()])
                sql.execute("SELECT he_load_key(%s)", [other.public()])
                eventually(lambda: known() == 2)
                assert key.number(reader.execute(total).fetchone()[0]) == (1250, 2)
            sql.execute("UPDATE hearith.keys SET key = 'damaged' WHERE id = %s", [key.id])
            eventually(lambda: reader.execute("SELECT 1 FROM hearith.keys WHERE key = 'damaged'").fetchone())
            assert failure(reader, total)[0] == "22023"
            reader.execute("DROP SUBSCRIPTION numbers")
    finally:
        sql.execute("DROP PUBLICATION numbers")
        replica.stop("immediate")


def versions(pair):
    return "-".join(Path(built).parent.name for _, built in pair)


def forget_versions(connection):
    """PostgreSQL 15.20 gives every column an option that 16.14 and 18.4 do not know: there no table
    survives an upgrade, of whatever type. Without that option the rest is tested.
    """
    options = "attoptions::text LIKE '%pg_attver=%'"
    connection.execute(f"UPDATE pg_catalog.pg_attribute SET attoptions = NULL WHERE {options}")


@pytest.mark.parametrize("pair", list(itertools.combinations(INSTALLATIONS, 2)), ids=versions)
def test_an_upgrade_keeps_values_and_keys(key, pair):
    folder = place()
    try:
        installations = []
        for (source, built), part in zip(pair, ("old", "new")):
            (folder / part).mkdir()
            shutil.copystat(folder, folder / part)
            if folder.owner() != (folder / part).owner():
                shutil.chown(folder / part, folder.owner())
            installations.append(Installation(source, built, folder / part))
        old, new = (Server(installation) for installation in installations)
        old.start()
        old.prepare()
        value = key.value(-1250, scale=2)
        with old.connect() as connection:
            connection.execute("SELECT he_load_key(%s)", [key.public()])
            connection.execute("CREATE TABLE kept (id int PRIMARY KEY, c ciphertext)")
            connection.execute("INSERT INTO kept VALUES (0, %s), (1, %s)", [value, key.value(50, scale=2)])
            connection.execute("CREATE MATERIALIZED VIEW total AS SELECT 0 AS id, sum(c) AS c FROM kept")
            forget_versions(connection)
        old.stop()
        programs = ["--old-bindir", installations[0].bin, "--new-bindir", installations[1].bin]
        folders = ["--old-datadir", old.data, "--new-datadir", new.data, "--socketdir", folder]
        as_user(installations[1].bin / "pg_upgrade", *programs, *folders, "--username=owner", cwd=folder)
        new.start()
        try:
            with new.connect() as connection:
                assert values(connection, "kept")[0] == value
                assert key.number(values(connection, "total")[0]) == (-1200, 2)
                connection.execute("REFRESH MATERIALIZED VIEW total")
                assert key.number(values(connection, "total")[0]) == (-1200, 2)
                assert key.number(connection.execute("SELECT sum(c)::text FROM kept").fetchone()[0]) == (-1200, 2)
        finally:
            new.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
