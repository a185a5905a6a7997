"""Runs all notebooks completely, with their assertions."""

import os
import sys
import textwrap
from pathlib import Path

import pytest
from required import missing

import hearith as he

if not os.environ.get("HEARITH_TEST_NOTEBOOKS"):
    missing("notebooks", "a kernel of Jupyter's is a minute's work: `make test-full` runs these tests")

import nbformat
from nbclient import NotebookClient

PYTHONPATH = os.pathsep.join([str(Path(he.__file__).parents[1]), *sys.path])
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    notebook = nbformat.read(path, 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without their outputs"
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in shown)


def test_there_are_notebooks():
    assert {"columns", "federated", "sql", "spark"} <= {path.stem for path in NOTEBOOKS}


def test_progress_is_a_widget(monkeypatch):
    outputs = executed(
        """
        import hearith as he
        public, private = he.generate_keypair(512, insecure=True)
        public.encrypt(list(range(2000)), progress=True).size
        """,
        monkeypatch,
    )
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)
    assert not any("it/s" in output.get("text", "") for output in outputs), "and no bar of characters beside it"


def test_tables_are_shown_as_what_they_are(monkeypatch):
    outputs = executed(
        """
        import hearith as he, hearith.pandas, pandas as pd
        public, private = he.generate_keypair(512, insecure=True)
        df = pd.DataFrame({"name": ["Ada", "Bo"], "pay": [31415, 27182]}).he.encrypt(public, "pay")
        display(df, df.he, df["pay"].iloc[0], public)
        """,
        monkeypatch,
    )
    shown = [output["data"]["text/html"] for output in outputs]
    assert [("&lt;encrypted&gt;" in html, "<caption>" in html) for html in shown] == [
        (True, False),
        (False, True),
        (False, True),
        (False, True),
    ]
    assert not any("31415" in html or "27182" in html or "\\x" in html for html in shown)


def executed(program, monkeypatch):
    """Returns the output of a notebook with one cell."""
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    cell = nbformat.v4.new_code_cell(textwrap.dedent(program))
    NotebookClient(nbformat.v4.new_notebook(cells=[cell]), timeout=120, kernel_name="python3").execute()
    return cell["outputs"]
