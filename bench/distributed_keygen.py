#!/usr/bin/env python3
"""Times key generation without a dealer, with one process per trustee.

Writes bench/results/distributed-keygen.md.

    distributed_keygen.py --program HEARITH [--sharing W/L] [--bits N ...] [--runs N]
                          [--long-runs N] [--tno PYTHON] [--tno-bits N ...]
                          [--longest SECONDS] [--out FOLDER]

Connections pass through this program, which counts bytes and, for some runs, delays them. `--tno`
names an interpreter that has the package tno.mpc.protocols.distributed_keygen. That package is
timed with as many parties at growing sizes until one takes longer than `--longest`
(bench/tno_keygen.py).
"""

import argparse
import asyncio
import contextlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent / "python"))
import machine

TNO = "tno.mpc.protocols.distributed_keygen"
# Seconds until a run counts as stuck.
STUCK = 3600


def held_ports(count: int) -> list[socket.socket]:
    """Returns sockets on ports that stay reserved until they are closed."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    return sockets


class Run(NamedTuple):
    """The cost of one key; bytes are those of the trustee that sent most."""

    seconds: float
    candidates: int
    rounds: int
    sent: int


class Wire:
    """Forwards a connection through this program and counts and delays one trustee's messages to
    another.
    """

    def __init__(self, sender: int, receiver: int, target: int, delay: float, sent: list[int]) -> None:
        self.ends, self.target, self.delay, self.sent = (sender, receiver), target, delay, sent

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connects the two ends."""
        try:
            onward = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        there, back = self.ends
        # A run ends while the last delayed pieces are still in transit; nobody waits for them.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(self.forward(reader, onward[1], there), self.forward(onward[0], writer, back))
        for end in (writer, onward[1]):
            end.close()

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, by: int) -> None:
        """Forwards one direction in order, each piece after the delay."""
        pieces: asyncio.Queue = asyncio.Queue()

        async def write() -> None:
            while (piece := await pieces.get()) is not None:
                due, data = piece
                await asyncio.sleep(max(0, due - time.monotonic()))
                writer.write(data)
                await writer.drain()
            # The other direction continues.
            writer.write_eof()

        async def read() -> None:
            try:
                while data := await reader.read(1 << 16):
                    self.sent[by - 1] += len(data)
                    await pieces.put((time.monotonic() + self.delay, data))
            finally:
                await pieces.put(None)

        await asyncio.gather(read(), write(), return_exceptions=True)


async def run(program: Path, folder: Path, sharing: tuple[int, int], bits: int, delay: float) -> Run:
    """Generates one key."""
    needed, trustees = sharing
    held, sent, servers, routes = held_ports(trustees), [0] * trustees, [], {}
    ports = [one.getsockname()[1] for one in held]
    for sender in range(2, trustees + 1):
        for receiver in range(1, sender):
            wire = Wire(sender, receiver, ports[receiver - 1], delay, sent)
            server = await asyncio.start_server(wire.accept, "127.0.0.1", 0)
            servers.append(server)
            routes[sender, receiver] = server.sockets[0].getsockname()[1]
    for one in held:
        one.close()
    started, running = time.monotonic(), []
    for number in range(1, trustees + 1):
        words = ["keygen", "--insecure-key", "--bits", str(bits), "--distributed", f"{needed}/{trustees}"]
        words += ["--trustee", str(number), "--identity", f"id-{number}/signing-private.json", "--force"]
        words += ["--listen", f"127.0.0.1:{ports[number - 1]}", "--out", f"key-{number}"]
        for other in range(1, trustees + 1):
            if other != number:
                words += ["--peer-key", f"{other}=id-{other}/signing-public.json"]
            if other < number:
                words += ["--peer", f"{other}=127.0.0.1:{routes[number, other]}"]
        pipe = asyncio.subprocess.PIPE
        running.append(await asyncio.create_subprocess_exec(program, *words, cwd=folder, stderr=pipe, stdout=pipe))
    try:
        async with asyncio.timeout(STUCK):
            said = [(await process.communicate())[1].decode() for process in running]
    except TimeoutError:
        for process in running:
            process.kill()
        sys.exit(f"no key of {bits} bits within {STUCK} seconds")
    seconds = time.monotonic() - started
    for server in servers:
        server.close()
    if any(process.returncode for process in running):
        sys.exit(f"a trustee failed:\n{''.join(said)}")
    found = re.search(r"(\d+) candidates in (\d+) rounds", said[0])
    if found is None or "restarting with fresh" in said[0]:
        sys.exit(f"every run was disturbed:\n{said[0]}")
    return Run(seconds, int(found[1]), int(found[2]), max(sent))


