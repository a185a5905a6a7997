"""Encrypted columns in pandas and polars data frames: the pandas dtype, and `df.he` in both."""

import pickle
import sys
import types
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.io.formats.excel import ExcelFormatter

import hearith as he
import hearith.pandas
import hearith.polars
from hearith.columns import as_table
from hearith.errors import KeyMismatchError, NullError, NumberError, RangeError, ScaleError, TableError

FRAME = pd.DataFrame(
    {
        "dept": ["lab", "shop", "lab"],
        "salary": pd.array([3100, None, -7], dtype="Int64"),
        "bonus": [1.5, 2.25, 3],
        "years": [1, 2, 3],
    }
)
COLUMNS = {"salary": {"range": 10_000}, "bonus": {"scale": 2, "range": 1000}}


@pytest.fixture(scope="module")
def df(keys):
    return FRAME.he.encrypt(keys[0], COLUMNS)


def numbers(private, series):
    """Decrypts the numbers of a pandas series one by one."""
    return [None if cell is pd.NA else private.decrypt(cell) for cell in series]


def exact(*texts):
    return [None if text is None else Decimal(text) for text in texts]


class TestPandas:
    def test_columns_are_of_a_type_of_their_own(self, keys, df):
        assert str(df["salary"].dtype) == "hearith"
        assert df["salary"].dtype == "hearith"
        assert df["salary"].dtype != df["bonus"].dtype
        assert repr(df["bonus"].dtype) == f"hearith[paillier, 512 bits, scale 2, key {keys[0].id[:8]}...]"
        assert df["salary"].isna().tolist() == [False, True, False]
        assert df["salary"].count() == 2
        assert pickle.loads(pickle.dumps(df)).equals(df)
        assert df["salary"].array.equals(df["salary"].array.copy())
        assert not df["salary"].array.equals(df["bonus"].array)

    def test_columns_are_shown_short(self, df):
        for text in (repr(df), repr(df["salary"]), df.to_html(), repr(df["salary"].array), df.to_string()):
            assert "\\x" not in text
            assert len(text) < 2500
        assert repr(df["salary"]).splitlines()[:2] == ["0    <encrypted>", "1           <NA>"]

    def test_no_text_is_written_that_loses_the_numbers(self, df, tmp_path):
        file = tmp_path / "staff.csv"
        for write in (
            df.to_csv,
            lambda: df.to_csv(file),
            lambda: df.to_csv(chunksize=1),
            df["salary"].to_csv,
            df.set_index("bonus").to_csv,
            lambda: df.to_xml(parser="etree"),
            lambda: list(ExcelFormatter(df).get_formatted_cells()),
            lambda: df["salary"].astype(str),
            lambda: df["salary"].astype("string"),
            lambda: df.astype(str),
            df.to_latex,
            df["salary"].to_latex,
            df.style.to_latex,
            df.to_clipboard,
        ):
            with pytest.raises(TypeError, match="encrypted numbers"):
                write()
        for orient in ("columns", "records", "table"):
            with pytest.raises(ValueError, match="unsupported object"):
                df.to_json(orient=orient, date_format="iso")
        assert len(list(df["salary"])) == len(list(df.itertuples())) == len(df["salary"].astype(object)) == 3
        assert df[["dept", "years"]].to_csv(index=False) == "dept,years\nlab,1\nshop,2\nlab,3\n"

    def test_tables_for_markdown_are_not_written(self, df, monkeypatch):
        """tabulate calls `str` or `format` for each element."""
        tabulate = types.ModuleType("tabulate")
        tabulate.__version__ = "1.0"
        exec("def tabulate(frame, **options): return [str(cell) for cell in frame.to_numpy().flat]", vars(tabulate))
        monkeypatch.setitem(sys.modules, "tabulate", tabulate)
        for frame in (df, df.astype(object), df["bonus"]):
            with pytest.raises(TypeError, match="to_markdown writes cells as text"):
                frame.to_markdown()

    def test_series_of_objects_lose_no_numbers_and_compare_none(self, keys, df, tmp_path):
        """Tests `pd.Series` of an array; pandas treats a `TypeError` of `==` as False."""
        c = keys[0].encrypt([1, 2, 3])
        series, index = pd.Series(c), pd.Index(c)
        assert series.dtype == object
        frame = pd.DataFrame({"x": series, "y": [1, 2, 3]})
        for write in (
            series.to_csv,
            frame.to_csv,
            lambda: frame.to_csv(tmp_path / "x.csv"),
            lambda: frame.to_xml(parser="etree"),
            frame.to_latex,
            series.to_latex,
            lambda: series.astype(str),
            lambda: series.astype("string"),
            lambda: frame.astype(str),
            lambda: np.savetxt(tmp_path / "x.txt", c, fmt="%s"),
        ):
            with pytest.raises(TypeError, match="encrypted numbers"):
                write()
        for compare in (
            lambda: series == 1,
            lambda: series != 1,
            lambda: series.eq(2),
            lambda: series.ne(2),
            lambda: frame == 1,
            lambda: frame["x"] == frame["y"],
            lambda: frame.query("x == 1"),
            lambda: index == 1,
            lambda: series == series[::-1].to_numpy(),
        ):
            with pytest.raises(ValueError, match="cannot be compared: equal numbers have different ciphertexts"):
                compare()
        for operation in (lambda: c[0] == 1, lambda: c[0] in [c[1]], lambda: series < 1, series.unique):
            with pytest.raises(TypeError):
                operation()
        assert str(c[0]) == repr(c[0]) == f"{c[0]}"
        assert "EncryptedArray" in repr(series) + frame.to_string() + frame.to_html()
        assert numbers(keys[1], pd.Series(c, dtype="hearith")) == [1, 2, 3], "as the module's page says"

    def test_rows_are_taken_and_put_together(self, keys, df):
        private = keys[1]
        assert numbers(private, df["salary"][::-1]) == exact(-7, None, 3100)
        assert numbers(private, df["salary"].iloc[[2, 0]]) == exact(-7, 3100)
        assert numbers(private, df.query("years > 1")["bonus"]) == exact("2.25", "3.00")
        assert numbers(private, df["salary"].reindex([2, 7])) == exact(-7, None)
        assert numbers(private, df["salary"].shift(1)) == exact(None, 3100, None)
        assert numbers(private, pd.concat([df["bonus"], df["bonus"][:1]], ignore_index=True))[3] == Decimal("1.50")
        assert numbers(private, df["salary"].dropna()) == exact(3100, -7)
        assert private.decrypt(df["bonus"].iloc[1]) == Decimal("2.25")
        assert df["salary"].iloc[1] is pd.NA
        merged = df.merge(pd.DataFrame({"dept": ["shop", "lab", "none"], "city": ["Ulm", "Bern", "Graz"]}), how="right")
        assert numbers(private, merged["bonus"]) == exact("2.25", "1.50", "3.00", None)
        assert numbers(private, df["bonus"].astype("hearith")) == exact("1.50", "2.25", "3.00")

    def test_frames_of_unlike_senders_are_put_together(self, keys, other_keys, df):
        public, private = keys
        finer = FRAME.he.encrypt(public, {"salary": {"scale": 3, "range": 10**6}, "bonus": {"scale": 2}})
        for frames in ([df, finer], [finer, df], [df, finer, df[:0]]):
            both = pd.concat(frames, ignore_index=True)
            assert str(both["salary"].dtype) == "hearith"
            assert sorted(numbers(private, both["salary"].dropna())) == [-7, -7, 3100, 3100]
            totals = both.he.sum("dept").he.decrypt(private)
            assert totals["salary"].tolist() == [6186, None]
            assert totals["bonus"].tolist() == [9, Decimal("4.5")]
        # An object column of encrypted numbers is an encrypted column as well.
        wide = pd.concat([df["salary"], finer["bonus"]], axis=1)
        assert private.decrypt_columns(wide.T).to_pydict()["2"] == [-7, 3]
        rows = df.assign(pay=df.apply(lambda row: row["bonus"] * row["years"] - row["bonus"], axis=1))
        assert rows.he.sum("dept").he.decrypt(private)["pay"].tolist() == [6, Decimal("2.25")]
        apart = pd.concat([df, FRAME.he.encrypt(other_keys[0], COLUMNS)])
        with pytest.raises(KeyMismatchError, match="under key"):
            apart.he.sum("dept")
        for wrong, error in [
            (lambda: finer["salary"].astype(df["salary"].dtype), ScaleError),
            (lambda: finer["bonus"].astype(finer["salary"].dtype), RangeError),
            (lambda: df["salary"].astype(FRAME.he.encrypt(other_keys[0], COLUMNS)["salary"].dtype), KeyMismatchError),
        ]:
            with pytest.raises(error):
                wrong()

    def test_arithmetic(self, keys, df):
        private = keys[1]
        assert numbers(private, df["salary"] * 2) == exact(6200, None, -14)
        assert numbers(private, 0.5 * df["bonus"]) == exact("0.750", "1.125", "1.500")
        assert numbers(private, df["bonus"] * df["years"]) == exact("1.50", "4.50", "9.00")
        assert numbers(private, df["years"] + df["salary"]) == exact(3101, None, -4)
        assert numbers(private, df["salary"] + df["bonus"]) == exact("3101.50", None, "-4.00")
        assert numbers(private, df["salary"] - df["bonus"]) == exact("3098.50", None, "-10.00")
        assert numbers(private, 10 - df["bonus"]) == exact("8.50", "7.75", "7.00")
        assert numbers(private, df["bonus"] - np.array([1, 1, 0.5])) == exact("0.50", "1.25", "2.50")
        assert numbers(private, -df["bonus"]) == exact("-1.50", "-2.25", "-3.00")
        assert numbers(private, df["bonus"] + df["bonus"][::-1]) == exact("3.00", "4.50", "6.00"), "pandas aligns"
        assert numbers(private, df["salary"] * pd.Series([1, 1, None])) == exact("3100.0", None, None)

    def test_a_computed_column_is_one_of_the_frame(self, keys, df):
        public, private = keys
        frame = df.assign(pay=df["salary"] * 2 + df["bonus"])
        totals = private.decrypt_columns(public.sum_columns(frame, by="dept")).to_pydict()
        assert totals["pay"] == exact("6190.50", None)
        frame["salary"] = frame["salary"] * 3
        assert frame.he.sum("dept").he.decrypt(private)["salary"].tolist() == [9279, None]
        assert as_table(frame)["salary.additions"].to_pylist() == [1, 0, 1]

    def test_sums_and_means(self, keys, df):
        private = keys[1]
        assert private.decrypt(df["salary"].sum()) == 3093
        assert private.decrypt(df["bonus"].mean()) == 2.25
        assert df["salary"].sum(skipna=False) is pd.NA
        by = df.groupby("dept")["bonus"].sum()
        assert (by.index.tolist(), numbers(private, by)) == (["lab", "shop"], exact("4.50", "2.25"))

    def test_sums_of_too_few_numbers_are_missing(self, keys, df):
        """Tests `min_count`, as for plaintext columns."""
        private, x = keys[1], df["salary"]
        whole = FRAME["salary"]
        for least in (0, 1, 2, 3):
            for column, plain in ((x, whole), (x[1:2], whole[1:2]), (x[:0], whole[:0])):
                found, wanted = column.sum(min_count=least), plain.sum(min_count=least)
                assert (found is pd.NA) if wanted is pd.NA else private.decrypt(found) == wanted
            for options in ({}, {"skipna": False}, {"dropna": False}):
                labels = [1, 2, 1] if options else [1, 2, None]
                by = {name: value for name, value in options.items() if name == "dropna"}
                rest = {name: value for name, value in options.items() if name != "dropna"}
                found = x.groupby(labels, **by).sum(min_count=least, **rest)
                wanted = whole.groupby(labels, **by).sum(min_count=least, **rest)
                assert found.index.tolist() == wanted.index.tolist()
                assert numbers(private, found) == [None if one is pd.NA else one for one in wanted]
        columns = df[["salary", "bonus"]]
        assert columns.sum(min_count=3).isna().tolist() == [True, False]
        assert columns.sum(skipna=False).isna().tolist() == [True, False]
        assert numbers(private, df[:0].groupby("dept")["salary"].sum()) == []

    def test_bounds_grow_with_groups(self, keys):
        """The bound of a column of totals covers the largest total, at any place."""
        public, private = keys
        df = pd.DataFrame({"g": ["a", "b", "b", "b"], "x": [9, 9, 9, 9]}).he.encrypt(
            public, {"x": {"range": 9}}, max_additions=2
        )
        column = df["x"].array
        totals = df.groupby("g")["x"].sum()
        assert totals.dtype.description.bound >= 3 * column.dtype.description.bound
        assert numbers(private, totals) == exact(9, 27)

    def test_what_nobody_sees_is_refused(self, df):
        x, y = df["salary"], df["bonus"]
        for operation in (
            lambda: x * y,
            lambda: x / y,
            lambda: 2 / x,
            lambda: x // 2,
            lambda: x % 2,
            lambda: x**2,
            lambda: x.abs(),
            lambda: x.round(),
            lambda: x.describe(),
            lambda: df.describe(include="all"),
            lambda: x.cumprod(),
            lambda: x.cummax(),
            lambda: x.std(),
            lambda: x.median(),
            lambda: x.fillna([1, 2, 3]),
            lambda: df.round(1),
            lambda: x.isin([3100]),
            lambda: x.mode(),
            lambda: x.nunique(),
            lambda: x == y,
            lambda: x > 1,
            lambda: x.max(),
            lambda: x.unique(),
            lambda: x.value_counts(),
            lambda: x.astype(float),
            lambda: np.asarray(x, dtype=np.int64),
            lambda: x.sort_values(),
            lambda: df.groupby("salary").size(),
            lambda: df.drop_duplicates(),
            lambda: df.drop_duplicates("salary"),
            lambda: df.duplicated("salary"),
            lambda: x.duplicated(),
            lambda: x.drop_duplicates(),
            lambda: x.factorize(),
            lambda: pd.factorize(x),
            lambda: pd.unique(x),
            lambda: pd.Index(x).duplicated(),
            lambda: pd.Index(x).unique(),
            lambda: x.is_unique,
            lambda: x.dropna().is_monotonic_increasing,
            lambda: x.is_monotonic_decreasing,
            lambda: pd.Categorical(x),
            lambda: x.array.view("int64"),
            lambda: pd.Series([1, 2], dtype="hearith"),
            lambda: pd.Series([None], dtype="hearith"),
        ):
            with pytest.raises(TypeError):
                operation()

    def test_quotients_are_exact_or_an_error(self, keys, df):
        private = keys[1]
        x, y = df["salary"], df["bonus"]
        assert numbers(private, x / 2) == exact(1550, None, "-3.5")
        assert numbers(private, y / Decimal("-0.8")) == exact("-1.875", "-2.8125", "-3.75")
        assert numbers(private, y / pd.Series([2, None, 4])) == exact("0.75", None, "0.75")
        assert numbers(private, y / np.array([1, 2, 8])) == exact("1.5", "1.125", "0.375")
        for divisor in (3, pd.Series([1, 1, 3])):
            with pytest.raises(ScaleError, match="too many digits"):
                x / divisor
        for divisor in (0, 0.0, [1, 0, 2]):
            with pytest.raises(ZeroDivisionError):
                y / divisor
        doubles = pd.Series(hearith.pandas.EncryptedColumn(keys[0].encrypt([0.1, 3.0], exponent=-14).to_arrow()))
        assert private.decrypt((doubles / 4).he.array()).tolist() == [0.025, 0.75]

    def test_running_sums(self, keys, df):
        private = keys[1]
        assert numbers(private, df["bonus"].cumsum()) == exact("1.50", "3.75", "6.75")
        assert numbers(private, df["salary"].cumsum()) == exact(3100, None, 3093), "as pandas passes over nulls"
        assert numbers(private, df["salary"].cumsum(skipna=False)) == exact(3100, None, None)

    def test_missing_numbers_are_filled(self, keys, df):
        private = keys[1]
        x, one = df["salary"], df["bonus"].iloc[1]
        assert numbers(private, x.fillna(0)) == exact(3100, 0, -7)
        assert numbers(private, x.fillna(-0.25)) == exact("3100.00", "-0.25", "-7.00")
        assert numbers(private, x.fillna(one)) == exact("3100.00", "2.25", "-7.00")
        assert numbers(private, x[1:2].fillna(5)) == exact(5)
        assert numbers(private, df["bonus"].fillna(5)) == exact("1.50", "2.25", "3.00")
        gaps = pd.concat([x[1:2], x[1:2], x[:1]], ignore_index=True)
        assert numbers(private, gaps.fillna(8, limit=1)) == exact(8, None, 3100)
        assert numbers(private, x.ffill()) == exact(3100, 3100, -7)
        first, second = gaps.fillna(8)[:2]
        assert first.to_bytes() != second.to_bytes(), "each is encrypted"
        filled = df.assign(salary=x.fillna(0)).he.sum("dept").he.decrypt(private)
        assert filled["salary"].tolist() == [3093, 0]
        # Filled numbers count.
        for frame, wanted in (
            (df.assign(salary=x.fillna(0)), 0),
            (df.assign(salary=x.ffill()), 3100),
            (df.ffill(), 3100),
            (df.bfill(), -7),
            (df.assign(salary=x.bfill(limit=1)), -7),
        ):
            means = frame.he.mean("dept", min_rows=1).he.decrypt_means(private)
            assert means["salary"].tolist() == [1546.5, wanted]
            assert means["salary.count"].tolist() == [2, 1]
        assert df["bonus"].ffill().dtype == df["bonus"].dtype
        totals = df.he.sum("dept", min_rows=2)
        assert totals["salary"].ffill().dtype == totals["salary"].dtype
        with pytest.raises(TypeError, match="totals cannot be filled"):
            df.he.sum("dept").ffill()

        with pytest.raises(NumberError):
            x.fillna("unknown")

    def test_descriptions_say_why_not(self, df):
        with pytest.raises(TypeError, match="cannot be compared"):
            df["salary"].describe()
        with pytest.raises(TypeError, match=r"counted by value or described: equal numbers have different"):
            df["salary"].value_counts()

    def test_numbers_that_do_not_go_together(self, keys, other_keys, df):
        one = df["salary"].iloc[0]
        aligned = pd.Series([one, None, df["bonus"].iloc[0]], dtype="hearith")
        assert numbers(keys[1], aligned) == exact("3100.00", None, "1.50")
        with pytest.raises(ScaleError, match="quotients"):
            pd.Series([one, df["bonus"].iloc[0] / 3], dtype="hearith")
        with pytest.raises(KeyMismatchError, match="under key"):
            pd.Series([one, other_keys[0].encrypt(1)], dtype="hearith")
        with pytest.raises(TableError, match="not encrypted"):
            hearith.pandas.EncryptedColumn(pa.array([1]))
        both = pd.Series([one, keys[0].encrypt(5), None], dtype="hearith")
        assert numbers(keys[1], both) == exact(3100, 5, None)

    def test_series_as_arrays(self, keys, df):
        assert keys[1].decrypt(df["bonus"].he.array() @ [1, 1, 2]) == Decimal("9.75")
        with pytest.raises(NullError, match="row 1"):
            df["salary"].he.array()
        with pytest.raises(AttributeError, match="not encrypted"):
            df["years"].he.array()


