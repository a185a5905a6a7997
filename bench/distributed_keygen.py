#!/usr/bin/env python3
"""Times the generation of keys without a dealer, each trustee a process; writes
bench/results/distributed-keygen.md.

    distributed_keygen.py --program HEARITH [--bits N ...] [--runs N] [--tno PYTHON] [--out FOLDER]

Connections pass through this program, which counts bytes and, for some runs, delays them. `--tno`
names an interpreter that has the package tno.mpc.protocols.distributed_keygen, which is timed with
as many parties at growing sizes until one takes longer than ten minutes (bench/tno_keygen.py).
"""

import argparse
import asyncio
import datetime
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRUSTEES, NEEDED = 5, 3
LONGEST = 600


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Wire:
    """A connection's way through this program: what one trustee sends another is counted and
    delayed.
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
        from_sender = self.forward(reader, onward[1], self.ends[0])
        await asyncio.gather(from_sender, self.forward(onward[0], writer, self.ends[1]))

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, by: int) -> None:
        """Forwards one direction, in order, each piece after the delay."""
        pieces: asyncio.Queue = asyncio.Queue()

        async def write() -> None:
            while (piece := await pieces.get()) is not None:
                due, data = piece
                await asyncio.sleep(max(0, due - time.monotonic()))
                writer.write(data)
                await writer.drain()
            writer.close()

        async def read() -> None:
            while data := await reader.read(1 << 16):
                self.sent[by - 1] += len(data)
                await pieces.put((time.monotonic() + self.delay, data))
            await pieces.put(None)

        await asyncio.gather(read(), write(), return_exceptions=True)


async def run(program: Path, folder: Path, bits: int, delay: float) -> tuple[float, int, int, list[int]]:
    """Seconds, candidates, rounds, and the bytes that each trustee sent."""
    ports, sent, servers, routes = free_ports(TRUSTEES), [0] * TRUSTEES, [], {}
    for sender in range(2, TRUSTEES + 1):
        for receiver in range(1, sender):
            wire = Wire(sender, receiver, ports[receiver - 1], delay, sent)
            server = await asyncio.start_server(wire.accept, "127.0.0.1", 0)
            servers.append(server)
            routes[sender, receiver] = server.sockets[0].getsockname()[1]
    started, running = time.monotonic(), []
    for number in range(1, TRUSTEES + 1):
        words = ["keygen", "--insecure-key", "--bits", str(bits), "--distributed", f"{NEEDED}/{TRUSTEES}"]
        words += ["--trustee", str(number), "--identity", f"id-{number}/signing-private.json", "--force"]
        words += ["--listen", f"127.0.0.1:{ports[number - 1]}", "--out", f"key-{number}"]
        for other in range(1, TRUSTEES + 1):
            if other != number:
                words += ["--peer-key", f"{other}=id-{other}/signing-public.json"]
            if other < number:
                words += ["--peer", f"{other}=127.0.0.1:{routes[number, other]}"]
        pipe = asyncio.subprocess.PIPE
        running.append(await asyncio.create_subprocess_exec(program, *words, cwd=folder, stderr=pipe, stdout=pipe))
    said = [(await process.communicate())[1].decode() for process in running]
    seconds = time.monotonic() - started
    for server in servers:
        server.close()
    if any(process.returncode for process in running):
        sys.exit(f"a trustee failed:\n{''.join(said)}")
    found = re.search(r"(\d+) candidates in (\d+) rounds", said[0])
    return seconds, int(found[1]), int(found[2]), sent


def middle(numbers: list) -> str:
    """The median, with the least and the greatest."""
    shown = [f"{number:.1f}" if isinstance(number, float) else f"{number:,}".replace(",", " ") for number in
             (statistics.median(numbers), min(numbers), max(numbers))]
    return f"{shown[0]} ({shown[1]}..{shown[2]})"


def tno(python: str) -> list[str]:
    """Rows of what the other package takes, until a size takes too long."""
    rows, worker = [], Path(__file__).with_name("tno_keygen.py")
    for bits in (512, 1024, 2048, 3072):
        started = time.monotonic()
        command = [python, str(worker), str(bits), str(TRUSTEES), str(NEEDED - 1)]
        try:
            subprocess.run(command, check=True, timeout=LONGEST, capture_output=True)
        except subprocess.TimeoutExpired:
            return [*rows, f"| {bits} | tno.mpc.protocols.distributed_keygen | not done after {LONGEST} |"]
        rows.append(f"| {bits} | tno.mpc.protocols.distributed_keygen | {time.monotonic() - started:.1f} |")
    return rows


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--bits", type=int, nargs="+", default=[1024, 2048, 3072])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--tno")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    program = options.program.resolve()
    lines = ["# Keys without a dealer", "", "Made by `bench/distributed_keygen.py` (`make bench-distributed`).", ""]
    lines += [f"- Machine: {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}"]
    lines += [f"- Date: {datetime.date.today()}", f"- Trustees: {TRUSTEES}, of whom {NEEDED} decrypt; each a process"]
    lines += [f"- Method: {options.runs} runs, medians with the least and the greatest; from the start of the processes"]
    lines += ["  until all have written their files; all checks on, TLS included", ""]
    lines += ["| bits | delay between trustees | seconds | candidates | rounds | bytes sent by a trustee |"]
    lines += ["| ---: | ---: | ---: | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, TRUSTEES + 1):
            subprocess.run([program, "keygen", "--signing", "--out", f"id-{number}"], cwd=folder, check=True, capture_output=True)
        for bits in options.bits:
            for delay in (0, 0.05):
                runs = [asyncio.run(run(program, folder, bits, delay)) for _ in range(options.runs)]
                seconds, candidates, rounds, sent = zip(*runs, strict=True)
                bytes_sent = [max(one) for one in sent]
                columns = [str(bits), f"{1000 * delay:.0f} ms", middle(seconds), middle(candidates), middle(rounds)]
                lines.append(f"| {' | '.join([*columns, middle(bytes_sent)])} |")
                print(lines[-1], flush=True)
    lines += ["", "Another package, whose trustees are assumed to follow the protocol, with as many parties on this machine:", ""]
    lines += ["| bits | package | seconds |", "| ---: | --- | ---: |"]
    lines += tno(options.tno) if options.tno else ["| | tno.mpc.protocols.distributed_keygen | not measured |"]
    (options.out / "distributed-keygen.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
