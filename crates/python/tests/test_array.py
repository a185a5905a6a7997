"""Encrypted arrays compared with NumPy. python-paillier decrypts the ciphertexts."""

import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hearith as he
from hearith import encoding
from hearith.errors import CiphertextError, KeyMismatchError, RangeError, ScaleError, ShapeError

integers = st.integers(-(2**50), 2**50)
vectors = st.lists(integers, min_size=1, max_size=6)
decimals_as_floats = st.builds(
    lambda digits, places: digits / 10**places, st.integers(-(10**17), 10**17), st.integers(0, 20)
)
pairs = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(integers, min_size=n, max_size=n)] * 2))


class TestArithmetic:
    @given(pairs)
    def test_encrypted_with_encrypted(self, keys, judge, pair):
        a, b = pair
        left, right = (keys[0].encrypt(one) for one in pair)
        assert judge(left + right) == [x + y for x, y in zip(a, b, strict=True)]
        assert judge(left - right) == [x - y for x, y in zip(a, b, strict=True)]

    @given(pairs)
    def test_encrypted_with_plain(self, keys, judge, pair):
        a, plain = pair
        c, vector = keys[0].encrypt(a), np.array(plain)
        assert judge(c + vector) == judge(vector + c) == [x + y for x, y in zip(a, plain, strict=True)]
        assert judge(c - vector) == [x - y for x, y in zip(a, plain, strict=True)]
        assert judge(vector - c) == [y - x for x, y in zip(a, plain, strict=True)]
        assert judge(c * vector) == judge(plain * c) == [x * y for x, y in zip(a, plain, strict=True)]
        product = sum(x * y for x, y in zip(a, plain, strict=True))
        assert judge(c @ vector) == judge(vector @ c) == judge(np.dot(c, vector)) == [product]

    @given(vectors, integers)
    def test_scalars_broadcast(self, keys, judge, a, k):
        public, _ = keys
        c, single = public.encrypt(a), public.encrypt(k)
        assert judge(c + k) == judge(k + c) == judge(c + single) == judge(single + c) == [x + k for x in a]
        assert judge(c - k) == judge(c - single) == [x - k for x in a]
        assert judge(k - c) == judge(single - c) == [k - x for x in a]
        assert judge(c * k) == judge(np.int64(k) * c) == [x * k for x in a]
        assert judge(single * np.array(a)) == [x * k for x in a]
        assert judge(-c) == [-x for x in a]
        assert judge(+c) == a
        assert (single + k).shape == ()
        assert (c + single).shape == (len(a),)

    @given(st.integers(1, 4), st.integers(1, 4), st.data())
    def test_matrices(self, keys, judge, rows, columns, data):
        small = st.integers(-1000, 1000)
        a = data.draw(st.lists(small, min_size=columns, max_size=columns))
        matrix = np.array(data.draw(st.lists(small, min_size=rows * columns, max_size=rows * columns)))
        matrix = matrix.reshape(rows, columns)
        c = keys[0].encrypt(a)
        assert judge(matrix @ c) == (matrix @ np.array(a)).tolist()
        assert judge(c @ matrix.T) == judge(c.dot(matrix.T.tolist())) == (np.array(a) @ matrix.T).tolist()

    def test_a_matrix_of_several_chunks(self, keys, monkeypatch):
        monkeypatch.setattr("hearith._products.DOT_ROWS", 8)
        matrix = np.arange(-30, 30).reshape(20, 3)
        assert keys[1].decrypt(matrix @ keys[0].encrypt([1, -2, 3])).tolist() == (matrix @ [1, -2, 3]).tolist()

    @given(vectors)
    def test_sums(self, keys, judge, a):
        c = keys[0].encrypt(a)
        assert judge(c.sum()) == judge(np.sum(c)) == judge(sum(c[1:], start=c[0])) == [sum(a)]
        assert c.sum().shape == ()

    @given(st.lists(st.tuples(st.sampled_from("abcd"), integers), min_size=1, max_size=10))
    def test_sums_by_label(self, keys, judge, rows):
        labels, totals = keys[0].encrypt([value for _, value in rows]).sum_by([label for label, _ in rows])
        expected = {label: sum(value for name, value in rows if name == label) for label in labels}
        assert labels.tolist() == sorted({label for label, _ in rows})
        assert judge(totals) == list(expected.values())

    @given(st.lists(st.tuples(integers, st.sampled_from("abcd"), st.integers(0, 3)), max_size=10))
    def test_sums_by_several_labels(self, keys, judge, rows):
        numbers = keys[0].encrypt([value for value, _, _ in rows])
        groupings = [[row[place] for row in rows] for place in (1, 2, 1)]
        found = numbers.sums_by(groupings)
        assert len(found) == 3
        for labels, (names, totals) in zip(groupings, found, strict=True):
            assert names.tolist() == sorted(set(labels))
            expected = [sum(row[0] for row, label in zip(rows, labels, strict=True) if label == name) for name in names]
            assert judge(totals) == expected
        assert numbers.sums_by([]) == []
        with pytest.raises(ShapeError):
            numbers.sums_by([[1] * len(rows), [1] * (len(rows) + 1)])

    def test_the_readme_line(self, keys):
        c = keys[0].encrypt(np.array([1500, -20, 7]))
        assert keys[1].decrypt((c + c * 3).sum()) == keys[1].decrypt((c + c * 3).sum(), check=True) == 5948

    def test_empty_arrays(self, keys):
        public, private = keys
        c = public.encrypt([])
        results = [c + c, c - c, c + 1, 2 - c, c * 3, -c, c[:0], he.concatenate([c, c]), c.rerandomise()]
        assert all(private.decrypt(result).tolist() == [] for result in results)
        assert private.decrypt(c.sum()) == private.decrypt(c @ []) == 0
        assert private.decrypt(np.zeros((2, 0), dtype=int) @ c).tolist() == [0, 0]

    def test_zeros_and_factors_of_zero(self, keys):
        public, private = keys
        assert private.decrypt(public.zeros(3)).tolist() == [0, 0, 0]
        assert private.decrypt(public.encrypt([5, 6]) * 0).tolist() == [0, 0]

    @pytest.mark.parametrize("bits", [63, 64, 100, 127, 128, 190])
    def test_factors_of_every_width(self, keys, judge, bits):
        public, _ = keys
        for factor in (2**bits - 1, -(2**bits) + 1, 2 ** (bits - 1), -(2 ** (bits - 1))):
            assert judge(public.encrypt([3, -5], range=10) * factor) == [3 * factor, -5 * factor]
            assert judge(public.encrypt([3, -5], range=10) + factor) == [3 + factor, -5 + factor]
            if bits <= 127:
                assert judge(public.encrypt([3, -5], range=10) @ [factor, 1]) == [3 * factor - 5]

    def test_rerandomised_numbers_are_the_same_in_other_ciphertexts(self, keys, judge):
        c = keys[0].encrypt([1, 2, 3])
        other = c.rerandomise()
        assert judge(other) == [1, 2, 3]
        assert not set(other.ciphertexts()) & set(c.ciphertexts())


