#!/usr/bin/env python3
"""Writes the software bill of materials of a program, as CycloneDX 1.5 in JSON.

It lists every crate linked into the program. The same Cargo.lock gives the same bytes.

Usage: sbom.py [--out FOLDER] [PACKAGE...]. Writes FOLDER/PACKAGE.cdx.json (dist) for `hearith`, the
command line, for `hearith-python` and `hearith-duckdb`, the two libraries in the wheel, for
`hearith-web`, the election's pages, and for `hearith-js`, the JavaScript package.
`sbom.py --wheel WHEEL` adds those of the two libraries to a wheel, in the folder sboms of its
*.dist-info, as PEP 770 prescribes.

A crate is included if normal dependencies lead to it with the features that the program is built
with, on the target platform or on any (--target all). Versions and checksums come from Cargo.lock,
licences from the crates' own manifests; no folder names are included. The pages' entries come from
web/package-lock.json.
"""

import argparse
import base64
import hashlib
import json
import re
import subprocess
import tomllib
import uuid
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("hearith", "hearith-python", "hearith-duckdb")
#: The election's pages, which are not a crate.
PAGES = "hearith-web"
#: The JavaScript package, which is called `hearith` where it is published.
JAVASCRIPT = "hearith-js"
IN_WHEEL = ("hearith-python", "hearith-duckdb")
#: The timestamp of files in a wheel: the earliest that a ZIP archive allows.
EPOCH = (1980, 1, 1, 0, 0, 0)


def metadata(target):
    """Returns cargo's metadata of the workspace and its dependencies on a target (a triple, or
    `all`).
    """
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    if target != "all":
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)


def host():
    """Returns the target triple of this machine."""
    lines = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))


def linked(package, target):
    """Returns names and versions of all crates linked into a package with its default features, and
    their dependencies.
    """
    command = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal,no-proc-macro", "--target", target]
    command += ["--prefix", "depth", "--format", "\t{p}", "--no-dedupe"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    edges, path = {}, []
    for line in output.splitlines():
        depth, crate = line.split("\t")
        name, version = re.match(r"(\S+) v(\S+)", crate).groups()
        del path[int(depth) :]
        path.append((name, version))
        edges.setdefault(path[-1], set())
        if len(path) > 1:
            edges[path[-2]].add(path[-1])
    return path[0], edges


def reference(crate):
    """Returns the package URL of a crate, its identifier in the whole document."""
    return "pkg:cargo/{}@{}".format(*crate)


def component(crate, package, checksum):
    """Returns a crate's entry."""
    entry = {
        "type": "library",
        "bom-ref": reference(crate),
        "name": crate[0],
        "version": crate[1],
        "purl": reference(crate),
    }
    if package["description"]:
        entry["description"] = " ".join(package["description"].split())
    if package["license"]:
        # Manifests may have the slash, the old form of OR.
        entry["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def bill(program, target):
    """Returns the document of a program."""
    packages = {(package["name"], package["version"]): package for package in metadata(target)["packages"]}
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock}
    root, edges = linked(program, target)
    components = {crate: component(crate, packages[crate], checksums[crate]) for crate in sorted(edges)}
    about = components.pop(root) | {"type": "application" if program == "hearith" else "library"}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": about},
        "components": list(components.values()),
        "dependencies": [
            {"ref": reference(crate), "dependsOn": sorted(map(reference, edges[crate]))} for crate in sorted(edges)
        ],
    }
    return numbered(content)


def page_bill():
    """Returns the document of the election's pages: the packages of web/package-lock.json except
    development tools.
    """
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    about = json.loads((ROOT / "web" / "package.json").read_text())
    shipped = {
        path.removeprefix("node_modules/"): package
        for path, package in sorted(lock.items())
        if path and not package.get("dev")
    }

    def purl(name):
        return f"pkg:npm/{name.replace('@', '%40')}@{shipped[name]['version']}"

    def entry(name):
        package = shipped[name]
        digest = base64.b64decode(package["integrity"].removeprefix("sha512-")).hex()
        return {
            "type": "library",
            "bom-ref": purl(name),
            "name": name,
            "version": package["version"],
            "purl": purl(name),
            "licenses": [{"expression": package["license"]}],
            "hashes": [{"alg": "SHA-512", "content": digest}],
        }

    root = {name: about[name] for name in ("name", "version", "description")} | {
        "type": "application",
        "bom-ref": PAGES,
    }
    edges = {purl(name): sorted(map(purl, package.get("dependencies", {}))) for name, package in shipped.items()}
    edges[PAGES] = sorted(map(purl, about["dependencies"]))
    return numbered(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {"component": root},
            "components": [entry(name) for name in shipped],
            "dependencies": [{"ref": name, "dependsOn": edges[name]} for name in sorted(edges)],
        }
    )


def javascript_bill():
    """Returns the document of the JavaScript package, which consists only of its own files."""
    about = json.loads((ROOT / "packages" / "js" / "package.json").read_text())
    depends = [name for name in about if name.lower().endswith("dependencies")]
    if depends:
        raise SystemExit(f"sbom: packages/js/package.json has {', '.join(depends)}, which are not described")
    root = {name: about[name] for name in ("name", "version", "description")} | {
        "type": "library",
        "bom-ref": f"pkg:npm/{about['name']}@{about['version']}",
        "purl": f"pkg:npm/{about['name']}@{about['version']}",
        "licenses": [{"expression": about["license"]}],
    }
    return numbered(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {"component": root},
            "components": [],
            "dependencies": [{"ref": root["bom-ref"], "dependsOn": []}],
        }
    )


def numbered(content):
    """Adds the document's serial number, which is derived from the content."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
    return {"serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"} | content


def text(document):
    """Returns the document's text."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def put_into_wheel(wheel, target):
    """Adds the documents of a wheel's libraries to it, and their lines to its RECORD."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    folder = next(info.filename.split("/")[0] for info, _ in entries if info.filename.endswith(".dist-info/RECORD"))
    entries = [(info, content) for info, content in entries if not info.filename.startswith(f"{folder}/sboms/")]
    added = {f"{folder}/sboms/{name}.cdx.json": text(bill(name, target)).encode() for name in IN_WHEEL}

    def line(name, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(content)}\n"

    new = Path(f"{wheel}.tmp")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in entries:
            if info.filename == f"{folder}/RECORD":
                kept = [
                    entry
                    for entry in content.decode().splitlines(keepends=True)
                    if not entry.startswith(f"{folder}/sboms/")
                ]
                content = "".join([*kept, *(line(name, document) for name, document in added.items())]).encode()
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        for name, document in added.items():
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr = 0o644 << 16
            archive.writestr(info, document, zipfile.ZIP_DEFLATED)
    new.replace(wheel)


def main():
    """Writes documents, or adds them to a wheel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--target", default=None, help="a target triple, or all; this machine's if left out")
    parser.add_argument("package", nargs="*", default=(*PROGRAMS, PAGES, JAVASCRIPT))
    arguments = parser.parse_args()
    target = arguments.target or host()
    if arguments.wheel:
        put_into_wheel(arguments.wheel, target)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for package in arguments.package:
        path = arguments.out / f"{package}.cdx.json"
        own = {PAGES: page_bill, JAVASCRIPT: javascript_bill}.get(package)
        document = own() if own else bill(package, target)
        path.write_text(text(document), encoding="utf-8")
        print(f"{path}: {len(document['components'])} components")


if __name__ == "__main__":
    main()
