"""Arithmetic on the columns of encrypted tables from every library, compared with pandas."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hearith as he
from hearith.columns import as_table
from hearith.errors import KeyMismatchError, NullError, NumberError, RangeError, ScaleError, ShapeError, TableError

FRAME = pd.DataFrame(
    {
        "dept": ["lab", "shop", "lab", "yard", "shop"],
        "salary": pd.array([3100, 2800, None, -7, 50], dtype="Int64"),
        "bonus": [0.5, 1.25, 2, None, 4.75],
        "share": [0.5, 1, 0.25, 1, None],
        "years": [1, 2, 3, 4, 5],
    }
)
LIBRARIES = {
    "pyarrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "polars lazily": lambda table: pl.from_arrow(table).lazy(),
}


@pytest.fixture(scope="module", params=LIBRARIES)
def table(keys, request):
    options = {"salary": {"range": 10_000}, "bonus": {"scale": 2, "range": 1000}}
    return LIBRARIES[request.param](keys[0].encrypt_columns(FRAME, options))


@pytest.fixture(scope="module")
def fresh(keys):
    return keys[0].encrypt_columns(FRAME, {"salary": {}, "bonus": {"scale": 2}})


def column(private, table, name):
    return private.decrypt_columns(table)[name].to_pylist()


def exact(*texts):
    return [None if text is None else Decimal(text) for text in texts]


def test_a_column_times_a_number(keys, table):
    public, private = keys
    raised = public.multiply_column(table, "salary", 1.1, into="raised")
    assert raised.column_names[-2:] == ["raised", "raised.additions"]
    assert column(private, raised, "raised") == exact("3410.0", "3080.0", None, "-7.7", "55.0")
    assert column(private, raised, "salary") == exact(3100, 2800, None, -7, 50)
    assert raised["raised.additions"].to_pylist() == [1, 1, 0, 1, 1]
    replaced = public.multiply_column(table, "salary", -2)
    assert replaced.column_names == as_table(table).column_names
    assert column(private, replaced, "salary") == exact(-6200, -5600, None, 14, -100)
    assert column(private, public.multiply_column(table, "bonus", Decimal("0.01")), "bonus")[1] == Decimal("0.0125")


def test_a_column_weighted_by_another(keys, table):
    public, private = keys
    weighted = public.multiply_column(table, "salary", "share", into="paid")
    assert column(private, weighted, "paid") == exact("1550.00", "2800.00", None, "-7.00", None)
    totals = private.decrypt_columns(public.sum_columns(weighted, by="dept")).to_pydict()
    assert totals["paid"] == exact("1550.00", "2800.00", "-7.00")
    for years in (FRAME["years"].to_numpy(), FRAME["years"], pl.Series([1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]):
        assert column(private, public.multiply_column(table, "bonus", years), "bonus") == exact(
            "0.50", "2.50", "6.00", None, "23.75"
        )


def test_two_columns_added_up(keys, table):
    public, private = keys
    pay = public.add_columns(table, "salary", "bonus", into="pay")
    assert column(private, pay, "pay") == exact("3100.50", "2801.25", None, None, "54.75")
    assert column(private, public.add_columns(pay, "bonus", "salary", into="again"), "again") == column(
        private, pay, "pay"
    )
    assert column(private, public.add_columns(table, "salary", "years", into="x"), "x") == exact(
        3101, 2802, None, -3, 55
    )
    assert column(private, public.add_columns(table, "salary", 0.5, into="salary"), "salary")[3] == Decimal("-6.5")
    totals = private.decrypt_columns(public.sum_columns(pay, by="dept")).to_pydict()
    assert totals["pay"] == exact("3100.50", "2856.00", None)


def test_means_are_sums_and_counts(keys, table):
    public, private = keys
    found = public.mean_columns(table, by="dept", rerandomise=True)
    assert found["salary.count"].to_pylist() == [1, 2, 1]
    sums = private.decrypt_columns(found).to_pydict()
    assert (sums["rows"], sums["salary"], sums["bonus"]) == (
        [2, 2, 1],
        exact(3100, 2850, -7),
        exact("2.50", "6.00", None),
    )
    means = private.decrypt_means(found).to_pydict()
    wanted = FRAME.groupby("dept")[["salary", "bonus"]].mean()
    assert means["salary"] == wanted["salary"].tolist()
    assert means["bonus"] == [1.25, 3.0, None]
    assert means["bonus.count"] == FRAME.groupby("dept")["bonus"].count().tolist()
    assert private.decrypt_means(public.mean_columns(table)).to_pydict()["salary"] == [FRAME["salary"].mean()]
    assert public.mean_columns(table, by="dept", min_rows=2)["salary.count"].to_pylist() == [0, 2]


def test_means_of_totals_count_totals(keys, fresh):
    """A total counts as one value: the mean of two departments' totals divides by two."""
    public, private = keys
    totals = public.sum_columns(fresh, by="dept")
    found = public.mean_columns(totals.select(["dept", "salary", "salary.additions"]))
    assert found["salary.count"].to_pylist() == [3]
    assert private.decrypt_means(found)["salary"].to_pylist() == [(3100 + 2850 - 7) / 3]


