"""Exchange of keys and numbers with python-paillier."""

import json

import phe
import phe.util
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phe.command_line import load_encrypted_number, load_public_key, serialise_encrypted

import hearith as he
import hearith.phe as ours
from hearith.errors import CiphertextError, ScaleError


def test_json_web_keys(keys, oracle):
    public, private = keys
    theirs = load_public_key(json.loads(public.to_jwk()))
    assert theirs.n == public.n
    jwk = {
        "kty": "DAJ",
        "key_ops": ["decrypt"],
        "p": phe.util.int_to_base64(oracle.p),
        "q": phe.util.int_to_base64(oracle.q),
        "kid": "written by phe",
        "pub": {
            "kty": "DAJ",
            "alg": "PAI-GN1",
            "key_ops": ["encrypt"],
            "n": phe.util.int_to_base64(theirs.n),
            "kid": "and this",
        },
    }
    again = he.PrivateKey.from_jwk(json.dumps(jwk), insecure=True)
    assert again.public == public
    assert again.public.comment == "and this"
    assert private.decrypt(again.public.encrypt(5)) == 5


def floats(largest):
    """Draws floats whose sum still fits 512 bits at a common exponent."""
    return st.one_of(st.just(0.0), st.floats(1e-9, largest), st.floats(-largest, -1e-9))


@given(st.lists(floats(2.0**60), min_size=1, max_size=4))
def test_their_numbers_here(keys, oracle, numbers):
    """All numbers get the lowest exponent, and decode exactly as in python-paillier."""
    public, private = keys
    encrypted = [oracle.public_key.encrypt(number) for number in numbers]
    text = "\n".join(json.dumps({"v": str(one.ciphertext()), "e": one.exponent}) for one in encrypted)
    assert private.decrypt(public.from_phe(text)).tolist() == [oracle.decrypt(one) for one in encrypted]


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=3), st.integers(-12, 0))
def test_our_numbers_there(keys, oracle, numbers, exponent):
    c = keys[0].encrypt(numbers, exponent=exponent, range=2**62)
    loaded = [load(line, oracle.public_key) for line in c.to_phe()]
    # python-paillier decodes numbers with negative exponents to floats.
    assert [oracle.decrypt(one) for one in loaded] == [float(x) if exponent else x for x in numbers]


def test_pheutils_own_files(keys, oracle, tmp_path):
    theirs = serialise_encrypted(oracle.public_key.encrypt(-1.25))
    array = keys[0].from_phe(theirs)
    assert keys[1].decrypt(array).tolist() == [-1.25]
    back = load((array * 4).to_phe()[0], oracle.public_key)
    assert oracle.decrypt(back) == -5


def load(line, public):
    class File:
        @staticmethod
        def read():
            return line

    return load_encrypted_number(File, public)


def test_refusals(keys):
    public, _ = keys
    for text in ["{}", "[1]", '{"v": 5, "e": 0}', '{"v": "5x", "e": 0}', '{"v": "5", "e": "0"}', '{"v": "-5", "e": 0}']:
        with pytest.raises(CiphertextError, match="row 0"):
            public.from_phe(text)
    with pytest.raises(CiphertextError):
        public.from_phe(json.dumps({"v": "0", "e": 0}))
    with pytest.raises(CiphertextError, match="not below"):
        public.from_phe(json.dumps({"v": str(public.n**2), "e": 0}))
    with pytest.raises(CiphertextError, match="not below"):
        public.from_phe(json.dumps({"v": str(public.n**4), "e": 0}))
    for exponent in (10**9, 10**100, -(10**9)):
        with pytest.raises(ScaleError):
            public.from_phe(json.dumps({"v": "5", "e": exponent}))
    with pytest.raises(CiphertextError):
        public.from_phe(json.dumps({"v": "5" * 10**5, "e": 0}))
    with pytest.raises(ScaleError, match="powers of 16"):
        public.encrypt([1], scale=2).to_phe()


@pytest.fixture(scope="module")
def pair(oracle):
    """The same key pair in `hearith.phe`."""
    public = ours.PaillierPublicKey(oracle.public_key.n)
    return ours.PaillierPrivateKey(public, oracle.p, oracle.q)


class TestSameAnswers:
    """`hearith.phe` and `phe` with the same input, each decrypted by the other."""

    @given(st.one_of(st.integers(-(2**200), 2**200), st.floats(-1e30, 1e30)))
    def test_encodings(self, pair, oracle, number):
        mine = ours.EncodedNumber.encode(pair.public_key, number)
        theirs = phe.EncodedNumber.encode(oracle.public_key, number)
        assert (mine.encoding, mine.exponent) == (theirs.encoding, theirs.exponent)
        assert mine.decode() == theirs.decode()

    @given(st.floats(1e-6, 1e6), st.floats(1e-9, 1e-3), st.integers(-20, 0))
    def test_precision(self, pair, oracle, number, precision, most):
        for options in ({"precision": precision}, {"max_exponent": most}):
            mine = ours.EncodedNumber.encode(pair.public_key, number, **options)
            theirs = phe.EncodedNumber.encode(oracle.public_key, number, **options)
            assert (mine.encoding, mine.exponent) == (theirs.encoding, theirs.exponent)

    def test_exponents_too_low(self, pair, oracle):
        for number in (pair.public_key.encrypt(1.5), oracle.public_key.encrypt(1.5)):
            with pytest.raises(ValueError):  # noqa: PT011  (phe's text and ours differ)
                number.decrease_exponent_to(-200)

    @given(floats(1e9), floats(1e9), st.integers(-(2**70), 2**70))
    def test_arithmetic(self, pair, oracle, a, b, k):
        mine, theirs = pair.public_key.encrypt(a), oracle.public_key.encrypt(a)
        cases = [lambda x: x + b, lambda x: x - b, lambda x: b - x, lambda x: x * k, lambda x: x * b, lambda x: x + x]
        for case in cases:
            result, wanted = case(mine), case(theirs)
            assert result.exponent == wanted.exponent
            crossed = phe.EncryptedNumber(oracle.public_key, result.ciphertext(), result.exponent)
            assert oracle.decrypt(crossed) == pair.decrypt(result) == oracle.decrypt(wanted)

    @pytest.mark.parametrize("r", [1, 103, 2**200 + 1])
    def test_given_randomisers(self, pair, oracle, r):
        assert pair.public_key.raw_encrypt(-5, r) == oracle.public_key.raw_encrypt(-5 % oracle.public_key.n, r)

    def test_overflow_is_an_error(self, pair):
        public = pair.public_key
        total = public.encrypt(public.max_int) + 10
        with pytest.raises(OverflowError):
            pair.decrypt(total)
        with pytest.raises(ValueError, match="n / 3"):
            public.encrypt(public.max_int + 1)
