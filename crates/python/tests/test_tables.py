"""Encrypted columns of tables, compared with pandas' group-by; files for the command line."""

import base64
import os
import pickle
import subprocess
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from required import missing

import hearith as he
from hearith.arrow import NAME, EncryptedType, extended, register
from hearith.columns import Aggregator, ColumnOptions, Withheld
from hearith.errors import KeyMismatchError, NumberError, RangeError, TableError

ROWS = 700


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "dept": random.choice(["lab", "shop", "yard"], ROWS),
            "salary": random.integers(-5000, 5000, ROWS),
            "bonus": random.integers(-500, 500, ROWS) / 4,
        }
    )


def expected(frame, by):
    sums = frame.groupby(by)[["salary", "bonus"]].sum()
    return {name: (int(row.salary), Decimal(str(row.bonus))) for name, row in sums.iterrows()}


def decrypted(private, totals):
    table = private.decrypt_columns(totals).to_pydict()
    return {
        dept: (int(salary), bonus)
        for dept, salary, bonus in zip(table["dept"], table["salary"], table["bonus"], strict=True)
    }


COLUMNS = {"salary": ColumnOptions(), "bonus": {"scale": 2}}


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("kind", [pa.Table.from_pandas, pl.DataFrame, lambda frame: frame])
def test_totals_by_groups(keys, frame, kind, pack):
    public, private = keys
    encrypted = public.encrypt_columns(kind(frame), COLUMNS, pack=pack)
    names = ["salary+bonus"] if pack else ["salary", "bonus"]
    assert all(isinstance(encrypted.schema.field(name).type, EncryptedType) for name in names)
    assert encrypted["dept"].to_pylist() == frame["dept"].tolist()
    assert decrypted(private, public.sum_columns(encrypted, by="dept")) == expected(frame, "dept")


def test_the_owner_encrypts_tables_too(keys, frame):
    public, private = keys
    encrypted = private.encrypt_columns(frame, COLUMNS)
    assert decrypted(private, public.sum_columns(encrypted, by=["dept"])) == expected(frame, "dept")


def test_columns_as_arrays_and_back(keys, frame):
    public, private = keys
    encrypted = public.encrypt_column(frame, "bonus", scale=2)
    array = he.EncryptedArray.from_arrow(public, encrypted["bonus"])
    assert private.decrypt(array).astype(float).tolist() == frame["bonus"].tolist()
    part = he.EncryptedArray.from_arrow(public, encrypted["bonus"].combine_chunks()[3:10])
    assert private.decrypt(part).astype(float).tolist() == frame["bonus"].tolist()[3:10]
    again = he.EncryptedArray.from_arrow(public, (array * 2).to_arrow())
    assert again.encoding == array.encoding
    assert private.decrypt(again).astype(float).tolist() == (2 * frame["bonus"]).tolist()


@pytest.mark.parametrize("options", [{}, {"scale": 3}, {"exponent": -6}, {"range": 2**300}])
def test_the_extension_type(keys, options):
    public, private = keys
    column = public.encrypt([1, -2, 3], **options).to_arrow()
    description = column.type.description
    assert (description.scheme, description.key, description.bits) == ("paillier", public.id, 512)
    sink = pa.BufferOutputStream()
    table = pa.table({"c": column})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    read = pa.ipc.open_stream(sink.getvalue()).read_all()["c"]
    assert read.type == column.type
    assert private.decrypt(he.EncryptedArray.from_arrow(public, read)).tolist() == [1, -2, 3]
    assert pickle.loads(pickle.dumps(column.type)) == column.type


def test_parquet_keeps_the_type(keys, frame, tmp_path):
    public, private = keys
    encrypted = public.encrypt_columns(frame, COLUMNS)
    pq.write_table(encrypted, tmp_path / "t.parquet")
    read = pq.read_table(tmp_path / "t.parquet")
    assert read.schema.equals(encrypted.schema, check_metadata=True)
    assert decrypted(private, public.sum_columns(read, by="dept")) == expected(frame, "dept")