def test_totals_go_on_being_computed_with(keys, fresh):
    public, private = keys
    totals = public.sum_columns(fresh, by="dept")
    weighted = public.multiply_column(totals, "salary", [1, 10, 100])
    assert column(private, public.sum_columns(weighted.drop_columns(["rows"])), "salary") == [3100 + 28500 - 700]
    # 2 additions per group, for which the range of the result must allow.
    range_before = as_table(totals).schema.field("salary").type.description.ranges[0]
    assert weighted.schema.field("salary").type.description.ranges[0] >= 2 * 100 * range_before


def test_an_encrypted_array_in_a_table_is_a_column(keys):
    public, private = keys
    array = public.encrypt([1, 2, 40]) * 3
    table = pa.table({"dept": ["a", "b", "a"], "x": array.to_arrow()})
    totals = public.sum_columns(table, by="dept")
    assert private.decrypt_columns(totals).to_pydict() == {"dept": ["a", "b"], "rows": [2, 1], "x": [123, 6]}
    assert private.decrypt_columns(table)["x"].to_pylist() == [3, 6, 120]
    taken = table.append_column("x.additions", pa.array(["no", "counts", "here"]))
    with pytest.raises(TableError, match=r"column x\.additions: already exists"):
        public.sum_columns(taken)


def test_binary_fractions(keys):
    public, private = keys
    table = pa.table({"x": public.encrypt([0.5, 2], exponent=-4).to_arrow(), "n": public.encrypt([1, 2]).to_arrow()})
    assert column(private, public.multiply_column(table, "x", 0.25), "x") == [0.125, 0.5]
    assert column(private, public.add_columns(table, "n", "x", into="sum"), "sum") == [1.5, 4.0]
    ten = public.multiply_column(table, "n", Decimal("0.1"))
    with pytest.raises(ScaleError, match="cannot be combined"):
        public.add_columns(ten, "n", "x", into="sum")


def test_factors_that_arrow_has_no_type_for(keys, fresh):
    public, private = keys
    quarters = [Fraction(1, 4), 1, 1, 2, Fraction(1, 2)]
    assert column(private, public.multiply_column(fresh, "salary", quarters), "salary") == exact(
        775, 2800, None, -14, 25
    )
    assert column(private, public.add_columns(fresh, "bonus", [Fraction(1, 4)] * 5, into="x"), "x")[0] == Decimal(
        "0.75"
    )
    with pytest.raises(NullError, match="^row 1: the value is missing"):
        public.multiply_column(fresh, "salary", [Fraction(1, 4), None, 1, 1, 1])
    with pytest.raises(ScaleError, match="^row 3: not a decimal"):
        public.multiply_column(fresh, "salary", [1, 2, 3, Fraction(1, 3), 4])


def test_errors_name_the_row_of_the_table_and_show_no_cell(keys, fresh):
    public = keys[0]
    with pytest.raises(RangeError, match="^row 3: not a finite number"):
        public.multiply_column(fresh, "salary", pa.array([1.0, 1.0, 1.0, float("nan"), 1.0]))
    with pytest.raises(NumberError) as caught:
        public.multiply_column(fresh, "salary", [1, 2, 3, "918273645x", 5])
    assert "918273645" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_rows(keys):
    public, private = keys
    table = public.encrypt_column(pa.table({"x": pa.array([], pa.int64())}), "x")
    assert column(private, public.multiply_column(table, "x", 3), "x") == []
    assert column(private, public.add_columns(table, "x", "x", into="y"), "y") == []
    assert private.decrypt_means(public.mean_columns(table)).to_pydict() == {"rows": [0], "x": [None], "x.count": [0]}


