"""Files of FHE over the integers, compared with a reader written only from their specification."""

import math
import random
from pathlib import Path

import dghv_reader as reader
import numpy as np
import pytest

from hearith import dghv

VECTORS = Path(__file__).parents[2] / "dghv" / "tests" / "vectors"
INSECURE = {"insecure_historical_parameters": True}
BITS = [True, False, True, True, False]


@pytest.fixture
def private(tmp_path):
    """Returns a function that loads a private key.

    A repository cannot store its restrictive file mode.
    """

    def load(name):
        file = tmp_path / f"{name}.dghv"
        file.touch(mode=0o600)
        file.write_bytes((VECTORS / name / "private.dghv").read_bytes())
        return dghv.PrivateKey.load(file, **INSECURE)

    return load


def vector(name):
    public = reader.read_public((VECTORS / name / "public.dghv").read_bytes())
    privates = reader.read_private((VECTORS / name / "private.dghv").read_bytes())
    return public, privates


@pytest.mark.parametrize("name", ["cmnt", "cnt", "ladder"])
def test_keys_are_what_the_specification_says(name):
    public, privates = vector(name)
    keys = [public, *public.rungs]
    assert [key.id for key in keys] == [key_id for _, key_id, _ in privates]
    assert [key.parameters for key in keys] == [parameters for parameters, _, _ in privates]
    for key, (parameters, _, prime) in zip(keys, privates, strict=True):
        assert prime.bit_length() == parameters.secret
        assert key.modulus.bit_length() == parameters.modulus
        assert key.modulus % prime == 0
        noise = [reader.centred(key.element(index), prime) for index in range(parameters.key_elements)]
        assert all(abs(residue) < 1 << parameters.key_noise for residue in noise)


@pytest.mark.parametrize("name", ["cmnt", "cnt", "ladder"])
def test_bits_decrypt(name, private):
    _, privates = vector(name)
    for file in sorted((VECTORS / name).glob("bits*.dghv")):
        parameters, key_id, rows = reader.read_bits(file.read_bytes())
        (prime,) = [prime for _, known, prime in privates if known == key_id]
        assert [reader.decrypt(prime, number) for _, number in rows] == BITS
        for noise, number in rows:
            assert math.log2(abs(reader.centred(number, prime)) + 1) <= noise + 1
        assert parameters.level == (1 if file.name == "bits1.dghv" else 0)
        # The package reads the same bits.
        public = dghv.PublicKey.load(VECTORS / name / "public.dghv", **INSECURE)
        assert private(name).decrypt(public.load_bits(file)).tolist() == BITS


def test_a_recryption_key_hides_the_inverse_of_the_prime():
    public, [(parameters, _, prime), *_] = vector("cnt")
    limbs, theta, key = parameters.limbs + 1, parameters.theta, public.recryption
    chosen = []
    for index in range(theta):
        # Words from the lowest on, without segments, in streams after those of the fractions.
        words = reader.Stream(key.seed).words(theta + index, parameters.limbs)
        element = sum(word << 64 * place for place, word in enumerate(words)) & ((1 << parameters.modulus) - 1)
        noise = reader.centred(element - key.corrections[index], prime)
        assert abs(noise) < 1 << parameters.key_noise
        if noise % 2:
            chosen.append(index)
    assert len(chosen) == 15
    assert [index // (theta // 15) for index in chosen] == list(range(15))
    total = sum(reader.fraction(key, index, limbs) for index in chosen) % (1 << 64 * limbs)
    assert total == (1 << 64 * limbs - 1) // prime


def test_a_switching_key_hides_one_prime_under_the_next():
    public, privates = vector("ladder")
    for rung, (_, _, above), (parameters, _, prime) in zip(public.rungs, privates, privates[1:], strict=False):
        key, theta, whole = rung.switching, parameters.theta, parameters.whole
        limbs = parameters.limbs + 1 + whole // 64
        digits = whole // 16
        chosen = []
        for index in range(theta):
            places = []
            # The highest digit tells whether the fraction is chosen; the lowest digit must agree.
            for place in (0, digits - 1):
                element = reader.chi(key.seed, theta + index * digits + place, parameters.modulus)
                residue = element - key.corrections[index * digits + place]
                weight = (prime << 16 * place) >> whole
                fits = [
                    abs(reader.centred(residue - bit * weight, prime)) < 1 << parameters.key_noise for bit in (0, 1)
                ]
                places.append(fits)
            assert places[1].count(True) == 1
            bit = places[1].index(True)
            assert places[0][bit]
            if bit:
                chosen.append(index)
        assert [index // (theta // 15) for index in chosen] == list(range(15))
        total = sum(reader.fraction(key, index, limbs) for index in chosen) % (1 << 64 * limbs)
        assert total == (1 << 64 * limbs - 1) // above


def test_what_it_encrypts_the_package_decrypts(tmp_path, private):
    public, [(parameters, key_id, prime), *_] = vector("cnt")
    draw = random.Random(44)
    rows = []
    for bit in BITS:
        noise = draw.randrange(-(1 << parameters.encryption_noise), 1 << parameters.encryption_noise)
        number = int(bit) + 2 * noise
        for index in range(parameters.key_elements):
            number += 2 * draw.getrandbits(parameters.coefficient) * public.element(index)
        rows.append((float(parameters.secret - 10), number % public.modulus))
        assert reader.decrypt(prime, rows[-1][1]) == bit
    file = tmp_path / "bits.dghv"
    file.write_bytes(reader.write_bits(parameters, key_id, rows))
    loaded = dghv.PublicKey.load(VECTORS / "cnt" / "public.dghv", **INSECURE).load_bits(file)
    assert private("cnt").decrypt(loaded).tolist() == BITS


def test_a_new_key_and_its_bits(tmp_path):
    public, private = dghv.generate_keypair("cnt", "toy", short_coefficients=True, recryption=False, **INSECURE)
    public.save(tmp_path / "public.dghv")
    private.save(tmp_path / "private.dghv")
    bits = public.encrypt(BITS)
    (bits ^ ~bits).save(tmp_path / "ones.dghv")
    key = reader.read_public((tmp_path / "public.dghv").read_bytes())
    [(parameters, key_id, prime)] = reader.read_private((tmp_path / "private.dghv").read_bytes())
    assert key.id == key_id
    assert public.id == key_id.hex()
    assert abs(reader.centred(key.element(77), prime)) < 1 << parameters.key_noise
    _, _, rows = reader.read_bits((tmp_path / "ones.dghv").read_bytes())
    assert np.array_equal([reader.decrypt(prime, number) for _, number in rows], np.ones(5))


def test_the_cipher_is_that_of_the_standard():
    # FIPS 197, appendix B.
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    block = int("3243f6a8885a308d313198a2e0370734", 16)
    assert reader.Stream(key).block(block).hex() == "3925841d02dc09fbdc118597196a0b32"