class TestSumsThatArePutOff:
    @given(st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=200))
    def test_long_sums(self, keys, judge, a):
        """Deferred sums give the same ciphertexts as immediate ones."""
        public, _ = keys
        numbers = [public.encrypt([one, -one]) for one in a]
        total, at_once = numbers[0], numbers[0].content.rows
        for one in numbers[1:]:
            total = total + one
            at_once = public.native.add(at_once, one.content.rows)
        assert total.to_bytes() == at_once.to_bytes()
        assert judge(total) == [sum(a), -sum(a)]

    def test_numbers_that_go_into_many_sums(self, keys, judge):
        c = keys[0].encrypt(3)
        half = c + c
        sums = [half + one for one in (c, half, half + half)]
        assert [judge(one)[0] for one in sums] == [9, 12, 18]
        for _ in range(150):
            c = c + c
        assert judge(c) == [3 * 2**150]
        assert judge(pickle.loads(pickle.dumps(half + half))) == [12]

    def test_other_keys_are_found_at_once(self, keys, other_keys):
        c = keys[0].encrypt(1) + keys[0].encrypt(2)
        with pytest.raises(KeyMismatchError):
            c + other_keys[0].encrypt(1)


class TestRows:
    @given(vectors, st.data())
    def test_indexing_is_numpys(self, keys, judge, a, data):
        c, plain, size = keys[0].encrypt(a), np.array(a), len(a)
        part = data.draw(st.slices(size))
        assert judge(c[part]) == plain[part].tolist()
        rows = data.draw(st.lists(st.integers(-size, size - 1), max_size=8))
        assert judge(c[np.array(rows, dtype=int)]) == plain[np.array(rows, dtype=int)].tolist()
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        assert judge(c[mask]) == plain[mask].tolist()
        row = data.draw(st.integers(-size, size - 1))
        assert judge(c[row]) == [a[row]]
        assert c[row].shape == ()
        assert [judge(one)[0] for one in c] == a

    @pytest.mark.parametrize("index", [3, -4, [0, 3], np.array([True]), "a", 1.5, (0, 0)])
    def test_wrong_indices(self, keys, index):
        with pytest.raises(IndexError):
            keys[0].encrypt([1, 2, 3])[index]

    def test_single_numbers_have_no_rows(self, keys):
        single = keys[0].encrypt(1)
        with pytest.raises(IndexError):
            single[0]
        with pytest.raises(TypeError):
            len(single)
        assert len(single.reshape(-1)) == 1
        assert single.reshape(1).reshape(()).shape == ()
        with pytest.raises(ValueError, match="shape"):
            keys[0].encrypt([1, 2]).reshape(2, 2)

    @given(st.lists(vectors, min_size=1, max_size=4))
    def test_concatenation(self, keys, judge, parts):
        arrays = [keys[0].encrypt(part) for part in parts]
        flat = [value for part in parts for value in part]
        assert judge(he.concatenate(arrays)) == judge(np.concatenate(arrays)) == flat


