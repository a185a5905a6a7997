// SPDX-License-Identifier: MIT OR Apache-2.0
// Montgomery reduction as in the election machine: T R^-1 mod N for R = 2^(Bits Blocks), N odd and
// below R, T < R N.
//
//   m = (T mod R) N' mod R, N' = -N^-1 mod R;   t = (T + m N) / R;   t - N if t >= N
//
// by two multipliers, of which the first computes only the lower half. Only the comparison waits
// for a whole number: T's column k gives m's block k, that gives column k of m N, and all three are
// in progress at once. T has at most 2 Blocks blocks, further ones are ignored; the result has
// Blocks.
//
// After a reset N and N' arrive, in at most Blocks blocks each. Then numbers arrive, one every C +
// 1 cycles, C that of block_columns. If T arrives block by block, the result's first block leaves
// C + 15 cycles after T's first one is accepted, the last one Blocks - 1 later. 4096 bits take
// 16 528 cycles, with Lanes = 4 4336. The timing depends on no number. Multipliers: two times
// Lanes.
module block_reduce #(
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
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [Bits-1:0] in_block_i,
    input  logic            in_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o,
    output logic            mul_o         // multipliers' operands are read
);
    localparam int unsigned CountBits = $clog2(2 * Blocks * Bits + 1);

    // ---- Constants: N twice, for the product and for the comparison. ----

    logic [1:0] set_valid, set_ready, n_valid, n_ready, n_last, both_valid, both_ready;
    logic [1:0][Bits-1:0] n;
    logic k_valid, k_ready, k_last;
    logic [Bits-1:0] k;

    block_distribute #(
        .Takers(2)
    ) u_deal (
        .clk_i,
        .rst_ni,
        .in_valid_i (set_valid_i),
        .in_ready_o (set_ready_o),
        .in_last_i  (set_last_i),
        .out_valid_o(set_valid),
        .out_ready_i(set_ready)
    );
    stream_fork #(
        .Takers(2)
    ) u_both (
        .clk_i,
        .rst_ni,
        .in_valid_i (set_valid[0]),
        .in_ready_o (set_ready[0]),
        .out_valid_o(both_valid),
        .out_ready_i(both_ready)
    );
    for (genvar i = 0; i < 2; i++) begin : gen_n
        block_repeat #(
            .Bits  (Bits),
            .Blocks(Blocks)
        ) u_n (
            .clk_i,
            .rst_ni,
            .in_valid_i (both_valid[i]),
            .in_ready_o (both_ready[i]),
            .in_block_i (set_block_i),
            .in_last_i  (set_last_i),
            .out_valid_o(n_valid[i]),
            .out_ready_i(n_ready[i]),
            .out_block_o(n[i]),
            .out_last_o (n_last[i])
        );
    end
    block_repeat #(
        .Bits  (Bits),
        .Blocks(Blocks)
    ) u_k (
        .clk_i,
        .rst_ni,
        .in_valid_i (set_valid[1]),
        .in_ready_o (set_ready[1]),
        .in_block_i (set_block_i),
        .in_last_i  (set_last_i),
        .out_valid_o(k_valid),
        .out_ready_i(k_ready),
        .out_block_o(k),
        .out_last_o (k_last)
    );

    // ---- T twice: its lower half for the multipliers, all of it for the sum. ----

    logic t_valid, t_ready, t_last;
    logic [Bits-1:0] t_block;
    block_select #(
        .Bits     (Bits),
        .CountBits(CountBits)
    ) u_cut (
        .clk_i,
        .rst_ni,
        .count_i    (CountBits'(2 * Blocks * Bits)),
        .in_valid_i,
        .in_ready_o,
        .in_block_i,
        .in_last_i,
        .out_valid_o(t_valid),
        .out_ready_i(t_ready),
        .out_block_o(t_block),
        .out_last_o (t_last)
    );

    logic [1:0] fork_valid, fork_ready;
    stream_fork #(
        .Takers(2)
    ) u_fork (
        .clk_i,
        .rst_ni,
        .in_valid_i (t_valid),
        .in_ready_o (t_ready),
        .out_valid_o(fork_valid),
        .out_ready_i(fork_ready)
    );

    logic low_valid, low_ready, low_last, m_valid, m_ready, m_last, mn_valid, mn_ready, mn_last;
    logic [Bits-1:0] low, m, mn;
    logic [1:0] mul;
    assign mul_o = |mul;
    block_select #(
        .Bits     (Bits),
        .CountBits(CountBits)
    ) u_low (
        .clk_i,
        .rst_ni,
        .count_i    (CountBits'(Blocks * Bits)),
        .in_valid_i (fork_valid[0]),
        .in_ready_o (fork_ready[0]),
        .in_block_i (t_block),
        .in_last_i  (t_last),
        .out_valid_o(low_valid),
        .out_ready_i(low_ready),
        .out_block_o(low),
        .out_last_o (low_last)
    );
    block_mul #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes),
        .Low   (1)
    ) u_m (
        .clk_i,
        .rst_ni,
        .a_valid_i  (low_valid),
        .a_ready_o  (low_ready),
        .a_block_i  (low),
        .a_last_i   (low_last),
        .b_valid_i  (k_valid),
        .b_ready_o  (k_ready),
        .b_block_i  (k),
        .b_last_i   (k_last),
        .out_valid_o(m_valid),
        .out_ready_i(m_ready),
        .out_block_o(m),
        .out_last_o (m_last),
        .mul_o      (mul[0])
    );
    block_mul #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_mn (
        .clk_i,
        .rst_ni,
        .a_valid_i  (m_valid),
        .a_ready_o  (m_ready),
        .a_block_i  (m),
        .a_last_i   (m_last),
        .b_valid_i  (n_valid[0]),
        .b_ready_o  (n_ready[0]),
        .b_block_i  (n[0]),
        .b_last_i   (n_last[0]),
        .out_valid_o(mn_valid),
        .out_ready_i(mn_ready),
        .out_block_o(mn),
        .out_last_o (mn_last),
        .mul_o      (mul[1])
    );

    // ---- (T + m N) / R: the lower half of the sum is zeros and a carry. ----

    logic wait_valid, wait_ready, wait_last, sum_valid, sum_ready, sum_carry, sum_last;
    logic [Bits-1:0] wait_block, sum;
    stream_fifo #(
        .Width (Bits + 1),
        .Depth (2 * Blocks),
        .Memory(1)
    ) u_wait (
        .clk_i,
        .rst_ni,
        .in_valid_i (fork_valid[1]),
        .in_ready_o (fork_ready[1]),
        .in_data_i  ({t_last, t_block}),
        .out_valid_o(wait_valid),
        .out_ready_i(wait_ready),
        .out_data_o ({wait_last, wait_block})
    );
    block_add #(
        .Bits(Bits)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .carry_i    (1'b0),
        .a_valid_i  (wait_valid),
        .a_ready_o  (wait_ready),
        .a_block_i  (wait_block),
        .a_last_i   (wait_last),
        .b_valid_i  (mn_valid),
        .b_ready_o  (mn_ready),
        .b_block_i  (mn),
        .b_last_i   (mn_last),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .out_block_o(sum),
        .out_carry_o(sum_carry),
        .out_last_o (sum_last)
    );

    logic [CountBits-1:0] place_q;
    logic upper, below_ready;
    assign upper     = place_q == CountBits'(Blocks);
    assign sum_ready = below_ready || !upper;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) place_q <= '0;
        else if (sum_valid && sum_ready) place_q <= sum_last ? '0 : upper ? place_q : place_q + 1'b1;
    end

    block_below #(
        .Bits  (Bits),
        .Blocks(Blocks)
    ) u_below (
        .clk_i,
        .rst_ni,
        .in_valid_i(sum_valid && upper),
        .in_ready_o(below_ready),
        .in_block_i(sum),
        .in_carry_i(sum_carry),
        .in_last_i (sum_last),
        .n_valid_i (n_valid[1]),
        .n_ready_o (n_ready[1]),
        .n_block_i (n[1]),
        .n_last_i  (n_last[1]),
        .out_valid_o,
        .out_ready_i,
        .out_block_o,
        .out_last_o
    );
endmodule
