"""Compares sums by groups in PostgreSQL with the kernel alone; writes bench/results/postgres.md.

A million ciphertexts of 512 bytes (a key of 2048 bits) in 100 groups:
`SELECT g, sum(c) ... GROUP BY g`, in one process and in two. The same rounds measure the kernel on
the same ciphertexts in memory on as many threads, an aggregate with one GMP multiplication per row
(bench/postgres/gmp_sum.c), and PostgreSQL's sum of `numeric`. The sums of some groups are first
checked against GMP's products. Then window frames of 5 and of 1 000 rows follow.

Run by scripts/bench_postgres.sh, which builds its dependencies. Leave the machine idle otherwise.
"""

import argparse
import hashlib
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import gmpy2
import machine
from figures import spread, thousands, timed
from kernel import ROOT, Kernel

sys.path.insert(0, str(ROOT / "crates/postgres/tests"))
from installation import Installation
from paillier import Key
from servers import INSTALLATIONS, Server, place

RESULT = ROOT / "bench/results/postgres.md"
BITS, GROUPS, SCALE = 2048, 100, 2
WIDTH = BITS // 4
#: The goal, as a share of the kernel's rate.
GOAL = 0.5
FRAMES = (5, 1000)
QUERIES = {
    "`sum(ciphertext)`": "SELECT g, sum(c)::bytea FROM numbers GROUP BY g ORDER BY g",
    "one multiplication by GMP a row": "SELECT g, gmp_sum(c, '{square}') FROM numbers GROUP BY g ORDER BY g",
    "reading only (`max(length(...))`)": "SELECT g, max(pg_column_size(c)) FROM numbers GROUP BY g ORDER BY g",
    "`sum(numeric)` of the plain numbers": "SELECT g, sum(n) FROM plain GROUP BY g ORDER BY g",
}


def ciphertexts(rows):
    """Returns numbers in [1, n^2) of full width except for the first byte: for a product they are
    equivalent to encryptions. Every call returns the same numbers.
    """
    for row in range(rows):
        number = hashlib.shake_128(row.to_bytes(8, "big")).digest(WIDTH)
        yield b"\0" + number[1:-1] + bytes([number[-1] | 1])


