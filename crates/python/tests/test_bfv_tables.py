"""Batched BFV table columns, compared with pandas' group-by; files of the command line."""

import os
import subprocess
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from required import missing

import hearith as he
from hearith import bfv
from hearith._bfv_tables import LatticeTotals
from hearith.columns import Withheld

ROWS = 9000
CHUNK = 4096


@pytest.fixture(scope="module")
def keys():
    return he.generate_keypair(scheme="bfv")


@pytest.fixture(scope="module")
def small():
    """Keys with shorter chunks, for short numbers."""
    return he.generate_keypair(scheme="bfv", parameters="bfv-4096")


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "dept": random.choice(["lab", "shop", "yard"], ROWS),
            "year": random.integers(2020, 2023, ROWS),
            "hours": random.integers(0, 8, ROWS),
            "salary": random.integers(-5000, 5000, ROWS),
            "bonus": random.integers(-500, 500, ROWS) / 4,
        }
    )


COLUMNS = {"salary": {}, "bonus": {"scale": 2}}
SHORT = {"salary": {"range": 5000}, "bonus": {"scale": 2, "range": 125}}


def short(key, table, columns=None):
    return key.encrypt_columns(table, SHORT if columns is None else columns, max_additions=20000)


def sums(frame, by):
    found = frame.groupby(by)[["salary", "bonus"]].sum().iterrows()
    keyed = ((name if isinstance(name, tuple) else (name,), row) for name, row in found)
    return [(*name, int(row.salary), Decimal(str(row.bonus))) for name, row in keyed]


def rows(private, totals, by):
    table = private.decrypt_columns(totals).to_pydict()
    names = [*([by] if isinstance(by, str) else by), "salary", "bonus"]
    return list(zip(*(table[name] for name in names), strict=True))


@pytest.mark.parametrize("owner", [False, True])
@pytest.mark.parametrize("kind", [pa.Table.from_pandas, pl.DataFrame, lambda frame: frame])
def test_totals_by_groups(keys, frame, kind, owner):
    public, private = keys
    encrypted = keys[owner].encrypt_columns(kind(frame), COLUMNS)
    assert encrypted["dept"].to_pylist() == frame["dept"].tolist()
    assert encrypted["salary"].null_count == ROWS - 2
    for by in ("dept", ["dept", "year"]):
        assert rows(private, public.sum_columns(encrypted, by=by), by) == sums(frame, by)
    back = private.decrypt_columns(encrypted)
    assert back["salary"].to_pylist() == frame["salary"].tolist()
    assert [float(bonus) for bonus in back["bonus"].to_pylist()] == frame["bonus"].tolist()
    assert back.column_names == list(frame.columns)


def test_a_column_by_its_scheme(keys, frame):
    public, private = keys
    encrypted = public.encrypt_column(frame, "bonus", scheme="bfv", scale=2, max_additions=10**6)
    total = private.decrypt_columns(public.sum_columns(encrypted))
    assert total["bonus"].to_pylist() == [Decimal(str(frame["bonus"].sum()))]
    with pytest.raises(he.KeyMismatchError, match="'paillier' needs another key"):
        public.encrypt_column(frame, "bonus", scheme="paillier")


def test_weights_and_conditions(keys, frame):
    public, private = keys
    encrypted = public.encrypt_columns(frame, SHORT, max_additions=10**6)
    total = private.decrypt_columns(public.sum_columns(encrypted, weight="hours"))
    assert total["salary"].to_pylist() == [int((frame["salary"] * frame["hours"]).sum())]
    late = frame["year"] > 2020
    for where in (
        "year > 2020",
        late.to_numpy(),
        late,
        late.tolist(),
        pa.array(late),
        pa.chunked_array([late[:100], late[100:]]),
    ):
        totals = public.sum_columns(encrypted, by="dept", where=where)
        assert rows(private, totals, "dept") == sums(frame[late], "dept")
    with pytest.raises(he.ShapeError, match="9000"):
        public.sum_columns(encrypted, where=late[:10])
    with pytest.raises(he.NumberError, match="booleans"):
        public.sum_columns(encrypted, where=frame["year"])
    with pytest.raises(he.TableError):
        public.sum_columns(encrypted, weight="dept")
    for wrong in ("year >", "salary > 3", "month > 3"):
        with pytest.raises(he.TableError):
            public.sum_columns(encrypted, where=wrong)


