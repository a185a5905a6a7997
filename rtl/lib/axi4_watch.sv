// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the fault of a memory behind an AXI4 channel: the first one, unless a protocol violation
// follows.
//
// A memory is silent when an answer is awaited and nothing moves for Timeout cycles. clear_i clears
// the fault, except for protocol violations (Misplaced, Unasked). After those, answers can no
// longer be matched to requests, and only a reset recovers. A protocol violation replaces another
// fault.
module axi4_watch #(
    parameter int unsigned Timeout = 4096  // cycles, at least 2
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    input  logic   clear_i,
    input  logic   awaited_i,
    input  logic   moved_i,
    input  logic [2:0] seen_i,     // in this cycle
    output logic [2:0] fault_o
);
    if (Timeout < 2) $error("axi4_watch: Timeout must be at least 2");

    localparam int unsigned Bits = $clog2(Timeout);
    logic [Bits-1:0] quiet_q;
    logic [2:0] now;

    always_comb begin
        now = seen_i;
        if (seen_i == axi4_pkg::Sound && awaited_i && !moved_i && quiet_q == Bits'(Timeout - 1)) now = axi4_pkg::Silent;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            quiet_q <= '0;
            fault_o <= axi4_pkg::Sound;
        end else begin
            if (!awaited_i || moved_i) quiet_q <= '0;
            else if (quiet_q != Bits'(Timeout - 1)) quiet_q <= quiet_q + Bits'(1);
            if (fault_o != axi4_pkg::Misplaced && fault_o != axi4_pkg::Unasked && (clear_i || fault_o == axi4_pkg::Sound)) fault_o <= now;
            else if (fault_o != axi4_pkg::Misplaced && (now == axi4_pkg::Misplaced || now == axi4_pkg::Unasked)) fault_o <= now;
        end
    end
endmodule
