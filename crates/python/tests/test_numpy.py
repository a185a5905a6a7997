"""Encrypted arrays of any shape, compared with NumPy's results."""

import json
import pickle
from collections import deque
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hearith as he
from hearith import _rows
from hearith.errors import NullError, NumberError, RangeError, ScaleError, ShapeError

shapes = arrays.array_shapes(max_dims=3, max_side=3)
small = st.integers(-1000, 1000)
numbers = arrays.arrays(np.int64, shapes, elements=small)


def same(private, encrypted, plain):
    """Checks that decrypted numbers have NumPy's shape and values."""
    found = private.decrypt(encrypted)
    assert np.shape(found) == np.shape(plain) == encrypted.shape
    assert np.asarray(found).tolist() == np.asarray(plain).tolist()


def near(private, encrypted, plain):
    """Checks quotients, which are the floats nearest to the exact ones."""
    assert np.shape(plain) == encrypted.shape
    assert np.allclose(private.decrypt(encrypted), plain, rtol=1e-15, atol=0)


class TestShapes:
    @given(numbers)
    def test_arrays_come_back_as_they_were(self, keys, a):
        c = keys[0].encrypt(a)
        assert (c.shape, c.ndim, c.size, len(c), c.dtype) == (a.shape, a.ndim, a.size, len(a), np.dtype(object))
        same(keys[1], c, a)
        same(keys[1], keys[0].encrypt(a.tolist()), a)
        same(keys[1], pickle.loads(pickle.dumps(c)), a)

    @given(st.data())
    def test_shapes_go_together_as_in_numpy(self, keys, data):
        left, right = data.draw(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)).input_shapes
        element = st.integers(-1000, 1000)
        a, b = (data.draw(arrays.arrays(np.int64, shape, elements=element)) for shape in (left, right))
        c, d = (keys[0].encrypt(one) for one in (a, b))
        same(keys[1], c + d, a + b)
        same(keys[1], c - d, a - b)
        same(keys[1], c + b, a + b)
        same(keys[1], a - d, a - b)
        same(keys[1], c * b, a * b)
        same(keys[1], np.multiply(a, d), a * b)

    @pytest.mark.parametrize("other", [np.zeros((2, 2), dtype=int), [1, 2], np.zeros((3, 1, 4), dtype=int)])
    def test_shapes_that_do_not(self, keys, other):
        c = keys[0].encrypt(np.zeros((2, 3), dtype=int))
        for operation in (lambda: c + other, lambda: c * other, lambda: other - c, lambda: c + keys[0].encrypt(other)):
            with pytest.raises(ShapeError, match="do not match"):
                operation()

    @given(numbers, st.data())
    def test_places_are_taken_as_in_numpy(self, keys, a, data):
        c = keys[0].encrypt(a)
        index = data.draw(arrays.basic_indices(a.shape, allow_newaxis=True))
        same(keys[1], c[index], a[index])
        mask = data.draw(arrays.arrays(bool, a.shape))
        same(keys[1], c[mask], a[mask])
        for one, plain in zip(c, a, strict=True):
            same(keys[1], one, plain)

    @given(numbers, st.data())
    def test_places_move_as_in_numpy(self, keys, a, data):
        c, axis = keys[0].encrypt(a), data.draw(st.integers(-a.ndim, a.ndim - 1))
        same(keys[1], c.T, a.T)
        same(keys[1], c.ravel(), a.ravel())
        same(keys[1], c.reshape(-1, 1), a.reshape(-1, 1))
        same(keys[1], c.copy(), a)
        same(keys[1], c.repeat(2, axis), a.repeat(2, axis))
        same(keys[1], c.take([0, -1], axis), a.take([0, -1], axis))
        for function in (np.ravel, np.transpose, np.flip, np.squeeze, np.copy):
            same(keys[1], function(c), function(a))
        same(keys[1], np.roll(c, 1), np.roll(a, 1))
        same(keys[1], np.expand_dims(c, axis), np.expand_dims(a, axis))
        same(keys[1], np.broadcast_to(c, (2, *a.shape)), np.broadcast_to(a, (2, *a.shape)))
        assert (np.shape(c), np.ndim(c), np.size(c)) == (a.shape, a.ndim, a.size)

    @given(numbers, st.data())
    def test_arrays_are_put_together_as_in_numpy(self, keys, a, data):
        c, axis = keys[0].encrypt(a), data.draw(st.integers(-a.ndim, a.ndim - 1))
        for function in (np.concatenate, np.stack, he.concatenate):
            plain = np.concatenate if function is he.concatenate else function
            same(keys[1], function([c, c[::-1]], axis=axis), plain([a, a[::-1]], axis=axis))
        for function in (np.hstack, np.vstack):
            same(keys[1], function([c, c]), function([a, a]))
        same(keys[1], np.append(c, c[0]), np.append(a, a[0]))

    @given(st.data())
    def test_plain_and_encrypted_parts_are_put_together(self, keys, data):
        """Some parts are encrypted and some plaintext, as arrays, lists of numbers or lists of
        arrays.
        """
        shape = data.draw(arrays.array_shapes(min_dims=2, max_dims=2, max_side=3))
        count = data.draw(st.integers(2, 3))
        plain = [data.draw(arrays.arrays(np.int64, shape, elements=small)) for _ in range(count)]
        hidden = data.draw(st.lists(st.booleans(), min_size=count, max_size=count).filter(any))
        look = st.sampled_from([lambda a: a, lambda a: a.tolist(), list])
        mixed = [
            keys[0].encrypt(a) if is_hidden else data.draw(look)(a) for a, is_hidden in zip(plain, hidden, strict=True)
        ]
        for axis in (0, 1, -1, None):
            same(keys[1], np.concatenate(mixed, axis=axis), np.concatenate(plain, axis=axis))
        for axis in (0, 1, 2):
            same(keys[1], np.stack(mixed, axis=axis), np.stack(plain, axis=axis))
        for function in (np.vstack, np.hstack, np.dstack, np.column_stack):
            same(keys[1], function(mixed), function(plain))
        if any(hidden[:2]):
            same(keys[1], np.append(*mixed[:2]), np.append(*plain[:2]))
            same(keys[1], np.where(plain[0] > 0, *mixed[:2]), np.where(plain[0] > 0, *plain[:2]))
        same(keys[1], np.select([plain[0] > 0] * count, mixed), np.select([plain[0] > 0] * count, plain))
        same(keys[1], np.choose(np.abs(plain[0]) % count, mixed), np.choose(np.abs(plain[0]) % count, plain))

    @given(st.data())
    def test_blocks_are_put_together_as_in_numpy(self, keys, data):
        """Blocks of any heights and widths, with entire plaintext rows."""
        heights, widths = (data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3)) for _ in range(2))
        plain = [[data.draw(arrays.arrays(np.int64, (h, w), elements=small)) for w in widths] for h in heights]
        hidden = data.draw(arrays.arrays(bool, (len(heights), len(widths))).filter(np.any))

        def block(a, is_hidden):
            if is_hidden:
                return keys[0].encrypt(a)
            return int(a[0, 0]) if a.size == 1 and data.draw(st.booleans()) else a

        mixed = [
            [block(a, is_hidden) for a, is_hidden in zip(row, some, strict=True)]
            for row, some in zip(plain, hidden, strict=True)
        ]
        same(keys[1], np.block(mixed), np.block(plain))
        same(keys[1], np.block([mixed]), np.block([plain]))
        for row, some, whole in zip(mixed, hidden, plain, strict=True):
            if some.any():
                same(keys[1], np.block(row), np.block(whole))


