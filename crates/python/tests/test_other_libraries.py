"""Encrypted columns keep their meaning when pandas and polars filter, rename, write and read
them.
"""

import pickle
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hearith as he
import hearith.columns
from hearith import _descriptions
from hearith.arrow import EncryptedType
from hearith.errors import TableError

FRAME = pd.DataFrame({"dept": ["lab", "shop", "lab"], "salary": [3100, 2800, None]})
TOTALS = {"lab": Decimal(3100), "shop": Decimal(2800)}


@pytest.fixture(scope="module")
def encrypted(keys):
    return keys[0].encrypt_column(FRAME, "salary")


@pytest.fixture(scope="module")
def packed(keys):
    options = {"a": {"range": 1000, "scale": 1}, "b": {"range": 1000}}
    return keys[0].encrypt_columns(pd.DataFrame({"a": [0.5, 2], "b": [3, 4]}), options, pack=True, max_additions=100)


def written(table, tmp_path, write=pq.write_table):
    write(table, tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


def through_files(table, write, tmp_path):
    return pq.read_table(written(table, tmp_path, write))


PASSED_ON = {
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazily": lambda table, _: pl.from_arrow(table).lazy(),
    "polars as Arrow": lambda table, _: pl.from_arrow(table).to_arrow(),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas twice": lambda table, _: pa.Table.from_pandas(table.to_pandas()).to_pandas(),
    "Parquet of polars": lambda table, path: through_files(pl.from_arrow(table), lambda t, f: t.write_parquet(f), path),
    "Parquet of pandas": lambda table, path: through_files(table.to_pandas(), lambda t, f: t.to_parquet(f), path),
    "read by polars": lambda table, path: pl.read_parquet(written(table, path)),
    "scanned by polars": lambda table, path: pl.scan_parquet(written(table, path)),
    "read by pandas": lambda table, path: pd.read_parquet(written(table, path)),
    "read by pandas as Arrow": lambda table, path: pd.read_parquet(written(table, path), dtype_backend="pyarrow"),
    "written and read by polars": lambda table, path: pl.read_parquet(
        written(table, path, lambda t, f: pl.from_arrow(t).write_parquet(f))
    ),
    "written and read by pandas": lambda table, path: pd.read_parquet(
        written(table, path, lambda t, f: t.to_pandas().to_parquet(f))
    ),
    "large binary": lambda table, _: stored(table, pa.large_binary()),
}


def stored(table, storage):
    """Returns a table whose encrypted columns are stored as another binary type and have lost their
    metadata.
    """
    for place, field in enumerate(table.schema):
        if isinstance(field.type, EncryptedType):
            kind = EncryptedType(field.type.description, storage)
            chunks = [
                pa.ExtensionArray.from_storage(kind, chunk.storage.cast(storage)) for chunk in table[place].chunks
            ]
            table = table.set_column(place, pa.field(field.name, kind), pa.chunked_array(chunks, type=kind))
    return table


@pytest.mark.parametrize("way", PASSED_ON)
def test_totals_are_the_same(keys, encrypted, tmp_path, way):
    public, private = keys
    passed = PASSED_ON[way](encrypted, tmp_path)
    totals = private.decrypt_columns(public.sum_columns(passed, by="dept")).to_pydict()
    assert dict(zip(totals["dept"], totals["salary"], strict=True)) == TOTALS
    assert private.decrypt_columns(passed)["salary"].to_pylist() == [3100, 2800, None]


@pytest.mark.parametrize("way", PASSED_ON)
def test_packed_columns(keys, packed, tmp_path, way):
    found = keys[1].decrypt_columns(PASSED_ON[way](packed, tmp_path)).to_pydict()
    assert found == {"a": [Decimal("0.5"), Decimal(2)], "b": [3, 4]}


def test_rows_taken_by_other_libraries(keys, encrypted):
    private = keys[1]
    assert private.decrypt_columns(encrypted.to_pandas().query("dept == 'lab'"))["salary"].to_pylist() == [3100, None]
    several = pd.concat([encrypted.to_pandas(), encrypted.to_pandas()])
    assert private.decrypt_columns(several)["salary"].to_pylist() == [3100, 2800, None] * 2
    lab = pl.from_arrow(encrypted).lazy().filter(pl.col("dept") == "shop")
    assert private.decrypt_columns(lab)["salary"].to_pylist() == [2800]


def joined_by_pyarrow(left, right):
    """Performs a full outer join by `dept`, for which the types must match."""
    kind = right.schema.field("dept").type
    return pa.table({**left, "dept": pa.array(left["dept"], kind)}).join(right, "dept", join_type="full outer")


OUTER_JOINS = {
    "pyarrow": joined_by_pyarrow,
    "pandas": lambda left, right: left.merge(right.to_pandas(), on="dept", how="outer"),
    "Parquet of pandas": lambda left, right: left.merge(right.to_pandas(), on="dept", how="outer"),
    "polars": lambda left, right: pl.from_pandas(left).join(pl.from_arrow(right), "dept", "full", coalesce=True),
    "polars, stacked": lambda left, right: pl.concat([pl.from_pandas(left), pl.from_arrow(right)], how="diagonal"),
}


@pytest.mark.parametrize("way", OUTER_JOINS)
def test_outer_joins_count_nothing_where_there_is_nothing(keys, encrypted, tmp_path, way):
    """Joins leave nulls in counting columns, which pandas turns into floats."""
    public, private = keys
    joined = OUTER_JOINS[way](pd.DataFrame({"dept": ["shop", "yard"], "head": ["Bo", "Cy"]}), encrypted)
    if way.startswith("Parquet"):
        joined.to_parquet(tmp_path / "joined.parquet")
        joined = pd.read_parquet(tmp_path / "joined.parquet")
    totals = private.decrypt_columns(public.sum_columns(joined, by="dept")).to_pydict()
    assert dict(zip(totals["dept"], totals["salary"], strict=True)) == {**TOTALS, "yard": None}
    assert sum(number or 0 for number in private.decrypt_columns(joined)["salary"].to_pylist()) == 5900
    # Totals count additions and values.
    heads = pd.DataFrame({"dept": ["yard", "lab"], "head": ["Cy", "Di"]})
    sums = OUTER_JOINS[way](heads, public.sum_columns(encrypted, by="dept").drop_columns("rows"))
    again = private.decrypt_columns(public.sum_columns(sums)).to_pylist()
    assert again[0]["salary"] == 5900
    few = private.decrypt_columns(public.sum_columns(sums, by="dept", min_rows=1)).to_pydict()
    assert dict(zip(few["dept"], few["salary"], strict=True)) == {**TOTALS, "yard": None}


def test_counts_that_are_none_stay_errors(keys, encrypted):
    public, place = keys[0], encrypted.schema.get_field_index("salary.additions")
    for wrong, said in [
        (pa.array([None, 1, 0], pa.uint64()), "row 0, column salary.additions: must not be null"),
        (pa.array([1.5, 1, 0]), "is not UInt64"),
        (pa.array([-1, 1, 0]), "is not UInt64"),
        (pa.array(["1", "x", "0"]), "is not UInt64"),
        (pa.array([1, 1, 1], pa.uint64()), "row 2, column salary: null, yet its companion counts additions"),
    ]:
        with pytest.raises(TableError, match=said):
            public.sum_columns(encrypted.set_column(place, "salary.additions", wrong))


def test_columns_of_other_scales_and_keys_are_no_column_together(keys, other_keys, encrypted, tmp_path):
    """pyarrow joins columns of equal types; different descriptions must be different types."""
    others = [
        keys[0].encrypt_columns(FRAME, {"salary": {"scale": 2}}),
        keys[0].encrypt_columns(FRAME, {"salary": {"range": 9999}}),
        other_keys[0].encrypt_column(FRAME, "salary"),
    ]
    kind = encrypted.schema.field("salary").type
    assert kind == pickle.loads(pickle.dumps(kind))
    assert hash(kind) == hash(pickle.loads(pickle.dumps(kind)))
    for other in others:
        assert kind != other.schema.field("salary").type
        for options in ("none", "default", "permissive"):
            with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
                pa.concat_tables([encrypted, other], promote_options=options)
        with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
            pa.Table.from_batches([*encrypted.to_batches(), *other.to_batches()])
        with pytest.raises(pa.ArrowInvalid):
            pa.concat_arrays([encrypted["salary"].chunk(0), other["salary"].chunk(0)])
        for name, table in [("a", encrypted), ("b", other)]:
            pq.write_table(table, tmp_path / f"{name}.parquet")
        with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
            pq.read_table(tmp_path)
    same = pa.concat_tables([encrypted, keys[0].encrypt_column(FRAME, "salary")])
    assert keys[1].decrypt_columns(keys[0].sum_columns(same))["salary"].to_pylist() == [11800]


LIBRARIES = {
    "pyarrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "polars lazily": lambda table: pl.from_arrow(table).lazy(),
}


def names_of(table):
    """Returns the names of a table's columns, for any library."""
    return (
        table.collect_schema().names() if isinstance(table, pl.LazyFrame) else he.columns.as_table(table).column_names
    )


def renamed(table, names):
    """Renames a table with its own library's method."""
    if isinstance(table, pd.DataFrame):
        return table.rename(columns=names)
    return table.rename_columns(names) if isinstance(table, pa.Table) else table.rename(names)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("names", [{"salary": "pay"}, {"salary": "pay", "salary.additions": "pay.additions"}])
def test_a_column_may_change_its_name(keys, encrypted, library, names):
    public, private = keys
    table = renamed(LIBRARIES[library](encrypted), names)
    assert private.decrypt_columns(table)["pay"].to_pylist() == [3100, 2800, None]
    totals = public.sum_columns([table, table], by="dept", allow_repeated=True)
    counting = [names.get("salary.additions", "salary.additions"), "pay.values"]
    assert totals.column_names == ["dept", "rows", "pay", *counting]
    assert private.decrypt_columns(totals)["pay"].to_pylist() == [6200, 5600]
    running = he.columns.Aggregator(public, he.columns.as_table(table).schema, "dept")
    running.update(table)
    assert private.decrypt_columns(running.finish())["pay"].to_pylist() == [3100, 2800]


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_renamed_with_their_companions(keys, encrypted, library):
    table = he.rename(LIBRARIES[library](encrypted), {"salary": "pay", "dept": "place"})
    assert type(table) is type(LIBRARIES[library](encrypted))
    assert names_of(table) == ["place", "pay", "pay.additions"]
    totals = keys[1].decrypt_columns(keys[0].sum_columns(table, by="place")).to_pydict()
    assert totals == {"place": ["lab", "shop"], "rows": [2, 1], "pay": [3100, 2800]}
    again = he.rename(renamed(LIBRARIES[library](encrypted), {"salary": "pay"}), {"pay": "wage"})
    assert names_of(again) == ["dept", "wage", "wage.additions"]
    with pytest.raises(TableError, match="column wages: there is no such column"):
        he.rename(table, {"wages": "pay"})
    with pytest.raises(TableError, match="column place: named twice"):
        he.rename(table, {"pay": "place"})


def test_renamed_files_say_their_new_names(keys, encrypted, tmp_path):
    pq.write_table(he.rename(encrypted, {"salary": "pay"}), tmp_path / "t.parquet")
    entries = pq.read_schema(tmp_path / "t.parquet").field("pay").metadata
    assert (entries[b"hearith.columns"], entries[b"hearith.additions"]) == (b'["pay"]', b'["pay.additions"]')


def test_packed_columns_keep_the_names_within(keys, packed):
    table = he.rename(packed, {"a+b": "both"})
    assert table.column_names == ["both", "a.additions", "b.additions"]
    assert keys[1].decrypt_columns(table).to_pydict() == {"a": [Decimal("0.5"), Decimal(2)], "b": [3, 4]}
    with pytest.raises(TableError, match="column a: there is no such column"):
        he.rename(packed, {"a": "x"})


def test_columns_that_are_encrypted_whole_keep_their_names():
    public, _ = he.generate_keypair(scheme="bfv", parameters="bfv-4096")
    table = public.encrypt_columns(FRAME.fillna(1), {"salary": {"range": 5000}}, max_additions=100)
    assert he.rename(table, {"dept": "place"}).column_names == ["place", "salary", "salary.additions", "hearith.row"]
    with pytest.raises(TableError, match="column salary: a BFV column is bound to its name"):
        he.rename(table, {"salary": "pay"})


JOINS = {
    "pyarrow": lambda table: table.join(he.rename(table, {"salary": "pay"}), "dept"),
    "pandas": lambda table: table.to_pandas().merge(table.to_pandas(), on="dept", suffixes=(None, "_2")),
    "polars": lambda table: pl.from_arrow(table).join(pl.from_arrow(table), on="dept", suffix="_2"),
}


@pytest.mark.parametrize("library", JOINS)
def test_joins_with_a_renamed_copy(keys, library):
    frame = pd.DataFrame({"dept": ["lab", "shop"], "salary": [1, 20]})
    joined = keys[1].decrypt_columns(JOINS[library](keys[0].encrypt_column(frame, "salary"))).to_pydict()
    assert [len(joined), joined["salary"], joined.get("pay", joined.get("salary_2"))] == [3, [1, 20], [1, 20]]


def test_a_copy_without_a_companion_of_its_own_is_refused(keys, encrypted):
    copied = pl.from_arrow(encrypted).with_columns(pl.col("salary").alias("pay"))
    with pytest.raises(TableError, match=r"column pay: its companion column salary\.additions is used twice"):
        keys[0].sum_columns(copied, by="dept")


def bare(table):
    """Returns a table without types and descriptions, as left by a program that does not know
    them.
    """
    columns = [c.combine_chunks() for c in table.columns]
    plain = [c.storage.cast(pa.binary()) if isinstance(c.type, EncryptedType) else c for c in columns]
    return pa.table(dict(zip(table.column_names, plain, strict=True)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_lost_descriptions_are_put_back(keys, encrypted, tmp_path, library):
    public, private = keys
    pq.write_table(encrypted, tmp_path / "t.parquet")
    lost = LIBRARIES[library](bare(encrypted))
    with pytest.raises(TableError):
        private.decrypt_columns(he.columns.as_table(lost).select(["salary"]))
    for like in (encrypted, encrypted.schema, LIBRARIES[library](encrypted), tmp_path / "t.parquet"):
        table = he.describe(lost, like)
        fields = [one.schema.field("salary") for one in (table, encrypted)]
        assert fields[0].equals(fields[1])
        # Programs that drop metadata also drop the table's id (docs/reference/tables.md).
        entries = [_descriptions.entries(field) for field in fields]
        assert entries[0].items() <= entries[1].items()
        assert entries[1].keys() - entries[0].keys() <= {_descriptions.TABLE, _descriptions.VERSION}
        totals = private.decrypt_columns(public.sum_columns(table, by="dept")).to_pydict()
        assert dict(zip(totals["dept"], totals["salary"], strict=True)) == TOTALS


def test_what_cannot_be_described(encrypted):
    lost = bare(encrypted)
    with pytest.raises(TableError, match=r"column salary: .*salary\.additions.* missing"):
        he.describe(lost.drop_columns(["salary.additions"]), encrypted)
    short = lost.set_column(1, "salary", pa.array([b"x", None, b"y"], pa.binary()))
    with pytest.raises(TableError, match="column salary: does not match its description"):
        he.describe(short, encrypted)
    with pytest.raises(TypeError, match="is not a table"):
        he.describe({"salary": []}, encrypted)


def test_a_column_without_its_companion_is_refused(keys, encrypted):
    with pytest.raises(TableError, match=r"salary\.additions"):
        keys[0].sum_columns(pl.from_arrow(encrypted).drop("salary.additions"), by="dept")


def test_series_are_tables_of_a_column(keys):
    for series in (FRAME["salary"], pl.Series("salary", [3100, 2800, None])):
        table = keys[0].encrypt_column(series, "salary")
        assert keys[1].decrypt_columns(table)["salary"].to_pylist() == [3100, 2800, None]


def test_ciphertexts_of_another_length(keys, encrypted):
    kind = EncryptedType(encrypted.schema.field("salary").type.description, pa.binary())
    short = pa.ExtensionArray.from_storage(kind, pa.array([b"x", None, b"y"], pa.binary()))
    table = encrypted.set_column(1, pa.field("salary", kind), short)
    with pytest.raises(TableError, match="not fixed_size_binary"):
        keys[1].decrypt_columns(table)
    with pytest.raises(TableError, match="not fixed_size_binary"):
        he.EncryptedArray.from_arrow(keys[0], short[:1])


def test_arrays_come_back_from_other_storage(keys):
    array = keys[0].encrypt([1, 2]).to_arrow()
    kind = EncryptedType(array.type.description, pa.binary_view())
    viewed = pa.ExtensionArray.from_storage(kind, array.storage.cast(pa.binary_view()))
    assert keys[1].decrypt(he.EncryptedArray.from_arrow(keys[0], viewed)).tolist() == [1, 2]