class TestNumbers:
    @given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), max_size=5))
    def test_all_int64(self, keys, a):
        decrypted = keys[1].decrypt(keys[0].encrypt(a))
        assert decrypted.dtype == np.int64
        assert decrypted.tolist() == a

    @given(st.lists(st.integers(-(2**300), 2**300), min_size=1, max_size=4))
    def test_integers_of_any_size(self, keys, judge, a):
        c = keys[0].encrypt(a, range=2**300)
        assert judge(c) == keys[1].decrypt(c).tolist() == a

    @given(st.integers(0, 12), st.data())
    def test_decimals(self, keys, scale, data):
        numbers = st.decimals(-(10**6), 10**6, places=scale, allow_nan=False)
        a = data.draw(st.lists(numbers, min_size=1, max_size=5))
        public, private = keys
        assert private.decrypt(public.encrypt(a, scale=scale) * 3).tolist() == [3 * x for x in a]

    @given(st.lists(st.floats(-(2**20), 2**20, width=32), max_size=5))
    def test_floats_on_powers_of_sixteen(self, keys, a):
        public, private = keys
        decrypted = private.decrypt(public.encrypt(a, exponent=-10))
        assert decrypted.dtype == np.float64
        assert decrypted.tolist() == [float(Fraction(round(Fraction(x) * 16**10), 16**10)) for x in a]
        assert private.decrypt(public.encrypt(np.array(a), exponent=-10)).tolist() == decrypted.tolist()

    @pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
    def test_numpy_types(self, keys, kind):
        values = np.array([0, 1, 1, 0], dtype=kind)
        assert keys[1].decrypt(keys[0].encrypt(values)).tolist() == [0, 1, 1, 0]

    def test_uint64_beyond_int64(self, keys):
        values = np.array([2**64 - 1, 0], dtype=np.uint64)
        assert keys[1].decrypt(keys[0].encrypt(values, range=2**64)).tolist() == [2**64 - 1, 0]

    def test_floats_stand_for_the_decimal_they_print_as(self, keys):
        public, private = keys
        assert private.decrypt(public.encrypt([0.1, 1e-7, np.float32(0.3)], scale=7)).tolist() == [
            Decimal("0.1000000"),
            Decimal("1E-7"),
            Decimal("0.3000000"),
        ]
        assert private.decrypt(public.encrypt("12.50", scale=2)) == Decimal("12.50")

    @given(
        st.lists(st.one_of(st.floats(), decimals_as_floats), min_size=1, max_size=5), st.integers(0, 38), st.booleans()
    )
    def test_many_floats_have_the_integers_that_each_has(self, values, scale, rounding):
        chosen = he.Encoding.of(scale=scale)

        def integers(of):
            try:
                found, _ = chosen.encode(of, limit=2**2000, rounding=rounding)
                return [int(one) for one in found]
            except he.HearithError as error:
                return type(error), error.row, error.kind

        wanted = []
        for row, value in enumerate(values):
            exact = Fraction(Decimal(repr(value))) * 10**scale if math.isfinite(value) else None
            if exact is None or (exact.denominator != 1 and not rounding):
                wanted = (RangeError, row, "not_finite") if exact is None else (ScaleError, row, "too_many_digits")
                break
            wanted.append(round(exact))
        assert integers(values) == integers(np.array(values)) == integers(np.array(values, dtype=object)) == wanted

    def test_rows_of_decimals_are_not_read_one_by_one(self, monkeypatch):
        values = np.random.default_rng(1).integers(-(10**8), 10**8, 5000) / 100
        wanted = [int(Decimal(repr(value)).scaleb(2)) for value in values.tolist()]
        monkeypatch.setattr(encoding, "fraction", None)
        for rounding in (False, True):
            assert he.Encoding.of(scale=2).encode(values, limit=2**63, rounding=rounding)[0].tolist() == wanted

    def test_rounding_is_half_to_even(self, keys):
        public, private = keys
        with pytest.raises(ScaleError, match="row 1: more digits"):
            public.encrypt([Decimal("1"), Decimal("0.125")], scale=2)
        halves = [Decimal("0.125"), Decimal("0.135"), Decimal("-0.125"), Decimal("0.1351")]
        rounded = private.decrypt(public.encrypt(halves, scale=2, rounding=True))
        assert rounded.tolist() == [Decimal("0.12"), Decimal("0.14"), Decimal("-0.12"), Decimal("0.14")]

    def test_multiplying_by_decimals_and_floats(self, keys):
        public, private = keys
        price = public.encrypt([Decimal("12.50"), Decimal("3")], scale=2)
        assert private.decrypt(price * Decimal("1.19")).tolist() == [Decimal("14.8750"), Decimal("3.5700")]
        assert private.decrypt(price.multiply(0.5, scale=1)).tolist() == [Decimal("6.250"), Decimal("1.500")]
        assert private.decrypt(price @ [Decimal("0.5"), 2]) == Decimal("12.250")
        halves = public.encrypt([1, 2]).multiply([0.5, 0.25], exponent=-1)
        assert private.decrypt(halves).tolist() == [0.5, 0.5]
        assert private.decrypt(price * np.array([2.0, 4.0])).tolist() == [25, 12]
        assert private.decrypt(price * 0.5).tolist() == [Decimal("6.250"), Decimal("1.500")]

    def test_scales_are_made_equal_deliberately(self, keys):
        public, private = keys
        total = public.encrypt(3).rescale(scale=2) + public.encrypt("0.25", scale=2)
        assert private.decrypt(total) == Decimal("3.25")
        sixteenths = public.encrypt([1.5], exponent=-2).rescale(exponent=-5) + public.encrypt([2**-20], exponent=-5)
        assert private.decrypt(sixteenths).tolist() == [1.5 + 2**-20]
        for array, target in [("0.25", {"scale": 1}), ("0.25", {"exponent": -4})]:
            with pytest.raises(ScaleError):
                public.encrypt(array, scale=2).rescale(**target)

    @pytest.mark.parametrize(
        "values", [["x"], [None], [1j], np.array(["a"]), object(), [[1, "x"]], np.datetime64("now")]
    )
    def test_what_is_no_number(self, keys, values):
        with pytest.raises(TypeError):
            keys[0].encrypt(values)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("nan"), Decimal("1e9999999"), 1e300])
    def test_what_is_no_finite_number(self, keys, value):
        for options in ({}, {"scale": 2}, {"exponent": -4}):
            with pytest.raises(RangeError, match="row 0"):
                keys[0].encrypt([value], **options)
        for bad in (np.nan, -np.inf, 1e300):
            with pytest.raises(RangeError, match="row 1"):
                keys[0].encrypt(np.array([1.0, bad]), exponent=-4)

    def test_other_libraries_vectors(self, keys):
        import pandas
        import polars
        import pyarrow

        for vector in (pandas.Series([1, 2]), polars.Series([1, 2]), pyarrow.array([1, 2]), range(1, 3), (1, 2)):
            assert keys[1].decrypt(keys[0].encrypt(vector)).tolist() == [1, 2]