def load(connection, key, rows, file):
    """Fills the tables, and the kernel's file."""
    connection.execute(
        "CREATE TABLE numbers (i int, g int, c ciphertext); CREATE TABLE plain (g int, n numeric(20, 2))"
    )
    connection.execute("ALTER TABLE numbers SET (parallel_workers = 1); ALTER TABLE plain SET (parallel_workers = 1)")
    # The column's description, written by the extension itself.
    sample = key.value(0, SCALE, limit=10**9, headroom=2**32)
    head = connection.execute("SELECT %s::ciphertext::bytea", [sample]).fetchone()[0][:-WIDTH]
    with open(file, "wb") as out, connection.cursor() as cursor:
        with cursor.copy("COPY numbers FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "int4", "bytea"])
            for row, ciphertext in enumerate(ciphertexts(rows)):
                copy.write_row((row, row % GROUPS, head + ciphertext))
                out.write(ciphertext)
        number = "i * 1234567::bigint % 100000000000 / 100.0"
        cursor.execute(f"INSERT INTO plain SELECT i % {GROUPS}, {number} FROM generate_series(0, {rows - 1}) i")
    connection.execute("VACUUM (ANALYZE, FREEZE) numbers")
    connection.execute("VACUUM (ANALYZE, FREEZE) plain")


def check(key, rows, found):
    """Compares some groups with products by GMP."""
    wanted = range(0, GROUPS, GROUPS // 4)
    products = dict.fromkeys(wanted, gmpy2.mpz(1))
    for row, ciphertext in enumerate(ciphertexts(rows)):
        if row % GROUPS in products:
            group = row % GROUPS
            products[group] = products[group] * int.from_bytes(ciphertext, "big") % key.square
    for group, value in found:
        if group in products:
            assert int.from_bytes(value[-WIDTH:], "big") == products[group], f"group {group}"


def measure(connection, key, folder, rows, processes, rounds):
    """Returns the kernel's engine, and each round's times: the kernel alone, and each query."""
    # The leader process computes, too.
    connection.execute(f"SET max_parallel_workers_per_gather = {processes - 1}")
    connection.execute("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
    square = "\\x" + int(key.square).to_bytes(WIDTH, "big").hex()
    queries = [query.replace("{square}", square) for query in QUERIES.values()]
    for query in queries[:2]:
        check(key, rows, connection.execute(query).fetchall())
    plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN (ANALYZE) {queries[0]}"))
    assert ("Workers Launched: 1" in plan) == (processes > 1), plan
    kernel, times = Kernel(folder / "key.json", folder / "c.bin", GROUPS, processes), []
    try:
        kernel.round()
        for _ in range(rounds):
            alone, _ = kernel.round()
            times.append(
                [alone, *(timed(lambda query=query: connection.execute(query).fetchall())[0] for query in queries)]
            )
    finally:
        kernel.close()
    return kernel.engine, times


def windows(connection, rows, rounds):
    """Returns the seconds per row of window frames, for ciphertexts and for plaintexts."""
    connection.execute("SET max_parallel_workers_per_gather = 0")
    found = {}
    for frame in FRAMES:
        over = f"OVER (ORDER BY i ROWS {frame - 1} PRECEDING)"
        given = f"FROM numbers WHERE i < {rows}"
        encrypted = f"SELECT count(s) FROM (SELECT sum(c) {over} AS s {given}) t"
        plain = f"SELECT count(s) FROM (SELECT sum(i::numeric) {over} AS s {given}) t"
        times = [
            [timed(lambda q=q: connection.execute(q))[0] / rows for q in (encrypted, plain)] for _ in range(rounds)
        ]
        found[frame] = [statistics.median(column) for column in zip(*times, strict=True)]
    return found


def section(rows, processes, engine, times):
    """Returns the table for one number of processes."""
    names = ["kernel alone, numbers in memory", *QUERIES]
    title = "1 process" if processes == 1 else f"{processes} processes, including the gathering one"
    lines = [
        f"## {title}, engine `{engine}`",
        "",
        "| what | seconds | rows per second | rate compared with the kernel alone |",
        "| --- | ---: | ---: | ---: |",
    ]
    for column, name in enumerate(names):
        seconds = statistics.median(row[column] for row in times)
        share = spread([row[0] / row[column] for row in times])
        lines.append(f"| {name} | {seconds:.3f} | {thousands(rows / seconds)} | {share} |")
    return [*lines, ""]


def page(options, version, measured, frames):
    """Returns the page's lines."""
    reason = "" if options.rows == 10**6 else f"; fewer than a million: {options.reason}"
    lines = [
        "# Sums in PostgreSQL compared with the kernel alone",
        "",
        "Made by `bench/python/postgres_sum.py` (`make bench-postgres`).",
        "",
        f"- Machine: {machine.processor()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}",
        f"- Versions: PostgreSQL {version}, GMP {gmpy2.mp_version().split()[-1]}",
        f"- Date: {time.strftime('%Y-%m-%d')}",
        f"- Data: {thousands(options.rows)} values with ciphertexts of {WIDTH} bytes in {GROUPS} groups{reason}; "
        "the table is in shared buffers; sums checked with GMP",
        f"- Method: {options.rounds} rounds, each measuring every row once; seconds are medians, a ratio is the median of "
        "the rounds' ratios, with the lowest and highest in brackets. The kernel has one thread per process",
        "- GMP: an aggregate in C with a GMP integer as state and one product per row (`bench/postgres/gmp_sum.c`), which has no parallel form; postgres-paillier itself is a set of R functions",
        "",
        "| goal | measured | met |",
        "| --- | ---: | ---: |",
    ]
    for processes, (_, times) in measured.items():
        shares = [row[0] / row[1] for row in times]
        met = "yes" if statistics.median(shares) >= GOAL else "no"
        name = "1 process" if processes == 1 else f"{processes} processes"
        lines.append(f"| {name}: at least {GOAL} of the kernel's rate | {spread(shares)} | {met} |")
    lines.append("")
    for processes, (engine, times) in measured.items():
        lines += section(options.rows, processes, engine, times)
    lines += [
        "## Window frames",
        "",
        f"`sum(...) OVER (ORDER BY i ROWS ... PRECEDING)` over {thousands(min(options.rows, options.window_rows))} rows, in one process. "
        "Each result needs one modular inverse, independent of the frame's length.",
        "",
        "| rows of a frame | `sum(ciphertext)`, microseconds per row | `sum(numeric)`, microseconds per row |",
        "| ---: | ---: | ---: |",
    ]
    lines += [f"| {thousands(frame)} | {1e6 * one:.1f} | {1e6 * two:.1f} |" for frame, (one, two) in frames.items()]
    return lines


def main():
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--reason", default="a trial", help="reason for fewer than a million rows")
    parser.add_argument("--window-rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--library", type=Path, required=True, help="path of gmp_sum.so")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    root = place()
    try:
        installation = Installation(*INSTALLATIONS[0], root)
        shutil.copy(options.library, root)
        # Twice the table's size, so that no page is read twice.
        buffers = f"{max(128, options.rows * 1300 // 2**20)}MB"
        server = Server(installation, shared_buffers=buffers, max_wal_size="4GB", jit="off", autovacuum="off").start()
        try:
            with server.connect() as connection, tempfile.TemporaryDirectory() as name:
                # A prepared statement would keep its plan when settings change.
                connection.prepare_threshold = None
                folder, key = Path(name), Key(BITS)
                connection.execute("CREATE EXTENSION hearith")
                connection.execute("SELECT he_load_key(%s)", [key.public()])
                connection.execute(f"""
                    CREATE FUNCTION gmp_step(internal, ciphertext, bytea) RETURNS internal
                        AS '{root / options.library.name}', 'gmp_step' LANGUAGE C;
                    CREATE FUNCTION gmp_final(internal) RETURNS bytea
                        AS '{root / options.library.name}', 'gmp_final' LANGUAGE C;
                    CREATE AGGREGATE gmp_sum(ciphertext, bytea) (SFUNC = gmp_step, STYPE = internal, FINALFUNC = gmp_final);
                """)
                (folder / "key.json").write_text(key.public())
                load(connection, key, options.rows, folder / "c.bin")
                measured = {
                    processes: measure(connection, key, folder, options.rows, processes, options.rounds)
                    for processes in (1, 2)
                }
                frames = windows(connection, min(options.rows, options.window_rows), 3)
                version = connection.execute("SHOW server_version").fetchone()[0]
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    options.out.write_text("\n".join(page(options, version, measured, frames)).rstrip() + "\n")
    print(options.out.read_text())


if __name__ == "__main__":
    main()
