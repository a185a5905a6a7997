"""What `hearith.phe` rejects, and what else it rejects in its strict mode: weak keys and numbers
that wrap around n.
"""

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
    """Wrong in phe's way, mostly in silence; an error in the strict mode, before any number is."""
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


def test_bounds_tell_no_number_and_are_kept(pair):
    public, _ = pair
    assert usual_bound(1) == usual_bound(2**64 - 1) == 2**64
    assert usual_bound(2**64) == 2**128
    with phe.strict():
        number = public.encrypt(5) * 2**900
        copy = pickle.loads(pickle.dumps(number))
        with pytest.raises(OverflowError):
            copy * 2**60


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
