#!/usr/bin/env python3
"""Generates the tables of characters that names of elections may have
(verifier/README.md), for the three verifiers.

    scripts/name_tables.py [--check]

The tables are for Unicode 14.0.0. If Python's data has another version, the script says so and
exits. With --check it writes nothing, and the exit status is 1 if a table differs. A table is one
line of base-36 numbers: the lengths of alternating runs of code points outside and inside the set,
from U+0000. `nfkc` is the SHA-256 of the NFKC forms of all allowed characters, separated by
newlines: each language has its own normalisation, and they must agree.
"""

import argparse
import hashlib
import sys
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parents[1]
VERSION = "14.0.0"
#: Neither controls nor formats, but invisible: code points with Default_Ignorable_Code_Point, and
#: the blank Braille pattern.
INVISIBLE = [
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180D), (0x180F, 0x180F), (0x2800, 0x2800),
    (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),
]  # fmt: skip
REFUSED = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def is_allowed(code: int) -> bool:
    """Whether a name may contain a character at any position."""
    invisible = any(first <= code <= last for first, last in INVISIBLE)
    return unicodedata.category(chr(code)) not in REFUSED and not invisible


def is_joined(code: int) -> bool:
    """Whether joiners may be next to a character: letters and marks."""
    return is_allowed(code) and unicodedata.category(chr(code))[0] in "LM"


def base36(number: int) -> str:
    """Returns a number in base 36."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    return digits


def runs(contains: Callable[[int], bool]) -> str:
    """Returns a set of code points as the lengths of its runs."""

    def lengths() -> Iterator[int]:
        for _, run in groupby(range(sys.maxunicode + 1), contains):
            yield len(list(run))

    return " ".join(map(base36, lengths()))


def tables() -> dict[str, str]:
    """Returns the tables by name."""
    assert not is_allowed(0), "the first run is of code points that are not in the set"
    every = "\n".join(
        unicodedata.normalize("NFKC", chr(code)) for code in range(sys.maxunicode + 1) if is_allowed(code)
    )
    return {
        "allowed": runs(is_allowed),
        "joined": runs(is_joined),
        "nfkc": hashlib.sha256(every.encode()).hexdigest(),
    }


def python(made: dict[str, str], path: Path) -> str:
    """Returns the Python verifier with the tables between its two markers."""

    def literal(name: str) -> str:
        lines = "".join(f'    "{line} "\n' for line in wrap(made[name], 100))
        return f"{name.upper()} = (\n{lines})\n"

    before, rest = path.read_text().split("# Tables by scripts/name_tables.py\n")
    _, after = rest.split("# End of the tables\n")
    parts = [f'NFKC_DIGEST = "{made["nfkc"]}"\n', literal("allowed"), literal("joined")]
    return f"{before}# Tables by scripts/name_tables.py\n{''.join(parts)}# End of the tables\n{after}"


def typescript(made: dict[str, str]) -> str:
    """Returns the tables as a TypeScript module."""
    digest = f'export const NFKC = "{made["nfkc"]}";\n'
    long = "".join(f'export const {name.upper()} =\n  "{made[name]}";\n' for name in ("allowed", "joined"))
    return (
        f"/** Characters of names: tables of Unicode {VERSION}, written by scripts/name_tables.py. */\n\n{long}{digest}"
    )


def main() -> int:
    """Writes or compares the tables."""
    parser = argparse.ArgumentParser(description="Generate the tables of characters that names of elections may have.")
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    check = parser.parse_args().check
    if unicodedata.unidata_version != VERSION:
        print(f"name_tables: this Python has Unicode {unicodedata.unidata_version}, not {VERSION}: nothing was done")
        return 0 if check else 1
    made = tables()
    verifier = ROOT / "verifier" / "hearith_verify.py"
    files = {
        ROOT / "crates/election/src/names.tables": "".join(f"{name} {made[name]}\n" for name in made),
        ROOT / "web/src/protocol/nameTables.ts": typescript(made),
        verifier: python(made, verifier),
    }
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"name_tables: {path.relative_to(ROOT)} is out of date: run scripts/name_tables.py", file=sys.stderr)
        else:
            path.write_text(files[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
