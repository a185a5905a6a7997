"""Errors that `hearith.phe` raises always or in strict mode: weak keys, and numbers that wrap
around n.
"""

import copy
import math
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearith import phe
from hearith.phe import util
from hearith.phe._strict import usual_bound

P = 2**89 - 1
Q = 2**107 - 1


@pytest.fixture(scope="module")
def pair():
    return phe.generate_paillier_keypair(n_length=1024)


@pytest.mark.parametrize(("p", "q"), [(P, Q * Q), (Q * Q, P), (561, P), ((2**61 - 1) * (2**31 - 1), (2**61 - 1) ** 2)])
def test_composite_factors_are_rejected(p, q):
    with pytest.raises(ValueError, match="is not prime|factor of at most 65537"):
        phe.PaillierPrivateKey(phe.PaillierPublicKey(p * q), p, q)


def test_composite_factors_of_equal_length_are_rejected(pair):
    _, private = pair
    composite = private.p + 2
    while util.is_prime(composite) or math.gcd(composite, math.prod(util.primes_below(65538))) != 1:
        composite += 2
    with pytest.raises(ValueError, match="is not prime"):
        phe.PaillierPrivateKey(phe.PaillierPublicKey(composite * private.q), composite, private.q)


@pytest.mark.parametrize("factor", [3, 251, 65521, 65537])
def test_small_factors_are_rejected(factor):
    with pytest.raises(ValueError, match="a factor of at most 65537"):
        phe.PaillierPublicKey(factor * Q)
    phe.PaillierPublicKey(65539 * Q)


def test_short_keys_are_warned_of_and_rejected_in_strict_mode():
    with pytest.warns(UserWarning, match="a key of 196 bits protects nothing: 2048 are needed"):
        phe.PaillierPublicKey(P * Q)
    with phe.strict(), pytest.raises(ValueError, match="a key of 196 bits protects nothing"):
        phe.PaillierPublicKey(P * Q)
    with phe.strict():
        phe.generate_paillier_keypair(n_length=2048)


def test_the_eighteenth_float_factor(pair):
    """Wrong results as in phe, mostly silent; an error in strict mode before any result is
    wrong.
    """
    public, private = pair

    def product(count):
        number = public.encrypt(1.1)
        for _ in range(count):
            number *= 1.1
        return private.decrypt(number)

    # A third of all residues is neither positive nor negative.
    with suppress(OverflowError):
        assert product(20) != pytest.approx(1.1**21)
    with phe.strict():
        assert product(15) == pytest.approx(1.1**16)
        with pytest.raises(OverflowError, match="numbers would wrap around n"):
            product(20)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x.decrease_exponent_to(x.exponent - 240),
        lambda x: x * 2**960,
        lambda x: x + 2.0**-1000,
        lambda x: x + (x * 2.0**-500) * 2.0**-500,
        lambda x: sum([x * (2**957)] * 3, x * (2**957)),
    ],
)
def test_what_could_wrap_around_raises(pair, work):
    public, _ = pair
    with phe.strict(), pytest.raises(OverflowError, match="numbers would wrap around n|beyond n / 3"):
        work(public.encrypt(3))


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.floats(-1e6, 1e6)),
        st.tuples(st.just("times"), st.floats(-1e3, 1e3)),
        st.tuples(st.just("times"), st.integers(-(2**70), 2**70)),
        st.tuples(st.just("double"), st.none()),
    ),
    max_size=25,
)


@given(start=st.floats(-1e9, 1e9), program=operations)
def test_strict_results_are_exact_or_errors(pair, start, program):
    public, private = pair
    with phe.strict():
        number, exact = public.encrypt(start), Fraction(start)
        try:
            for name, operand in program:
                if name == "add":
                    number, exact = number + operand, exact + Fraction(operand)
                elif name == "times":
                    number, exact = number * operand, exact * Fraction(operand)
                else:
                    number, exact = number + number, exact * 2
        except (OverflowError, ValueError):
            return
    encoded = private.decrypt_encoded(number)
    mantissa = encoded.encoding if encoded.encoding <= public.max_int else encoded.encoding - public.n
    assert mantissa * Fraction(16) ** encoded.exponent == exact


def test_bounds_tell_no_number_and_are_kept():
    public, _ = phe.generate_paillier_keypair(n_length=2048)
    assert usual_bound(1) == usual_bound(2**64 - 1) == 2**64
    assert usual_bound(2**64) == 2**128
    with phe.strict():
        number = public.encrypt(5) * 2**1900
        for again in (pickle.loads(pickle.dumps(number)), copy.deepcopy(number)):
            with pytest.raises(OverflowError):
                again * 2**100


@pytest.mark.parametrize("load", [pickle.loads, phe.loads])
def test_pickled_keys_are_checked_as_new_ones_are(pair, load):
    public, private = pair
    number, encoded = public.encrypt(1), phe.EncodedNumber.encode(public, 1)
    for sent in (public, private, number, [number * 2], encoded, phe.PaillierPrivateKeyring([private])):
        data = pickle.dumps(sent)
        with pytest.warns(UserWarning, match="a key of 1024 bits protects nothing"):
            load(data)
        with phe.strict(), pytest.raises(ValueError, match="a key of 1024 bits protects nothing"):
            load(data)


def made(kind, **state):
    """Creates an object without calling its constructor."""
    found = kind.__new__(kind)
    found.__dict__.update(state)
    return found


@pytest.mark.parametrize("load", [pickle.loads, phe.loads])
def test_pickles_of_what_no_constructor_takes(pair, load):
    public, private = pair
    weak = made(phe.PaillierPublicKey, n=3 * Q)
    key = made(phe.PaillierPrivateKey, public_key=public, p=private.p, q=private.q + 2)
    for sent, wrong in [(weak, "a factor of at most 65537"), (key, "do not belong to the public key")]:
        with pytest.raises(ValueError, match=wrong):
            load(pickle.dumps(sent))
    composite = 65539 * 65543
    key = made(phe.PaillierPrivateKey, public_key=phe.PaillierPublicKey(composite * Q), p=composite, q=Q)
    with pytest.raises(ValueError, match="is not prime"):
        load(pickle.dumps(key))
    number = {**public.encrypt(1).__getstate__(), "public_key": phe.EncodedNumber(public, 1, 0)}
    with pytest.raises(TypeError, match="must be a PaillierPublicKey"):
        made(phe.EncryptedNumber).__setstate__(number)
    # Other stored attributes of a key are recomputed.
    assert load(pickle.dumps(made(phe.PaillierPublicKey, n=public.n, max_int=public.n))).max_int == public.max_int


def test_copies_in_strict_mode(pair):
    """Copying an existing key is allowed, since it imports no new key."""
    public, private = pair
    number = public.encrypt(3)
    with phe.strict():
        assert (copy.copy(public), copy.deepcopy(private)) == pair
        assert private.decrypt(copy.deepcopy(number)) == private.decrypt(copy.copy(number)) == 3


def test_the_mode_ends_with_its_block_and_comes_from_the_environment(pair):
    public, _ = pair
    with phe.strict():
        with phe.strict(False):
            public.encrypt(1) * 2**1000
        with pytest.raises(OverflowError):
            public.encrypt(1) * 2**1000
    public.encrypt(1) * 2**1000
    program = "from hearith.phe import PaillierPublicKey\nPaillierPublicKey((2**89 - 1) * (2**107 - 1))"
    for value, status in [("1", 1), ("0", 0)]:
        environment = {**os.environ, "HEARITH_PHE_STRICT": value}
        run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
        assert run.returncode == status
