"""Measures the service under load; writes bench/results/service.md.

Client and server run on this machine. The script measures:

- a batch of 100 000 encryptions through the service and by the command line alone, in the same
  rounds;
- single requests of 64 concurrent clients, each in a separate call or one after another on an open
  stream, under a key with cheap encryptions (DJN) and one with expensive encryptions (r^n);
- 1 000 concurrent connections;
- the server's memory over `--seconds` of load.

Results from the service are first compared with expected sums. `--memory` measures only the memory
and replaces the page's last section: `--memory --seconds 3600` takes an hour, on a machine that may
do other work.

Needs the release-built command line and the example `service_load` (scripts/bench_service.sh builds
them). Otherwise leave the machine idle.
"""

import argparse
import concurrent.futures
import json
import os
import platform
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import machine
from figures import spread, thousands

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
BITS, CLIENTS, CONNECTIONS = 2048, 64, 1000
#: The variants of keys, with the encryption's name and the factor by which the rows are reduced to
#: take as long.
VARIANTS = {"djn": ("DJN", 1), "standard": ("r^n", 10)}
#: How single requests are sent: the name in the example `service_load`, and the page's text.
WAYS = {"calls": "a call of its own", "stream": "on an open stream"}
#: Goals: the batch's time relative to the command line, and the rate of single requests relative to
#: the batch.
MOST_TIME, LEAST_RATE = 1.05, 0.8
#: Fraction of a load after which memory has settled.
WARM = 0.2


