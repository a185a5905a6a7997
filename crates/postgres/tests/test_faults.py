"""What goes wrong: altered values, keys that vanish, queries that are cancelled, memory that runs
out, and backends that are killed.
"""

import contextlib
import os
import random
import signal
import threading
import time
from pathlib import Path

import psycopg
import pytest
from servers import as_user
from test_values import failure

#: Text or bytes that are no value; a value that cannot be computed with; another key, or none.
AT_INPUT = {"text": {"22P02"}, "bytea": {"22P03"}}
IN_USE = {"XX001", "22000", "22003", "42704"}


def backend(connection):
    """The process of a session."""
    return connection.execute("SELECT pg_backend_pid()").fetchone()[0]


@pytest.fixture
def outcomes(sql, key):
    """SQLSTATEs of reading texts or bytes, and of computing with what can be read."""
    sql.execute(f"CREATE TABLE sound AS SELECT '{key.value(1)}'::ciphertext AS c")
    for form in ("text", "bytea"):
        sql.execute(f"""
            CREATE FUNCTION outcome(given {form}) RETURNS text[] LANGUAGE plpgsql AS $$
            DECLARE
                number ciphertext;
                found text[] = '{{}}';
                query text;
            BEGIN
                BEGIN
                    number = given::ciphertext;
                    -- What is read is what is written.
                    IF number::{form} <> given THEN RETURN array['changed']; END IF;
                EXCEPTION WHEN OTHERS THEN RETURN array['input ' || sqlstate];
                END;
                FOREACH query IN ARRAY array[
                    'SELECT count(he_scale($1)), count(he_additions($1)), count(he_headroom($1)), count(he_key_id($1))',
                    'SELECT $1 + c FROM sound', 'SELECT c - $1 FROM sound', 'SELECT - $1', 'SELECT $1 * 3', 'SELECT $1 + 0.5',
                    'SELECT he_rerandomise($1)',
                    'SELECT sum(d) FROM (SELECT c FROM sound UNION ALL SELECT $1) t (d)'
                ] LOOP
                    BEGIN
                        EXECUTE query USING number;
                        found = found || '00000'::text;
                    EXCEPTION WHEN OTHERS THEN found = found || sqlstate::text;
                    END;
                END LOOP;
                RETURN found;
            END $$
        """)

    def run(form, altered):
        process = backend(sql)
        query = f"SELECT outcome(given) FROM unnest(%s::{form}[]) given"
        found = [row[0] for row in sql.execute(query, [altered]).fetchall()]
        assert len(found) == len(altered) and backend(sql) == process
        for given, states in zip(altered, found):
            if states[0].startswith("input "):
                assert states[0][6:] in AT_INPUT[form], (given, states)
            else:
                assert states[0] == "00000" and set(states) <= IN_USE | {"00000"}, (given, states)
        return found

    return run


def test_each_altered_or_missing_byte_has_a_clear_state(outcomes, one, key):
    random.seed(3)
    text = key.value(5, scale=2)
    head = text.rindex(":") + 1
    letters = "".join(map(chr, range(32, 127))) + "é"
    altered = [text[:end] for end in range(len(text))] + [text + letter for letter in ":A= \n"]
    for place in range(len(text)):
        # What describes the number, by several letters; of the many others, one each.
        for letter in random.sample(letters, 12 if place < head else 1):
            altered.append(text[:place] + letter + text[place + 1 :])
    found = outcomes("text", altered)
    assert all(states[0] == "input 22P02" for states in found[: len(text) + 5])

    sent = one("SELECT %s::ciphertext::bytea", text)
    altered = [sent[:end] for end in range(len(sent))] + [sent + b"\0"]
    for place in range(len(sent)):
        for byte in {sent[place] ^ 1, sent[place] ^ 0x80, 0, 0xFF} if place < 52 else {random.randrange(256)}:
            altered.append(sent[:place] + bytes([byte]) + sent[place + 1 :])
    found = outcomes("bytea", altered)
    assert all(states[0] == "input 22P03" for states in found[: len(sent) + 1])
    # Values of a key that is not there were among them.
    assert any("42704" in states for states in found)