class TestReductions:
    @given(numbers, st.data())
    def test_sums_along_axes(self, keys, a, data):
        c, axis = keys[0].encrypt(a), data.draw(st.integers(-a.ndim, a.ndim - 1))
        same(keys[1], c.sum(), a.sum())
        same(keys[1], c.sum(axis), a.sum(axis))
        same(keys[1], np.sum(c, axis=axis), a.sum(axis))
        same(keys[1], np.add.reduce(c, axis=axis), a.sum(axis))
        same(keys[1], c.cumsum(axis), a.cumsum(axis))
        same(keys[1], np.cumsum(c), np.cumsum(a))
        same(keys[1], np.diff(c, axis=axis), np.diff(a, axis=axis))
        near(keys[1], c.mean(axis), a.mean(axis))
        near(keys[1], np.mean(c), np.mean(a))

    @given(numbers, st.data())
    def test_along_several_axes_and_with_all_dimensions_kept(self, keys, a, data):
        c = keys[0].encrypt(a)
        axes = tuple(data.draw(st.lists(st.integers(0, a.ndim - 1), unique=True)))
        for axis in (None, -1, axes):
            same(keys[1], c.sum(axis), a.sum(axis))
            same(keys[1], np.sum(c, axis=axis, keepdims=True), a.sum(axis, keepdims=True))
            same(keys[1], np.add.reduce(c, axis=axis, keepdims=True), a.sum(axis, keepdims=True))
            near(keys[1], np.mean(c, axis=axis, keepdims=True), a.mean(axis, keepdims=True))
        with pytest.raises(ShapeError, match="named twice"):
            c.sum((0, -a.ndim))

    @given(numbers, st.data())
    def test_weighted_means_along_axes(self, keys, a, data):
        c, axis = keys[0].encrypt(a), data.draw(st.integers(-a.ndim, a.ndim - 1))
        whole, line = np.arange(1, a.size + 1).reshape(a.shape), np.arange(1, a.shape[axis] + 1)
        repeated = np.moveaxis(np.broadcast_to(line, (*np.delete(a.shape, axis), line.size)), -1, axis)
        for along, weights in ((None, whole), (axis, repeated), (axis, line)):
            for keepdims in (False, True):
                found = np.average(c, axis=along, weights=weights, keepdims=keepdims)
                near(keys[1], found, np.average(a, axis=along, weights=weights, keepdims=keepdims))

    def test_weights_that_do_not_fit(self, keys):
        c = keys[0].encrypt([[1, 2, 3], [4, 5, 6]])
        near(keys[1], np.average(c, axis=0, weights=[[1, 2, 3], [3, 2, 3]]), np.array([3.25, 3.5, 4.5]))
        for options in ({"weights": [1, 2, 3]}, {"axis": 0, "weights": [1, 2, 3]}, {"axis": 1, "weights": [[1, 2, 3]]}):
            with pytest.raises(ShapeError, match="weights of shape"):
                np.average(c, **options)

    def test_arguments_that_are_not_offered_are_named(self, keys):
        c = keys[0].encrypt([[1, 2], [3, 4]])
        for function, options, named in (
            (np.sum, {"out": np.zeros(2)}, "np.sum with out"),
            (np.concatenate, {"dtype": float}, "np.concatenate with dtype"),
            (np.mean, {"dtype": float}, "np.mean with dtype"),
            (np.add.reduce, {"dtype": float}, "np.add.reduce with dtype"),
            (np.gradient, {"edge_order": 2}, "np.gradient with edge_order 2"),
            (np.cumsum, {"dtype": int}, "np.cumsum with dtype"),
        ):
            with pytest.raises(TypeError, match=f"{named} cannot be computed"):
                function(c, **options)

    def test_of_nothing(self, keys):
        c = keys[0].encrypt(np.zeros((0, 2), dtype=int))
        same(keys[1], c.sum(0), [0, 0])
        same(keys[1], c.cumsum(0), np.zeros((0, 2)))
        with pytest.raises(ShapeError, match="no numbers"):
            c.mean()

    def test_weighted_means(self, keys):
        c = keys[0].encrypt([1, 2, 3])
        near(keys[1], np.average(c, weights=[3, 1, 1]), np.average([1, 2, 3], weights=[3, 1, 1]))
        near(keys[1], np.average(c), np.float64(2.0))

    @given(st.data())
    def test_products_of_matrices(self, keys, data):
        rows, terms, columns = (data.draw(st.integers(1, 3)) for _ in range(3))
        small = st.integers(-1000, 1000)
        a = data.draw(arrays.arrays(np.int64, (rows, terms), elements=small))
        b = data.draw(arrays.arrays(np.int64, (terms, columns), elements=small))
        same(keys[1], keys[0].encrypt(a) @ b, a @ b)
        same(keys[1], a @ keys[0].encrypt(b), a @ b)
        same(keys[1], keys[0].encrypt(a) @ b[:, 0], a @ b[:, 0])
        same(keys[1], a[0] @ keys[0].encrypt(b), a[0] @ b)
        same(keys[1], np.dot(keys[0].encrypt(a), b), a @ b)
        same(keys[1], keys[0].encrypt(a)[0, 0].dot(b), a[0, 0] * b)

    def test_products_that_do_not_fit(self, keys):
        c = keys[0].encrypt(np.ones((2, 3), dtype=int))
        ones = np.ones((2, 3), dtype=int)
        for operation in (lambda: c @ [1, 2], lambda: ones @ c, lambda: c @ 3, lambda: c[0][0] @ [1]):
            with pytest.raises(ShapeError):
                operation()


