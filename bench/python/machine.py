"""What the pages say of the machine that they were measured on."""

from __future__ import annotations

import platform
from pathlib import Path


def fields() -> dict[str, str]:
    """What the system says of its first processor, by name."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    first = text.partition("\n\n")[0]
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}


def processor() -> str:
    """The processor's name."""
    return fields().get("model name") or platform.processor() or platform.machine()


def model() -> str:
    """The processor's name with its family and model, where it has them."""
    found = fields()
    if not {"cpu family", "model"} <= found.keys():
        return processor()
    return f"{processor()} (family {found['cpu family']}, model {found['model']})"
