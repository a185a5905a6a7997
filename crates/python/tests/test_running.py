"""Execution of batches: on all cores, without the interpreter lock, with progress, interruptible,
in forked processes.
"""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import hearith as he
from hearith import _batches, _sums
from hearith.errors import RangeError

PACKAGE = Path(__file__).parent.parent


def test_all_cores_unless_told_otherwise(keys):
    assert he.threads() == len(os.sched_getaffinity(0))
    try:
        he.set_threads(1)
        assert he.threads() == 1
        assert keys[1].decrypt(keys[0].encrypt([1, 2]).sum()) == 3
    finally:
        he.set_threads(0)
    with pytest.raises(RangeError, match="threads must be from 0 to 4096"):
        he.set_threads(10**6)


def test_other_threads_run_meanwhile():
    """This thread keeps reading the clock while a call computes in Rust."""
    public, _ = he.generate_keypair(1024, insecure=True)
    native = public.native
    plaintexts = native.encode(bytearray(8 * 2000), 8)
    span = []

    def work():
        span.append(time.monotonic())
        native.encrypt(plaintexts)
        span.append(time.monotonic())

    worker = threading.Thread(target=work)
    worker.start()
    seen = []
    while worker.is_alive():
        seen.append(time.monotonic())
        time.sleep(0.001)
    start, stop = span
    inside = [moment for moment in seen if start < moment < stop]
    assert len(inside) >= 3


def test_progress_is_shown(keys, capsys):
    c = keys[0].encrypt(np.arange(2000), progress=True)
    keys[1].decrypt(c.multiply(3, progress=True).add(c, progress=True), progress=True)
    bars = capsys.readouterr().err
    for what in ("encrypting", "multiplying", "adding", "decrypting"):
        assert re.search(rf"{what}: 100%.*2.00k/2.00k", bars), bars
    keys[0].encrypt(np.arange(2000))
    assert capsys.readouterr().err == ""


INTERRUPTED = """
import sys, numpy as np, hearith as he
public, private = he.generate_keypair(2048)
c, work = public.encrypt([5, 6]), eval("lambda: " + sys.argv[1])
print("ready", flush=True)
try:
    work()
except KeyboardInterrupt:
    assert private.decrypt(public.encrypt([1, 2]).sum()) == 3
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    "line",
    [
        "public.encrypt(np.arange(10_000_000))",
        "np.insert(c, 0, np.arange(10_000_000))",
        "np.concatenate([c, np.arange(10_000_000)])",
        "np.where(np.arange(10_000_000) > 2, np.arange(10_000_000), c[0])",
    ],
)
def test_ctrl_c_ends_a_batch(line):
    """Ten million encryptions at 2048 bits take hours.

    An interrupt ends them, and the key still works.
    """
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, line], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert (output, process.returncode) == ("interrupted\n", 0)


def test_ctrl_c_is_seen_while_a_vector_is_encrypted_whole():
    """Python runs a signal handler between two steps of one native call; without steps it would run
    only once.
    """
    public, _ = he.generate_keypair(scheme="bfv")
    data, seen = bytearray(8 * 2_000_000), []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(len(seen)))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        vector = public.native.encrypt(data, 8, 20)
        during = len(seen)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(vector) == 2_000_000
    assert during >= 3


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda c: c.cumsum(), np.cumsum(np.arange(1200))),
        (lambda c: c.reshape(2, 600).sum(axis=1), np.arange(1200).reshape(2, 600).sum(axis=1)),
        (lambda c: c.reshape(600, 2).cumsum(axis=0), np.arange(1200).reshape(600, 2).cumsum(axis=0)),
        (lambda c: c.sum_by([0] * 700 + [1] * 499 + [2])[1], [sum(range(700)), sum(range(700, 1199)), 1199]),
    ],
)
def test_sums_are_computed_in_pieces(keys, monkeypatch, compute, expected):
    pieces = []
    joined = _sums.joined

    def noted(rows, piece, *others):
        def step(start, stop):
            pieces.append(stop - start)
            return piece(start, stop)

        return joined(rows, step, *others)

    monkeypatch.setattr(_sums, "joined", noted)
    monkeypatch.setattr(_batches, "_PIECE", 0)
    monkeypatch.setattr(_sums, "PART", 7)
    public, private = keys
    assert np.array_equal(private.decrypt(compute(public.encrypt(np.arange(1200)))), expected)
    assert len(pieces) > 4
    assert max(pieces) <= 8 * he.threads()


def test_long_copies_are_those_of_short_ones(keys, other_keys):
    """Copies of more than 16 MiB are made in pieces."""
    few = keys[0].encrypt(np.arange(100))
    many = few.repeat(2500)
    rows = np.frombuffer(few.to_bytes(), dtype=np.uint8).reshape(100, -1)
    assert 250_000 * rows.shape[1] > 1 << 24

    def same(array, expected):
        return np.array_equal(np.frombuffer(array.to_bytes(), dtype=np.uint8).reshape(len(expected), -1), expected)

    whole = rows.repeat(2500, axis=0)
    assert same(many, whole)
    assert same(many[::-1], whole[::-1])
    assert same(many[7:249_990], whole[7:249_990])
    assert same(np.concatenate([few, many, few[:0], few]), np.concatenate([rows, whole, rows]))
    with pytest.raises(he.KeyMismatchError):
        np.concatenate([many, other_keys[0].encrypt([1])])


WITHOUT_MEMORY = """
import resource, sys, numpy as np, hearith as he
public, private = he.generate_keypair(512, insecure=True)
lattice, _ = he.generate_keypair(scheme="bfv")
numbers = public.encrypt(np.arange(1000))
large, whole = np.zeros(20_000_000, dtype=np.int64), bytearray(8 * 40_000_000)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), resource.RLIM_INFINITY))
for work in (
    lambda: public.encrypt(large),
    lambda: numbers.repeat(20_000),
    lambda: public.zeros(20_000_000),
    lambda: he.concatenate([numbers] * 20_000),
    lambda: lattice.native.encrypt(whole, 8, 20),
):
    try:
        work()
    except MemoryError:
        assert private.decrypt(numbers.sum()) == 499_500
    else:
        sys.exit("there is more memory than expected")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space as Linux does")
