"""The tutorials' commands are found, run and compared."""

import os
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


def test_scripts_run_where_they_stand_and_data_does_not():
    page = """<!-- before:
echo 1 > a

echo 2 > b
-->

```sh
test "$(cat a b)" = "$(printf '1\\n2')"   # before the block
```

```text
no command
```
"""
    assert run_tutorials.play(page, "/usr/bin:/bin") == (page, [])
    with pytest.raises(ValueError, match="ended with status 1"):
        run_tutorials.play("```sh\nfalse\ntrue\n```\n", "/usr/bin:/bin")


def test_a_page_begins_where_another_ended(tmp_path):
    first = '```csv title="in/a.csv"\nx\n```\n'
    run_tutorials.play(first, "/usr/bin:/bin", keep=tmp_path / "left")
    page = "<!-- after: first.md -->\n\n```console\n$ cat in/a.csv\nx\n```\n"
    assert run_tutorials.follows(page) == "first.md"
    assert run_tutorials.play(page, "/usr/bin:/bin", tmp_path / "left") == (page, [])


def test_a_server_runs_until_the_page_ends_at_a_free_port():
    ask = f"{sys.executable} -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:8080/')\""
    # The port is a separate argument here; the script finds the server by its address.
    page = f"""```sh
{sys.executable} -m http.server --bind 127.0.0.1 $(echo 127.0.0.1:8080 | cut -d: -f2) &
```

```console
$ {ask} && echo http://127.0.0.1:8080
http://127.0.0.1:8080
```
"""
    assert run_tutorials.play(page, os.environ["PATH"]) == (page, [])
    with pytest.raises(ValueError, match="does not listen"):
        run_tutorials.play("```sh\nfalse 127.0.0.1:8080 &\n```\n", "/usr/bin:/bin")


def test_programs_share_their_names_and_what_statements_print_is_compared():
    page = """```python
a = 1
```

```pycon
>>> for each in range(2):
...     print(a + each)
1
2
>>> a
1
>>> {}["x"]
Traceback (most recent call last):
  ...
KeyError: 'x'
```
"""
    assert run_tutorials.is_python(page)
    assert run_tutorials.play(page, "/usr/bin:/bin") == (page, [])
    text, differences = run_tutorials.play(page.replace("\n1\n2\n", "\n1\n3\n"), "/usr/bin:/bin")
    assert (text, len(differences)) == (page, 1)
    with pytest.raises(ValueError, match="division"):
        run_tutorials.play("```python\n1 / 0\n```\n", "/usr/bin:/bin")


def test_slow_blocks_run_when_they_are_asked_for():
    page = "<!-- slow -->\n\n```console\n$ echo 1\n2\n```\n"
    assert run_tutorials.play(page, "/usr/bin:/bin") == (page, [])
    assert len(run_tutorials.play(page, "/usr/bin:/bin", slow=True)[1]) == 1


def test_nine_of_ten_blocks_of_tutorials_and_guides_are_run():
    pages = {path: path.read_text() for path in run_tutorials.PAGES}
    blocks = [block for page in pages.values() for block in run_tutorials.blocks(page)]
    # SQL blocks are checked below, as parts of the survey.
    data = {"csv", "ini", "json", "sql", "text", "toml"}
    assert {block.kind() for block in blocks} <= {*run_tutorials.COMMANDS, *run_tutorials.PROGRAMS, *data}
    runs, left_out = run_tutorials.counted(list(pages.values()))
    assert runs >= 45
    assert left_out <= runs // 10
    # Tutorials have no exceptions.
    assert [
        path for path, page in pages.items() if path.parent == run_tutorials.TUTORIALS and "<!-- not run" in page
    ] == []


def test_statements_of_the_survey_are_those_of_its_schema():
    page = (run_tutorials.TUTORIALS / "survey.md").read_text()
    schema = (ROOT / "survey" / "schema.sql").read_text()
    found = [block for block in run_tutorials.blocks(page) if block.kind() == "sql"]
    assert found
    assert all(block.text.strip() in schema for block in found)
    others = (path for path in run_tutorials.PAGES if path.name != "survey.md")
    assert not any("```sql" in path.read_text() for path in others)


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
