"""Runs python-paillier's own test suite with `hearith.phe` instead of `phe`.

The suite is part of phe's source package on PyPI. It is under the GPL and is not copied here: the
test downloads it. All its tests pass, and none is skipped.
"""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from required import missing

#: The source package with its hash.
RELEASE = Path(__file__).parent / "phe_suite.txt"
#: Tests of phe's private internals that do not apply, with reasons. There are none.
EXCEPTIONS: dict[str, str] = {}
#: The number of tests in the suite of that release, so that missing ones are noticed.
TESTS = 234

RUNNER = """
import sys
import hearith.phe
import hearith.phe.command_line
for name, module in list(sys.modules.items()):
    if name == "hearith.phe" or name.startswith("hearith.phe."):
        sys.modules[name.removeprefix("hearith.")] = module
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.fixture(scope="session")
def suite(tmp_path_factory):
    """The suite's folder. `HEARITH_PHE_SUITE` may name a downloaded source package."""
    folder = tmp_path_factory.mktemp("phe")
    given = os.environ.get("HEARITH_PHE_SUITE")
    if given is None:
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "--dest", str(folder)]
        options += ["--require-hashes", "--requirement", str(RELEASE)]
        fetched = subprocess.run(
            [sys.executable, "-m", "pip", "download", *options], capture_output=True, text=True, check=False
        )
        if fetched.returncode != 0:
            missing(
                "phe-suite", f"PyPI cannot be reached, so phe's suite is not to be had: {fetched.stderr.strip()[-200:]}"
            )
        given = str(next(folder.glob("phe-*.tar.gz")))
    with tarfile.open(given) as package:
        members = [member for member in package if re.fullmatch(r"[^/]+/phe/tests/\w+_test\.py", member.name)]
        package.extractall(folder, members=members, filter="data")
    return next(folder.glob("*/phe/tests"))


def test_phes_own_suite_passes(suite: Path):
    left_out = [argument for name in EXCEPTIONS for argument in ("--deselect", name)]
    # Runs from the folder of the tests, since their parent contains a folder `phe` that would
    # shadow the package.
    tests = sorted(str(test) for test in suite.glob("*_test.py"))
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir", str(suite), "-c", os.devnull]
    run = subprocess.run(
        [sys.executable, "-c", RUNNER, *options, *left_out, *tests],
        capture_output=True,
        text=True,
        check=False,
        cwd=suite,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None, run.stdout[-500:]
    assert int(passed[1]) == TESTS - len(EXCEPTIONS)
    assert "skipped" not in run.stdout.splitlines()[-1]
