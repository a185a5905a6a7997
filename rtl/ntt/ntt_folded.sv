// SPDX-License-Identifier: MIT OR Apache-2.0
// A transform of N = 2^(High+Low) items, one item a cycle, or its inverse, modulo p = 2^(2B) - 2^B
// + 1.
//
//   X at place q = sum over t of x_t w^(T t),   T the bits of q in reversed order
//
// Inverse expects that order and returns x in natural order, divided by N.
//
// There are log2(N) ranks of one butterfly each, with memories of N words in total between them.
// They form two levels, 2^High times 2^Low items. Within a level, roots are powers of two
// (folded_rotator). Between the levels is the only multiplier (folded_twiddle). The inverse has the
// same stages in reverse order. Each memory is first in, first out, so two accesses never collide.
// Latency: ntt_pkg::folded_latency cycles with en_i, N - 1 of them in the memories. Rate: an item
// every cycle, blocks without gaps. Place 0 of a block arrives when the number of cycles with en_i
// since reset is Start plus a multiple of N.
module ntt_folded #(
    parameter int unsigned B       = 32,                     // a power of two, 4 to 32
    // High and Low are 1 to log2(2 B), and their sum is larger than that
    parameter int unsigned High    = 6,
    parameter int unsigned Low     = 6,
    parameter logic [65:0] Root    = 66'd24545942927815091,  // w; w^(N / 2B) = 8
    // 1: no multiplier; requires N = 4 B (folded_twiddle)
    parameter int unsigned Halves  = 0,
    parameter int unsigned Inverse = 0,
    parameter int unsigned Start   = 0,
    parameter int unsigned ATile   = 24                      // bits of pieces (wide_product)
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           en_i,
    input  logic [2*B-1:0] x_i,    // below p
    output logic [2*B-1:0] y_o     // below p
);
    localparam int unsigned Log = High + Low;
    localparam int unsigned A = 2 * B;

    if (High < 1 || Low < 1 || 1 << High > 2 * B || 1 << Low > 2 * B) $error("ntt_folded: High and Low are 1 to log2(2 B)");
    if (Inverse > 1) $error("ntt_folded: Inverse is 0 or 1");

    logic [A-1:0] x[Log + 1];
    assign x[0] = x_i;

    for (genvar j = 0; j < int'(Log); j++) begin : gen_rank
        // From the widest span to the narrowest, or in reverse.
        localparam int unsigned Rank = Inverse == 1 ? j : Log - 1 - j;
        localparam int unsigned Bottom = Rank >= Low ? Low : 0;
        localparam bit Turns = Rank != Bottom;
        localparam int unsigned Begin = Start + ntt_pkg::folded_ranks(B, High, Low, Inverse, j);
        logic [A-1:0] given, met;

        if (Inverse == 1 && Turns) begin : gen_turn_before
            folded_rotator #(
                .B      (B),
                .Rank   (Rank),
                .Low    (Bottom),
                .Inverse(1),
                .Start  (Begin)
            ) u_turn (
                .clk_i,
                .rst_ni,
                .en_i,
                .x_i(x[j]),
                .y_o(given)
            );
        end else begin : gen_straight_before
            assign given = x[j];
        end

        folded_butterfly #(
            .A    (A),
            .B    (B),
            .Span (1 << Rank),
            .Start(Begin + (Inverse == 1 && Turns ? ntt_pkg::ShiftLatency : 0))
        ) u_butterfly (
            .clk_i,
            .rst_ni,
            .en_i,
            .x_i(given),
            .y_o(met)
        );

        if (Inverse == 0 && Turns) begin : gen_turn
            folded_rotator #(
                .B    (B),
                .Rank (Rank),
                .Low  (Bottom),
                .Start(Begin + (1 << Rank) + 2)
            ) u_turn (
                .clk_i,
                .rst_ni,
                .en_i,
                .x_i(met),
                .y_o(x[j+1])
            );
        end else if (Rank == (Inverse == 1 ? Low - 1 : Low)) begin : gen_twiddle
            // Between the last rank of one level and the first of the other.
            folded_twiddle #(
                .B      (B),
                .High   (High),
                .Low    (Low),
                .Root   (Root),
                .Halves (Halves),
                .Inverse(Inverse),
                .Start  (Begin + (Inverse == 1 && Turns ? ntt_pkg::ShiftLatency : 0) + (1 << Rank) + 2),
                .ATile  (ATile)
            ) u_twiddle (
                .clk_i,
                .rst_ni,
                .en_i,
                .x_i(met),
                .y_o(x[j+1])
            );
        end else begin : gen_straight
            assign x[j+1] = met;
        end
    end

    assign y_o = x[Log];
endmodule
