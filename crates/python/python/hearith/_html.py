"""What notebooks show of keys and ciphertexts: what they are, never a value."""

from __future__ import annotations

import html
from collections.abc import Mapping


def shown(caption: str, entries: Mapping[str, str]) -> str:
    """A table of what is said of something."""
    rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in entries.items())
    return f"<table><caption>{caption}</caption>{rows}</table>"