def state(action):
    """The SQLSTATE with which an action fails; None if it does not."""
    try:
        action()
    except psycopg.Error as error:
        return error.sqlstate
    return None


def copied(sql, given):
    """What becomes of a row of bytes that COPY reads."""

    def copy():
        with sql.cursor() as into, into.copy("COPY loaded FROM STDIN (FORMAT binary)") as rows:
            rows.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + (1).to_bytes(2, "big"))
            rows.write(len(given).to_bytes(4, "big") + given + b"\xff\xff")

    return state(copy)


def test_binary_copies_of_altered_values_are_rejected(sql, one, key):
    sent = one("SELECT %s::ciphertext::bytea", key.value(5))
    sql.execute("CREATE TABLE loaded (c ciphertext)")
    altered = [sent[:end] for end in range(0, len(sent), 7)]
    for given in [*altered, bytes([2]) + sent[1:], sent + b"\0", bytes(len(sent))]:
        assert copied(sql, given) == "22P03"
    assert copied(sql, sent) is None
    assert one("SELECT count(*) FROM loaded") == 1


def test_values_under_the_name_of_another_key(sql, key, other):
    # Of another length, and with a description of another length.
    relabelled = other.value(1).replace(other.id, key.id)
    assert failure(sql, "SELECT - %s::ciphertext", relabelled)[0] in IN_USE
    for query in ("SELECT %s::ciphertext + %s::ciphertext", "SELECT sum(c) FROM (VALUES (%s::ciphertext), (%s)) t (c)"):
        assert failure(sql, query, key.value(1), relabelled)[0] == "22000"
    padded = key.text(other.encrypt(1)).replace(key.id, other.id)
    assert failure(sql, "SELECT - %s::ciphertext", padded)[0] in IN_USE


def test_a_key_that_is_removed_in_use(server, sql, one, key):
    sql.execute("CREATE TABLE many AS SELECT i, %s::ciphertext AS c FROM generate_series(1, 500) i", [key.value(1)])
    total = "SELECT sum(c)::text FROM many"
    # The client forgets no plan of ours.
    sql.prepare_threshold = None
    sql.execute(f"PREPARE total AS {total}")
    sql.execute(f"CREATE FUNCTION total() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN ({total}); END $$")
    queries = (total, "EXECUTE total", "SELECT total()")
    for query in queries * 6:
        assert key.number(one(query)) == (500, 0)
    with server.connect() as second:
        # A query that runs keeps the keys of its snapshot, or says that one is missing.
        sql.execute("BEGIN")
        sql.execute("DECLARE sums CURSOR FOR SELECT (sum(c) OVER (ORDER BY i ROWS 3 PRECEDING))::text FROM many")
        sql.execute("FETCH 10 FROM sums")
        second.execute("SELECT he_unload_key(%s)", [key.id])
        rest = []
        found = state(lambda: rest.extend(sql.execute("FETCH ALL FROM sums").fetchall()))
        assert found == "42704" or (len(rest) == 490 and key.number(rest[-1][0]) == (4, 0))
        sql.execute("ROLLBACK")
        for query in queries:
            assert failure(sql, query)[0] == "42704"
        # A session that takes its removal back still has it.
        second.execute("SELECT he_load_key(%s)", [key.public()])
        with second.transaction(force_rollback=True):
            second.execute("SELECT he_unload_key(%s)", [key.id])
            assert failure_within(second, f"{total.replace('many', 'test.many')}") == "42704"
        assert key.number(second.execute(total.replace("many", "test.many")).fetchone()[0]) == (500, 0)
        for query in queries:
            assert key.number(one(query)) == (500, 0)


def failure_within(connection, query):
    """The SQLSTATE of a query that fails, inside of a transaction that goes on."""
    with pytest.raises(psycopg.Error) as caught, connection.transaction():
        connection.execute(query)
    return caught.value.sqlstate


