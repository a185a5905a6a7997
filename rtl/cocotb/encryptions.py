"""Tests specific to the accelerator for encryption over the integers: encryptions compared with the
definition, invalid numbers, a silent memory.
"""

import cocotb
from cocotb.triggers import ClockCycles

from device import CONTROL, ERROR, FLUSH, Device
from integers import encryption

# As in tops.py, but encryptions take longer.
LONGEST = 4000
# Cycles within which an encryption is answered.
ENCRYPTED = 150_000
SILENT = 1


async def answered(device, items, cycles=ENCRYPTED):
    """Sends commands in one packet and checks the answers."""
    packet, expected = device.packet(items)
    await device.send(packet)
    assert await device.answer(cycles) == expected


def lay(device, case):
    """Writes the numbers of a case into the memory, and random bytes around them."""
    device.memory.write(0, device.system.generator.randbytes(8 * case.end))
    for at, number in case.memory.items():
        device.memory.write(8 * at, number)


def case(device, **lengths):
    """Creates a case and writes it into the memory."""
    found = encryption(device.system.generator, device.system.seed, **lengths)
    lay(device, found)
    return found


def kind(system, quadratic):
    """Returns the kind of computation."""
    return system.CMNT if quadratic else system.CNT


def left(device, found):
    """Returns whether the scratch memory has a nonzero byte."""
    at, words = found.scratch
    return any(device.memory.read(8 * at, 8 * words))


async def encrypts(device, quadratic, **lengths):
    """Encrypts, and checks the number, the quotient and that the scratch memory is zero."""
    found = case(device, quadratic=quadratic, **lengths)
    words, size = -(-found.command[7] // 64), -(-found.quotient.bit_length() // 64)
    await answered(device, [device.system.compute(kind(device.system, quadratic), found.command)])
    number = device.memory.read(8 * found.result, 8 * (words + size))
    assert int.from_bytes(number[: 8 * words], "little") == found.number
    assert int.from_bytes(number[8 * words :], "little") == found.quotient
    assert not left(device, found)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def encryptions_by_cnt_are_those_of_the_definition(dut):
    """Lengths end inside words and segments, with pauses on every channel."""
    device = await Device.start(dut, pressure=20)
    await encrypts(device, quadratic=False)
    await encrypts(device, quadratic=False, bits=1409, elements=3, coefficient=100, correction=200, noise=140)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def an_encryption_by_cmnt_is_that_of_the_definition(dut):
    """All products of elements, with a number longer than twice the modulus."""
    device = await Device.start(dut)
    await encrypts(device, quadratic=True)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def what_is_wrong_with_numbers_is_said(dut):
    """A modulus without its top bit, coefficients that are too long and a scratch memory that is
    too short each give an error and a zeroed scratch memory.
    """
    device = await Device.start(dut)
    system = device.system
    found = case(device, quadratic=False)
    modulus, top = found.command[5], found.command[7] - 1
    device.memory.write(
        8 * modulus,
        (int.from_bytes(device.memory.read(8 * modulus, 88), "little") & ~(1 << top)).to_bytes(88, "little"),
    )
    await answered(device, [system.compute(system.CNT, found.command, ending=system.BAD_MODULUS)])
    assert not left(device, found)
    found = case(device, quadratic=False)
    for at in range(found.command[9]):
        device.memory.write(8 * (found.command[0] + at), bytes([0xFF]) * 8)
    await answered(device, [system.compute(system.CNT, found.command, ending=system.BAD_OPERAND)])
    assert not left(device, found)
    found = case(device, quadratic=False)
    short = [*found.command[:-1], found.command[-1] - 1]
    await answered(
        device,
        [
            system.compute(system.CNT, short, ending=system.BAD_SIZES),
            system.compute(7, found.command, ending=system.BAD_SIZES),
        ],
    )
    await encrypts(device, quadratic=False)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_flush_ends_an_encryption(dut):
    """Its answer is dropped and the next one is correct. The host must wipe the scratch memory."""
    device = await Device.start(dut)
    system = device.system
    for cycles in (500, 3000, 5500):
        found = case(device, quadratic=False)
        packet, stale = device.packet([system.compute(system.CNT, found.command)])
        await device.send(packet)
        await ClockCycles(device.clock, cycles)
        await device.write(CONTROL, FLUSH)
        assert stale not in await device.resynchronise()
        at, words = found.scratch
        wipe = [*([0] * 12), at, words]
        await answered(device, [system.compute(system.WIPE, wipe)])
        assert not left(device, found)
    await encrypts(device, quadratic=False)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_silent_memory_is_reported(dut):
    """During an encryption, and until a flush; then the device works again."""
    device = await Device.start(dut)
    system = device.system
    found = case(device, quadratic=False)
    packet, _ = device.packet([system.compute(system.CNT, found.command)])
    await device.send(packet)
    await ClockCycles(device.clock, 4000)
    device.memory.read_if.r_channel.pause = True
    answer = await device.answer(ENCRYPTED)
    header = device.beats(64)
    assert answer[header:] == SILENT.to_bytes(device.beats(system.out_bits), "little")
    await answered(device, [system.command(system.READ, status=SILENT), system.command(system.WRITE, status=SILENT)])
    device.memory.read_if.r_channel.pause = False
    await device.resynchronise()
    assert await device.read(ERROR) == 0
    await encrypts(device, quadratic=False)
