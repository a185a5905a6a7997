"""The tests of every top, with third-party models (cocotbext-axi) and oracles that are independent
of the driver (systems.py).
"""

import random

import cocotb
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiResp

from device import (
    ACCEPTED,
    BEYOND,
    BROKEN,
    BUSY,
    CAPABILITY,
    CONTROL,
    DELIVERED,
    DISCARDED,
    EPOCH,
    ERROR,
    FLUSH,
    FOREIGN,
    IDENTITY,
    IN_FLIGHT,
    INCOMPLETE,
    INDEX,
    INTERRUPT,
    INTERRUPT_ENABLE,
    IRQ_ANSWER,
    IRQ_ERROR,
    IRQ_IDLE,
    KEY_CHECK,
    LOCKED,
    PARAMETER,
    PARTIAL,
    PRODUCTS,
    READ_ONLY,
    READY,
    REGION,
    STATUS,
    UNALIGNED,
    UNKNOWN,
    VALUE,
    VERSION,
    WIPE,
    WRITE_ONLY,
    Device,
)  # fmt: skip
from systems import crc_of, words_of

REFUSED = AxiResp.SLVERR
# Far more simulated time than any test needs: 10 ns per cycle.
LONGEST = 2000


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def identity_and_registers(dut):
    """The registers that a driver reads first, with pauses on every channel."""
    device = await Device.start(dut, loaded=False, pressure=50)
    system = device.system
    regions = len(list(system.constants()))
    assert await device.read(VERSION) == 3
    capability = await device.read(CAPABILITY)
    assert capability & 0xFF == regions
    assert capability >> 8 & 0xFF == system.branches
    assert capability >> 16 & 3 == (2 if regions else 3)
    for address in (EPOCH, STATUS, ERROR, INTERRUPT, INTERRUPT_ENABLE, IN_FLIGHT, KEY_CHECK):
        assert await device.read(address) == 0, hex(address)
    for address in (BUSY, ACCEPTED, DELIVERED, PRODUCTS, DISCARDED):
        assert await device.read_wide(address) == 0, hex(address)
    for address, value in ((INTERRUPT_ENABLE, 5), (INDEX, 1)):
        await device.write(address, value)
        assert await device.read(address) == value
    if not regions:
        assert system.primes == sorted(set(system.primes), reverse=True)
        assert await device.entry(system.count) == 0
        assert await device.entry(0xFFFF) == 0


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def accesses_that_cannot_be_are_refused(dut):
    """Each gets SLVERR, sets its cause in ERROR, and changes nothing."""
    device = await Device.start(dut, loaded=False, pressure=30)
    enabled = 5
    await device.write(INTERRUPT_ENABLE, enabled)

    async def refused(cause, response):
        assert response == REFUSED, response
        assert await device.read(ERROR) == cause, hex(await device.read(ERROR))
        assert await device.read(STATUS) & 8
        await device.write(ERROR, cause)
        assert await device.read(ERROR) == 0
        assert await device.read(INTERRUPT_ENABLE) == enabled

    for address in (INTERRUPT_ENABLE + 1, INTERRUPT_ENABLE + 2, INTERRUPT_ENABLE + 3, IDENTITY + 2):
        await refused(UNALIGNED, await device.raw_write(address, 0x7, 0xF))
        await refused(UNALIGNED, await device.raw_read(address))
    for strobes in range(15):
        await refused(PARTIAL, await device.raw_write(INTERRUPT_ENABLE, 0x2, strobes))
    for address in (
        IDENTITY,
        VERSION,
        EPOCH,
        STATUS,
        IN_FLIGHT,
        KEY_CHECK,
        VALUE,
        BUSY,
        BUSY + 4,
        DISCARDED,
        PARAMETER,
    ):
        await refused(READ_ONLY, await device.raw_write(address, 1, 0xF))
    await refused(WRITE_ONLY, await device.raw_read(CONTROL))
    for address in (0x34, 0x38, 0x3C, 0x68, 0x7C, 0xA0, 0x100, 0xFFFC):
        await refused(UNKNOWN, await device.raw_write(address, 1, 0xF))
        await refused(UNKNOWN, await device.raw_read(address))
    filled = {number: -(-bits // 32) for number, _, bits in device.system.constants()}
    for number in range(32):
        region = REGION + 0x800 * number
        await refused(BEYOND, await device.raw_write(region + 4 * filled.get(number, 0), 1, 0xF))
        if number in filled:
            await refused(WRITE_ONLY, await device.raw_read(region))
            await refused(PARTIAL, await device.raw_write(region, 1, 0x7))
    # Several causes stay set together, and only bits written as 1 are cleared.
    await device.raw_write(INTERRUPT_ENABLE, 0, 1)
    await device.raw_write(IDENTITY, 0, 0xF)
    assert await device.read(ERROR) == PARTIAL | READ_ONLY
    await device.write(ERROR, PARTIAL)
    assert await device.read(ERROR) == READ_ONLY


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def items_are_answered_in_order(dut):
    """Packets of several lengths at full speed, and the counters."""
    device = await Device.start(dut)
    counts = [1, 3, 0, 2]
    await device.converse(counts)
    assert await device.read_wide(ACCEPTED) == await device.read_wide(DELIVERED) == sum(counts)
    assert await device.read(IN_FLIGHT) == await device.read(ERROR) == 0
    assert await device.read_wide(PRODUCTS) > 0
    assert await device.read_wide(BUSY) > 0
    assert await device.read(STATUS) == 1


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def every_channel_pauses(dut):
    """The same with random pauses on every channel of both streams and the bus, while registers are
    read and written.
    """
    device = await Device.start(dut, pressure=40)

    talking = cocotb.start_soon(device.converse([2, 0, 1, 0, 0, 3]))
    while not talking.done():
        await device.read(random.choice((STATUS, IN_FLIGHT, BUSY, ACCEPTED)))
        await device.write(INTERRUPT_ENABLE, 0)
    await talking
    assert await device.read_wide(DELIVERED) == 6


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def constants_are_checked(dut):
    """KEY_CHECK follows each word, detects a wrong one, and is cleared. Words are rejected while an
    item is in flight.
    """
    device = await Device.start(dut, loaded=False)
    constants = list(device.system.constants())
    if constants:
        assert await device.raw_write(CONTROL, READY, 0xF) == REFUSED
        assert await device.read(ERROR) == INCOMPLETE
        await device.write(ERROR, INCOMPLETE)
        number, value, bits = constants[-1]
        words, region = words_of(value, bits), REGION + 0x800 * number
        for at in range(len(words)):
            await device.write(region + 4 * at, words[at])
            assert await device.read(KEY_CHECK) == crc_of(words[: at + 1])
        wrong = [words[0] ^ 0x400, *words[1:]]
        for at, word in enumerate(wrong):
            await device.write(region + 4 * at, word)
        assert await device.read(KEY_CHECK) == crc_of(wrong) != crc_of(words)
        # Rejected words do not count.
        assert await device.raw_write(region + 4 * len(words), 1, 0xF) == REFUSED
        assert await device.read(KEY_CHECK) == crc_of(wrong)
    await device.load()
    assert await device.read(KEY_CHECK) == 0
    if constants:
        await device.write(ERROR, await device.read(ERROR))
        device.sink.pause = True
        packet, expected = device.packet(device.items(1))
        await device.send(packet)
        await device.until(lambda: device.source.empty() and device.source.idle())
        await ClockCycles(device.clock, 20)
        assert await device.read(IN_FLIGHT) == 1
        assert await device.raw_write(region, 1, 0xF) == REFUSED
        assert await device.read(ERROR) == LOCKED
        device.sink.pause = False
        assert await device.answer(2 * device.system.quiet(1)) == expected
    await device.converse([1])


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def interrupts(dut):
    """Each cause sets its bit, which stays until it is cleared; the pin follows the enabled
    bits.
    """
    device = await Device.start(dut)
    await device.write(INTERRUPT, 7)
    assert not int(device.irq.value)
    await device.converse([1])
    await ClockCycles(device.clock, 5)
    assert await device.read(INTERRUPT) == IRQ_ANSWER | IRQ_IDLE
    assert not int(device.irq.value)
    for bit in (IRQ_ANSWER, IRQ_IDLE):
        await device.write(INTERRUPT_ENABLE, bit)
        await ClockCycles(device.clock, 3)
        assert int(device.irq.value)
        await device.write(INTERRUPT, bit)
        await ClockCycles(device.clock, 3)
        assert not int(device.irq.value)
    assert await device.read(INTERRUPT) == 0
    await device.write(INTERRUPT_ENABLE, IRQ_ERROR)
    assert await device.raw_read(0x3C) == REFUSED
    await device.until(lambda: int(device.irq.value))
    assert await device.read(INTERRUPT) == IRQ_ERROR
    await device.write(INTERRUPT, IRQ_ERROR)
    await ClockCycles(device.clock, 3)
    assert not int(device.irq.value)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def foreign_packets_are_discarded(dut):
    """Packets without the mark or of another epoch are counted and dropped; the next is
    answered.
    """
    device = await Device.start(dut, pressure=20)
    items = device.items(2)
    foreign = [
        device.packet(items, epoch=device.epoch + 1)[0],
        device.packet(items, mark=0x4549)[0],
        device.packet([], epoch=0xFFFF)[0],
        # Ends within a header of several beats; otherwise an empty packet that continues.
        device.packet([])[0][: device.system.stream_bits // 8]
        if device.system.stream_bits < 64
        else device.packet(items, count=0)[0],
        device.packet(items, count=0)[0],
    ]
    for packet in foreign:
        await device.send(packet)
    await device.converse([1])
    assert await device.read_wide(DISCARDED) == len(foreign)
    assert await device.read(ERROR) & FOREIGN
    assert await device.read_wide(ACCEPTED) == 1


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def broken_packets_are_never_answered_as_whole(dut):
    """If a packet's length contradicts its header, the answer has another length, ERROR is set, and
    the next packet is answered correctly.
    """
    device = await Device.start(dut, pressure=20)
    beat, items = device.system.stream_bits // 8, device.items(2)
    whole = device.packet(items)[0]
    for broken in (
        whole[:-beat],
        whole + bytes(beat),
        device.packet(items, count=3)[0],
        device.packet(items, count=1)[0],
        # Without its last byte, as tkeep shows; and with an extra beat that lacks one.
        whole[:-1],
        whole + bytes(beat - 1),
    ):
        await device.send(broken)
        answer = await device.answer(4 * device.system.quiet(4))
        header, count = device.beats(64), int.from_bytes(broken[6:8], "little")
        assert answer[:header] == broken[:header]
        assert len(answer) != header + count * device.beats(device.system.out_bits)
        assert await device.read(ERROR) == BROKEN
        await device.write(ERROR, BROKEN)
        await device.converse([1])
        assert await device.read(ERROR) == 0


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_flush_in_mid_packet_leaves_nothing_behind(dut):
    """Wherever items were, in or out: after resynchronising only new ones are answered."""
    device = await Device.start(dut)
    for beats in (1, 2, 3, 5, 8):
        packet, stale = device.packet(device.items(3))
        await device.send(packet)
        for _ in range(beats):
            await device.until(lambda: int(device.source.bus.tvalid.value) and int(device.source.bus.tready.value))
        device.source.pause = True
        await device.write(CONTROL, FLUSH)
        device.epoch += 1
        assert await device.read(EPOCH) == device.epoch
        device.source.pause = False
        # Packets before the second mark's echo stem from the old packet, but are not its answer.
        assert stale not in await device.resynchronise()
        await device.converse([2])
        assert await device.read(IN_FLIGHT) == 0


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_flush_ends_the_answer_that_has_begun(dut):
    """An offered beat stays until it is accepted, and a packet that has begun ends with `tlast`,
    with a length other than its header states.
    """
    device = await Device.start(dut)
    for taken in (0, 1, 2, 3):
        packet, expected = device.packet(device.items(2))
        device.sink.pause = True
        await device.send(packet)
        await device.until(lambda: int(device.out.tvalid.value), 4 * device.system.quiet(4))
        for _ in range(taken):
            device.sink.pause = False
            await device.until(
                lambda: int(device.out.tvalid.value) and int(device.out.tready.value), 4 * device.system.quiet(4)
            )
            device.sink.pause = True
        await device.write(CONTROL, FLUSH)
        await ClockCycles(device.clock, 10)
        device.sink.pause = False
        dropped = await device.resynchronise()
        assert expected not in dropped
        assert all(
            len(answer) != len(expected)
            for answer in dropped
            if answer[: device.beats(64)] == expected[: device.beats(64)]
        )
        await device.converse([1])


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def a_wiped_device_waits_for_its_constants(dut):
    """A packet that arrives before them is held, and answered under the new key."""
    device = await Device.start(dut)
    await device.converse([1])
    await device.write(CONTROL, WIPE)
    device.epoch = await device.read(EPOCH)
    assert device.epoch == 1
    assert await device.read(STATUS) & 1 == 0
    assert await device.read(KEY_CHECK) == 0
    packet, expected = device.packet(device.items(1))
    await device.send(packet)
    await device.none_comes(200)
    assert await device.read_wide(ACCEPTED) == 1
    await device.load()
    assert await device.answer(4 * device.system.quiet(1)) == expected
    await device.converse([2])
