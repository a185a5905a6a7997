"""Keys for all tests: far too small for anything else, except where a test makes its own."""

import json

import phe
import phe.util
import pytest
from hypothesis import settings

import hearith as he

settings.register_profile("suite", max_examples=25, deadline=None)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def keys():
    return he.generate_keypair(512, insecure=True)


@pytest.fixture(scope="session")
def other_keys():
    return he.generate_keypair(512, "djn", insecure=True)


@pytest.fixture(scope="session")
def oracle(keys):
    """The same key pair in python-paillier: the judge of what ciphertexts hold."""
    jwk = json.loads(keys[1].to_jwk())
    p, q = (phe.util.base64_to_int(jwk[prime]) for prime in "pq")
    public = phe.PaillierPublicKey(p * q)
    return phe.PaillierPrivateKey(public, p, q)


@pytest.fixture(scope="session")
def judge(oracle):
    """The signed integers in an encrypted array, as python-paillier decrypts them."""
    n = oracle.public_key.n

    def decrypt(array):
        residues = [oracle.raw_decrypt(ciphertext) for ciphertext in array.ciphertexts()]
        return [residue - n if residue > n // 2 else residue for residue in residues]

    return decrypt