@pytest.mark.parametrize(
    "copied",
    [
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("salary").forward_fill()),
        lambda frame: pl.from_pandas(frame).with_columns(salary=pl.col("bonus")),
        lambda frame: frame.assign(salary=frame["bonus"]),
        lambda frame: frame.assign(salary=frame.groupby("years")["bonus"].first().array),
        lambda frame: frame.assign(salary=frame["salary"].array.take([0, 0, 0])),
    ],
)
def test_numbers_copied_without_their_counts_are_refused(keys, df, copied):
    """Their mean would be wrong, and `min_rows` would withhold them."""
    frame = copied(df)
    text = r"row 1, column salary: holds a number, but its companion salary\.additions counts no additions: copy"
    for compute in (
        lambda: frame.he.sum("dept"),
        lambda: frame.he.mean("dept", min_rows=1),
        lambda: frame.he.decrypt(keys[1]),
    ):
        with pytest.raises(TableError, match=text):
            compute()


FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars lazily": lambda frame: pl.from_pandas(frame).lazy(),
}


def plain(frame):
    """Returns a frame's columns as lists, for any library."""
    return as_table(frame).to_pydict()


@pytest.mark.parametrize("library", FRAMES)
class TestNamespaces:
    def test_a_table_from_beginning_to_end(self, keys, library):
        public, private = keys
        frame = FRAMES[library](FRAME)
        encrypted = frame.he.encrypt(public, COLUMNS)
        pay = encrypted.he.multiply("salary", 2).he.add("salary", "bonus", into="pay").he.rename({"bonus": "extra"})
        assert {type(frame)} == {type(encrypted), type(pay), type(pay.he.sum()), type(pay.he.decrypt(private))}
        assert plain(pay.he.decrypt(private))["pay"] == exact("6201.50", None, "-11.00")
        totals = plain(pay.he.sum("dept", min_rows=2, rerandomise=True).he.decrypt(private))
        assert totals == {
            "dept": ["lab"],
            "rows": [2],
            "salary": [6186],
            "extra": [Decimal("4.50")],
            "pay": [Decimal("6190.50")],
        }
        means = plain(pay.he.mean("dept").he.decrypt_means(private))
        assert means["extra"] == [2.25, 2.25]
        assert [one if one == one else None for one in means["pay"]] == [3095.25, None]
        assert (means["extra.count"], means["pay.count"]) == ([2, 1], [2, 0])

    def test_what_a_table_is(self, keys, library):
        encrypted = FRAMES[library](FRAME).he.encrypt(keys[0], "years")
        summary = he.summary(encrypted)
        assert (repr(encrypted.he), encrypted.he._repr_html_()) == (repr(summary), summary._repr_html_())
        assert "3 rows, 1 of 5 columns encrypted" in repr(summary)
        assert f"years            encrypted, paillier  {keys[0].id[:8]}...  512   0" in repr(summary)
        assert "<td>counts additions</td>" in summary._repr_html_()
        assert "3100" not in repr(summary) + summary._repr_html_()

    def test_lost_descriptions(self, keys, library):
        encrypted = keys[0].encrypt_column(FRAME, "years")
        bare = encrypted.set_column(3, "years", encrypted["years"].combine_chunks().storage.cast(pa.binary()))
        frame = pl.from_arrow(bare) if library != "pandas" else bare.to_pandas()
        found = (frame.lazy() if library == "polars lazily" else frame).he.describe(encrypted)
        assert plain(found.he.decrypt(keys[1]))["years"] == [1, 2, 3]

    def test_refusals(self, keys, library):
        frame = FRAMES[library](FRAME)
        for compute in (frame.he.sum, frame.he.mean, lambda: frame.he.multiply("years", 2)):
            with pytest.raises(TableError, match="no encrypted column"):
                compute()
        encrypted = frame.he.encrypt(he.generate_keypair(256, insecure=True)[0], "years")
        with pytest.raises(KeyMismatchError, match="is not loaded in this process"):
            encrypted.he.sum()


