"""sbom.py writes every linked crate, no folder of this machine, and the same bytes each time."""

import csv
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import sbom


@pytest.fixture(scope="module")
def target():
    return sbom.host()


def reachable(program, metadata, optional=True):
    """Returns crates that normal dependencies lead to, as cargo resolves the whole workspace.

    With `optional` false, it follows only dependencies that cannot be left out. Macros run in the
    compiler and are not linked in.
    """
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [identity for identity, package in packages.items() if package["name"] == program]
    seen = set()
    while waiting:
        identity = waiting.pop()
        if identity in seen or any("proc-macro" in target["kind"] for target in packages[identity]["targets"]):
            continue
        seen.add(identity)
        needed = {
            dependency["name"]
            for dependency in packages[identity]["dependencies"]
            if dependency["kind"] is None and (optional or not dependency["optional"])
        }
        for dependency in nodes[identity]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and packages[dependency["pkg"]]["name"] in needed:
                waiting.append(dependency["pkg"])
    return {(packages[identity]["name"], packages[identity]["version"]) for identity in seen}


@pytest.mark.parametrize("program", sbom.PROGRAMS)
def test_every_crate_is_named(program, target):
    document = sbom.bill(program, target)
    crates = [document["metadata"]["component"], *document["components"]]
    named = {(crate["name"], crate["version"]) for crate in crates}
    assert len(named) == len(crates)
    metadata = sbom.metadata(target)
    everything = reachable(program, metadata)
    assert named <= everything
    members = {(package["name"], package["version"]) for package in metadata["packages"] if package["source"] is None}
    # Features that only another program of the workspace enables may be missing here.
    assert reachable(program, metadata, optional=False) & members <= named
    # Dependencies that a crate needs on every platform are included, too.
    macros = {
        package["name"]
        for package in metadata["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    for package in metadata["packages"]:
        if (package["name"], package["version"]) in named:
            needed = {
                dependency["name"]
                for dependency in package["dependencies"]
                if dependency["kind"] is None and not dependency["optional"] and dependency["target"] is None
            }
            assert needed - macros <= {name for name, _ in named}, package["name"]
    assert {reference["ref"] for reference in document["dependencies"]} == {crate["bom-ref"] for crate in crates}
    # Crates from elsewhere have a hash.
    assert all("hashes" in crate or (crate["name"], crate["version"]) in members for crate in crates)
    assert not named & {("rug", version) for _, version in named}


@pytest.mark.parametrize("program", sbom.PROGRAMS)
def test_documents_say_nothing_of_the_machine(program, target):
    text = sbom.text(sbom.bill(program, target))
    assert str(sbom.ROOT) not in text
    assert str(Path.home()) not in text
    assert "file:" not in text
    assert text == sbom.text(sbom.bill(program, target))
    assert json.loads(text)["specVersion"] == "1.5"


def test_wheels_carry_them(tmp_path, target):
    wheel = tmp_path / "hearith-0.1.0-cp311-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("hearith/__init__.py", "x = 1\n")
        archive.writestr("hearith-0.1.0.dist-info/METADATA", "Name: hearith\n")
        archive.writestr("hearith-0.1.0.dist-info/RECORD", "hearith/__init__.py,,\nhearith-0.1.0.dist-info/RECORD,,\n")
    # Twice: existing documents are replaced.
    for _ in range(2):
        subprocess.run([sys.executable, sbom.__file__, "--wheel", str(wheel)], check=True)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert sorted(names) == sorted(set(names))
        record = {
            row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read("hearith-0.1.0.dist-info/RECORD").decode()))
        }
        assert sorted(record) == sorted(name for name in names if not name.endswith("METADATA"))
        for program in sbom.IN_WHEEL:
            name = f"hearith-0.1.0.dist-info/sboms/{program}.cdx.json"
            content = archive.read(name)
            assert json.loads(content)["metadata"]["component"]["name"] == program
            assert int(record[name][1]) == len(content)


def test_the_javascript_package_depends_on_nothing():
    document = sbom.javascript_bill()
    assert sbom.text(document) == sbom.text(sbom.javascript_bill())
    assert document["components"] == []
    assert document["metadata"]["component"]["purl"].startswith("pkg:npm/hearith@")


def test_what_is_in_the_pages_is_named():
    document = sbom.page_bill()
    assert sbom.text(document) == sbom.text(sbom.page_bill())
    assert {one["name"] for one in document["components"]} == {"@noble/curves", "@noble/hashes", "preact", "uqr"}
    assert all(len(one["hashes"][0]["content"]) == 128 and one["licenses"] for one in document["components"])
    references = {one["bom-ref"] for one in document["components"]} | {sbom.PAGES}
    assert {one["ref"] for one in document["dependencies"]} == references
    assert all(other in references for one in document["dependencies"] for other in one["dependsOn"])
