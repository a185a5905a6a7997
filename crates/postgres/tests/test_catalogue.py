"""What the extension declares: names, volatility, rights."""

import contextlib
import json
import re
from pathlib import Path

import psycopg
import pytest
from test_values import failure

PAGE = Path(__file__).parents[3] / "docs/reference"


def functions(sql):
    """The extension's functions: name, volatility, parallel safety, kind, language."""
    return sql.execute("""
        SELECT p.oid::regprocedure::text, p.proname, p.provolatile::text, p.proparallel::text, p.prokind::text, l.lanname
        FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
        JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'hearith'
    """).fetchall()


def test_what_needs_a_key_is_stable(sql):
    described = {"ciphertext_in", "ciphertext_out", "ciphertext_recv", "ciphertext_send", "ciphertext", "bytea"}
    described |= {"is_not_private", "he_key_id", "he_scale", "he_additions", "he_headroom"}
    changing = {"he_rerandomise", "he_rerandomize", "he_load_key", "he_unload_key", "keys_changed", "read_key"}
    for signature, name, volatility, parallel, kind, _ in functions(sql):
        if kind == "a":
            assert parallel == "s", signature
            continue
        assert volatility == ("i" if name in described else "v" if name in changing else "s"), signature
        assert parallel == ("u" if name in ("he_load_key", "he_unload_key", "keys_changed") else "s"), signature


def test_names_are_those_of_duckdb(sql):
    found = {name for _, name, *_ in functions(sql) if name.startswith("he_")}
    duckdb = set(re.findall(r"\bhe_[a-z_]+(?=\()", (PAGE / "sql.md").read_text())) | {
        "he_mean",
        "he_mul",
        "he_rerandomize",
    }
    # No function decrypts; the lattice scheme and the list of functions have no place here.
    duckdb -= {"he_decrypt", "he_functions", "he_bfv_sum", "he_bfv_decrypt"}
    assert duckdb <= found
    assert not any("decrypt" in name for name in found)
    page = (PAGE / "postgresql.md").read_text()
    assert all(f"`{name}" in page for name in found)


def test_other_names_do_the_same(sql, one, key):
    values = [key.value(3), key.value(4)]
    table = "(SELECT unnest(%s::text[])::ciphertext) t (c)"
    assert one(f"SELECT (he_mean(c)).count FROM {table}", values) == 2
    assert one(f"SELECT he_mean(c, 3) FROM {table}", values) is None
    assert key.number(one("SELECT he_mul(%s::ciphertext, 5)::text", values[0])) == (15, 0)
    assert key.number(one("SELECT he_mul(2.5, %s::ciphertext)::text", values[0])) == (75, 1)
    assert key.number(one("SELECT he_rerandomize(%s::ciphertext)::text", values[0])) == (3, 0)


def test_rights(server, sql, key, other):
    for role in ("analyst", "keeper"):
        sql.execute(f"DROP ROLE IF EXISTS {role}")
        sql.execute(f"CREATE ROLE {role} LOGIN")
        sql.execute(f"GRANT USAGE ON SCHEMA test TO {role}")
    sql.execute("CREATE TABLE staff (dept text, c ciphertext); GRANT SELECT ON staff TO analyst")
    sql.execute("INSERT INTO staff VALUES ('a', %s), ('a', %s), ('b', %s)", [key.value(3), key.value(4), key.value(5)])
    sql.execute("CREATE VIEW totals AS SELECT dept, he_rerandomise(he_sum(c, 2)) AS c FROM staff GROUP BY dept")
    sql.execute("GRANT SELECT ON totals TO keeper")
    with server.connect("analyst") as analyst:
        total = analyst.execute("SELECT sum(c)::text FROM test.staff").fetchone()[0]
        assert key.number(total) == (12, 0)
        for query in (
            "SELECT he_load_key('" + key.public().replace("'", "''") + "')",
            f"SELECT he_unload_key('{key.id}')",
            "INSERT INTO hearith.keys (id, key) VALUES (repeat('0', 32), '')",
            "UPDATE hearith.keys SET key = ''",
            "DELETE FROM hearith.keys",
            "TRUNCATE hearith.keys",
            "SET hearith.allow_insecure_keys = on",
            "CREATE TABLE hearith.other ()",
        ):
            assert failure(analyst, query)[0] == "42501", query
        assert analyst.execute("SELECT count(*) FROM hearith.keys").fetchone()[0] == 2
    # The documented deployment: fixed queries, and no right on the table.
    with server.connect("keeper") as keeper:
        rows = dict(keeper.execute("SELECT dept, c::text FROM test.totals").fetchall())
        assert key.number(rows["a"]) == (7, 0) and rows["b"] is None
        assert failure(keeper, "SELECT c FROM test.staff")[0] == "42501"
    sql.execute("GRANT INSERT, UPDATE, DELETE ON hearith.keys TO keeper")
    with server.connect("keeper") as keeper:
        assert keeper.execute("SELECT he_unload_key(%s)", [other.id]).fetchone()[0] == other.id
        assert keeper.execute("SELECT he_load_key(%s)", [other.public()]).fetchone()[0] == other.id
    sql.execute("DROP OWNED BY keeper; DROP ROLE keeper; DROP OWNED BY analyst; DROP ROLE analyst")


def test_a_setting_from_before_the_library_is_not_kept(server, sql, key):
    sql.execute("DROP ROLE IF EXISTS analyst")
    sql.execute("CREATE ROLE analyst LOGIN; GRANT USAGE ON SCHEMA test TO analyst")
    sql.execute("ALTER ROLE analyst SET hearith.allow_insecure_keys = off")
    with server.connect("analyst") as analyst:
        assert failure(analyst, "SELECT - %s::ciphertext", key.value(1))[0] == "22023"
    with server.connect("analyst") as analyst:
        # A name that nobody has registered yet may be set, but not by whom it is for later.
        with contextlib.suppress(psycopg.Error):
            analyst.execute("SET hearith.allow_insecure_keys = on")
        assert failure(analyst, "SELECT - %s::ciphertext", key.value(1))[0] == "22023"
    sql.execute("DROP OWNED BY analyst; DROP ROLE analyst")


def test_no_private_key_stays(server, sql, one, key, tmp_path):
    state, message = failure(sql, "SELECT he_load_key(%s)", key.private())
    assert state == "22023" and "private key" in message
    assert json.loads(key.private())["p"] not in message
    # Nor does it get past the function, whoever may write to the table.
    for query in ("UPDATE hearith.keys SET key = %s", "INSERT INTO hearith.keys VALUES (repeat('0', 32), %s)"):
        with pytest.raises(psycopg.Error) as caught:
            sql.execute(query, [key.private()])
        assert caught.value.sqlstate == "22023" and json.loads(key.private())["p"] not in str(caught.value)
