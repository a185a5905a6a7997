#!/usr/bin/env python3
"""Runs the commands and code of the tutorials and how-to guides, and compares or records the
output.

    run_tutorials.py [--record] [--python] [--slow] FOLDER [PAGE...]

FOLDER holds the built programs, such as target/debug. Each page (all tutorials and guides by
default) runs in its own empty folder, which contains the repository's `verifier`. These kinds of
blocks count:

- a block with `title="FILE"` is written to that file;
- a `console` block holds commands after `$ `, continued by a backslash, each followed by its
  output;
- an `sh` block is a script, each line of which must succeed; its output is not compared. A last
  line that ends in `&` runs until the page ends; the next block begins when it listens;
- a `python` block is a program, and a `pycon` block holds statements after `>>> ` with their
  output. All blocks of a page share their names. Pages with such blocks run only with `--python`,
  and other pages only without it.

Comments in a page, which readers do not see, control the run:

    <!-- not run: REASON -->    the next block is left out: at most one in ten of all blocks
    <!-- slow -->               the next block runs with `--slow` alone
    <!-- before: COMMANDS -->   a script that runs at this place, over several lines
    <!-- after: PAGE -->        the page begins in a copy of the folder that PAGE left
    <!-- needs: COMMAND -->     the page is left out, with a line that says so, where that command fails; with
                                `verilator` in HEARITH_REQUIRE it is a failure

`127.0.0.1:PORT` in a page stands for a free port. Times, rates, keys, hashes, trackers and engines
may differ between runs; `--record` writes those of its own run into the page.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = sorted([*TUTORIALS.glob("*.md"), *(ROOT / "docs" / "how-to").glob("*.md")])
#: Kinds of blocks that run. All others hold data or text.
COMMANDS = ("console", "sh")
PROGRAMS = ("python", "pycon")
#: Seconds to wait until a background command listens.
PATIENCE = 60
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$"
    r"|^<!-- (?P<mark>before|after|not run|slow)(?::\s(?P<said>.*?))?\s*-->$",
    re.M | re.S,
)
_NEEDS = re.compile(r"^<!-- needs: (.+) -->$", re.M)
_TITLE = re.compile(r'title="([^"]+)"')
_PORT = re.compile(r"127\.0\.0\.1:(\d{4,5})")
#: Values that differ from run to run, and their placeholders in a comparison.
_VARIABLE = [
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "KEY"),
    (re.compile(r"\b[0-9a-f]{8}\.\.\."), "KEY"),
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
        """Returns the command and its output as in a page."""
        return f"$ {self.line}\n{self.output}"


@dataclass
class Block:
    """A fenced block: the words after the fence, its text, and its position in the page."""

    info: str
    text: str
    start: int
    end: int
    reason: str | None = None
    slow: bool = False

    def kind(self) -> str:
        """Returns the language of the block."""
        return (self.info.split() or [""])[0]

    def runs(self) -> bool:
        """Whether this kind of block runs."""
        return self.kind() in COMMANDS + PROGRAMS

    def commands(self) -> list[Command]:
        """Returns the commands of a console block.

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


@dataclass
class Step:
    """One step of a page: a block, or the script of a comment."""

    block: Block | None = None
    script: str = ""


def steps(page: str) -> Iterator[Step]:
    """Yields the blocks and scripts of a page, in order.

    Raises:
        ValueError: a block in a list is of a kind that runs.
    """
    reason, slow = None, False
    for match in _BLOCK.finditer(page):
        if match["mark"] == "before":
            yield Step(script=match["said"])
        elif match["mark"] == "not run":
            reason = match["said"]
        elif match["mark"] == "slow":
            slow = True
        elif match["mark"] is None:
            block = Block(match["info"], match["text"], match.start("text"), match.end("text"), reason, slow)
            if match["indent"] and block.runs() and not reason:
                raise ValueError(f"a block in a list does not run: {block.text.splitlines()[0]}")
            yield Step(block)
            reason, slow = None, False


def blocks(page: str) -> Iterator[Block]:
    """Yields all fenced blocks of a page, in order."""
    return (step.block for step in steps(page) if step.block)


def follows(page: str) -> str | None:
    """Returns the page in whose folder this page begins, relative to its own."""
    return next((match["said"] for match in _BLOCK.finditer(page) if match["mark"] == "after"), None)


def is_python(page: str) -> bool:
    """Whether a page contains Python programs."""
    return any(block.kind() in PROGRAMS and not block.reason for block in blocks(page))


