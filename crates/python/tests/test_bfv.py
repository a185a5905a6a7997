"""Batched BFV vectors, compared with NumPy and Python integers."""

import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hearith as he
from hearith import bfv
from hearith.bfv import EncryptedTotals, EncryptedVector

SLOTS = 8192


@pytest.fixture(scope="module")
def keys():
    return he.generate_keypair(scheme="bfv")


@pytest.fixture(scope="module")
def other():
    return bfv.generate_keypair("bfv-4096")


def wide(size, seed=3):
    """Returns random signed 64-bit numbers."""
    return np.random.default_rng(seed).integers(-(2**63) + 1, 2**63, size)


@pytest.mark.parametrize("size", [1, SLOTS - 1, SLOTS, SLOTS + 1, 2 * SLOTS + 300])
def test_every_number_comes_back(keys, size):
    public, private = keys
    numbers = wide(size)
    for key in (public, private):
        vector = key.encrypt(numbers)
        assert isinstance(vector, EncryptedVector)
        assert (len(vector), vector.shape, vector.bits) == (size, (size,), 96)
        assert np.array_equal(private.decrypt(vector), numbers)
        assert private.decrypt(vector.sum()) == sum(map(int, numbers))


def test_nothing_at_all(keys):
    public, private = keys
    vector = public.encrypt([])
    assert private.decrypt(vector).tolist() == []
    assert private.decrypt(vector.sum()) == 0
    assert private.decrypt(vector + vector).tolist() == []
    labels, totals = vector.sum_by([])
    assert (labels.tolist(), private.decrypt(totals).tolist()) == ([], [])


def test_the_owner_needs_half_the_room(keys):
    public, private = keys
    numbers = wide(SLOTS)
    assert public.encrypt(numbers).nbytes < 51 * SLOTS
    assert private.encrypt(numbers).nbytes < 26 * SLOTS


small = st.integers(-(2**40), 2**40)


@given(st.lists(st.tuples(small, small, st.integers(-1000, 1000), st.sampled_from("abc"), st.booleans()), min_size=1))
def test_computing_as_python_does(keys, rows):
    public, private = keys
    a, b, weights, labels, mask = (list(column) for column in zip(*rows, strict=True))
    x, y = public.encrypt(a), private.encrypt(b)
    assert private.decrypt(x + y).tolist() == [i + j for i, j in zip(a, b, strict=True)]
    assert private.decrypt(x - y).tolist() == [i - j for i, j in zip(a, b, strict=True)]
    assert private.decrypt(3 * x - b + 5).tolist() == [3 * i - j + 5 for i, j in zip(a, b, strict=True)]
    assert private.decrypt(7 - x).tolist() == [7 - i for i in a]
    assert private.decrypt(x @ weights) == sum(i * w for i, w in zip(a, weights, strict=True))
    assert private.decrypt((x * mask).sum()) == sum(i for i, kept in zip(a, mask, strict=True) if kept)
    assert private.decrypt(x.sum(where=mask)) == sum(i for i, kept in zip(a, mask, strict=True) if kept)
    names, totals = (x * weights).sum_by(labels, where=mask)
    expected = dict.fromkeys(labels, 0)
    for i, weight, name, kept in zip(a, weights, labels, mask, strict=True):
        expected[name] += i * weight * kept
    assert dict(zip(names.tolist(), private.decrypt(totals).tolist(), strict=True)) == expected


def test_fixed_point(keys):
    public, private = keys
    prices = public.encrypt([Decimal("12.50"), 3, 0.25], scale=2)
    assert private.decrypt(prices).tolist() == [Decimal("12.50"), Decimal("3.00"), Decimal("0.25")]
    assert private.decrypt(prices @ [1.5, 0, 2]) == Decimal("19.250")
    assert private.decrypt(prices * Decimal("0.1")).tolist() == [Decimal(text) for text in ("1.250", "0.300", "0.025")]
    assert private.decrypt(prices + public.encrypt([1, 2, 3])).tolist() == [
        Decimal(t) for t in ("13.50", "5.00", "3.25")
    ]
    assert private.decrypt(prices - 0.125).tolist() == [Decimal(t) for t in ("12.375", "2.875", "0.125")]
    binary = public.encrypt(np.array([0.5, -1.25]), exponent=-8)
    assert private.decrypt(binary).tolist() == [0.5, -1.25]
    assert private.decrypt(binary.sum()) == -0.75
    with pytest.raises(he.ScaleError, match="more digits"):
        public.encrypt([1.005], scale=2)
    assert private.decrypt(public.encrypt([1.005], scale=2, rounding=True)).tolist() == [Decimal("1.00")]


