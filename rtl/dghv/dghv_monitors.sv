// SPDX-License-Identifier: MIT OR Apache-2.0
// Monitors on every port of `dghv`, for simulations.
`include "monitors.svh"
`BIND_MONITORS(dghv)
`BIND_MEMORY_MONITOR(dghv, 2)
