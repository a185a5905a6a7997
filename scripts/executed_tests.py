#!/usr/bin/env python3
"""Lists the names of the tests that a run executed, and compares two lists.

Usage: executed_tests.py list [--root DIR] [--names PATH]... LOG... > tests.txt
       executed_tests.py compare BEFORE AFTER

`list` reads the output of `.ci/run` or `make test` (standard output and error in one file) and
writes one test a line, sorted. It reads cargo test, cargo-nextest, pytest, vitest,
rtl/cocotb/run.py, scripts/fuzz.sh and Criterion's test mode. Ignored, skipped and failed tests have
their state after a tab. An integration test has the same name in its own file and as a module of
`tests/all`.

pytest without -v, vitest without its verbose reporter and the cocotb runner print only counts.
Their tests are numbered unless --names provides names: PATH is the output of
`pytest --collect-only -q` or `vitest list`, or the folder of cocotb's results.

`compare` prints the tests that vanished, became ignored, or are new. It exits with 1 if any
vanished or became ignored. For numbered tests it compares the counts.
"""

import argparse
import re
import sys
import tomllib
import xml.etree.ElementTree as xml
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXECUTED, FAILED, IGNORED = "", "failed", "ignored"
#: Folders in which pytest and vitest are started.
FOLDERS = ("", "crates/python", "packages/js", "scripts", "verifier", "web")

ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
FINISHED = re.compile(r"\s+Finished ")
RUNNING = re.compile(r"\s+Running (?:unittests )?(\S+) \((?:([\w-]+): )?(?:.*/)?([^/]+)-[0-9a-f]{16}\)$")
DOCTESTS = re.compile(r"\s+Doc-tests (\S+)$")
TEST = re.compile(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$")
LINE = re.compile(r" \(line \d+\).*$")
QUIET = re.compile(r"[.iF]+(?: \d+/\d+)?$")
NEXTEST = re.compile(r"\s+(PASS|FAIL|LEAK|SKIP) \[[^]]*\] (?:\( *\d+/\d+\) )?([\w-]+)(?:::(\S+))? (\S+)$")
PYTEST_STARTS = re.compile(r"=+ test session starts =+$")
PYTEST_ENDS = re.compile(r"(?:=+ )?\d+ (?:passed|failed|skipped|error).* in [\d.]+s")
PYTEST_NAMED = re.compile(r"(\S+\.py::.+?) (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)(?: |$)")
PYTEST_WORKER = re.compile(r"\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR) (\S+\.py::.+?) *$")
PYTEST_FILE = re.compile(r"(\S+\.py) ([.sxXFE]+) *(?:\[ *\d+%\])?$")
PYTEST_MORE = re.compile(r"([.sxXFE]+) *\[ *\d+%\]$")
VITEST_NAMED = re.compile(r" *(\S) (\S+\.ts > .+?)(?: \d+(?:\.\d+)?m?s)?$")
VITEST_FILE = re.compile(r" *\S (\S+\.ts) \((\d+) tests?(?: \| (.*?))?\)")
COCOTB = re.compile(r"cocotb: (\S+): \d+ of (\d+) tests passed$")
FUZZ = re.compile(r"fuzz: (\S+) +\d+ runs,")
CRITERION = re.compile(r"Testing (\S.*)$")
NUMBERED = re.compile(r"((?:pytest|vitest|cocotb)(?: \S+)?) #\d+")

STATES = {"ok": EXECUTED, "PASS": EXECUTED, "LEAK": EXECUTED, "PASSED": EXECUTED, "XFAIL": EXECUTED, "XPASS": EXECUTED}
STATES |= {"FAILED": FAILED, "FAIL": FAILED, "ERROR": FAILED, "ignored": IGNORED, "SKIP": IGNORED, "SKIPPED": IGNORED}
STATES |= {".": EXECUTED, "x": EXECUTED, "X": EXECUTED, "s": IGNORED, "F": FAILED, "E": FAILED}
STATES |= {"✓": EXECUTED, "↓": IGNORED}


class Workspace:
    """The packages of a checkout, by the names of their build products."""

    def __init__(self, root):
        """Reads the manifests below a checkout's root."""
        self.root = root
        self.packages = defaultdict(set)
        self.files = {}
        members = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["members"]
        for path in sorted(path for member in members for path in root.glob(f"{member}/Cargo.toml")):
            self._read(path.parent, tomllib.loads(path.read_text()))

    def _read(self, folder, manifest):
        package = manifest["package"]["name"]
        library = manifest.get("lib", {}).get("name", package)
        self.packages[library.replace("-", "_")].add(package)
        for target in manifest.get("bin", []):
            self.packages[target["name"].replace("-", "_")].add(package)
        tests = {test["name"]: test.get("path", f"tests/{test['name']}.rs") for test in manifest.get("test", [])}
        if manifest["package"].get("autotests", True):
            paths = [*folder.glob("tests/*.rs"), *folder.glob("tests/*/main.rs")]
            found = {path.parent.name if path.name == "main.rs" else path.stem: path for path in paths}
            tests = {name: str(path.relative_to(folder)) for name, path in found.items()} | tests
        self.files |= {(package, name): path for name, path in tests.items()}

    def package_of(self, executable):
        """Returns the only package with a library or program of this name, or nothing if none or
        several have one.
        """
        packages = self.packages.get(executable, set())
        return next(iter(packages)) if len(packages) == 1 else None

    def package_of_test(self, executable, path, last):
        """Returns the package with this integration test; of several, the one whose unit tests ran
        last.
        """
        packages = {
            package
            for (package, name), file in self.files.items()
            if name.replace("-", "_") == executable and file == path
        }
        return last if last in packages else next(iter(packages)) if len(packages) == 1 else None

    def module(self, path):
        """Returns the prefix of an integration test's names, derived from its file."""
        path = Path(path)
        return "" if path.name == "main.rs" else f"{path.stem}::"

    def place(self, path):
        """Returns a file's path from the root; a runner prints it relative to its start folder."""
        found = (f"{folder}/{path}".lstrip("/") for folder in FOLDERS if (self.root / folder / path).is_file())
        return next(found, path)


class Reader:
    """Reads logs line by line and collects the tests that they name or count."""

    def __init__(self, workspace):
        """Starts without tests."""
        self.workspace = workspace
        self.tests = {}
        self.counted = defaultdict(list)
        self.unnamed = 0
        self.package = None
        self.prefix = None
        self.documentation = None
        self.file = None

    def add(self, name, state):
        """Records a state: an execution replaces an ignored state, a failure replaces any."""
        known = self.tests.get(name)
        if known is None or known == IGNORED or state == FAILED:
            self.tests[name] = state

    def read(self, text):
        """Reads a log."""
        for line in text.splitlines():
            line = ANSI.sub("", line).rstrip()
            any(reader(line) for reader in (self._cargo, self._nextest, self._pytest, self._vitest, self._others))

    def _cargo(self, line):
        if FINISHED.match(line):
            self.package = self.prefix = self.documentation = None
        elif found := RUNNING.match(line):
            path, package, executable = found.groups()
            if path.startswith("src/"):
                package = self.package = package or self.workspace.package_of(executable) or self.package
                kind = "lib " if path == "src/lib.rs" else f"bin {executable} "
            else:
                package = package or self.workspace.package_of_test(executable, path, self.package)
                kind = f"test {self.workspace.module(path)}"
            if package is None:
                raise ValueError(f"{line.strip()}: the checkout and the log do not say of which package this is")
            self.prefix, self.documentation = f"rust {package} {kind}", None
        elif found := DOCTESTS.match(line):
            package = self.workspace.package_of(found[1])
            if package is None:
                raise ValueError(f"{line.strip()}: no package has a library of this name")
            self.prefix, self.documentation = f"rust {package} doc ", Counter()
        elif found := TEST.match(line):
            if self.prefix is None:
                raise ValueError(f"{line}: the log does not say of which executable this is")
            name, state = found.groups()
            if self.documentation is not None:
                # Drops line numbers, so that examples keep their names when code above them
                # changes.
                name = LINE.sub("", name)
                self.documentation[name] += 1
                name += f" ({self.documentation[name]})" if self.documentation[name] > 1 else ""
            self.add(self.prefix + name, STATES[state])
        elif QUIET.match(line) and self.file is None and "F" not in line:
            self.unnamed += len(line.split()[0])
        else:
            return False
        return True

    def _nextest(self, line):
        if not (found := NEXTEST.match(line)):
            return False
        state, package, target, name = found.groups()
        if target is None:
            kind = "lib "
        elif target.startswith("bin/"):
            kind = f"bin {target[4:]} "
        elif (package, target) in self.workspace.files:
            kind = f"test {self.workspace.module(self.workspace.files[package, target])}"
        else:
            raise ValueError(f"{line.strip()}: {package} has no such test target")
        self.add(f"rust {package} {kind}{name}", STATES[state])
        return True

    def _pytest(self, line):
        if PYTEST_STARTS.match(line):
            self.file = ""
        elif PYTEST_ENDS.match(line):
            self.file = None
        elif found := PYTEST_NAMED.match(line):
            self._pytest_named(*found.groups())
        elif found := PYTEST_WORKER.match(line):
            self._pytest_named(*reversed(found.groups()))
        elif found := PYTEST_FILE.match(line):
            self.file = f"pytest {self.workspace.place(found[1])}"
            self.counted[self.file] += [STATES[mark] for mark in found[2]]
        elif found := PYTEST_MORE.match(line):
            # With --quiet no line has a file's name.
            self.counted[self.file or "pytest"] += [STATES[mark] for mark in found[1]]
        else:
            return False
        return True

    def _pytest_named(self, name, state):
        path, test = name.split("::", 1)
        self.add(f"pytest {self.workspace.place(path)}::{test}", STATES[state])

    def _vitest(self, line):
        if found := VITEST_NAMED.match(line):
            path, test = found[2].split(" > ", 1)
            self.add(f"vitest {self.workspace.place(path)} > {test}", STATES.get(found[1], FAILED))
        elif found := VITEST_FILE.match(line):
            others = dict(reversed(part.split(" ", 1)) for part in (found[3] or "").split(" | ") if part)
            skipped, failed = (int(others.get(word, 0)) for word in ("skipped", "failed"))
            executed = int(found[2]) - skipped - failed
            states = [EXECUTED] * executed + [FAILED] * failed + [IGNORED] * skipped
            self.counted[f"vitest {self.workspace.place(found[1])}"] += states
        else:
            return False
        return True

    def _others(self, line):
        if found := COCOTB.match(line):
            self.counted[f"cocotb {found[1]}"] = [EXECUTED] * int(found[2])
        elif found := FUZZ.match(line):
            self.add(f"fuzz {found[1]}", EXECUTED)
        elif found := CRITERION.match(line):
            self.add(f"bench {found[1]}", EXECUTED)

    def seeds(self):
        """Adds the seeds of the fuzz targets, all of which the seeds' test runs."""
        if self.tests.get("rust hearith-fuzz test seeds::every_seed_passes_its_target", IGNORED) == EXECUTED:
            for path in (self.workspace.root / "fuzz" / "seeds").glob("*/*"):
                self.add(f"fuzz {path.parent.name} seed {path.name}", EXECUTED)

    def name(self, names):
        """Names counted tests, file by file and in order, and numbers those without names."""
        named = {group_of(name) for name in self.tests}
        rest = [name for group, found in names.items() if group not in named | self.counted.keys() for name in found]
        for group, states in sorted(self.counted.items()):
            if group in named:
                continue
            found = [name for name in rest if name.startswith("pytest ")] if group == "pytest" else names.get(group)
            if found and len(found) != len(states):
                raise ValueError(f"{group}: {len(found)} tests have names and {len(states)} were counted")
            found = found or [f"{group} #{number}" for number in range(1, len(states) + 1)]
            for name, state in zip(found, states, strict=True):
                self.add(name, state)


def group_of(name):
    """Returns the file of a pytest or vitest test, or the top module of a cocotb test."""
    runner, rest = name.split(" ", 1)
    end = {"pytest": "::", "vitest": " > ", "cocotb": " "}.get(runner)
    return f"{runner} {rest.split(end, 1)[0]}" if end else None


def read_names(path, workspace):
    """Reads names by group, from the lists of pytest or vitest or from the folders of cocotb's
    results.
    """
    names = defaultdict(list)
    if path.is_dir():
        for results in sorted(path.glob("*/results.xml")):
            group = f"cocotb {results.parent.name}"
            cases = xml.parse(results).getroot().iter("testcase")
            names[group] = sorted({f"{group} {case.get('classname')}.{case.get('name')}" for case in cases})
        return names
    for line in ANSI.sub("", path.read_text()).splitlines():
        for runner, separator in (("pytest", "::"), ("vitest", " > ")):
            file, found, test = line.strip().partition(separator)
            if found and re.fullmatch(r"\S+\.(py|ts)", file):
                group = f"{runner} {workspace.place(file)}"
                names[group].append(f"{group}{separator}{test}")
                break
    return names


def executed(logs, root, names=()):
    """Returns the states of the tests in these logs, by name."""
    workspace = Workspace(root)
    reader = Reader(workspace)
    for log in logs:
        reader.read(log.read_text(errors="replace"))
    reader.seeds()
    reader.name({group: found for path in names for group, found in read_names(path, workspace).items()})
    return reader.tests, reader.unnamed


def read_list(path):
    """Reads a saved list: states by name."""
    lines = (line.partition("\t") for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {name: state for name, _, state in lines}


def differences(before, after):
    """Compares two lists: tests that vanished, became ignored or are new."""
    numbered = {found[1] for name in (*before, *after) if (found := NUMBERED.fullmatch(name))}

    def split(tests):
        counts, single = Counter(), {}
        for name, state in tests.items():
            found = NUMBERED.fullmatch(name)
            group = found[1] if found else group_of(name)
            if group in numbered:
                counts[group] += state != IGNORED
            else:
                single[name] = state
        return counts, single

    (counts, old), (new_counts, new) = split(before), split(after)
    executed_before = [name for name, state in old.items() if state != IGNORED]
    vanished = [name for name in executed_before if name not in new]
    vanished += [
        f"{group}: {counts[group]} tests, now {new_counts[group]}"
        for group in counts
        if new_counts[group] < counts[group]
    ]
    became_ignored = [name for name in executed_before if new.get(name) == IGNORED]
    added = [name for name, state in new.items() if state != IGNORED and old.get(name, IGNORED) == IGNORED]
    added += [
        f"{group}: {new_counts[group]} tests, {counts[group]} before"
        for group in new_counts
        if new_counts[group] > counts[group]
    ]
    return sorted(vanished), sorted(became_ignored), sorted(added)


def write_list(arguments):
    """Runs the sub-command `list`."""
    tests, unnamed = executed(arguments.log, arguments.root, arguments.names)
    if not tests:
        sys.exit("tests: the logs name no test")
    for name in sorted(tests):
        state = tests[name]
        print(f"{name}\t{state}" if state else name)
    states = Counter(tests.values())
    total = f"{states[EXECUTED] + states[FAILED]} executed ({states[FAILED]} failed), {states[IGNORED]} ignored"
    print(f"tests: {total}; {unnamed} of quiet runs without names", file=sys.stderr)


def compare(arguments):
    """Runs the sub-command `compare`."""
    before, after = read_list(arguments.before), read_list(arguments.after)
    if not before:
        sys.exit(f"tests: {arguments.before} lists no test")
    vanished, became_ignored, added = differences(before, after)
    for what, names in (("vanished", vanished), ("became ignored", became_ignored), ("new", added)):
        for name in names:
            print(f"{what}: {name}")
    counts = [sum(state != IGNORED for state in tests.values()) for tests in (before, after)]
    changes = f"{len(vanished)} vanished, {len(became_ignored)} became ignored, {len(added)} new"
    print(f"tests: {counts[0]} executed before, {counts[1]} after: {changes}")
    sys.exit(bool(vanished or became_ignored))


def main():
    """Runs the sub-command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("list", help="list the tests that logs name")
    command.add_argument(
        "--root", type=Path, default=ROOT, metavar="DIR", help="the checkout that was tested (this one)"
    )
    command.add_argument("--names", type=Path, action="append", default=[], metavar="PATH")
    command.add_argument("log", type=Path, nargs="+", metavar="LOG")
    command.set_defaults(run=write_list)
    command = commands.add_parser("compare", help="compare two lists")
    command.add_argument("before", type=Path, metavar="BEFORE")
    command.add_argument("after", type=Path, metavar="AFTER")
    command.set_defaults(run=compare)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except (OSError, ValueError) as error:
        sys.exit(f"tests: {error}")


if __name__ == "__main__":
    main()
