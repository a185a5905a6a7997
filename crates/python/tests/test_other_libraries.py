"""Encrypted columns that pandas and polars have passed on: filtered, renamed, written and read, they are still what they were."""

from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hearith as he
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


def through_files(table, write, tmp_path):
    write(table, tmp_path / "table.parquet")
    return pq.read_table(tmp_path / "table.parquet")


PASSED_ON = {
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazily": lambda table, _: pl.from_arrow(table).lazy(),
    "polars as Arrow": lambda table, _: pl.from_arrow(table).to_arrow(),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas twice": lambda table, _: pa.Table.from_pandas(table.to_pandas()).to_pandas(),
    "Parquet of polars": lambda table, path: through_files(pl.from_arrow(table), lambda t, f: t.write_parquet(f), path),
    "Parquet of pandas": lambda table, path: through_files(table.to_pandas(), lambda t, f: t.to_parquet(f), path),
    "large binary": lambda table, _: stored(table, pa.large_binary()),
}


def stored(table, storage):
    """A table whose encrypted columns are stored as another binary type and have lost their metadata."""
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


def test_a_column_may_change_its_name(keys, encrypted):
    for renamed in (pl.from_arrow(encrypted).rename({"salary": "pay"}), encrypted.rename_columns({"salary": "pay"})):
        assert keys[1].decrypt_columns(renamed)["salary"].to_pylist() == [3100, 2800, None]


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
