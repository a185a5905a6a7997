"""What a machine may lack, and the list of what it must not lack: `HEARITH_REQUIRE`, as
`crates/testing` describes it.
"""

import os
from typing import NoReturn

import pytest

#: The names that tests in Python give out; a list may hold those of the tests in Rust too.
NAMES = {"serial", "avx2", "ifma", "phe-suite", "command", "flower", "notebooks", "spark", "last-pid", "namespaces"}
NAMES |= {"postgres-extension", "emulated-card"}


def missing(name: str, reason: str) -> NoReturn:
    """Leaves a test (or, while it is imported, a module of them) out, because something is missing;
    fails where `HEARITH_REQUIRE` lists it.
    """
    assert name in NAMES, name
    listed = {entry.strip() for entry in os.environ.get("HEARITH_REQUIRE", "").split(",")}
    if name in listed:
        pytest.fail(f"HEARITH_REQUIRE lists {name}: {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)
