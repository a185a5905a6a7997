#!/usr/bin/env python3
"""Wraps prose in Markdown at 100 characters: paragraphs and list items in which a line is longer.

    wrap_markdown.py FILE...

Tables, code, headings, HTML, comments and paragraphs with hard breaks stay as they are. Code spans,
links and numbers such as 65 536 are not broken where they fit on a line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WIDTH = 100
_ITEM = re.compile(r"^(\s*(?:[-*+]|\d+\.)\s+)\S")
#: Starts of lines that are not in a paragraph: headings, tables, quotes, HTML, definitions of
#: links.
_OTHER = re.compile(r"^\s*(#|\||>|<|\[[^\]]+\]:\s|```|~~~)")
#: Words that would start another element at the start of a line.
_MARKER = re.compile(r"^([-*+]|\d+[.)]|#+|>|=+|-+)$")
#: Code spans, links, and numbers in groups of three digits, which are kept whole up to this length.
_WHOLE = re.compile(r"`[^`]+`[^\s`]*|!?\[[^\]\[]*\]\([^)\s]*\)[^\s\[]*|(?<!\S)[(]?\d{1,3}(?: \d{3})+(?!\d)")
LONGEST_WHOLE = 60


@dataclass
class Prose:
    """A paragraph or list item: its lines, and the prefixes of the first and other lines."""

    start: int
    lines: list[str]
    first: str
    rest: str

    def is_too_long(self) -> bool:
        """Whether a line is too long and could be broken."""
        return any(len(line) > WIDTH and len(line[len(self.first) :].split()) > 1 for line in self.lines)

    def wrapped(self) -> list[str]:
        """Returns its lines, wrapped."""
        words = pieces(" ".join(line.strip() for line in [self.lines[0][len(self.first) :], *self.lines[1:]]))
        # A word that would start another element at the start of a line stays with the word before
        # it.
        joined = words[:1]
        for word in words[1:]:
            if _MARKER.match(word):
                joined[-1] += f" {word}"
            else:
                joined.append(word)
        out, line = [], self.first + joined[0]
        for word in joined[1:]:
            if len(line) + 1 + len(word) <= WIDTH:
                line += f" {word}"
            else:
                out.append(line)
                line = self.rest + word
        return [*out, line]


def pieces(text: str) -> list[str]:
    """Returns the words of a text; a code span, short link or number is one word."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if len(match[0]) > LONGEST_WHOLE:
            return match[0]
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    marked = _WHOLE.sub(keep, text)
    return [re.sub(r"\0(\d+)\0", lambda number: kept[int(number[1])], word) for word in marked.split()]


def prose(text: str) -> Iterator[Prose]:
    """Yields the paragraphs and list items of a page."""
    fence, current, in_list, comment = "", None, False, False
    for number, line in enumerate(text.split("\n")):
        begins = not fence and line.startswith("<!--")
        if comment or begins:
            if current:
                yield current
            current, comment = None, "-->" not in line
            continue
        mark = re.match(r"^\s*(```|~~~)", line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        if fence or mark or not line.strip() or _OTHER.match(line):
            if current:
                yield current
            current = None
            in_list = in_list and (fence != "" or mark is not None or not line.strip())
            continue
        item = _ITEM.match(line)
        if item or current is None:
            if current:
                yield current
            indent = re.match(r"\s*", line)[0]  # type: ignore[index]
            code = len(indent) >= 4 and not in_list and not item
            in_list = bool(item) or (in_list and indent != "")
            first = item[1] if item else indent
            current = None if code else Prose(number, [line], first, " " * len(first))
        else:
            current.lines.append(line)
    if current:
        yield current


def long_lines(text: str) -> Iterator[int]:
    """Yields the numbers, from 1, of lines of prose that are too long and could be broken."""
    for part in prose(text):
        for place, line in enumerate(part.lines):
            if len(line) > WIDTH and part.is_too_long():
                yield part.start + place + 1


def wrap(text: str) -> str:
    """Returns a page with its long paragraphs wrapped."""
    lines = text.split("\n")
    for part in reversed(list(prose(text))):
        hard = any(line.endswith(("  ", "\\")) for line in part.lines[:-1])
        if part.is_too_long() and not hard:
            lines[part.start : part.start + len(part.lines)] = part.wrapped()
    return "\n".join(lines)


def main() -> None:
    """Wraps the files that are named."""
    for name in sys.argv[1:]:
        path = Path(name)
        text = path.read_text()
        if wrap(text) != text:
            path.write_text(wrap(text))


if __name__ == "__main__":
    main()
