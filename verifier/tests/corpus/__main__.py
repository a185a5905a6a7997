"""Writes the corpus of manipulated records: python3 verifier/tests/corpus FOLDER [--random COUNT
--seed SEED]

FOLDER/cases.json lists the records: each has a folder, its family and name, whether short keys are
taken, and the check that must fail first, null where none must. With --random they are mutations
whose check is the second verifier's word.
"""

import argparse
import json
from pathlib import Path

from cases import Case
from manipulations import cases
from mutations import mutations


def write(folder: Path, number: int, case: Case) -> dict[str, object]:
    place = folder / f"{number:04}"
    for name, data in case.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    place.mkdir(exist_ok=True)
    return {
        "check": case.check,
        "family": case.family,
        "folder": place.name,
        "insecure": case.insecure,
        "name": case.name,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Write manipulated records of elections.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, metavar="COUNT", help="so many random mutations in place of the corpus")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    made = cases() if arguments.random is None else mutations(arguments.random, arguments.seed)
    listed = [write(arguments.folder, number, case) for number, case in enumerate(made)]
    (arguments.folder / "cases.json").write_text(json.dumps(listed, indent=1))


if __name__ == "__main__":
    main()