def masked(output: str) -> str:
    """Replaces in an output everything that differs from run to run."""
    for pattern, name in _VARIABLE:
        output = pattern.sub(name, output)
    return output


def free_port() -> int:
    """Returns a free port of the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Session:
    """A page that runs: its folder, the programs' path, the ports that it names, and its background
    processes.
    """

    folder: Path
    path: str
    ports: dict[str, str] = field(default_factory=dict)
    beside: list[subprocess.Popen[bytes]] = field(default_factory=list)
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})

    def environment(self) -> dict[str, str]:
        """Returns the variables of a command."""
        return {**os.environ, "PATH": self.path}

    def actual(self, text: str) -> str:
        """Replaces the ports that the page names by free ports."""
        for shown in _PORT.findall(text):
            self.ports.setdefault(shown, str(free_port()))
        return _PORT.sub(lambda match: f"127.0.0.1:{self.ports[match[1]]}", text)

    def shown(self, text: str) -> str:
        """Replaces free ports by those that the page names."""
        names = {port: shown for shown, port in self.ports.items()}
        return _PORT.sub(lambda match: f"127.0.0.1:{names.get(match[1], match[1])}", text)

    def run(self, command: str) -> str:
        """Runs a command and returns its standard output and error.

        Raises:
            ValueError: the command failed.
        """
        done = subprocess.run(
            ["bash", "-c", self.actual(command)],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output = self.shown(done.stdout)
        if done.returncode:
            raise ValueError(f"`{command}` ended with status {done.returncode}:\n{output}")
        return "\n".join(line.rstrip() for line in output.splitlines()) + "\n" if output else ""

    def script(self, text: str) -> None:
        """Runs a script, each line of which must succeed; a last line with `&` runs in the
        background.

        Raises:
            ValueError: a line failed, or the background command does not listen.
        """
        body = text.rstrip()
        if not body.endswith("&"):
            self.run(f"set -euo pipefail\n{body}")
            return
        command = self.actual(body.removesuffix("&"))
        with (self.folder / ".beside.log").open("wb") as log:
            self.beside.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec {command}"],
                    cwd=self.folder,
                    env=self.environment(),
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        listening = _PORT.search(command)
        deadline = time.monotonic() + PATIENCE
        while listening:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(listening[1])), 1):
                return
            if self.beside[-1].poll() is not None or time.monotonic() > deadline:
                said = (self.folder / ".beside.log").read_text()
                raise ValueError(f"`{body}` does not listen:\n{said}")
            time.sleep(0.1)

    def program(self, block: Block) -> tuple[str, list[str]]:
        """Runs a Python program; returns it as on the page with its current output, and the
        differences.
        """
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            if block.kind() == "python":
                exec(compile(block.text, "the page", "exec"), self.names)
                return block.text, []
            return self.statements(block.text)
        finally:
            os.chdir(before)

    def statements(self, text: str) -> tuple[str, list[str]]:
        """Runs the statements of a `pycon` block; returns them with their current output, and the
        differences.
        """
        played: list[str] = []
        differences: list[str] = []
        for example in doctest.DocTestParser().get_examples(text):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    exec(compile(example.source, "the page", "single"), self.names)
                except Exception as error:
                    name = type(error).__qualname__
                    module = type(error).__module__
                    print(
                        f"Traceback (most recent call last):\n  ...\n{'' if module == 'builtins' else f'{module}.'}{name}: {error}"
                    )
            output = "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
            if not doctest.OutputChecker().check_output(masked(example.want), masked(output), doctest.ELLIPSIS):
                differences.append(f"`{example.source.rstrip()}` prints:\n{output}and not:\n{example.want}")
            else:
                output = example.want
            first, *others = example.source.rstrip("\n").split("\n")
            played += [f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in others), output]
        return "".join(played), differences

    def end(self) -> None:
        """Ends the page's background processes."""
        for process in self.beside:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def lacks(page: str, path: str) -> str | None:
    """Returns the `needs` command that fails for this page, if any."""
    needs = _NEEDS.search(page)
    if needs is None:
        return None
    done = subprocess.run(["bash", "-c", needs[1]], env={**os.environ, "PATH": path}, capture_output=True, check=False)
    return needs[1] if done.returncode else None


