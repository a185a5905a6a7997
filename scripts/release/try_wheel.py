"""Tests an installed package, for a Python that runs under an emulator.

It imports the package, makes keys, encrypts, sums and decrypts, and checks known answers.

Usage: PYTHONPATH=FOLDER python try_wheel.py ROOT [EXTENSION], where FOLDER holds the unpacked wheel
and NumPy, ROOT is the repository, and EXTENSION the wheel's library for DuckDB.
"""

import ctypes
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np

import hearith as he
from hearith import phe

public, private = he.generate_keypair(512, insecure=True)
numbers = np.array([1500, -20, 7])
encrypted = public.encrypt(numbers)
assert private.decrypt((encrypted + encrypted * 3).sum()) == 5948
assert private.decrypt(encrypted).tolist() == numbers.tolist()
prices = public.encrypt([19.99, 5.25], scale=2)
assert str(private.decrypt(prices @ np.array([2, 10]))) == "92.48"

# DuckDB's extension, with every symbol resolved at once.
for extension in sys.argv[2:]:
    ctypes.CDLL(extension, os.RTLD_NOW)

# Known answers, computed by plain Python (crates/paillier/tests/vectors/generate.py).
vectors = json.loads((Path(sys.argv[1]) / "crates/paillier/tests/vectors/vectors.json").read_text())
count = 0
for key in vectors["keys"]:
    if key["kind"] == "random" and key["bits"] in (512, 1024, 2048):
        p, q = (int(key[prime], 16) for prime in "pq")
        known = phe.PaillierPrivateKey(phe.PaillierPublicKey(p * q), p, q)
        for answer in key["encryptions"]:
            assert known.raw_decrypt(int(answer["c"], 16)) == int(answer["m"], 16), (key["bits"], answer["m"])
            count += 1
assert count > 10, count

where = f"{platform.machine()}, Python {platform.python_version()}"
loaded = "; DuckDB's extension loads" if sys.argv[2:] else ""
print(f"{where}: numbers encrypted, summed and decrypted; {count} known answers{loaded}")
