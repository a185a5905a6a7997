#!/usr/bin/env python3
"""Runs the commands of the tutorials and compares what they print with the page, or records it.

    run_tutorials.py [--record] FOLDER [PAGE...]

FOLDER holds the built programs, such as target/debug. Each page (all of docs/tutorials by default)
runs in an empty folder of its own, with the repository's `verifier` in it. Blocks of these kinds
count:

- a block with `title="FILE"` is written to that file;
- a `console` block holds commands after `$ `, continued by a backslash, each followed by its output.

A block after the comment `<!-- not run: REASON -->` is left out. A page with the comment
`<!-- needs: COMMAND -->` is left out, with a line that says so, where that shell command fails; with
`verilator` in HEARITH_REQUIRE it is a failure. Times, rates, keys, hashes, trackers and engines may
differ between runs; `--record` writes them into the page as they were.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
_BLOCK = re.compile(r"(<!-- not run: (?P<reason>.+?) -->\n\n)?^```(?P<info>[^\n]+)\n(?P<text>.*?)^```$", re.M | re.S)
_NEEDS = re.compile(r"^<!-- needs: (.+) -->$", re.M)
_TITLE = re.compile(r'title="([^"/]+)"')
#: What differs from run to run, and what stands for it in a comparison.
_VARIABLE = [
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "KEY"),
    (re.compile(r"^tracker( [a-z2-7]{4}){7}$", re.M), "TRACKER"),
    (re.compile(r"\b\d[\d.]* s\b"), "TIME"),
    (re.compile(r"\b[\d ]+ rows/s"), "RATE"),
    (re.compile(r"\d+ % arithmetic"), "SHARE"),
    (re.compile(r"engine (serial|avx2|ifma)\b"), "ENGINE"),
    (re.compile(r"threads \d+"), "THREADS"),
]


@dataclass
class Command:
    """A command of a console block, and the output that the page shows after it."""

    line: str
    output: str

    def shown(self) -> str:
        """The command and its output as a page has them."""
        return f"$ {self.line}\n{self.output}"


@dataclass
class Block:
    """A fenced block: its words after the fence, its text, and where that is in the page."""

    info: str
    text: str
    start: int
    end: int
    reason: str | None

    def commands(self) -> list[Command]:
        """The commands of a console block.

        Raises:
            ValueError: the block does not begin with a command.
        """
        found: list[Command] = []
        continued = False
        for line in self.text.splitlines():
            if continued:
                found[-1].line += f"\n{line}"
            elif line.startswith("$ "):
                found.append(Command(line.removeprefix("$ "), ""))
            elif found:
                found[-1].output += f"{line}\n"
            else:
                raise ValueError(f"a console block begins with {line!r}, not with a command")
            continued = line.endswith("\\") and not found[-1].output
        return found


def blocks(page: str) -> Iterator[Block]:
    """All fenced blocks of a page, in order."""
    for match in _BLOCK.finditer(page):
        yield Block(match["info"], match["text"], match.start("text"), match.end("text"), match["reason"])


def masked(output: str) -> str:
    """An output without what differs from run to run."""
    for pattern, name in _VARIABLE:
        output = pattern.sub(name, output)
    return output


def run(command: str, folder: Path, path: str) -> str:
    """Both outputs of a command in a folder.

    Raises:
        ValueError: the command failed.
    """
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(f"`{command}` ended with status {done.returncode}:\n{done.stdout}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n" if done.stdout else ""


def lacks(page: str, path: str) -> str | None:
    """The command by which a page finds that it cannot run here."""
    needs = _NEEDS.search(page)
    if needs is None:
        return None
    done = subprocess.run(["bash", "-c", needs[1]], env={**os.environ, "PATH": path}, capture_output=True, check=False)
    return needs[1] if done.returncode else None


def play(page: str, path: str) -> tuple[str, list[str]]:
    """A page with the outputs of its commands as they are now, and where they differ from the page's."""
    differences: list[str] = []
    pieces: list[str] = []
    done = 0
    with tempfile.TemporaryDirectory(prefix="hearith-tutorial-") as place:
        folder = Path(place)
        (folder / "verifier").symlink_to(ROOT / "verifier")
        for block in blocks(page):
            title = _TITLE.search(block.info)
            if block.reason:
                continue
            if title:
                (folder / title[1]).write_text(block.text)
            if block.info.split()[0] != "console":
                continue
            played = []
            for command in block.commands():
                output = run(command.line, folder, path)
                if masked(output) != masked(command.output):
                    differences.append(f"`{command.line}` prints:\n{output}and not:\n{command.output}")
                played.append(Command(command.line, output).shown())
            pieces += [page[done : block.start], "".join(played)]
            done = block.end
    return "".join([*pieces, page[done:]]), differences


def main() -> None:
    """Ends with status 1 if an output differs."""
    parser = argparse.ArgumentParser(description="Run the commands of the tutorials.")
    parser.add_argument("--record", action="store_true", help="write the outputs into the pages")
    parser.add_argument("folder", type=Path, help="where the built programs are")
    parser.add_argument("pages", type=Path, nargs="*", default=sorted(TUTORIALS.glob("*.md")))
    options = parser.parse_args()
    failed = False
    programs = f"{options.folder.resolve()}:{os.environ['PATH']}"
    for path in options.pages:
        page = path.read_text()
        missing = lacks(page, programs)
        if missing:
            required = "verilator" in os.environ.get("HEARITH_REQUIRE", "").split(",")
            failed |= required or options.record
            print(f"tutorials: {path} is NOT run: `{missing}` fails here", file=sys.stderr)
            continue
        try:
            text, differences = play(page, programs)
        except ValueError as error:
            sys.exit(f"{path}: {error}")
        if options.record:
            path.write_text(text)
        elif differences:
            failed = True
            print("\n".join(f"{path}: {difference}" for difference in differences), file=sys.stderr)
    if failed:
        sys.exit("tutorials: failed; `scripts/run_tutorials.py --record FOLDER` writes new outputs into the pages")
    print(f"tutorials: {'recorded' if options.record else 'every command prints what its page shows'}")


if __name__ == "__main__":
    main()
