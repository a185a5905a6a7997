#!/usr/bin/env python3
"""Checks what changed: formatting, lints, and unit tests of changed crates.

With a warm build it should take about a minute.

Usage: check_changes.py [BASE]      `make check`, `make check BASE=COMMIT`

A file counts as changed if it differs from the merge base of HEAD and BASE, or if it is untracked
and not ignored. BASE defaults to origin/main, or to HEAD where there is no origin/main.
`make lint` and `make test` remain the full checks: they also cover integration tests,
documentation, hardware models, generated files and dependencies.

| changed | checked |
| --- | --- |
| any file | citations and links of all files (scripts/check_text.py takes a second) |
| a crate's files | rustfmt; clippy of all its targets and of every crate that depends on it; its unit tests |
| Cargo.toml or Cargo.lock of the workspace | clippy of all targets of all crates |
| the hardware's sources | Verible's linter and formatter on these files |
| Python that `make lint` reads | ruff on these files; mypy if the package's types or the verifier changed |
| scripts, wherever they are | those of scripts/tests that name a changed one, and changed tests |
| the election's pages | biome on these files |

How the caches stay warm:

- Cargo chooses the features of dependencies from the packages that a command selects. Commands
  therefore select one changed package each, as `cargo test --package X` does, and the unit tests
  share its artefacts in `target/debug`. One command for several packages would recompile
  dependencies for each combination of changed packages.
- Clippy always selects the whole workspace and finds what a change breaks in dependents. It reads
  libraries, programs and examples: 70 of the 212 targets that `make lint` reads. Nearly all crates
  depend on hearith-arith, and tests would be two thirds of the work. Examples are included because
  cargo then chooses features as for `--all-targets`, so every target is shared with a `make lint`
  in the same target directory.
- Clippy checks dependents instead of `cargo check`. The two do not share the metadata of workspace
  members, so cargo check would read the changed crates a second time.
- VERILATOR=none changes the output of the build scripts of crates with hardware models, and with it
  every crate that depends on them. Clippy and the unit tests of those crates therefore use a
  separate target directory (`target/check`), which leaves the models of `make test` intact. It
  holds no models, and clippy writes only metadata.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Suffixes that no crate's target reads: pages, and sources in other languages, which have their
#: own checks.
NOT_RUST = {".core", ".in", ".ipynb", ".md", ".py", ".pyi", ".sh", ".sv", ".svh", ".txt", ".v"}
#: A change here can affect every crate.
MANIFESTS = {"Cargo.toml", "Cargo.lock"}
#: The crate whose build-script helper compiles models.
MODELS = "hearith-verilated"
#: Folders where `make lint` runs ruff, and the configuration if it is not the nearest one.
PYTHON = {
    "crates/postgres/tests": None,
    "crates/python": None,
    "docs/site": "scripts/ruff.toml",
    "formal": "scripts/ruff.toml",
    "rtl/cocotb": None,
    "rtl/fusesoc": None,
    "rtl/sim": None,
    "scripts": None,
    "survey": "scripts/ruff.toml",
    "verifier": None,
}
#: The files in crates/python that mypy reads (`files` in pyproject.toml), and its configuration.
TYPED = (
    "crates/python/python/",
    "crates/python/examples/",
    "crates/python/tests/typed.py",
    "crates/python/pyproject.toml",
)
VERIFIER = "verifier/hearith_verify.py"
#: Suffixes that biome formats and lints in web/ and packages/js/.
PAGES = {".css", ".html", ".js", ".json", ".ts", ".tsx"}
LIBRARIES = {"cdylib", "dylib", "lib", "proc-macro", "rlib", "staticlib"}


class Fault(Exception):
    """Stops the check with a one-line message."""


def git(root, *arguments):
    """Returns the output of a git command, split at NUL bytes."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fault(f"git {arguments[0]}: {done.stderr.strip()}")
    return [item for item in done.stdout.split("\0") if item]


def base_of(root, wanted):
    """Returns the commit to compare with: the merge base of HEAD and `wanted`."""
    for name in [wanted] if wanted else ["origin/main", "HEAD"]:
        try:
            git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except Fault:
            continue
        return git(root, "merge-base", "HEAD", name)[0].strip()
    raise Fault(
        f"no commit is named {wanted}; name another (make check BASE=HEAD)" if wanted else "there is no commit yet"
    )


def changes(root, wanted):
    """Returns the sorted paths of changed files, including deleted ones."""
    changed = git(root, "diff", "--name-only", "--no-renames", "-z", base_of(root, wanted))
    untracked = git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*changed, *untracked})


