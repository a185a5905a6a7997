// SPDX-License-Identifier: MIT OR Apache-2.0
// Paillier encryption as block streams: c = (1 + m n) r^n mod n^2.
//
// After a reset the key arrives, one number after the other: n^2, N' = -n^-2 mod R, R^2 mod n^2, R
// mod n^2 and n, for R = 2^(Bits Blocks). Then pairs of numbers r and m arrive, and each pair is
// answered by a ciphertext of Blocks blocks. r comes from an external random source. m has at most
// Blocks / 2 blocks and counts modulo n: votes are validated before this module.
//
// 1 + m n is computed while the power begins and waits for it to end. It enters with the power's
// last product (block_power), so the cycles of a power are those of an encryption. The timing
// depends on neither r nor m. Multipliers: six times Lanes, and one.
module block_encryptor #(
    parameter int unsigned Bits   = 32,   // of a block
    parameter int unsigned Blocks = 128,  // of n^2, even, a multiple of Lanes, at least 2 Lanes
    parameter int unsigned Lanes  = 4
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            set_valid_i,
    output logic            set_ready_o,
    input  logic [Bits-1:0] set_block_i,
    input  logic            set_last_i,
    input  logic            r_valid_i,
    output logic            r_ready_o,
    input  logic [Bits-1:0] r_block_i,
    input  logic            r_last_i,
    input  logic            m_valid_i,
    output logic            m_ready_o,
    input  logic [Bits-1:0] m_block_i,
    input  logic            m_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o,
    // multipliers' operands are read: for m n, and as in block_power
    output logic [2:0]      mul_o
);
    if (Blocks % 2 != 0) $error("block_encryptor: Blocks must be even");

    // Blocks of n; products have at least two.
    localparam int unsigned Half = Blocks < 4 ? 2 : Blocks / 2;

    // The last number, n, is the power's exponent and the factor of m.
    logic [4:0] deal_valid, deal_ready;
    logic [1:0] n_fork_valid, n_fork_ready;
    logic n_fork_in_ready, power_ready, n_valid, n_ready, n_last;
    logic [Bits-1:0] n;
    block_distribute #(
        .Takers(5)
    ) u_deal (
        .clk_i,
        .rst_ni,
        .in_valid_i (set_valid_i),
        .in_ready_o (set_ready_o),
        .in_last_i  (set_last_i),
        .out_valid_o(deal_valid),
        .out_ready_i(deal_ready)
    );
    stream_fork #(
        .Takers(2)
    ) u_fork (
        .clk_i,
        .rst_ni,
        .in_valid_i (deal_valid[4]),
        .in_ready_o (n_fork_in_ready),
        .out_valid_o(n_fork_valid),
        .out_ready_i(n_fork_ready)
    );
    assign deal_ready      = {n_fork_in_ready, {4{power_ready}}};
    assign n_fork_ready[0] = power_ready;
    block_repeat #(
        .Bits  (Bits),
        .Blocks(Half)
    ) u_n (
        .clk_i,
        .rst_ni,
        .in_valid_i (n_fork_valid[1]),
        .in_ready_o (n_fork_ready[1]),
        .in_block_i (set_block_i),
        .in_last_i  (set_last_i),
        .out_valid_o(n_valid),
        .out_ready_i(n_ready),
        .out_block_o(n),
        .out_last_o (n_last)
    );

    // 1 + m n: m n + 0 with a carry in.
    logic mn_valid, mn_ready, mn_last, one_valid, one_ready, one_last, factor_valid, factor_ready, factor_last, zero_ready, no_carry;
    logic [Bits-1:0] mn, one, factor;
    block_mul #(
        .Bits  (Bits),
        .Blocks(Half)
    ) u_mn (
        .clk_i,
        .rst_ni,
        .a_valid_i  (m_valid_i),
        .a_ready_o  (m_ready_o),
        .a_block_i  (m_block_i),
        .a_last_i   (m_last_i),
        .b_valid_i  (n_valid),
        .b_ready_o  (n_ready),
        .b_block_i  (n),
        .b_last_i   (n_last),
        .out_valid_o(mn_valid),
        .out_ready_i(mn_ready),
        .out_block_o(mn),
        .out_last_o (mn_last),
        .mul_o      (mul_o[2])
    );
    block_add #(
        .Bits(Bits)
    ) u_one (
        .clk_i,
        .rst_ni,
        .carry_i    (1'b1),
        .a_valid_i  (mn_valid),
        .a_ready_o  (mn_ready),
        .a_block_i  (mn),
        .a_last_i   (mn_last),
        .b_valid_i  (1'b1),
        .b_ready_o  (zero_ready),
        .b_block_i  ('0),
        .b_last_i   (1'b1),
        .out_valid_o(one_valid),
        .out_ready_i(one_ready),
        .out_block_o(one),
        .out_carry_o(no_carry),
        .out_last_o (one_last)
    );
    stream_fifo #(
        .Width (Bits + 1),
        .Depth (2 * Half),
        .Memory(1)
    ) u_wait (
        .clk_i,
        .rst_ni,
        .in_valid_i (one_valid),
        .in_ready_o (one_ready),
        .in_data_i  ({one_last, one}),
        .out_valid_o(factor_valid),
        .out_ready_i(factor_ready),
        .out_data_o ({factor_last, factor})
    );

    block_power #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_power (
        .clk_i,
        .rst_ni,
        .set_valid_i   (|deal_valid[3:0] || n_fork_valid[0]),
        .set_ready_o   (power_ready),
        .set_block_i,
        .set_last_i,
        .in_valid_i    (r_valid_i),
        .in_ready_o    (r_ready_o),
        .in_block_i    (r_block_i),
        .in_last_i     (r_last_i),
        .factor_valid_i(factor_valid),
        .factor_ready_o(factor_ready),
        .factor_block_i(factor),
        .factor_last_i (factor_last),
        .out_valid_o,
        .out_ready_i,
        .out_block_o,
        .out_last_o,
        .mul_o         (mul_o[1:0])
    );

    logic unused;
    assign unused = zero_ready ^ no_carry;
endmodule
