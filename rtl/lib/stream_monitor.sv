// SPDX-License-Identifier: MIT OR Apache-2.0
// Watches a stream, and fails the simulation when it breaks the contract: what is on offer stays,
// unchanged, until it is taken.
//
// Further: once a reset has reached it nothing is on offer (QuietValid) and nothing is taken
// (QuietReady); valid, ready and what is on offer are known bits. While a reset is under way,
// nothing else is said. A monitor is bound to a port (monitors.svh) or stands beside one; synthesis
// makes nothing of it.
module stream_monitor #(
    parameter int unsigned Width      = 8,  // bits of an item, at least 1
    // edges that a reset takes to reach what drives the stream: the flip-flops of a reset_sync
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

    // The resets at the last edges, the latest at the low end.
    logic [Settle:0] reset_q = '0;
    // Out of reset; and in it, an edge ago as well.
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
