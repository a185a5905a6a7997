"""The type: its text and bytes, what it says of itself, sums and multiples of single values."""

import random
from decimal import Decimal
from fractions import Fraction

import psycopg
import pytest


def failure(sql, query, *values):
    """The SQLSTATE and the message of a query that fails, after which the session goes on."""
    with pytest.raises(psycopg.Error) as caught:
        sql.execute(query, values)
    assert sql.execute("SELECT 1").fetchone() == (1,)
    return caught.value.sqlstate, str(caught.value).splitlines()[0]


def test_text_and_bytes_undo_each_other(sql, one, key):
    value = key.value(-1250, scale=2)
    assert one("SELECT %s::ciphertext::text", value) == value
    assert one("SELECT %s::ciphertext::bytea::ciphertext::text", value) == value
    assert one("SELECT he_key_id(%s::ciphertext)", value) == key.id
    assert one("SELECT he_scale(%s::ciphertext)", value) == 2
    assert one("SELECT he_additions(%s::ciphertext)", value) == 1
    assert one("SELECT he_headroom(%s::ciphertext)", value) == 2**32
    sql.execute("CREATE TABLE kept (c ciphertext)")
    with sql.cursor().copy("COPY kept FROM STDIN") as copy:
        copy.write_row([value])
    assert one("SELECT c::text FROM kept") == value
    sent = one("SELECT c::bytea FROM kept")
    with sql.cursor().copy("COPY kept FROM STDIN (FORMAT binary)") as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write((1).to_bytes(2, "big") + len(sent).to_bytes(4, "big") + sent + b"\xff\xff")
    assert [row[0] for row in sql.execute("SELECT c::text FROM kept")] == [value, value]


def test_values_load_before_their_key(sql, one, key):
    sql.execute("SELECT he_unload_key(%s)", [key.id])
    value = key.value(7)
    assert one("SELECT %s::ciphertext::text", value) == value
    assert failure(sql, "SELECT %s::ciphertext + %s::ciphertext", value, value)[0] == "42704"
    one("SELECT he_load_key(%s)", key.public())
    assert key.number(one("SELECT (%s::ciphertext + %s::ciphertext)::text", value, value)) == (14, 0)


def test_extreme_factors(one, key):
    for kind, factor in (("smallint", -(2**15)), ("integer", -(2**31)), ("bigint", -(2**63)), ("bigint", 2**63 - 1)):
        value = key.value(3, limit=3, headroom=2**63)
        assert key.number(one(f"SELECT (%s::ciphertext * '{factor}'::{kind})::text", value)) == (3 * factor, 0)


def test_random_arithmetic_agrees_with_fractions(sql, key):
    random.seed(5)
    for _ in range(60):
        scales = [random.randrange(4), random.randrange(4)]
        numbers = [random.randrange(-(10**6), 10**6) for _ in scales]
        values = [key.value(number, scale, limit=10**6) for number, scale in zip(numbers, scales)]
        a, b = (Fraction(number, 10**scale) for number, scale in zip(numbers, scales))
        k, d = random.randrange(-1000, 1000), Decimal(random.randrange(-(10**6), 10**6)).scaleb(-random.randrange(4))
        for text, expected in [
            ("%(a)s::ciphertext + %(b)s::ciphertext", a + b),
            ("%(a)s::ciphertext - %(b)s::ciphertext", a - b),
            ("- %(a)s::ciphertext", -a),
            ("%(a)s::ciphertext * %(k)s::bigint", a * k),
            ("%(k)s::bigint * %(a)s::ciphertext", a * k),
            ("%(a)s::ciphertext * %(d)s::numeric", a * Fraction(d)),
            ("%(d)s::numeric * %(a)s::ciphertext", a * Fraction(d)),
            ("%(a)s::ciphertext + %(k)s::bigint", a + k),
            ("%(a)s::ciphertext + %(k)s::integer", a + k),
            ("%(a)s::ciphertext + %(k)s::smallint", a + k),
            ("%(a)s::ciphertext * %(k)s::integer", a * k),
            ("%(k)s::smallint * %(a)s::ciphertext", a * k),
            ("%(a)s::ciphertext + %(d)s::numeric", a + Fraction(d)),
            ("he_rerandomise(%(a)s::ciphertext)", a),
        ]:
            given = {"a": values[0], "b": values[1], "k": k, "d": d}
            found = sql.execute(f"SELECT ({text})::text", given).fetchone()[0]
            number, scale, limit, _, additions = key.read(found)
            assert Fraction(number, 10**scale) == expected, text
            assert abs(number) <= limit * additions, text