def play(
    page: str, path: str, begin: Path | None = None, *, slow: bool = False, keep: Path | None = None
) -> tuple[str, list[str]]:
    """Runs a page; returns it with the current outputs of its commands, and the differences from
    the page.

    It begins in a copy of the folder `begin`, and saves its own as `keep`.

    Raises:
        ValueError: a command or a program failed.
    """
    differences: list[str] = []
    pieces: list[str] = []
    done = 0
    with tempfile.TemporaryDirectory(prefix="hearith-page-") as place:
        folder = Path(place) / "page"
        if begin:
            shutil.copytree(begin, folder, symlinks=True)
        else:
            folder.mkdir()
            (folder / "verifier").symlink_to(ROOT / "verifier")
        # Programs that a page puts into `bin` take precedence.
        session = Session(folder, f"{folder}/bin:{path}")
        try:
            for step in steps(page):
                block = step.block
                if block is None:
                    session.script(step.script)
                    continue
                title = _TITLE.search(block.info)
                if title:
                    (folder / title[1]).parent.mkdir(parents=True, exist_ok=True)
                    (folder / title[1]).write_text(block.text)
                if block.reason or not block.runs() or (block.slow and not slow):
                    continue
                if block.kind() == "sh":
                    session.script(block.text)
                    continue
                if block.kind() in PROGRAMS:
                    text, found = session.program(block)
                    differences += found
                else:
                    played = []
                    for command in block.commands():
                        output = session.run(command.line)
                        if masked(output) != masked(command.output):
                            differences.append(f"`{command.line}` prints:\n{output}and not:\n{command.output}")
                        played.append(Command(command.line, output).shown())
                    text = "".join(played)
                pieces += [page[done : block.start], text]
                done = block.end
        except Exception as error:
            raise ValueError(str(error)) from error
        finally:
            session.end()
        if keep:
            shutil.copytree(folder, keep, symlinks=True)
    return "".join([*pieces, page[done:]]), differences


def counted(pages: list[str]) -> tuple[int, int]:
    """Counts the blocks of pages that are commands or code, and those of them that do not run."""
    found = [block for page in pages for block in blocks(page) if block.runs()]
    return len(found), sum(1 for block in found if block.reason)


def main() -> None:
    """Ends with status 1 if an output differs."""
    parser = argparse.ArgumentParser(description="Run the commands and code of tutorials and guides.")
    parser.add_argument("--record", action="store_true", help="write the outputs into the pages")
    parser.add_argument("--python", action="store_true", help="run the pages with programs in Python, and no others")
    parser.add_argument("--slow", action="store_true", help="run slow blocks too")
    parser.add_argument("folder", type=Path, help="where the built programs are")
    parser.add_argument("pages", type=Path, nargs="*", default=PAGES)
    options = parser.parse_args()
    failed = False
    ran = 0
    programs = f"{options.folder.resolve()}:{os.environ['PATH']}"
    pages = {path.resolve(): path.read_text() for path in options.pages}
    chosen = [path for path, page in pages.items() if is_python(page) == options.python]
    with tempfile.TemporaryDirectory(prefix="hearith-pages-") as kept:
        # A page that another begins with runs before it.
        before = {path: (path.parent / follows(pages[path])).resolve() for path in chosen if follows(pages[path])}
        order = [*dict.fromkeys(before.values()), *(path for path in chosen if path not in before.values())]
        left = {path: Path(kept) / str(number) for number, path in enumerate(order)}
        for path in order:
            page = path.read_text()
            missing = lacks(page, programs)
            if missing:
                required = "verilator" in os.environ.get("HEARITH_REQUIRE", "").split(",")
                failed |= required or options.record
                print(f"pages: {path} is NOT run: `{missing}` fails here", file=sys.stderr)
                continue
            started = time.monotonic()
            try:
                keep = left[path] if path in before.values() else None
                text, differences = play(
                    page, programs, left.get(before.get(path, Path())), slow=options.slow, keep=keep
                )
            except ValueError as error:
                sys.exit(f"{path}: {error}")
            ran += 1
            print(f"pages: {path.relative_to(ROOT)} in {time.monotonic() - started:.1f} s", flush=True)
            if options.record:
                if text != page:
                    path.write_text(text)
            elif differences:
                failed = True
                print("\n".join(f"{path}: {difference}" for difference in differences), file=sys.stderr)
    if failed:
        sys.exit("pages: failed; `scripts/run_tutorials.py --record FOLDER` writes new outputs into the pages")
    print(f"pages: {'recorded' if options.record else f'{ran} pages ran, and print what they show'}")


if __name__ == "__main__":
    main()
