#!/usr/bin/env python3
"""Votes for `make demo-election`, and the comparison of its public result with the true one.

demo_election.py votes TABLE FOLDER   writes contests.json, voters.csv, first.csv and last.csv: some
voters vote twice
demo_election.py ports COUNT          prints ports that nobody listens at
demo_election.py compare TABLE JSON   compares what `hearith election verify --json` found; exit 1
if it differs
"""

from __future__ import annotations

import csv
import json
import random
import socket
import sys
from pathlib import Path

REVOTERS = 450
METHODS: list[object] = ["plurality", {"choose": {"exactly": 1}}]


def read(table: Path) -> dict[str, dict[str, int]]:
    """Reads each contest's candidates with their votes."""
    contests: dict[str, dict[str, int]] = {}
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            contests.setdefault(row["contest"], {})[row["candidate"]] = int(row["votes"])
    return contests


def write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Writes a table with a header."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def ports(count: int) -> None:
    """Prints free ports."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    print(*(one.getsockname()[1] for one in sockets))


def votes(table: Path, folder: Path) -> None:
    """Writes the choices of the election's voters."""
    contests, chance = read(table), random.Random(2016)
    manifest = [
        {"candidates": list(candidates), "method": method, "title": title}
        for (title, candidates), method in zip(contests.items(), METHODS, strict=True)
    ]
    (folder / "contests.json").write_text(json.dumps(manifest))
    columns = []
    for candidates in contests.values():
        column = [name for name, count in candidates.items() for _ in range(count)]
        chance.shuffle(column)
        columns.append(column)
    ballots = [list(row) for row in zip(*columns, strict=True)]
    voters = [f"elector {number:03}" for number in range(1, len(ballots) + 1)]
    write(folder / "voters.csv", ["voter"], [[voter] for voter in voters])
    header = ["voter", *contests]
    last = [[voter, *ballot] for voter, ballot in zip(voters, ballots, strict=True)]
    # Some voters first chose differently and vote again; both tables are in random order.
    again = chance.sample(voters, min(REVOTERS, len(voters)))
    first = [[voter, *(chance.choice(list(candidates)) for candidates in contests.values())] for voter in again]
    chance.shuffle(last)
    write(folder / "first.csv", header, first)
    write(folder / "last.csv", header, last)


def compare(table: Path, answer: Path) -> int:
    """Compares the counted result with the true one."""
    contests, found = read(table), json.loads(answer.read_text())
    result = found["result"]["contests"] if found["verified"] and found["result"] else None
    if result is None:
        print("demo: the record is not verified, or has no result")
        return 1
    wrong = 0
    for (title, candidates), counted in zip(contests.items(), result, strict=True):
        print(f"\n{title:<24}{'counted':>9}{'truth':>9}")
        for (name, truth), own in zip(candidates.items(), counted, strict=True):
            wrong += own != truth
            print(f"  {name:<22}{own:>9}{truth:>9}{'' if own == truth else '  DIFFERS'}")
    print("\ndemo: the result is the public one" if wrong == 0 else "\ndemo: the result DIFFERS")
    return int(wrong > 0)


def main() -> int:
    """Runs the chosen command."""
    if sys.argv[1] == "ports":
        ports(int(sys.argv[2]))
        return 0
    act, table, other = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if act == "compare":
        return compare(table, other)
    votes(table, other)
    return 0


if __name__ == "__main__":
    sys.exit(main())
