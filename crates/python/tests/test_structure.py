"""The structure of the package: no circular imports, and no access to another module's private
names.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "python"
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "hearith").rglob("*.py"))
}


def imports(tree):
    """Yields the names of modules that a module imports, at the top level, in functions and for
    types.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in FILES or whole == "hearith._native" else node.module


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def private_reaches(tree):
    """Returns the private names of other modules and their classes that a module uses."""
    own = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if is_private(alias.name) and f"{node.module}.{alias.name}" not in FILES | {"hearith._native": None}:
                    yield f"from {node.module} import {alias.name}"
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            on_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            inherited = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super"
            if not on_self and not inherited and node.attr not in own:
                yield f"line {node.lineno}: .{node.attr}"
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and is_private(str(name.value)):
                yield f"line {node.lineno}: {name.value}"


def graph(files):
    return {name: {found for found in imports(ast.parse(path.read_text())) if found in FILES} for name, path in files}


def test_no_circle_of_imports():
    found = graph(FILES.items())
    # Packages are loaded before their submodules, so imports of the packages form no cycles.
    for name in found:
        found[name].discard("hearith")
        found[name].discard("hearith.phe")
    assert len(found) > 20
    assert found["hearith.array"] >= {"hearith._arithmetic", "hearith.arrow"}, "imports within functions count"
    order = list(TopologicalSorter(found).static_order())
    assert order.index("hearith.errors") < order.index("hearith.array") < order.index("hearith.keys")


def test_a_circle_would_be_found(tmp_path):
    (tmp_path / "a.py").write_text("from hearith import _public")
    found = graph([("hearith._public", FILES["hearith._public"]), ("hearith.array", tmp_path / "a.py")])
    with pytest.raises(CycleError):
        list(TopologicalSorter(found).static_order())


@pytest.mark.parametrize("name", FILES)
def test_private_names_stay_private(name):
    assert list(private_reaches(ast.parse(FILES[name].read_text()))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from hearith.encoding import _vector",
        "from hearith import encoding\nencoding._vector(1)",
        "def f(key): return key._native",
        "def f(session): return getattr(session, '_sc', None)",
    ],
)
def test_reaching_would_be_found(text):
    assert len(list(private_reaches(ast.parse(text)))) == 1


@pytest.mark.parametrize("name", FILES)
def test_modules_are_short(name):
    assert len(FILES[name].read_text().splitlines()) <= 440
