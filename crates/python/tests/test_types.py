"""The stub of the Rust module matches the module, and the package is typed."""

import os
import subprocess
import sys
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import hearith as he

PACKAGE = Path(__file__).parent.parent


def test_the_stub_describes_the_module():
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "hearith._native"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE / "python")}
    run = subprocess.run(command, cwd=PACKAGE, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_calls_have_the_types_that_they_say():
    environment = os.environ | {"PYTHONPATH": str(PACKAGE / "python")}
    # The mypy test below also checks this file.
    subprocess.run([sys.executable, "tests/typed.py"], cwd=PACKAGE, env=environment, check=True)


@pytest.mark.parametrize(
    ("values", "options", "kind", "wrong", "message"),
    [
        ([1, 2], {}, np.ndarray, int, "to a ndarray, not to int"),
        (1, {}, int, float, "to an int, not to float"),
        (1, {}, int, np.ndarray, "to an int, not to ndarray"),
        ("0.5", {"scale": 1}, Decimal, int, "to a Decimal, not to int"),
        (0.5, {"exponent": -1}, float, Decimal, "to a float, not to Decimal"),
    ],
)
def test_what_is_decrypted_into_something_else_is_refused(values, options, kind, wrong, message):
    public, private = he.generate_keypair(256, insecure=True)
    encrypted = public.encrypt(values, **options)
    assert type(private.decrypt(encrypted, into=kind)) is kind
    with pytest.raises(TypeError, match=message):
        private.decrypt(encrypted, into=wrong)


def test_the_package_is_typed_strictly():
    run = subprocess.run([sys.executable, "-m", "mypy"], cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert files("hearith").joinpath("py.typed").is_file()