def test_summaries_escape_names(keys):
    table = keys[0].encrypt_column(pa.table({"<b>": [1]}), "<b>")
    assert "<b>" not in he.summary(table)._repr_html_()
    assert "&lt;b&gt;" in he.summary(table)._repr_html_()
    packed = keys[0].encrypt_columns(
        FRAME[["years"]].assign(b=1), {"years": {"range": 9}, "b": {"range": 9}}, pack=True
    )
    assert "encrypted, paillier, 2 slots" in repr(he.summary(packed))
    assert "16^-4" in repr(he.summary(pa.table({"x": keys[0].encrypt([0.5], exponent=-4).to_arrow()})))
    with pytest.raises(TypeError, match="is not a table"):
        he.summary([1])


def test_whole_columns_are_summarised():
    public, _ = he.generate_keypair(scheme="bfv", parameters="bfv-4096")
    table = public.encrypt_columns(FRAME[["years"]], {"years": {"range": 9}}, max_additions=100)
    assert "encrypted, bfv" in repr(he.summary(table))


def test_series_of_polars_as_arrays(keys):
    encrypted = pl.from_arrow(keys[0].encrypt_column(FRAME, "years"))
    assert keys[1].decrypt(encrypted["years"].he.array().sum()) == 6
    with pytest.raises(TableError, match="no encrypted column"):
        pl.Series("x", [1]).he.array()
    missing = pl.from_arrow(keys[0].encrypt_column(FRAME, "salary"))
    with pytest.raises(NullError, match="row 1"):
        missing["salary"].he.array()


