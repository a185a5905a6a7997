"""FHE over the integers: encrypted bits, files and errors."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from required import missing

from hearith import dghv
from hearith.errors import (
    CiphertextError,
    CircuitError,
    InvalidKeyError,
    KeyMismatchError,
    NumberError,
    RangeError,
    ShapeError,
)

#: The option that every call needs.
INSECURE = {"insecure_historical_parameters": True}
CIRCUITS = Path(__file__).parents[2] / "dghv" / "circuits"


@pytest.fixture(scope="module")
def keys():
    return dghv.generate_keypair("cmnt", "toy", **INSECURE)


@pytest.fixture(scope="module")
def shallow():
    return dghv.generate_keypair("cnt", "toy", short_coefficients=True, recryption=False, **INSECURE)


def test_operators_are_those_of_booleans(keys, shallow):
    a, b = np.array([0, 0, 1, 1], dtype=bool), np.array([0, 1, 0, 1], dtype=bool)
    for public, private in (keys, shallow):
        x, y = public.encrypt(a), public.encrypt(b.tolist())
        for encrypted, plain in [
            (x ^ y, a ^ b),
            (x & y, a & b),
            (~x, ~a),
            (x & b, a & b),
            (a ^ y, a ^ b),
            (x[1:3], a[1:3]),
        ]:
            found = private.decrypt(encrypted)
            assert found.dtype == np.bool_
            np.testing.assert_array_equal(found, plain)
        np.testing.assert_array_equal(private.decrypt(x[[3, 0]]), a[[3, 0]])
        assert len(x) == 4
        assert private.decrypt(public.encrypt([])).size == 0


def test_noise_is_told_and_refused_where_nothing_recrypts(shallow):
    public, private = shallow
    assert not public.recrypts
    fresh = public.encrypt([True])
    product = fresh & fresh
    np.testing.assert_allclose(product.noise, 2 * fresh.noise)
    assert product.levels[0] == fresh.levels[0] - 1
    deep = product & product
    with pytest.raises(RangeError, match="noise of up to") as caught:
        deep & deep
    assert (caught.value.row, caught.value.kind) == (0, "noise_exhausted")
    assert private.decrypt(deep)[0]


def test_recryption_goes_on(keys):
    public, private = keys
    assert public.recrypts
    bits = public.encrypt([True, False])
    for _ in range(4):
        bits = bits & bits
    np.testing.assert_array_equal(private.decrypt(bits), [True, False])


def test_bits_go_down_a_ladder(tmp_path):
    public, private = dghv.generate_keypair(
        "cnt", "toy", short_coefficients=True, recryption=False, ladder=5, **INSECURE
    )
    assert public.rungs == 5
    bits = public.encrypt([True, False])
    assert bits.level == 0
    for product in range(4):
        bits = bits & bits
        np.testing.assert_array_equal(private.decrypt(bits), [True, False], err_msg=str(product))
    assert bits.level == 5
    low = public.switch(public.encrypt([True, True]), 3)
    assert low.level == 3
    np.testing.assert_array_equal(private.decrypt(low ^ bits), [False, True])
    for level in (2, 6):
        with pytest.raises(RangeError, match=f"cannot switch from level 3 to level {level}: the key has 5 levels"):
            public.switch(low, level)
    public.save(tmp_path / "public.dghv")
    private.save(tmp_path / "private.dghv")
    low.save(tmp_path / "low.dghv")
    again = dghv.PublicKey.load(tmp_path / "public.dghv", **INSECURE)
    secret = dghv.PrivateKey.load(tmp_path / "private.dghv", **INSECURE)
    loaded = again.load_bits(tmp_path / "low.dghv")
    assert (again.rungs, loaded.level) == (5, 3)
    np.testing.assert_array_equal(secret.decrypt(again.switch(loaded, 5)), [True, True])
    with pytest.raises(InvalidKeyError, match="parameters allow 1 to 12"):
        dghv.generate_keypair("cnt", "toy", ladder=13, **INSECURE)
    with pytest.raises(InvalidKeyError, match="MiB per rung"):
        dghv.generate_keypair("cmnt", "large", ladder=1, **INSECURE)


def test_circuits(keys):
    public, private = keys
    numbers = [201, 77]
    bits = [np.array([number >> place & 1 for place in range(8)]) for number in numbers]
    inputs = [public.encrypt(value) for value in bits]
    [total] = public.evaluate(CIRCUITS / "adder8.txt", *inputs)
    assert sum(1 << place for place, bit in enumerate(private.decrypt(total)) if bit) == sum(numbers)
    with pytest.raises(ShapeError, match="input values"):
        public.evaluate(CIRCUITS / "adder8.txt", inputs[0])
    with pytest.raises(CircuitError, match="line 1"):
        public.evaluate("x\n")
    with pytest.raises(CircuitError, match="loop"):
        public.evaluate("2 3\n1 1\n1 1\n\n2 1 0 2 1 AND\n1 1 1 2 INV\n", inputs[0][:1])
    with pytest.raises(FileNotFoundError):
        public.evaluate("missing.txt", *inputs)


def test_everything_is_asked_for_by_name(tmp_path, keys):
    public, private = keys
    public.save(tmp_path / "public.dghv")
    private.save(tmp_path / "private.dghv")
    attempts = [
        lambda: dghv.generate_keypair("cnt", "toy"),
        lambda: dghv.PublicKey.load(tmp_path / "public.dghv"),
        lambda: dghv.PrivateKey.load(tmp_path / "private.dghv"),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidKeyError, match="insecure_historical_parameters=True") as caught:
            attempt()
        assert caught.value.kind == "insecure_key"
    with pytest.raises(InvalidKeyError, match="toy, small, medium, large"):
        dghv.generate_keypair("cnt", "tiny", **INSECURE)


def test_files_come_back(tmp_path, keys):
    public, private = keys
    bits = np.array([1, 0, 1])
    public.save(tmp_path / "public.dghv")
    private.save(tmp_path / "private.dghv")
    public.encrypt(bits).save(tmp_path / "bits.dghv")
    assert (tmp_path / "private.dghv").stat().st_mode & 0o777 == 0o600
    again = dghv.PublicKey.load(tmp_path / "public.dghv", **INSECURE)
    assert (again, again.scheme, again.parameters, again.recrypts) == (public, "cmnt", "cmnt toy", True)
    secret = dghv.PrivateKey.load(tmp_path / "private.dghv", **INSECURE)
    np.testing.assert_array_equal(secret.decrypt(again.load_bits(tmp_path / "bits.dghv")), bits)
    with pytest.raises(FileExistsError):
        private.save(tmp_path / "private.dghv")
    (tmp_path / "private.dghv").chmod(0o644)
    with pytest.warns(UserWarning, match="chmod 600"):
        dghv.PrivateKey.load(tmp_path / "private.dghv", **INSECURE)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bits.dghv", "private.dghv", "public.dghv"]


def test_files_that_are_wrong(tmp_path, keys, shallow):
    public, _ = keys
    file = tmp_path / "bits.dghv"
    public.encrypt([1, 0]).save(file)
    whole = file.read_bytes()
    with pytest.raises(KeyMismatchError):
        shallow[0].load_bits(file)
    with pytest.raises(InvalidKeyError, match="holds encrypted bits, not a public key"):
        dghv.PublicKey.load(file, **INSECURE)
    file.write_bytes(whole[:-100])
    with pytest.raises(CiphertextError, match="truncated") as caught:
        public.load_bits(file)
    assert caught.value.row == 1
    file.write_bytes(whole[:500] + b"\0\1" + whole[502:])
    with pytest.raises(CiphertextError, match="damaged or tampered"):
        public.load_bits(file)
    with pytest.raises(FileNotFoundError):
        public.load_bits(tmp_path / "missing")
    with pytest.raises(OSError, match="missing"):
        public.save(tmp_path / "missing" / "public.dghv")


def test_what_are_no_bits(keys, shallow):
    public, _ = keys
    with pytest.raises(NumberError, match="row 1: neither 0 nor 1"):
        public.encrypt([1, 2])
    with pytest.raises(ShapeError):
        public.encrypt([[1, 0]])
    with pytest.raises(ShapeError):
        public.encrypt([1, 0]) & public.encrypt([1])
    other = shallow[0].encrypt([1])
    with pytest.raises(KeyMismatchError):
        public.encrypt([1]) ^ other
    with pytest.raises(KeyMismatchError):
        keys[1].decrypt(other)
    bits = public.encrypt([1])
    for wrong in (lambda: bool(bits), lambda: bits == bits, lambda: np.asarray(bits)):
        with pytest.raises(TypeError):
            wrong()
    assert all("INSECURE" in repr(thing) for thing in (*keys, bits))


def test_the_command_line_reads_the_same_files(tmp_path, keys):
    if "HEARITH_COMMAND" not in os.environ:
        missing("command", "needs the built command line in HEARITH_COMMAND")
    public, private = keys
    public.save(tmp_path / "public.dghv")
    private.save(tmp_path / "private.dghv")
    public.encrypt([1, 0, 1]).save(tmp_path / "a.dghv")

    def hearith(*arguments):
        command = [os.environ["HEARITH_COMMAND"], "dghv", "--insecure-historical-parameters", "--quiet", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert hearith("decrypt", "--key", "private.dghv", "a.dghv") == "1\n0\n1\n"
    (tmp_path / "b.txt").write_text("1\n1\n0\n")
    hearith("encrypt", "--key", "public.dghv", "b.txt", "--out", "b.dghv")
    hearith("multiply", "--key", "public.dghv", "a.dghv", "b.dghv", "--out", "c.dghv")
    np.testing.assert_array_equal(private.decrypt(public.load_bits(tmp_path / "c.dghv")), [True, False, False])