class Workspace:
    """The packages of the workspace, as `cargo metadata --no-deps` lists them."""

    def __init__(self, root, metadata):
        """Reads cargo's metadata of the workspace in `root`."""
        self.root = root
        self.target = metadata["target_directory"]
        self.packages = {package["name"]: package for package in metadata["packages"]}
        self.folders = {
            Path(package["manifest_path"]).parent.relative_to(root).as_posix(): name
            for name, package in self.packages.items()
        }

    @classmethod
    def load(cls, root):
        """Loads the metadata from cargo."""
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Fault(f"cargo metadata: {done.stderr.strip()}")
        return cls(root, json.loads(done.stdout))

    def owner(self, path):
        """Returns the package whose targets may read a file: that of the nearest manifest, if the
        workspace contains it.
        """
        # Sources include files of any kind from their own folder (`include_str!`).
        if Path(path).suffix in NOT_RUST and "src" not in Path(path).parts:
            return None
        for folder in Path(path).parents:
            name = folder.as_posix()
            if name in self.folders:
                return self.folders[name]
            if (self.root / folder / "Cargo.toml").exists():
                return None
        return None

    def changed(self, paths):
        """Returns the sorted names of packages that own one of these files."""
        return sorted({name for name in map(self.owner, paths) if name})

    def dependents(self, names):
        """Returns the sorted names of other packages that depend on these, directly or not."""
        found, queue = set(names), list(names)
        while queue:
            wanted = queue.pop()
            for name, package in self.packages.items():
                if name not in found and any(
                    item["name"] == wanted and item.get("path") for item in package["dependencies"]
                ):
                    found.add(name)
                    queue.append(name)
        return sorted(found - set(names))

    def has_models(self, name):
        """Whether the build script of a package, or of a crate it depends on, compiles hardware
        models.
        """
        seen, queue = set(), [name]
        while queue:
            package = self.packages[queue.pop()]
            if package["name"] in seen:
                continue
            seen.add(package["name"])
            local = [item for item in package["dependencies"] if item.get("path") and item["name"] in self.packages]
            if package["name"] == MODELS or any(item["name"] == MODELS for item in local):
                return True
            queue += [item["name"] for item in local]
        return False

    def unit_targets(self, name):
        """Returns cargo's arguments for the targets of a package that hold unit tests; empty if
        there are none.
        """
        arguments = []
        for target in self.packages[name]["targets"]:
            if not target["test"]:
                continue
            if LIBRARIES & set(target["kind"]):
                arguments.append("--lib")
            elif "bin" in target["kind"]:
                arguments += ["--bin", target["name"]]
        return arguments


def existing(root, paths):
    """Returns the files that still exist."""
    return [path for path in paths if (root / path).is_file()]


def python_groups(paths):
    """Groups the changed Python files that `make lint` reads by their ruff configuration."""
    groups = {}
    for path in paths:
        if not path.endswith((".py", ".pyi", ".ipynb")):
            continue
        for folder, configuration in PYTHON.items():
            if path.startswith(f"{folder}/"):
                groups.setdefault(configuration, []).append(path)
    return groups


def script_tests(root, paths):
    """Returns the script tests to run: changed tests, and tests that name a changed script."""
    tests = sorted((root / "scripts" / "tests").glob("test_*.py"))
    scripts = [
        Path(path) for path in paths if Path(path).suffix in (".py", ".sh") and Path(path).parent.name != "tests"
    ]
    words = {
        name for path in scripts for name in (path.name, f"import {path.stem}\n" if path.suffix == ".py" else path.name)
    }
    found = []
    for test in tests:
        name = test.relative_to(root).as_posix()
        text = test.read_text()
        if name in paths or any(word in text for word in words):
            found.append(name)
    return found


