"""Resources that a machine may lack, and `HEARITH_REQUIRE`, the list of those it must have
(described in `crates/testing`).
"""

import os
from typing import NoReturn

import pytest

#: The names used by Python tests; the list may also contain those of Rust tests.
NAMES = {"serial", "avx2", "ifma", "phe-suite", "command", "flower", "notebooks", "spark", "last-pid", "namespaces"}
NAMES |= {"postgres-extension", "emulated-card"}


def missing(name: str, reason: str) -> NoReturn:
    """Skips a test (or, during its import, a module of tests) because something is missing.

    Fails instead if `HEARITH_REQUIRE` lists it.
    """
    assert name in NAMES, name
    listed = {entry.strip() for entry in os.environ.get("HEARITH_REQUIRE", "").split(",")}
    if name in listed:
        pytest.fail(f"HEARITH_REQUIRE lists {name}: {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)
