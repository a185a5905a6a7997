"""The Python oracles of the tops' bench are correct, and the bench is not skipped silently."""

import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "rtl" / "cocotb"))
systems = pytest.importorskip("systems", reason="python-paillier is not installed")
integers = pytest.importorskip("integers")


def test_the_cipher_is_that_of_fips_197():
    keys = integers.round_keys(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
    block = integers.encrypt_block(keys, bytes.fromhex("3243f6a8885a308d313198a2e0370734"))
    assert block.hex() == "3925841d02dc09fbdc118597196a0b32"


def test_the_checksum_is_that_of_zlib():
    words = [random.Random(3).getrandbits(32) for _ in range(20)]
    for length in range(20):
        assert systems.crc_of(words[:length]) == zlib.crc32(
            b"".join(word.to_bytes(4, "little") for word in words[:length])
        )


def test_primes_are_prime():
    assert [number for number in range(60) if systems.is_prime(number)] == [
        2,
        3,
        5,
        7,
        11,
        13,
        17,
        19,
        23,
        29,
        31,
        37,
        41,
        43,
        47,
        53,
        59,
    ]
    # Carmichael numbers, a strong pseudoprime to nine bases, and the largest prime below 2^64.
    assert not any(systems.is_prime(number) for number in (561, 1105, 3215031751, 3825123056546413051))
    assert systems.is_prime(2**64 - 59)


@pytest.mark.parametrize("seed", range(5))
def test_constants_give_back_the_plaintext(seed):
    """Checks the device's formula with its constants.

    The formula is m = L_p(c^a) t_p + L_q(c^b) t_q modulo n, with the key's exponents a and b.
    """
    mesa = systems.Mesa((64, 1, 0x010210, 32, 128, 130, 0, 0), seed)
    constants = {number: value for number, value, _ in mesa.constants()}
    n, scale = constants[7], pow(2, -130, constants[7])
    items = [mesa.item() for _ in range(6)]
    # The fourth item has another randomiser, which short exponents leave in its powers.
    assert [plaintext for _, plaintext in items].count(2**64 - 1) == mesa.is_short
    for ciphertext, plaintext in items:
        if plaintext == 2**64 - 1:
            continue
        total = 0
        for first, exponent in zip((0, 8), mesa.exponents, strict=True):
            prime, square = constants[first + 5], constants[first + 1]
            assert square == prime**2
            # Whole multiples of the prime change nothing.
            total += ((pow(ciphertext, exponent, square) - 1) // prime + 5 * prime) * constants[first + 6] * scale
            # M' is -1 in its low digits.
            assert (constants[first] * 2**48 - 1) % square == 0
        assert total % n == plaintext


@pytest.mark.parametrize(("required", "status"), [("", 0), ("cocotb", 1)])
def test_the_bench_says_when_it_is_left_out(required, status):
    environment = {"PATH": "/nonexistent", "HEARITH_REQUIRE": required, "PYTHONPATH": "/nonexistent"}
    command = [sys.executable, "-I", "-S", str(ROOT / "rtl/cocotb/run.py"), "residue_bank"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == status, result.stderr
    assert (
        "cocotb: " + ("HEARITH_REQUIRE lists cocotb" if required else "without cocotb") in result.stdout + result.stderr
    )
