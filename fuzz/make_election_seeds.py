"""Seeds for the fuzz target of elections: lines of the test vectors, each kind once."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "../verifier/tests/corpus"))

from cases import terms
from honest import lines_of

FOLDER = HERE / "../crates/election/tests/vectors"
VECTORS = json.loads((FOLDER / "election.json").read_text())
ONE_HOLDER = json.loads((FOLDER / "one_holder.json").read_text())
SEEDS = HERE / "seeds/election_line"


def write(name: str, what: int, line: str) -> None:
    """One seed."""
    (SEEDS / name).write_bytes(bytes([what]) + line.encode())


SEEDS.mkdir(parents=True, exist_ok=True)
kinds = set()
for text in VECTORS["record"] + ONE_HOLDER["record"]:
    kind = json.loads(text)["kind"]
    if kind not in kinds:
        kinds.add(kind)
        write(f"entry_{kind}", 0, text)
# What a manifest can say besides, and an entry that only such elections have.
besides = lines_of(terms().entries)
write("entry_terms", 0, besides[0])
write("entry_replace", 0, besides[3])
write("after_ballot", 5, VECTORS["record"][3])
write("after_open", 4, VECTORS["record"][2])
write("head", 1, VECTORS["heads"][0])
write("receipt", 2, json.dumps(VECTORS["receipt"], sort_keys=True, separators=(",", ":")))
entry = json.loads(VECTORS["record"][2])
notice = {part: entry[part] for part in ("body", "kind", "signature")}
write("notice", 3, json.dumps(notice, sort_keys=True, separators=(",", ":")))
