"""Key fixtures for all tests. They are far too small for real use; some tests create their own."""

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
    """The same key pair in python-paillier, which serves as the reference for the content of
    ciphertexts.
    """
    jwk = json.loads(keys[1].to_jwk())
    p, q = (phe.util.base64_to_int(jwk[prime]) for prime in "pq")
    public = phe.PaillierPublicKey(p * q)
    return phe.PaillierPrivateKey(public, p, q)


@pytest.fixture(scope="session")
def judge(oracle):
    """Returns the signed integers in an encrypted array, as decrypted by python-paillier."""
    n = oracle.public_key.n

    def decrypt(array):
        residues = [oracle.raw_decrypt(ciphertext) for ciphertext in array.ciphertexts()]
        return [residue - n if residue > n // 2 else residue for residue in residues]

    return decrypt
