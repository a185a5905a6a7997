#!/usr/bin/env python3
"""Wraps comments and docstrings longer than 100 characters in Rust, Python and SystemVerilog.

    wrap_comments.py FILE...            wraps files in place
    wrap_comments.py --all .rs .sv      wraps all tracked files with these endings
    wrap_comments.py --check FILE...    prints the files that it would change; status 1 if there are any
    wrap_comments.py --left FILE...     prints long lines of comments that it leaves: formulas, tables, URLs
    wrap_comments.py --prove REVISION   compares every tracked file with that revision

Paragraphs and list items that contain an overlong line are rewrapped. Everything else stays as it
is: other paragraphs, code fences, tables, headings, doctests, indented formulas, aligned columns,
and comments for tools (`noqa`, `verilator`). A comment behind code that makes its line too long
moves above it.

Only comments change. Before it writes a file, the script compares `signature` of the old and the
new text: the tokens of the code, and the words of comments and docstrings in order. Rust's
documentation comments count as tokens, because they belong to the item that follows. If the
signatures differ, it reports an error and does not write the file.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import wrap_markdown

WIDTH = 100
ROOT = Path(__file__).resolve().parents[1]
PYTHON = ".py"
RUST = ".rs"
VERILOG = (".sv", ".svh", ".v")
ENDINGS = (RUST, PYTHON, *VERILOG)
#: Generated files, whose comments are not wrapped.
GENERATED = (
    "rtl/ip/",
    "rtl/lib/accelerator_pkg.sv",
    "boards/self_test/self_test_program.sv",
    "crates/device/src/registers.rs",
)
#: Comments for tools, which stay where they are.
_PRAGMA = re.compile(
    r"\b(noqa|pylint|pragma|SPDX)\b|^\s*(type|pyright|mypy|ruff|fmt|isort|yapf|shellcheck|verilator|verible|synthesis|"
    r"yosys|pylint|rustfmt|clippy|cspell|codespell)\b[ :_-]|^!"
)
_ITEM = re.compile(r"(\s*(?:[-*+]|\d+[.)])\s+)\S")
_STAYS = re.compile(r"\s*(\||#+ |\[[^\]]+\]:\s|>>> |\.\.\. |@)")
_FENCE = re.compile(r"\s*(```|~~~)")
_MARKER = re.compile(r"^([-*+]|\d+[.)]|#+|>|=+|-+|\|.*)$")
#: Aligned columns, and drawings.
_ALIGNED = re.compile(r"\S {3,}\S|[─│┌┐└┘├┤┬┴┼]|-->|<--")
_RULE = re.compile(r"^.* -{20,}$|^-{20,}$")
_SECTION = re.compile(r"^(Args|Arguments|Attributes|Raises|Returns|Yields|Parameters|Options|Environment):$")
_ENTRY = re.compile(r"^[\w*`][\w*`., \[\]]*: \S")


# ---- paragraphs


def indent(line: str) -> int:
    """Returns the number of spaces at the start of a line."""
    return len(line) - len(line.lstrip(" "))


@dataclass
class Part:
    """Lines that are wrapped together, with the prefixes of the first and other lines, or lines
    that stay.
    """

    lines: list[str]
    first: str = ""
    rest: str = ""
    stays: bool = False

    def wrapped(self, width: int) -> list[str]:
        """Returns its lines, none longer than `width` if a space allows it."""
        rules = [_RULE.match(line) for line in self.lines]
        if any(rules) and any(len(line) > width for line in self.lines):
            return [line[:width].rstrip() if rule else line for line, rule in zip(self.lines, rules, strict=True)]
        if self.stays or all(len(line) <= width for line in self.lines):
            return self.lines
        words = wrap_markdown.pieces(
            " ".join(line.strip() for line in [self.lines[0][len(self.first) :], *self.lines[1:]])
        )
        joined = words[:1]
        for word in words[1:]:
            # A word that would start another element at the start of a line stays with the word
            # before it.
            if _MARKER.match(word):
                joined[-1] += f" {word}"
            else:
                joined.append(word)
        out, line = [], self.first + joined[0]
        for word in joined[1:]:
            if len(line) + 1 + len(word) <= width:
                line += f" {word}"
            else:
                out.append(line)
                line = self.rest + word
        return [*out, line]


def parts(lines: list[str], *, hanging: bool = False) -> Iterator[Part]:
    """Yields the paragraphs of a comment's text; `hanging` is for docstrings, whose entries (`name:
    what it is`) have hanging indents.
    """
    fence, doctest, section = False, False, False
    current: Part | None = None
    for line in lines:
        bare = line.strip()
        is_fence = bool(_FENCE.match(line))
        doctest = bare.startswith(">>> ") or (doctest and bool(bare))
        if fence or is_fence or doctest or not bare or _STAYS.match(line) or _RULE.match(bare):
            if current:
                yield current
            current = None
            fence ^= is_fence
            yield Part([line], stays=True)
            continue
        item = _ITEM.match(line)
        if hanging and _SECTION.match(bare):
            section = True
        entry = hanging and section and not item and bool(_ENTRY.match(bare)) and indent(line) > 0
        if current and not item:
            begins = indent(line) == indent(current.lines[0]) and entry
            if indent(line) == len(current.rest) and not begins:
                current.lines.append(line)
                continue
        if current:
            yield current
        if item:
            current = Part([line], item[1], " " * len(item[1]))
        else:
            first = " " * indent(line)
            deeper = indent(line) > 0 and not hanging
            current = Part([line], first, f"{first}    " if entry else first, stays=deeper)
        if _SECTION.match(bare):
            current.stays = True
    if current:
        yield current


def wrapped(lines: list[str], width: int, *, hanging: bool = False) -> list[str]:
    """Returns the text of a comment with its long paragraphs wrapped."""
    out: list[str] = []
    for part in parts(lines, hanging=hanging):
        if any(_ALIGNED.search(line.strip()) for line in part.lines):
            part.stays = True
        out += part.wrapped(width)
    return out


# ---- lexing


@dataclass
class Comment:
    """A comment in a text: its start, end and marker, such as `//` or `#`."""

    start: int
    end: int
    marker: str


