#!/usr/bin/env python3
"""Writes the test vectors of FuseSoC's `sim` targets, rtl/sim/TOP/vectors.hex: a key, a packet and
its answer for each accelerator.

Keys and answers come from the oracles of rtl/cocotb/systems.py, which share nothing with the
driver: python-paillier and Python integers. rtl/sim/player.sv defines the format. With --check the
script writes nothing, and fails if a file differs from what it would write.

Usage: vectors.py [--check] [FOLDER]
"""

import argparse
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cocotb"))
import systems

READY = 1
CONTROL, REGION, MARK = 0x10, 0x10000, 0x4548
STREAM_BITS = 32


def mesa():
    """N = 64, two stages, and the defaults."""
    n, w, v, d = 64, 17, 23, 2
    r_bits, x_bits = w * ((n + 2 + w - 1) // w + d + 1), 2 * n + 2
    parameters = (n, 2, w | d << 8 | 1 << 16 | v << 24, STREAM_BITS, r_bits, x_bits, 0, 0)
    system = systems.Mesa(parameters, seed=1)
    return system, [system.item() for _ in range(4)]


def mesa_dual():
    """N = 64, one lane, digits and words of 16 bits."""
    n, w, v, d = 64, 16, 16, 2
    bits = w * ((n // 2 + w + 2) // w + d + 1)
    parameters = (n, 1, w | d << 8 | v << 16, STREAM_BITS, bits, bits, 0, 0)
    system = systems.MesaDual(parameters, seed=2)
    return system, [system.item() for _ in range(4)]


def coproc():
    """N = 64, four groups, and the defaults."""
    n, w, v, d = 64, 17, 24, 2
    steps = (2 * n + 2 + w - 1) // w + d + 2
    parameters = (n, 1 << 8 | 4 << 16, w | d << 12 | v << 16, STREAM_BITS, w * (steps - 1), w * (d + 1), 4 | 4 << 16, 0)
    system = systems.Coproc(parameters, seed=3)
    return system, [system.item() for _ in range(5)]


def rns():
    """A residue bank with the defaults."""
    system = systems.ResidueBank((360, 2, 0, STREAM_BITS, 0, 0, 0, 0), seed=4)
    system.primes = (1_073_692_673, 1_073_479_681)
    return system, [system.item() for _ in range(6)]


def dghv():
    """Writes two numbers of four and three words, multiplies them and reads their product."""
    system = systems.Dghv((28, 128, 1024, STREAM_BITS, 1, 4096, 0, 0), seed=5)
    x, y = system.content[:64], system.content[64:128]
    product = int.from_bytes(x[:32], "little") * int.from_bytes(y[:24], "little")
    clear = bytes(64)
    return system, [
        system.command(system.WRITE, address=0, data=x),
        system.command(system.WRITE, address=16, data=y),
        system.command(system.WRITE, address=64, data=clear),
        system.compute(system.MULTIPLY, (0, 4, 16, 3, 64)),
        system.command(system.READ, address=64, answer=product.to_bytes(64, "little")),
        system.command(system.READ, address=0, answer=x),
    ]


SYSTEMS = {system.__name__: system for system in (mesa, mesa_dual, coproc, rns, dghv)}


def beats(data):
    """Returns the data as words of 32 bits, the last one padded."""
    data += bytes(-len(data) % 4)
    return [word for (word,) in struct.iter_unpack("<I", data)]


def items(values, bits):
    """Returns items of `bits` bits, each in whole beats."""
    width = 4 * -(-bits // STREAM_BITS)
    return b"".join(value.to_bytes(width, "little") for value in values)


def words(system, pairs):
    """Returns the words of a system's file."""
    writes = []
    for number, value, bits in system.constants():
        address = REGION + 0x800 * number
        writes += [(address + 4 * at, word) for at, word in enumerate(systems.words_of(value, bits))]
    writes.append((CONTROL, READY))
    header = struct.pack("<4H", MARK, 0, 1, len(pairs))
    packet = beats(header + items((value for value, _ in pairs), system.in_bits))
    answer = beats(header + items((value for _, value in pairs), system.out_bits))
    return [len(writes), *(word for pair in writes for word in pair), len(packet), *packet, len(answer), *answer]


def main():
    """Writes the files, or compares them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if something differs")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    options = parser.parse_args()
    for name, system in SYSTEMS.items():
        path = options.folder / name / "vectors.hex"
        text = "".join(f"{word:08x}\n" for word in words(*system()))
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            sys.exit(f"vectors: {path} is not what {Path(__file__).name} writes")


if __name__ == "__main__":
    main()
