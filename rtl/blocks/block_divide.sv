// SPDX-License-Identifier: MIT OR Apache-2.0
// Division by a constant with one multiplication: floor(x / d) = floor((x M + down M) / 2^shift),
// the magic-number divider [GM94].
//
// For x < 2^w choose shift, and M = ceil(2^shift / d) with down = 0 if (M d - 2^shift) 2^w <=
// 2^shift, or M = floor(2^shift / d) with down = 1 if (2^shift - M d) 2^w <= 2^shift. For shift =
// w + log2(d) - 1, d not a power of two, one of the two always holds, as their remainders sum to d.
// M has no more bits than x where d has more than half of w less one. So numbers below n^2 are
// divided by n with x and M of as many blocks as n^2.
//
// After a reset M arrives, in at most Blocks blocks. Quotients have max(1, 2 Blocks - shift / Bits)
// blocks. With C as in block_columns the last block leaves C + 8 cycles after x's first block is
// accepted, if a block arrives every cycle: 4096 bits by 2048 take 16 394 cycles. Multipliers:
// Lanes.
module block_divide #(
    parameter int unsigned Bits      = 32,   // of a block, and the others as in block_columns
    parameter int unsigned Blocks    = 128,
    parameter int unsigned Lanes     = 1,
    parameter int unsigned ShiftBits = $clog2(2 * Blocks * Bits + 1)  // derived; do not set
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // these two belong to M: stable from the offer of its first block to the next reset
    input  logic [ShiftBits-1:0] shift_i,
    input  logic                 down_i,
    input  logic                 set_valid_i,  // M
    output logic                 set_ready_o,
    input  logic [Bits-1:0]      set_block_i,
    input  logic                 set_last_i,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [Bits-1:0]      in_block_i,
    input  logic                 in_last_i,
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [Bits-1:0]      out_block_o,
    output logic                 out_last_o,
    output logic                 mul_o         // the multipliers' operands are read
);
    if (ShiftBits != $clog2(2 * Blocks * Bits + 1)) $error("block_divide: ShiftBits follows from Blocks and Bits");

    // M twice: for the product, and for the addition.
    logic [1:0] set_valid, set_ready, m_valid, m_ready, m_last;
    logic [1:0][Bits-1:0] m;
    stream_fork #(
        .Takers(2)
    ) u_fork (
        .clk_i,
        .rst_ni,
        .in_valid_i (set_valid_i),
        .in_ready_o (set_ready_o),
        .out_valid_o(set_valid),
        .out_ready_i(set_ready)
    );
    for (genvar k = 0; k < 2; k++) begin : gen_m
        block_repeat #(
            .Bits  (Bits),
            .Blocks(Blocks)
        ) u_m (
            .clk_i,
            .rst_ni,
            .in_valid_i (set_valid[k]),
            .in_ready_o (set_ready[k]),
            .in_block_i (set_block_i),
            .in_last_i  (set_last_i),
            .out_valid_o(m_valid[k]),
            .out_ready_i(m_ready[k]),
            .out_block_o(m[k]),
            .out_last_o (m_last[k])
        );
    end

    logic product_valid, product_ready, product_last, sum_valid, sum_ready, sum_last, unused_carry;
    logic [Bits-1:0] product, sum;
    block_mul #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_mul (
        .clk_i,
        .rst_ni,
        .a_valid_i  (in_valid_i),
        .a_ready_o  (in_ready_o),
        .a_block_i  (in_block_i),
        .a_last_i   (in_last_i),
        .b_valid_i  (m_valid[0]),
        .b_ready_o  (m_ready[0]),
        .b_block_i  (m[0]),
        .b_last_i   (m_last[0]),
        .out_valid_o(product_valid),
        .out_ready_i(product_ready),
        .out_block_o(product),
        .out_last_o (product_last),
        .mul_o
    );
    // x M + M < 2^(2 Bits Blocks): there is no carry out.
    block_add #(
        .Bits(Bits)
    ) u_add (
        .clk_i,
        .rst_ni,
        .carry_i    (1'b0),
        .a_valid_i  (product_valid),
        .a_ready_o  (product_ready),
        .a_block_i  (product),
        .a_last_i   (product_last),
        .b_valid_i  (m_valid[1]),
        .b_ready_o  (m_ready[1]),
        .b_block_i  (down_i ? m[1] : '0),
        .b_last_i   (m_last[1]),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .out_block_o(sum),
        .out_carry_o(unused_carry),
        .out_last_o (sum_last)
    );
    block_shift #(
        .Bits      (Bits),
        .AmountBits(ShiftBits)
    ) u_shift (
        .clk_i,
        .rst_ni,
        .amount_i  (shift_i),
        .in_valid_i(sum_valid),
        .in_ready_o(sum_ready),
        .in_block_i(sum),
        .in_last_i (sum_last),
        .out_valid_o,
        .out_ready_i,
        .out_block_o,
        .out_last_o
    );
endmodule