class Check:
    """Runs steps one after the other and records failures."""

    def __init__(self, root):
        """Runs steps in `root`, with the programs of its .venv first on the PATH."""
        self.root = root
        self.failed = []
        self.path = f"{root / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        # Inside a hook, git's variables name the repository of the commit, which is wrong for the
        # git commands in tests.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment = kept | {"PATH": self.path}

    def step(self, what, command, folder=".", extra=None):
        """Runs a command and prints how long it took."""
        start = time.monotonic()
        print(f"check: {what}", flush=True)
        if not shutil.which(command[0], path=self.path) and not (self.root / folder / command[0]).exists():
            print(f"check: {what}: {command[0]} is missing: `make setup` installs it", file=sys.stderr)
            self.failed.append(what)
            return
        done = subprocess.run(command, cwd=self.root / folder, env=self.environment | (extra or {}), check=False)
        seconds = time.monotonic() - start
        if done.returncode:
            self.failed.append(what)
        print(f"check: {what}: {'failed' if done.returncode else 'passed'} in {seconds:.1f} s", flush=True)

    def text(self):
        """Checks citations and links."""
        self.step("citations and links", ["scripts/check_text.py"])

    def python(self, paths):
        """Runs ruff, mypy and the tests of scripts."""
        present = existing(self.root, paths)
        for configuration, files in python_groups(present).items():
            option = ["--config", configuration] if configuration else []
            self.step(f"ruff check, {len(files)} files", ["ruff", "check", "--quiet", *option, *files])
            self.step(f"ruff format, {len(files)} files", ["ruff", "format", "--quiet", "--check", *option, *files])
        if any(path.startswith(TYPED) for path in paths):
            self.step("mypy of the package", ["mypy", "--no-error-summary"], folder="crates/python")
        if VERIFIER in present:
            self.step("mypy of the verifier", ["mypy", "--no-error-summary", "--strict", VERIFIER])
        if tests := script_tests(self.root, paths):
            options = ["--quiet", "-p", "no:cacheprovider", "--config-file=/dev/null", "--rootdir", "scripts"]
            self.step(f"tests of scripts, {len(tests)} files", ["pytest", *options, *tests])

    def hardware(self, paths):
        """Runs Verible on the hardware's sources."""
        listed = subprocess.run(
            ["scripts/hardware_files.sh"],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        files = sorted(set(listed) & set(existing(self.root, paths)))
        if files:
            self.step(f"Verible lint, {len(files)} files", ["scripts/lint_rtl.sh", *files])
            self.step(f"Verible format, {len(files)} files", ["scripts/format_rtl.sh", "--check", *files])

    def pages(self, paths):
        """Runs biome on the election's pages and the JavaScript package."""
        for folder, tools in (("web", "node_modules"), ("packages/js", "../../web/node_modules")):
            inside = [path for path in existing(self.root, paths) if path.startswith(f"{folder}/")]
            files = [path.removeprefix(f"{folder}/") for path in inside if Path(path).suffix in PAGES]
            if files:
                command = [f"{tools}/.bin/biome", "check", "--no-errors-on-unmatched", *files]
                self.step(f"biome, {len(files)} files", command, folder=folder)

    def rust(self, workspace, names, everything):
        """Runs rustfmt, clippy and unit tests.

        After a failure it skips the tests, which would report it a second time.
        """
        own = str(Path(workspace.target, "check"))
        select = [argument for name in names for argument in ("--package", name)]
        if names:
            self.step(f"rustfmt of {', '.join(names)}", ["cargo", "fmt", "--check", *select])
        clippy = ["cargo", "clippy", "--quiet", "--all-features", "--target-dir", own]
        deny = ["--", "--deny", "warnings"]
        without_models = {"VERILATOR": "none"}
        for name in [] if everything else names:
            command = [*clippy, "--package", name, "--all-targets", *deny]
            self.step(f"clippy of {name}", command, extra=without_models)
        if everything:
            self.step("clippy of every crate", [*clippy, "--workspace", "--all-targets", *deny], extra=without_models)
        elif others := workspace.dependents(names):
            # Cargo itself determines which packages of the workspace a change affects.
            command = [*clippy, "--workspace", "--lib", "--bins", "--examples", *deny]
            self.step(f"clippy of {len(others)} dependents", command, extra=without_models)
        for name in [] if self.failed else names:
            if targets := workspace.unit_targets(name):
                self.unit_tests(workspace, name, targets, own)

    def unit_tests(self, workspace, name, targets, own):
        """Runs the unit tests of a package, by cargo nextest if it is installed."""
        select = ["--package", name, "--all-features", *targets]
        extra = {}
        if workspace.has_models(name):
            select += ["--target-dir", own]
            extra = {"VERILATOR": "none"}
        if shutil.which("cargo-nextest", path=self.path):
            command = ["cargo", "nextest", "run", "--cargo-quiet", "--no-tests=pass", "--status-level=fail", *select]
        else:
            command = ["cargo", "test", "--quiet", *select]
        self.step(f"unit tests of {name}", command, extra=extra)


def check(root, wanted):
    """Checks the changes since the base `wanted` and returns the exit status."""
    start = time.monotonic()
    paths = changes(root, wanted)
    if not paths:
        print(f"check: nothing changed since {git(root, 'rev-parse', '--short', base_of(root, wanted))[0].strip()}")
        return 0
    run = Check(root)
    run.text()
    run.python(paths)
    run.hardware(paths)
    run.pages(paths)
    workspace = Workspace.load(root)
    run.rust(workspace, workspace.changed(paths), bool(MANIFESTS & set(paths)))
    seconds = time.monotonic() - start
    if run.failed:
        print(f"check: failed after {seconds:.1f} s: {'; '.join(run.failed)}", file=sys.stderr)
        return 1
    print(f"check: passed in {seconds:.1f} s, {len(paths)} changed files (`make lint` and `make test` check all)")
    return 0


def main():
    """Reads the arguments and runs the check."""
    arguments = sys.argv[1:]
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("check: usage: scripts/check_changes.py [BASE]", file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(check(ROOT, arguments[0] if arguments else None))
    except Fault as fault:
        print(f"check: {fault}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
