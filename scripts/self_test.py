#!/usr/bin/env python3
"""Generates the program of the boards' self-test (boards/self_test/self_test_program.sv).

It contains a key of 64 bits, two ciphertexts and their plaintexts, as accesses to a MESA's
registers and beats of its streams.

The plaintexts are fixed and encrypted by Paillier's formula in Python's integers. The constants of
the key come from the formulas in docs/explanation/mesa.md, and the addresses from rtl/registers.
The key is not secret: it is in this file. With --check the script writes nothing and fails if the
program is out of date.

Usage: self_test.py [--check] [ROOT]
"""

import sys
import zlib
from pathlib import Path

import registers

HERE = Path(__file__).resolve().parents[1]
PATH = "boards/self_test/self_test_program.sv"
#: The device's parameters, as set in boards/self_test/self_test.sv.
N, W, D = 64, 16, 2
#: Primes of 32 bits.
P, Q = 4294967291, 4294967279
PLAINTEXTS = [0x0123456789ABCDEF, P * Q - 1]
RANDOMISERS = [0x1F2E3D4C5B6A7988, 3]
MARK = 0x4548

OPERATIONS = {"Finish": 0, "Write": 1, "Read": 2, "Send": 3, "Expect": 4, "Interrupt": 5}


def words(value, bits):
    """Splits a number into words of 32 bits, the least significant first."""
    return [value >> 32 * k & 0xFFFFFFFF for k in range(-(-bits // 32))]


def constants():
    """Returns the constants of the key by region, from the formulas in docs/explanation/mesa.md."""
    n, short = P * Q, W * (D + 1)
    r_bits, x_bits = W * (-(-(N + 2) // W) + D + 1), 2 * N + 2
    # A single stage processes all bits of an exponent, plus a step that leaves Montgomery form.
    found = {"MODULUS": n, "STEPS": N // 2 << 16}
    for name, p, q in (("P", P, Q), ("Q", Q, P)):
        square = p * p
        scaled = -pow(square, -1, 1 << short) % (1 << short) * square
        assert (scaled + 1) % (1 << short) == 0
        merged = pow(-q, -1, p) * q * pow(q, -1, p) % n
        found |= {
            f"{name}_MT": (scaled + 1) >> short,
            f"{name}_SQUARE": square,
            f"{name}_ENTER": (1 << r_bits + x_bits) % square,
            f"{name}_ONE": (1 << r_bits) % square,
            f"{name}_EXPONENT": p - 1,
            f"{name}_PRIME": p,
            f"{name}_MERGED": (merged << x_bits) % n,
        }
    return found


def header(epoch, sequence, count):
    """Returns the beats of a packet's header."""
    return [MARK | epoch << 16, sequence | count << 16]


def program(description):
    """Returns the steps: operation, address or flags, data."""
    at = {register.inst_name: register.absolute_address for register in description.registers}
    system = description.systems["mesa"]
    version = registers.version(description)
    n, key = P * Q, constants()
    ciphertexts = [
        pow(n + 1, m, n * n) * pow(r, n, n * n) % (n * n) for m, r in zip(PLAINTEXTS, RANDOMISERS, strict=True)
    ]
    # Checks the ciphertexts by textbook decryption.
    power = (P - 1) * (Q - 1)
    for c, m in zip(ciphertexts, PLAINTEXTS, strict=True):
        assert (pow(c, power, n * n) - 1) // n * pow(power, -1, n) % n == m

    def write(name, data):
        return ("Write", at[name], data)

    def read(name, data):
        return ("Read", at[name], data)

    def send(beats, keep=0xF):
        """Adds a packet; `keep` marks the valid bytes of its last beat."""
        return [("Send", keep << 1 | 1 if k + 1 == len(beats) else 0xF << 1, beat) for k, beat in enumerate(beats)]

    def expect(beats):
        return [("Expect", int(k + 1 == len(beats)), beat) for k, beat in enumerate(beats)]

    def bits(register, *names):
        (found,) = (one for one in description.registers if one.inst_name == register)
        return sum(1 << field.low for field in found.fields() if field.inst_name in names)

    steps = [
        read("IDENTITY", int.from_bytes(system.identity.encode(), "big")),
        read("VERSION", version),
        read("EPOCH", 0),
        read("ERROR", 0),
    ]
    for region in system.regions:
        length = eval(region.bits.write("sv").replace("/", "//"), {}, {"N": N, "W": W, "D": D})
        values = words(key[region.name], length)
        steps += [("Write", region.address + 4 * k, word) for k, word in enumerate(values)]
        steps.append(read("KEY_CHECK", zlib.crc32(b"".join(word.to_bytes(4, "little") for word in values))))
    steps += [write("INTERRUPT_ENABLE", bits("INTERRUPT_ENABLE", "answer")), write("CONTROL", bits("CONTROL", "ready"))]
    steps.append(read("STATUS", bits("STATUS", "ready")))
    head = header(0, 0xBEEF, len(ciphertexts))
    steps += send([*head, *(word for c in ciphertexts for word in words(c, 2 * N))])
    steps += expect([*head, *(word for m in PLAINTEXTS for word in words(m, N))])
    steps += [("Interrupt", 0, 0), write("INTERRUPT", bits("INTERRUPT", "answer", "idle")), read("ERROR", 0)]
    steps += [
        read("ACCEPTED", len(ciphertexts)),
        read("DELIVERED", len(ciphertexts)),
        read("STATUS", bits("STATUS", "ready")),
    ]
    # A packet of the right length whose last beat lacks a byte: the device does not answer its item
    # and records the cause.
    head = header(0, 0xCAFE, 1)
    steps += send([*head, *words(ciphertexts[0], 2 * N)], keep=0x7)
    steps += expect([*head, 0])
    steps += [
        ("Interrupt", 0, 0),
        read("ERROR", bits("ERROR", "broken")),
        write("ERROR", bits("ERROR", "broken")),
        read("ERROR", 0),
    ]
    steps += [
        read("DELIVERED", len(ciphertexts)),
        write("CONTROL", bits("CONTROL", "wipe")),
        read("STATUS", 0),
        read("EPOCH", 1),
    ]
    return [*steps, ("Finish", 0, 0)]


def text(description):
    """Returns the module's text."""
    steps = program(description)
    # The boards show a step's number on seven lights; all seven mean success.
    assert len(steps) < 127
    lines = [
        "// SPDX-License-Identifier: MIT OR Apache-2.0",
        "// Written by scripts/self_test.py: edit that script, then run it.",
        "// The steps of the self-test: operation; address, or a beat's {keep, last}; data. Combinational.",
        "module self_test_program (",
        "    input  logic [6:0]  step_i,",
        "    output logic [2:0]  operation_o,",
        "    output logic [16:0] address_o,    // of a register, or {keep, last} of a beat",
        "    output logic [31:0] data_o",
        ");",
        "    // " + ", ".join(f"{number} {name.lower()}" for name, number in OPERATIONS.items()) + ".",
        "    always_comb begin",
        "        case (step_i)",
    ]
    for number, (operation, address, data) in enumerate(steps):
        step = f"3'd{OPERATIONS[operation]}, 17'h{address:05x}, 32'h{data:08x}"
        lines.append(f"            7'd{number}: {{operation_o, address_o, data_o}} = {{{step}}};")
    return "\n".join(
        [
            *lines,
            "            default: {operation_o, address_o, data_o} = '0;",
            "        endcase",
            "    end",
            "endmodule",
            "",
        ]
    )


def main():
    """Writes or compares the program."""
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    root = Path(arguments[0]) if arguments else HERE
    wanted, path = text(registers.Description(root)), root / PATH
    if "--check" not in sys.argv:
        path.write_text(wanted)
    elif not path.exists() or path.read_text() != wanted:
        sys.exit(f"self_test: {PATH} does not match the register description: run scripts/self_test.py")


if __name__ == "__main__":
    main()