def processor_time(process):
    """Seconds that a process has computed."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(he_rerandomise(c)) FROM many",
        "SELECT sum(a.c) FROM many a, many b",
        "SELECT sum(c * 0.123456789) FROM many",
        "SELECT count(s) FROM (SELECT sum(c) OVER (ORDER BY i ROWS 999 PRECEDING) AS s FROM many) t",
        # All of it for a single row.
        "SELECT array[" + ", ".join(["he_rerandomise(c)"] * 1000) + "] FROM many WHERE i = 1",
    ],
    ids=["rerandomise", "sum", "multiply", "window", "expression"],
)
def test_cancelled_queries_end_soon(sql, key, query):
    sql.execute("CREATE TABLE many AS SELECT i, %s::ciphertext AS c FROM generate_series(1, 30000) i", [key.value(1)])
    # Workers would compute for the backend, whose time is measured.
    # LLVM, which compiles long expressions first, looks at no requests.
    sql.execute("SET max_parallel_workers_per_gather = 0; SET jit = off")
    process, times = backend(sql), []
    start = processor_time(process)

    def cancel():
        # Not before it is at work.
        while processor_time(process) < start + 0.2:
            time.sleep(0.01)
        times.append(processor_time(process))
        # What a request to cancel becomes, without the time that it takes to get there.
        os.kill(process, signal.SIGINT)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        assert failure(sql, query)[0] == "57014"
    finally:
        canceller.join(60)
    assert processor_time(process) - times[0] < 0.1


def test_too_little_memory_is_an_error_and_the_server_goes_on(server, sql, one, key):
    sql.execute("CREATE TABLE few AS SELECT i, %s::ciphertext AS c FROM generate_series(1, 200) i", [key.value(1)])
    sql.execute("ANALYZE few")
    started = one("SELECT pg_postmaster_start_time()")
    queries = [
        ("SELECT sum(c)::text FROM test.few", 200),
        ("SELECT (sum(c) OVER (ORDER BY i ROWS 99 PRECEDING))::text FROM test.few ORDER BY i DESC LIMIT 1", 100),
        ("SELECT (c * 3 - c + 1 - c)::text FROM test.few LIMIT 1", 2),
        ("SELECT he_rerandomise(c)::text FROM test.few LIMIT 1", 1),
    ]
    failures = 0
    for more in (0, 2**14, 2**16, 2**17, 2**18, 2**19, 2**20, 2**21, 2**22, 2**24):
        for query, expected in queries:
            with server.connect() as poor:
                # The code's pages and the stack are there; what is allocated is new.
                poor.execute("SELECT %s::ciphertext", [key.value(1)])
                process = backend(poor)
                sizes = Path(f"/proc/{process}/status").read_text().split("VmSize:")[1].split()[0]
                limit = int(sizes) * 1024 + more
                as_user("prlimit", "--pid", process, f"--as={limit}")
                rows = []
                found = state(lambda query=query, poor=poor, rows=rows: rows.extend(poor.execute(query).fetchall()))
                assert found in (None, "53200"), (more, query)
                assert found or key.number(rows[0][0])[0] == expected
                failures += found is not None
                assert poor.execute("SELECT 1").fetchone() == (1,)
    assert failures >= 4
    # Nobody else has noticed.
    assert one("SELECT pg_postmaster_start_time()") == started
    assert key.number(one("SELECT sum(c)::text FROM few")) == (200, 0)


def test_a_killed_backend_loses_nothing(server, sql, key):
    sql.execute("CREATE TABLE kept (c ciphertext)")
    sql.execute("INSERT INTO kept SELECT %s::ciphertext FROM generate_series(1, 20000)", [key.value(2)])
    with contextlib.closing(server.connect()) as open_still, contextlib.closing(server.connect()) as victim:
        open_still.execute("BEGIN")
        open_still.execute("INSERT INTO test.kept VALUES (%s)", [key.value(1000)])
        process = backend(victim)
        start = processor_time(process)

        def kill():
            while processor_time(process) < start + 0.2:
                time.sleep(0.01)
            os.kill(process, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(psycopg.Error):
            victim.execute("SELECT sum(c), count(*) FROM test.kept, generate_series(1, 500) GROUP BY ctid")
        killer.join(60)
    deadline = time.monotonic() + 120
    while True:
        try:
            with server.connect() as after:
                total = after.execute("SELECT sum(c)::text FROM test.kept").fetchone()[0]
                break
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.2)
    assert key.number(total) == (40000, 0)