def test_sums_wider_than_64_bits(keys):
    public, private = keys
    vector = public.encrypt(np.full(100, 2**63 - 1))
    assert private.decrypt(vector.sum()) == 100 * (2**63 - 1)
    assert private.decrypt(vector * 3)[99] == 3 * (2**63 - 1)


def test_totals(keys):
    public, private = keys
    labels, totals = public.encrypt([1, 2, 40, 5]).sum_by(["a", "b", "a", "c"])
    assert isinstance(totals, EncryptedTotals)
    assert len(totals) == 3
    assert private.decrypt(totals[0]) == 41
    assert private.decrypt(totals[labels == "b"]).tolist() == [2]
    assert private.decrypt(totals[1:] + totals[:2]).tolist() == [43, 7]
    single = totals[0] + totals[0]
    assert (single.shape, private.decrypt(single)) == ((), 82)
    with pytest.raises(TypeError, match="single"):
        len(single)
    with pytest.raises(IndexError):
        totals[3]
    with pytest.raises(TypeError):
        totals + 1


@pytest.mark.parametrize(
    ("labels", "names", "sums"),
    [
        ([-1, 2**63, 2**63 + 1], [-1, 2**63, 2**63 + 1], [1, 20, 300]),
        ([1, "1", 1], [1, "1"], [301, 20]),
        ([Decimal("NaN"), 1, float("nan")], [1, "nan"], [20, 301]),
    ],
)
def test_labels_come_back_exactly(keys, labels, names, sums):
    found, totals = keys[0].encrypt([1, 20, 300]).sum_by(labels)
    assert [name if name == name else "nan" for name in found.tolist()] == names
    assert keys[1].decrypt(totals).tolist() == sums


def test_keys_are_written_and_read(keys, other, tmp_path):
    public, private = keys
    assert (public.parameters, public.slots, public.id) == ("bfv-8192", SLOTS, private.id)
    path = tmp_path / "private.json"
    path.write_text(private.to_jwk())
    path.chmod(0o600)
    again = bfv.PrivateKey.load(path)
    assert again == private
    assert again.public == public
    assert hash(again) == hash(private)
    assert again != other[1]
    assert bfv.PublicKey.from_jwk(public.to_jwk()) == public
    assert again.decrypt(bfv.PublicKey.from_jwk(public.to_jwk()).encrypt([5])).tolist() == [5]
    (tmp_path / "public.json").write_text(public.to_jwk())
    assert bfv.PublicKey.load(tmp_path / "public.json") == public
    path.chmod(0o644)
    with pytest.warns(UserWarning, match="other users can read"):
        bfv.PrivateKey.load(path)
    with pytest.raises(FileNotFoundError):
        bfv.PublicKey.load(tmp_path / "none.json")


def test_a_key_under_a_passphrase(keys, tmp_path):
    _, private = keys
    text = private.to_jwk(passphrase="long and secret")
    assert bfv.PrivateKey.from_jwk(text, passphrase="long and secret") == private
    path = tmp_path / "private.json"
    path.write_text(text)
    path.chmod(0o600)
    assert bfv.PrivateKey.load(path, passphrase="long and secret") == private
    for passphrase in (None, "another"):
        with pytest.raises(he.InvalidKeyError, match="passphrase"):
            bfv.PrivateKey.load(path, passphrase=passphrase)


def test_bad_keys(keys):
    public, private = keys
    paillier, _ = he.generate_keypair(512, insecure=True)
    for text in ["", "{}", private.to_jwk()[:-4], paillier.to_jwk(), private.to_jwk().replace("bfv-8192", "bfv-4096")]:
        with pytest.raises(he.InvalidKeyError) as error:
            bfv.PrivateKey.from_jwk(text)
        assert private.to_jwk()[120:150] not in str(error.value)
    with pytest.raises(he.InvalidKeyError, match="no private part"):
        bfv.PrivateKey.from_jwk(public.to_jwk())
    with pytest.raises(he.InvalidKeyError, match="unknown parameter set"):
        he.generate_keypair(scheme="bfv", parameters="bfv-2048")
    with pytest.raises(he.InvalidKeyError, match="unknown scheme"):
        he.generate_keypair(scheme="ckks")
    with pytest.raises(he.InvalidKeyError, match="do not apply to bfv"):
        he.generate_keypair(2048, scheme="bfv")
    with pytest.raises(he.InvalidKeyError, match="apply only to bfv"):
        he.generate_keypair(parameters="bfv-4096")
    with pytest.raises(he.InvalidKeyError):
        he.PublicKey.from_jwk(public.to_jwk())
    for kind in (bfv.PublicKey, bfv.PrivateKey):
        with pytest.raises(TypeError, match="generate_keypair"):
            kind("key")


