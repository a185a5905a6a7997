#!/usr/bin/env python3
"""Times the builds that newcomers and continuous integration wait for, with cold and warm caches.

Each command runs in a fresh clone with empty caches, then once more.

Usage: build_times.py measure [--revision REV] [--caches FOLDER] STEP=COMMAND... > times.json
       build_times.py table [--note TEXT] LABEL=FILE... > bench/results/build-times.md

`measure` clones REV (HEAD) into a scratch folder and runs the commands there in order. Cargo's
home, the cache of hardware models and pip's and npm's caches are empty (--caches keeps them in
FOLDER, for a warm run). It writes wall, user and system seconds of each step, the parts that a step
reports itself (`test: rust  9 min 02 s`), and the machine. The first step that needs missing
packages of the operating system installs them. Leave the machine idle otherwise. `table` joins
files of the same label into one column.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/python"))
from machine import processor, vectors

PART = re.compile(r"(?:test|ci): (\S+) +(\d+) min (\d\d) s$")


def machine():
    """Returns processor, cores, operating system and tools, as the table names them."""
    tools = [("rustc", "--version"), ("g++", "--version"), ("verilator", "--version")]
    versions = [version(*tool) for tool in tools]
    return {
        "processor": f"{processor()} ({vectors()})",
        "cores": os.cpu_count(),
        "memory_gib": round(
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        ),
        "tools": [line for line in versions if line],
    }


def version(*command):
    """Returns the first line of a tool's version output, or nothing."""
    if not shutil.which(command[0]):
        return None
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=False
    ).stdout.splitlines()[0]


def timed(command, folder, environment):
    """Runs a command; returns its status, seconds, and the parts that it reports."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        parts = {}
        for line in process.stdout:
            sys.stderr.write(line)
            if found := PART.match(line.strip()):
                parts[found[1]] = 60 * int(found[2]) + int(found[3])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "command": command,
        "status": process.returncode,
        "wall": round(time.monotonic() - start, 1),
        "user": round(after.ru_utime - before.ru_utime, 1),
        "system": round(after.ru_stime - before.ru_stime, 1),
        "parts": parts,
    }


def measure(options):
    """Runs the steps in a fresh clone and prints their times as JSON."""
    revision = subprocess.run(
        ["git", "rev-parse", "--short=10", options.revision],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    steps = {}
    with tempfile.TemporaryDirectory(prefix="build-times-") as scratch:
        clone = Path(scratch) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        subprocess.run(["git", "checkout", "--quiet", revision], cwd=clone, check=True)
        caches = options.caches or Path(scratch) / "caches"
        for name in ("cargo", "cache", "npm"):
            (caches / name).mkdir(parents=True, exist_ok=True)
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("HEARITH_", "CARGO_"))
        }
        environment |= {
            "CARGO_HOME": str(caches / "cargo"),
            "XDG_CACHE_HOME": str(caches / "cache"),
            "CI": "true",
        }
        environment |= {
            "npm_config_cache": str(caches / "npm"),
            "PIP_CACHE_DIR": str(caches / "cache" / "pip"),
        }
        for step in options.steps:
            name, command = step.split("=", 1)
            steps[name] = timed(command, clone, environment)
            if steps[name]["status"]:
                print(f"build_times: {name} FAILED", file=sys.stderr)
    json.dump(
        {"revision": revision, "machine": machine(), "steps": steps},
        sys.stdout,
        indent=1,
    )
    print()
    return any(step["status"] for step in steps.values())


def minutes(seconds):
    """Formats seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def cells_of(step):
    """Returns a step's cells of wall and processor time; a failed one has no time."""
    if step is None:
        return ["", ""]
    if step["status"]:
        return ["FAILED", "FAILED"]
    return [minutes(step["wall"]), minutes(step["user"] + step["system"])]


def table(runs, notes):
    """Returns the page: a row per step and part, a column of wall and processor time per run."""
    about = runs[0][1]["machine"]
    lines = [
        "# Build and test times",
        "",
        "Written by `bench/build_times.py`: each column's commands ran in order in a fresh clone, with empty",
        "caches unless it says otherwise. Times are minutes:seconds.",
        "Some parts run beside others: lint:others with the proofs beside lint:rust, web beside python,",
        "cocotb beside hardware.",
        "",
    ]
    lines += [
        f"- Processor: {about['processor']}, {about['cores']} cores, {about['memory_gib']} GiB",
        f"- Tools: {'; '.join(about['tools'])}",
    ]
    lines += [f"- {label}: revision {run['revision']}" for label, run in runs]
    lines += [f"- {note}" for note in notes]
    lines += [
        "",
        "| step | "
        + " | ".join(f"{label}, wall | {label}, processor" for label, _ in runs)
        + " |",
    ]
    lines += ["| --- |" + " ---: | ---: |" * len(runs)]
    names = list(dict.fromkeys(name for _, run in runs for name in run["steps"]))
    for name in names:
        cells = []
        for _, run in runs:
            cells += cells_of(run["steps"].get(name))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        parts = list(
            dict.fromkeys(
                part
                for _, run in runs
                for part in run["steps"].get(name, {}).get("parts", {})
            )
        )
        for part in parts:
            cells = []
            for _, run in runs:
                seconds = run["steps"].get(name, {}).get("parts", {}).get(part)
                cells += ["" if seconds is None else minutes(seconds), ""]
            lines.append(f"| {name}: {part} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    """Runs the sub-command; `measure` ends with status 1 if a step failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--revision", default="HEAD")
    measuring.add_argument("--caches", type=Path)
    measuring.add_argument("steps", nargs="+", metavar="STEP=COMMAND")
    tabling = commands.add_parser("table")
    tabling.add_argument("runs", nargs="+", metavar="LABEL=FILE")
    tabling.add_argument(
        "--note", action="append", default=[], help="what a column leaves out"
    )
    options = parser.parse_args()
    if options.command == "measure":
        sys.exit(measure(options))
    runs = [run.split("=", 1) for run in options.runs]
    columns = {}
    for label, file in runs:
        run = json.loads(Path(file).read_text())
        first = columns.setdefault(label, run)
        if run["revision"] != first["revision"]:
            sys.exit(f"build_times: {label}: the files are of different revisions")
        first["steps"] |= run["steps"]
    if any(run["machine"] != first["machine"] for run in columns.values()):
        sys.exit("build_times: the files are of different machines or tools")
    print(table([*columns.items()], options.note), end="")


if __name__ == "__main__":
    main()
