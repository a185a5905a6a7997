"""The notebooks run from beginning to end; what they assert holds."""

import os
import sys
from pathlib import Path

import pytest
from required import missing

import hearith as he

if not os.environ.get("HEARITH_TEST_NOTEBOOKS"):
    missing("notebooks", "a kernel of Jupyter's is a minute's work: `make test-full` runs these tests")

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(he.__file__).parents[1]), *sys.path]))
    notebook = nbformat.read(path, 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without their outputs"
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in shown)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3