class TestNumbersAsTheyAre:
    """Floats, decimals and fractions keep all their digits."""

    def test_floats(self, keys):
        public, private = keys
        c = public.encrypt([1, 2])
        assert private.decrypt(c * 2.5).tolist() == [Decimal("2.5"), Decimal("5.0")]
        assert private.decrypt(c + 0.25).tolist() == [Decimal("1.25"), Decimal("2.25")]
        assert private.decrypt(1e-3 - c).tolist() == [Decimal("-0.999"), Decimal("-1.999")]
        assert private.decrypt(c @ np.array([0.1, 0.02])) == Decimal("0.14")
        assert private.decrypt(np.array([[0.5, 1], [0.25, 2]]) @ c).tolist() == [Decimal("2.50"), Decimal("4.25")]
        assert private.decrypt(c * Fraction(1, 8)).tolist() == [Decimal("0.125"), Decimal("0.250")]
        assert repr(c * 0.125).split(",")[1] == " scale 3"
        for function in (np.add, np.subtract, np.multiply):
            same(private, function(c, 3), function([1, 2], 3))
            same(private, function(3, c), function(3, [1, 2]))

    @given(st.lists(st.floats(-100, 100), min_size=1, max_size=4))
    def test_floats_beside_powers_of_sixteen(self, keys, a):
        c = keys[0].encrypt([3.0], exponent=-2)
        try:
            product = c * a
        except (RangeError, ScaleError):
            # Tiny numbers need more digits than the headroom allows.
            assert min(abs(x) for x in a if x) < 1e-3
            return
        assert keys[1].decrypt(product).tolist() == [float(3 * Fraction(x)) for x in a]

    def test_quotients(self, keys):
        public, private = keys
        c = public.encrypt([1, -2, 7])
        assert private.decrypt(c / 3).tolist() == [1 / 3, -2 / 3, 7 / 3]
        assert private.decrypt(c / -0.5).tolist() == [-2.0, 4.0, -14.0]
        assert private.decrypt(np.true_divide(c, 4)).tolist() == [0.25, -0.5, 1.75]
        assert (c / 3).ciphertexts() == c.ciphertexts()
        assert private.decrypt(c / 3 * 3).tolist() == [1.0, -2.0, 7.0]
        assert private.decrypt(c / 3 + c / 3).tolist() == [2 / 3, -4 / 3, 14 / 3]
        assert private.decrypt(c / 3 + 1).tolist() == [4 / 3, 1 / 3, 10 / 3]
        assert private.decrypt(public.encrypt("0.5", scale=1).mean() / 2) == 0.25
        assert pickle.loads(pickle.dumps(c / 3)).encoding == (c / 3).encoding
        for impossible in (lambda: (c / 3).to_phe(), lambda: (c / 3).to_arrow()):
            with pytest.raises(ScaleError):
                impossible()
        with pytest.raises(ZeroDivisionError):
            c / [1, 0, 3]
        with pytest.raises(ShapeError):
            c / [1, 2]
        for impossible in (lambda: 1 / c, lambda: c / c, lambda: c**2):
            with pytest.raises(TypeError):
                impossible()

    def test_digits_that_do_not_fit(self, keys):
        c = keys[0].encrypt([1, 2])
        for factor in (1e-150, Fraction(1, 3**300), Decimal(1).scaleb(-200)):
            with pytest.raises(RangeError, match="headroom"):
                c * [factor, 1]
            with pytest.raises(RangeError, match="headroom"):
                c.add([1, factor])
        with pytest.raises(RangeError):
            c * float("inf")
        third = c.multiply(1 / 3, scale=3, rounding=True)
        assert keys[1].decrypt(third).tolist() == [Decimal("0.333"), Decimal("0.666")]

    def test_a_change_of_sign_takes_no_room(self, keys):
        c = keys[0].encrypt([5, 6])
        for _ in range(600):
            c = c * -1
        same(keys[1], c, [5, 6])


