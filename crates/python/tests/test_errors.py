"""Errors have a place, a kind and a cause.

Huge numbers raise the same errors as others. No error contains a plaintext.
"""

import math
import pickle
import re
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hearith as he
from hearith import dghv
from hearith.columns import Aggregator, ColumnOptions
from hearith.errors import (
    CiphertextError,
    HearithError,
    InvalidKeyError,
    KeyMismatchError,
    NumberError,
    RangeError,
    ScaleError,
    ShapeError,
    TableError,
)

#: Numbers that are out of range.
HUGE = [
    2**70,
    10**400,
    -(2**200),
    np.uint64(2**64 - 1),
    1e300,
    -1e300,
    math.inf,
    -math.inf,
    math.nan,
    Decimal("1e9999999"),
]


def table(*values):
    return pa.table({"dept": ["a"] * len(values), "x": list(values)})


ENTRIES = {
    "encrypt": lambda public, private, x: public.encrypt(x),
    "encrypt a vector": lambda public, private, x: public.encrypt([1, x]),
    "encrypt by the owner": lambda public, private, x: private.encrypt([1, x]),
    "encrypt with scale": lambda public, private, x: public.encrypt([1, x], scale=2),
    "encrypt with exponent": lambda public, private, x: public.encrypt([1, x], exponent=-4),
    "encrypt an array": lambda public, private, x: public.encrypt(np.array([1, x], dtype=object)),
    "scale=": lambda public, private, x: public.encrypt(1, scale=x),
    "exponent=": lambda public, private, x: public.encrypt(1, exponent=x),
    "range= for nothing": lambda public, private, x: public.encrypt([], range=x) if not _fits(x) else _raise(),
    "from_bytes(range=)": lambda public, private, x: (
        he.EncryptedArray.from_bytes(public, b"", range=x) if not _fits(x) else _raise()
    ),
    "from_phe(range=)": lambda public, private, x: public.from_phe([], range=x) if not _fits(x) else _raise(),
    "+": lambda public, private, x: public.encrypt([1, 2], range=2**480) + (x if not _fits(x) else 2**511),
    "-": lambda public, private, x: public.encrypt([1, 2], range=2**480) - (x if not _fits(x) else 2**511),
    "*": lambda public, private, x: public.encrypt([1, 2], range=2**480) * (x if not _fits(x) else 2**511),
    "multiply(scale=)": lambda public, private, x: public.encrypt([1, 2]).multiply(2, scale=x),
    "multiply(exponent=)": lambda public, private, x: public.encrypt([1, 2]).multiply(2, exponent=x),
    "@": lambda public, private, x: public.encrypt([1, 2], range=2**480) @ [1, x],
    "@ matrix": lambda public, private, x: public.encrypt([1, 2], range=2**480) @ [[1, x], [2, 3]],
    "rescale": lambda public, private, x: public.encrypt([1, 2]).rescale(scale=x),
    "zeros": lambda public, private, x: public.zeros(x),
    "generate_keypair": lambda public, private, x: he.generate_keypair(x, insecure=True),
    "encrypt_column(range=)": lambda public, private, x: (
        public.encrypt_column(table(1), "x", range=x) if not 0 < x < 2**127 else _raise()
    ),
    "encrypt_column(scale=)": lambda public, private, x: public.encrypt_column(table(1), "x", scale=x),
    "encrypt_columns(options)": lambda public, private, x: public.encrypt_columns(
        table(1), {"x": ColumnOptions(scale=x)}
    ),
    "max_additions=": lambda public, private, x: (
        public.encrypt_column(table(1), "x", max_additions=x) if x != 2**64 - 1 else _raise()
    ),
    "min_rows=": lambda public, private, x: public.sum_columns(
        public.encrypt_column(table(1), "x"), min_rows=x if x not in (2**64 - 1,) else 2**64
    ),
    "a column": lambda public, private, x: public.encrypt_column(table(str(x)), "x"),
    "clients=": lambda public, private, x: aggregator(public, clients=x if x != 2**64 - 1 else 2**64),
    "max_weight=": lambda public, private, x: aggregator(public, max_weight=x),
    "range of updates": lambda public, private, x: aggregator(public, range=x),
    "step": lambda public, private, x: aggregator(public, step=x),
    "an update": lambda public, private, x: aggregator(public).encrypt(np.array([x, 1], dtype=object)),
    "weight=": lambda public, private, x: aggregator(public).encrypt(np.zeros(2), weight=x),
    "weights=": lambda public, private, x: aggregator(public).sum(
        [aggregator(public).encrypt(np.zeros(2))], weights=[x]
    ),
    "update(weight=)": lambda public, private, x: aggregator(public).update(b"", weight=x),
}


