// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies two numbers by the grade-school method: Blocks^2 products of blocks, Lanes per cycle.
//
// Bounds, cycles and multipliers: block_columns. For 4096 bits, from accepting the first blocks to
// the last one's leaving: 16 390 cycles with one multiplier of 32 bits and 4198 with four; with
// Low, for the lower half, 8 261 and 2117.
module block_mul #(
    parameter int unsigned Bits   = 32,   // of a block, and the others as in block_columns
    parameter int unsigned Blocks = 128,
    parameter int unsigned Lanes  = 1,
    parameter int unsigned Low    = 0
) (
    input  logic            clk_i,
    input  logic            rst_ni,
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
    output logic            out_last_o,
    output logic            mul_o         // the multipliers' operands are read
);
    block_columns #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes),
        .Low   (Low)
    ) u_columns (
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
        .out_valid_o,
        .out_ready_i,
        .out_block_o,
        .out_last_o,
        .mul_o
    );
endmodule