def test_secrets_are_not_shown(keys):
    public, private = keys
    secret = private.to_jwk().split('"d":"')[1][:43]
    vector = public.encrypt([123456789])
    for shown in (repr(private), str(private), repr(public), repr(vector), repr(vector.sum()), repr(vector * [1])):
        assert secret not in shown
        assert "123456789" not in shown
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(private)
    with pytest.raises(he.RangeError) as error:
        public.encrypt([1, 123456789], range=10)
    assert "123456789" not in str(error.value)
    assert (error.value.row, error.value.kind) == (1, "out_of_range")


def test_vectors_travel_without_their_key(keys):
    public, private = keys
    vector = private.encrypt([1.5, -2], scale=1)
    again = pickle.loads(pickle.dumps(vector))
    assert private.decrypt(again + again).tolist() == [Decimal("3.0"), Decimal("-4.0")]
    totals = pickle.loads(pickle.dumps(vector.sum()))
    assert private.decrypt(totals) == Decimal("-0.5")
    read = EncryptedVector.from_bytes(public, vector.to_bytes(), scale=1, range=10)
    assert (read.bound, private.decrypt(read).tolist()) == (100, private.decrypt(vector).tolist())
    assert private.decrypt(EncryptedTotals.from_bytes(public, vector.sum().to_bytes(), scale=1)).tolist() == [
        Decimal("-0.5")
    ]
    assert pickle.loads(pickle.dumps(public)) == public


def test_a_process_without_the_key_is_told(keys, tmp_path):
    path = tmp_path / "vector"
    path.write_bytes(pickle.dumps(keys[0].encrypt([1])))
    code = f"import pickle\nv = pickle.load(open({str(path)!r}, 'rb'))\nprint(v)\ntry:\n    v + v\nexcept Exception as e:\n    print(type(e).__name__, e.kind)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[1] == "KeyMismatchError not_loaded"


def test_another_key(keys, other):
    vector = keys[0].encrypt([1])
    stranger, _ = he.generate_keypair(scheme="bfv")
    for key in (other[0], stranger):
        theirs = key.encrypt([1], range=100, max_additions=100)
        with pytest.raises(he.KeyMismatchError):
            vector + theirs
        with pytest.raises(he.KeyMismatchError):
            keys[1].decrypt(theirs)
        with pytest.raises(he.KeyMismatchError):
            EncryptedVector.from_bytes(key, vector.to_bytes())
        with pytest.raises(he.KeyMismatchError):
            EncryptedTotals.from_bytes(key, vector.sum().to_bytes())
    paillier, private = he.generate_keypair(512, insecure=True)
    with pytest.raises(TypeError):
        private.decrypt(vector)
    with pytest.raises(TypeError, match="EncryptedVector"):
        keys[1].decrypt(paillier.encrypt([1]))
    with pytest.raises(TypeError):
        vector + paillier.encrypt([1])
    with pytest.raises(he.KeyMismatchError, match="bfv"):
        paillier.encrypt_column({"a": [1]}, "a", scheme="bfv")


def test_altered_ciphertexts(keys):
    public, private = keys
    vector = public.encrypt([1, 2, 3, 4, 5, 6, 7, 8])
    data = bytearray(vector.to_bytes())
    for bad in (data[:-1], data[:40], data[:2], b"x" * 100, data + b"1", data + data):
        with pytest.raises(he.CiphertextError):
            EncryptedVector.from_bytes(public, bytes(bad))
    data[-2] ^= 1
    with pytest.raises(he.CiphertextError, match="altered"):
        private.decrypt(EncryptedVector.from_bytes(public, bytes(data)))
    total = bytearray(vector.sum().to_bytes())
    total[-2] ^= 1
    with pytest.raises(he.CiphertextError, match="altered"):
        private.decrypt(EncryptedTotals.from_bytes(public, bytes(total)))
    # A total above the bound of its rows.
    with pytest.raises(he.RangeError, match="bound"):
        private.decrypt(EncryptedVector.from_bytes(public, vector.to_bytes(), range=2))


