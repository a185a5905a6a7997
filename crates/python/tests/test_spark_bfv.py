"""Sums of batched BFV columns in Spark while executors die."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_spark import deadly, is_gone, rows_of, spark  # noqa: F401

import hearith as he
import hearith.spark as hs
from hearith import _spark_whole
from hearith.errors import HearithError, KeyMismatchError, TableError

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

ROWS = 40000
GROUP = 8192


@pytest.fixture(scope="module")
def keys():
    return he.generate_keypair(scheme="bfv", parameters="bfv-4096")


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(8)
    return pd.DataFrame(
        {
            "dept": random.choice(["lab", "shop", "yard"], ROWS),
            "site": random.integers(0, 3, ROWS),
            "hours": random.integers(-3, 4, ROWS),
            "salary": random.integers(-5000, 5000, ROWS),
        }
    )


@pytest.fixture(scope="module")
def folder(frame, keys, tmp_path_factory):
    """The table in two files of several row groups each."""
    folder = tmp_path_factory.mktemp("staff")
    for number, part in enumerate([frame[:25000], frame[25000:]]):
        encrypted = keys[number].encrypt_column(part, "salary", range=5000, max_additions=200000)
        pq.write_table(encrypted, folder / f"{number}.parquet", row_group_size=GROUP)
    return folder


def totals_of(frame, by):
    sums = frame.groupby(by)["salary"].agg(["count", "sum"]).reset_index()
    return sorted(((row[:-2], *row[-2:]) for row in sums.itertuples(index=False, name=None)), key=repr)


def found_in(df, private, by):
    rows = hs.decrypt_columns(df, private).collect()
    return sorted(((tuple(row[name] for name in by), row["rows"], int(row["salary"])) for row in rows), key=repr)


@pytest.mark.parametrize("by", [["dept"], ["dept", "site"]])
def test_the_same_totals_as_pandas(spark, folder, frame, keys, by):  # noqa: F811
    totals = hs.sum_files(spark, str(folder), keys[0], by=by)
    assert found_in(totals, keys[1], by) == totals_of(frame, by)


def test_everything_weights_conditions_and_small_groups(spark, folder, frame, keys):  # noqa: F811
    public, private = keys
    path = str(folder)
    assert found_in(hs.sum_files(spark, path, public), private, []) == [((), ROWS, frame["salary"].sum())]
    weighted = hs.sum_files(spark, path, public, weight="hours", where="site > 0")
    kept = frame[frame["site"] > 0]
    assert found_in(weighted, private, []) == [((), len(kept), (kept["salary"] * kept["hours"]).sum())]
    assert hs.sum_files(spark, path, public, by="dept", min_rows=ROWS).count() == 0
    one = hs.sum_files(spark, str(folder / "1.parquet"), public, by="dept")
    assert "hearith.tables" in one.schema["rows"].metadata
    assert found_in(one, private, ["dept"]) == totals_of(frame[25000:], ["dept"])


@pytest.mark.parametrize("when", ["while parts are added", "after the shuffle"])
def test_an_executor_dies(spark, folder, frame, keys, tmp_path, when):  # noqa: F811
    public, private = keys
    mark = tmp_path / "killed"
    if when == "after the shuffle":
        totals = deadly(hs.sum_files(spark, str(folder), public, by="dept"), mark, 0)
    else:
        pieces, schema = _spark_whole.pieces(spark, str(folder), public)
        assert pieces.rdd.getNumPartitions() > 1
        totals = _spark_whole.added(deadly(pieces, mark, 1), schema, public, ["dept"], None, None, 0)
    found = found_in(totals, private, ["dept"])
    assert is_gone(int(mark.read_text()))
    assert found == totals_of(frame, ["dept"])


def test_what_is_refused(spark, folder, keys, tmp_path):  # noqa: F811
    public, private = keys
    with pytest.raises(HearithError, match="no such file"):
        hs.sum_files(spark, str(tmp_path / "none"), public)
    with pytest.raises(TableError, match="no Parquet files"):
        hs.sum_files(spark, str(tmp_path), public)
    with pytest.raises(KeyMismatchError):
        hs.sum_files(spark, str(folder), he.generate_keypair(scheme="bfv")[0])
    with pytest.raises(TableError):
        hs.sum_files(spark, str(folder), public, by="nothing")
    with pytest.raises(TableError):
        hs.sum_files(spark, str(folder), public, where="site >")
    table = pq.read_table(folder / "1.parquet")
    for name in "ab":
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=GROUP)
    with pytest.raises(TableError, match="already"):
        hs.sum_files(spark, str(tmp_path), public)
    moved = pa.concat_tables([table[GROUP:], table[:GROUP]])
    pq.write_table(moved, tmp_path / "m.parquet", row_group_size=GROUP)
    with pytest.raises(Exception, match="chunk"):
        hs.sum_files(spark, str(tmp_path / "m.parquet"), public).collect()
    with pytest.raises(TypeError, match="driver"):
        hs.decrypt_columns(hs.sum_files(spark, str(folder), public), private, on_workers=True)
    assert len(rows_of(hs.sum_files(spark, str(folder), public))) == 1