def hearith(*arguments):
    """Runs the command line."""
    return subprocess.run(
        [BUILT / "hearith", "--quiet", *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class Server:
    """`hearith serve`, on the loopback address."""

    def __init__(self):
        """Starts it and waits until it listens."""
        command = [BUILT / "hearith", "--json", "serve", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        log = json.loads(self.process.stderr.readline())
        self.url, self.engine = f"http://{log['address']}", log["engine"]
        threading.Thread(target=lambda: list(self.process.stderr), daemon=True).start()

    def memory(self, field="VmRSS"):
        """Returns its memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        line = next(line for line in status if line.startswith(f"{field}:"))
        return int(line.split()[1]) / 1024

    def load(self, key, *arguments):
        """Returns the results of the example `service_load`, by name."""
        command = [BUILT / "examples/service_load", self.url, key, *map(str, arguments)]
        lines = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()
        return {name: float(value) for name, value in (line.split() for line in lines)}

    def busy(self):
        """Returns its processor time so far in seconds."""
        user, system = (
            Path(f"/proc/{self.process.pid}/stat")
            .read_text()
            .rpartition(")")[2]
            .split()[11:13]
        )
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def singles(self, key, how, seconds):
        """Loads the server with single requests; adds both sides' processor time per request in
        microseconds.
        """
        before, clients = self.busy(), clients_busy()
        found = self.load(key, how, CLIENTS, seconds)
        found["server"] = (self.busy() - before) / found["requests"] * 1e6
        found["client"] = (clients_busy() - clients) / found["requests"] * 1e6
        return found

    def end(self):
        """Stops it; it must exit cleanly."""
        self.process.terminate()
        assert self.process.wait(60) == 0, "it did not end in good order"


def clients_busy():
    """Returns the processor time of ended child processes in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(*arguments):
    """Returns the seconds that a command takes."""
    start = time.perf_counter()
    hearith(*arguments)
    return time.perf_counter() - start


def alone(folder, rows):
    """Returns the command that encrypts a column of numbers without the service."""
    (folder / "numbers.csv").write_text(
        "x\n" + "".join(f"{row - 999}\n" for row in range(rows))
    )
    encrypt = [
        "encrypt",
        "--key",
        folder / "public.json",
        "--column",
        "x",
        folder / "numbers.csv",
        "--out",
    ]
    return [*encrypt, folder / "alone.parquet"]


def batches(server, folder, rows, rounds):
    """Returns each round's seconds for the command line alone and with the service."""
    encrypt = alone(folder, rows)
    asking = [*encrypt[:-1], folder / "remote.parquet", "--remote", server.url]
    timed(*asking)
    check(folder, rows)
    # Alternates the order, because the second run may find a warmer machine.
    found = []
    for number in range(rounds):
        if number % 2 == 0:
            first = timed(*encrypt)
            found.append((first, timed(*asking)))
        else:
            first = timed(*asking)
            found.append((timed(*encrypt), first))
    return found


def single(server, folder, rows, way, seconds):
    """Returns the results of single requests, and their share of the rate of a batch timed before
    and after them.
    """
    encrypt, busy = alone(folder, rows), clients_busy()
    before, busy = timed(*encrypt), clients_busy() - busy
    found = server.singles(folder / "public.json", way, seconds)
    batch = 2 * rows / (before + timed(*encrypt))
    cores, found["row"] = os.cpu_count() * 1e6, busy / rows * 1e6
    found["share"] = found["rate"] / batch
    # Two bounds: a server that only encrypts, and clients on another machine.
    found["bound"] = cores / (found["row"] + found["client"]) / batch
    found["apart"] = found["share"] * cores / (cores - found["rate"] * found["client"])
    return found


def check(folder, rows):
    """Compares results from the service with the expected sum."""
    hearith(
        "sum",
        "--key",
        folder / "public.json",
        folder / "remote.parquet",
        "--out",
        folder / "totals.parquet",
    )
    text = hearith(
        "decrypt", "--key", folder / "private.json", folder / "totals.parquet"
    )
    expected = sum(range(rows)) - 999 * rows
    assert text.splitlines() == ["rows,x", f"{rows},{expected}"], text


def memory(server, key, seconds):
    """Returns the results of loads of both kinds, and the server's memory in MiB every half
    second.
    """
    samples = []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        loads = [
            pool.submit(server.load, key, how, CLIENTS // 2, seconds)
            for how in ("calls", "stream")
        ]
        while not all(load.done() for load in loads):
            samples.append(server.memory())
            time.sleep(0.5)
    return [load.result() for load in loads], samples


def report(server, rows, rounds, found, singles, connections):
    """Returns the page without its last section."""
    ratios = [asking / alone for alone, asking in found]
    goals = [
        (
            f"a batch takes at most {MOST_TIME} times as long",
            spread(ratios, 3),
            statistics.median(ratios) <= MOST_TIME,
        ),
        *(
            (
                f"single requests of {CLIENTS} clients reach {LEAST_RATE} of the batch's rate: {variant}, {way}",
                f"{single['share']:.2f}",
                single["share"] >= LEAST_RATE,
            )
            for variant, way, single in singles
        ),
        (
            f"{CONNECTIONS} connections at once",
            f"{connections['answered']:.0f}",
            connections["answered"] == CONNECTIONS,
        ),
    ]
    lines = [
        "# The service under load",
        "",
        "Made by `bench/python/service_load.py` (`make bench-service`).",
        "",
        (
            f"- Machine: {machine.processor()}, {os.cpu_count()} hardware threads, {platform.system()} {platform.machine()}; client "
            "and server on the same machine, over the loopback network without TLS"
        ),
        f"- Engine: {server.engine}",
        f"- Date: {time.strftime('%Y-%m-%d', time.gmtime())}",
        f"- Keys: {BITS} bits, public halves only; DJN unless stated otherwise",
        (
            f"- Method: {rounds} rounds of both forms of a batch in alternation, medians with the lowest and the highest. "
            "Times are for the complete command, including its start, the CSV table and the Parquet file. Single requests "
            "come from clients that each wait for their answer before the next request, all in one process with one "
            "thread, whose processor time is included in the measurement. The batch's rate next to theirs is that of the "
            "command line alone, just before and after."
        ),
        "",
        "| goal | measured | met |",
        "| --- | ---: | ---: |",
        *(
            f"| {goal} | {value} | {'yes' if met else 'no'} |"
            for goal, value, met in goals
        ),
        "",
        f"## A batch of {thousands(rows)} encryptions",
        "",
        "| what | seconds | per second |",
        "| --- | ---: | ---: |",
    ]
    for name, times in zip(
        ("the command line alone", "the same with `--remote`"),
        zip(*found, strict=True),
        strict=True,
    ):
        lines.append(
            f"| {name} | {spread(times, 3)} | {thousands(rows / statistics.median(times))} |"
        )
    lines += [
        "",
        f"## Single requests of {CLIENTS} clients",
        "",
        (
            "| key | each request | per second | of the batch's rate | p50 | p99 | p99.9 |"
            " processor time of the server | of the client | of a row of the batch | at most | without the client |"
        ),
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for variant, way, single in singles:
        times = " | ".join(f"{single[part]:.1f} ms" for part in ("p50", "p99", "p999"))
        busy = " | ".join(
            f"{single[side]:.0f} us" for side in ("server", "client", "row")
        )
        bounds = " | ".join(f"{single[bound]:.2f}" for bound in ("bound", "apart"))
        lines.append(
            f"| {variant} | {way} | {thousands(single['rate'])} | {single['share']:.2f} | {times} | {busy} | {bounds} |"
        )
    lines += [
        "",
        (
            "Processor time is that of one request on all cores, including the encryption; that of a row of the batch is "
            "the complete command's, divided by its rows. The additional cost of a request is that of HTTP/2 and the "
            "kernel on both sides, which share these cores here; a separate call also opens and closes a stream. *At "
            "most* is the share of the batch's rate that the server would reach if it did only the batch's work and no "
            "core ever waited; the clients' processor time accounts for the rest. *Without the client* is the share that "
            "the server would reach if it also had the cores that the clients use."
        ),
    ]
    lines += [
        "",
        f"## {thousands(CONNECTIONS)} connections",
        "",
        (
            f"Opened one after another in {connections['open']:.2f} s; then one concurrent request on each, all answered "
            f"in {connections['seconds']:.2f} s."
        ),
        "",
    ]
    return "\n".join(lines)


#: The start of the page's last section.
MEMORY = "## Memory\n"
OTHERS = """\
One client encrypts single rows under a 2048-bit key, with 5 ms between an answer and the next request,
while other clients encrypt without a pause. Then: silent connections, and shutdowns without requests in
progress. `cargo run --release --package hearith-service --example service_fairness` prints these tables.
"""


def memory_section(what, seconds, samples):
    """Returns the page's last section: the server's memory over a load."""
    late = samples[int(len(samples) * WARM) :]
    half = len(late) // 2
    growth = statistics.median(late[half:]) - statistics.median(late[:half])
    return (
        f"{MEMORY}\n{what}, for {thousands(seconds)} s: {late[0]:.0f} MiB after a fifth of the time, {max(late):.0f} MiB "
        f"at most, {late[-1]:.0f} MiB at the end. The median of the second half minus that of the first: {growth:+.1f} "
        "MiB.\n"
    )


def last_section(server, key, seconds, page):
    """Measures the page's last section after everything else; returns the existing one if no time
    is given.
    """
    if seconds == 0:
        text = page.read_text()
        return text[text.index(MEMORY) :]
    _, samples = memory(server, key, seconds)
    what = "During single requests, half in separate calls, half on open streams, after everything above"
    return memory_section(what, seconds, samples)


def memory_alone(seconds, page):
    """Returns the page with a new last section, from a server without other load."""
    with tempfile.TemporaryDirectory() as name:
        hearith("keygen", "--bits", str(BITS), "--variant", "djn", "--out", name)
        server = Server()
        try:
            before = server.busy()
            loads, samples = memory(server, Path(name) / "public.json", seconds)
            busy = (server.busy() - before) / seconds
        finally:
            server.end()
    requests = sum(load["requests"] for load in loads)
    what = (
        f"On {time.strftime('%Y-%m-%d', time.gmtime())}, {machine.processor()}, engine {server.engine}: {thousands(requests)} single"
        f" requests of {CLIENTS} clients (DJN), half of the clients with separate calls, half with open streams, by a server that had"
        f" {busy:.2f} of {os.cpu_count()} processors next to other work"
    )
    return page[: page.index(MEMORY)] + memory_section(what, seconds, samples)


def others():
    """Returns the section about the influence of clients on each other, by the example
    `service_fairness`.
    """
    run = subprocess.run([BUILT / "examples/service_fairness"], stdout=subprocess.PIPE, text=True, check=True)
    return f"## Influence of other clients\n\n{OTHERS}\n{run.stdout}"


def main():
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--single", type=int, default=15, help="seconds per kind of single requests"
    )
    parser.add_argument(
        "--seconds",
        type=int,
        default=60,
        help="seconds of memory monitoring; 0 keeps that section unchanged",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/service.md")
    parser.add_argument(
        "--memory",
        action="store_true",
        help="only monitor memory, for the existing page",
    )
    options = parser.parse_args()
    if options.memory:
        options.out.write_text(memory_alone(options.seconds, options.out.read_text()))
        return
    other_clients = others()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = {variant: folder / variant for variant in VARIANTS}
        for variant, where in keys.items():
            hearith("keygen", "--bits", str(BITS), "--variant", variant, "--out", where)
        key, server = keys["djn"] / "public.json", Server()
        try:
            found = batches(server, keys["djn"], options.rows, options.rounds)
            singles = [
                (
                    name,
                    text,
                    single(
                        server,
                        keys[variant],
                        options.rows // fewer,
                        way,
                        options.single,
                    ),
                )
                for variant, (name, fewer) in VARIANTS.items()
                for way, text in WAYS.items()
            ]
            connections = server.load(key, "connections", CONNECTIONS)
            last = last_section(server, key, options.seconds, options.out)
        finally:
            server.end()
    page = report(server, options.rows, options.rounds, found, singles, connections)
    page += f"\n{other_clients}\n{last}"
    options.out.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
