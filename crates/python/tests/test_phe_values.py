"""External values in `hearith.phe`: NumPy scalars, and pickles of `phe`."""

import io
import os
import pickle
from pathlib import Path

import numpy as np
import phe
import pytest

import hearith.phe as ours

NUMPY = [
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
    np.float16,
    np.float32,
    np.float64,
    np.longdouble,
    np.bool_,
]


@pytest.mark.parametrize("kind", NUMPY)
def test_scalars_of_numpy_from_both_sides(keys, kind):
    public, private = ours.generate_paillier_keypair(n_length=512)
    scalar, number = kind(1.5), float(kind(1.5))
    x, c = public.encrypt(3), keys[0].encrypt(3)
    for found, wanted in (
        (x * scalar, 3 * number),
        (scalar * x, 3 * number),
        (x + scalar, 3 + number),
        (scalar + x, 3 + number),
        (x - scalar, 3 - number),
        (x - np.array(scalar), 3 - number),
        (scalar - x, number - 3),
        (x / scalar, 3 / number),
    ):
        assert private.decrypt(found) == pytest.approx(wanted, rel=1e-15)
    for found, wanted in (
        (c * scalar, 3 * number),
        (scalar * c, 3 * number),
        (scalar - c, number - 3),
        (c / scalar, 3 / number),
    ):
        assert float(keys[1].decrypt(found)) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("kind", [kind for kind in NUMPY if issubclass(kind, np.integer)])
def test_the_ends_of_integer_types(kind):
    """-1 is not a number of an unsigned type, nor 128 one of a signed 8-bit type."""
    public, private = ours.generate_paillier_keypair(n_length=512)
    x = public.encrypt(3)
    for end in (np.iinfo(kind).min, np.iinfo(kind).max):
        found = [x + kind(end), kind(end) + x, x - kind(end), kind(end) - x, x * kind(end), kind(end) * x]
        wanted = [3 + end, end + 3, 3 - end, end - 3, 3 * end, end * 3]
        assert [private.decrypt(one) for one in found] == wanted


def test_long_doubles_that_no_float_is():
    public, _ = ours.generate_paillier_keypair(n_length=512)
    long = np.longdouble(1) + np.finfo(np.longdouble).eps
    if float(long) != long:
        with pytest.raises(ValueError, match="more digits than a float"):
            public.encrypt(3) * long


class TestPickles:
    def test_of_phe(self):
        public, private = phe.generate_paillier_keypair(n_length=512)
        keyring = phe.PaillierPrivateKeyring([private])
        sent = {"one": public.encrypt(3), "more": np.array([public.encrypt(1.5), public.encrypt(-2)]), "key": private}
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            found = ours.loads(pickle.dumps([sent, keyring, public.encrypt(2) + 1], protocol))
            numbers, key = found[0], found[0]["key"]
            assert type(key) is ours.PaillierPrivateKey
            assert key.decrypt(numbers["one"] * 2 + 1) == 7
            assert [key.decrypt(one) for one in numbers["more"]] == [1.5, -2]
            assert found[1].decrypt(found[2]) == 3
            assert numbers["one"].ciphertext(be_secure=False) == sent["one"].ciphertext(be_secure=False)

    def test_of_phe_in_strict_mode(self):
        public, private = phe.generate_paillier_keypair(n_length=512)
        for sent in (public, private, [public.encrypt(1)]):
            with ours.strict(), pytest.raises(ValueError, match="a key of 512 bits protects nothing"):
                ours.loads(pickle.dumps(sent))

    def test_of_this_package(self):
        public, private = ours.generate_paillier_keypair(n_length=512)
        assert private.decrypt(ours.load(io.BytesIO(pickle.dumps([public.encrypt(4)])))[0]) == 4

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_of_what_numbers_come_with(self, protocol):
        public, private = ours.generate_paillier_keypair(n_length=512)
        sent = {"n": public, "w": np.array([1.5, 2]), "s": np.float32(3), "names": {"a"}, "b": b"", "k": frozenset([1])}
        found = ours.loads(pickle.dumps({**sent, "c": public.encrypt(4), "encoded": 5}, protocol))
        assert private.decrypt(found["c"]) == 4
        assert found["w"].tolist() == [1.5, 2]
        assert all(found[name] == sent[name] for name in ("n", "s", "names", "b", "k"))

    @pytest.mark.parametrize(
        "text",
        [
            b"c__builtin__\neval\n(S'1'\ntR.",
            b"cos\nsystem\n(S'true'\ntR.",
            b"c__builtin__\nbytes\n(I1000000000000\ntR.",
            b"ccopy_reg\n__newobj__\n.",
            b"c__builtin__\ngetattr\n.",
        ],
    )
    def test_of_protocol_0_that_would_do_anything_else(self, text):
        with pytest.raises(pickle.UnpicklingError):
            ours.loads(text)

    @pytest.mark.parametrize("data", [pickle.dumps(print), pickle.dumps(os.path.join), pickle.dumps(Path("x"))])
    def test_that_name_anything_else(self, data):
        with pytest.raises(pickle.UnpicklingError, match="must not refer to"):
            ours.loads(data)
