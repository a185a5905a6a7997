"""Measures python-paillier on request.

Reads one JSON object a line and answers with one:
  {"load": {"p", "q", "plaintexts", "left", "right", "scalars"}} numbers in hexadecimal, scalars in
  decimal -> {} {"run": "encrypt"|"decrypt"|"add"|"scale", "rows": R, "repeats": N}
      carries the operation out on the first R rows, N times over -> {"seconds": S, "output": the
      first rows' results}
The first line out, before any request, is {"versions": ...}.
"""

import json
import platform
import sys
import time

import gmpy2
import phe
from phe.paillier import EncryptedNumber, PaillierPrivateKey, PaillierPublicKey

REPORTED = 8


class Session:
    """One key and its operands."""

    def __init__(self, load):
        p, q = int(load["p"], 16), int(load["q"], 16)
        self.public = PaillierPublicKey(p * q)
        self.private = PaillierPrivateKey(self.public, p, q)
        self.plaintexts = [int(text, 16) for text in load["plaintexts"]]
        self.left = [int(text, 16) for text in load["left"]]
        self.right = [int(text, 16) for text in load["right"]]
        self.scalars = load["scalars"]
        self.numbers = [EncryptedNumber(self.public, ciphertext) for ciphertext in self.left]

    def run(self, name, rows):
        """Runs an operation on the first `rows` rows, with the library's own integers as input and
        output, without encoding.
        """
        if name == "encrypt":
            return [self.public.raw_encrypt(plaintext) for plaintext in self.plaintexts[:rows]]
        if name == "decrypt":
            return [self.private.raw_decrypt(ciphertext) for ciphertext in self.left[:rows]]
        if name == "add":
            add = self.numbers[0]._raw_add
            return [add(left, right) for left, right in zip(self.left[:rows], self.right[:rows])]
        if name == "scale":
            return [number._raw_mul(scalar) for number, scalar in zip(self.numbers[:rows], self.scalars[:rows])]
        raise ValueError(name)


def answer(message):
    print(json.dumps(message), flush=True)


def main():
    answer({
        "versions": f"Python {platform.python_version()}, phe {phe.__version__}, gmpy2 {gmpy2.version()} ({gmpy2.mp_version()})"
    })
    session = None
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            session = Session(request["load"])
            answer({})
            continue
        start = time.perf_counter()
        for _ in range(request["repeats"]):
            output = session.run(request["run"], request["rows"])
        seconds = time.perf_counter() - start
        answer({"seconds": seconds, "output": [f"{number:x}" for number in output[:REPORTED]]})


if __name__ == "__main__":
    main()
