"""Missing values raise an error wherever plaintext numbers meet arrays, are nulls in tables, and
never become numbers.
"""

import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hearith as he
from hearith.errors import HearithError, NullError, NumberError, RangeError

MASKED = np.ma.array([1, 2, 3], mask=[False, True, False])

#: Vectors whose second value is missing.
MISSING = {
    "masked": MASKED,
    "masked floats": np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "masked objects": np.ma.array([Decimal(1), Decimal(2), Decimal(3)], mask=[False, True, False], dtype=object),
    "list with masked": [1, np.ma.masked, 3],
    "list with None": [1, None, 3],
    "list with NA": [1, pd.NA, 3],
    "list with NaT": [1, pd.NaT, 3],
    "list of Arrow scalars": list(pa.array([1, None, 3])),
    "object array": np.array([1, None, 3], dtype=object),
    "Int64": pd.Series([1, None, 3], dtype="Int64"),
    "Float64": pd.Series([1.0, None, 3.0], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "Int64 array": pd.array([1, None, 3], dtype="Int64"),
    "Arrow-backed": pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int64())),
    "pandas NaN": pd.Series([1.0, np.nan, 3.0]),
    "Index": pd.Index([1, None, 3], dtype="Int64"),
    "polars": pl.Series([1, None, 3]),
    "polars floats": pl.Series([1.0, None, 3.0]),
    "Arrow": pa.array([1, None, 3]),
    "Arrow chunks": pa.chunked_array([[1], [None, 3]]),
    "Arrow decimals": pa.array([Decimal(1), None, Decimal(3)]),
}

OPERATIONS = {
    "c + x": lambda c, x: c + x,
    "x + c": lambda c, x: x + c,
    "c - x": lambda c, x: c - x,
    "x - c": lambda c, x: x - c,
    "c * x": lambda c, x: c * x,
    "x * c": lambda c, x: x * c,
    "c @ x": lambda c, x: c @ x,
    "x @ c": lambda c, x: x @ c,
    "c.add": lambda c, x: c.add(x),
    "c.subtract": lambda c, x: c.subtract(x),
    "c.multiply": lambda c, x: c.multiply(x),
    "c.multiply(scale)": lambda c, x: c.multiply(x, scale=2),
    "c.dot": lambda c, x: c.dot(x),
    "np.dot": lambda c, x: np.dot(c, x),
    "in place": lambda c, x: operator.iadd(c, x),
}


@pytest.fixture(scope="module")
def c(keys):
    return keys[0].encrypt([10, 20, 30])


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("options", [{}, {"scale": 1}, {"exponent": -4}])
def test_encryption_names_the_row(keys, name, options):
    with pytest.raises(NullError, match="row 1: the value is missing") as caught:
        keys[0].encrypt(MISSING[name], **options)
    assert (caught.value.row, caught.value.kind) == (1, "missing")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", MISSING)
def test_operators_refuse(c, name, operation):
    # pandas, polars and Arrow vectors may handle the operator themselves, but must not return a
    # result.
    ours = operation.startswith(("c", "in place")) or isinstance(MISSING[name], np.ndarray | list)
    with pytest.raises(NullError if ours and operation != "np.dot" else (TypeError, ValueError, RangeError)) as caught:
        OPERATIONS[operation](c, MISSING[name])
    if isinstance(caught.value, HearithError):
        assert "missing" in str(caught.value) or "not a finite number" in str(caught.value)


@pytest.mark.parametrize(
    "value", [None, np.ma.masked, pd.NA, pd.NaT, np.datetime64("NaT"), pa.scalar(None, pa.int64())]
)
def test_single_values(keys, c, value):
    for operation in (keys[0].encrypt, c.__add__, c.__rsub__, c.__mul__, c.multiply):
        with pytest.raises(NumberError):
            operation(value)


@pytest.mark.parametrize("value", [float("nan"), np.nan, np.float32("nan"), Decimal("nan"), np.array([1, np.nan, 2])])
def test_nan_is_no_number(keys, c, value):
    for operation in (keys[0].encrypt, c.__add__, c.__rsub__, c.__mul__, c.multiply):
        with pytest.raises(RangeError, match="row [01]: not a finite number"):
            operation(value)


@pytest.mark.parametrize(
    "matrix",
    [
        np.ma.array([[1, 2, 3], [4, 5, 6]], mask=[[0, 0, 0], [0, 0, 1]]),
        [[1, 2, 3], [4, 5, None]],
        [[1, 2, 3], [4, 5, np.ma.masked]],
        [np.array([1, 2, 3]), np.ma.array([4, 5, 6], mask=[0, 0, 1])],
        pd.DataFrame({"a": [1, 4], "b": [2, 5], "c": pd.array([3, None], dtype="Int64")}),
        np.array([[1, 2, 3], [4, 5, None]], dtype=object),
    ],
)
def test_matrices_name_row_and_column(c, matrix):
    with pytest.raises(NullError, match="row 1, column 2: the value is missing"):
        c.__rmatmul__(matrix)
    with pytest.raises(HearithError):
        c @ matrix


