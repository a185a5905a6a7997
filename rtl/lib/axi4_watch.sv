// SPDX-License-Identifier: MIT OR Apache-2.0
// Notes the first fault of a memory behind an AXI4 channel, and keeps it.
//
// A memory is silent when for Timeout cycles something is awaited and nothing moves. A fault is forgotten with clear_i, except for those that break the
// protocol (misplaced, unasked): after those nobody knows what belongs to what, and only a reset helps.
module axi4_watch
    import axi4_pkg::*;
#(
    parameter int unsigned Timeout = 4096  // cycles, at least 2
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    input  logic   clear_i,
    input  logic   awaited_i,
    input  logic   moved_i,
    input  fault_e seen_i,     // in this cycle
    output fault_e fault_o
);
    if (Timeout < 2) $error("axi4_watch: Timeout must be at least 2");

    localparam int unsigned Bits = $clog2(Timeout);
    logic [Bits-1:0] quiet_q;
    fault_e now;

    always_comb begin
        now = seen_i;
        if (seen_i == Sound && awaited_i && !moved_i && quiet_q == Bits'(Timeout - 1)) now = Silent;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            quiet_q <= '0;
            fault_o <= Sound;
        end else begin
            if (!awaited_i || moved_i) quiet_q <= '0;
            else if (quiet_q != Bits'(Timeout - 1)) quiet_q <= quiet_q + Bits'(1);
            if (fault_o != Misplaced && fault_o != Unasked && (clear_i || fault_o == Sound)) fault_o <= now;
            else if (fault_o != Misplaced && (now == Misplaced || now == Unasked)) fault_o <= now;
        end
    end
endmodule
