"""Lazy imports: only the modules needed are loaded, and Arrow knows the type of encrypted columns
in any import order.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hearith as he
from hearith._after_import import after_import

PACKAGE = Path(__file__).parent.parent / "python/hearith"


def run(program, *arguments):
    """Returns what a program prints in a new interpreter."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["hearith", "hearith.phe", "hearith.errors"])
def test_what_takes_long_to_load_is_not_loaded_for_nothing(name):
    slow = {"numpy", "pyarrow", "secrets", "fractions", "decimal"}
    assert (
        run(f"import sys, {name}\nimport hearith\nhearith.set_threads(1)\nprint({slow} & set(sys.modules))") == "set()"
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("imports") / "encrypted.parquet"
    program = """
import sys, pyarrow as pa, pyarrow.parquet as pq, hearith as he
public, _ = he.generate_keypair(256, insecure=True)
pq.write_table(public.encrypt_column(pa.table({"x": [1, 2]}), "x"), sys.argv[1])
"""
    run(program, path)
    return path


READ = """
import sys, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
print(table.schema.field("x").type.extension_name, table.to_pandas()["x"].dtype.name.split("[")[0])
"""


@pytest.mark.parametrize(
    "first",
    [
        "import hearith",
        "import hearith.phe",
        "import pyarrow, hearith",
        "import hearith.arrow",
        "import pyarrow, hearith.arrow",
        "import pandas, hearith",
        "import hearith, pandas",
        "import numpy, hearith; hearith.EncryptedArray",
        "from hearith import arrow",
        "from hearith import *",
    ],
)
def test_arrow_knows_the_type_in_any_order(first, file):
    assert run(f"{first}\n{READ}", file) == "hearith.paillier hearith"


def test_all_names_are_there():
    for name in he.__all__:
        assert getattr(he, name) is not None
        assert name in dir(he)
    for name in ("array", "arrow", "bfv", "encoding", "federated", "keys", "sharing"):
        assert getattr(he, name).__name__ == f"hearith.{name}"
        assert name in dir(he)
    assert not hasattr(he, "nothing")


def test_what_is_loaded_later_is_what_types_are_checked_with():
    """The list of lazy names matches the imports for type checkers."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "_LATER")
    imported = {
        node.module: tuple(alias.name for alias in node.names) for node in checked.body if node.module != "hearith"
    }
    assert imported == ast.literal_eval(listed)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Returns the name of a module that has not been imported."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    name = "imported_by_nobody"
    (tmp_path / f"{name}.py").write_text(
        "import sys\nif getattr(sys, 'refused', False):\n    raise ValueError('refused')\nvalue = 7\n"
    )
    yield name
    sys.modules.pop(name, None)


def test_acts_at_the_end_of_an_import_or_at_once(module):
    seen = []
    after_import(module, lambda: seen.append(sys.modules[module].value))
    assert seen == []
    imported = __import__(module)
    assert seen == [7]
    assert imported.__spec__.loader.get_source(module).startswith("import sys")
    after_import(module, lambda: seen.append("at once"))
    assert seen == [7, "at once"]


def test_does_not_act_on_an_import_that_fails(module, monkeypatch):
    seen = []
    after_import(module, lambda: seen.append("acted"))
    with monkeypatch.context() as refusing:
        refusing.setattr(sys, "refused", True, raising=False)
        with pytest.raises(ValueError, match="refused"):
            __import__(module)
    assert seen == []
    __import__(module)
    assert seen == ["acted"]


def test_a_module_that_is_not_there_stays_missing():
    after_import("nobody_has_this", lambda: pytest.fail("acted"))
    try:
        with pytest.raises(ModuleNotFoundError, match="nobody_has_this"):
            __import__("nobody_has_this")
    finally:
        del sys.meta_path[0]