def _fits(x):
    """Whether a key of 512 bits can hold a number."""
    return not isinstance(x, Decimal) and abs(x) < 2**500


def _raise():
    raise RangeError("not out of range here")


def aggregator(public, **options):
    return he.Aggregator(public, np.zeros(2), **({"range": 4, "step": 0.5, "clients": 2} | options))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("number", HUGE, ids=str)
def test_no_room_is_an_error_of_ours_with_a_text(keys, entry, number):
    with pytest.raises(HearithError) as caught:
        ENTRIES[entry](*keys, number)
    assert len(str(caught.value)) > 10
    assert "too large to convert" not in str(caught.value)


def test_negative_keys():
    for make in (lambda: he.PublicKey(-15), lambda: he.PrivateKey(-3, -5), lambda: he.PrivateKey(3, 5, -1)):
        with pytest.raises(InvalidKeyError, match="must not be negative"):
            make()
    with pytest.raises(InvalidKeyError):
        he.PublicKey(2**100_000 + 1)
    with pytest.raises(NumberError, match="n must be an integer"):
        he.PublicKey(1.5)


@pytest.mark.parametrize("count", [-1, 2**70, 1.5, None, 5000])
def test_threads(count):
    with pytest.raises((HearithError, ValueError), match="threads"):
        he.set_threads(count)


def test_a_float_cannot_hold_it():
    public, private = he.generate_keypair(2048)
    huge = he.EncryptedArray.from_bytes(
        public, public.encrypt([2**1500], range=2**1600).to_bytes(), exponent=-1, range=2**1590
    )
    with pytest.raises(RangeError, match="row 0: the number is too large for a float"):
        private.decrypt(huge)


class TestPlaces:
    """Rows count from 0 over all rows, not within the current piece."""

    def test_arrays(self, keys):
        for values, row in [([1, 2, 11], 2), ([*range(10)] * 300 + [11], 3000)]:
            with pytest.raises(RangeError) as caught:
                keys[0].encrypt(values, range=10)
            assert (caught.value.row, caught.value.column, caught.value.kind) == (row, None, "out_of_range")
            assert str(caught.value).startswith(f"row {row}: ")

    def test_tables(self, keys):
        values = ["1"] * 3000
        values[2777] = "x"
        with pytest.raises(TableError) as caught:
            keys[0].encrypt_column(table(*values), "x")
        assert (caught.value.row, caught.value.column, caught.value.kind) == (2777, "x", "not_a_number")
        assert str(caught.value).startswith("row 2777, column x: ")
        with pytest.raises(TableError) as caught:
            keys[0].encrypt_column(table(1), "y")
        assert (caught.value.row, caught.value.column, caught.value.kind) == (None, "y", "no_such_column")

    def test_ciphertexts(self, keys):
        data = keys[0].encrypt([1, 2]).to_bytes()
        with pytest.raises(CiphertextError) as caught:
            he.EncryptedArray.from_bytes(keys[0], data[:128] + bytes(128))
        assert (caught.value.row, caught.value.kind) == (1, "ciphertext_zero")

    def test_tables_of_ciphertexts(self, keys):
        public, private = keys
        encrypted = public.encrypt_column(table(*range(3000)), "x")
        storage = encrypted["x"].combine_chunks().storage.to_pylist()
        storage[2500] = bytes(128)
        kind = encrypted.schema.field("x").type
        column = pa.ExtensionArray.from_storage(kind, pa.array(storage, kind.storage_type))
        field = encrypted.schema.field("x")
        damaged = encrypted.set_column(encrypted.schema.get_field_index("x"), field, column)
        for compute in (lambda: private.decrypt_columns(damaged), lambda: public.sum_columns(damaged)):
            with pytest.raises(CiphertextError) as caught:
                compute()
            assert (caught.value.row, caught.value.column) == (2500, "x")

    def test_they_survive_pickling(self, keys):
        with pytest.raises(RangeError) as caught:
            keys[0].encrypt([1, 2, 11], range=10)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again), again.row, again.kind) == (RangeError, str(caught.value), 2, "out_of_range")
        again.offset_rows(10)
        assert str(again).startswith("row 12: ")