def test_parts_add_up(keys, frame):
    public, private = keys
    encrypted = public.encrypt_columns(frame, COLUMNS)
    halves = [encrypted.slice(0, 300), encrypted.slice(300)]
    with pytest.raises(TableError, match="which was added already"):
        public.sum_columns(halves, by="dept")
    pieces = [batch for half in halves for batch in half.to_batches()]
    for totals in (
        public.sum_columns(halves, by="dept", allow_repeated=True),
        public.sum_columns(pieces, by="dept"),
    ):
        assert decrypted(private, totals) == expected(frame, "dept")
        with pytest.raises(TableError, match="which was added already"):
            public.sum_columns([encrypted, totals], by="dept")
    totals = Aggregator(public, encrypted.schema, by="dept")
    for half in halves:
        totals.update(half)
    partial = totals.finish()
    assert decrypted(private, public.sum_columns([partial], by="dept")) == expected(frame, "dept")
    with pytest.raises(RuntimeError, match="finished"):
        totals.finish()


def cells(table):
    """Returns the bytes of every ciphertext in column `x`."""
    return [bytes(cell.as_buffer()) for cell in table["x"].combine_chunks().storage]


def test_totals_of_single_values_are_rerandomised_when_asked_for(keys):
    public, private = keys
    encrypted = public.encrypt_columns(pa.table({"g": ["a", "b", "b"], "x": [1, 2, 3]}), ["x"])
    plain = public.sum_columns(encrypted, by="g")
    assert cells(plain)[0] == cells(encrypted)[0], "a group of one row shows that row's ciphertext"
    other = public.sum_columns(encrypted, by="g", rerandomise=True)
    assert not set(cells(other)) & {*cells(plain), *cells(encrypted)}
    assert private.decrypt_columns(other, check=True) == private.decrypt_columns(plain)


def test_small_groups_are_withheld(keys):
    public, private = keys
    table = pa.table({"g": ["a", "b", "b", "c", "c"], "x": [1, 2, 3, 4, None]})
    totals = Aggregator(public, (encrypted := public.encrypt_columns(table, ["x"])).schema, "g")
    totals.update(encrypted)
    assert totals.withheld == Withheld(0, 0, 0)
    given = private.decrypt_columns(totals.finish(min_rows=2)).to_pydict()
    assert given == {"g": ["b", "c"], "rows": [2, 2], "x": [5, None]}, "the 4 alone is not given out"
    assert totals.withheld == Withheld(groups=1, rows=1, totals=1)
    assert public.sum_columns(encrypted, min_rows=6).num_rows == 0


def test_values_are_counted_apart_from_additions(keys):
    public, private = keys
    encrypted = public.encrypt_columns(pa.table({"x": [7]}), ["x"])
    position = encrypted.schema.get_field_index("x.additions")
    field = encrypted.schema.field(position)
    # An import from phe gives a multiplied number such a count.
    five = encrypted.set_column(position, field, pa.array([5], pa.uint64()))
    totals = public.sum_columns(five)
    assert (totals["x.additions"].to_pylist(), totals["x.values"].to_pylist()) == ([5], [1])
    for one in (five, totals, totals.drop_columns(["x.values"])):
        assert private.decrypt_columns(public.sum_columns(one))["x"].to_pylist() == [7]
        assert public.sum_columns(one, min_rows=1)["x"].null_count == 0
        assert public.sum_columns([one], min_rows=2).num_rows == 0
    three = [public.encrypt_columns(pa.table({"x": [7, None, 9]}), ["x"]) for _ in range(2)]
    parts = [public.sum_columns(one) for one in three]
    given = [public.sum_columns(parts, min_rows=least) for least in (4, 5)]
    assert [private.decrypt_columns(one)["x"].to_pylist() for one in given] == [[32], [None]]


