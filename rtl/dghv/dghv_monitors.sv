// SPDX-License-Identifier: MIT OR Apache-2.0
// Monitors on every port of `dghv`, for simulations.
`include "monitors.svh"
`BIND_MONITORS(dghv)
`include "memory_port_monitors.sv"
