"""`hearith.phe` defers operations and computes them in batches.

The results equal python-paillier's bit by bit.
"""

import copy
import os
import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor

import phe
import pytest

import hearith.phe as ours
from hearith.errors import HearithError
from hearith.phe import _lazy

BITS = 256


@pytest.fixture(scope="module")
def keys():
    """A key pair in python-paillier and in `hearith.phe`."""
    public, private = phe.generate_paillier_keypair(n_length=BITS)
    here = ours.PaillierPublicKey(public.n)
    return public, private, here, ours.PaillierPrivateKey(here, private.p, private.q)


@pytest.fixture
def pairs(keys):
    """Numbers with the same ciphertexts in both libraries."""
    public, _, here, _ = keys
    numbers = [public.encrypt(value) for value in (1, -2, 0.5, -3.25, 1e-3, 1e6, 7)]
    return [(number, ours.EncryptedNumber(here, number.ciphertext(False), number.exponent)) for number in numbers]


def same(theirs, mine):
    return (theirs.ciphertext(False), theirs.exponent) == (mine.ciphertext(False), mine.exponent)


OPERATIONS = [
    lambda a, b, x: a + b,
    lambda a, b, x: a - b,
    lambda a, b, x: a + x,
    lambda a, b, x: x - a,
    lambda a, b, x: a * x,
    lambda a, b, x: a * -1,
    lambda a, b, x: a / 4 + b,
    lambda a, b, x: a + a,
    lambda a, b, x: sum([a, b, a]),
    lambda a, b, x: a.decrease_exponent_to(a.exponent - 2),
]


@pytest.mark.parametrize("seed", range(8))
def test_any_program_gives_the_same_ciphertexts(pairs, seed):
    chance = random.Random(seed)
    found = list(pairs)
    for _ in range(60):
        operation, x = chance.choice(OPERATIONS), chance.choice([0, 3, -5, 0.25, -1.5])
        a, b = chance.choice(found), chance.choice(found)
        if min(a[0].exponent, b[0].exponent) < -30:
            continue
        found.append(tuple(operation(a[side], b[side], x) for side in range(2)))
        if chance.random() < 0.3:
            # Drops some numbers, and requests some, in random order.
            found.pop(chance.randrange(len(found)))
        if chance.random() < 0.1:
            assert same(*chance.choice(found))
    chance.shuffle(found)
    assert all(same(theirs, mine) for theirs, mine in found)


def test_long_chains(pairs):
    for operation, times in [(lambda a, b: a + b, 1500), (lambda a, b: a + a, 200), (lambda a, b: a - b + a, 100)]:
        (theirs, mine), (their_other, my_other) = pairs[0], pairs[1]
        for _ in range(times):
            theirs, mine = operation(theirs, their_other), operation(mine, my_other)
        assert same(theirs, mine)


def test_running_sums_from_the_last_to_the_first(pairs):
    sums = [pairs[0]]
    for theirs, mine in pairs * 40:
        sums.append((sums[-1][0] + theirs, sums[-1][1] + mine))
    assert all(same(*entry) for entry in reversed(sums))


class Counted:
    """A wrapper of the Rust arithmetic that records its calls."""

    def __init__(self, singles):
        self.singles, self.calls = singles, []

    def __getattr__(self, name):
        def call(rows, *rest):
            self.calls.append((name, len(rows), len(rest[0]) if name == "sums" else len(rows)))
            return getattr(self.singles, name)(rows, *rest)

        return call


@pytest.fixture
def counted(keys, monkeypatch):
    pending = keys[2]._arithmetic._lazy
    pending.compute()
    monkeypatch.setattr(pending, "_singles", Counted(pending._singles))
    return pending._singles.calls


def test_many_operations_are_one_call(pairs, counted):
    numbers = [mine for _, mine in pairs if mine.exponent == 0]
    sums = [numbers[i % 2] + numbers[2] for i in range(100)]
    assert counted == []
    assert len({number.ciphertext(False) for number in sums}) == 2
    assert counted == [("sums", 3, 100)]


