"""The documentation site has every page, and its charts show the tables' current figures."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = "<!-- Written by scripts/registers.py"
CHARTS = sorted((ROOT / "docs" / "charts").glob("*.svg"))


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {name for name in listed.split() if name != "README.md" and not name.startswith(".github/")}


def configuration():
    """Returns the site's settings before its navigation, and the navigation."""
    return (ROOT / "docs" / "site" / "mkdocs.yml").read_text().split("\nnav:\n")


def test_every_page_is_in_the_navigation():
    named = re.findall(r": (\S+\.md)$", configuration()[1], re.MULTILINE)
    assert sorted(named) == sorted([*pages(), "index.md"])


def test_pages_that_moved_lead_to_pages():
    moved = dict(re.findall(r"^ +(\S+\.md): (\S+\.md)$", configuration()[0], re.MULTILINE))
    assert moved
    assert {new for new in moved.values() if new not in pages()} == set()
    assert {old for old in moved if old in pages()} == set()


def test_every_page_of_the_documentation_says_where_to_go_next():
    ends = {
        name: (ROOT / name).read_text().rstrip().rsplit("\n\n", 2)[-2:]
        for name in pages()
        if name.startswith(("docs/tutorials/", "docs/how-to/", "docs/reference/", "docs/explanation/"))
        and GENERATED not in (ROOT / name).read_text()
    }
    assert {name for name, end in ends.items() if not re.search(r"^(Next: |## Next$)", "\n\n".join(end), re.M)} == set()


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.stem)
def test_charts_are_of_the_figures_as_they_are(chart):
    source, digest = re.search(r"<!-- from (\S+), SHA-256 (\w+) -->", chart.read_text()).groups()
    found = hashlib.sha256((ROOT / source).read_bytes()).hexdigest()
    assert found == digest, f"{source} has other figures than {chart.name}: draw it anew (scripts/docs.sh --charts)"


def test_there_are_charts():
    assert len(CHARTS) >= 3