def test_counts_go_with_a_renamed_column_and_no_other(keys):
    public, private = keys
    totals = public.sum_columns(public.encrypt_columns(pa.table({"x": [7, 9]}), ["x"]))
    renamed = he.rename(totals, {"x": "y"})
    assert renamed.column_names == ["rows", "y", "y.additions", "y.values"]
    assert private.decrypt_columns(public.sum_columns(renamed, min_rows=2))["y"].to_pylist() == [16]
    # A join adds a suffix to both names; another column's counts then have the name without it.
    names = {"x": "x_right", "x.additions": "x.additions_right"}
    joined = totals.rename_columns([names.get(name, name) for name in totals.column_names])
    assert public.sum_columns(joined, min_rows=2)["x_right"].null_count == 1


@pytest.mark.parametrize(
    ("scale", "limit", "units"),
    [
        (2, Decimal("0.05"), 5),
        (2, 1.5, 150),
        (0, 7, 7),
        (None, 2**70, 2**70),
        (3, 2**60, 2**60 * 1000),
        (38, Decimal("1e-38"), 1),
        (1.0, "12.5", None),
    ],
)
def test_ranges_are_exact(keys, scale, limit, units):
    table = pa.table({"x": [0]})
    if units is None:
        with pytest.raises(NumberError):
            keys[0].encrypt_column(table, "x", scale=scale, range=limit)
        return
    described = keys[0].encrypt_column(table, "x", scale=scale, range=limit, max_additions=2).schema.field("x").type
    assert described.description.ranges == (units,)


def test_a_whole_float_is_a_scale_and_another_is_none(keys):
    public, private = keys
    for scale in (1, 1.0, np.float64(1), np.int64(1)):
        array = public.encrypt([0.5, 2], scale=scale)
        assert (array.scale, type(array.scale), str(array.encoding)) == (1, int, "scale 1")
        assert private.decrypt(array).tolist() == [Decimal("0.5"), Decimal("2.0")]
        table = public.encrypt_column(pa.table({"x": [0.5]}), "x", scale=scale)
        assert table.schema.field("x").type.description.scales == (1,)
        assert array.multiply(0.5, scale=scale).scale == 2
        assert public.encrypt([1]).rescale(scale=scale).scale == 1
    for scale in (1.5, "1", [1], Decimal("1"), float("nan"), np.ma.masked):
        with pytest.raises(NumberError, match="scale must be a whole number"):
            public.encrypt([1], scale=scale)
        with pytest.raises(NumberError, match="scale must be a whole number"):
            public.encrypt_column(pa.table({"x": [1]}), "x", scale=scale)


def test_decimals_are_as_narrow_as_their_numbers(keys, tmp_path):
    """Range and additions require 76 digits, but polars cannot read such columns and DuckDB
    converts them to doubles.
    """
    public, private = keys
    pay = pa.array([Decimal("12345678901234567890.78"), Decimal("0.01"), None], pa.decimal128(38, 2))
    plain = pa.array([Decimal(7), None, None], pa.decimal256(76, 0))
    table = pa.table({"pay": pay, "plain": plain})
    encrypted = public.encrypt_columns(table, {"pay": {"range": Decimal(10) ** 30}})
    total = private.decrypt_columns(public.sum_columns(encrypted))
    assert total.schema.field("pay").type == pa.decimal128(38, 2)
    pq.write_table(total, tmp_path / "total.parquet")
    assert pl.read_parquet(tmp_path / "total.parquet")["pay"].to_list() == [Decimal("12345678901234567890.79")]
    rows = private.decrypt_columns(encrypted)
    assert (rows.schema.field("pay").type, rows["pay"].to_pylist()) == (pa.decimal128(38, 2), pay.to_pylist())
    assert rows.schema.field("plain").type == plain.type
    most = pa.table({"pay": pa.array([Decimal("9" * 36 + ".99")] * 2, pa.decimal128(38, 2))})
    large = public.sum_columns(public.encrypt_columns(most, {"pay": {"range": Decimal(10) ** 36}}))
    found = private.decrypt_columns(large)["pay"]
    assert found.type == pa.decimal256(76, 2)
    assert str(found[0].as_py()) == "1999999999999999999999999999999999999.98"


