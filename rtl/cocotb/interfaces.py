"""Tests both ends of the serial peripheral interface of rtl/links with third-party models:
cocotbext-spi.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, Timer
from cocotbext.spi import SpiBus, SpiConfig, SpiMaster
from cocotbext.spi.devices.generic import SpiSlaveLoopback

# 10 ns per cycle. A peripheral needs four of its own cycles per half of the clock.
FASTEST = 12_500_000
LONGEST = 2000
# The peripheral sends this when no byte waits.
IDLE = 0x7E
# Bytes per frame of the controller.
FRAME = 4


async def start(dut):
    """Starts the clock and resets the design."""
    for port in (dut.in_valid_i, dut.in_data_i, dut.in_last_i, dut.cipo_i, dut.sck_i, dut.copi_i):
        port.value = 0
    dut.cs_ni.value = 1
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
    await ClockCycles(dut.clk_i, 5)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 30)


async def note(dut, valid, seen, value):
    """Records a value in every cycle in which a signal is high."""
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if int(valid.value):
            seen.append(int(value.value))


def bus(dut, select, clock, out, back):
    """Returns an interface's wires under the model's names.

    A case-insensitive lookup would leave this simulator's inputs without effect.
    """
    return SpiBus(dut, None, sclk_name=clock, mosi_name=out, miso_name=back, cs_name=select, case_insensitive=False)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def the_peripheral_answers(dut):
    """At the highest rate and slower ones, in frames of one byte and of many."""
    wires = bus(dut, "cs_ni", "sck_i", "copi_i", "cipo_o")
    await start(dut)
    faults = []
    cocotb.start_soon(note(dut, dut.fault_o, faults, dut.fault_o))
    last = IDLE
    for rate in (FASTEST, 4_000_000, 1_000_000):
        for burst in (False, True):
            controller = SpiMaster(wires, SpiConfig(sclk_freq=rate, frame_spacing_ns=100, data_output_idle=0))
            # Waits until the model's clock is idle.
            await Timer(1, units="us")
            data = bytes(random.sample(range(256), 20))
            await controller.write(data, burst=burst)
            heard = bytes(await controller.read(len(data)))
            # Each answer is chosen before its byte has arrived, so it echoes the previous byte,
            # also across frames.
            assert heard == bytes([last, *data[:-1]]), (rate, burst)
            last = data[-1]
    assert not faults


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def the_controller_is_understood(dut):
    """By a peripheral that returns each frame in the next one."""
    wires = bus(dut, "cs_no", "sck_o", "copi_o", "cipo_i")
    await start(dut)
    peripheral = SpiSlaveLoopback(wires, SpiConfig(word_width=8 * FRAME, data_output_idle=0))
    heard = []
    cocotb.start_soon(note(dut, dut.out_valid_o, heard, dut.out_data_o))
    frames = [bytes(random.choices(range(256), k=FRAME)) for _ in range(25)]
    for frame in frames:
        for at, byte in enumerate(frame):
            dut.in_data_i.value = byte
            dut.in_last_i.value = at == FRAME - 1
            dut.in_valid_i.value = 1
            await ReadOnly()
            while not int(dut.in_ready_o.value):
                await RisingEdge(dut.clk_i)
                await ReadOnly()
            await RisingEdge(dut.clk_i)
            dut.in_valid_i.value = 0
            # Pauses the stream now and then.
            await ClockCycles(dut.clk_i, random.choice((1, 1, 40)))
    await Timer(20, units="us")
    assert bytes(heard) == b"".join([bytes(FRAME), *frames[:-1]])
    assert int(await peripheral.get_contents()).to_bytes(FRAME, "big") == frames[-1]