class TestLabels:
    def test_kinds_stay_apart(self, keys):
        public, private = keys
        names, totals = public.encrypt([1, 20, 300]).sum_by([1, "1", 1])
        assert (names.tolist(), private.decrypt(totals).tolist()) == ([1, "1"], [301, 20])
        names, totals = public.encrypt([1, 20, 300]).sum_by(np.array(["b", 3, 1.5], dtype=object))
        assert (names.tolist(), private.decrypt(totals).tolist()) == ([1.5, 3, "b"], [300, 20, 1])
        names, totals = public.encrypt([[1, 2], [3, 4]]).sum_by(np.array([["x", "y"], ["y", "x"]]))
        assert (names.tolist(), private.decrypt(totals).tolist()) == (["x", "y"], [5, 5])

    @pytest.mark.parametrize(
        ("labels", "names", "sums"),
        [
            ([-1, 2**63, 2**63 + 1], [-1, 2**63, 2**63 + 1], [1, 20, 300]),
            ([2**64, -1, 2**64], [-1, 2**64], [20, 301]),
            (range(2**63 + 1, -(2**63), -(2**63)), [1 - 2**63, 1, 2**63 + 1], [300, 20, 1]),
            (deque([2**53, 2**53 + 1, 0.5]), [0.5, 2**53, 2**53 + 1], [300, 1, 20]),
            ([True, 2, 1], [True, 2], [301, 20]),
            ([1, True, 1.0], [1], [321]),
            (["a\0", "a", "a"], ["a", "a\0"], [320, 1]),
            ([np.int64(-1), np.uint64(2**63 + 1), np.uint64(2**63)], [-1, 2**63, 2**63 + 1], [1, 300, 20]),
            ([np.longdouble(1), 1, 2], [1, 2], [21, 300]),
            ([("b", 2**63), ("a", -1), ("b", 2**63)], [("a", -1), ("b", 2**63)], [20, 301]),
        ],
    )
    def test_lists_come_back_exactly(self, keys, labels, names, sums):
        public, private = keys
        for given_labels in (labels, np.fromiter(labels, dtype=object)):
            found, totals = public.encrypt([1, 20, 300]).sum_by(given_labels)
            assert (found.tolist(), private.decrypt(totals).tolist()) == (names, sums)
            assert [isinstance(name, float) for name in found.tolist()] == [isinstance(name, float) for name in names]

    @pytest.mark.parametrize(
        "kind", [list, np.array, lambda labels: np.array(labels, dtype=object), pl.Series, pa.array, tuple]
    )
    def test_nan_is_one_label_and_the_last(self, keys, kind):
        public, private = keys
        c = public.encrypt([1, 20, 300, 4000, 50000, 600000])
        names, totals = c.sum_by(kind([float("nan"), 1.0, 2.0, -float("nan"), 1.0, 2.0]))
        assert names.dtype == np.float64
        assert names[:2].tolist() == [1, 2]
        assert np.isnan(names[2:]).tolist() == [True]
        assert private.decrypt(totals).tolist() == [50020, 600300, 4001]

    def test_nan_of_several_types_is_before_texts(self, keys):
        public, private = keys
        names, totals = public.encrypt([1, 20, 300, 4000, 5]).sum_by(
            [np.float32("nan"), Decimal("NaN"), 3, "x", float("inf")]
        )
        assert [str(name) for name in names] == ["3", "inf", "nan", "x"]
        assert private.decrypt(totals).tolist() == [300, 5, 21, 4000]
        names, totals = public.encrypt([1, 20, 4]).sum_by([("a", float("nan")), ("a", 1), ("a", float("nan"))])
        assert private.decrypt(totals).tolist() == [20, 5]

    def test_zero_has_no_sign(self, keys):
        for kind in (list, np.array, np.float32):
            names, totals = keys[0].encrypt([1, 20]).sum_by(kind([-0.0, 0.0]))
            assert np.signbit(names).tolist() == [False]
            assert keys[1].decrypt(totals).tolist() == [21]

    def test_times(self, keys):
        public, private = keys
        day, second = np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00:00:00")
        nanosecond = np.datetime64(second, "ns")
        names, totals = public.encrypt([1, 20, 300]).sum_by([np.datetime64("2020-01-02"), day, second])
        assert names.dtype == np.dtype("datetime64[s]")
        assert (names.tolist(), private.decrypt(totals).tolist()) == ([second.item(), datetime(2020, 1, 2)], [320, 1])
        # NumPy's item() is an integer for this unit.
        names, totals = public.encrypt([1, 20]).sum_by([nanosecond, nanosecond.item()])
        assert names.tolist() == [nanosecond.item(), nanosecond]
        assert private.decrypt(totals).tolist() == [20, 1]

    def test_lists_within_lists(self, keys):
        public, private = keys
        c = public.encrypt([[1, 20], [300, 4000]])
        names, totals = c.sum_by([[-1, 2**63], [2**63, -1]])
        assert (names.tolist(), private.decrypt(totals).tolist()) == ([-1, 2**63], [4001, 320])
        for labels in ([[1, 2], [3]], [1, 2, 3, 4], [[1, 2]], [[[1]] * 2] * 2):
            with pytest.raises((ShapeError, NumberError)):
                c.sum_by(labels)

    @pytest.mark.parametrize(
        "labels",
        [
            np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[D]"),
            [np.timedelta64(1, "s"), np.timedelta64("NaT"), np.timedelta64(2, "s")],
            ["a", None, "b"],
            pd.Series(["a", pd.NA, "b"], dtype="string"),
            np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        ],
    )
    def test_missing(self, keys, labels):
        with pytest.raises(NullError, match="row 1"):
            keys[0].encrypt([1, 2, 3]).sum_by(labels)

    def test_without_an_order(self, keys):
        with pytest.raises(NumberError, match="cannot be ordered"):
            keys[0].encrypt([1, 2]).sum_by(np.array([1j, 2j], dtype=object))