def test_what_nobody_holds_is_not_computed(pairs, counted):
    a, b = pairs[0][1], pairs[1][1]
    for _ in range(3 * _lazy.MOST):
        a + b
        a * 3
    # Except for the number being created when the limit was reached.
    assert [rows for _, rows, _ in counted] in ([1] * 6, [2] * 6)
    counted.clear()
    total = a
    for _ in range(100):
        total = total + b
    total.ciphertext(False)
    # The intermediate sums are used only in the last one.
    assert counted == [("sums", 2, 1)]


def test_what_gathers_is_computed(pairs, counted):
    held = [pairs[0][1] + pairs[1][1] for _ in range(_lazy.MOST + 1)]
    assert counted == [("sums", 2, _lazy.MOST)]
    assert len({number.ciphertext(False) for number in held}) == 1


def test_threads_that_ask_for_the_same_numbers(pairs):
    numbers = []
    for theirs, mine in pairs * 5:
        last = numbers[-1] if numbers else pairs[0]
        numbers += [(theirs * 3 + last[0], mine * 3 + last[1]), (last[0] - theirs, last[1] - mine)]
    expected = [theirs.ciphertext(False) for theirs, _ in numbers]
    for _ in range(5):
        fresh = [mine + 0.5 for _, mine in numbers]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda some: [number.ciphertext(False) for number in some], [fresh, fresh[::-1]] * 4))
        assert all(some == found[0] for some in found[::2])
        assert all(some == found[0][::-1] for some in found[1::2])
    assert [mine.ciphertext(False) for _, mine in numbers] == expected


def test_a_number_keeps_what_it_was_computed_from(keys, pairs):
    private = keys[3]
    (theirs, mine), (their_other, my_other) = pairs[0], pairs[1]
    total = mine + my_other
    mine.obfuscate()
    assert total.ciphertext(False) == (theirs + their_other).ciphertext(False)
    assert mine.ciphertext(False) != theirs.ciphertext(False)
    assert private.decrypt(mine) == 1
    assert total.ciphertext() != (theirs + their_other).ciphertext(False)
    assert private.decrypt(total) == -1


def test_copies_and_pickles(keys, pairs):
    theirs, mine = pairs[2][0] * 3 + pairs[3][0], pairs[2][1] * 3 + pairs[3][1]
    for other in (pickle.loads(pickle.dumps(mine)), copy.copy(mine), copy.deepcopy(mine)):
        assert same(theirs, other)
        assert same(theirs + 1, other + 1)
    assert pickle.loads(pickle.dumps(keys[2])) == keys[2]
    private = pickle.loads(pickle.dumps(keys[3]))
    assert private == keys[3]
    assert private.decrypt(pairs[2][1]) == 0.5


@pytest.mark.parametrize("bits", [64, 256, 66, 50])
def test_generated_keys_are_those_of_their_primes(bits):
    """The engine generates keys from 64 bits, Python shorter ones."""
    public, private = ours.generate_paillier_keypair(n_length=bits)
    again = ours.PaillierPrivateKey(public, private.q, private.p)
    assert public.n.bit_length() == bits
    assert phe.util.is_prime(private.p)
    assert phe.util.is_prime(private.q)
    assert private.p < private.q
    assert private == again
    number = public.encrypt(-3)
    assert private.decrypt(number) == again.decrypt(number) == -3


@pytest.mark.parametrize("ciphertext", [0, -5, "n^2", "n^2 + 2"])
def test_integers_that_are_no_ciphertexts(keys, pairs, ciphertext):
    public, _, here, _ = keys
    if isinstance(ciphertext, str):
        ciphertext = public.nsquare + (2 if ciphertext.endswith("2") and "+" in ciphertext else 0)
    theirs, mine = phe.EncryptedNumber(public, ciphertext), ours.EncryptedNumber(here, ciphertext)
    assert mine.ciphertext(False) == ciphertext
    assert same(theirs + pairs[0][0], mine + pairs[0][1])
    assert same(theirs + 3, mine + 3)
    assert same(theirs * 5, mine * 5)


