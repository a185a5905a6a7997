"""Writes README's table of comparisons from the tables in bench/results.

    python docs/site/comparisons.py [--check]

The table is between two comments in README.md. `--check` fails if it differs from the results, and
writes nothing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tables import number, table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- comparisons: docs/site/comparisons.py -->\n", "<!-- end of comparisons -->\n"


def cell(page: str, heading: str, column: str, **where: str) -> float:
    """Returns the number in a column of the only row with these cells; `_` represents a space in
    column names.

    Raises:
        KeyError: there is no such table, or not exactly one such row.
    """
    found = table(RESULTS / page, heading, column)
    wanted = {name.replace("_", " "): text for name, text in where.items()}
    rows = [
        place
        for place, _ in enumerate(found.rows)
        if all(found.column(name)[place] == text for name, text in wanted.items())
    ]
    if len(rows) != 1 or (value := number(found.column(column)[rows[0]])) is None:
        raise KeyError(f"{page}: {len(rows)} rows under {heading} have {wanted}")
    return value


def seconds(which: str, column: str) -> float:
    """Returns the seconds of a scheme from bench/results/columns.md."""
    found = table(RESULTS / "columns.md", "One column, every scheme", column)
    names = [row[0] for row in found.rows]
    return number(found.column(column)[[name.startswith(which) for name in names].index(True)]) or 0


def shown(page: str, **where: str) -> float:
    """Returns a ratio from a page's table "Goals"."""
    return cell(page, "Goals", "measured", **where)


def rows() -> list[tuple[str, str, float, str]]:
    """Returns the operation, the peer, the ratio, and the source page of each comparison."""
    add, encrypt = "sum, s", "encrypt, s"
    decrypt, djn = "decrypt, dual (default)", "encrypt, DJN"
    ours, theirs = "Hearith, `bfv`, public", "TenSEAL"
    return [
        (
            "Decrypt, Paillier, 2048 bits, AVX-512",
            "python-paillier with gmpy2",
            shown("paillier.md", operation=decrypt, bits="2048", library="hearith (ifma)", compared_with="phe"),
            "paillier.md",
        ),
        (
            "Encrypt, Paillier (DJN), 2048 bits, AVX-512",
            "python-paillier with gmpy2",
            shown("paillier.md", operation=djn, bits="2048", library="hearith (ifma)", compared_with="phe"),
            "paillier.md",
        ),
        (
            "Decrypt, Paillier, 2048 bits, AVX2",
            "GMP, variable time",
            shown("everywhere.md", operation=decrypt, bits="2048", compared_with="GMP mpz_powm"),
            "everywhere.md",
        ),
        (
            "Encrypt, Paillier (DJN), 2048 bits, AVX2",
            "SecretFlow HEU",
            shown("everywhere.md", operation=djn, bits="2048", compared_with="HEU ZPaillier"),
            "everywhere.md",
        ),
        (
            "Sum a column of 10^6 numbers by groups, BFV",
            "TenSEAL",
            seconds(theirs, add) / seconds(ours, add),
            "columns.md",
        ),
        (
            "Encrypt a column of 10^6 numbers, BFV",
            "TenSEAL",
            seconds(theirs, encrypt) / seconds(ours, encrypt),
            "columns.md",
        ),
        ("Multiply integers of 10^6 bits", "FLINT", cell("ntt.md", "Products", "x FLINT", bits="1 million"), "ntt.md"),
        (
            "Convert 1440-bit integers to residues",
            "NTL",
            shown(
                "rns-software.md",
                numbers="1440 bits, 48 primes",
                way="numbers to residues",
                library="hearith (ifma)",
                compared_with="NTL",
            ),
            "rns-software.md",
        ),
        (
            "Verify a batch of 64 ballot proofs",
            "zk-paillier",
            cell(
                "zk-paillier.md", "Proofs compared with zk-paillier", "x zk-paillier", **{"": "verify, a batch of 64"}
            ),
            "zk-paillier.md",
        ),
    ]


def written() -> str:
    """Returns the table in Markdown."""
    lines = ["| operation | compared with | times as fast |\n", "| --- | --- | ---: |\n"]
    lines += [
        f"| {what} | {beside} | [{ratio:.1f}](bench/results/{page}) |\n"
        if ratio < 20
        else f"| {what} | {beside} | [{ratio:.0f}](bench/results/{page}) |\n"
        for what, beside, ratio, page in rows()
    ]
    return "".join(lines)


def main() -> None:
    """Writes or checks the table."""
    text = README.read_text()
    between = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)
    if not between.search(text):
        sys.exit("README.md has no place for the comparisons")
    current = between.sub(lambda _: BEGIN + "\n" + written() + "\n" + END, text)
    if sys.argv[1:] != ["--check"]:
        README.write_text(current)
    elif current != text:
        sys.exit("README.md: the comparisons differ from bench/results (run docs/site/comparisons.py)")


if __name__ == "__main__":
    main()
