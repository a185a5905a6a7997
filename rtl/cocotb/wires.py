"""Tests the serial line of rtl/links with third-party models: cocotbext-uart."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, Timer
from cocotbext.uart import UartSink, UartSource

# 10 ns per cycle, 20 cycles per bit.
BAUD = 5_000_000
LONGEST = 2000


async def watch(dut, seen):
    """Records every cycle with a fault."""
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if int(dut.fault_o.value):
            seen.append(True)


@cocotb.test(timeout_time=LONGEST, timeout_unit="us")
async def bytes_come_back(dut):
    """Senders run at this line's rate, and slightly faster and slower."""
    dut.rx_i.value = 1
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
    await ClockCycles(dut.clk_i, 5)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 5)
    faults = []
    cocotb.start_soon(watch(dut, faults))
    sink = UartSink(dut.tx_o, baud=BAUD)
    for baud in (BAUD, round(BAUD * 1.03), round(BAUD * 0.97)):
        source = UartSource(dut.rx_i, baud=baud)
        data = bytes(random.sample(range(256), 20))
        for byte in data:
            await source.write([byte])
            await source.wait()
            # An echo at a different rate needs gaps to keep up.
            await Timer(200, units="ns")
        await Timer(10, units="us")
        assert bytes(sink.read_nowait()) == data
    assert not faults
