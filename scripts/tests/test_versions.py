"""All parts have one version (docs/reference/stability.md)."""

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
VERSION = MANIFEST["package"]["version"]


def test_crates():
    stated = {
        name: one["version"]
        for name, one in MANIFEST["dependencies"].items()
        if name.startswith("hearith") and "version" in one
    }
    assert stated
    assert stated == dict.fromkeys(stated, VERSION)
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    # Fuzzing is never released.
    ours = {one["name"]: one["version"] for one in locked if "source" not in one and one["name"] != "hearith-fuzz"}
    assert "hearith" in ours
    assert set(ours.values()) == {VERSION}


def test_citation():
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def test_packages_of_javascript():
    for folder in ("web", "packages/js"):
        assert json.loads((ROOT / folder / "package.json").read_text())["version"] == VERSION


def test_extension_of_postgresql():
    folder = ROOT / "crates/postgres"
    assert tomllib.loads((folder / "Cargo.toml").read_text())["package"]["version"] == VERSION
    assert f"default_version = '{VERSION}'" in (folder / "hearith.control").read_text()
    assert (folder / f"sql/hearith--{VERSION}.sql").exists()


def test_cores():
    names = {path: path.read_text().splitlines()[1] for path in (ROOT / "rtl").glob("*.core")}
    assert names
    assert all(re.fullmatch(rf"name: hearith:accelerator:\w+:{VERSION}", name) for name in names.values())


def test_changelog():
    assert re.search(rf"^## {re.escape(VERSION)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
