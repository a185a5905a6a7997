#!/usr/bin/env python3
"""Checks the text of every tracked file.

Citations must be in the bibliography, pages that are named must exist, no link may lead to a
package registry, and lines of Markdown must have at most 100 characters.

A citation is a key in square brackets, such as [Orup95]: letters, then the year's last two digits,
then an optional letter. Rust documentation escapes the brackets with backslashes, which prevents a
link. docs/reference/bibliography.md has an entry for every cited key and for no other: a line that
begins with the key in brackets and two asterisks on each side.

A page is named in any file by its path from the repository root, such as docs/reference/limits.md.
Tables, code and lines that cannot be broken may be longer; scripts/wrap_markdown.py breaks the
other lines.

Usage: check_text.py [ROOT]
"""

import re
import subprocess
import sys
from pathlib import Path

import wrap_comments
import wrap_markdown

BIBLIOGRAPHY = "docs/reference/bibliography.md"
CITATION = re.compile(r"\\?\[([A-Z][A-Za-z]*[0-9]{2,4}[a-z]?)\\?\](?!\()")
ENTRY = re.compile(r"^\*\*\[([A-Za-z0-9]+)\]\*\*", re.MULTILINE)
#: Split in two, so that this file itself names no registry.
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
#: A page of the documentation, by its path from the repository root.
PAGE = re.compile(r"\bdocs/(?:[\w-]+/)*[\w-]+\.md\b")
#: Comments that Verilator or a synthesiser takes for a directive, which it may not know.
DIRECTIVE = re.compile(r"//[ \t]*([Vv]erilator|[Ss]ynopsys|[Ss]ynthesis)\b(?! lint_o| translate_o)")
#: Files that may name missing pages: redirects of former addresses, and fixtures of tests.
ELSEWHERE = ("docs/site/mkdocs.yml", "scripts/tests/")
#: Cargo itself writes the registry's address into this file.
GENERATED = {"Cargo.lock"}
#: Inputs of other programs, whose text is not this project's.
THIRD_PARTY_TEXT = ("fuzz/seeds/", "data/", "bench/results/")
#: Generated pages, whose paragraphs are not wrapped.
WRITTEN = (*THIRD_PARTY_TEXT, "docs/reference/registers.md", "docs/reference/command-line-options.md")
#: Suffixes of files whose comment lines are checked for their length.
COMMENTS = {".rs", ".py", ".sv", ".svh"}
#: Languages whose prose is only in line comments.
LINE = re.compile(r"//.*")
#: JavaScript and TypeScript also have documentation in block comments.
BLOCK = re.compile(r"//.*|^\s*/?\*.*")
CODE = {".rs": LINE, ".sv": LINE, ".c": LINE, ".cpp": LINE, ".ts": BLOCK, ".tsx": BLOCK, ".js": BLOCK}
SOURCES = {*CODE, ".md", ".py", ".sh", ".toml", ".yml", ".core", ".in", ".txt", ""}


def tracked(root):
    """Yields the path and text of each tracked text file."""
    names = (
        subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, stdout=subprocess.PIPE)
        .stdout.decode()
        .split("\0")
    )
    for name in filter(None, names):
        path = root / name
        if path.is_file() and path.name not in GENERATED:
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def lines(text, pattern):
    """Yields the line number and match of each occurrence of a pattern."""
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match


def missing_pages(root, name, text):
    """Yields one line for each page that a text names and that does not exist."""
    if not name.startswith(ELSEWHERE):
        for line, match in lines(text, PAGE):
            if not (root / match[0]).is_file():
                yield f"{name}:{line}: names {match[0]}, which is not there"


def long_lines(name, text):
    """Yields one line for each overlong line of Markdown or of checked comments."""
    if name.endswith(".md") and not name.startswith(WRITTEN):
        for line in wrap_markdown.long_lines(text):
            yield f"{name}:{line}: longer than {wrap_markdown.WIDTH} characters: run scripts/wrap_markdown.py {name}"
    if name.endswith(tuple(COMMENTS)) and not name.startswith((*WRITTEN, *wrap_comments.GENERATED)):
        for line in wrap_comments.long_lines(text, Path(name).suffix):
            yield f"{name}:{line}: a comment is longer than {wrap_comments.WIDTH} characters: run scripts/wrap_comments.py {name}"


def mistaken_directives(name, text):
    """Yields one line for each comment of SystemVerilog that a tool takes for a directive."""
    if name.endswith((".sv", ".svh")):
        for line, match in lines(text, DIRECTIVE):
            yield f"{name}:{line}: a comment that begins with {match[1]} is a directive: put another word first"


def violations(root):
    """Yields one line for each fault."""
    texts = dict(tracked(root))
    entries = ENTRY.findall(texts.get(BIBLIOGRAPHY, ""))
    for key in sorted({key for key in entries if entries.count(key) > 1}):
        yield f"{BIBLIOGRAPHY}: [{key}] has several entries"
    used = set()
    for name, text in texts.items():
        yield from missing_pages(root, name, text)
        yield from long_lines(name, text)
        yield from mistaken_directives(name, text)
        if Path(name).suffix not in SOURCES:
            continue
        for line, match in lines(text, REGISTRY):
            yield f"{name}:{line}: names a package registry, {match[0]}; link to the project's own page"
        if name == BIBLIOGRAPHY or name.startswith((*THIRD_PARTY_TEXT, "scripts/")):
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
    """Prints the violations, or that there are none."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = list(violations(root))
    for fault in found:
        print(f"text: {fault}", file=sys.stderr)
    if found:
        sys.exit(1)
    print(
        "text: every citation is in the bibliography, every page that is named exists, no link leads to a package registry"
    )


if __name__ == "__main__":
    main()