def test_nulls(keys):
    public, private = keys
    encrypted = public.encrypt_column(pa.table({"x": [1, None, 3]}), "x")
    assert private.decrypt_columns(public.sum_columns(encrypted)).to_pydict() == {"rows": [3], "x": [4]}
    with pytest.raises(TableError, match="1 rows are null"):
        he.EncryptedArray.from_arrow(public, encrypted["x"])


def test_empty_tables(keys):
    public, private = keys
    table = pa.table({"x": pa.array([], pa.int64())})
    encrypted = public.encrypt_column(table, "x")
    assert encrypted.num_rows == 0
    assert isinstance(encrypted.schema.field("x").type, EncryptedType)
    assert private.decrypt_columns(encrypted).num_rows == 0
    assert private.decrypt_columns(public.sum_columns(encrypted)).to_pydict() == {"rows": [0], "x": [None]}


def test_refusals(keys, other_keys):
    public, _private = keys
    table = pa.table({"x": [1, 2], "name": ["a", "b"], "day": pa.array([1, 2], pa.date32())})
    encrypted = public.encrypt_column(table, "x", max_additions=3)
    with pytest.raises(TableError, match="column y: there is no such column"):
        public.encrypt_column(table, "y")
    with pytest.raises(TableError, match="is already encrypted"):
        public.encrypt_column(encrypted, "x")
    with pytest.raises(TableError, match="named twice"):
        public.encrypt_columns(table, ["x", "x"])
    with pytest.raises(TableError, match="row 0, column name"):
        public.encrypt_column(table, "name")
    with pytest.raises(TableError, match="not numbers"):
        public.encrypt_column(table, "day")
    with pytest.raises(RangeError, match="row 1, column x"):
        public.encrypt_column(table, "x", range=1)
    with pytest.raises(TableError, match="more digits than the scale"):
        public.encrypt_column(table, "x", range=1.5)
    with pytest.raises(KeyMismatchError, match=other_keys[0].id):
        other_keys[0].sum_columns(encrypted)
    with pytest.raises(KeyMismatchError):
        other_keys[1].decrypt_columns(encrypted)
    with pytest.raises(KeyMismatchError):
        he.EncryptedArray.from_arrow(other_keys[0], encrypted["x"])
    with pytest.raises(TableError, match="not encrypted"):
        he.EncryptedArray.from_arrow(public, table["x"])
    with pytest.raises(RangeError, match="additions exceed"):
        public.sum_columns([encrypted, encrypted], allow_repeated=True)
    with pytest.raises(TableError, match="no table"):
        public.sum_columns([])
    with pytest.raises(TypeError, match="is not a table"):
        public.encrypt_column({"x": [1]}, "x")
    packed = public.encrypt_columns(table.select(["x"]), ["x"], pack=True)
    name = next(name for name in packed.column_names if not name.endswith("additions"))
    with pytest.raises(TableError, match="packed"):
        he.EncryptedArray.from_arrow(public, packed[name])


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'{"key": "a", "scales": [0], "ranges": ["x"]}'])
def test_damaged_descriptions(text):
    with pytest.raises(TableError, match="damaged"):
        EncryptedType.__arrow_ext_deserialize__(pa.binary(128), text)