def test_kinds(keys, other_keys):
    public, private = keys
    c, other = public.encrypt([1, 2]), other_keys[0].encrypt([1, 2])
    for make, error, kind in [
        (lambda: c + other, KeyMismatchError, "wrong_key"),
        (lambda: private.decrypt(other), KeyMismatchError, "wrong_key"),
        (lambda: other_keys[0].rerandomise(c), KeyMismatchError, "wrong_key"),
        (
            lambda: c + public.encrypt([1, 2], scale=1).multiply(1, scale=38) * Fraction(1, 7**130),
            RangeError,
            "headroom",
        ),
        (lambda: c.add([1, 2, 3]), ShapeError, "lengths"),
        (lambda: public.encrypt([[1, 2], [3]]), ShapeError, "dimensions"),
        (lambda: c + pd.Series([1, 2], index=[1, 0]), ShapeError, "index"),
        (lambda: (c / 3).to_arrow(), ScaleError, "quotients"),
        (lambda: c * 2**505, RangeError, "headroom"),
        (lambda: public.encrypt(["1"]), NumberError, "not_a_number"),
        (lambda: public.encrypt("a lot"), NumberError, "not_a_number"),
        (lambda: public.encrypt([0.125], scale=2), ScaleError, "too_many_digits"),
        (lambda: (c * 1e-40).to_arrow(), ScaleError, "too_many_digits"),
        (lambda: c / [2**520, 3], ScaleError, "too_many_digits"),
        (lambda: he.generate_keypair(512), InvalidKeyError, "insecure_key"),
        (lambda: he.PublicKey.from_jwk("{}"), InvalidKeyError, None),
        (lambda: public.sum_columns(table(1)), TableError, "nothing_encrypted"),
        (lambda: public.multiply_column(table(1), "x", 2), TableError, "not_encrypted"),
        (lambda: public.add_columns(table(1), "y", 2, into="z"), TableError, "no_such_column"),
    ]:
        with pytest.raises(error) as caught:
            make()
        assert kind is None or caught.value.kind == kind
        assert caught.value.kind == caught.value.kind.lower()


def test_rerandomising_through_the_key(keys):
    public, private = keys
    c = public.encrypt([1, 2, 3])
    other = public.rerandomise(c)
    assert private.decrypt(other).tolist() == [1, 2, 3]
    assert not set(other.ciphertexts()) & set(c.ciphertexts())
    assert public.public is public


CANARY = 918273645
CANARY_TEXTS = {str(CANARY), f"{CANARY:x}", f"{CANARY:.2e}"[:6]}


def canary_operations(public, private):
    """Returns operations that raise errors about a plaintext."""
    c = public.encrypt([1, 2])
    frame = pd.DataFrame({"x": [1, CANARY]})
    yield lambda: public.encrypt([1, CANARY], range=5)
    yield lambda: public.encrypt(CANARY, range=5)
    yield lambda: public.encrypt(np.array([1, CANARY]), range=5)
    yield lambda: public.encrypt([1, CANARY + 0.123], scale=1)
    yield lambda: public.encrypt(f"{CANARY}!", scale=1)
    yield lambda: public.encrypt(["1", str(CANARY)])
    yield lambda: public.encrypt([1, CANARY * 10**40])
    yield lambda: public.encrypt([1, complex(CANARY)])
    yield lambda: public.encrypt([1, {CANARY: CANARY}])
    yield lambda: public.encrypt([1, float(CANARY) * 10**60], exponent=-4)
    yield lambda: public.encrypt(np.array([1, float(CANARY) * 10**60]), exponent=-4)
    yield lambda: c.add([1, CANARY * 2**500])
    yield lambda: c * [1, CANARY * 2**500]
    yield lambda: c * [1, Fraction(CANARY, 2**600)]
    yield lambda: c.add([1, Fraction(CANARY, 2**600)])
    yield lambda: c / {CANARY}
    yield lambda: c / [CANARY, CANARY, CANARY]
    yield lambda: c @ [[1, CANARY], [CANARY]]
    yield lambda: public.encrypt([[1, 2], [3, CANARY]], range=5)
    yield lambda: c @ [1, CANARY * 2**500]
    yield lambda: c @ [1, str(CANARY)]
    yield lambda: c + {CANARY}
    yield lambda: c.sum_by([CANARY])
    yield lambda: private.decrypt(he.EncryptedArray.from_bytes(public, public.encrypt([1, CANARY]).to_bytes(), range=5))
    yield lambda: private.decrypt(he.EncryptedArray.from_bytes(public, public.encrypt([CANARY]).to_bytes(), range=5)[0])
    yield lambda: public.encrypt_column(frame, "x", range=5)
    yield lambda: public.encrypt_column(pa.table({"x": [f"{CANARY} EUR"]}), "x")
    yield lambda: public.encrypt_column(pa.table({"x": [f"{CANARY}.125"]}), "x", scale=2)
    yield lambda: public.encrypt_column(pa.table({"x": [CANARY + 0.125]}), "x", scale=2)
    yield lambda: public.encrypt_column(pa.table({"x": [f"{CANARY}" * 10]}), "x")
    yield lambda: aggregator(public).encrypt(np.array([1.0, CANARY]))
    yield lambda: aggregator(public).encrypt(np.array(["1", str(CANARY)]))
    yield lambda: aggregator(public).encrypt(np.array([1, str(CANARY)], dtype=object))


