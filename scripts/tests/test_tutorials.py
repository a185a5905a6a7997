"""The tutorials' commands are found, run and compared."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import run_tutorials

PAGE = """# Page

```csv title="a.csv"
x
1
```

<!-- not run: it would remove everything -->

```console
$ rm -rf everything
```

```console
$ cat a.csv
x
1
$ echo one \\
    two
one two
```
"""


def test_commands_run_and_print_what_the_page_shows():
    text, differences = run_tutorials.play(PAGE, "/usr/bin:/bin")
    assert (text, differences) == (PAGE, [])


@pytest.mark.parametrize(("shown", "recorded"), [("x\n2\n", "x\n1\n"), ("", "x\n1\n")])
def test_other_outputs_are_found_and_recorded(shown, recorded):
    text, differences = run_tutorials.play(
        PAGE.replace("$ cat a.csv\nx\n1\n", f"$ cat a.csv\n{shown}"), "/usr/bin:/bin"
    )
    assert len(differences) == 1
    assert f"$ cat a.csv\n{recorded}" in text


def test_commands_that_fail_are_named():
    with pytest.raises(ValueError, match="`false` ended with status 1"):
        run_tutorials.play("```console\n$ false\n```\n", "/usr/bin:/bin")


def test_a_block_without_a_command_is_named():
    with pytest.raises(ValueError, match="begins with 'output'"):
        run_tutorials.play("```console\noutput\n```\n", "/usr/bin:/bin")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("key 977bf58169eb4c6d0bfd456457fd1434, in 0.27 s", "key 00000000000000000000000000000000, in 12.5 s"),
        ("engine avx2, threads 2", "engine ifma, threads 16"),
        ("tracker urjf 7d3y 4fkp 62dp wee5 gros r4ab", "tracker shzc 47kj j33d cz2p 6wox m6ji pmcd"),
    ],
)
def test_what_differs_from_run_to_run_is_not_compared(one, other):
    assert run_tutorials.masked(one) == run_tutorials.masked(other)


def test_results_are_compared():
    assert run_tutorials.masked("lab 5900\n") != run_tutorials.masked("lab 5901\n")
    assert run_tutorials.masked("833 cycles") != run_tutorials.masked("834 cycles")


def test_pages_name_what_they_need():
    assert run_tutorials.lacks("<!-- needs: true -->\n", "/usr/bin:/bin") is None
    assert run_tutorials.lacks("<!-- needs: false -->\n", "/usr/bin:/bin") == "false"


def test_every_block_of_the_tutorials_is_run():
    pages = [page.read_text() for page in run_tutorials.TUTORIALS.glob("*.md")]
    blocks = [block for page in pages for block in run_tutorials.blocks(page)]
    assert {block.info.split()[0] for block in blocks} <= {"console", "csv", "json"}
    assert [block.text for block in blocks if block.reason] == []


def test_the_messages_of_troubleshooting_are_those_of_the_programs():
    page = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text()
    parts = [part for row in re.findall(r"^\| `(.+?)` \|", page, re.M) for part in row.split(" ... ")]
    assert len(parts) > 15
    for part in parts:
        found = subprocess.run(["git", "grep", "--quiet", "--fixed-strings", "-e", part, "--", "crates/*.rs"], cwd=ROOT)
        assert found.returncode == 0, f"no program says {part!r}"


def test_the_citation_is_of_the_version():
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