def test_the_command_line_and_the_package_read_each_others_files(frame, tmp_path):
    if "HEARITH_COMMAND" not in os.environ:
        missing("command", "needs the built command line in HEARITH_COMMAND")

    def command(*arguments):
        subprocess.run([os.environ["HEARITH_COMMAND"], *arguments], cwd=tmp_path, check=True, capture_output=True)

    command("keygen", "--bits", "2048", "--out", "key")
    public = he.PublicKey.from_jwk((tmp_path / "key/public.json").read_text())
    private = he.PrivateKey.from_jwk((tmp_path / "key/private.json").read_text())
    small = frame.head(40)

    pq.write_table(private.encrypt_columns(small, COLUMNS), tmp_path / "ours.parquet")
    command("sum", "--key", "key/public.json", "--by", "dept", "ours.parquet", "--out", "totals.parquet")
    assert decrypted(private, pq.read_table(tmp_path / "totals.parquet")) == expected(small, "dept")

    small.to_csv(tmp_path / "t.csv", index=False)
    command(
        "encrypt",
        "--key",
        "key/private.json",
        "--column",
        "salary,bonus",
        "--scale",
        "bonus=2",
        "t.csv",
        "--out",
        "theirs.parquet",
    )
    theirs = pq.read_table(tmp_path / "theirs.parquet")
    assert decrypted(private, public.sum_columns(theirs, by="dept")) == expected(small, "dept")
    salaries = he.EncryptedArray.from_arrow(public, extended(theirs)["salary"])
    assert private.decrypt(salaries).tolist() == small["salary"].tolist()


def test_files_of_the_command_line_have_the_type(keys, tmp_path):
    """Other programs read several files as one table, and must not join different ones."""
    if "HEARITH_COMMAND" not in os.environ:
        missing("command", "needs the built command line in HEARITH_COMMAND")

    def command(*arguments):
        subprocess.run([os.environ["HEARITH_COMMAND"], *arguments], cwd=tmp_path, check=True, capture_output=True)

    public, private = he.generate_keypair(2048)
    (tmp_path / "public.json").write_text(public.to_jwk())
    name = 'Größe "ä😀"'
    frames = [pd.DataFrame({"g": ["a", "b"], name: numbers}) for numbers in ([1.5, 2], [3, 4.5], [0.25, 8])]
    options = [{"scale": 1}, {"scale": 1}, {"scale": 2}]
    for part, (frame, chosen) in enumerate(zip(frames, options, strict=True)):
        frame.to_csv(tmp_path / f"{part}.csv", index=False)
        quoted = '"' + name.replace('"', '""') + '"'
        arguments = ["encrypt", "--key", "public.json", "--column", quoted, "--scale", str(chosen["scale"])]
        command(*arguments, f"{part}.csv", "--out", f"{part}.parquet")
        # The package must write the same bytes, so that both kinds of files are compatible.
        pq.write_table(public.encrypt_columns(frame, {name: chosen}), tmp_path / "ours.parquet")
        fields = [stored_schema(tmp_path / file).field(name) for file in (f"{part}.parquet", "ours.parquet")]
        assert len({field.metadata[b"ARROW:extension:metadata"] for field in fields}) == 1
        assert len({field.metadata[b"ARROW:extension:name"] for field in fields}) == 1
    theirs = [tmp_path / f"{part}.parquet" for part in range(3)]
    assert isinstance(pq.read_schema(theirs[0]).field(name).type, EncryptedType)

    def total(table):
        return private.decrypt_columns(public.sum_columns(table))[name].to_pylist()

    alike = pq.read_table(theirs[:2])
    assert total(alike) == [11]
    assert total([pq.read_table(file) for file in theirs]) == [Decimal("19.25")]
    assert total([pd.read_parquet(file) for file in theirs]) == [Decimal("19.25")]
    assert total(pd.concat(map(pd.read_parquet, theirs[::2]))) == [Decimal("11.75")]
    unlike = theirs[::2]
    for read in (
        lambda: pq.read_table(unlike),
        lambda: pyarrow.dataset.dataset([str(file) for file in unlike]).to_table(),
        lambda: pa.concat_tables(map(pq.read_table, unlike)),
        lambda: pa.concat_tables(map(pq.read_table, unlike), promote_options="permissive"),
        lambda: pd.read_parquet(tmp_path, filters=[("g", "==", "a")]),
    ):
        with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
            read()
    for read in (
        lambda: pl.read_parquet(unlike),
        lambda: pl.scan_parquet(unlike).collect(),
        lambda: pl.concat(map(pl.read_parquet, unlike)),
        lambda: pl.concat(map(pl.read_parquet, unlike), how="diagonal_relaxed"),
    ):
        with pytest.raises(pl.exceptions.PolarsError):
            read()
    # Totals too.
    for part in (0, 2):
        command("sum", "--key", "public.json", f"{part}.parquet", "--out", f"totals-{part}.parquet")
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
        pq.read_table([tmp_path / f"totals-{part}.parquet" for part in (0, 2)])


