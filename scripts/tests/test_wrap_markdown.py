"""Prose is wrapped, and nothing else."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import wrap_markdown

LONG = "word " * 30


@pytest.mark.parametrize(
    "text",
    [
        f"| {LONG} |\n| --- |\n",
        f"```\n{LONG}\n```\n",
        f"- item\n\n  ```sh\n  {LONG}\n  ```\n",
        f"# {LONG}\n",
        f"    {LONG}\n",
        f"[a]: https://example.org/{'x' * 120}\n",
        f"- [a]({'x' * 120})\n",
        "short\nlines\n",
        f"<!-- before:\n{LONG}\n\n{LONG}\n-->\n",
        f"{LONG} \\\nhard break {LONG}\n",
    ],
)
def test_what_stays(text):
    assert wrap_markdown.wrap(text) == text


@pytest.mark.parametrize("begin", ["", "- ", "  - ", "12. "])
def test_paragraphs_and_items_are_wrapped(begin):
    text = f"{begin}{LONG.strip()}\n{' ' * len(begin)}{LONG.strip()}\n"
    wrapped = wrap_markdown.wrap(text)
    assert max(map(len, wrapped.split("\n"))) <= wrap_markdown.WIDTH
    assert wrapped.split() == text.split()
    assert all(line.startswith(" " * len(begin)) for line in wrapped.rstrip("\n").split("\n")[1:])
    assert wrap_markdown.wrap(wrapped) == wrapped
    assert list(wrap_markdown.long_lines(wrapped)) == []


def test_code_spans_and_links_stay_whole():
    text = f"{'a' * 90} `one two three` and [a link of words](page.md), {LONG}\n"
    assert {"`one two three`", "[a link of words](page.md),"} <= {
        piece for line in wrap_markdown.wrap(text).split("\n") for piece in wrap_markdown.pieces(line)
    }


@pytest.mark.parametrize("number", ["4 096", "(65 536)", "1 234 567,"])
def test_numbers_stay_whole(number):
    for length in range(85, 101):
        wrapped = wrap_markdown.wrap(f"{'a' * length} {number} {LONG}\n")
        assert any(number in line for line in wrapped.split("\n")), wrapped


@pytest.mark.parametrize("marker", ["-", "+", "2025.", "#", ">"])
def test_no_line_begins_with_what_would_be_another_block(marker):
    for length in range(90, 101):
        text = f"{'a' * (length - 2)} b {marker} {LONG}\n"
        lines = wrap_markdown.wrap(text).split("\n")
        assert not any(line.startswith(f"{marker} ") for line in lines)
        assert max(map(len, lines)) <= wrap_markdown.WIDTH