def test_without_memory_there_is_an_exception():
    subprocess.run([sys.executable, "-c", WITHOUT_MEMORY], check=True)


def _in_child(array, queue):
    queue.put(array.key.native.sum(array.content.rows).to_bytes() == array.sum().to_bytes())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_compute_too(keys):
    """The child does not inherit the parent's thread pool, and must not wait for it."""
    c = keys[0].encrypt(np.arange(100))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(c, queue))
    child.start()
    child.join(timeout=300)
    assert child.exitcode == 0
    assert queue.get()


def test_the_readmes_programs_run():
    text = (PACKAGE / "README.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert programs
    for program in programs:
        subprocess.run([sys.executable, "-c", program], check=True)


def test_the_release_check_accepts_this_package():
    root = PACKAGE.parents[1]
    command = [sys.executable, root / "scripts/release/try_wheel.py", root]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith(": numbers encrypted, summed and decrypted; 24 known answers\n")


def test_without_optional_packages(tmp_path):
    """Arrays need only NumPy. Other missing packages are reported on first use."""
    program = """
import sys
for name in ("pyarrow", "pandas", "polars", "tqdm", "click", "psycopg"):
    sys.modules[name] = None
import importlib.util
import hearith as he
public, private = he.generate_keypair(256, insecure=True)
c = public.encrypt([1, 2])
assert private.decrypt(c.sum()) == 3
for attempt, extra in [
    (lambda: public.encrypt_column({}, "x"), "arrow"),
    (lambda: public.encrypt([1], progress=True), "progress"),
    (lambda: __import__("hearith.phe.command_line"), "pheutil"),
    (lambda: __import__("hearith.pandas"), "pandas"),
    (lambda: __import__("hearith.polars"), "polars"),
    (lambda: __import__("hearith.postgres"), "postgres"),
]:
    try:
        attempt()
    except ImportError as error:
        assert f"hearith[{extra}]" in str(error), error
    else:
        raise SystemExit(f"{extra} was not missed")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
