"""The documentation site has every page, and its charts show the figures of the tables as they are."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHARTS = sorted((ROOT / "docs" / "charts").glob("*.svg"))


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {name for name in listed.split() if name != "README.md"}


def test_every_page_is_in_the_navigation():
    named = re.findall(r": (\S+\.md)$", (ROOT / "docs" / "site" / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(named) == sorted([*pages(), "index.md"])


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.stem)
def test_charts_are_of_the_figures_as_they_are(chart):
    source, digest = re.search(r"<!-- from (\S+), SHA-256 (\w+) -->", chart.read_text()).groups()
    found = hashlib.sha256((ROOT / source).read_bytes()).hexdigest()
    assert found == digest, f"{source} has other figures than {chart.name}: draw it anew (scripts/docs.sh --charts)"


def test_there_are_charts():
    assert len(CHARTS) >= 3
