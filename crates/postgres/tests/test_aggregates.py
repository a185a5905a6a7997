"""Sums and means: groups, parallel workers, windows, least numbers of rows, and what goes wrong in
between.
"""

import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from test_values import failure


def fraction(key, text):
    number, scale = key.number(text)
    return Fraction(number, 10**scale)


def explained(sql, query):
    """How a query was run."""
    return "\n".join(row[0] for row in sql.execute(f"EXPLAIN (ANALYZE, COSTS OFF) {query}"))


@pytest.fixture
def staff(sql, key):
    """A table of numbers in the clear and encrypted, with gaps and two scales."""
    random.seed(11)
    sql.execute("CREATE TABLE staff (id int PRIMARY KEY, dept text, plain numeric, c ciphertext)")
    rows = []
    for index in range(300):
        scale = random.choice((0, 2))
        number = random.randrange(-(10**5), 10**5)
        missing = random.random() < 0.1
        plain = None if missing else Fraction(number, 10**scale)
        encrypted = None if missing else key.value(number, scale, limit=10**5)
        rows.append((index, random.choice("abc"), None if plain is None else f"{float(plain):.2f}", encrypted))
    with sql.cursor().copy("COPY staff FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    return rows


def test_groups_agree_with_plain_sums(sql, key, staff):
    query = "SELECT dept, sum(plain), count(c), sum(c)::text, (avg(c)).sum::text, (avg(c)).count FROM staff"
    for clause in (
        "GROUP BY dept",
        "WHERE id < 5 GROUP BY dept",
        "WHERE c IS NULL GROUP BY dept",
        "GROUP BY GROUPING SETS ((dept), ())",
        "GROUP BY dept HAVING count(c) > 80",
        "GROUP BY dept HAVING count(*) > 100",
        "GROUP BY CUBE (dept)",
        "WHERE false GROUP BY ()",
    ):
        text = query.replace("dept,", "NULL,", 1) if clause.endswith("()") and "SETS" not in clause else query
        for _, plain, count, total, mean, counted in sql.execute(f"{text} {clause}").fetchall():
            if count == 0:
                assert (plain, total, mean, counted) == (None, None, None, None)
                continue
            assert fraction(key, total) == fraction(key, mean) == Fraction(plain)
            assert counted == count
            assert key.read(total)[4] == count
    plain, total = sql.execute(
        "SELECT sum(plain) FILTER (WHERE id % 3 = 0), (sum(c) FILTER (WHERE id % 3 = 0))::text FROM staff"
    ).fetchone()
    assert fraction(key, total) == Fraction(plain)


def test_parallel_workers_give_the_same(sql, key, staff):
    plain = sql.execute("SELECT dept, sum(plain) FROM staff GROUP BY dept ORDER BY dept").fetchall()
    sql.execute(
        "ANALYZE staff; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
    )
    query = "SELECT dept, sum(c)::text, he_sum(c, 2)::text, (avg(c)).count FROM staff GROUP BY dept ORDER BY dept"
    plan = explained(sql, query)
    assert "Gather" in plan and "Partial" in plan and re.search(r"Workers Launched: [1-9]", plan), plan
    for (dept, expected), (found, total, least, _) in zip(plain, sql.execute(query).fetchall(), strict=True):
        assert (found, fraction(key, total), fraction(key, least)) == (dept, expected, expected)


def test_windows_agree_with_plain_sums(sql, key, staff):
    for frame in (
        "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING",
        "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        "ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING",
        "ROWS BETWEEN 60 PRECEDING AND 30 PRECEDING",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    ):
        over = f"OVER (PARTITION BY dept ORDER BY id {frame})"
        rows = sql.execute(
            f"SELECT sum(plain) {over}, sum(c)::text {over}, count(c) {over} FROM staff".replace(
                "sum(c)::text " + over, f"(sum(c) {over})::text"
            )
        )
        for plain, total, count in rows.fetchall():
            assert (plain is None) == (total is None) == (count == 0)
            if count:
                assert fraction(key, total) == Fraction(plain), frame
                assert key.read(total)[4] == count


def test_few_rows_are_withheld(sql, one, key):
    values = [key.value(number) for number in range(4)]
    table = "(SELECT unnest(%s::text[])::ciphertext) t (c)"
    for least, withheld in ((1, False), (4, False), (5, True)):
        assert (one(f"SELECT he_sum(c, {least})::text FROM {table}", values) is None) == withheld
        assert (one(f"SELECT he_avg(c, {least})::text FROM {table}", values) is None) == withheld
    # A value that claims to be a thousand additions is one row.
    claimed = [key.value(number, additions=1000) for number in range(4)]
    assert one(f"SELECT he_sum(c, 5)::text FROM {table}", claimed) is None
    for least in ("0", "-1", "NULL", "(random() * 1000)::int + 1"):
        assert failure(sql, f"SELECT he_sum(c, {least}) FROM {table}", values)[0] == "22000"


def test_headroom_is_not_exceeded_unnoticed(sql, one, key):
    values = [key.value(1, headroom=100) for _ in range(101)]
    query = "SELECT sum(c)::text FROM (SELECT unnest(%s::text[])::ciphertext) t (c)"
    assert key.read(one(query, values[:100]))[0] == 100
    state, message = failure(sql, query, values)
    assert state == "22003" and "headroom of 100" in message


def test_mixed_keys_are_an_error(sql, key, other):
    query = "SELECT sum(c) FROM (VALUES (%s::ciphertext), (%s::ciphertext)) t (c)"
    assert failure(sql, query, key.value(1), other.value(1))[0] == "22000"
    query = "SELECT sum(c) OVER (ORDER BY i ROWS 1 PRECEDING) FROM (VALUES (1, %s::ciphertext), (2, %s)) t (i, c)"
    assert failure(sql, query, key.value(1), other.value(1))[0] == "22000"


def test_partitions_and_materialised_views(sql, one, key):
    sql.execute("CREATE TABLE parts (year int, c ciphertext) PARTITION BY RANGE (year)")
    for year in (2024, 2025):
        sql.execute(f"CREATE TABLE parts_{year} PARTITION OF parts FOR VALUES FROM ({year}) TO ({year + 1})")
        sql.execute("INSERT INTO parts SELECT %s, unnest(%s::text[])::ciphertext", [year, [key.value(5), key.value(6)]])
    sql.execute("SET enable_partitionwise_aggregate = on")
    # The planner adds up each partition first where that is cheap.
    sql.execute("SET cpu_tuple_cost = 1; SET max_parallel_workers_per_gather = 0")
    assert explained(sql, "SELECT sum(c) FROM parts").count("Partial Aggregate") == 2
    assert key.number(one("SELECT sum(c)::text FROM parts")) == (22, 0)
    assert key.number(one("SELECT he_sum(c, 4)::text FROM parts")) == (22, 0)
    assert one("SELECT he_sum(c, 5)::text FROM parts") is None
    # Partial sums that ask for different numbers of rows.
    assert failure(sql, "SELECT he_sum(c, year - 2023) FROM parts")[0] == "22000"
    sql.execute("CREATE MATERIALIZED VIEW totals AS SELECT year, sum(c) AS c FROM parts GROUP BY year")
    assert key.number(one("SELECT sum(c)::text FROM totals")) == (22, 0)
    sql.execute("REFRESH MATERIALIZED VIEW totals")
    assert [key.number(row[0]) for row in sql.execute("SELECT c::text FROM totals")] == [(11, 0)] * 2


def test_states_cannot_be_made_by_hand(sql, key):
    # Nothing in SQL has the type of a state.
    for query in ("SELECT hearith.sum_step(NULL, %s::ciphertext)", "SELECT hearith.sum_final(%s::ciphertext)"):
        assert failure(sql, query, key.value(1))[0] in ("42883", "42725", "0A000")


def test_groups_that_exceed_the_memory_are_right(sql, key, staff):
    sql.execute("SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET enable_sort = off; SET enable_indexscan = off")
    sql.execute("SET max_parallel_workers_per_gather = 0; ANALYZE staff")
    query = "SELECT id, sum(plain), sum(c)::text FROM staff WHERE c IS NOT NULL GROUP BY id"
    assert re.search("Batches: ([2-9]|[1-9][0-9])", explained(sql, query))
    for _, plain, total in sql.execute(query).fetchall():
        assert fraction(key, total) == Fraction(plain)


def test_a_backend_has_one_thread(sql, key, staff):
    process = sql.execute("SELECT pg_backend_pid()").fetchone()[0]
    for query in (
        "SELECT sum(c) FROM staff",
        "SELECT sum(c) OVER (ORDER BY id ROWS 70 PRECEDING) FROM staff",
        "SELECT he_rerandomise(c), - c, c - c, c + 1.5, c * 7, c * 0.25, c::text::ciphertext FROM staff",
    ):
        sql.execute(query)
        assert len(list(Path(f"/proc/{process}/task").iterdir())) == 1
