// SPDX-License-Identifier: MIT OR Apache-2.0
// Watches a stream, and fails the simulation when it breaks the contract: what is on offer stays, unchanged, until it is taken.
//
// Further: after Settle edges in reset nothing is on offer, and if QuietReady nothing is taken; valid, ready and what is on offer are known bits. A monitor
// is bound to a port (monitors.svh) or stands beside one; synthesis makes nothing of it.
module stream_monitor #(
    parameter int unsigned Width      = 8,  // bits of an item, at least 1
    parameter int unsigned Settle     = 4,  // edges that a reset takes to reach the stream; 0: nothing is said about resets
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
    if (QuietReady > 1) $error("stream_monitor: QuietReady is 0 or 1");

`include "assertions.svh"
    `ASSERT_NEXT(ValidStays, valid_i && !ready_i, valid_i)
    `ASSERT_KEEPS(DataStays, valid_i && !ready_i, data_i)
    `ASSERT_KEEPS(LastStays, valid_i && !ready_i, last_i)
    `ASSERT_KNOWN(HandshakeKnown, {valid_i, ready_i})
    `ASSERT_KNOWN(ItemKnown, {valid_i && last_i, data_i & {Width{valid_i}}})

    if (Settle > 0) begin : gen_reset
        logic [Settle-1:0] in_reset_q = '0;
        always_ff @(posedge clk_i) in_reset_q <= Settle'({in_reset_q, !rst_ni});
        `ASSERT(ValidInReset, !(&in_reset_q && valid_i), clk_i, rst_ni)
        `ASSERT(ReadyInReset, !(&in_reset_q && ready_i && QuietReady == 1), clk_i, rst_ni)
    end

    logic unused;
    assign unused = &{1'b0, clk_i, rst_ni, valid_i, ready_i, data_i, last_i};
endmodule