def test_nulls_are_passed_over(small):
    public, private = small
    table = pa.table({"g": ["a", "b", "a"], "v": pa.array([None, 2, 5], pa.int64())})
    encrypted = public.encrypt_column(table, "v", range=10, max_additions=10)
    assert private.decrypt_columns(encrypted)["v"].to_pylist() == [None, 2, 5]
    totals = public.sum_columns(encrypted, by="g")
    assert totals["v.additions"].to_pylist() == [1, 1]
    assert private.decrypt_columns(totals)["v"].to_pylist() == [5, 2]


def test_parts_and_totals_of_totals(small, frame):
    public, private = small
    parts = [short(public, frame[:5000]), short(private, frame[5000:])]
    assert rows(private, public.sum_columns(parts, by="dept"), "dept") == sums(frame, "dept")
    partial = [public.sum_columns(part, by="dept") for part in parts]
    assert rows(private, public.sum_columns(partial, by="dept"), "dept") == sums(frame, "dept")


def test_small_groups_are_left_out(small, frame):
    public, private = small
    encrypted = short(public, pd.concat([frame[:50], frame[:1].assign(dept="alone")]))
    totals = LatticeTotals(public.native, encrypted.schema, "dept")
    totals.update(encrypted)
    assert totals.withheld == Withheld(0, 0, 0)
    given = totals.finish(min_rows=2)
    assert totals.withheld == Withheld(1, 1, 0)
    assert rows(private, given, "dept") == sums(frame[:50], "dept")
    with pytest.raises(RuntimeError, match="finished"):
        totals.finish()


def test_weights_do_not_make_many_values_of_one(small):
    public, private = small
    table = pa.table({"v": [3, 40, 500], "five": [5, 0, 0], "zero": [0, 0, 0], "mixed": [1, 1, 9], "ones": [1, 1, 1]})
    encrypted = public.encrypt_column(table, "v", range=500, max_additions=100)

    def total(weight, **options):
        totals = public.sum_columns(encrypted, weight=weight, **options)
        again = public.sum_columns(totals, **options)
        (found,), (repeated,) = (private.decrypt_columns(one)["v"].to_pylist() for one in (totals, again))
        assert found == repeated, "totals keep what was counted"
        assert private.decrypt_columns(totals).column_names == ["rows", "v"]
        return found

    assert [total("five"), total("five", min_rows=2), total("five", min_rows=2, allow_rare_weights=True)] == [
        15,
        None,
        None,
    ]
    assert [total("zero"), total("zero", min_rows=3)] == [0, 0]
    assert [total("mixed", min_rows=2), total("mixed", min_rows=2, allow_rare_weights=True)] == [None, 4543]
    assert [total("ones", min_rows=3), total(None, min_rows=3)] == [543, 543]
    totals = public.sum_columns(encrypted, weight="mixed")
    assert (totals["v.values"].to_pylist(), totals["v.rarest"].to_pylist()) == ([3], [1])
    assert public.sum_columns(totals.drop_columns(["v.values"]), min_rows=2)["v"].null_count == 1, (
        "one ciphertext, one value"
    )


def test_files_of_parquet(small, frame, tmp_path):
    public, private = small
    pq.write_table(short(public, frame), tmp_path / "t.parquet", row_group_size=CHUNK)
    encrypted = pq.read_table(tmp_path / "t.parquet")
    assert rows(private, public.sum_columns(encrypted, by="dept"), "dept") == sums(frame, "dept")


def test_the_command_line_has_the_same_files(frame, tmp_path):
    if "HEARITH_COMMAND" not in os.environ:
        missing("command", "needs the built command line in HEARITH_COMMAND")

    def command(*arguments):
        subprocess.run([os.environ["HEARITH_COMMAND"], *arguments], cwd=tmp_path, check=True, capture_output=True)

    command("keygen", "--scheme", "bfv", "--out", "key")
    public, private = (
        bfv.PublicKey.load(tmp_path / "key/public.json"),
        bfv.PrivateKey.load(tmp_path / "key/private.json"),
    )
    assert private.public == public
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/private.json").write_text(private.to_jwk())
    (tmp_path / "ours/private.json").chmod(0o600)
    (tmp_path / "ours/public.json").write_text(public.to_jwk())

    pq.write_table(private.encrypt_columns(frame, COLUMNS), tmp_path / "ours.parquet")
    where = ["--where", "year > 2020"]
    command("sum", "--key", "ours/public.json", "--by", "dept", *where, "ours.parquet", "--out", "totals.parquet")
    late = frame[frame["year"] > 2020]
    assert rows(private, pq.read_table(tmp_path / "totals.parquet"), "dept") == sums(late, "dept")

    frame.to_csv(tmp_path / "t.csv", index=False)
    columns = ["--column", "salary,bonus", "--scale", "bonus=2"]
    command("encrypt", "--key", "ours/private.json", *columns, "t.csv", "--out", "theirs.parquet")
    theirs = pq.read_table(tmp_path / "theirs.parquet")
    assert rows(private, public.sum_columns(theirs, by="dept"), "dept") == sums(frame, "dept")


