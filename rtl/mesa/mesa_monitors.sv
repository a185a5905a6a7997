// SPDX-License-Identifier: MIT OR Apache-2.0
// Binds monitors to every port of `mesa`, for simulations.
`include "monitors.svh"
`BIND_MONITORS(mesa)
