"""Tests that can be skipped fail if a required resource is missing."""

import pytest
from required import missing


@pytest.mark.parametrize("listed", ["", "valgrind", "ifma-2,command"])
def test_what_is_not_listed_may_be_missing(listed, monkeypatch):
    monkeypatch.setenv("HEARITH_REQUIRE", listed)
    with pytest.raises(pytest.skip.Exception, match="no such engine"):
        missing("ifma", "no such engine")


@pytest.mark.parametrize("listed", ["ifma", "valgrind, ifma"])
def test_what_is_listed_must_be_there(listed, monkeypatch):
    monkeypatch.setenv("HEARITH_REQUIRE", listed)
    with pytest.raises(pytest.fail.Exception, match="HEARITH_REQUIRE lists ifma: no such engine"):
        missing("ifma", "no such engine")


def test_names_are_known():
    with pytest.raises(AssertionError):
        missing("quantum", "there is none")
