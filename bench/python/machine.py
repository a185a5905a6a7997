"""What the pages say of the machine that they were measured on."""

from __future__ import annotations

import re
from pathlib import Path


def processor() -> str:
    """The processor's name, as the system has it."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else "a processor without a name"
