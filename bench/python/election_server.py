"""Measures the election's server under load; writes bench/results/election-server.md.

Clients and server run on this machine. Ballots of ten candidates under a key of 2048 bits have
every proof verified, and each is acknowledged when it is on disk. The server is measured alone,
with readers that read continuously, and over PostgreSQL if its programs are found. Afterwards the
board must contain as many ballots as were acknowledged.

Needs the release-built example `election_load` of hearith-election-server
(scripts/bench_election_server.sh builds it). Leave the machine idle otherwise.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[2]
LOAD = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/election_load"
#: Ballots per call while readers read.
PART = 1000
#: Goals: ballots per second alone, and while the board is read.
ALONE, BESIDE_READERS = 500, 50


def load(*arguments):
    """Runs the example and returns the numbers that it prints, by name."""
    run = subprocess.run([LOAD, *map(str, arguments)], check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in (line.split() for line in run.stdout.splitlines())}


class Server:
    """A server of an election, over a store."""

    def __init__(self, folder, store):
        """Starts the server and begins the election."""
        command = [LOAD, "serve", folder, store]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[1]
        load("begin", folder, self.url)

    def voted(self):
        """Returns the number of counted ballots."""
        with urllib.request.urlopen(f"{self.url}/api/election") as answer:
            return json.load(answer)["voted"]

    def processor(self):
        """Returns the processor time so far in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """Stops the server cleanly; returns its peak memory in MiB."""
        out, _ = self.process.communicate()
        assert "stopped true" in out, out
        return int(out.split("VmHWM:")[1].split()[0]) / 1024


