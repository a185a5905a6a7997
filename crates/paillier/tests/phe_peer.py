"""python-paillier's side of the tests in phe.rs. Reads one JSON request from standard input and
writes one JSON answer.
"""

import json
import sys

import phe
from phe import EncodedNumber, EncryptedNumber, PaillierPrivateKey, PaillierPublicKey
from phe.command_line import load_public_key
from phe.util import base64_to_int


def private_key(document):
    public = load_public_key(document["pub"])
    return PaillierPrivateKey(public, base64_to_int(document["p"]), base64_to_int(document["q"]))


def encode(request):
    """Encodes floats (hexadecimal) and integers (decimal) as [encoding, exponent]."""
    public = PaillierPublicKey(int(request["n"]))
    numbers = [float.fromhex(text) for text in request["floats"]] + [int(text) for text in request["integers"]]
    encoded = [EncodedNumber.encode(public, number) for number in numbers]
    return [[str(number.encoding), number.exponent] for number in encoded]


def decode(request):
    """Decodes [encoding, exponent] to hexadecimal floats, or to the kind of error."""
    public = PaillierPublicKey(int(request["n"]))

    def one(encoding, exponent):
        try:
            return float(EncodedNumber(public, int(encoding), exponent).decode()).hex()
        except OverflowError as error:
            return "overflow" if "Overflow detected" in str(error) else "too large"

    return [one(*pair) for pair in request["numbers"]]


def encrypt(request):
    """Encrypts floats to ciphertexts in pheutil's format, without changing exponents."""
    public = load_public_key(request["key"])
    encrypted = [public.encrypt(float.fromhex(text)) for text in request["floats"]]
    return [{"v": str(number.ciphertext()), "e": number.exponent} for number in encrypted]


def decrypt(request):
    """Decrypts ciphertexts to hexadecimal floats and to plaintext residues."""
    private = private_key(request["key"])
    numbers = [EncryptedNumber(private.public_key, int(one["v"]), one["e"]) for one in request["ciphertexts"]]
    return {
        "floats": [float(private.decrypt(number)).hex() for number in numbers],
        "residues": [str(private.raw_decrypt(number.ciphertext(be_secure=False))) for number in numbers],
    }


def compute(request):
    """Computes a + b, a - b, 3 * a and a + 1.5 for two ciphertexts."""
    public = load_public_key(request["key"])
    a, b = (EncryptedNumber(public, int(one["v"]), one["e"]) for one in request["ciphertexts"])
    results = [a + b, a - b, a * 3, a + 1.5]
    return [{"v": str(number.ciphertext()), "e": number.exponent} for number in results]


def version(_):
    return phe.__version__


REQUEST = json.load(sys.stdin)
print(json.dumps(globals()[REQUEST["task"]](REQUEST)))