def stored_schema(file):
    """Returns the stored Arrow schema of a file, with extension types as metadata."""
    encoded = pq.read_metadata(file).metadata[b"ARROW:schema"]
    pa.unregister_extension_type(NAME)
    try:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(encoded)))
    finally:
        register()


def test_unlike_tables_add_up(keys):
    """Scales, ranges, numbers of additions and group column widths are aligned in a list of tables
    of any library.
    """
    public, private = keys
    given = [
        ({"g": np.array([1, 2], np.int8), "x": ["1.5", "-2"]}, {"x": {"scale": 1}}, 100),
        ({"g": np.array([2, 3], np.int64), "x": [7, 8]}, {"x": {}}, 50),
        ({"g": np.array([1, 1], np.int16), "x": ["0.025", "10"]}, {"x": {"scale": 3, "range": 99}}, 1000),
    ]
    tables = [public.encrypt_columns(pa.table(plain), columns, max_additions=most) for plain, columns, most in given]
    wanted = {"g": [1, 2, 3], "rows": [3, 2, 1], "x": [Decimal("11.525"), Decimal("5.000"), Decimal("8.000")]}
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        totals = public.sum_columns([tables[place] for place in order], by="g")
        assert private.decrypt_columns(totals).to_pydict() == wanted
        assert totals.schema.field("x").type.description.max_additions == 50
    frames = [table.to_pandas() for table in tables]
    assert private.decrypt_columns(public.sum_columns(frames, by="g")).to_pydict() == wanted
    totals = [public.sum_columns(table, by="g") for table in tables]
    assert private.decrypt_columns(public.sum_columns(totals, by="g")).to_pydict() == wanted
    running = Aggregator(public, tables[0].schema, "g", others=[table.schema for table in tables[1:]])
    for table in tables:
        running.begin(table.schema)
        running.update(table)
    assert private.decrypt_columns(running.finish()).to_pydict() == wanted
    with pytest.raises(TableError, match="added already"):
        public.sum_columns([*tables, tables[0]], by="g")


def test_tables_that_cannot_be_aligned(keys):
    public, _ = keys
    one = public.encrypt_columns(pa.table({"x": [1], "y": [1]}), ["x", "y"])
    packed = public.encrypt_columns(pa.table({"x": [1], "y": [1]}), ["x", "y"], pack=True)
    wide = public.encrypt_columns(pa.table({"x": [1]}), {"x": {"scale": 30, "range": 10**7}})
    huge = public.encrypt_columns(pa.table({"x": [1]}), {"x": {"range": 10**36}})
    other = he.generate_keypair(512, insecure=True)[0].encrypt_columns(pa.table({"x": [1], "y": [1]}), ["x", "y"])
    for tables, error in [([one, packed], TableError), ([wide, huge], TableError), ([one, other], KeyMismatchError)]:
        with pytest.raises(error):
            public.sum_columns(tables)
    with pytest.raises(TableError, match="too large for the additions"):
        public.sum_columns([wide, huge])
    # The tables of an iterator are unknown in advance.
    cents = public.encrypt_columns(pa.table({"x": [1], "y": [1]}), {"x": {"scale": 2}, "y": {}})
    with pytest.raises(TableError, match="is .*, not .* as before"):
        public.sum_columns(iter([one, cents]))
