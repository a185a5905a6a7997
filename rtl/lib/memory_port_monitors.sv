// SPDX-License-Identifier: MIT OR Apache-2.0
// Binds a monitor to the bus of `memory_port`, for simulations.
`include "monitors.svh"
`BIND_MEMORY_MONITOR(memory_port, 0)