def middle(numbers: list) -> str:
    """Returns the median, with the minimum and maximum."""
    digits = 1 if isinstance(numbers[0], float) else 0
    shown = [f"{number:,.{digits}f}".replace(",", " ") for number in
             (statistics.median(numbers), min(numbers), max(numbers))]
    return f"{shown[0]} ({shown[1]}..{shown[2]})"


def tno(python: str, sharing: tuple[int, int], sizes: list[int], longest: float) -> list[tuple[int, float | None]]:
    """Returns the other package's seconds at each size, None for the first that takes too long."""
    needed, trustees = sharing
    found, worker = [], Path(__file__).with_name("tno_keygen.py")
    for bits in sizes:
        started = time.monotonic()
        command = [python, str(worker), str(bits), str(trustees), str(needed - 1)]
        try:
            ended = subprocess.run(command, timeout=longest, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired:
            return [*found, (bits, None)]
        if ended.returncode:
            sys.exit(f"the other package failed:\n{ended.stderr}")
        found.append((bits, time.monotonic() - started))
        print(f"{TNO}, {bits} bits: {found[-1][1]:.1f} s", flush=True)
    return found


def compared(ours: dict[int, float], theirs: list[tuple[int, float | None]], longest: float) -> list[str]:
    """Returns the table that compares the two packages."""
    lines = ["| bits | Hearith, median seconds | other, seconds | times as fast |", "| ---: | ---: | ---: | ---: |"]
    for bits, seconds in theirs:
        own = f"{ours[bits]:.1f}" if bits in ours else ""
        other = f"not done after {longest:.0f}" if seconds is None else f"{seconds:.1f}"
        ratio = f"{seconds / ours[bits]:.0f}" if seconds is not None and bits in ours else ""
        lines.append(f"| {bits} | {own} | {other} | {ratio} |")
    return lines


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--sharing", default="3/5", help="threshold and number of trustees")
    parser.add_argument("--bits", type=int, nargs="+", default=[512, 1024, 2048, 3072])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--long-runs", type=int, help="runs for keys of 3072 bits and more, if fewer")
    parser.add_argument("--tno")
    parser.add_argument("--tno-bits", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--longest", type=float, default=600)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    program = options.program.resolve()
    needed, trustees = map(int, options.sharing.split("/"))
    lines = ["# Keys without a dealer", "", "Made by `bench/distributed_keygen.py` (`make bench-distributed`).", ""]
    lines += machine.listed(program)
    lines += [f"- Trustees: {trustees}, of whom {needed} decrypt; each a process on this machine"]
    long_runs = options.long_runs or options.runs
    fewer = "" if long_runs == options.runs else f" ({long_runs} of 3072 bits)"
    lines += [f"- Method: {options.runs} runs{fewer}; medians, with the lowest and the highest; from the start"]
    lines += ["  of the processes until all have written their files; with all checks"]
    lines += ["- Connections pass through the measuring program, which counts the TLS bytes of the trustee"]
    lines += ["  that sent most, and delays both directions of each connection", ""]
    lines += ["| bits | delay between trustees | seconds | candidates | rounds | bytes sent by a trustee |"]
    lines += ["| ---: | ---: | ---: | ---: | ---: | ---: |"]
    medians = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, trustees + 1):
            command = [program, "keygen", "--signing", "--out", f"id-{number}"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        for bits in options.bits:
            for delay in (0, 0.05):
                sharing = (needed, trustees)
                count = long_runs if bits >= 3072 else options.runs
                runs = [asyncio.run(run(program, folder, sharing, bits, delay)) for _ in range(count)]
                columns = [middle(list(column)) for column in zip(*runs, strict=True)]
                lines.append(f"| {bits} | {1000 * delay:.0f} ms | {' | '.join(columns)} |")
                print(lines[-1], flush=True)
                medians.setdefault(bits, statistics.median(one.seconds for one in runs))
    lines += ["", f"## Compared with {TNO}", "", "The same number of parties, all in one process on this machine. They are assumed to follow"]
    lines += ["the protocol: nothing is checked, signed or encrypted.", ""]
    if options.tno:
        theirs = tno(options.tno, (needed, trustees), options.tno_bits, options.longest)
        lines += compared(medians, theirs, options.longest)
    else:
        lines += ["Not measured."]
    (options.out / "distributed-keygen.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
