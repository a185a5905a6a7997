"""python-paillier's side of the tests in phe.rs: reads one JSON request from standard input, writes
one JSON answer.
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
    """Floats, as hexadecimal texts, and integers, as decimal ones, to [encoding, exponent]."""
    public = PaillierPublicKey(int(request["n"]))
    numbers = [float.fromhex(text) for text in request["floats"]] + [int(text) for text in request["integers"]]
    encoded = [EncodedNumber.encode(public, number) for number in numbers]
    return [[str(number.encoding), number.exponent] for number in encoded]


def decode(request):
    """[encoding, exponent] to hexadecimal floats, or what is wrong."""
    public = PaillierPublicKey(int(request["n"]))

    def one(encoding, exponent):
        try:
            return float(EncodedNumber(public, int(encoding), exponent).decode()).hex()
        except OverflowError as error:
            return "overflow" if "Overflow detected" in str(error) else "too large"

    return [one(*pair) for pair in request["numbers"]]


def encrypt(request):
    """Floats to ciphertexts as pheutil writes them, exponents as they come."""
    public = load_public_key(request["key"])
    encrypted = [public.encrypt(float.fromhex(text)) for text in request["floats"]]
    return [{"v": str(number.ciphertext()), "e": number.exponent} for number in encrypted]


def decrypt(request):
    """Ciphertexts to hexadecimal floats, and the plaintext residues."""
    private = private_key(request["key"])
    numbers = [EncryptedNumber(private.public_key, int(one["v"]), one["e"]) for one in request["ciphertexts"]]
    return {
        "floats": [float(private.decrypt(number)).hex() for number in numbers],
        "residues": [str(private.raw_decrypt(number.ciphertext(be_secure=False))) for number in numbers],
    }


def compute(request):
    """a + b, a - b, 3 * a and a + 1.5 of two ciphertexts."""
    public = load_public_key(request["key"])
    a, b = (EncryptedNumber(public, int(one["v"]), one["e"]) for one in request["ciphertexts"])
    results = [a + b, a - b, a * 3, a + 1.5]
    return [{"v": str(number.ciphertext()), "e": number.exponent} for number in results]


def version(_):
    return phe.__version__


REQUEST = json.load(sys.stdin)
print(json.dumps(globals()[REQUEST["task"]](REQUEST)))
