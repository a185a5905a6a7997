// SPDX-License-Identifier: MIT OR Apache-2.0
// A transform of N = 2^(High+Low) items, one item a cycle, or its inverse, modulo p = 2^(2B) -
// 2^B + 1.
//
//   X at place q is the sum over t of x_t w^(T t), T the bits of q in reversed order; Inverse takes that order and gives x in natural order, divided by N
//
// log2(N) butterflies, a rank each, with memories between them of N words together. Two levels:
// 2^High times 2^Low items. In each, roots are powers of two (folded_rotator); between them, items
// meet the only multiplier (folded_twiddle). The inverse is the same way back, element by element.
// The order within each memory is first in, first out, so that no two accesses ever meet. Latency
// ntt_pkg::folded_latency cycles with en_i, N - 1 of them those of the memories; an item every
// cycle, blocks without gaps. Place 0 of a block comes when the cycles with en_i since reset are a
// multiple of N plus Start.
module ntt_folded #(
    parameter int unsigned B       = 32,                     // a power of two, 4 to 32
    // High and Low are 1 to log2(2 B), and both together more
    parameter int unsigned High    = 6,
    parameter int unsigned Low     = 6,
    parameter logic [65:0] Root    = 66'd24545942927815091,  // w; w^(N / 2B) = 8
    // 1: no multiplier, where N = 4 B (folded_twiddle)
    parameter int unsigned Halves  = 0,
    parameter int unsigned Inverse = 0,
    parameter int unsigned Start   = 0,
    parameter int unsigned ATile   = 24                      // pieces of the factors (wide_product)
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
        // From the widest span to the narrowest, or back.
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
            // The last of the one level, before the first of the other.
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
