"""Tests specific to the co-processor: every command against python-paillier, groups, the comb, and
invalid commands.
"""

import cocotb
from cocotb.triggers import ClockCycles

from device import ACCEPTED, CONTROL, ERROR, FLUSH, IN_FLIGHT, PRODUCTS, REGION, WIPE, Device

# As in tops.py.
LONGEST = 2000
# The region of the modulus.
MODULUS = REGION + 0x800 * 2


async def answered(device, items):
    """Sends commands in one packet and checks the answers."""
    packet, expected = device.packet(items)
    await device.send(packet)
    assert await device.answer(device.system.quiet(len(items))) == expected


def comb(system, base, length):
    """Returns the entries of a comb for powers of a base with exponents of `length` bits."""
    stride = -(-length // system.teeth)
    return [
        pow(base, sum(1 << tooth * stride for tooth in range(system.teeth) if entry >> tooth & 1), system.square)
        for entry in range(2**system.teeth)
    ]


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def every_operation_is_python_pailliers(dut):
    """Encryption, re-randomisation, sums, multiplication by plaintext integers and decryption,
    under backpressure.
    """
    device = await Device.start(dut, pressure=30)
    system = device.system
    await answered(device, [system.encrypt(), system.power(2 * system.n_bits), system.multiply(), system.decrypt()])
    await answered(device, [system.rerandomise(), system.power(1), system.power(5)])


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def groups_add_up(dut):
    """Ciphertexts go to random groups: the totals decrypt to the groups' sums, and a group is empty
    after its total.
    """
    device = await Device.start(dut, pressure=20)
    system = device.system
    sums, totals, commands = {}, {}, []
    for _ in range(4 * system.group_count):
        group = system.generator.randrange(system.group_count)
        ciphertext, plaintext = system.ciphertext()
        sums[group] = (sums.get(group, 0) + plaintext) % system.n
        totals[group] = totals.get(group, 1) * ciphertext % system.square
        commands.append(system.command(system.ACCUMULATE, ciphertext, group=group))
    for group, total in totals.items():
        assert system.key.private.raw_decrypt(total) == sums[group]
        commands.append(system.command(system.TOTAL, group=group, result=total))
        commands.append(system.command(system.TOTAL, group=group, refusal=system.MISSING))
    await answered(device, commands)
    # A flush empties the groups.
    ciphertext, _ = system.ciphertext()
    await answered(device, [system.command(system.ACCUMULATE, ciphertext)])
    await device.resynchronise()
    await answered(device, [system.command(system.TOTAL, refusal=system.MISSING)])


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_comb_raises_its_base(dut):
    """The comb works once all of its entries are set, and is rejected before."""
    device = await Device.start(dut)
    system = device.system
    length, base = system.n_bits // 2, pow(system.unit(), system.n, system.square)
    exponent, plaintext = system.generator.getrandbits(length), system.generator.randrange(system.n)
    power = pow(base, exponent, system.square)
    encrypted = power * (1 + plaintext * system.n) % system.square
    assert system.key.private.raw_decrypt(encrypted) == plaintext
    encrypt = (system.COMB_ENCRYPT, plaintext, exponent)
    entries = comb(system, base, length)
    set_comb = [system.command(system.SET_COMB, entry, group=at) for at, entry in enumerate(entries)]
    await answered(device, set_comb[:-1])
    await answered(device, [system.command(*encrypt, length=length, refusal=system.MISSING)])
    other, _ = system.ciphertext()
    await answered(
        device,
        [
            set_comb[-1],
            system.command(*encrypt, length=length, result=encrypted),
            system.command(system.COMB_RANDOM, other, exponent, length=length, result=power * other % system.square),
        ],
    )


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def an_exponent_comes_in_pieces(dut):
    """Pieces of 4 bits or a multiple, the highest first: the group becomes the whole power."""
    device = await Device.start(dut)
    system = device.system
    base, _ = system.ciphertext()
    pieces = [system.generator.getrandbits(length) for length in (12, 4, 8)]
    exponent = ((pieces[0] << 4 | pieces[1]) << 8) | pieces[2]
    commands = [
        system.command(system.CONTINUE, base, piece, length=length, group=1)
        for piece, length in zip(pieces, (12, 4, 8), strict=True)
    ]
    await answered(
        device, [*commands, system.command(system.TOTAL, group=1, result=pow(base, exponent, system.square))]
    )


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def what_cannot_be_is_refused_alone(dut):
    """Invalid commands between valid ones get their code and no result, and nothing is computed for
    them.
    """
    device = await Device.start(dut, pressure=20)
    system = device.system
    n, square, groups = system.n, system.square, system.group_count
    wrong = [
        system.command(0, 1, 1, refusal=system.UNKNOWN),
        system.command(12, 1, 1, refusal=system.UNKNOWN),
        system.command(255, 1, 1, refusal=system.UNKNOWN),
        system.command(system.MULTIPLY, square, 1, refusal=system.OPERAND_X),
        system.command(system.MULTIPLY, 1, square, refusal=system.OPERAND_Y),
        system.command(system.ENCRYPT, n, 1, refusal=system.OPERAND_X),
        system.command(system.ENCRYPT, 1, n, refusal=system.OPERAND_Y),
        system.command(system.POWER, 1, 1, refusal=system.LENGTH),
        system.command(system.POWER, 1, 1, length=2 * system.n_bits + 1, refusal=system.LENGTH),
        system.command(system.ACCUMULATE, 1, group=groups, refusal=system.GROUP),
        system.command(system.TOTAL, refusal=system.MISSING),
        system.command(system.SET_COMB, 1, group=2**system.teeth, refusal=system.GROUP),
        system.command(system.COMB_ENCRYPT, 1, 1, length=3, refusal=system.MISSING),
    ]
    before = await device.read_wide(PRODUCTS)
    await answered(device, wrong)
    assert await device.read_wide(PRODUCTS) == before
    await answered(device, [command for one in wrong for command in (one, system.multiply())])
    # Two products each; six with dual numbers, as both operands are converted.
    each = 6 if system.core == system.DUAL else 2
    assert await device.read_wide(PRODUCTS) == before + each * len(wrong)
    assert await device.read(ERROR) == 0


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_bad_modulus_is_told(dut):
    """An even modulus and one of the wrong length are rejected. A key without its secret exponent
    cannot decrypt.
    """
    device = await Device.start(dut, loaded=False)
    system = device.system
    good = {number: (value, bits) for number, value, bits in system.constants()}
    top = system.n_bits - 1
    for modulus, refusal in ((system.n - 1, system.EVEN), (system.n & ~(1 << top), system.SHORT)):
        await device.load_only({**good, 2: (modulus, system.n_bits)})
        await answered(device, [system.command(system.MULTIPLY, 1, 1, refusal=refusal)])
        await device.write(CONTROL, WIPE)
        await device.resynchronise()
    del good[3]
    await device.load_only(good)
    await answered(device, [system.multiply(), system.command(system.DECRYPT, 1, refusal=system.MISSING)])


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def what_waits_outside_is_not_lost(dut):
    """While no answers are accepted, the device fills up and stops accepting beats; then every
    answer arrives.
    """
    device = await Device.start(dut)
    system = device.system
    items = [system.multiply() for _ in range(8 * system.contexts)]
    packet, expected = device.packet(items)
    device.sink.pause = True
    await device.send(packet)
    await ClockCycles(device.clock, 4 * system.quiet(1) // 10)
    accepted = await device.read_wide(ACCEPTED)
    assert accepted < len(items)
    assert not int(device.source.bus.tready.value)
    assert await device.read(IN_FLIGHT) == accepted
    await ClockCycles(device.clock, 1000)
    assert await device.read_wide(ACCEPTED) == accepted
    device.sink.pause = False
    assert await device.answer(system.quiet(len(items))) == expected
    assert await device.read(IN_FLIGHT) == 0


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_command_that_is_cut_off_is_forgotten(dut):
    """A flush during powers drops their answers, and later answers are correct."""
    device = await Device.start(dut)
    system = device.system
    for cycles in (50, 300, 900):
        packet, stale = device.packet([system.power(2 * system.n_bits) for _ in range(3)])
        await device.send(packet)
        await ClockCycles(device.clock, cycles)
        await device.until(device.source.idle)
        await device.write(CONTROL, FLUSH)
        assert stale not in await device.resynchronise()
        await answered(device, [system.multiply(), system.power(8)])
