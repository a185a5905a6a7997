"""Comments are wrapped, and nothing else changes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import check_text
import wrap_comments

LONG = " ".join(["word"] * 30)
TRICKS = {
    ".rs": [
        f'let a = "// {LONG}";\n',
        f'let a = r#"{LONG} // " {LONG}"#;\n',
        f"let a = ('\"', '\\'', b'/', 'x: loop {{}}); // short\n/* {LONG} /* nested */ {LONG} */\n",
        f"/// | {LONG} | {LONG} |\n/// ```\n/// {LONG} {LONG}\n/// ```\n/// # {LONG} {LONG}\nfn a() {{}}\n",
        f"//     indented = {LONG} {LONG}\n",
        f"// https://example.org/{'x' * 120}\n",
        f"//     name      {LONG}  meaning\n// name      aligned      {LONG} {LONG}\n",
    ],
    ".sv": [
        f"`define A(x) \\\n    x // {LONG} {LONG} \\\n    y\n",
        f'initial $display("// {LONG} {LONG}");\n',
        f"a b; // verilator lint_off WIDTH {LONG} {LONG}\n",
        f"//   state     {LONG} {LONG}\n",
    ],
    ".py": [
        f'a = "# {LONG} {LONG}"\n',
        f'a = """\n{LONG} {LONG}\n"""\n',
        f"import a  # noqa: F401 {LONG} {LONG}\n",
        f'def a():\n    """Text.\n\n    >>> {LONG} {LONG}\n    {LONG} {LONG}\n    """\n',
        f'def a():\n    """Text.\n\n    | {LONG} | {LONG} |\n    """\n',
    ],
}
BEFORE_AND_AFTER = [
    (
        ".rs",
        f"    /// First {LONG}\n    /// and {LONG}\n    fn a() {{}}\n",
        ["    /// First word", "    /// "],
    ),
    (".rs", f"//! - item {LONG}\n//!   {LONG}\n", ["//! - item word", "//!   word"]),
    (".rs", f"call(a, b); // {LONG}\n", ["// word", "call(a, b);"]),
    (
        ".sv",
        f"    input logic a_i,   // {LONG}\n                       // {LONG}\n",
        ["    // word", "    input logic a_i,"],
    ),
    (".sv", f"    // ---- part {'-' * 120}\n", [f"    // ---- part {'-' * 83}"]),
    (".py", f"# Part {'-' * 120}\n", [f"# Part {'-' * 93}"]),
    (".py", f"#: {LONG}\nA = 1\n", ["#: word", "A = 1"]),
    (".py", f"def a():\n    b(1)  # {LONG}\n", ["    # word", "    b(1)"]),
    (
        ".py",
        f'def a():\n    """A summary that is a sentence. And {LONG}."""\n',
        ['    """A summary that is a sentence.', ""],
    ),
    (".py", f'def a():\n    """{LONG}."""\n', ['    """word', '    """']),
    (".py", f'def a():\n    """{"x" * 46} {"x" * 46}."""\n', ['    """' + "x" * 46, '    """']),
    (
        ".py",
        f'def a():\n    """Text.\n\n    Args:\n        name: {LONG}\n        other: {LONG}\n    """\n',
        ["        name: word", "            word", "        other: word"],
    ),
]


@pytest.mark.parametrize(("ending", "text"), [(ending, text) for ending, texts in TRICKS.items() for text in texts])
def test_what_stays(ending, text):
    assert wrap_comments.wrap(text, ending) == text
    assert list(wrap_comments.long_lines(text, ending)) == []


@pytest.mark.parametrize(("ending", "text", "begins"), BEFORE_AND_AFTER)
def test_long_comments_are_wrapped(ending, text, begins):
    made = wrap_comments.wrap(text, ending)
    lines = made.split("\n")
    assert max(map(len, lines)) <= wrap_comments.WIDTH
    assert wrap_comments.wrap(made, ending) == made
    assert wrap_comments.signature(made, ending) == wrap_comments.signature(text, ending)
    assert list(wrap_comments.long_lines(text, ending))
    for begin in begins:
        assert any(line.startswith(begin) for line in lines), made
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("ending", "one", "other"),
    [
        (".rs", "a(); // b\n", "a(b);\n"),
        (".rs", "/// a\nfn b() {}\n", "fn b() {}\n/// a\n"),
        (".rs", "a >> b", "a > > b"),
        (".rs", "// a b\n", "// a c\n"),
        (".rs", 'f("// a");', 'f("// b");'),
        (".sv", "`define A b\nc\n", "`define A b c\n"),
        (".sv", "a = b; // c\n", "a = c; // b\n"),
        (".py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
        (".py", 'def a():\n    """b c"""\n', 'def a():\n    """b d"""\n'),
        (".py", 'a = """b\nc"""\n', 'a = """b c"""\n'),
    ],
)
def test_other_changes_are_seen(ending, one, other):
    assert wrap_comments.signature(one, ending) != wrap_comments.signature(other, ending)


@pytest.mark.parametrize(
    ("ending", "one", "other"),
    [
        (".rs", "/// a b\n/// c\nfn d() {}\n", "/// a\n/// b c\nfn d() {}\n"),
        (".rs", "a, // b\nc\n", "// b\na,\nc\n"),
        (".sv", "a;    // b\n", "// b\na;\n"),
        (".py", 'def a():\n    """b\n    c"""\n', 'def a():\n    """b c\n    """\n'),
    ],
)
def test_breaks_of_lines_are_no_change(ending, one, other):
    assert wrap_comments.signature(one, ending) == wrap_comments.signature(other, ending)


def test_comments_are_checked_but_for_what_scripts_write():
    text = f"// {LONG}\n"
    assert list(check_text.long_lines("a.rs", text)) == [
        "a.rs:1: a comment is longer than 100 characters: run scripts/wrap_comments.py a.rs"
    ]
    assert list(check_text.long_lines("b.toml", text)) == []
    assert list(check_text.long_lines("rtl/ip/b.rs", text)) == []
