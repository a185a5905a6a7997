"""The stub of the Rust module says what the module has, and the package is typed."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

PACKAGE = Path(__file__).parent.parent


def test_the_stub_describes_the_module():
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "hearith._native"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE / "python")}
    run = subprocess.run(command, cwd=PACKAGE, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_the_package_is_typed_strictly():
    run = subprocess.run([sys.executable, "-m", "mypy"], cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert files("hearith").joinpath("py.typed").is_file()
