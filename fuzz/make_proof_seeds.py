"""Writes the seeds of proofs: good ones of several sets under the key in fuzz/key, by the other
implementation among the tests of hearith-proofs. Run by make_seeds.sh."""

import base64
import json
import pathlib
import sys

FUZZ = pathlib.Path(__file__).parent
sys.path.insert(0, str(FUZZ.parent / "crates/proofs/tests"))
import vectors

text = json.loads((FUZZ / "key/public.json").read_text())["n"]
vectors.N = int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
vectors.SQUARED = vectors.N**2
vectors.WIDTH = -(-vectors.N.bit_length() // 8)
# The generator of the target's key for short openings.
vectors.H = vectors.N - 9
vectors.BASE = pow(vectors.H, vectors.N, vectors.SQUARED)
SHORT = 128
CONTEXT = (b"fuzz", b"row")


def seed(name, sides, c, proof):
    folder = FUZZ / "seeds/proof"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(bytes([sides]) + vectors.wide(c) + proof)


r = vectors.unit()
seed("residue", 0, vectors.encrypt(0, r), vectors.residue(CONTEXT, vectors.encrypt(0, r), r))
seed("false_residue", 0, vectors.encrypt(1, r), vectors.residue(CONTEXT, vectors.encrypt(1, r), r))
for sides in (1, 2, 3):
    c = vectors.encrypt(sides - 1, r)
    seed(f"one_of_{sides}", sides, c, vectors.membership(CONTEXT, range(sides), c, r, sides - 1))
c = vectors.encrypt(2, r)
seed("neither", 2, c, vectors.membership(CONTEXT, range(2), c, r, 1))
a = 12345678901234567890
for name, members, m in [("fast_residue", [], 0), ("fast_one_of_3", range(3), 2), ("fast_neither", range(2), 2)]:
    c = (1 + m * vectors.N) * pow(vectors.BASE, a, vectors.SQUARED) % vectors.SQUARED
    seed(name, SHORT + len(members), c, vectors.fast(CONTEXT, list(members), c, a, max(len(members) - 1, 0)))
