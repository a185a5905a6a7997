// SPDX-License-Identifier: MIT OR Apache-2.0
// Squares a number: Blocks (Blocks + 1) / 2 products of blocks, at most Lanes per cycle.
//
// Bounds, cycles and multipliers: block_columns. For 4096 bits, from accepting the first block to
// the last one's leaving: 8262 cycles with one multiplier of 32 bits.
module block_square #(
    parameter int unsigned Bits   = 32,   // of a block, and the others as in block_columns
    parameter int unsigned Blocks = 128,
    parameter int unsigned Lanes  = 1
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [Bits-1:0] in_block_i,
    input  logic            in_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o,
    output logic            mul_o
);
    logic b_ready;
    block_columns #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes),
        .Square(1)
    ) u_columns (
        .clk_i,
        .rst_ni,
        .a_valid_i(in_valid_i),
        .a_ready_o(in_ready_o),
        .a_block_i(in_block_i),
        .a_last_i (in_last_i),
        .b_valid_i(in_valid_i),
        .b_ready_o(b_ready),
        .b_block_i(in_block_i),
        .b_last_i (in_last_i),
        .out_valid_o,
        .out_ready_i,
        .out_block_o,
        .out_last_o,
        .mul_o
    );

    // Both operands are accepted together.
    logic unused;
    assign unused = b_ready;
endmodule
