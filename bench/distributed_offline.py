#!/usr/bin/env python3
"""Times key generation by files, without a network; writes bench/results/distributed-offline.md.

    distributed_offline.py --program HEARITH [--sharing W/L] [--bits N ...] [--out FOLDER]

One trustee runs at a time, with all cores, as if each had this machine. Between the calls this
program carries the files, which is not timed.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent / "python"))
import machine


class Run(NamedTuple):
    """The cost of one key for each trustee."""

    calls: int
    seconds: list[float]
    longest: float
    sent: list[int]
    largest: int
    kept: int


def line(program: Path, number: int, sharing: tuple[int, int], bits: int) -> list[str]:
    """Returns the command that a trustee repeats."""
    needed, trustees = sharing
    words = [str(program), "keygen", "--insecure-key", "--json", "--bits", str(bits), "--trustee", str(number)]
    words += ["--distributed", f"{needed}/{trustees}", "--identity", f"id-{number}/signing-private.json"]
    words += ["--offline", f"carried-{number}", "--out", f"key-{number}", "--passphrase-file", "words.txt"]
    for other in range(1, trustees + 1):
        if other != number:
            words += ["--peer-key", f"{other}=id-{other}/signing-public.json"]
    return words


def size(folder: Path) -> int:
    """Returns the bytes of all files."""
    return sum(file.stat().st_size for file in folder.iterdir()) if folder.is_dir() else 0


def run(program: Path, folder: Path, sharing: tuple[int, int], bits: int) -> Run:
    """Generates one key."""
    everybody = range(1, sharing[1] + 1)
    calls, seconds, longest, kept = 0, [0.0] * sharing[1], 0.0, 0
    sent: dict[tuple[int, str], int] = {}
    for number in everybody:
        (folder / f"carried-{number}").mkdir()
    finished = False
    while not finished:
        calls += 1
        for number in everybody:
            started = time.monotonic()
            command = line(program, number, sharing, bits)
            ended = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
            took = time.monotonic() - started
            seconds[number - 1] += took
            longest = max(longest, took)
            kept = max(kept, size(folder / f"key-{number}" / f"offline-{number}"))
            finished = json.loads(ended.stdout.splitlines()[-1])["is_finished"]
        for sender in everybody:
            for file in (folder / f"carried-{sender}").glob(f"*-from-{sender}-to-*"):
                if (sender, file.name) not in sent:
                    sent[sender, file.name] = file.stat().st_size
                    receiver = file.stem.rsplit("-", 1)[1]
                    os.link(file, folder / f"carried-{receiver}" / file.name)
    for number in everybody:
        shutil.rmtree(folder / f"carried-{number}")
        shutil.rmtree(folder / f"key-{number}")
    written = [sum(count for (sender, _), count in sent.items() if sender == number) for number in everybody]
    return Run(calls, seconds, longest, written, max(sent.values()), kept)


def row(bits: int, made: Run) -> str:
    """Returns a line of the table."""
    megabytes = [f"{count / 1e6:.1f}" for count in (max(made.sent), made.largest, made.kept)]
    times = f"{statistics.median(made.seconds):.0f} | {made.longest:.1f}"
    return f"| {bits} | {made.calls} | {times} | {' | '.join(megabytes)} |"


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--sharing", default="3/5", help="threshold and number of trustees")
    parser.add_argument("--bits", type=int, nargs="+", default=[2048])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    needed, trustees = map(int, options.sharing.split("/"))
    lines = ["# Keys by files, without a network", "", "Made by `bench/distributed_offline.py`."]
    lines += ["", *machine.listed(options.program.resolve())]
    lines += [f"- Trustees: {trustees}, of whom {needed} decrypt; called one at a time, with all cores"]
    lines += ["- Method: one run per size. Each call reads the files of one exchange and computes the run"]
    lines += ["  again from the beginning. Times are sums over a trustee's calls, and the median of trustees", ""]
    lines += ["| bits | calls | seconds per trustee | longest call | MB written per trustee | largest file, MB | MB kept |"]
    lines += ["| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = folder / "words.txt"
        words.write_text("a passphrase for a benchmark\n")
        words.chmod(0o600)
        for number in range(1, trustees + 1):
            command = [options.program.resolve(), "keygen", "--signing", "--out", f"id-{number}"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        for bits in options.bits:
            made = run(options.program.resolve(), folder, (needed, trustees), bits)
            lines.append(row(bits, made))
            print(lines[-1], flush=True)
    (options.out / "distributed-offline.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