class TestRefusals:
    def test_a_series_with_an_index(self, keys):
        c = keys[0].encrypt([1, 2, 3])
        shuffled = pd.Series([1, 2, 3], index=[2, 1, 0])
        for operation in (lambda: c + shuffled, lambda: c * shuffled, lambda: c @ shuffled):
            with pytest.raises(ShapeError, match="index"):
                operation()
        same(keys[1], c + pd.Series([1, 2, 3]), [2, 4, 6])
        same(keys[1], c + shuffled.to_numpy(), [2, 4, 6])

    @pytest.mark.parametrize("name", ["sort", "exp", "median", "maximum.reduce", "maximum.accumulate", "linalg.norm"])
    def test_functions_that_are_not_offered(self, keys, name):
        function = np
        for part in name.split("."):
            function = getattr(function, part)
        with pytest.raises(TypeError, match=f"np.{name} cannot"):
            function(keys[0].encrypt([1, 2]))

    def test_comparisons(self, keys):
        c = keys[0].encrypt([1, 2])
        for comparison in (lambda: c < 1, lambda: c >= c, lambda: np.equal(c, 1), lambda: c != 1):
            with pytest.raises(TypeError):
                comparison()

    def test_decrypting_something_else(self, keys):
        for other in ([1, 2], None, b"", np.zeros(2)):
            with pytest.raises(TypeError, match="an EncryptedArray is needed"):
                keys[1].decrypt(other)

    def test_iterating_takes_each_row_once(self, keys, monkeypatch):
        """Each row is taken separately.

        Copies of the remaining rows would make iteration quadratic.
        """
        taken = []
        of = _rows.Rows._of
        monkeypatch.setattr(
            _rows.Rows, "_of", lambda self, rows, shape: taken.append(len(rows)) or of(self, rows, shape)
        )
        for length in (10, 40):
            for columns in (1, 3):
                taken.clear()
                c = keys[0].encrypt(np.zeros((length, columns), dtype=int))
                assert len(list(c)) == length
                assert taken == [columns] * length

    def test_shapes_with_other_sizes(self, keys):
        c = keys[0].encrypt([[1, 2, 3], [4, 5, 6]])
        for shape in ((4,), (2, 2), (-1, 4), ()):
            with pytest.raises(ShapeError):
                c.reshape(shape)
        for axis in (2, -3):
            with pytest.raises(ShapeError, match="axis"):
                c.sum(axis)

    def test_errors_name_the_place(self, keys):
        with pytest.raises(RangeError, match="row 1, column 2: ") as caught:
            keys[0].encrypt([[1, 2, 3], [4, 5, 60]], range=10)
        assert (caught.value.row, caught.value.column) == (1, "2")
        with pytest.raises(ShapeError, match="same length"):
            keys[0].encrypt([[1, 2], [3]])


def test_notebooks_see_what_it_is_and_no_value(keys):
    text = keys[0].encrypt(np.full((2, 3), 424242))._repr_html_()
    assert "2 x 3 numbers" in text
    assert keys[0].id in text
    assert "424242" not in text


@pytest.mark.parametrize("options", [{"bits": 512, "insecure": True}, {"scheme": "bfv", "parameters": "bfv-4096"}])
def test_notebooks_see_keys_and_no_secret(options):
    public, private = he.generate_keypair(**options)
    for key, caption in ((public, "Public key"), (private, "Private key")):
        text = key._repr_html_()
        assert f"<caption>{caption}</caption>" in text
        assert key.id in text
    secrets = [
        one for name, one in json.loads(private.to_jwk()).items() if name not in ("kid", "kty", "alg", "set", "key_ops")
    ]
    assert secrets
    assert not any(isinstance(one, str) and len(one) > 8 and one in text for one in secrets)
