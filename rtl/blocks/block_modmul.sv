// SPDX-License-Identifier: MIT OR Apache-2.0
// A Montgomery product: a b R^-1 mod N, by block_mul and, as its blocks leave, block_reduce.
//
// Constants and bounds: block_reduce; a b < R N. The product's columns and those of the reduction
// are computed concurrently. block_power, where a result's blocks are the next product's operands,
// starts a product every C + Blocks / Lanes + 20 cycles. Multipliers: three times Lanes.
module block_modmul #(
    parameter int unsigned Bits   = 32,   // of a block, and the others as in block_columns
    parameter int unsigned Blocks = 128,
    parameter int unsigned Lanes  = 1
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            set_valid_i,  // N, N'
    output logic            set_ready_o,
    input  logic [Bits-1:0] set_block_i,
    input  logic            set_last_i,
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
    output logic            mul_o         // multipliers' operands are read
);
    logic product_valid, product_ready, product_last;
    logic [Bits-1:0] product;
    logic [1:0] mul;
    assign mul_o = |mul;

    block_mul #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_mul (
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
        .out_valid_o(product_valid),
        .out_ready_i(product_ready),
        .out_block_o(product),
        .out_last_o (product_last),
        .mul_o      (mul[0])
    );
    block_reduce #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_reduce (
        .clk_i,
        .rst_ni,
        .set_valid_i,
        .set_ready_o,
        .set_block_i,
        .set_last_i,
        .in_valid_i(product_valid),
        .in_ready_o(product_ready),
        .in_block_i(product),
        .in_last_i (product_last),
        .out_valid_o,
        .out_ready_i,
        .out_block_o,
        .out_last_o,
        .mul_o     (mul[1])
    );
endmodule
