"""`he_bfv_sum` and `he_bfv_decrypt` of the DuckDB extension, compared with plaintext SQL."""

import datetime
import re

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import hearith as he
import hearith.duckdb as hd

ROWS = 9000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of a key pair, and a plaintext table with its encryption."""
    folder = tmp_path_factory.mktemp("bfv")
    public, private = he.generate_keypair(scheme="bfv")
    for name, key in {"public": public, "private": private}.items():
        (folder / f"{name}.json").write_text(key.to_jwk())
        (folder / f"{name}.json").chmod(0o600)
    plain = pa.table(
        {
            "dept": [["lab", "shop", None][i * i % 3] for i in range(ROWS)],
            "year": [2020 + i % 4 for i in range(ROWS)],
            "day": [datetime.date(2024, 1, 1 + i % 2) for i in range(ROWS)],
            "hours": [i % 9 - 2 for i in range(ROWS)],
            "salary": [None if i % 7 == 0 else 2**40 * (i % 11) - i for i in range(ROWS)],
            "bonus": [i % 100 for i in range(ROWS)],
        }
    )
    pq.write_table(plain, folder / "plain.parquet")
    pq.write_table(public.encrypt_columns(plain, ["salary", "bonus"]), folder / "staff.parquet")
    return folder


@pytest.fixture
def connection(files):
    with hd.connect() as connection:
        connection.execute(f"SET hearith_private_key = '{files}/private.json'")
        connection.execute(f"SET VARIABLE staff = '{files}/staff.parquet'")
        connection.execute(f"SET VARIABLE key = '{files}/public.json'")
        connection.execute(f"CREATE VIEW plain AS FROM '{files}/plain.parquet'")
        yield connection


def totals(connection, columns, arguments="", order="ALL"):
    source = f"he_bfv_sum(getvariable('staff'), key := getvariable('key') {arguments})"
    numbers = 'rows, he_bfv_decrypt(salary), "salary.additions", he_bfv_decrypt(bonus)'
    return connection.execute(f"SELECT {columns} {numbers} FROM {source} ORDER BY {order}").fetchall()


def expected(connection, columns, where="true"):
    by = f"GROUP BY {columns.rstrip(', ')}" if columns else ""
    query = (
        f"SELECT {columns} count(*), sum(salary), count(salary), sum(bonus) FROM plain WHERE {where} {by} ORDER BY ALL"
    )
    return connection.execute(query).fetchall()


def test_everything(connection):
    assert totals(connection, "") == expected(connection, "")


@pytest.mark.parametrize("by", [["dept"], ["year"], ["dept", "year"]])
def test_groups(connection, by):
    columns = "".join(f"{name}, " for name in by)
    assert totals(connection, columns, f", by := {by}") == expected(connection, columns)


def test_groups_of_other_types_come_as_text(connection):
    found = totals(connection, "day, ", ", by := ['day']")
    assert [(datetime.date.fromisoformat(day), *rest) for day, *rest in found] == expected(connection, "day, ")


def test_conditions_and_weights(connection):
    found = totals(connection, "dept, ", ", by := ['dept'], condition := 'year > 2021'")
    assert found == expected(connection, "dept, ", "year > 2021")
    (found,) = totals(connection, "", ", weight := 'hours'")
    plain = connection.execute("SELECT sum(salary * hours), sum(bonus * hours) FROM plain").fetchone()
    assert (found[1], found[3]) == plain


def test_the_result_is_a_table_like_any_other(connection, files):
    source = f"he_bfv_sum('{files}/staff.parquet', key := '{files}/public.json', by := ['dept', 'year'])"
    connection.execute(f"CREATE TABLE totals AS FROM {source}")
    kinds = connection.execute("SELECT column_name, column_type FROM (DESCRIBE totals)").fetchall()
    assert kinds == [
        ("dept", "VARCHAR"),
        ("year", "BIGINT"),
        ("rows", "HUGEINT"),
        ("salary", "BLOB"),
        ("salary.additions", "HUGEINT"),
        ("salary.values", "HUGEINT"),
        ("salary.rarest", "HUGEINT"),
        ("bonus", "BLOB"),
        ("bonus.additions", "HUGEINT"),
        ("bonus.values", "HUGEINT"),
        ("bonus.rarest", "HUGEINT"),
    ]
    query = "SELECT dept, sum(he_bfv_decrypt(salary)) FROM totals GROUP BY dept ORDER BY ALL"
    assert (
        connection.execute(query).fetchall()
        == connection.execute("SELECT dept, sum(salary) FROM plain GROUP BY dept ORDER BY ALL").fetchall()
    )
    # Encrypted twice, with different ciphertexts.
    first, second = (connection.execute(f"SELECT salary FROM {source} LIMIT 1").fetchone() for _ in range(2))
    assert first != second
    assert connection.execute("SELECT he_bfv_decrypt(NULL)").fetchone() == (None,)


def test_a_prepared_query_runs_again(connection):
    query = (
        "SELECT he_bfv_decrypt(bonus) FROM he_bfv_sum(getvariable('staff'), key := getvariable('key')) WHERE rows > ?"
    )
    assert [connection.execute(query, [0]).fetchall() for _ in range(2)] == [expected_bonus(connection)] * 2
    connection.execute("PREPARE again AS " + query.replace("?", "0"))
    assert [connection.execute("EXECUTE again").fetchall() for _ in range(2)] == [expected_bonus(connection)] * 2


def expected_bonus(connection):
    return connection.execute("SELECT sum(bonus) FROM plain").fetchall()


def test_what_is_refused(connection, files, tmp_path):
    other, _ = he.generate_keypair(scheme="bfv", parameters="bfv-4096")
    (tmp_path / "other.json").write_text(other.to_jwk())
    paillier, _ = he.generate_keypair(512, insecure=True)
    (tmp_path / "paillier.json").write_text(paillier.to_jwk())
    pq.write_table(paillier.encrypt_column(pa.table({"v": [1]}), "v"), tmp_path / "paillier.parquet")
    data = bytearray((files / "staff.parquet").read_bytes())
    (tmp_path / "cut.parquet").write_bytes(data[: len(data) // 2])
    encrypted = pq.read_table(files / "staff.parquet")
    pq.write_table(encrypted[1:], tmp_path / "moved.parquet")
    staff, key = f"'{files}/staff.parquet'", f"key := '{files}/public.json'"
    for call, text in {
        staff: "key := 'public.json' is missing",
        f"NULL, {key}": "a file is missing",
        f"'{tmp_path}/none.parquet', {key}": "none.parquet: .*No such file|cannot open",
        f"{staff}, key := '{tmp_path}/none.json'": "cannot read the key file",
        f"{staff}, key := '{tmp_path}/other.json'": "encrypted under key",
        f"{staff}, key := '{tmp_path}/paillier.json'": "another scheme|not a key",
        f"'{tmp_path}/paillier.parquet', {key}": "encrypted by paillier",
        f"'{files}/plain.parquet', {key}": "no encrypted column|nothing",
        f"'{files}/public.json', {key}": "Parquet",
        f"'{tmp_path}/cut.parquet', {key}": "Parquet",
        f"'{tmp_path}/moved.parquet', {key}": "chunk",
        f"{staff}, {key}, by := ['nothing']": "nothing",
        f"{staff}, {key}, by := ['salary']": "salary",
        f"{staff}, {key}, weight := 'dept'": "dept",
        f"{staff}, {key}, condition := 'year >'": "condition|expected|year",
    }.items():
        with pytest.raises(duckdb.Error, match=f"(?s)({text})"):
            connection.execute(f"FROM he_bfv_sum({call})")
    with pytest.raises(duckdb.Error, match="not a total|truncated"):
        connection.execute("SELECT he_bfv_decrypt('abc'::BLOB)")
    connection.execute("RESET hearith_private_key")
    with pytest.raises(duckdb.Error, match="hearith_private_key"):
        connection.execute(f"SELECT he_bfv_decrypt(bonus) FROM he_bfv_sum({staff}, {key})").fetchall()


def test_private_keys_are_rejected_with_a_warning(connection, files, tmp_path):
    private = he.bfv.PrivateKey.load(files / "private.json")
    encrypted = tmp_path / "encrypted.json"
    encrypted.write_text(private.to_jwk(passphrase="a long passphrase"))
    (tmp_path / "passphrase").write_text("a long passphrase")
    connection.execute(f"SET hearith_passphrase_file = '{tmp_path}/passphrase'")
    for key in (files / "private.json", encrypted):
        with pytest.raises(duckdb.Error, match="private key, which he_bfv_sum does not accept; it was read into"):
            connection.execute("FROM he_bfv_sum(getvariable('staff'), key := ?)", [str(key)])


def test_a_database_without_files_opens_none(connection, files):
    connection.execute("SET enable_external_access = false")
    with pytest.raises(duckdb.Error, match=re.compile("disabled", re.IGNORECASE)):
        connection.execute(f"FROM he_bfv_sum('{files}/staff.parquet', key := '{files}/public.json')")
    text = (files / "public.json").read_text()
    with pytest.raises(duckdb.Error, match=re.compile("disabled|cannot read", re.IGNORECASE)):
        connection.execute("FROM he_bfv_sum(?, key := ?)", [f"{files}/staff.parquet", text])


class TestPatterns:
    @pytest.fixture
    def parts(self, files, tmp_path):
        """The table in three files in two folders."""
        public = he.bfv.PublicKey.load(files / "public.json")
        plain = pq.read_table(files / "plain.parquet").select(["year", "salary"])
        for number, folder in enumerate(["a", "a", "b"]):
            (tmp_path / folder).mkdir(exist_ok=True)
            part = public.encrypt_columns(plain.slice(number * 3000, 3000), ["salary"])
            pq.write_table(part, tmp_path / folder / f"part-{number}.parquet")
        return tmp_path

    def sums(self, connection, pattern):
        query = (
            "SELECT year, rows, he_bfv_decrypt(salary) FROM he_bfv_sum(?, key := getvariable('key'), by := ['year'])"
        )
        return connection.execute(f"{query} ORDER BY year", [str(pattern)]).fetchall()

    @pytest.mark.parametrize("pattern", ["*/*.parquet", "**/part-?.parquet", "[ab]/part-[0-2].parquet"])
    def test_all_files_that_match(self, connection, parts, pattern):
        query = "SELECT year, count(*), sum(salary) FROM plain GROUP BY year ORDER BY year"
        wanted = connection.execute(query).fetchall()
        assert self.sums(connection, parts / pattern) == wanted

    def test_names_of_folders_are_columns(self, connection, files, tmp_path):
        public = he.bfv.PublicKey.load(files / "public.json")
        plain = pq.read_table(files / "plain.parquet").select(["year", "dept", "salary"])
        for year in (2020, 2021, 2022, 2023):
            (tmp_path / f"year={year}").mkdir()
            rows = plain.filter(pc.equal(plain["year"], year)).drop_columns(["year"])
            pq.write_table(public.encrypt_columns(rows, ["salary"]), tmp_path / f"year={year}/part.parquet")
        query = (
            "SELECT year::BIGINT AS year, dept, rows, he_bfv_decrypt(salary) FROM he_bfv_sum(?, key := "
            "getvariable('key'), by := ['year', 'dept'], condition := 'year > 2020') ORDER BY ALL"
        )
        wanted = connection.execute(
            "SELECT year, dept, count(*), sum(salary) FROM plain WHERE year > 2020 GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        assert connection.execute(query, [f"{tmp_path}/year=*/*.parquet"]).fetchall() == wanted
        one = connection.execute(query, [f"{tmp_path}/year=2022/part.parquet"]).fetchall()
        assert one == [row for row in wanted if row[0] == 2022]

    def test_one_file_is_a_pattern_of_its_own(self, connection, parts):
        assert self.sums(connection, parts / "b/*") == self.sums(connection, parts / "b/part-2.parquet")

    def test_what_does_not_add_up_is_named(self, connection, parts):
        with pytest.raises(duckdb.Error, match=r"\*\.parque: no file matches"):
            self.sums(connection, parts / "*/*.parque")
        (parts / "a/part-9.parquet").write_bytes((parts / "a/part-0.parquet").read_bytes())
        with pytest.raises(duckdb.Error, match=r"part-9\.parquet: "):
            self.sums(connection, parts / "*/*.parquet")
        (parts / "a/part-9.parquet").write_bytes(b"PAR1")
        with pytest.raises(duckdb.Error, match=r"part-9\.parquet: "):
            self.sums(connection, parts / "*/*.parquet")

    def test_nothing_is_looked_for_where_files_are_forbidden(self, files, parts):
        with hd.connect() as connection:
            connection.execute("SET enable_external_access = false")
            for pattern in ("*/*.parquet", "*/none"):
                with pytest.raises(duckdb.Error, match="Permission|disabled|access"):
                    connection.execute(
                        "FROM he_bfv_sum(?, key := ?)", [str(parts / pattern), str(files / "public.json")]
                    ).fetchall()
