// SPDX-License-Identifier: MIT OR Apache-2.0
// The only rank of true products in a transform of N / 2^skip_i items, N = 2^(High+Low), modulo p =
// 2^64 - 2^32 + 1. It multiplies item (k, n) by w^(2^skip_i k n), w of order N. k is the bits of
// its place above Low in reversed order, n the bits below.
//
// As in folded_twiddle, w^e is one of the N / 64 powers in a table times a power of two. A shorter
// block does not use the skip_i top bits of a place of N. They are the lowest bits of k, which are
// then zero. Place and Start as in folded_butterfly. Latency: ntt_pkg::folded_twiddle_latency
// cycles. Rate: an item every cycle.
module lengths_twiddle #(
    parameter int unsigned High  = 6,                       // bits of k
    parameter int unsigned Low   = 5,                       // bits of n
    parameter logic [65:0] Root  = 66'd14015793041123991766,  // w
    parameter int unsigned Start = 2,                       // at least 2
    parameter int unsigned ATile = 24                       // bits of pieces (wide_product)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [ 2:0] skip_i,
    input  logic [63:0] x_i,     // below p
    output logic [63:0] y_o      // below p
);
    localparam int unsigned Log = High + Low;
    localparam int unsigned EntryBits = Log - 6;
    localparam logic [65:0] P = ntt_pkg::modulus(64, 32);

    if (High < 1 || Low < 1 || Log < 7) $error("lengths_twiddle: High and Low are at least 1, and more than 6 together");
    if (ntt_pkg::power(Root, 1 << EntryBits, P) != 66'd8) $error("lengths_twiddle: Root is not of the order of the transform, or of another kind");
    if (Start < 2) $error("lengths_twiddle: Start is at least 2");

    function automatic logic [(64<<EntryBits)-1:0] powers();
        logic [131:0] power;
        power = 132'd1;
        for (int unsigned e = 0; e < 1 << EntryBits; e++) begin
            powers[e*64+:64] = power[63:0];
            power            = power * 132'(Root) % 132'(P);
        end
    endfunction
    localparam logic [(64<<EntryBits)-1:0] Powers = powers();

    // The place runs two cycles ahead of the item. The exponent, which grows by k from place to
    // place, follows one cycle later, and the values derived from it two cycles later.
    logic [Log-1:0] place, exponent_q;
    logic [High-1:0] k;
    logic [7:0] turn_q, shift;
    logic [63:0] factor_q, x;

    place_counter #(
        .Count(1 << Log),
        .Start(Start + (1 << Log) - 2)
    ) u_place (
        .clk_i,
        .rst_ni,
        .en_i   (1'b1),
        .place_o(place)
    );

    for (genvar b = 0; b < int'(High); b++) begin : gen_reverse
        assign k[b] = place[Log-1-b] && skip_i <= 3'(b);
    end

    always_ff @(posedge clk_i) begin
        if (place[Low-1:0] == '0) exponent_q <= '0;
        else exponent_q <= exponent_q + Log'(k);
        // 2^3 is the root of order 64.
        turn_q   <= 8'(exponent_q[Log-1:EntryBits]) * 8'd3;
        factor_q <= Powers[32'(exponent_q[EntryBits-1:0])*64+:64];
    end

    modular_product #(
        .ATile(ATile)
    ) u_product (
        .clk_i,
        .en_i(1'b1),
        .a_i (x_i),
        .b_i (factor_q),
        .y_o (x)
    );

    delay_line #(
        .Width (8),
        .Cycles(ntt_pkg::product_latency(64, 32, 0))
    ) u_turn (
        .clk_i,
        .en_i(1'b1),
        .x_i (turn_q),
        .y_o (shift)
    );

    variable_shift u_shift (
        .clk_i,
        .en_i   (1'b1),
        .x_i    (x),
        .shift_i(shift),
        .y_o
    );
endmodule
