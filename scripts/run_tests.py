#!/usr/bin/env python3
"""Builds all tests of the workspace at once and runs those of some packages.

`cargo test --package` would rebuild the dependencies for each selection of packages.

Usage: run_tests.py [--only PACKAGE]... [--not PACKAGE]... [--log FILE] [--doc] [--jobs N] [--
ARGUMENT...]

Everything is compiled from one selection, HEARITH_SELECTION (--workspace --all-features), so
features do not depend on which packages run. Arguments after -- go to the test programs (names,
--exact, --include-ignored). --doc also runs the examples in the documentation of all selected
packages. The log gets a line for each program: seconds, package, target.
"""

import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SELECTION = "--workspace --all-features"


def selection():
    """Returns cargo's arguments that select what to build."""
    return shlex.split(os.environ.get("HEARITH_SELECTION", SELECTION))


def cargo():
    """Returns the cargo that runs this script, or the one on the PATH."""
    return os.environ.get("CARGO", "cargo")


def built():
    """Builds all test programs, with a report of cargo's build times. Clippy checks examples
    instead.

    Returns package, kind, name, source and path of each, as sorted by `programs`.
    """
    command = [cargo(), "test", *selection(), "--tests", "--no-run", "--timings"]
    command += ["--message-format", "json-render-diagnostics"]
    process = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False, text=True)
    if process.returncode:
        sys.exit(process.returncode)
    return programs(process.stdout.splitlines())


def programs(lines):
    """Returns the test programs among cargo's messages, sorted by package, unit tests first."""
    found = []
    for line in lines:
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or not message["profile"]["test"] or not message["executable"]:
            continue
        target = message["target"]
        manifest = Path(message["manifest_path"])
        found.append(
            {
                "package": package_name(message["package_id"], manifest),
                "folder": manifest.parent,
                "kind": target["kind"][0],
                "name": target["name"],
                "source": Path(target["src_path"]),
                "path": Path(message["executable"]),
            }
        )
    order = {"lib": 0, "bin": 1, "test": 2}
    return sorted(found, key=lambda it: (it["package"], order.get(it["kind"], 3), it["name"]))


def package_name(identity, manifest):
    """Returns a package's name from its identity: `path+file:///folder#name@version`, or
    `...#version` if the folder has the same name.
    """
    fragment = identity.rpartition("#")[2]
    return fragment.partition("@")[0] if "@" in fragment else manifest.parent.name


def library_path():
    """Returns the path on which programs find Rust's shared libraries, as `cargo test` sets it."""
    output = subprocess.run(
        ["rustc", "--print", "sysroot"], stdout=subprocess.PIPE, check=True, text=True
    ).stdout.strip()
    before = os.environ.get("LD_LIBRARY_PATH")
    return os.pathsep.join([f"{output}/lib", *([before] if before else [])])


def run(program, arguments, environment):
    """Runs a program in its package's folder, as cargo does. Returns its output, whether it passed,
    and the seconds it took.
    """
    kind = {"lib": "unittests", "bin": "unittests", "proc-macro": "unittests"}.get(program["kind"], "")
    where = " ".join(filter(None, [kind, str(program["source"].relative_to(program["folder"]))]))
    text = f"     Running {where} ({os.path.relpath(program['path'], ROOT)})\n"
    own = {"CARGO_MANIFEST_DIR": str(program["folder"]), "CARGO_PKG_NAME": program["package"], "CARGO": cargo()}
    start = time.monotonic()
    done = subprocess.run(
        [program["path"], *arguments],
        cwd=program["folder"],
        env=environment | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text += done.stdout.decode(errors="replace")
    if done.returncode:
        text += f"test: {program['package']}: {where} FAILED (status {done.returncode})\n"
    return text, done.returncode == 0, time.monotonic() - start


def run_all(wanted, arguments, environment, jobs):
    """Runs programs in parallel, since many tests wait. Prints their outputs in order."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run, program, arguments, environment) for program in wanted]
        for program, future in zip(wanted, futures, strict=True):
            text, passed, seconds = future.result()
            print(text, end="", flush=True)
            yield program, passed, seconds


def main():
    """Builds and runs all tests; ends with status 1 if any failed."""
    if "--" in sys.argv:
        at = sys.argv.index("--")
        own, arguments = sys.argv[1:at], sys.argv[at + 1 :]
    else:
        own, arguments = sys.argv[1:], []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="PACKAGE")
    parser.add_argument("--not", dest="without", action="append", default=[], metavar="PACKAGE")
    parser.add_argument("--doc", action="store_true")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="programs at a time (2)")
    options = parser.parse_args(own)

    found = built()
    known = {program["package"] for program in found}
    for name in [*options.only, *options.without]:
        if name not in known:
            parser.error(f"there is no package {name} with tests")
    wanted = [
        it
        for it in found
        if (not options.only or it["package"] in options.only) and it["package"] not in options.without
    ]
    environment = os.environ | {"LD_LIBRARY_PATH": library_path()}
    failed, lines = [], []
    for program, passed, seconds in run_all(wanted, arguments, environment, options.jobs):
        lines.append(f"{seconds:.1f}\t{program['package']}\t{program['kind']} {program['name']}\n")
        if not passed:
            failed.append(f"{program['package']} ({program['kind']} {program['name']})")
    if options.log:
        options.log.parent.mkdir(parents=True, exist_ok=True)
        with options.log.open("a") as log:
            log.writelines(lines)
    if options.doc:
        command = [cargo(), "test", *selection(), "--doc"]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append("examples in the documentation")
    if failed:
        sys.exit("test: FAILED: " + ", ".join(failed))


if __name__ == "__main__":
    main()
