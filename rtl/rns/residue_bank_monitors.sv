// SPDX-License-Identifier: MIT OR Apache-2.0
// Monitors on every port of `residue_bank`, for simulations.
`include "monitors.svh"
`BIND_MONITORS(residue_bank)
