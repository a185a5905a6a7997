"""The DuckDB extension, compared with plaintext SQL and python-paillier."""

import gc
import importlib
import json
import re
import threading
from base64 import urlsafe_b64encode
from decimal import Decimal
from pathlib import Path

import duckdb
import phe
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hearith as he
import hearith.duckdb as hd
from hearith.errors import HearithError, KeyMismatchError, TableError

BITS = 256
ROWS = 5000
GROUPS = 7


def number(value):
    return urlsafe_b64encode(value.to_bytes(-(-value.bit_length() // 8))).rstrip(b"=").decode()


class Owner:
    """A key pair of python-paillier, its files, and ciphertexts in the extension's format."""

    def __init__(self, folder: Path, name: str):
        self.public, self.private = phe.generate_paillier_keypair(n_length=BITS)
        jwk = {"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": number(self.public.n), "kid": name}
        self.public_file, self.private_file = folder / f"{name}.json", folder / f"{name}-private.json"
        self.public_file.write_text(json.dumps(jwk))
        secret = {"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["decrypt"], "kid": name, "pub": jwk}
        secret |= {"p": number(self.private.p), "q": number(self.private.q)}
        self.private_file.write_text(json.dumps(secret))
        self.id = he.PublicKey.from_jwk(self.public_file.read_text(), insecure=True).id

    @property
    def width(self):
        return BITS // 4

    def encrypt(self, value):
        return self.public.raw_encrypt(value % self.public.n).to_bytes(self.width)

    def decrypt(self, ciphertext):
        value = self.private.raw_decrypt(int.from_bytes(ciphertext))
        return value if value <= self.public.n // 2 else value - self.public.n


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    return Owner(tmp_path_factory.mktemp("keys"), "key")


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return Owner(tmp_path_factory.mktemp("keys"), "other")


@pytest.fixture(scope="module")
def numbers(owner):
    """Rows with group, number and ciphertext; every eleventh is null."""
    # A thousand fresh ciphertexts, each used for several rows, since python-paillier is slow.
    fresh = {value: owner.encrypt(value) for value in range(-500, 500)}
    values = [None if i % 11 == 0 else i * 7919 % 1000 - 500 for i in range(ROWS)]
    ciphertexts = [None if value is None else fresh[value] for value in values]
    return pa.table({"g": [i * i % GROUPS for i in range(ROWS)], "v": values, "c": pa.array(ciphertexts, pa.binary())})


@pytest.fixture
def con(owner):
    with hd.connect() as con:
        con.execute("SET hearith_allow_insecure_keys = true")
        con.execute(f"SET hearith_private_key = '{owner.private_file}'")
        assert con.execute("SELECT he_load_key(?)", [str(owner.public_file)]).fetchall()[0] == (owner.id,)
        yield con


@pytest.fixture
def table(con, numbers):
    con.register("numbers", numbers)
    con.execute("CREATE TABLE t AS SELECT * FROM numbers")
    return con


class TestSums:
    def test_by_groups(self, table, owner):
        rows = table.execute("SELECT g, sum(v), he_sum(c) FROM t GROUP BY g").fetchall()
        assert len(rows) == len({i * i % GROUPS for i in range(GROUPS)})
        assert all(owner.decrypt(total) == plain for _, plain, total in rows)

    def test_of_everything(self, table, owner):
        plain, total = table.execute("SELECT sum(v), he_sum(c) FROM t").fetchall()[0]
        assert owner.decrypt(total) == plain

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_on_any_number_of_threads_from_parquet(self, table, owner, numbers, tmp_path, threads):
        pq.write_table(numbers, tmp_path / "t.parquet", row_group_size=300)
        table.execute(f"SET threads = {threads}")
        query = f"SELECT g % 4, sum(v), he_decrypt(he_sum(c)) FROM '{tmp_path}/t.parquet' GROUP BY ALL"
        assert all(plain == total for _, plain, total in table.execute(query).fetchall())

    def test_many_groups(self, table):
        query = "SELECT row_number() OVER () // 3 AS k, * FROM t"
        query = f"SELECT sum(v) AS plain, he_decrypt(he_sum(c)) AS total FROM ({query}) GROUP BY k"
        counts = f"SELECT count(*), count(*) FILTER (WHERE plain IS DISTINCT FROM total) FROM ({query})"
        groups, different = table.execute(counts).fetchall()[0]
        assert groups == ROWS // 3 + 1
        assert different == 0

    def test_filters_windows_and_distinct_values(self, table):
        for arguments, suffix in [("", "FILTER (WHERE v % 2 = 0)"), ("", "OVER (ORDER BY v ROWS 5 PRECEDING)")]:
            query = f"SELECT sum({arguments} v) {suffix}, he_decrypt(he_sum({arguments} c) {suffix}) FROM t"
            assert all(plain == total for plain, total in table.execute(query).fetchall())
        query = "SELECT sum(DISTINCT v), he_decrypt(he_sum(DISTINCT c)) FROM t"
        plain, total = table.execute(query).fetchall()[0]
        assert plain == total

    def test_sums_of_sums(self, table):
        query = "SELECT sum(p), he_decrypt(he_sum(c)) FROM (SELECT sum(v) p, he_sum(c) c FROM t GROUP BY g)"
        plain, total = table.execute(query).fetchall()[0]
        assert plain == total

    def test_nothing_and_nulls_make_null(self, table):
        assert table.execute("SELECT he_sum(c) FROM t WHERE false").fetchall()[0] == (None,)
        assert table.execute("SELECT he_sum(c) FROM t WHERE v IS NULL").fetchall()[0] == (None,)
        assert table.execute("SELECT he_sum(c) FROM t WHERE v IS NULL GROUP BY g").fetchall() == [(None,)] * 4

    def test_connections_at_once(self, table):
        found = []

        def run():
            query = "SELECT sum(v), he_decrypt(he_sum(c)) FROM t GROUP BY g"
            with table.cursor() as cursor:
                found.extend(cursor.execute(query).fetchall())

        # Settings belong to a session, loaded keys to the database.
        for setting in ("hearith_private_key", "hearith_allow_insecure_keys"):
            (value,) = table.execute(f"SELECT current_setting('{setting}')").fetchall()[0]
            table.execute(f"SET GLOBAL {setting} = '{value}'")
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 16
        assert all(plain == total for plain, total in found)


class TestMeans:
    def test_by_groups(self, table, owner):
        query = "SELECT sum(v), count(v), avg(v), he_avg(c) FROM t GROUP BY g"
        for total, count, mean, found in table.execute(query).fetchall():
            assert found.keys() == {"sum", "count"}
            assert (owner.decrypt(found["sum"]), found["count"]) == (total, count)
            assert owner.decrypt(found["sum"]) / found["count"] == mean

    def test_in_a_query(self, table):
        query = (
            "SELECT avg(v), he_decrypt(m.sum) / m.count FROM (SELECT g, avg(v) AS v, he_avg(c) AS m FROM t GROUP BY g)"
        )
        query = query.replace("avg(v), he", "v, he", 1)
        rows = table.execute(query).fetchall()
        assert len(rows) == 4
        assert all(plain == found for plain, found in rows)

    @pytest.mark.parametrize("threads", [1, 3])
    def test_of_many_groups_on_threads(self, table, threads):
        table.execute(f"SET threads = {threads}")
        query = "SELECT v % 97 AS k, count(v) AS n, he_avg(c) AS m FROM t WHERE v % 97 IS NOT NULL GROUP BY k"
        counts = table.execute(f"SELECT count(*), count(*) FILTER (WHERE n <> m.count) FROM ({query})").fetchall()
        assert counts == [(193, 0)]

    def test_of_nothing(self, table):
        nothing = {"sum": None, "count": 0}
        assert table.execute("SELECT he_avg(c) FROM t WHERE false").fetchall() == [(nothing,)]
        assert table.execute("SELECT he_avg(c) FROM t WHERE v IS NULL GROUP BY g").fetchall() == [(nothing,)] * 4

    def test_errors_name_the_function(self, table, owner):
        with pytest.raises(duckdb.InvalidInputException, match="he_avg: a value of 1 bytes"):
            table.execute("SELECT he_avg('x'::BLOB)").fetchall()
        value = (owner.private.q * 5).to_bytes(64)
        with pytest.raises(duckdb.InvalidInputException, match="he_avg: .*shares a factor with n"):
            table.execute("SELECT he_avg(?::BLOB)", [value]).fetchall()
        with pytest.raises(duckdb.InvalidInputException, match="he_mean: no key with the id"):
            table.execute("SELECT he_mean(c, 'nobody') FROM t").fetchall()


class TestScalars:
    def test_addition_and_multiples(self, table, owner):
        query = "SELECT v, he_add(c, c), he_multiply(c, v::{}), he_multiply(c, -3) FROM t LIMIT 40"
        for kind in ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT"):
            for value, twice, square, negative in table.execute(query.format(kind)).fetchall():
                if value is None:
                    assert (twice, square, negative) == (None, None, None)
                else:
                    found = [owner.decrypt(c) for c in (twice, square, negative)]
                    assert found == [2 * value, value * value, -3 * value]

    def test_plain_integers_are_added(self, table, owner):
        query = "SELECT v, he_add(c, v::{}), he_add(c, -3) FROM t LIMIT 40"
        for kind in ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT"):
            for value, twice, less in table.execute(query.format(kind)).fetchall():
                if value is None:
                    assert (twice, less) == (None, None)
                else:
                    assert [owner.decrypt(c) for c in (twice, less)] == [2 * value, value - 3]
        # Equals the addition of a trivial ciphertext, which anyone can compute from the integer.
        query = "SELECT c, he_add(c, 77::TINYINT, ?) FROM t WHERE v = 1 LIMIT 1"
        before, after = table.execute(query, [owner.id]).fetchall()[0]
        square = owner.public.n**2
        assert int.from_bytes(after) == int.from_bytes(before) * (1 + 77 * owner.public.n) % square

    def test_widest_integers_are_added(self, table, owner):
        for number in (-(2**127), 2**127 - 1):
            query = f"SELECT he_add(c, '{number}'::HUGEINT) FROM t WHERE v = 1 LIMIT 1"
            assert owner.decrypt(table.execute(query).fetchall()[0][0]) == number + 1

    def test_other_names(self, table):
        query = "SELECT he_mul(c, 5) = he_multiply(c, 5), he_decrypt(he_rerandomize(c)) FROM t WHERE v = 9 LIMIT 1"
        assert table.execute(query).fetchall() == [(True, 9)]
        query = "SELECT he_mean(c) = he_avg(c) FROM t"
        assert table.execute(query).fetchall() == [(True,)]
        with pytest.raises(duckdb.InvalidInputException, match="he_mul: "):
            table.execute("SELECT he_mul('x'::BLOB, 2)").fetchall()

    def test_widest_multiples(self, table, owner):
        (c,) = table.execute(
            "SELECT he_multiply(c, '-170141183460469231731687303715884105728'::HUGEINT) FROM t WHERE v = 1 LIMIT 1"
        ).fetchall()[0]
        assert owner.decrypt(c) == -(2**127)

    def test_nulls(self, table):
        query = "SELECT he_add(c, NULL), he_add(NULL, c), he_multiply(c, NULL::INTEGER), he_rerandomise(NULL), he_decrypt(NULL) FROM t"
        assert set(table.execute(query).fetchall()) == {(None,) * 5}

    def test_randomised_anew(self, table):
        query = "SELECT r, he_decrypt(r) FROM (SELECT he_rerandomise(c) AS r FROM t WHERE v = 3)"
        rows = table.execute(query).fetchall()
        assert len({c for c, _ in rows}) == len(rows) > 1
        assert {value for _, value in rows} == {3}

    def test_key_ids(self, table, owner, other):
        assert table.execute("SELECT he_key_id()").fetchall()[0] == (owner.id,)
        assert table.execute("SELECT DISTINCT he_key_id(c) FROM t WHERE c IS NOT NULL").fetchall() == [(owner.id,)]
        for value in (b"", bytes(64), b"\xff" * 64, b"\1" * 63, owner.public.n.to_bytes(64)):
            assert table.execute("SELECT he_key_id(?::BLOB)", [value]).fetchall()[0] == (None,)

    def test_decrypts_negative_and_wide_numbers(self, con, owner):
        for value in (0, 1, -1, 2**63, -(2**64), 2**127 - 1, -(2**127)):
            assert con.execute("SELECT he_decrypt(?::BLOB)", [owner.encrypt(value)]).fetchall()[0] == (value,)
        for value in (2**127, -(2**127) - 1):
            with pytest.raises(duckdb.InvalidInputException, match="he_decrypt: .* more than 127 bits"):
                con.execute("SELECT he_decrypt(?::BLOB)", [owner.encrypt(value)]).fetchall()


class TestKeys:
    def test_a_key_is_needed(self):
        with hd.connect() as con:
            for call in (
                "he_sum('a'::BLOB)",
                "he_add('a'::BLOB, 'b'::BLOB)",
                "he_multiply('a'::BLOB, 2)",
                "he_key_id()",
            ):
                with pytest.raises(duckdb.InvalidInputException, match="no key is loaded"):
                    con.execute(f"SELECT {call}").fetchall()
            with pytest.raises(duckdb.BinderException, match="he_decrypt: SET hearith_private_key"):
                con.execute("SELECT he_decrypt('a'::BLOB)").fetchall()

    def test_several_keys_are_named(self, table, owner, other):
        table.execute("SELECT he_load_key(?)", [str(other.public_file)])
        with pytest.raises(duckdb.InvalidInputException, match="he_sum: 2 keys are loaded"):
            table.execute("SELECT he_sum(c) FROM t").fetchall()
        with pytest.raises(duckdb.InvalidInputException, match="no key with the id"):
            table.execute("SELECT he_sum(c, 'nobody') FROM t").fetchall()
        with pytest.raises(duckdb.InvalidInputException, match="id is NULL"):
            table.execute("SELECT he_sum(c, NULL) FROM t").fetchall()
        with pytest.raises(duckdb.InvalidInputException, match="same in all rows"):
            table.execute("SELECT he_sum(c, coalesce(v, 0)::VARCHAR) FROM t").fetchall()
        plain, total, one = table.execute(
            "SELECT sum(v), he_decrypt(he_sum(c, $1)), he_decrypt(he_add(he_multiply(any_value(c), 1, $1), he_rerandomise(any_value(c), $1), $1)) - 2 * any_value(v) FROM t",
            [owner.id],
        ).fetchall()[0]
        assert (plain, one) == (total, 0)
        assert table.execute("SELECT he_unload_key(?)", [other.id]).fetchall()[0] == (other.id,)
        assert table.execute("SELECT he_unload_key(?)", [other.id]).fetchall()[0] == (None,)
        assert table.execute("SELECT he_sum(c) IS NOT NULL FROM t").fetchall() == [(True,)]

    def test_key_files_that_are_none(self, con, tmp_path):
        file = tmp_path / "file"
        file.write_text('{"kty": "RSA"}')
        for content, message in [
            (None, "cannot read"),
            ('{"kty": "RSA"}', "JSON Web Key"),
            ("", "JSON Web Key"),
            (" " * 2**21, "too long for a key"),
        ]:
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_text(content)
            with pytest.raises(duckdb.InvalidInputException, match=f"he_load_key: .*{message}"):
                con.execute("SELECT he_load_key(?)", [str(file)]).fetchall()
            con.execute(f"SET hearith_private_key = '{file}'")
            with pytest.raises(duckdb.BinderException, match=f"he_decrypt: .*{message}"):
                con.execute("SELECT he_decrypt('a'::BLOB)").fetchall()

    def test_an_encrypted_private_key_needs_the_file_of_its_passphrase(self, con, owner, tmp_path):
        private = he.PrivateKey.from_jwk(owner.private_file.read_text(), insecure=True)
        key, passphrase = tmp_path / "key.json", tmp_path / "passphrase"
        key.write_text(private.to_jwk(passphrase="correct horse"))
        con.execute(f"SET hearith_private_key = '{key}'")
        decrypted = "SELECT he_decrypt(?::BLOB)"
        ciphertext = [owner.encrypt(-42)]
        with pytest.raises(duckdb.BinderException, match="SET hearith_passphrase_file"):
            con.execute(decrypted, ciphertext).fetchall()
        con.execute(f"SET hearith_passphrase_file = '{passphrase}'")
        with pytest.raises(duckdb.BinderException, match="cannot read"):
            con.execute(decrypted, ciphertext).fetchall()
        passphrase.write_text("wrong horse\n")
        with pytest.raises(duckdb.BinderException, match="passphrase") as wrong:
            con.execute(decrypted, ciphertext).fetchall()
        assert "wrong horse" not in str(wrong.value)
        passphrase.write_text("correct horse\nanother line\n")
        assert con.execute(decrypted, ciphertext).fetchall() == [(-42,)]

    def test_short_keys_are_allowed_explicitly(self, owner):
        with hd.connect() as con:
            with pytest.raises(duckdb.InvalidInputException, match="insecure.*SET hearith_allow_insecure_keys"):
                con.execute("SELECT he_load_key(?)", [str(owner.public_file)]).fetchall()
            public = he.PublicKey.from_jwk(owner.public_file.read_text(), insecure=True)
            assert hd.load_key(con, public) == owner.id
            # The object was created with the flag; the session's setting is unchanged.
            assert con.execute("SELECT current_setting('hearith_allow_insecure_keys')").fetchall()[0][0] in (
                None,
                False,
            )

    def test_private_keys_are_rejected_with_a_warning(self, con, owner):
        private = he.PrivateKey.from_jwk(owner.private_file.read_text(), insecure=True)
        for text, named in (
            (str(owner.private_file), "was read into this process and wiped"),
            (owner.private_file.read_text(), "Consider it exposed"),
        ):
            with pytest.raises(duckdb.InvalidInputException, match=f"he_load_key: .*private key.*{named}") as caught:
                con.execute("SELECT he_load_key(?)", [text]).fetchall()
            assert '"p"' not in str(caught.value).split("LINE")[0]
        encrypted = owner.private_file.with_name("encrypted.json")
        encrypted.write_text(private.to_jwk(passphrase="a long passphrase"))
        with pytest.raises(duckdb.InvalidInputException, match="this is a private key"):
            con.execute("SELECT he_load_key(?)", [str(encrypted)]).fetchall()

    @pytest.mark.parametrize(
        "factor", ["2.5", "2.0", "2::DOUBLE", "0.5::FLOAT", "2::DECIMAL(30, 2)", "x", "2::UHUGEINT", "2::BIGNUM"]
    )
    def test_factors_of_other_types_are_rejected_by_name(self, con, owner, factor):
        con.execute("SELECT he_load_key(?)", [str(owner.public_file)])
        numbers = he.PublicKey.load(owner.public_file, insecure=True).encrypt([7]).to_bytes()
        named = "not by a DECIMAL, FLOAT or DOUBLE, nor by a UHUGEINT or BIGNUM: CAST"
        with pytest.raises(duckdb.InvalidInputException, match=named):
            con.execute(f"SELECT he_multiply(?, {factor}) FROM (SELECT 1.5 AS x)", [numbers]).fetchall()

    def test_factors_that_are_true_or_false(self, con, owner):
        con.execute("SELECT he_load_key(?)", [str(owner.public_file)])
        private = he.PrivateKey.from_jwk(owner.private_file.read_text(), insecure=True)
        numbers = private.encrypt([7]).to_bytes()
        query = "SELECT he_multiply($c, t), he_mul($c, NULL::BOOLEAN), he_mul($c, NULL) FROM (VALUES (true), (false)) AS v(t)"
        rows = con.execute(query, {"c": numbers}).fetchall()
        found = [private.decrypt(he.EncryptedArray.from_bytes(private.public, one)).tolist() for one, *_ in rows]
        assert (found, [rest for _, *rest in rows]) == ([[7], [0]], [[None, None]] * 2)

    def test_files_are_the_databases_to_allow(self, owner):
        with hd.connect() as con:
            con.execute("SET enable_external_access = false")
            with pytest.raises(duckdb.InvalidInputException, match="cannot read the key file"):
                con.execute("SELECT he_load_key(?)", [str(owner.public_file)]).fetchall()

    def test_another_private_key_gives_no_totals(self, table, other):
        table.execute(f"SET hearith_private_key = '{other.private_file}'")
        with pytest.raises(duckdb.InvalidInputException, match="he_decrypt"):
            table.execute("SELECT he_decrypt(he_sum(c)) FROM t GROUP BY g").fetchall()

    def test_a_database_file_is_released(self, tmp_path, owner):
        for _ in range(2):
            with hd.connect(tmp_path / "data.db") as con:
                con.execute("SET hearith_allow_insecure_keys = true")
                con.execute("SELECT he_load_key(?)", [str(owner.public_file)])
                con.execute("CREATE OR REPLACE TABLE x AS SELECT 1")
            del con
            gc.collect()
            # Another configuration needs another database instance, which can open the file only if
            # nothing else holds it.
            duckdb.connect(str(tmp_path / "data.db"), config={"threads": "1"}).close()


class TestBadInput:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (b"", "a value of 0 bytes"),
            (b"\1" * 63, "a value of 63 bytes"),
            (b"\1" * 65, "a value of 65 bytes"),
            (bytes(64), "the ciphertext is 0"),
            (b"\xff" * 64, "not below n"),
        ],
    )
    def test_what_is_no_ciphertext(self, table, value, message):
        queries = ["he_sum(c) FROM (SELECT c FROM t UNION ALL SELECT $1::BLOB)"]
        queries += [
            f"{call} FROM t"
            for call in (
                "he_add(c, $1::BLOB)",
                "he_multiply($1::BLOB, 2)",
                "he_rerandomise($1::BLOB)",
                "he_decrypt($1::BLOB)",
            )
        ]
        for query in queries:
            with pytest.raises(duckdb.InvalidInputException, match=f"{query.split('(')[0]}: .*{message}"):
                table.execute(f"SELECT {query}", [value]).fetchall()
        # The connection still works.
        assert table.execute("SELECT 1").fetchall()[0] == (1,)

    def test_a_factor_shared_with_n(self, table, owner):
        value = (owner.private.p * 12345).to_bytes(64)
        for call in ("he_sum(x)", "he_multiply(x, -2)", "he_decrypt(x)"):
            with pytest.raises(duckdb.InvalidInputException, match="shares a factor with n"):
                table.execute(
                    f"SELECT {call} FROM (SELECT c AS x FROM t WHERE v = 1 UNION ALL SELECT ?::BLOB)", [value]
                ).fetchall()

    def test_types(self, table):
        for call in (
            "he_sum(v)",
            "he_avg(v)",
            "he_add(c, 1.5)",
            "he_add(v, c)",
            "he_multiply(v, c)",
        ):
            with pytest.raises(duckdb.BinderException):
                table.execute(f"SELECT {call} FROM t").fetchall()

    def test_errors_show_no_value(self, table):
        """A value that is not a ciphertext may be a plaintext that was not encrypted by mistake."""
        secret = b"CANARY salary 4321 "
        for value in (secret, secret.ljust(64, b"\xff")[::-1], secret.ljust(64)):
            for call in ("he_sum($1)", "he_add($1, $1)", "he_multiply($1, 2)", "he_rerandomise($1)", "he_decrypt($1)"):
                try:
                    table.execute(f"SELECT {call.replace('$1', '$1::BLOB')}", [value]).fetchall()
                except duckdb.InvalidInputException as error:
                    shown = str(error)
                    assert "he_key_id(...) IS NULL" in shown or "127 bits" in shown
                    assert not {part for part in (value, value[:8]) if part.hex() in shown or str(part)[2:-1] in shown}

    def test_values_that_are_none_are_found(self, table):
        table.execute("CREATE TABLE mixed AS SELECT c FROM t WHERE v = 1 UNION ALL SELECT 'plain'::BLOB")
        found = table.execute("SELECT c FROM mixed WHERE he_key_id(c) IS NULL").fetchall()
        assert found == [(b"plain",)]


class TestNames:
    """Every public name in texts, including errors, exists."""

    @staticmethod
    def texts():
        root = Path(__file__).parents[3]
        for pattern in (
            "*.md",
            "docs/**/*.md",
            "crates/duckdb/src/*.rs",
            "crates/python/**/*.md",
            "crates/python/python/**/*.py",
        ):
            # PostgreSQL's extension has functions of its own.
            found = (path for path in root.glob(pattern) if path.name != "postgresql.md" and "target" not in path.parts)
            yield from ((path, path.read_text()) for path in found)

    def test_sql_functions(self, con):
        query = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name LIKE 'he\\_%' ESCAPE '\\'"
        known = {name for (name,) in con.execute(query).fetchall()}
        assert known >= {"he_sum", "he_add", "he_multiply", "he_rerandomise", "he_decrypt", "he_load_key"}
        used = {
            (name, path.name) for path, text in self.texts() for name in re.findall(r"\bhe_[a-z][a-z_]*[a-z]\b", text)
        }
        assert len({name for name, _ in used}) >= len(known)
        assert {(name, file) for name, file in used if name not in known} == set()

    def test_every_function_has_a_comment(self, con):
        query = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name LIKE 'he\\_%' ESCAPE '\\'"
        known = {name for (name,) in con.execute(query).fetchall()}
        rows = con.execute("SELECT name, arguments, result, comment, alias_of FROM he_functions()").fetchall()
        assert {name for name, *_ in rows} == known
        assert len(rows) == len(known)
        for name, arguments, result, comment, alias_of in rows:
            assert len(comment) > 5
            assert alias_of is None or alias_of in known
            # The result type is the one that DuckDB knows; optional arguments are in brackets.
            kinds = con.execute(
                "SELECT return_type, len(parameters) FROM duckdb_functions() WHERE function_name = ?", [name]
            )
            for kind, parameters in kinds.fetchall():
                assert kind is None or kind.replace('"', "") == result
                least = arguments.count(",") + bool(arguments) - arguments.count("[")
                assert least <= parameters <= least + arguments.count("[")

    def test_verbs_are_those_of_python_and_rust(self, con):
        rust = "".join(path.read_text() for path in (Path(__file__).parents[2] / "paillier/src").rglob("*.rs"))
        for verb in ("add", "subtract", "negate", "multiply", "sum", "dot", "rerandomise", "encrypt", "decrypt"):
            assert f"pub fn {verb}(" in rust
            assert hasattr(he.PrivateKey if verb == "decrypt" else he.PublicKey, verb) or hasattr(
                he.EncryptedArray, {"negate": "__neg__"}.get(verb, verb)
            )
        for verb in ("add", "multiply", "sum", "rerandomise", "decrypt"):
            con.execute("SELECT 1 FROM duckdb_functions() WHERE function_name = ?", [f"he_{verb}"])
            assert con.fetchall(), verb

    def test_settings(self, con):
        known = {name for (name,) in con.execute("SELECT name FROM duckdb_settings()").fetchall()}
        used = {name for _, text in self.texts() for name in re.findall(r"\bSET (hearith_[a-z_]+)", text)}
        assert used
        assert used <= known

    def test_python_names(self):
        modules = (
            r"\bhearith\.(?:duckdb|spark|arrow|columns|errors|phe|encoding|federated|flower|keys)(?:\.[A-Za-z]\w*)+"
        )
        classes = r"(?<![.\w])(?:PublicKey|PrivateKey|EncryptedArray|EncryptedUpdate|Aggregator)\.[a-z_]+"
        functions = r"\bhearith\.[a-z_]+"
        missing = {
            "hearith.duckdb_extension",
            "hearith.toml",
            "hearith.jwk",
            "hearith.scheme",
            "hearith.role",
            "hearith.key",
        }
        for path, text in self.texts():
            names = set(re.findall(modules, text)) | {f"hearith.{name}" for name in re.findall(classes, text)}
            if path.parent.name == "src":
                names |= set(re.findall(functions, text))
            for name in names - missing:
                assert exists(name), f"{path}: {name}"


def exists(name):
    """Whether a dotted name of the package can be imported.

    Modules whose dependencies are not installed count.
    """
    found, path = importlib.import_module("hearith"), "hearith"
    for part in name.split(".")[1:]:
        path += f".{part}"
        try:
            found = importlib.import_module(path)
        except ModuleNotFoundError:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        except ImportError:
            return True
    return True


class TestLoading:
    def test_unsigned_extensions_must_be_allowed(self):
        with duckdb.connect() as con, pytest.raises(HearithError, match="allow_unsigned_extensions"):
            hd.load(con)

    def test_loading_twice(self):
        with hd.connect() as con:
            assert hd.load(con) is con

    def test_keys_before_loading(self, owner):
        with duckdb.connect() as con, pytest.raises(HearithError, match="not loaded"):
            hd.load_key(con, owner.public_file)


@pytest.fixture(scope="module", params=[False, True], ids=["separate", "packed"])
def files(request, keys, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    names = []
    for part in range(2):
        count = 100 + part
        salaries = [None if i % 10 == 3 else 1000 * i - 700 for i in range(count)]
        plain = pa.table(
            {"dept": [f"d{i % 3}" for i in range(count)], "salary": salaries, "bonus": [i / 4 for i in range(count)]}
        )
        columns = {"salary": {}, "bonus": {"scale": 2}}
        table = keys[0].encrypt_columns(plain, columns, pack=request.param, max_additions=1000)
        pq.write_table(table, folder / f"{part}.parquet")
        pq.write_table(plain, folder / f"{part}.plain")
        names.append(folder / f"{part}.parquet")
    return names


class TestFiles:
    """Parquet files with descriptions, as written by the command line."""

    @pytest.mark.parametrize("by", ["dept", ()])
    def test_the_same_totals_as_the_kernel(self, keys, files, by):
        public, private = keys
        with hd.connect() as con:
            totals = hd.sum_columns(con, public, files, by=by)
        expected = private.decrypt_columns(public.sum_columns([pq.read_table(file) for file in files], by=by))
        assert private.decrypt_columns(totals).equals(expected)
        group = "dept, " if by else ""
        plain = [str(file.with_suffix(".plain")) for file in files]
        query = f"SELECT {group} count(*), sum(salary), sum(bonus) FROM read_parquet(?) GROUP BY ALL ORDER BY ALL"
        rows = duckdb.execute(query, [plain]).fetchall()
        assert [tuple(row.values()) for row in expected.to_pylist()] == rows

    @pytest.mark.parametrize("pattern", ["*.parquet", "?.parquet", "[0-9].parquet", "../*/[01].parquet"])
    def test_patterns_find_files(self, keys, files, pattern):
        public, private = keys
        folder = files[0].parent
        pattern = f"../{folder.name}/[01].parquet" if pattern.startswith("..") else pattern
        with hd.connect() as con:
            expected = private.decrypt_columns(hd.sum_columns(con, public, files, by="dept"))
            found = hd.sum_columns(con, public, folder / pattern, by="dept")
            assert private.decrypt_columns(found).equals(expected)
            # A file that a later pattern matches again is not added again.
            found = hd.sum_columns(con, public, [folder / pattern, folder / "*.parquet"], by="dept")
            assert private.decrypt_columns(found).equals(expected)
            found = hd.sum_columns(con, public, [files[1], folder / "*.parquet"], by="dept")
            assert private.decrypt_columns(found).equals(expected)

    def test_a_name_with_characters_of_patterns_is_a_name(self, keys, files, tmp_path):
        public, private = keys
        for name in ("a[1].parquet", "a1.parquet", "b*.parquet", "bb.parquet"):
            (tmp_path / name).write_bytes(files[0].read_bytes())
        with hd.connect() as con:
            expected = private.decrypt_columns(hd.sum_columns(con, public, files[0]))
            for name in ("a[1].parquet", "b*.parquet"):
                assert private.decrypt_columns(hd.sum_columns(con, public, tmp_path / name)).equals(expected)

    def test_patterns_that_find_nothing(self, keys, files):
        with hd.connect() as con:
            for name in ("*.none", "[ab].parquet"):
                with pytest.raises(TableError, match="no file matches"):
                    hd.sum_columns(con, keys[0], [files[0], files[0].parent / name])

    def test_totals_of_totals(self, keys, files, tmp_path):
        public, private = keys
        with hd.connect() as con:
            parts = []
            for number, file in enumerate(files):
                parts.append(tmp_path / f"totals{number}.parquet")
                pq.write_table(hd.sum_columns(con, public, file, by="dept"), parts[-1])
            whole, once = hd.sum_columns(con, public, parts, by="dept"), hd.sum_columns(con, public, files, by="dept")
        assert private.decrypt_columns(whole).equals(private.decrypt_columns(once))

    def test_copies_and_totals_of_their_own_table_are_rejected(self, keys, files, tmp_path):
        public, private = keys
        totals, copy = tmp_path / "totals.parquet", tmp_path / "copy.parquet"
        copy.write_bytes(files[1].read_bytes())
        with hd.connect() as con:
            pq.write_table(hd.sum_columns(con, public, files), totals)
            for inputs in (
                [files[0], files[0]],
                [*files, copy],
                [files[1], files[0].parent / "*.parquet", copy],
                [totals, files[1]],
                [files[0], totals],
            ):
                with pytest.raises(TableError, match="has rows of table .* twice") as raised:
                    hd.sum_columns(con, public, inputs)
                assert raised.value.kind == "repeated"
                assert str(inputs[-1]) in str(raised.value)
            twice = hd.sum_columns(con, public, [totals, *files], allow_repeated=True)
            once = private.decrypt_columns(pq.read_table(totals)).to_pylist()[0]
            assert private.decrypt_columns(twice).to_pylist() == [{name: 2 * sum for name, sum in once.items()}]
            # Totals of totals also name all tables.
            pq.write_table(twice, copy)
            with pytest.raises(TableError, match="twice"):
                public.sum_columns([pq.read_table(copy), pq.read_table(files[1])])

    @pytest.mark.parametrize("least", [1, 34, 68, 69, 1000])
    def test_totals_of_few_values_are_withheld(self, keys, files, tmp_path, least):
        public, private = keys
        # Numbers that count as several additions are still one value each.
        heavy = pq.read_table(files[0])
        for name in [name for name in heavy.column_names if name.endswith(".additions")]:
            place = heavy.schema.get_field_index(name)
            more = pa.array([3 * count for count in heavy[name].to_pylist()], pa.uint64())
            heavy = heavy.set_column(place, heavy.schema.field(place), more)
        pq.write_table(heavy, tmp_path / "heavy.parquet")
        heavies = [tmp_path / "heavy.parquet", files[1]]
        with hd.connect() as con:
            parts = []
            for number, file in enumerate(heavies):
                parts.append(tmp_path / f"part{number}.parquet")
                pq.write_table(hd.sum_columns(con, public, file, by="dept"), parts[-1])
            for inputs in (heavies, parts):
                given = hd.sum_columns(con, public, inputs, by="dept", min_rows=least)
                kernel = public.sum_columns([pq.read_table(file) for file in inputs], by="dept", min_rows=least)
                assert private.decrypt_columns(given).equals(private.decrypt_columns(kernel))
                counts = [name for name in given.column_names if name.endswith(".values")]
                assert len(counts) == 2
                assert given.select(counts).equals(kernel.select(counts))
                assert (given.num_rows > 0) == (least <= 68)

    def test_descriptions(self, keys, files):
        found = hd.encrypted_columns(files[0])
        assert {entry["key"] for entry in found.values()} == {keys[0].id}
        assert {entry["max_additions"] for entry in found.values()} == {"1000"}

    def test_a_query_of_ones_own(self, keys, tmp_path):
        public, private = keys
        plain = pa.table({"dept": ["a", "b", "a"], "salary": pa.array([1, 2, 39])})
        pq.write_table(public.encrypt_columns(plain, ["salary"]), tmp_path / "staff.parquet")
        query = f"""SELECT upper(dept) AS unit, he_sum(salary) AS salary, sum("salary.additions") AS "salary.additions"
            FROM '{tmp_path}/staff.parquet' GROUP BY ALL ORDER BY ALL"""
        with hd.connect() as con:
            hd.load_key(con, public)
            totals = hd.describe(con.sql(query).to_arrow_table(), tmp_path / "staff.parquet")
        assert private.decrypt_columns(totals).to_pydict() == {"unit": ["A", "B"], "salary": [40, 2]}

    def test_another_key(self, keys, files):
        public, _ = he.generate_keypair(512, insecure=True)
        with hd.connect() as con, pytest.raises(KeyMismatchError, match=keys[0].id):
            hd.sum_columns(con, public, files, by="dept")

    def test_files_that_do_not_match(self, keys, files, tmp_path):
        public, _ = he.generate_keypair(512, insecure=True)
        plain = pa.table({"dept": ["a"], "salary": [1], "bonus": [1]})
        for key, pack, error in [(public, False, KeyMismatchError), (keys[0], True, TableError)]:
            encrypted = key.encrypt_columns(plain, ["salary", "bonus"], pack=pack, max_additions=9)
            pq.write_table(encrypted, tmp_path / "x.parquet")
            with hd.connect() as con, pytest.raises(error, match=f"x.parquet: .* not match those of .*{files[0].name}"):
                hd.sum_columns(con, keys[0], [files[0], tmp_path / "x.parquet"], by="dept")

    def test_unlike_files_add_up(self, keys, tmp_path):
        public, private = keys
        senders = [
            (pa.table({"g": pa.array([1, 2], pa.int8()), "x": ["1.5", "-2"]}), {"x": {"scale": 1}}, 100),
            (pa.table({"g": pa.array([2, 3], pa.int64()), "x": [7, None]}), {"x": {}}, 50),
            (
                pa.table({"g": pa.array([1, 1], pa.int8()), "x": ["0.025", "10"]}),
                {"x": {"scale": 3, "range": 99}},
                1000,
            ),
        ]
        paths = []
        for number, (plain, columns, most) in enumerate(senders):
            paths.append(tmp_path / f"{number}.parquet")
            pq.write_table(public.encrypt_columns(plain, columns, max_additions=most), paths[-1])
        with hd.connect() as con:
            totals = hd.sum_columns(con, public, [*paths, paths[0]], by="g", allow_repeated=True)
            found = private.decrypt_columns(totals).to_pydict()
            assert found == {"g": [1, 2, 3], "rows": [4, 3, 1], "x": [Decimal("13.025"), Decimal("3.000"), None]}
            assert totals.schema.field("x").metadata[b"hearith.max_additions"] == b"50"
            # The counts of values are summed too.
            few = hd.sum_columns(con, public, paths, by="g", min_rows=3)
            assert private.decrypt_columns(few)["g"].to_pylist() == [1]
            parts = [tmp_path / f"part{number}.parquet" for number in range(3)]
            for part, path in zip(parts, paths, strict=True):
                pq.write_table(hd.sum_columns(con, public, path, by="g"), part)
            again = hd.sum_columns(con, public, [*parts, parts[0]], by="g", allow_repeated=True)
            assert private.decrypt_columns(again).to_pydict() == found
        wide = public.encrypt_columns(pa.table({"g": [1], "x": [1]}), {"x": {"scale": 30, "range": 10**7}})
        pq.write_table(wide, paths[0])
        huge = public.encrypt_columns(pa.table({"g": [1], "x": [1]}), {"x": {"range": 10**36}})
        pq.write_table(huge, paths[1])
        with (
            hd.connect() as con,
            pytest.raises(
                TableError, match=r"1\.parquet: .* not match those of .*0\.parquet: .*too large for the additions"
            ),
        ):
            hd.sum_columns(con, public, paths[:2], by="g")

    def test_headroom(self, keys, tmp_path):
        public, _ = keys
        plain = pa.table({"salary": list(range(6))})
        pq.write_table(public.encrypt_columns(plain, ["salary"], max_additions=5), tmp_path / "x.parquet")
        with hd.connect() as con, pytest.raises(HearithError, match="additions"):
            hd.sum_columns(con, public, tmp_path / "x.parquet")

    def test_no_encrypted_columns_and_no_such_group(self, keys, files, tmp_path):
        pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
        with hd.connect() as con:
            with pytest.raises(TableError):
                hd.sum_columns(con, keys[0], tmp_path / "x.parquet")
            with pytest.raises(TableError, match="nothing"):
                hd.sum_columns(con, keys[0], files, by="nothing")