def test_renamed_columns(keys, fresh):
    public, private = keys
    renamed = fresh.rename_columns([{"salary": "pay"}.get(name, name) for name in fresh.column_names])
    doubled = public.multiply_column(renamed, "pay", 2)
    assert "salary.additions" not in doubled.column_names
    assert column(private, doubled, "pay") == exact(6200, 5600, None, -14, 100)


def test_refusals(keys, other_keys, fresh):
    public = keys[0]
    with pytest.raises(TypeError, match="product of two encrypted columns"):
        public.multiply_column(fresh, "salary", "bonus")
    with pytest.raises(TableError, match="column years: .*is not encrypted"):
        public.multiply_column(fresh, "years", 2)
    with pytest.raises(TableError, match="column age: there is no such column"):
        public.add_columns(fresh, "salary", "age", into="x")
    with pytest.raises(TableError, match="column years: there is already a column with this name"):
        public.add_columns(fresh, "salary", "bonus", into="years")
    with pytest.raises(KeyMismatchError, match=other_keys[0].id):
        other_keys[0].multiply_column(fresh, "salary", 2)
    with pytest.raises(ShapeError, match="the columns have 5 and 2 rows"):
        public.multiply_column(fresh, "salary", [1, 2])
    with pytest.raises(NumberError):
        public.multiply_column(fresh, "salary", "dept")
    with pytest.raises(RangeError, match="not a finite number"):
        public.multiply_column(fresh, "salary", float("nan"))
    with pytest.raises(RangeError, match="column salary: may hold numbers of 164 bits, more than the 127"):
        public.multiply_column(fresh, "salary", 2**100)
    with pytest.raises(TableError, match=r"column salary: its companion salary\.additions"):
        public.multiply_column(fresh.drop_columns(["salary.additions"]), "salary", 2)
    with pytest.raises(TableError, match=r"column salary\.count"):
        public.mean_columns(fresh.append_column("salary.count", pa.array([1] * 5)), by="salary.count")


def test_packed_means(keys):
    public, private = keys
    frame = pd.DataFrame({"a": [1, 2, 4], "b": [10, 20, 30]})
    packed = public.encrypt_columns(frame, {"a": {"range": 99}, "b": {"range": 99}}, pack=True, max_additions=1000)
    assert private.decrypt_means(public.mean_columns(packed)).to_pydict() == {
        "rows": [3],
        "a": [7 / 3],
        "a.count": [3],
        "b": [20.0],
        "b.count": [3],
    }
    with pytest.raises(TableError, match=r"column a\+b: packed"):
        public.multiply_column(packed, "a+b", 2)
    halves = [public.sum_columns(packed), public.sum_columns(packed)]
    with pytest.raises(TableError, match="packed"):
        public.mean_columns(pa.concat_tables(halves).drop_columns(["rows"]))


def test_small_keys_have_room_for_less():
    public, private = he.generate_keypair(128, insecure=True)
    table = public.encrypt_column(pa.table({"x": [1, 2]}), "x", range=2**40, max_additions=8)
    wide = public.multiply_column(table, "x", 2**70, into="wide")
    assert wide.schema.field("wide").type.description.max_additions < 2**32
    assert column(private, wide, "wide") == [2**70, 2**71]
    with pytest.raises(RangeError, match="headroom|more than a key|no room"):
        public.multiply_column(table, "x", 2**85)


def test_bounds_of_single_additions_are_used(keys):
    """The range bounds a fresh value, regardless of the headroom for totals: products with 60-bit
    factors still fit a column.
    """
    public, private = keys
    table = public.encrypt_column(pa.table({"x": np.array([2**62, -5])}), "x")
    assert column(private, public.multiply_column(table, "x", 2**60), "x") == [2**122, -5 * 2**60]
