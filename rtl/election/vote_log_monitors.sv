// SPDX-License-Identifier: MIT OR Apache-2.0
// An assertion on the log's orders, for simulations. The flash accepts each order in the cycle in
// which it comes, since the log waits for the end of one before it gives the next. The first is an
// exception: it waits until the flash has started. So the states that give orders are left at once
// (synth/coverage.py excludes their waits).
module vote_log_monitors (
    input logic clk_i,
    input logic rst_ni,
    input logic starting_i,  // the flash may not have started
    input logic ordered_i,   // an order to the flash
    input logic taken_i      // the flash accepts it
);
    `include "assertions.svh"
    `ASSERT(OrdersAreTaken, !(ordered_i && !taken_i && !starting_i))
endmodule

bind vote_log vote_log_monitors u_monitors (
    .clk_i,
    .rst_ni,
    .starting_i(state_q == Settle),
    .ordered_i (flash_valid),
    .taken_i   (flash_ready)
);
