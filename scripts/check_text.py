#!/usr/bin/env python3
"""What holds of the text of every tracked file: citations are in the bibliography, and no link leads to a package registry.

A citation is a key in square brackets, such as [Orup95]: letters, then the year's last two digits, perhaps a letter (in Rust's
documentation with backslashes before the brackets, which would make a link otherwise). docs/bibliography.md has an entry for every key that
is used, and no other: a line that begins with the key in brackets and two asterisks on each side.

Usage: check_text.py [ROOT]
"""

import re
import subprocess
import sys
from pathlib import Path

BIBLIOGRAPHY = "docs/bibliography.md"
CITATION = re.compile(r"\\?\[([A-Z][A-Za-z]*[0-9]{2,4}[a-z]?)\\?\](?!\()")
ENTRY = re.compile(r"^\*\*\[([A-Za-z0-9]+)\]\*\*", re.MULTILINE)
#: In two parts, so that this file names none.
HOSTS = [
    ("pypi.", "org"),
    ("pythonhosted.", "org"),
    ("crates.", "io"),
    ("docs.", "rs/"),
    ("lib.", "rs/"),
    ("npmjs.", "com"),
    ("npmjs.", "org"),
    ("proxy.golang.", "org"),
    ("repo.maven.", "apache.org"),
    ("deb.debian.", "org"),
    ("static.rust-lang.", "org"),
]
REGISTRY = re.compile("|".join(re.escape(first + second) for first, second in HOSTS))
#: Cargo itself writes the index's address there.
GENERATED = {"Cargo.lock"}
#: Inputs of other programs, whose text is not this project's.
FOREIGN = ("fuzz/seeds/", "data/", "bench/results/")
#: Where text is in comments alone.
LINE = re.compile(r"//.*")
#: Of TypeScript, whose documentation is in blocks, a line of one as well.
BLOCK = re.compile(r"//.*|^\s*/?\*.*")
CODE = {".rs": LINE, ".sv": LINE, ".c": LINE, ".cpp": LINE, ".ts": BLOCK, ".tsx": BLOCK, ".js": BLOCK}
SOURCES = {*CODE, ".md", ".py", ".sh", ".toml", ".yml", ".core", ".in", ".txt", ""}


def tracked(root):
    """The texts of all tracked files, by their paths."""
    names = (
        subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, stdout=subprocess.PIPE)
        .stdout.decode()
        .split("\0")
    )
    for name in filter(None, names):
        path = root / name
        if path.suffix in SOURCES and path.is_file() and path.name not in GENERATED:
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def lines(text, pattern):
    """Each match of a pattern with the number of its line."""
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match


def faults(root):
    """Yields one line for each fault."""
    texts = dict(tracked(root))
    entries = ENTRY.findall(texts.get(BIBLIOGRAPHY, ""))
    for key in sorted({key for key in entries if entries.count(key) > 1}):
        yield f"{BIBLIOGRAPHY}: [{key}] has several entries"
    used = set()
    for name, text in texts.items():
        for line, match in lines(text, REGISTRY):
            yield f"{name}:{line}: names a package registry, {match[0]}; link to the project's own page"
        if name == BIBLIOGRAPHY or name.startswith((*FOREIGN, "scripts/")):
            continue
        if Path(name).suffix in CODE:
            comment = CODE[Path(name).suffix]
            text = "\n".join((comment.search(line) or [""])[0] for line in text.split("\n"))
        for line, match in lines(text, CITATION):
            used.add(match[1])
            if match[1] not in entries:
                yield f"{name}:{line}: [{match[1]}] is not in {BIBLIOGRAPHY}"
    for key in entries:
        if key not in used:
            yield f"{BIBLIOGRAPHY}: nothing cites [{key}]"


def main():
    """Prints the faults, or that there are none."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = list(faults(root))
    for fault in found:
        print(f"text: {fault}", file=sys.stderr)
    if found:
        sys.exit(1)
    print("text: every citation is in the bibliography, no link leads to a package registry")


if __name__ == "__main__":
    main()
