"""Writes the seeds of shared keys: the files and shares among the tests of hearith-threshold, right
ones and one wrong. Run by make_seeds.sh.
"""

import pathlib

FUZZ = pathlib.Path(__file__).parent
SEEDS = FUZZ / "seeds/share"
LINES = [line.split(" ") for line in (FUZZ.parent / "crates/threshold/tests/vectors.txt").read_text().splitlines()]

SEEDS.mkdir(exist_ok=True)
(SEEDS / "verification").write_bytes(b"\0" + LINES[0][1].encode())
(SEEDS / "trustee").write_bytes(b"\1" + LINES[2][2].encode())
for line in LINES[7:9]:
    (SEEDS / f"share_{line[1]}").write_bytes(bytes([int(line[1]) + 1]) + bytes.fromhex(line[2]))
(SEEDS / "of_another").write_bytes(bytes([4]) + bytes.fromhex(LINES[7][2]))
