// SPDX-License-Identifier: MIT OR Apache-2.0
// The sum or difference of two numbers, block by block: a + b or a - b, with the carry or borrow
// carry_i.
//
// The result has as many blocks as the longer number, and is correct modulo 2^(Bits blocks). With
// the last block, out_carry_o is the carry, or with Sub says that a was less than b. carry_i counts
// only with the first block of both numbers. Latency 1 cycle, a block every cycle: a number of 4096
// bits in 128 cycles.
module block_add #(
    parameter int unsigned Bits = 32,  // of a block
    parameter int unsigned Sub  = 0    // 1: a - b
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            carry_i,
    input  logic            a_valid_i,
    output logic            a_ready_o,
    input  logic [Bits-1:0] a_block_i,
    input  logic            a_last_i,
    input  logic            b_valid_i,
    output logic            b_ready_o,
    input  logic [Bits-1:0] b_block_i,
    input  logic            b_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_carry_o,
    output logic            out_last_o
);
    if (Sub > 1) $error("block_add: Sub is 0 or 1");

    logic pair_valid, pair_ready, last, first_q, carry_q, carry;
    logic [Bits-1:0] a, b;
    logic [Bits:0] sum;

    block_pair #(
        .Bits(Bits)
    ) u_pair (
        .clk_i,
        .rst_ni,
        .a_valid_i,
        .a_ready_o,
        .a_block_i,
        .a_last_i,
        .b_valid_i,
        .b_ready_o,
        .b_block_i,
        .b_last_i,
        .out_valid_o(pair_valid),
        .out_ready_i(pair_ready),
        .a_block_o  (a),
        .b_block_o  (b),
        .out_last_o (last)
    );

    // The top bit is the carry or borrow.
    assign carry = first_q ? carry_i : carry_q;
    assign sum   = Sub == 1 ? {1'b0, a} - {1'b0, b} - (Bits + 1)'(carry) : {1'b0, a} + {1'b0, b} + (Bits + 1)'(carry);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            first_q <= 1'b1;
            carry_q <= 1'b0;
        end else if (pair_valid && pair_ready) begin
            first_q <= last;
            carry_q <= sum[Bits];
        end
    end

    stream_stage #(
        .Width(Bits + 2)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i(pair_valid),
        .in_ready_o(pair_ready),
        .in_data_i ({last, sum}),
        .out_valid_o,
        .out_ready_i,
        .out_data_o({out_last_o, out_carry_o, out_block_o})
    );
endmodule