def test_damage_is_told(small, frame):
    public, _ = small
    encrypted = short(public, frame)
    cell = encrypted["salary"][CHUNK].as_py()
    column = encrypted["salary"].to_pylist()

    def with_cells(cells):
        place = encrypted.column_names.index("salary")
        return encrypted.set_column(place, encrypted.schema.field("salary"), pa.array(cells, pa.binary()))

    altered = bytes([*cell[:-1], cell[-1] ^ 1])
    for wrong, text in (
        (encrypted[1:], "chunk|rows"),
        (encrypted[:-1], "fewer rows"),
        (pa.concat_tables([encrypted, encrypted]), "rows"),
        (pa.concat_tables([encrypted[CHUNK:], encrypted[:CHUNK]]), "other rows"),
        (with_cells([*column[:CHUNK], altered, *column[CHUNK + 1 :]]), "altered"),
        (with_cells([*column[:CHUNK], cell[:50], *column[CHUNK + 1 :]]), "cut"),
        (with_cells([*column[:CHUNK], None, *column[CHUNK + 1 :]]), "missing"),
        (with_cells([*column[:5], column[0], *column[6:]]), "before"),
        (encrypted.drop_columns(["hearith.row"]), "hearith.row, which numbers the rows, is missing"),
        (encrypted.sort_by([("hearith.row", "descending")]), "other rows"),
        (with_cells([*column[:5], cell, *column[6:]]), "other rows"),
    ):
        with pytest.raises(he.TableError, match=text):
            public.sum_columns(wrong)
    with pytest.raises(he.TableError, match="already"):
        public.sum_columns([encrypted, encrypted])
    totals = public.sum_columns(encrypted)
    with pytest.raises(he.TableError, match="already"):
        public.sum_columns([encrypted, totals])
    twice = public.sum_columns([encrypted, totals], allow_repeated=True)
    assert twice["rows"].to_pylist() == [2 * encrypted.num_rows]


def test_schemes_and_keys_do_not_mix(keys, small, frame):
    public, private = keys
    encrypted = public.encrypt_columns(frame[:100], COLUMNS)
    paillier, secret = he.generate_keypair(512, insecure=True)
    theirs = paillier.encrypt_column(frame[:3], "salary")
    for wrong in (
        lambda: paillier.sum_columns(encrypted),
        lambda: secret.decrypt_columns(encrypted),
        lambda: public.sum_columns(theirs),
        lambda: private.decrypt_columns(theirs),
        lambda: small[0].sum_columns(encrypted),
        lambda: small[1].decrypt_columns(encrypted),
    ):
        with pytest.raises(he.KeyMismatchError):
            wrong()
    with pytest.raises(he.TableError):
        public.sum_columns(frame)


def test_values_that_do_not_fit(keys, small, frame):
    with pytest.raises(he.RangeError, match=r"row 1, column v: is out of range") as error:
        small[0].encrypt_column(pa.table({"v": [1, 99]}), "v", range=10, max_additions=5)
    assert "99" not in str(error.value)
    far = pa.table({"v": [*[0] * (CHUNK + 7), 99]})
    with pytest.raises(he.RangeError) as error:
        small[0].encrypt_column(far, "v", range=10, max_additions=5)
    assert error.value.row == CHUNK + 7
    with pytest.raises(he.RangeError, match="allows 2 to 40"):
        small[0].encrypt_column(frame, "salary")
    with pytest.raises(he.RangeError, match="additions"):
        small[0].sum_columns(small[0].encrypt_column(frame, "salary", range=5000, max_additions=100))


def test_no_rows(keys):
    public, private = keys
    empty = public.encrypt_column(pa.table({"g": pa.array([], pa.string()), "v": pa.array([], pa.int64())}), "v")
    assert private.decrypt_columns(empty).num_rows == 0
    assert private.decrypt_columns(public.sum_columns(empty)).to_pylist() == [{"rows": 0, "v": None}]
    assert public.sum_columns(empty, by="g").num_rows == 0
    assert LatticeTotals(public.native, empty.schema).finish()["rows"].to_pylist() == [0]
