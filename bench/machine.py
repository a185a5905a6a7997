"""The machine that a benchmark ran on, as pages of results name it."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path


def processor() -> str:
    """The processor's model and the vector instructions that it has of those that Hearith uses."""
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    flags = re.search(r"^flags\s*: (.*)$", text, re.MULTILINE)
    known = flags[1].split() if flags else []
    engines = [name for name, flag in (("AVX2", "avx2"), ("AVX-512 IFMA", "avx512ifma")) if flag in known]
    return f"{model[1].strip() if model else platform.machine()} ({', '.join(engines) or 'no vector engine'})"


def listed(program: Path) -> list[str]:
    """Lines of a Markdown list: the machine, the version of a program, and today's date."""
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    return [
        f"- Machine: {processor()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}",
        f"- Program: {version}",
        f"- Date: {datetime.date.today()}",
    ]