def test_what_cannot_be_added_is_named(sql, key, other):
    one, two = key.value(1), other.value(1)
    assert failure(sql, "SELECT %s::ciphertext + %s::ciphertext", one, two)[0] == "22000"
    full = key.value(1, headroom=3, additions=3)
    state, message = failure(sql, "SELECT %s::ciphertext + %s::ciphertext", full, one)
    assert state == "22003" and "exceeds the headroom of 3 additions" in message
    assert failure(sql, "SELECT %s::ciphertext * 4", key.value(1, headroom=3))[0] == "22003"
    assert failure(sql, "SELECT %s::ciphertext * 'NaN'::numeric", one)[0] == "22023"
    assert failure(sql, "SELECT %s::ciphertext * 1e40::numeric", one)[0] in ("22003", "22023")
    assert failure(sql, "SELECT %s::ciphertext * 1e-30::numeric", one)[0] == "22003"


def test_damaged_values_are_rejected(sql, one, key):
    value = key.value(5)
    for damaged in (
        "",
        "5",
        value[:-1],
        value + "A",
        value.replace("he1", "he2"),
        value.replace(":1024:", ":1026:"),
        "é",
    ):
        assert failure(sql, "SELECT %s::ciphertext", damaged)[0] == "22P02"
    sent = one("SELECT %s::ciphertext::bytea", value)
    for damaged in (b"", sent[:-1], sent + b"\0", b"\2" + sent[1:], sent[:52], sent[:36] + bytes(16) + sent[52:]):
        assert failure(sql, "SELECT %s::bytea::ciphertext", damaged)[0] == "22P03"
    for wrong in (0, key.n, key.square, key.square + 1):
        text = key.text(wrong)
        state, message = failure(sql, "SELECT sum(c) FROM (VALUES (%s::ciphertext), (%s)) t (c)", text, value)
        assert state == "XX001" and key.id in message


def test_keys_are_checked(sql, one, key, other):
    assert failure(sql, "SELECT he_load_key('{}')")[0] == "22023"
    state, message = failure(sql, "SELECT he_load_key(%s)", key.private())
    assert state == "22023" and "private key" in message
    # A key in the table under the id of another is none.
    sql.execute("UPDATE hearith.keys SET key = %s WHERE id = %s", [other.public(), key.id])
    assert failure(sql, "SELECT - %s::ciphertext", key.value(1))[0] == "42704"
    sql.execute("UPDATE hearith.keys SET key = 'damaged' WHERE id = %s", [key.id])
    assert failure(sql, "SELECT - %s::ciphertext", key.value(1))[0] == "22023"
    one("SELECT he_load_key(%s)", key.public())
    assert key.number(one("SELECT (- %s::ciphertext)::text", key.value(1))) == (-1, 0)
    sql.execute("SET hearith.allow_insecure_keys = off")
    state, message = failure(sql, "SELECT - %s::ciphertext", key.value(1))
    assert state == "22023" and "insecure" in message


def test_a_key_that_another_session_removes_is_gone_here(server, sql, one, key):
    value = key.value(1)
    one("SELECT - %s::ciphertext", value)
    with server.connect() as second:
        second.execute("SELECT he_unload_key(%s)", [key.id])
        assert failure(sql, "SELECT - %s::ciphertext", value)[0] == "42704"
        second.execute("SELECT he_load_key(%s)", [key.public()])
    one("SELECT - %s::ciphertext", value)