def test_room(keys, other):
    public, private = keys
    vector = public.encrypt([100, -100], range=100, max_additions=4)
    assert private.decrypt(vector * 4).tolist() == [400, -400]
    for beyond in (lambda: vector * 6, lambda: vector @ [3, 3], lambda: vector + 412, lambda: vector * 2**62):
        with pytest.raises(he.RangeError, match="bits") as error:
            beyond()
        assert error.value.kind == "headroom"
    with pytest.raises(he.RangeError, match="64 bits"):
        public.encrypt([0], range=1, max_additions=2**63 - 1) * 2**64
    with pytest.raises(he.RangeError, match="allows 2 to 40"):
        other[0].encrypt([1])
    with pytest.raises(he.RangeError, match="allows 2 to 127"):
        public.encrypt([1], range=2**300)
    with pytest.raises(he.ShapeError, match="bits"):
        vector + public.encrypt([1, 2])


def test_noise_that_is_spent(keys):
    vector = keys[0].encrypt([1, -1], range=2**62, max_additions=2**64 - 1)
    assert keys[1].decrypt(vector * 2**50).tolist() == [2**50, -(2**50)]
    with pytest.raises(he.RangeError, match="noise budget is exhausted") as error:
        vector * 2**62
    assert error.value.kind == "noise"
    with pytest.raises(he.RangeError, match="noise budget is too small") as error:
        (vector * 2**40).rerandomise()
    assert error.value.kind == "no_room"


def test_rerandomised(keys):
    public, private = keys
    vector = public.encrypt(wide(SLOTS + 5)) * 3
    other = vector.rerandomise()
    assert np.array_equal(private.decrypt(other), private.decrypt(vector))
    assert other.to_bytes() != vector.rerandomise().to_bytes()
    # Randomising randomised numbers again uses no more noise margin, also after pickling.
    for _ in range(5):
        other = pickle.loads(pickle.dumps(other + other)).rerandomise()
    assert np.array_equal(private.decrypt(other), private.decrypt(vector * 32))
    assert public.encrypt([1]).to_bytes() != public.encrypt([1]).to_bytes()


def test_what_cannot_be_done(keys):
    public, private = keys
    vector = public.encrypt([1, 2])
    for wrong in (
        lambda: vector == vector,
        lambda: vector < vector,
        lambda: bool(vector),
        lambda: np.asarray(vector),
        lambda: vector[0],
        lambda: vector * vector,
        lambda: vector @ vector,
        lambda: vector + vector.sum(),
        lambda: hash(vector),
        lambda: private.decrypt(vector * [1, 2]),
        lambda: private.decrypt([1, 2]),
        lambda: EncryptedVector(None, b"", None, 1, 2, (1,)),
    ):
        with pytest.raises(TypeError):
            wrong()
    for shape in (
        lambda: vector - [1, 2, 3],
        lambda: vector + public.encrypt([1]),
        lambda: vector @ [1],
        lambda: vector.sum(where=[True]),
        lambda: vector.sum_by(["a"]),
        lambda: public.encrypt([[1, 2], [3, 4]]),
        lambda: public.encrypt(1),
        lambda: vector + pd.Series([1, 2], index=[5, 6]),
    ):
        with pytest.raises(he.ShapeError):
            shape()
    with pytest.raises(he.NumberError, match="booleans"):
        vector.sum(where=[1, 0])
    with pytest.raises(he.NullError):
        public.encrypt([1, None])
    with pytest.raises(he.NullError):
        vector - [1, None]
    with pytest.raises(he.NumberError):
        public.encrypt(["one"])
    with pytest.raises(he.ScaleError, match="digits"):
        vector @ [1e-50, 1]


@pytest.mark.parametrize("engine", ["serial", None])
def test_engines(engine):
    public, private = bfv.generate_keypair("bfv-4096", engine=engine)
    assert engine in (None, public.engine)
    assert private.decrypt(public.encrypt([3, 4], range=10, max_additions=10).sum()) == 7
    with pytest.raises(ValueError, match="engine"):
        bfv.generate_keypair(engine="steam")