class TestRefusals:
    @pytest.mark.parametrize("operation", [operator.add, operator.sub])
    def test_mixed_keys_and_lengths(self, keys, other_keys, operation):
        a, b = keys[0].encrypt([1, 2]), other_keys[0].encrypt([1, 2])
        with pytest.raises(KeyMismatchError, match=f"{keys[0].id}.*{other_keys[0].id}"):
            operation(a, b)
        with pytest.raises(ValueError, match="lengths 2 and 3"):
            operation(a, keys[0].encrypt([1, 2, 3]))
        with pytest.raises(ValueError, match="lengths 2 and 3"):
            operation(a, [1, 2, 3])

    def test_mixed_concatenations(self, keys, other_keys):
        with pytest.raises(KeyMismatchError):
            he.concatenate([keys[0].encrypt([1]), other_keys[0].encrypt([1])])
        with pytest.raises(TypeError, match="encrypt the others first"):
            he.concatenate([keys[0].encrypt([1]), [1]])
        with pytest.raises(ValueError, match="at least one"):
            he.concatenate([])

    def test_the_wrong_private_key(self, keys, other_keys):
        with pytest.raises(KeyMismatchError, match=other_keys[1].id):
            other_keys[1].decrypt(keys[0].encrypt([1]))

    def test_what_paillier_cannot_do(self, keys):
        c = keys[0].encrypt([1, 2])
        for impossible in (
            lambda: c * c,
            lambda: c @ c,
            lambda: c == c,
            lambda: bool(c),
            lambda: np.asarray(c, dtype=float),
        ):
            with pytest.raises(TypeError):
                impossible()
        with pytest.raises(TypeError):
            hash(c)
        with pytest.raises(TypeError):
            he.EncryptedArray()

    def test_declared_ranges(self, keys):
        public, _ = keys
        with pytest.raises(RangeError, match="row 1: the number exceeds"):
            public.encrypt([100, 101], range=100)
        with pytest.raises(RangeError, match="row 0"):
            public.encrypt([2**63])
        with pytest.raises(RangeError, match="row 0"):
            public.encrypt([Decimal("1.01")], scale=2, range=1)
        with pytest.raises(ScaleError):
            public.encrypt([1], scale=2, exponent=-2)
        with pytest.raises(ScaleError):
            public.encrypt([1], scale=39)

    def test_no_result_wraps_around(self, keys, judge):
        """Squares are correct until the next one would exceed the key, which is rejected."""
        public, private = keys
        c, value = public.encrypt(2**60 - 1, range=2**60), 2**60 - 1
        for _ in range(7):
            c, value = c * (2**60 - 1), value * (2**60 - 1)
            assert private.decrypt(c) == value == judge(c)[0]
        for outgrowing in (lambda: c * 2**60, lambda: c @ [1], lambda: public.encrypt([2**600], range=2**601)):
            with pytest.raises((RangeError, ValueError)):
                outgrowing()
        with pytest.raises(RangeError, match="more than a key of 512 bits"):
            c * 2**40
        with pytest.raises(RangeError):
            public.encrypt([1, 1], range=2**509).sum() + 2**509

    def test_a_number_beyond_its_bound_is_not_believed(self, keys):
        public, private = keys
        forged = he.EncryptedArray.from_bytes(public, public.encrypt([1, 1000]).to_bytes(), range=999)
        with pytest.raises(RangeError, match="row 1: exceeds"):
            private.decrypt(forged)

    def test_damaged_ciphertexts(self, keys):
        public, private = keys
        data = public.encrypt([1, 2]).to_bytes()
        width, p = len(data) // 2, _prime(private)
        bad = {
            "is 0": bytes(width),
            "not below n": b"\xff" * width,
            "shares a factor": p.to_bytes(width, "big"),
        }
        for message, row in bad.items():
            with pytest.raises(CiphertextError, match=f"row 1: .*{message}"):
                he.EncryptedArray.from_bytes(public, data[:width] + row)
        with pytest.raises(CiphertextError, match="whole number"):
            he.EncryptedArray.from_bytes(public, data[:-1])

    def test_errors_show_no_plaintext(self, keys):
        secret = 987654321987654321
        with pytest.raises(RangeError) as caught:
            keys[0].encrypt([secret], range=5)
        assert str(secret) not in str(caught.value)