def test_what_shares_a_factor_with_n(keys, pairs):
    _, private, here, _ = keys
    bad = ours.EncryptedNumber(here, private.p * 12345)
    good = [mine * -2 for _, mine in pairs]
    broken = bad * -2
    after = broken + pairs[0][1]
    # Other numbers are unaffected, and the broken number fails on every request.
    assert all(same(theirs * -2, mine) for (theirs, _), mine in zip(pairs, good, strict=True))
    for number in (broken, after, broken):
        with pytest.raises(HearithError, match="shares a factor"):
            number.ciphertext(False)
    assert (bad + bad).ciphertext(False) == (private.p * 12345) ** 2 % here.nsquare


def test_every_encryption_has_a_randomiser_of_its_own(keys):
    _, _, here, private = keys
    numbers = [here.encrypt(0) for _ in range(100)]
    assert len({number.ciphertext(False) for number in numbers}) == 100
    assert all(number.ciphertext() == number.ciphertext(False) for number in numbers)
    assert {private.decrypt(number) for number in numbers} == {0}
    # No two share a randomiser: their quotient would be an encryption of 0 without one.
    assert len({number.ciphertext(False) % here.n for number in numbers}) == 100


def kept(public, count):
    """Waits until `count` randomisers are ready.

    This may take long, since a busy machine gives no time to a thread of the lowest priority.
    """
    end = time.monotonic() + 600
    while public.randomisers_kept < count:
        assert time.monotonic() < end, f"{public.randomisers_kept} of {count} after ten minutes"
        time.sleep(0.001)


def test_randomisers_are_kept_ready_on_request(keys):
    here, private = ours.PaillierPublicKey(keys[2].n), keys[3]
    assert here.randomisers_kept == 0
    here.keep_randomisers(16)
    kept(here, 16)
    for _ in range(3):
        # The pool is refilled once eight or more are missing, since they are made at most eight at
        # a time.
        kept(here, 9)
        numbers = [here.encrypt(7) for _ in range(20)]
        assert {private.decrypt(number) for number in numbers} == {7}
        assert len({number.ciphertext(False) % here.n for number in numbers}) == 20
    here.keep_randomisers(0)
    assert here.randomisers_kept == 0
    assert private.decrypt(here.encrypt(-1)) == -1
    with pytest.raises(ValueError, match="a number of randomisers is needed, not -1"):
        here.keep_randomisers(-1)


def test_a_modulus_of_pythons_keeps_none():
    here = ours.PaillierPublicKey(7 * 11)
    here.keep_randomisers(8)
    assert here.randomisers_kept == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("count", [0, 16])
def test_a_child_process_does_not_use_its_parents_randomisers(keys, count):
    here = keys[2]
    here.keep_randomisers(count)
    kept(here, count)
    here.encrypt(0)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, b"\n".join(b"%d" % here.encrypt(0).ciphertext(False) for _ in range(8)))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        theirs = {int(line) for line in pipe.read().split()}
    os.waitpid(child, 0)
    assert len(theirs) == 8
    assert not theirs & {here.encrypt(0).ciphertext(False) for _ in range(32)}
    here.keep_randomisers(0)


@pytest.mark.parametrize("precision", [None, 1e-5, 0.5, 10])
@pytest.mark.parametrize("most", [None, -3, 5])
def test_encodings_are_pythons(keys, precision, most):
    public, _, here, _ = keys
    chance = random.Random(1)
    values = [0, 1, -17, 2**60, 0.0, -0.5, 1e-300, 1e30, *(chance.uniform(-1e4, 1e4) for _ in range(50))]
    for value in values:
        if value == 1e-300 and precision is None:
            continue
        theirs = phe.EncodedNumber.encode(public, value, precision, most)
        mine = ours.EncodedNumber.encode(here, value, precision, most)
        assert (theirs.encoding, theirs.exponent) == (mine.encoding, mine.exponent)