def test_what_polars_makes_of_encrypted_columns(keys):
    """Tests the behaviour that the module documents: errors from polars, or results that cannot be
    decrypted as totals.
    """
    frame = pl.from_pandas(FRAME).he.encrypt(keys[0], COLUMNS)
    column = pl.col("salary")
    for compute in (
        lambda: frame.select(column.sum()),
        lambda: frame.lazy().select(column.mean()).collect(),
        lambda: frame["salary"].max(),
        lambda: frame.select(column + column),
        lambda: frame.select(column.cast(pl.Int64)),
        lambda: frame.select(column.fill_null(0)),
        lambda: frame.select(column / 2),
        lambda: frame.select(column.median()),
        lambda: frame.group_by("dept").agg(column.mean()),
        lambda: pl.concat([frame, frame.with_columns(frame["bonus"].alias("salary"))]),
        frame["salary"].cum_sum,
        frame["salary"].std,
        frame.write_csv,
    ):
        with pytest.raises(pl.exceptions.PolarsError):
            compute()
    assert [frame["salary"].mean(), frame["salary"].median()] == [None, None]
    whole = [frame.sum, frame.mean, frame.median, frame.std, frame.var, lambda: frame.quantile(0.5), frame.product]
    assert all(compute()["salary"].to_list() == [None] for compute in whole)
    totals = frame.group_by("dept").agg(pl.exclude("dept").sum())
    assert totals["salary"].null_count() == 2
    with pytest.raises(TableError):
        totals.he.decrypt(keys[1])
    with pytest.raises(TableError):
        totals.select("dept", "salary").he.decrypt(keys[1])


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128])
def test_integers_of_128_bits(keys, kind):
    """Arrow has no type for them, so they are converted to decimals."""
    public, private = keys
    values = [10**37, 3, None]
    frame = pl.DataFrame({"x": pl.Series(values, dtype=kind)})
    options = {"x": {"range": 10**37}}
    for given in (frame, frame.lazy(), frame["x"]):
        found = private.decrypt_columns(public.encrypt_columns(given, options, max_additions=10))
        assert found["x"].to_pylist() == values
    assert private.decrypt(public.encrypt(frame["x"][:2], range=10**37)).tolist() == values[:2]
    with pytest.raises(NullError, match="row 2"):
        public.encrypt(frame["x"])
    with pytest.raises(RangeError, match="column x: an integer of U?Int128 has more than 38 digits"):
        public.encrypt_columns(pl.DataFrame({"x": pl.Series([2**127 - 1], dtype=kind)}), options)
