"""Describes the machine for the pages of measurements."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path


def fields() -> dict[str, str]:
    """Returns the system's description of its first processor, by field name."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    first = text.partition("\n\n")[0]
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}


def processor() -> str:
    """Returns the processor's name."""
    return fields().get("model name") or platform.processor() or platform.machine()


def model() -> str:
    """Returns the processor's name with its family and model, if known."""
    found = fields()
    if not {"cpu family", "model"} <= found.keys():
        return processor()
    return f"{processor()} (family {found['cpu family']}, model {found['model']})"


def vectors() -> str:
    """Returns the processor's vector instructions that Hearith uses."""
    flags = fields().get("flags", "").split()
    found = [name for name, flag in (("AVX2", "avx2"), ("AVX-512 IFMA", "avx512ifma")) if flag in flags]
    return ", ".join(found) or "no vector engine"


def listed(program: Path) -> list[str]:
    """Returns lines of a Markdown list: the machine, the version of a program, and today's date."""
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    system = f"{platform.system()} {platform.machine()}"
    return [
        f"- Machine: {model()}, {vectors()}, {os.cpu_count()} hardware threads, {system}",
        f"- Program: {version}",
        f"- Date: {datetime.date.today()}",
    ]
