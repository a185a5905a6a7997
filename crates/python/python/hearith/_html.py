"""HTML representations of keys and ciphertexts for notebooks: descriptions, never values."""

from __future__ import annotations

import html
from collections.abc import Mapping


def shown(caption: str, entries: Mapping[str, str]) -> str:
    """Returns an HTML table of entries."""
    rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in entries.items())
    return f"<table><caption>{caption}</caption>{rows}</table>"
