// SPDX-License-Identifier: MIT OR Apache-2.0
// Transforms of N / 2^skip_i items each, N = 2^(High+Low), one item a cycle, modulo p = 2^64 - 2^32
// + 1. Like ntt_folded, but the length is chosen at run time.
//
//   X at place q = sum over t of x_t w^(2^skip_i T t),   T the bits of q in reversed order
//
// The first skip_i ranks pass items through, which saves the cycles of their memories. These are
// multiples of a block's length, so the ranks behind keep their places. Latency:
// ntt_pkg::folded_latency cycles, less those memories, N - N / 2^skip_i. Blocks come without gaps.
// Place 0 of a block arrives when the number of cycles since reset is a multiple of its length. A
// reset restarts the places but keeps the items inside.
module ntt_lengths #(
    parameter int unsigned High  = 6,                       // 2 to 6
    parameter int unsigned Low   = 5,                       // 1 to 6, and more than 6 with High
    parameter logic [65:0] Root  = 66'd14015793041123991766,  // w; w^(N / 64) = 8
    parameter int unsigned ATile = 24                       // bits of pieces (wide_product)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [ 2:0] skip_i,  // below High
    input  logic [63:0] x_i,     // below p
    output logic [63:0] y_o      // below p
);
    localparam int unsigned B = 32;
    localparam int unsigned Log = High + Low;

    if (High < 2 || High > 6 || Low < 1 || Low > 6) $error("ntt_lengths: High is 2 to 6, Low 1 to 6");

    logic [63:0] x[Log + 1];
    assign x[0] = x_i;

    for (genvar j = 0; j < int'(Log); j++) begin : gen_rank
        // From the widest span to the narrowest.
        localparam int unsigned Rank = Log - 1 - j;
        localparam int unsigned Bottom = Rank >= Low ? Low : 0;
        localparam int unsigned Begin = ntt_pkg::folded_ranks(B, High, Low, 0, j);
        logic [63:0] met, turned;

        folded_butterfly #(
            .Span (1 << Rank),
            .Start(Begin)
        ) u_butterfly (
            .clk_i,
            .rst_ni,
            .en_i(1'b1),
            .x_i (x[j]),
            .y_o (met)
        );

        if (Rank != Bottom) begin : gen_turn
            folded_rotator #(
                .Rank (Rank),
                .Low  (Bottom),
                .Start(Begin + (1 << Rank) + 2)
            ) u_turn (
                .clk_i,
                .rst_ni,
                .en_i(1'b1),
                .x_i (met),
                .y_o (turned)
            );
        end else if (Rank == Low) begin : gen_twiddle
            // Between the last rank of one level and the first of the other.
            lengths_twiddle #(
                .High (High),
                .Low  (Low),
                .Root (Root),
                .Start(Begin + (1 << Rank) + 2),
                .ATile(ATile)
            ) u_twiddle (
                .clk_i,
                .rst_ni,
                .skip_i,
                .x_i(met),
                .y_o(turned)
            );
        end else begin : gen_straight
            assign turned = met;
        end

        if (Rank > Low) begin : gen_skip
            logic [63:0] passed;
            delay_line #(
                .Width (64),
                .Cycles(2 + ntt_pkg::ShiftLatency)
            ) u_pass (
                .clk_i,
                .en_i(1'b1),
                .x_i (x[j]),
                .y_o (passed)
            );
            assign x[j+1] = skip_i > 3'(j) ? passed : turned;
        end else begin : gen_whole
            assign x[j+1] = turned;
        end
    end

    assign y_o = x[Log];
endmodule
