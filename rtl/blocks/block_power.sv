// SPDX-License-Identifier: MIT OR Apache-2.0
// Exponentiation as in the election machine: x^e f mod N, by a streamer of squares and an
// accumulator in parallel.
//
// The streamer computes x R from x and R^2, then squares repeatedly: s_i = x^(2^i) R. The
// accumulator begins with R, the number 1 in Montgomery form. From the lowest bit of e on, it
// multiplies by s_i where the bit is 1 and by R where it is 0: as many products, in the same
// cycles, whatever the bits. Its last product is by the factor f, not in Montgomery form, which
// removes R: with f = 1 + m n and e = n that is Paillier encryption without an additional product.
//
// After a reset the constants arrive, one number after the other: N, N', R^2 mod N, R mod N and e.
// All Bits bits of each block of e are used, including leading zeros. x and f are below R. x is
// requested when the power begins, f when its last product does.
//
// Cycles from accepting x's first block to the last one's leaving, both included, if f is
// available: (E + 2) P + Blocks, for E bits of e and P = C + Blocks / Lanes + 20 cycles from square
// to square, C as in block_columns: 8 702 378 for 4096 over 2048 bits with Lanes = 4. The timing
// depends on no number. Multipliers: six times Lanes.
module block_power #(
    parameter int unsigned Bits   = 32,   // of a block, and the others as in block_columns
    parameter int unsigned Blocks = 128,
    parameter int unsigned Lanes  = 1
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            set_valid_i,
    output logic            set_ready_o,
    input  logic [Bits-1:0] set_block_i,
    input  logic            set_last_i,
    input  logic            in_valid_i,    // x
    output logic            in_ready_o,
    input  logic [Bits-1:0] in_block_i,
    input  logic            in_last_i,
    input  logic            factor_valid_i,  // f
    output logic            factor_ready_o,
    input  logic [Bits-1:0] factor_block_i,
    input  logic            factor_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o,
    // multipliers' operands are read: by the accumulator, by the streamer
    output logic [1:0]      mul_o
);
    // ---- Constants: N and N' for both products; R once as the start value and once for zero
    // bits. ----

    // those that are repeated here
    localparam int unsigned Square = 0, One = 1, Start = 2, Exponent = 3;
    logic [4:0] deal_valid, deal_ready;
    logic [1:0] both_valid, both_ready, one_valid, one_ready;
    logic both_in_ready, one_in_ready;
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
    ) u_both (
        .clk_i,
        .rst_ni,
        .in_valid_i (|deal_valid[1:0]),
        .in_ready_o (both_in_ready),
        .out_valid_o(both_valid),
        .out_ready_i(both_ready)
    );
    stream_fork #(
        .Takers(2)
    ) u_ones (
        .clk_i,
        .rst_ni,
        .in_valid_i (deal_valid[3]),
        .in_ready_o (one_in_ready),
        .out_valid_o(one_valid),
        .out_ready_i(one_ready)
    );

    logic [3:0] set_valid, set_ready, valid, ready, last;
    logic [3:0][Bits-1:0] block;
    assign set_valid  = {deal_valid[4], one_valid, deal_valid[2]};
    assign one_ready  = set_ready[Start:One];
    assign deal_ready = {set_ready[Exponent], one_in_ready, set_ready[Square], {2{both_in_ready}}};
    for (genvar k = 0; k < 4; k++) begin : gen_constant
        block_repeat #(
            .Bits  (Bits),
            .Blocks(Blocks)
        ) u_repeat (
            .clk_i,
            .rst_ni,
            .in_valid_i (set_valid[k]),
            .in_ready_o (set_ready[k]),
            .in_block_i (set_block_i),
            .in_last_i  (set_last_i),
            .out_valid_o(valid[k]),
            .out_ready_i(ready[k]),
            .out_block_o(block[k]),
            .out_last_o (last[k])
        );
    end

    // ---- The exponent's bits: one per square. ----

    localparam int unsigned BitBits = $clog2(Bits);
    logic [BitBits-1:0] bit_q;
    logic one_bit, last_in_block, last_bit, square_end;
    assign one_bit         = block[Exponent][bit_q];
    assign last_in_block   = bit_q == BitBits'(Bits - 1);
    assign last_bit        = last_in_block && last[Exponent];
    assign ready[Exponent] = square_end && last_in_block;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) bit_q <= '0;
        else if (square_end) bit_q <= last_in_block ? '0 : bit_q + 1'b1;
    end

    // ---- The streamer: first x and R^2, then its own result as both operands. ----

    logic [1:0] stream_first_q, stream_valid, stream_ready, stream_last, stream_end;
    logic [1:0][Bits-1:0] stream_block;
    logic square_valid, square_ready, square_last;
    logic [Bits-1:0] square;
    logic [2:0] square_fork_valid, square_fork_ready;
    assign square_end = square_valid && square_ready && square_last;
    assign stream_end = stream_valid & stream_ready & stream_last;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) stream_first_q <= '1;
        else if (square_end && last_bit) stream_first_q <= '1;
        else stream_first_q <= stream_first_q & ~stream_end;
    end

    stream_fork #(
        .Takers(3)
    ) u_square (
        .clk_i,
        .rst_ni,
        .in_valid_i (square_valid && valid[Exponent]),
        .in_ready_o (square_ready),
        .out_valid_o(square_fork_valid),
        .out_ready_i(square_fork_ready)
    );
    assign square_fork_ready[1:0] = {2{last_bit}} | (stream_ready & ~stream_first_q);
    assign stream_valid[0] = stream_first_q[0] ? in_valid_i : square_fork_valid[0] && !last_bit;
    assign stream_valid[1] = stream_first_q[1] ? valid[Square] : square_fork_valid[1] && !last_bit;
    assign stream_last     = {stream_first_q[1] ? last[Square] : square_last, stream_first_q[0] ? in_last_i : square_last};
    assign stream_block    = {stream_first_q[1] ? block[Square] : square, stream_first_q[0] ? in_block_i : square};
    assign in_ready_o      = stream_first_q[0] && stream_ready[0];
    assign ready[Square]   = stream_first_q[1] && stream_ready[1];

    logic square_made, square_taken;
    block_modmul #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_streamer (
        .clk_i,
        .rst_ni,
        .set_valid_i(both_valid[1]),
        .set_ready_o(both_ready[1]),
        .set_block_i,
        .set_last_i,
        .a_valid_i  (stream_valid[0]),
        .a_ready_o  (stream_ready[0]),
        .a_block_i  (stream_block[0]),
        .a_last_i   (stream_last[0]),
        .b_valid_i  (stream_valid[1]),
        .b_ready_o  (stream_ready[1]),
        .b_block_i  (stream_block[1]),
        .b_last_i   (stream_last[1]),
        .out_valid_o(square_made),
        .out_ready_i(square_taken),
        .out_block_o(square),
        .out_last_o (square_last),
        .mul_o      (mul_o[1])
    );
    assign square_valid = square_made;
    assign square_taken = square_ready && valid[Exponent];

    // ---- The accumulator: first R, then its own result, times a square or R, finally f. ----

    logic acc_first_q, acc_final_q, sum_valid, sum_ready, sum_last, result_final, final_ready, final_valid;
    logic [1:0] acc_valid, acc_ready, acc_last, acc_end, join_ready;
    logic [1:0][Bits-1:0] acc_block;
    logic join_valid, join_taken;
    logic [Bits-1:0] sum;
    assign acc_end = acc_valid & acc_ready & acc_last;

    // A square and R always arrive together, and one of them is used.
    stream_join #(
        .Sources(2)
    ) u_choice (
        .in_valid_i ({square_fork_valid[2], valid[One]}),
        .in_ready_o (join_ready),
        .out_valid_o(join_valid),
        .out_ready_i(join_taken)
    );
    assign square_fork_ready[2] = join_ready[1];
    assign ready[One]           = join_ready[0];
    assign join_taken           = !acc_final_q && acc_ready[1] && final_ready;

    assign acc_valid[0]   = acc_first_q ? valid[Start] : sum_valid && final_valid && !result_final;
    assign acc_valid[1]   = final_ready && (acc_final_q ? factor_valid_i : join_valid);
    assign acc_last       = {acc_final_q ? factor_last_i : square_last, acc_first_q ? last[Start] : sum_last};
    assign acc_block      = {acc_final_q ? factor_block_i : one_bit ? square : block[One], acc_first_q ? block[Start] : sum};
    assign ready[Start]   = acc_first_q && acc_ready[0];
    assign factor_ready_o = acc_final_q && acc_ready[1] && final_ready;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            acc_first_q <= 1'b1;
            acc_final_q <= 1'b0;
        end else begin
            if (out_valid_o && out_ready_i && out_last_o) acc_first_q <= 1'b1;
            else if (acc_end[0]) acc_first_q <= 1'b0;
            if (acc_end[1]) acc_final_q <= !acc_final_q && last_bit;
        end
    end

    // For each product in progress, whether it is the last one.
    stream_fifo #(
        .Width(1),
        .Depth(2)
    ) u_final (
        .clk_i,
        .rst_ni,
        .in_valid_i (acc_end[1]),
        .in_ready_o (final_ready),
        .in_data_i  (acc_final_q),
        .out_valid_o(final_valid),
        .out_ready_i(sum_valid && sum_ready && sum_last),
        .out_data_o (result_final)
    );

    block_modmul #(
        .Bits  (Bits),
        .Blocks(Blocks),
        .Lanes (Lanes)
    ) u_accumulator (
        .clk_i,
        .rst_ni,
        .set_valid_i(both_valid[0]),
        .set_ready_o(both_ready[0]),
        .set_block_i,
        .set_last_i,
        .a_valid_i  (acc_valid[0]),
        .a_ready_o  (acc_ready[0]),
        .a_block_i  (acc_block[0]),
        .a_last_i   (acc_last[0]),
        .b_valid_i  (acc_valid[1]),
        .b_ready_o  (acc_ready[1]),
        .b_block_i  (acc_block[1]),
        .b_last_i   (acc_last[1]),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .out_block_o(sum),
        .out_last_o (sum_last),
        .mul_o      (mul_o[0])
    );
    assign sum_ready   = final_valid && (result_final ? out_ready_i : !acc_first_q && acc_ready[0]);
    assign out_valid_o = sum_valid && final_valid && result_final;
    assign out_block_o = sum;
    assign out_last_o  = sum_last;
endmodule