class Postgres:
    """A temporary database for the measurement."""

    def __init__(self, folder):
        """Creates and starts it; as root, under the account of Debian's package."""
        found = [*Path("/usr/lib/postgresql").glob("*/bin"), *map(Path, os.environ["PATH"].split(":"))]
        self.programs = next((one for one in found if (one / "initdb").exists()), None)
        if self.programs is None:
            raise FileNotFoundError("initdb")
        self.data = folder / "postgres"
        self.data.mkdir()
        self.account = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.account:
            folder.chmod(0o755)
            shutil.chown(self.data, "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.run("initdb", "--auth=trust", "--username=hearith", "--encoding=UTF8")
        self.run("pg_ctl", "start", "--wait", "--silent", f"--options=-p {self.port} -k /tmp", f"--log={self.data}/log")
        self.url = f"postgres://hearith@127.0.0.1:{self.port}/postgres"

    def run(self, program, *arguments):
        """Runs one of PostgreSQL's programs."""
        command = [*self.account, self.programs / program, "-D", self.data, *arguments]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/")

    def stop(self):
        """Stops it."""
        self.run("pg_ctl", "stop", "--mode=fast", "--silent")


def cast(server, folder, asked, first, count):
    """Casts ballots; returns the clients' results and the server's processor time."""
    spent = server.processor()
    seen = load("cast", folder, server.url, asked.clients, first, count)
    return seen | {"processor": server.processor() - spent}


def joined(parts):
    """Combines the results of consecutive calls of `cast`."""
    count, seconds = (sum(part[name] for part in parts) for name in ("acknowledged", "seconds"))
    longest = {name: max(part[name] for part in parts) for name in ("p99", "longest")}
    middle = statistics.median(part["p50"] for part in parts)
    spent = sum(part["processor"] for part in parts) / count
    return longest | {"acknowledged": count, "a_second": count / seconds, "p50": middle, "processor": spent}


def measure(folder, store, asked, readers=0):
    """Casts ballots, alone or while `readers` readers read; returns the clients' and readers'
    results.
    """
    server = Server(folder, store)
    # Excludes the server's first work from the measurement.
    before = done = int(cast(server, folder, asked, 0, asked.before)["acknowledged"])
    if readers:
        command = [LOAD, "read", server.url, str(readers), str(asked.seconds)]
        parts = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reading:
            while reading.poll() is None and done < before + asked.ballots:
                parts.append(cast(server, folder, asked, done, PART))
                done += PART
            if reading.poll() is not None:
                # The last ballots were cast after the readers had finished.
                parts.pop()
            assert parts, "the readers were gone before anything was measured: have them read for longer"
            read = {name: float(value) for name, value in (line.split() for line in reading.stdout)}
            assert reading.wait() == 0
        seen = joined(parts) | read
    else:
        seen = joined([cast(server, folder, asked, done, asked.ballots)])
        done += asked.ballots
    assert server.voted() == done, "a ballot is missing"
    seen["memory"] = server.end()
    return seen


def table(rows):
    """Returns the table's lines."""
    yield "| what | ballots | a second | p50 | p99 | longest | processor time a ballot | memory |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, seen in rows:
        times = " | ".join(f"{seen[one] / 1000:.2f} s" for one in ("p50", "p99", "longest"))
        yield (
            f"| {name} | {seen['acknowledged']:.0f} | {seen['a_second']:.0f} | {times} | "
            f"{seen['processor'] * 1e3:.2f} ms | {seen['memory']:.0f} MiB |"
        )


def main():
    """Measures and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ballots", type=int, default=12_000, help="ballots cast without readers, and the limit with readers")
    parser.add_argument("--before", type=int, default=2000, help="ballots on the board before the measurement")
    parser.add_argument("--clients", type=int, default=256, help="clients that cast")
    parser.add_argument("--readers", type=int, default=100, help="clients that read")
    parser.add_argument("--seconds", type=int, default=75, help="duration of reading")
    parser.add_argument("--prepared", type=Path, help="folder for the prepared ballots, which is reused")
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as name:
        folder = Path(name)
        election = asked.prepared or folder / "election"
        if not election.exists():
            load("prepare", election, asked.before + asked.ballots)
        stores = iter(range(9))

        def one(what, readers=0, store=None):
            store = store or f"sqlite:{folder}/{next(stores)}.db"
            rows.append((what, measure(election, store, asked, readers)))

        one("SQLite, alone")
        one(f"SQLite, {asked.readers} readers", asked.readers)
        try:
            database = Postgres(folder)
        except FileNotFoundError:
            print("PostgreSQL is not installed: not measured")
        else:
            one("PostgreSQL, alone", store=database.url)
            database.stop()
    alone, read = rows[0][1], rows[1][1]
    goals = [
        (f"{ALONE} ballots per second, all proofs verified, on disk", alone["a_second"], ALONE),
        (f"{BESIDE_READERS} while {asked.readers} clients read the board", read["a_second"], BESIDE_READERS),
    ]
    lines = [
        "# The election's server under load",
        "",
        "Made by `bench/python/election_server.py` (`make bench-election-server`).",
        "",
        f"- Machine: {machine.processor()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}; clients, "
        "readers, database and server on the same machine, over the loopback network without TLS",
        f"- Date: {datetime.date.today().isoformat()}",
        "- Ballots: one contest with ten candidates and one choice, so ten proofs of 0 or 1 and one of the sum, under a "
        "key of 2048 bits; prepared beforehand",
        f"- Method: {asked.clients} clients that each wait for their receipt before they cast the next ballot; "
        f"{asked.before} ballots are on the board when the measurement begins. The server sends a receipt when the ballot "
        "is verified and on disk. Processor time is the server's alone; clients and readers use the same processors. "
        "While readers read, ballots are cast a thousand at a time, and only those cast before the readers stop are "
        "counted; p50 is then the median of these parts, p99 the worst.",
        "",
        "| goal | measured | met |",
        "| --- | ---: | ---: |",
        *(f"| {what} | {found:.0f} | {'yes' if found >= goal else 'no'} |" for what, found, goal in goals),
        "",
        *table(rows),
        "",
        f"The {asked.readers} readers request the overview, the first thousand voters and the additions to the board's "
        f"newest file without pause: over {asked.seconds} seconds {read['answers_a_second']:.0f} answers per second, "
        f"{read['bytes_a_second'] / 1e6:.0f} MB per second. Afterwards, no acknowledged ballot was missing.",
        "",
    ]
    (ROOT / "bench/results/election-server.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
