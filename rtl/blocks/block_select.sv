// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects the lowest bits of a number: x modulo 2^count.
//
// From a number of n blocks it outputs min(n, max(1, count / Bits rounded up)); the others are
// accepted and dropped. Latency 1 cycle, a block every cycle.
module block_select #(
    parameter int unsigned Bits      = 32,  // of a block, at least 2
    parameter int unsigned CountBits = 14
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // stable from the offer of a number's first block until its last one has left
    input  logic [CountBits-1:0] count_i,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [Bits-1:0]      in_block_i,
    input  logic                 in_last_i,
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [Bits-1:0]      out_block_o,
    output logic                 out_last_o
);
    if (Bits < 2 || CountBits < 1) $error("block_select: Bits must be at least 2, CountBits at least 1");

    // Remaining bits, from this block on: in the last block that is output, the bits to keep.
    logic first_q, given_q, given, last, keep_ready, transfer;
    logic [CountBits-1:0] left_q, left;
    logic [Bits-1:0] mask;
    assign left     = first_q ? count_i : left_q;
    assign last     = 32'(left) <= Bits;
    assign mask     = last ? ~({Bits{1'b1}} << left) : '1;
    assign given    = !first_q && given_q;
    assign transfer = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            first_q <= 1'b1;
            given_q <= 1'b0;
            left_q  <= '0;
        end else if (transfer) begin
            first_q <= in_last_i;
            given_q <= last;
            left_q  <= last ? '0 : left - CountBits'(Bits);
        end
    end

    assign in_ready_o = keep_ready || given;
    stream_stage #(
        .Width(Bits + 1)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i(in_valid_i && !given),
        .in_ready_o(keep_ready),
        .in_data_i ({last || in_last_i, in_block_i & mask}),
        .out_valid_o,
        .out_ready_i,
        .out_data_o({out_last_o, out_block_o})
    );
endmodule