class TestPickles:
    def test_they_are_compact_and_hold_no_key(self, keys):
        public, private = keys
        c = public.encrypt(list(range(100)), scale=2)
        data = pickle.dumps(c)
        assert len(data) < c.nbytes + 300
        modulus = public.n.to_bytes(64, "big")
        assert modulus not in data
        assert public.to_jwk().encode() not in data
        again = pickle.loads(data)
        assert (again.scale, again.bound, again.shape, again.key_id) == (c.scale, c.bound, c.shape, c.key_id)
        assert private.decrypt(again + 1).tolist() == [x + 1 for x in range(100)]

    def test_single_numbers(self, keys):
        assert keys[1].decrypt(pickle.loads(pickle.dumps(keys[0].encrypt(5)))) == 5

    def test_an_unknown_key_is_named(self, keys):
        public, _ = he.generate_keypair(256, insecure=True)
        data, text, key_id = pickle.dumps(public.encrypt([1])), public.to_jwk(), public.id
        del public, _
        orphan = pickle.loads(data)
        with pytest.raises(KeyMismatchError, match=f"{key_id} is not loaded"):
            orphan + 1
        found = he.PublicKey.from_jwk(text, insecure=True)
        assert (orphan + 1).key == found

    def test_public_keys_pickle_and_private_ones_do_not(self, keys):
        public, private = keys
        assert pickle.loads(pickle.dumps(public)) == public
        with pytest.raises(TypeError, match="to_jwk"):
            pickle.dumps(private)

    def test_damaged_pickles(self, keys):
        rebuild, state = keys[0].encrypt([1, 2]).__reduce__()
        with pytest.raises(CiphertextError, match="are not 2 ciphertexts"):
            rebuild(*state[:-1], state[-1][:-1])
        broken = rebuild(*state[:-1], bytes(len(state[-1])))
        with pytest.raises(CiphertextError, match="row 0"):
            broken + 1


def _prime(private):
    import json

    from hearith.phe.util import base64_to_int

    return base64_to_int(json.loads(private.to_jwk())["p"])


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (2, 0), (2, 1, 2)])
def test_lists_hold_encrypted_numbers(keys, shape):
    """Encrypted lists behave like NumPy's, so that a program that sums them never adds ciphertexts
    as integers.
    """
    public, private = keys
    plain = np.arange(math.prod(shape)).reshape(shape)
    found = public.encrypt(plain).tolist()

    def decrypted(part):
        return [decrypted(one) for one in part] if isinstance(part, list) else private.decrypt(part)

    assert decrypted(found) == plain.tolist()
    if plain.size:
        assert np.array_equal(private.decrypt(found), plain)
    if len(shape) == 1 and plain.size:
        assert private.decrypt(sum(found)) == plain.sum()
    assert public.encrypt(plain).ciphertexts() == [] or len(public.encrypt(plain).ciphertexts()) == plain.size