def test_no_plaintext_in_errors(keys):
    for number, operation in enumerate(canary_operations(*keys)):
        with pytest.raises((HearithError, TypeError, ValueError)) as caught:
            operation()
        error = caught.value
        while error is not None:
            shown = f"{error} {error!r} {error.args} {getattr(error, '__notes__', '')}"
            assert not [text for text in CANARY_TEXTS if text in shown], f"operation {number}: {shown}"
            # A traceback also prints this, unless it is suppressed.
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_no_plaintext_in_representations(keys):
    public, private = keys
    shown = [public.encrypt([CANARY]), public.encrypt([CANARY]).content, public.encrypt(CANARY), public, private]
    update = he.Aggregator(public, np.zeros(1), range=2**30, step=1, clients=2).encrypt(np.array([CANARY]))
    native = public.native.encode(bytearray(CANARY.to_bytes(8, "little")), 8)
    totals = Aggregator(public, public.encrypt_column(table(CANARY), "x").schema)
    for one in (*shown, update, native, totals):
        assert not [text for text in CANARY_TEXTS if text in f"{one!r} {one}"]


def test_packed_integers_are_wiped(keys, monkeypatch):
    """The buffers that pass plaintexts to Rust and back contain zeros afterwards."""
    from hearith import _integers

    seen, wipe = [], _integers.wipe

    def spy(data):
        seen.append((data, bytes(data)))
        wipe(data)

    monkeypatch.setattr(_integers, "wipe", spy)
    public, private = keys
    assert private.decrypt(public.encrypt([CANARY, 2**200], range=2**201)).tolist() == [CANARY, 2**200]
    assert private.decrypt(public.encrypt([CANARY]) * CANARY).tolist() == [CANARY**2]
    assert private.decrypt(public.encrypt([1, 1]) @ [CANARY, 1]) == CANARY + 1
    federated = he.Aggregator(public, np.zeros(2), range=2**30, step=1, clients=2)
    assert federated.total(private, federated.encrypt(np.array([CANARY, 1]))).tolist() == [CANARY, 1]
    assert sum(CANARY.to_bytes(4, "little") in before or CANARY.to_bytes(4, "big") in before for _, before in seen) >= 6
    assert all(data == bytes(len(before)) for data, before in seen)


def test_causes_are_kept(keys):
    from hearith.arrow import EncryptedType

    with pytest.raises(TableError) as caught:
        EncryptedType.__arrow_ext_deserialize__(pa.binary(128), b"{")
    assert isinstance(caught.value.__cause__, ValueError)
    assert "".join(traceback.format_exception(caught.value)).count("Error") >= 2


#: Errors for which the command line suggests an option.
ADVISED = {
    "a short key": lambda public, private: he.generate_keypair(512),
    "a short key's text": lambda public, private: he.PrivateKey.from_jwk(private.to_jwk()),
    "no passphrase": lambda public, private: he.PrivateKey.from_jwk(
        private.to_jwk(passphrase="long enough"), insecure=True
    ),
    "no such engine": lambda public, private: he.generate_keypair(512, insecure=True, engine="none"),
    "out of range": lambda public, private: public.encrypt_column(table(5), "x", range=1),
    "too many digits": lambda public, private: public.encrypt_column(table(0.5), "x"),
    "a number's digits": lambda public, private: public.encrypt(0.5),
    "no column": lambda public, private: public.encrypt_column(table(5), "y"),
    "encrypted twice": lambda public, private: public.encrypt_column(public.encrypt_column(table(5), "x"), "x"),
    "no room": lambda public, private: public.sum_columns([public.encrypt_column(table(1), "x", max_additions=1)] * 2),
    "another key": lambda public, private: he.generate_keypair(512, insecure=True)[1].decrypt(public.encrypt(1)),
    "bits for nobody": lambda public, private: dghv.generate_keypair(
        "cnt", "toy", insecure_historical_parameters=False
    ),
    "too long for a set": lambda public, private: he.bfv.generate_keypair("bfv-4096")[0].encrypt_column(table(1), "x"),
}


@pytest.mark.parametrize("entry", ADVISED)
def test_messages_speak_of_no_options_of_the_command_line(keys, entry):
    with pytest.raises((HearithError, ValueError, TypeError)) as caught:
        ADVISED[entry](*keys)
    assert str(caught.value)
    assert not re.search(r"(^|\W)--?[a-z]{2}", str(caught.value)), str(caught.value)
