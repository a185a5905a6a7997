"""Times `hearith election verify` on a record of many ballots, and its memory; writes bench/results/election.md.

    python bench/python/election_verify.py [--ballots 10000] [--rounds 3] [--command target/release/hearith] [--records FOLDER FOLDER]

The election has one contest of ten candidates of whom exactly one is chosen: ten proofs of 0 or 1 and one of the sum a ballot, under a key
of 2048 bits shared 3 of 5. Two records are made, one a tenth of the other, so that what a ballot takes can be told from what every record takes. `--records` takes two that were made before, the shorter first.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results" / "election.md"
CANDIDATES = [f"Candidate {number}" for number in range(1, 11)]


def run(command: str, *words: object) -> float:
    """Seconds that a command of `hearith election` takes."""
    began = time.monotonic()
    subprocess.run(
        [command, "election", *map(str, words)], check=True, stdout=subprocess.DEVNULL
    )
    return time.monotonic() - began


def peak(command: str, record: Path) -> int:
    """MiB that a verification takes at most, as the system counts it."""
    process = subprocess.Popen(
        [command, "election", "verify", "--quiet", str(record)],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return round(usage.ru_maxrss / 1024)


def rows(path: Path, header: list[str], body: list[list[str]]) -> None:
    """A table as CSV."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *body])


def record(command: str, folder: Path, ballots: int) -> tuple[Path, float]:
    """Holds an election of so many voters; its record, and the seconds that casting took."""
    folder.mkdir()
    contests, office = folder / "contests.json", folder / "office"
    contests.write_text(
        json.dumps(
            [
                {
                    "candidates": CANDIDATES,
                    "method": {"choose": {"exactly": 1}},
                    "title": "Chair",
                }
            ]
        )
    )
    voters = [f"voter {number}" for number in range(ballots)]
    rows(folder / "voters.csv", ["voter"], [[voter] for voter in voters])
    rows(
        folder / "votes.csv",
        ["voter", "Chair"],
        [[voter, CANDIDATES[place % 10]] for place, voter in enumerate(voters)],
    )
    run(command, "init", "--title", "Bench", "--contests", contests, "--out", office)
    run(
        command,
        "ceremony",
        office,
        "--bits",
        2048,
        "--shares",
        "3/5",
        "--out",
        folder / "trustees",
    )
    credentials = folder / "credentials.jsonl"
    run(
        command,
        "register",
        office,
        folder / "voters.csv",
        "--out",
        credentials,
        "--open",
    )
    casting = run(
        command,
        "vote",
        office,
        "--credential",
        credentials,
        "--ballots",
        folder / "votes.csv",
    )
    run(command, "tally", office)
    shares = [folder / f"share-{trustee}.json" for trustee in (1, 2, 3)]
    for trustee, share in enumerate(shares, 1):
        run(
            command,
            "decrypt-share",
            office / "record",
            "--share",
            folder / "trustees" / f"share-{trustee}.json",
            "--out",
            share,
        )
    run(command, "finish", office, *shares)
    return office / "record", casting


def cast(found: Path) -> int:
    """How many ballots a record has."""
    return sum(
        '"kind":"ballot"' in line
        for file in found.glob("board/*")
        for line in file.open()
    )


def size(folder: Path) -> float:
    """MB of a folder's files."""
    return (
        sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    )


def cpu() -> str:
    """The processor's name."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ballots", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", nargs=2, type=Path)
    parser.add_argument(
        "--command", default=str(ROOT / "target" / "release" / "hearith")
    )
    arguments = parser.parse_args()
    lines, seconds = [], {}
    with tempfile.TemporaryDirectory() as holder:
        made = [(folder, None) for folder in arguments.records or []] or [
            record(arguments.command, Path(holder) / str(ballots), ballots)
            for ballots in (arguments.ballots // 10, arguments.ballots)
        ]
        for found, casting in made:
            ballots = cast(found)
            taken = sorted(
                run(arguments.command, "verify", "--quiet", found)
                for _ in range(arguments.rounds)
            )
            seconds[ballots] = statistics.median(taken)
            memory = peak(arguments.command, found)
            line = (
                f"{ballots:,}".replace(",", " "),
                f"{size(found):.0f}",
                "before" if casting is None else f"{casting:.1f}",
                f"{taken[0]:.2f}",
                f"{seconds[ballots]:.2f}",
                str(memory),
            )
            lines.append("| " + " | ".join(line) + " |")
    few, many = sorted(seconds)
    each = (seconds[many] - seconds[few]) / (many - few)
    body = "\n".join(lines)
    RESULTS.write_text(f"""# Verifying an election

Made by `bench/python/election_verify.py` (`make bench-election`).

- Machine: {cpu()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}
- Date: {datetime.now(UTC):%Y-%m-%d}
- Ballots: one contest of ten candidates of whom exactly one is chosen, so ten proofs of 0 or 1 and one of the sum, under a key of 2048 bits
- Method: `hearith election verify` on all threads, the whole command, {arguments.rounds} rounds; casting is `hearith election vote --ballots`, which proves, verifies and signs every ballot

| ballots | MB | cast, s | verify, s: least | median | peak MiB |
| ---: | ---: | ---: | ---: | ---: | ---: |
{body}

A ballot takes {1000 * each:.2f} ms; the rest is what every record takes. By that 100 000 ballots, which were not made here, would take {100_000 * each:.0f} s: the goal is
{"met" if 100_000 * each <= 60 else "60 s, and it is missed"}. Memory is largest while a batch of some 4000 ballots is verified and the lines after it are read, as in the longer record only.

On Spark (`hearith.spark.verify`), 10^8 ballots would take 100 machines like this one {1e8 * each / 100 / 60:.0f} minutes for signatures and proofs, as computed from the figure above; the first
reading, and what the driver does with every ballot, come to that and were not measured.
""")


if __name__ == "__main__":
    main()
