"""Selecting graphics cards by name: the driver's interface, with kernels compiled for this CPU."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from required import missing

import hearith as he
from hearith.errors import HearithError

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))


@pytest.fixture
def driver(monkeypatch):
    """The emulated driver, as `cargo test --package hearith-cuda --all-features` builds it."""
    found = list(TARGET.glob("*/build/hearith-cuda-*/out/libemulated_driver.so"))
    if not found:
        missing("emulated-card", "the emulated driver is not built")
    monkeypatch.setenv("HEARITH_CUDA_DRIVER", str(max(found, key=lambda path: path.stat().st_mtime)))


@pytest.mark.parametrize("variant", ["standard", "djn"])
def test_arrays_are_computed_with_on_a_card(driver, variant):
    public, private = he.generate_keypair(1024, variant, insecure=True, engine="cuda:2")
    assert public.engine == "cuda:2"
    numbers = np.array([5, -7, 0, 2**40, 1])
    for key in (public, private):
        first, second = key.encrypt(numbers), key.encrypt(numbers[::-1])
        assert private.decrypt(first).tolist() == numbers.tolist()
        assert private.decrypt(first + second).tolist() == (numbers + numbers[::-1]).tolist()
        assert private.decrypt(first - second).tolist() == (numbers - numbers[::-1]).tolist()
        assert private.decrypt(first * [3, -1, 0, 2, 1]).tolist() == (numbers * [3, -1, 0, 2, 1]).tolist()
        assert private.decrypt(first @ [3, -1, 0, 2, 1]) == numbers @ [3, -1, 0, 2, 1]
        assert private.decrypt(first.sum()) == numbers.sum()
        assert private.decrypt(first.rerandomise(), check=True).tolist() == numbers.tolist()
        names, totals = first.sum_by(["a", "b", "a", "b", "a"])
        assert (names.tolist(), private.decrypt(totals).tolist()) == (["a", "b"], [6, 2**40 - 7])


def test_tables_are_computed_with_on_a_card(driver):
    public, private = he.generate_keypair(1024, "djn", insecure=True, engine="cuda")
    table = pa.table({"team": ["a", "b", "a"], "pay": [10, 20, -5]})
    totals = public.sum_columns(public.encrypt_columns(table, ["pay"]), by="team")
    assert private.decrypt_columns(totals)["pay"].to_pylist() == [5, 20]


def test_what_is_no_card_is_refused(driver, monkeypatch):
    def key(engine):
        return he.generate_keypair(1024, insecure=True, engine=engine)

    with pytest.raises(HearithError, match="card too old: Emulated old"):
        key("cuda:3")
    with pytest.raises(HearithError, match="no card 99"):
        key("cuda:99")
    with pytest.raises(ValueError, match="'cuda:one': expected 'cuda'"):
        key("cuda:one")
    with pytest.raises(ValueError, match="the engine 'cuda' only encrypts, adds and decrypts with Paillier keys"):
        he.generate_keypair(scheme="bfv", engine="cuda")
    monkeypatch.setenv("HEARITH_CUDA_DRIVER", "/nowhere/libcuda.so.1")
    with pytest.raises(HearithError, match="no driver: /nowhere/libcuda.so.1 cannot be loaded"):
        key("cuda")


def test_auto_takes_a_card_where_it_is_allowed(monkeypatch):
    monkeypatch.delenv("HEARITH_ENGINE", raising=False)
    assert he.generate_keypair(512, insecure=True, engine="auto")[0].engine in {"ifma", "avx2", "serial"}
    monkeypatch.setenv("HEARITH_ALLOW_CARD", "1")
    monkeypatch.setenv("HEARITH_CUDA_DRIVER", "/nowhere/libcuda.so.1")
    for engine in (None, "auto"):
        public, private = he.generate_keypair(512, insecure=True, engine=engine)
        assert public.engine == "auto"
        assert private.decrypt(public.encrypt([1, 2]).sum()) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_are_told_that_they_have_no_card(driver):
    public, _ = he.generate_keypair(1024, "djn", insecure=True, engine="cuda")
    public.encrypt(1)
    child = os.fork()
    if child == 0:
        try:
            public.encrypt(1)
        except HearithError as error:
            os._exit(0 if "this process was forked from one that uses cards" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_example_adds_up_the_same_histograms(monkeypatch, capsys):
    run_example(monkeypatch, capsys, "--bits", "512", "--rows", "150", "--phe-rows", "20", "--engine", "serial")


def test_the_example_runs_on_a_card(driver, monkeypatch, capsys):
    run_example(monkeypatch, capsys, "--bits", "1024", "--rows", "40", "--phe-rows", "0", "--engine", "cuda")


def run_example(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["gradients.py", *arguments])
    runpy.run_path(str(EXAMPLES / "gradients.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "equal to sums of plain numbers: True" in out
    assert arguments[-1] in out
    assert "decrypt histograms" in out


def test_the_example_fails_if_a_sum_differs(monkeypatch):
    example = runpy.run_path(str(EXAMPLES / "gradients.py"))
    packed, bins = example["samples"](50)
    # Both parts, against independently computed sums.
    plain = example["plain_round"](packed, bins)
    for feature in (0, 29):
        for place in (0, 31):
            assert plain[feature][place] == sum(int(one) for one in packed[bins[feature] == place])
    monkeypatch.setattr(sys, "argv", ["gradients.py", "--bits", "512", "--rows", "20", "--phe-rows", "0"])
    monkeypatch.setattr(he.PrivateKey, "decrypt", lambda key, array: np.zeros(array.shape, dtype=np.int64))
    with pytest.raises(SystemExit, match="a histogram is wrong"):
        runpy.run_path(str(EXAMPLES / "gradients.py"), run_name="__main__")


SQL = """
import sys
import duckdb
import hearith as he
import hearith.duckdb as hd

public, private = he.PublicKey.load(sys.argv[1], insecure=True), he.PrivateKey.load(sys.argv[2], insecure=True)
assert public.engine == "cuda"
con = hd.load(duckdb.connect(config={"allow_unsigned_extensions": "true"}))
con.execute("SET hearith_allow_insecure_keys = true")
con.execute("SET hearith_private_key = ?", [sys.argv[2]])
con.execute("SELECT he_load_key(?)", [sys.argv[1]])
cells = public.encrypt([5, -7, 9]).ciphertexts()
con.execute("CREATE TABLE t (g INTEGER, c BLOB)")
con.executemany("INSERT INTO t VALUES (?, ?)", [(n % 2, c.to_bytes(256)) for n, c in enumerate(cells)])
query = "SELECT g, he_decrypt(he_rerandomise(he_multiply(he_add(he_sum(c), he_sum(c)), 3))) FROM t GROUP BY g ORDER BY g"
print(con.execute(query).fetchall())
"""


def test_sql_is_computed_on_a_card(driver, tmp_path):
    """The extension reads its engine from the environment when it is loaded."""
    public, private = he.generate_keypair(1024, "djn", insecure=True)
    files = [tmp_path / "public.json", tmp_path / "private.json"]
    for path, key in zip(files, (public, private), strict=True):
        path.write_text(key.to_jwk())
        path.chmod(0o600)
    environment = os.environ | {"HEARITH_ENGINE": "cuda", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", SQL, *files], env=environment, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "[(0, 84), (1, -42)]\n"), run.stderr