_RUST = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*)
      | (?P<raw>\b[bc]?r(?P<hashes>\#*)"(?s:.*?)"(?P=hashes))
      | (?P<string>\b[bc]"(?:\\(?s:.)|[^"\\])*"|"(?:\\(?s:.)|[^"\\])*")
      | (?P<char>b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.)|[^\\'\n])')
      | (?P<word>'?[A-Za-z0-9_$]+)
      | (?P<space>\s+)
      | (?P<other>(?s:.))""",
    re.VERBOSE,
)
_SYSTEMVERILOG = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*)
      | (?P<string>"(?:\\(?s:.)|[^"\\])*")
      | (?P<word>[`]?[A-Za-z0-9_$]+)
      | (?P<newline>\n)
      | (?P<space>[^\S\n]+)
      | (?P<other>(?s:.))""",
    re.VERBOSE,
)


def _block_end(text: str, start: int, *, nested: bool) -> int:
    """Returns the end of the block comment that begins at `start`."""
    depth, at = 1, start + 2
    while depth:
        mark = re.compile(r"/\*|\*/").search(text, at)
        if mark is None:
            raise ValueError("a block comment does not end")
        if mark[0] == "*/":
            depth -= 1
        elif nested:
            depth += 1
        at = mark.end()
    return at


def lexed(text: str, ending: str) -> Iterator[tuple[str, str, int]]:
    """Yields the tokens, comments and spaces of a Rust or SystemVerilog text: kind, text,
    position.
    """
    pattern, at = (_RUST if ending == RUST else _SYSTEMVERILOG), 0
    while at < len(text):
        match = pattern.match(text, at)
        assert match is not None
        kind, end = str(match.lastgroup), match.end()
        if match["block"]:
            kind, end = "block", _block_end(text, at, nested=ending == RUST)
        elif kind == "hashes" or (ending == RUST and match["raw"]):
            kind = "string"
        yield kind, text[at:end], at
        at = end


def comments(text: str, ending: str) -> list[Comment]:
    """Returns all line comments of a text, in order."""
    found = []
    if ending == PYTHON:
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                start = starts[token.start[0] - 1] + token.start[1]
                marker = "#:" if token.string.startswith("#:") else "#"
                found.append(Comment(start, start + len(token.string), marker))
        return found
    for kind, token, start in lexed(text, ending):
        if kind == "line":
            marker = re.match(r"//[/!]?", token)
            assert marker is not None
            # Four slashes do not start documentation.
            documents = ending == RUST and len(marker[0]) == 3 and not token.startswith("////")
            found.append(Comment(start, start + len(token), marker[0] if documents else "//"))
    return found


def docstrings(text: str) -> list[tuple[int, int]]:
    """Returns the first and last line numbers, from 1, of strings that are statements."""
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]


# ---- the proof


def _words(text: str) -> list[str]:
    """Returns the words of a comment, without rules of dashes, which may be shortened."""
    return [word for word in text.split() if not re.fullmatch(r"-{5,}", word)]


def _python(text: str) -> tuple[list[object], list[str]]:
    tokens: list[object] = []
    words: list[str] = []
    places = {first for first, _ in docstrings(text)}
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            words += _words(token.string.lstrip("#:"))
        elif token.type == tokenize.STRING and begins and token.start[0] in places:
            tokens.append(("documentation", tuple(ast.literal_eval(token.string).split())))
            begins = False
        elif token.type != tokenize.NL:
            structure = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            begins = token.type in structure
            tokens.append((token.type, "" if token.type in structure else token.string))
    return tokens, words


def _curly(text: str, ending: str) -> tuple[list[object], list[str]]:
    tokens: list[object] = []
    words: list[str] = []
    directive, joint = False, False
    for kind, token, _ in lexed(text, ending):
        if kind == "line":
            marker = re.match(r"///(?!/)|//!|//", token)
            assert marker is not None
            said = _words(token[len(marker[0]) :])
            if ending == RUST and len(marker[0]) == 3:
                if tokens and isinstance(tokens[-1], list) and tokens[-1][0] == marker[0]:
                    tokens[-1] += said
                else:
                    tokens.append([marker[0], *said])
            else:
                words += said
        elif kind == "block":
            tokens.append((kind, tuple(token.split())))
        elif kind == "newline" and directive and (not tokens or tokens[-1] != ("other", "\\", False)):
            tokens.append(("end of directive",))
            directive = False
        elif kind in ("word", "string", "char", "other"):
            # `>>` and `> >` are different tokens.
            tokens.append((kind, token, joint and kind == "other"))
            directive |= kind == "word" and token.startswith("`")
        joint = kind == "other"
    return tokens, words


def signature(text: str, ending: str) -> tuple[list[object], list[str]]:
    """Returns the tokens of a text, including its documentation, and the words of its comments.

    Two texts with equal signatures differ only in white space and in the line breaks of comments.
    """
    return _python(text) if ending == PYTHON else _curly(text, ending)


# ---- wrapping


def _text(line: str, marker: str) -> str:
    """Returns a comment's line without its marker and the space after it."""
    return line[len(marker) :].removeprefix(" ").rstrip()


def _line(prefix: str, text: str) -> str:
    return f"{prefix} {text}".rstrip()


def _own_lines(text: str, ending: str) -> str:
    """Wraps the comments that have lines of their own."""
    found = {text.count("\n", 0, each.start): each for each in comments(text, ending)}
    lines = text.split("\n")
    out: list[str] = []
    number = 0
    while number < len(lines):
        comment = found.get(number)
        if comment is None or lines[number].strip() != text[comment.start : comment.end].strip():
            out.append(lines[number])
            number += 1
            continue
        prefix = lines[number][: indent(lines[number])] + comment.marker
        group: list[str] = []
        while number < len(lines):
            other = found.get(number)
            line = lines[number]
            alone = other is not None and line.strip() == text[other.start : other.end].strip()
            if not alone or other is None or line[: indent(line)] + other.marker != prefix:
                break
            body = _text(line.lstrip(" "), comment.marker)
            if _PRAGMA.search(body) or line.endswith("\\"):
                break
            group.append(body)
            number += 1
        if not group:
            out.append(lines[number])
            number += 1
            continue
        out += [_line(prefix, each) for each in wrapped(group, WIDTH - len(prefix) - 1)]
    return "\n".join(out)


def _behind_code(text: str, ending: str) -> str:
    """Moves comments that make lines of code too long above them."""
    by_line: dict[int, list[Comment]] = {}
    for each in comments(text, ending):
        by_line.setdefault(text.count("\n", 0, each.start), []).append(each)
    lines = text.split("\n")
    strings = (
        {number for first, last in docstrings(text) for number in range(first - 1, last)} if ending == PYTHON else set()
    )
    out: list[str] = []
    skipped: set[int] = set()
    start = 0
    for number, line in enumerate(lines):
        place, start = start, start + len(line) + 1
        if number in skipped:
            continue
        own = by_line.get(number, [])
        stays = len(line) <= WIDTH or len(own) != 1 or number in strings or line.endswith("\\") or "/*" in line
        code = "" if stays else line[: own[0].start - place].rstrip()
        before = out[-1].rstrip() if out else ""
        body = "" if stays else _text(line[own[0].start - place :], own[0].marker)
        if stays or not code.strip() or _PRAGMA.search(body) or before.endswith("\\"):
            out.append(line)
            continue
        # Comments on the next lines in the same column continue this one.
        column = own[0].start - place
        said = [body]
        for below in range(number + 1, len(lines)):
            further = by_line.get(below, [])
            if (
                len(further) != 1
                or indent(lines[below]) != column
                or not lines[below].strip().startswith(own[0].marker)
            ):
                break
            said.append(_text(lines[below].lstrip(" "), own[0].marker))
            skipped.add(below)
        prefix = f"{code[: indent(code)]}{own[0].marker}"
        out += [_line(prefix, each) for each in wrapped(said, WIDTH - len(prefix) - 1)]
        out.append(code)
    return "\n".join(out)


def _docstrings(text: str) -> str:
    """Wraps the docstrings of a Python text."""
    lines = text.split("\n")
    for first, last in sorted(docstrings(text), reverse=True):
        block = lines[first - 1 : last]
        if all(len(line) <= WIDTH for line in block) or any(line.endswith("\\") for line in block):
            continue
        base = indent(block[0])
        opening = re.match(r"""\s*[rR]?(?:\"\"\"|''')""", block[0])
        if opening is None or block[0][base:].startswith(("r'", "R'")):
            continue
        # The quotes shorten the first line, which otherwise counts as a line at the docstring's
        # indent.
        lead = len(opening[0]) - base
        quotes = opening[0][-3:]
        closing = block[-1].rstrip().endswith(quotes) and len(block[-1].strip()) > len(quotes)
        body = [
            block[0][len(opening[0]) :],
            *(line[base:] if line[:base].isspace() else line.lstrip() for line in block[1:]),
        ]
        if base == 0:
            body = [block[0][len(opening[0]) :], *block[1:]]
        tail = quotes
        if closing or len(block) == 1:
            body[-1] = body[-1].rstrip().removesuffix(quotes)
        else:
            body.pop()
            tail = f"\n{' ' * base}{quotes}"
        # The first line is shorter by its quotes.
        head, rest = _summary(body, WIDTH - base, lead, tail_length=3 if tail == quotes else 0)
        done = [*head, *wrapped(rest, WIDTH - base, hanging=True)]
        if tail == quotes and len(done) > 1 and (len(block) == 1 or base + len(done[-1]) + len(quotes) > WIDTH):
            tail = f"\n{' ' * base}{quotes}"
        made = [f"{opening[0]}{done[0]}", *(f"{' ' * base}{line}".rstrip() for line in done[1:])]
        lines[first - 1 : last] = ("\n".join(made) + tail).split("\n")
    return "\n".join(lines)


def _summary(body: list[str], width: int, lead: int, *, tail_length: int) -> tuple[list[str], list[str]]:
    """Returns a docstring's first paragraph, wrapped, and the rest of its lines.

    If the first line is too long and its first sentence fits, that sentence becomes the summary and
    the
    rest a paragraph of its own.
    """
    end = next((number for number, line in enumerate(body) if not line.strip()), len(body))
    head, rest = body[:end], body[end:]
    only = tail_length if not rest else 0
    lengths = [len(line) + (lead if number == 0 else 0) for number, line in enumerate(head)]
    lengths[-1] += only
    if all(length <= width for length in lengths) or any(indent(line) for line in head) or any(map(_STAYS.match, head)):
        return head, rest
    said = " ".join(line.strip() for line in head)
    sentences = re.split(r"(?<=[.:?!]) (?=[A-Z`*\"'(\[0-9])", said)
    first = sentences[0]
    if len(sentences) > 1 and len(first) + lead <= width and first.endswith((".", "?", "!")):
        return [first, "", *wrapped([" ".join(sentences[1:])], width, hanging=True)], rest
    made = wrap_first(said, width, lead)
    # Formatters put the closing quotes behind a line that just fits, which makes it too long.
    return (
        made if len(made) > 1 or lead + len(made[0]) + only <= width else wrap_first(said, width, lead + only)
    ), rest


def wrap_first(said: str, width: int, lead: int) -> list[str]:
    """Wraps a paragraph whose first line is shorter by `lead`."""
    made = Part([" " * lead + said], " " * lead, "").wrapped(width)
    return [made[0][lead:], *made[1:]]


def wrap(text: str, ending: str) -> str:
    """Returns a text with its long comments wrapped.

    Raises:
        ValueError: something other than comments would change.
    """
    made = _behind_code(text, ending)
    made = _own_lines(made, ending)
    if ending == PYTHON:
        made = _docstrings(made)
    if signature(made, ending) != signature(text, ending):
        raise ValueError("wrapping would change more than comments")
    return made


def _may_change(text: str, ending: str) -> bool:
    """Whether `wrap` may change a long line. Most long lines are code without a comment, which
    stays.
    """
    long = {number: line for number, line in enumerate(text.split("\n"), 1) if len(line) > WIDTH}
    marker = "#" if ending == PYTHON else "//"
    if not long or any(marker in line for line in long.values()):
        return bool(long)
    return ending == PYTHON and any(first <= number <= last for first, last in docstrings(text) for number in long)


def long_lines(text: str, ending: str) -> Iterator[int]:
    """Yields the numbers, from 1, of lines that `wrap` would change."""
    if not _may_change(text, ending):
        return
    made = wrap(text, ending)
    if made != text:
        kept = made.split("\n")
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > WIDTH and line not in kept:
                yield number


def left(text: str, ending: str) -> Iterator[int]:
    """Yields the numbers, from 1, of long lines of comments and docstrings that `wrap` leaves."""
    made = wrap(text, ending)
    numbers = {made.count("\n", 0, each.start) + 1 for each in comments(made, ending)}
    if ending == PYTHON:
        numbers |= {number for first, last in docstrings(made) for number in range(first, last + 1)}
    for number, line in enumerate(made.split("\n"), 1):
        if number in numbers and len(line) > WIDTH:
            yield number


def tracked(endings: tuple[str, ...]) -> list[Path]:
    """Returns all tracked files with these endings except generated ones."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name.endswith(endings) and not name.startswith(GENERATED)]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def proved(revision: str) -> int:
    """Returns the number of files whose comments, but not code, differ from a revision.

    Raises:
        ValueError: a file has other code, or other words in its comments.
    """
    changed = 0
    for path in tracked(ENDINGS):
        name = path.relative_to(ROOT).as_posix()
        before = subprocess.run(
            ["git", "-C", str(ROOT), "show", f"{revision}:{name}"], check=False, capture_output=True, text=True
        )
        text = path.read_text(encoding="utf-8")
        if before.returncode or before.stdout == text:
            continue
        if signature(before.stdout, path.suffix) != signature(text, path.suffix):
            raise ValueError(f"{name}: more than comments' lines differs from {revision}")
        changed += 1
    return changed


def main() -> None:
    """Wraps, checks or compares files."""
    parser = argparse.ArgumentParser(description="Wrap comments longer than 100 characters.")
    parser.add_argument("--all", action="store_true", help="all tracked files with these endings, such as .rs")
    parser.add_argument("--check", action="store_true", help="print the files that would change, and fail if any")
    parser.add_argument("--left", action="store_true", help="print long lines that would stay")
    parser.add_argument("--prove", metavar="REVISION", help="compare the tracked files with a revision")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.prove:
        print(f"comments: {proved(options.prove)} files differ from {options.prove} in the lines of comments alone")
        return
    paths = tracked(tuple(options.files)) if options.all else [Path(name) for name in options.files]
    failed = False
    for path in paths:
        text = path.read_text(encoding="utf-8")
        try:
            if options.left:
                print(*(f"{path}:{number}" for number in left(text, path.suffix)), sep="\n", end="")
                continue
            made = wrap(text, path.suffix)
        except (ValueError, SyntaxError, tokenize.TokenError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
            continue
        if made == text:
            continue
        if options.check:
            failed = True
            print(f"{path}: has comments longer than {WIDTH} characters: run scripts/wrap_comments.py {path}")
        else:
            path.write_text(made, encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
