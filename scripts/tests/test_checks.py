"""The checks of `make lint` find their faults."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import check_dependencies
import check_text
import check_web

BIBLIOGRAPHY = "# Bibliography\n\n**[Orup95]** H. Orup.\n\n**[MESA24]** Somebody.\n"


@pytest.fixture
def tree(tmp_path):
    """Returns a faultless repository, and a function that writes into it."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        subprocess.run(["git", "-C", str(tmp_path), "add", name], check=True)

    write("docs/reference/bibliography.md", BIBLIOGRAPHY)
    write("src/lib.rs", "/// As \\[Orup95\\] has it.\nlet x = table[RADIX52];\n")
    write("rtl/mesa.sv", "// Source: [MESA24], fig. 1.\n")
    write("docs/x/table.md", f"| {'word ' * 30} |\n\nsee docs/reference/bibliography.md\n")
    write("Cargo.lock", 'source = "https://index.' + "crates." + 'io"\n')
    assert list(check_text.violations(tmp_path)) == []
    return tmp_path, write


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("docs/x.md", "a\nb [Dhem98]\n", "docs/x.md:2: [Dhem98] is not in docs/reference/bibliography.md"),
        ("src/x.rs", "//! \\[Dhem98\\]\n", "src/x.rs:1: [Dhem98] is not in docs/reference/bibliography.md"),
        ("rtl/mesa.sv", "// none\n", "docs/reference/bibliography.md: nothing cites [MESA24]"),
        (
            "docs/reference/bibliography.md",
            BIBLIOGRAPHY * 2,
            "docs/reference/bibliography.md: [MESA24] has several entries",
        ),
        (
            "README.md",
            "x\n[phe](https://" + "pypi." + "org/project/phe/)",
            "README.md:2: names a package registry, " + "pypi." + "org",
        ),
        (
            "src/a.json",
            '{"about":\n"see docs/reference/none.md"}',
            "src/a.json:2: names docs/reference/none.md, which is not",
        ),
        ("rtl/a.sv", "// a\n// Verilator and others [MESA24]\n", "rtl/a.sv:2: a comment that begins with Verilator"),
        ("docs/x.md", "a\n\n" + "word " * 30 + "\n", "docs/x.md:3: longer than 100 characters"),
    ],
)
def test_faults_in_text_are_found(tree, name, text, fault):
    root, write = tree
    write(name, text)
    assert any(line.startswith(fault) for line in check_text.violations(root)), list(check_text.violations(root))


def package(folder, name, *dependencies):
    """Returns cargo's metadata of a package in a folder."""
    declared = [{"name": other, "rename": None, "kind": kind, "features": []} for other, kind in dependencies]
    return {"id": name, "name": name, "manifest_path": str(folder / "Cargo.toml"), "dependencies": declared}


def test_unused_dependencies_are_found(tmp_path):
    (tmp_path / "lib.rs").write_text("use crypto_bigint::U64;\n")
    packages = [package(tmp_path, "a", ("crypto-bigint", None), ("proptest", "dev"), ("rug", "dev"))]
    found = check_dependencies.unused_faults({"packages": packages, "workspace_members": ["a"]})
    assert list(found) == ["a: no source uses proptest (dev)", "a: no source uses rug (dev)"]


@pytest.mark.parametrize(
    ("kind", "faults"), [("dev", []), (None, ["a: ships with rug, which is for tests and benchmarks only"])]
)
def test_oracles_in_what_is_shipped_are_found(tmp_path, kind, faults):
    names = ["a", "b", "rug"]
    edges = {"a": [("b", None)], "b": [("rug", kind)], "rug": []}
    nodes = [
        {"id": name, "deps": [{"pkg": other, "dep_kinds": [{"kind": kind}]} for other, kind in edges[name]]}
        for name in names
    ]
    metadata = {
        "packages": [package(tmp_path, name) for name in names],
        "resolve": {"nodes": nodes},
        "workspace_members": ["a"],
    }
    assert list(check_dependencies.oracle_faults(metadata)) == faults


GOOD = {"integrity": "sha512-x", "license": "MIT"}


@pytest.mark.parametrize(
    ("path", "package", "fault"),
    [
        ("node_modules/preact", GOOD, None),
        ("node_modules/vite", {**GOOD, "dev": True, "license": "MPL-2.0"}, None),
        ("node_modules/preact", {**GOOD, "resolved": "https://example.org/x.tgz"}, "preact: the lock names where"),
        ("node_modules/preact", {"license": "MIT"}, "preact: has no hash"),
        ("node_modules/preact", {**GOOD, "license": "MPL-2.0"}, "preact: the licence MPL-2.0 is not allowed"),
        ("node_modules/a/node_modules/@b/c", GOOD, "@b/c: is shipped, and not among what may be"),
        ("node_modules/uqr", {**GOOD, "hasInstallScript": True}, "uqr: runs a script"),
    ],
)
def test_faults_in_the_lock_of_the_pages_are_found(path, package, fault):
    found = list(check_web.faults({"packages": {"": {}, path: package}}))
    assert (found == []) if fault is None else (len(found) == 1 and found[0].startswith(fault))


def test_citations_in_typescript_are_looked_for_in_comments(tree):
    root, write = tree
    write("web/a.ts", "/**\n * As [Dhem98] has it.\n */\nconst x = table[RADIX52];\n")
    assert list(check_text.violations(root)) == ["web/a.ts:2: [Dhem98] is not in docs/reference/bibliography.md"]
