// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks a stream, and fails the simulation when it breaks the contract: an offered item stays,
// unchanged, until it is accepted.
//
// It also checks that valid, ready and offered items are known bits, and that once a reset has
// arrived nothing is offered (QuietValid) and nothing accepted (QuietReady). While a reset is still
// on its way it checks nothing else. A monitor is bound to a port (monitors.svh) or instantiated
// next to one; synthesis generates nothing for it.
module stream_monitor #(
    parameter int unsigned Width      = 8,  // bits of an item, at least 1
    // clock edges until a reset reaches the stream's driver: the flip-flops of a reset_sync
    parameter int unsigned Settle     = 0,
    parameter int unsigned QuietValid = 1,  // 1: valid is low in reset
    parameter int unsigned QuietReady = 0   // 1: ready is low in reset
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic             ready_i,
    input logic [Width-1:0] data_i,
    input logic             last_i    // 0 where there is none
);
    if (Width < 1) $error("stream_monitor: Width must be at least 1");
    if (QuietValid > 1) $error("stream_monitor: QuietValid is 0 or 1");
    if (QuietReady > 1) $error("stream_monitor: QuietReady is 0 or 1");

    // The resets at the latest edges, the newest at the low end.
    logic [Settle:0] reset_q = '0;
    // Out of reset; and in reset for at least one edge.
    logic running, quiet;
    always_ff @(posedge clk_i) reset_q <= (Settle + 1)'({reset_q, !rst_ni});
    if (Settle == 0) begin : gen_at_once
        assign running = rst_ni;
        assign quiet = !rst_ni && reset_q[0];
    end else begin : gen_settle
        assign running = rst_ni && reset_q[Settle-1:0] == '0;
        assign quiet = &reset_q;
    end

    `include "assertions.svh"
    `ASSERT_NEXT(ValidStays, valid_i && !ready_i, valid_i, clk_i, !running)
    `ASSERT_KEEPS(DataStays, valid_i && !ready_i, data_i, clk_i, !running)
    `ASSERT_KEEPS(LastStays, valid_i && !ready_i, last_i, clk_i, !running)
    `ASSERT_KNOWN(HandshakeKnown, {valid_i, ready_i}, clk_i, !running)
    `ASSERT_KNOWN(ItemKnown, {valid_i && last_i, data_i & {Width{valid_i}}}, clk_i, !running)
    `ASSERT(ValidInReset, !(quiet && valid_i && QuietValid == 1), clk_i, 1'b0)
    `ASSERT(ReadyInReset, !(quiet && ready_i && QuietReady == 1), clk_i, 1'b0)

    logic unused;
    assign unused = &{1'b0, running, quiet, valid_i, ready_i, data_i, last_i};
endmodule