def test_nothing_masked_is_fine(keys, c):
    whole = np.ma.array([1, 2, 3])
    assert keys[1].decrypt(keys[0].encrypt(whole)).tolist() == [1, 2, 3]
    assert keys[1].decrypt(c + np.ma.array([1, 2, 3], mask=[0, 0, 0])).tolist() == [11, 22, 33]
    assert keys[1].decrypt(whole * c).tolist() == [10, 40, 90]
    assert keys[1].decrypt(np.ma.array([[1, 1, 1]]) @ c).tolist() == [60]
    for vector in (
        pd.Series([1, 2, 3], dtype="Int64"),
        pd.Series([True, True, True], dtype="boolean"),
        pl.Series([1, 2, 3]),
        pa.array([1, 2, 3]),
        pa.array([True, False, True]),
        pa.array([Decimal(1), Decimal(2)]),
    ):
        assert keys[1].decrypt(keys[0].encrypt(vector)).tolist() == [
            int(value)
            for value in list(vector.to_numpy(zero_copy_only=False) if isinstance(vector, pa.Array) else vector)
        ]


@pytest.mark.parametrize(
    "labels",
    [
        np.ma.array(["a", "b", "a"], mask=[0, 1, 0]),
        ["a", None, "b"],
        ["a", pd.NA, "b"],
        pd.Series(["a", None, "b"]),
        pd.Series([1, None, 2], dtype="Int64"),
        pl.Series(["a", None, "b"]),
        pa.array(["a", None, "b"]),
        [1, np.ma.masked, 2],
    ],
)
def test_labels(c, labels):
    with pytest.raises(NullError, match="row 1"):
        c.sum_by(labels)


def test_masked_indices(c):
    with pytest.raises(NullError, match="index"):
        c[np.ma.array([True, False, True], mask=[0, 1, 0])]
    with pytest.raises(NullError, match="index"):
        c[np.ma.array([0, 1], mask=[0, 1])]
    assert c[np.ma.array([0, 1])].size == 2


class TestAggregator:
    @pytest.fixture
    def aggregator(self, keys):
        return he.Aggregator(keys[0], [np.zeros(2), np.zeros(3)], range=8, step=0.5, clients=4, max_weight=9)

    @pytest.mark.parametrize("name", [name for name in MISSING if name not in ("list of Arrow scalars",)])
    def test_updates(self, aggregator, name):
        with pytest.raises(NullError, match="layer 1(\\.1)?: a number is missing"):
            aggregator.encrypt([np.zeros(2), MISSING[name]])

    def test_a_single_masked_array(self, keys):
        aggregator = he.Aggregator(keys[0], MASKED, range=8, step=0.5, clients=2)
        for method in (aggregator.encrypt, aggregator.quantised):
            with pytest.raises(NullError, match="layer 0"):
                method(MASKED)
        assert aggregator.quantised(np.ma.array([1.0, 2, 3])).tolist() == [1, 2, 3]

    @pytest.mark.parametrize("weight", [np.ma.masked, None, pd.NA, 1.5, "2", float("nan")])
    def test_weights(self, aggregator, weight):
        update = aggregator.encrypt([np.zeros(2), np.zeros(3)])
        with pytest.raises(NumberError, match="weight must be a whole number"):
            aggregator.sum([update], weights=[weight])
        with pytest.raises(NumberError, match="weight must be a whole number"):
            aggregator.encrypt([np.zeros(2), np.zeros(3)], weight=weight)
        with pytest.raises(NumberError, match="weight must be a whole number"):
            aggregator.update(update.to_bytes(), weight=weight)

    def test_masked_weights(self, aggregator):
        updates = [aggregator.encrypt([np.zeros(2), np.zeros(3)])] * 3
        with pytest.raises(NumberError):
            aggregator.sum(updates, weights=MASKED)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": pd.Series([1, None, 3], dtype="Int64")}),
        pd.DataFrame({"x": pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int64()))}),
        pd.DataFrame({"x": [1.0, None, 3.0]}),
        pd.DataFrame({"x": np.ma.array([1, 2, 3], mask=[0, 1, 0])}),
        pl.DataFrame({"x": [1, None, 3]}),
        pa.table({"x": pa.array(MASKED)}),
        pa.table({"x": pa.array([1, None, 3])}),
        pa.RecordBatch.from_pydict({"x": [Decimal(1), None, Decimal(3)]}),
    ],
)
def test_tables_keep_them_as_nulls(keys, table):
    public, private = keys
    encrypted = public.encrypt_column(table, "x")
    assert encrypted["x"].null_count == 1
    assert private.decrypt_columns(encrypted)["x"].to_pylist() == [1, None, 3]
    assert private.decrypt_columns(public.sum_columns(encrypted))["x"].to_pylist() == [4]


def test_fractions_are_numbers(keys):
    assert keys[1].decrypt(keys[0].encrypt([Fraction(1, 4)], scale=2)).tolist() == [Decimal("0.25")]
