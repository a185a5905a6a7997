"""Forked processes: a child never uses its parent's randomisers or threads, whatever its process
id. Also tests the exit of an interpreter.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from required import missing

import hearith as he
from hearith import phe

if not hasattr(os, "fork"):
    pytest.skip("this system does not fork", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000


@pytest.fixture(scope="module")
def public():
    return phe.generate_paillier_keypair(n_length=512)[0]


def child(work):
    """Forks a child that runs `work` and exits within minutes; returns its process id."""
    number = os.fork()
    if number == 0:
        status = 1
        try:
            signal.alarm(300)
            work()
            status = 0
        finally:
            os._exit(status)
    return number


def ended(number):
    """Waits for a child, which must succeed."""
    assert os.waitpid(number, 0)[1] == 0


def ready(public, count):
    """Encrypts a number and prepares randomisers for others.

    On a busy machine, the first ones may be a minute old, and wiped, before the last ones are
    ready. Then no more are made until the next encryption.
    """
    public.keep_randomisers(count)
    public.encrypt(0)
    end = time.monotonic() + 300
    asked = time.monotonic()
    while public.randomisers_kept < count and time.monotonic() < end:
        time.sleep(0.001)
        if time.monotonic() > asked + 10:
            public.encrypt(0)
            asked = time.monotonic()


def traces(public, pipe):
    """Writes values that identify the randomisers of some numbers: modulo n, a ciphertext equals a
    power of its randomiser.
    """
    found = [public.encrypt(number).ciphertext(False) % public.n for number in range(4)]
    os.write(pipe, b"".join(b"%d\n" % trace for trace in found))


def read(pipe):
    with open(pipe, "rb") as lines:
        return [int(line) for line in lines]


def apart():
    """Makes later children of this process start with process id 1; returns whether that is
    allowed.
    """
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    return unshare(CLONE_NEWPID) == 0 or unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0


def test_a_grandchild_with_the_number_of_its_grandparent(public, count):
    """Like a daemon, whose parent exits before its own child gets the same process id."""
    try:
        LAST_PID.write_text(LAST_PID.read_text())
    except OSError as error:
        missing("last-pid", str(error))
    (reading, writing), (waiting, telling) = os.pipe(), os.pipe()

    def first():
        ready(public, count)
        number = os.getpid()
        child(lambda: daemon(number))
        traces(public, writing)

    def daemon(number):
        assert os.read(waiting, 1) == b"x"
        for _ in range(200):
            LAST_PID.write_text(str(number - 1))
            last = child(lambda: traces(public, writing) if os.getpid() == number else None)
            ended(last)
            if last == number:
                return
        os.write(writing, b"0\n")

    ended(child(first))
    os.write(telling, b"x")
    os.close(writing)
    found = read(reading)
    if 0 in found:
        missing("last-pid", "other processes took the number")
    assert len(found) == len(set(found)) == 8


def test_the_first_processes_of_two_namespaces(public, count):
    if os.waitpid(child(lambda: os._exit(0 if apart() else 1)), 0)[1]:
        missing("namespaces", "unshare is not permitted")
    reading, writing = os.pipe()

    def outer():
        apart()
        ended(child(first))

    def first():
        ready(public, count)
        assert os.getpid() == 1
        apart()
        last = child(second)
        traces(public, writing)
        ended(last)

    def second():
        assert os.getpid() == 1
        traces(public, writing)

    ended(child(outer))
    os.close(writing)
    found = read(reading)
    assert len(found) == len(set(found)) == 8


@pytest.fixture(params=[0, 16])
def count(request):
    """0: only the randomisers of one batch are made ahead. 16: a thread makes them ahead."""
    return request.param


def test_sql_in_a_forked_child(tmp_path):
    """The child used to wait forever for the threads of its parent."""
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    import hearith.duckdb as hd

    key = tmp_path / "public.json"
    made, private = he.generate_keypair(256, insecure=True)
    key.write_text(made.to_jwk())
    data = made.encrypt([1, 2, 3] * 700).to_bytes()
    table = pa.table({"c": pa.array([data[start : start + 64] for start in range(0, len(data), 64)], pa.binary())})

    def query():
        with hd.connect() as con:
            con.execute("SET hearith_allow_insecure_keys = true")
            con.execute("SELECT he_load_key(?)", [str(key)]).fetchall()
            con.register("t", table)
            # Without he_sum, which gives its thread a pool that survives.
            found = con.execute("SELECT he_rerandomise(he_add(c, 1)) FROM t").fetchall()
        array = he.EncryptedArray.from_bytes(made, b"".join(row for (row,) in found))
        assert private.decrypt(array.sum()) == 3 * 2100

    query()
    ended(child(query))


LEAVING = """
import threading, time
import numpy as np, hearith as he
from hearith import phe
public, private = he.generate_keypair(512, insecure=True)
numbers = public.encrypt(np.arange(2000))
single, _ = phe.generate_paillier_keypair(n_length=512)
def busy(work):
    while True:
        work()
for work in (numbers.sum, lambda: public.encrypt(np.arange(500)), lambda: single.encrypt(1), lambda: numbers.to_bytes()):
    threading.Thread(target=busy, args=(work,), daemon=True).start()
time.sleep(0.2)
"""


def test_an_interpreter_ends_while_daemon_threads_compute():
    for _ in range(8):
        subprocess.run([sys.executable, "-c", LEAVING], check=True, timeout=300)
