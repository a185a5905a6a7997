"""A device driven through cocotbext-axi: its ports, registers and packets follow
docs/reference/registers.md.
"""

import itertools
import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, First, RisingEdge
from cocotbext.axi import (
    AxiBus,
    AxiLiteBus,
    AxiLiteMaster,
    AxiRam,
    AxiResp,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

from systems import SYSTEMS, crc_of, words_of

IDENTITY, VERSION, CAPABILITY, EPOCH, CONTROL, STATUS, ERROR = range(0x00, 0x1C, 4)
INTERRUPT_ENABLE, INTERRUPT, IN_FLIGHT, KEY_CHECK, INDEX, VALUE = range(0x1C, 0x34, 4)
BUSY, ACCEPTED, DELIVERED, PRODUCTS, DISCARDED = range(0x40, 0x68, 8)
PARAMETER, REGION = 0x80, 0x10000
READY, FLUSH, WIPE = 1, 2, 4
UNKNOWN, UNALIGNED, PARTIAL, READ_ONLY, WRITE_ONLY, BEYOND, LOCKED, INCOMPLETE, FOREIGN, BROKEN = (
    1 << bit for bit in range(10)
)
IRQ_ERROR, IRQ_ANSWER, IRQ_IDLE = 1, 2, 4
MARK = 0x4548
# Bytes of the memory of a top with a memory port.
MEMORY = 1 << 15


# Possible port names of a top, without the suffixes of this project's own tops.
LITE = (
    "awaddr",
    "awvalid",
    "awready",
    "wdata",
    "wstrb",
    "wvalid",
    "wready",
    "bresp",
    "bvalid",
    "bready",
    "araddr",
    "arvalid",
    "arready",
)
LITE += ("rdata", "rresp", "rvalid", "rready", "awprot", "arprot")
NAMES = [f"{prefix}_{name}" for prefix in ("axil", "s_axi") for name in LITE]
NAMES += [
    f"{prefix}_{name}" for prefix in ("s_axis", "m_axis") for name in ("tdata", "tvalid", "tready", "tlast", "tkeep")
]
NAMES += ["clk", "rst", "irq", "aclk", "aresetn", "interrupt"]
# Also those of a memory port.
FULL = [
    f"{channel}{name}" for channel in ("ar", "aw") for name in ("id", "addr", "len", "size", "burst", "valid", "ready")
]
FULL += [f"r{name}" for name in ("id", "data", "resp", "last", "valid", "ready")]
FULL += [f"w{name}" for name in ("data", "strb", "last", "valid", "ready")]
FULL += [f"b{name}" for name in ("id", "resp", "valid", "ready")]
NAMES += [f"m_axi_{name}" for name in FULL]


class Ports:
    """A top's ports under their bus names, without suffixes: `axil_awaddr_i` is `axil_awaddr`
    here.
    """

    def __init__(self, dut):
        """Looks each port up by name: a list of all would contain Verilator's copies inside the
        top, which nothing reads.
        """
        self._log, self._name = dut._log, dut._name
        for name in NAMES:
            there = [
                port for suffix in ("_i", "_o", "_ni", "") if (port := getattr(dut, name + suffix, None)) is not None
            ]
            if there:
                setattr(self, name, there[0])

    def first(self, *names):
        """Returns the port that has one of these names."""
        return next(getattr(self, name) for name in names if hasattr(self, name))


def pauses(seed, share):
    """Yields pauses for `share` percent of the cycles, in random runs."""
    generator = random.Random(seed)
    while True:
        paused = generator.random() * 100 < share
        yield from itertools.repeat(paused, generator.randrange(1, 5))


class Device:
    """A device under test, with models on its ports."""

    def __init__(self, dut):
        """Connects the models to the ports, in reset."""
        ports = Ports(dut)
        self.clock, self.reset, self.irq = (
            ports.first("clk", "aclk"),
            ports.first("rst", "aresetn"),
            ports.first("irq", "interrupt"),
        )
        self.reset.setimmediatevalue(0)
        prefix = "axil" if hasattr(ports, "axil_awaddr") else "s_axi"
        rest = {"clock": self.clock, "reset": self.reset, "reset_active_level": False}
        self.bus = AxiLiteMaster(AxiLiteBus.from_prefix(ports, prefix), **rest)
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(ports, "s_axis"), **rest)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(ports, "m_axis"), **rest)
        self.out = AxiStreamBus.from_prefix(ports, "m_axis")
        self.memory = (
            AxiRam(AxiBus.from_prefix(ports, "m_axi"), size=MEMORY, **rest) if hasattr(ports, "m_axi_araddr") else None
        )
        models = [self.bus.write_if, self.bus.read_if, self.source, self.sink]
        for model in models + ([self.memory.write_if, self.memory.read_if] if self.memory else []):
            model.log.setLevel("WARNING")
        self.sequence = itertools.count(1)
        self.system = None
        self.epoch = 0

    @classmethod
    async def start(cls, dut, *, loaded=True, pressure=0):
        """Resets and identifies a device, by default with a loaded key.

        With `pressure`, every channel pauses at random after the reset.
        """
        self = cls(dut)
        cocotb.start_soon(Clock(self.clock, 10, units="ns").start())
        cocotb.start_soon(self.watch())
        await ClockCycles(self.clock, 5)
        assert not self.source.bus.tready.value, "tready is low in reset"
        await FallingEdge(self.clock)
        self.reset.value = 1
        await ClockCycles(self.clock, 5)
        if pressure:
            self.press(pressure)
        parameters = [await self.read(PARAMETER + 4 * i) for i in range(8)]
        self.system = SYSTEMS[await self.read(IDENTITY)](parameters, seed=cocotb.RANDOM_SEED)
        if self.system.identity == b"RESB":
            self.system.primes = [await self.entry(i) for i in range(self.system.count)]
        if self.memory:
            self.memory.write(0, self.system.content)
        if loaded:
            await self.load()
        return self

    def press(self, share):
        """Sets independent random pauses on all channels."""
        channels = [self.source, self.sink]
        for bus in (self.bus, self.memory) if self.memory else (self.bus,):
            write, read = bus.write_if, bus.read_if
            channels += [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]
        for seed, channel in enumerate(channels):
            channel.set_pause_generator(pauses(1000 * cocotb.RANDOM_SEED + seed, share))

    async def watch(self):
        """Fails the test when the device withdraws or changes an offered beat outside reset."""
        waiting = None
        while True:
            await RisingEdge(self.clock)
            valid, ready = int(self.out.tvalid.value), int(self.out.tready.value)
            beat = (int(self.out.tdata.value), int(self.out.tlast.value)) if valid else None
            if valid:
                assert self.out.tkeep.value.binstr.count("0") == 0, "tkeep of what comes out has all bytes"
            # A reset may withdraw a beat.
            if waiting is not None and int(self.reset.value):
                assert beat == waiting, f"{waiting} was offered and not taken, then {beat}"
            waiting = beat if valid and not ready and int(self.reset.value) else None

    # Registers.

    async def read(self, address):
        """Reads a readable register."""
        answer = await self.bus.read(address, 4)
        assert answer.resp == AxiResp.OKAY, f"reading {address:#x}: {answer.resp!r}"
        return int.from_bytes(answer.data, "little")

    async def read_wide(self, address):
        """Reads a counter of 64 bits."""
        return await self.read(address) | await self.read(address + 4) << 32

    async def write(self, address, value):
        """Writes a writable register."""
        answer = await self.bus.write(address, value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, f"writing {address:#x}: {answer.resp!r}"

    async def raw_write(self, address, value, strobes):
        """Returns the response to a write with any address and strobes."""
        channels = self.bus.write_if
        aw, w = channels.aw_channel._transaction_obj(), channels.w_channel._transaction_obj()
        aw.awaddr, w.wdata, w.wstrb = address, value, strobes
        # Address and data go in random order.
        for channel, item in random.sample([(channels.aw_channel, aw), (channels.w_channel, w)], 2):
            await channel.send(item)
        return AxiResp(int((await channels.b_channel.recv()).bresp))

    async def raw_read(self, address):
        """Returns the response to a read of any address."""
        channels = self.bus.read_if
        ar = channels.ar_channel._transaction_obj()
        ar.araddr = address
        await channels.ar_channel.send(ar)
        return AxiResp(int((await channels.r_channel.recv()).rresp))

    async def entry(self, index):
        """Reads an entry of the device's table."""
        await self.write(INDEX, index)
        return await self.read(VALUE)

    async def load(self):
        """Loads the key, checks each region, and sets READY."""
        await self.load_only({number: (value, bits) for number, value, bits in self.system.constants()})

    async def load_only(self, constants):
        """Loads these constants the same way: value and bits by region number."""
        for number, (value, bits) in constants.items():
            words = words_of(value, bits)
            for at, word in enumerate(words):
                await self.write(REGION + 0x800 * number + 4 * at, word)
            assert await self.read(KEY_CHECK) == crc_of(words), f"region {number}"
        await self.write(CONTROL, READY)
        # The epoch changes if there was a key.
        self.epoch = await self.read(EPOCH)

    # Packets.

    def beats(self, bits):
        """Returns the bytes of `bits` bits in whole beats."""
        return -(-bits // self.system.stream_bits) * self.system.stream_bits // 8

    def header(self, count, sequence, *, epoch=None, mark=MARK):
        """Returns a packet's header in whole beats."""
        fields = struct.pack("<4H", mark, self.epoch if epoch is None else epoch, sequence, count)
        return fields.ljust(self.beats(64), b"\0")

    def packet(self, items, *, count=None, **header):
        """Returns a packet with these items, and its expected answer."""
        sequence = next(self.sequence)
        header = self.header(len(items) if count is None else count, sequence, **header)
        body = b"".join(value.to_bytes(self.beats(self.system.in_bits), "little") for value, _ in items)
        answer = b"".join(value.to_bytes(self.beats(self.system.out_bits), "little") for _, value in items)
        return header + body, header + answer

    def items(self, count):
        """Returns `count` items."""
        return [self.system.item() for _ in range(count)]

    async def send(self, packet):
        """Queues a packet."""
        await self.source.send(AxiStreamFrame(packet))

    async def answer(self, cycles):
        """Returns the device's next packet, and fails after `cycles` cycles."""
        received = cocotb.start_soon(self.sink.recv())
        await First(received, ClockCycles(self.clock, cycles))
        assert received.done(), f"no answer within {cycles} cycles"
        return bytes(received.result().tdata)

    async def none_comes(self, cycles):
        """Checks that the device sends nothing for `cycles` cycles."""
        await ClockCycles(self.clock, cycles)
        assert self.sink.empty()
        assert not int(self.out.tvalid.value)

    async def converse(self, counts):
        """Sends packets with these numbers of items, and checks the answers."""
        pairs = [self.packet(self.items(count)) for count in counts]
        for packet, _ in pairs:
            await self.send(packet)
        for count, (_, expected) in zip(counts, pairs, strict=True):
            assert await self.answer(4 * self.system.quiet(count + 4)) == expected

    async def resynchronise(self):
        """Flushes and resynchronises as in docs/reference/registers.md. Returns dropped packets."""
        await self.write(CONTROL, FLUSH)
        self.epoch = await self.read(EPOCH)
        first, second = (self.packet([])[0] for _ in range(2))
        await self.send(first)
        await self.send(second)
        dropped = []
        while (answer := await self.answer(5000)) != second:
            dropped.append(answer)
        return dropped

    async def until(self, condition, cycles=5000):
        """Waits until a condition holds after a clock edge."""
        for _ in range(cycles):
            await RisingEdge(self.clock)
            if condition():
                return
        raise AssertionError(f"not within {cycles} cycles")
