// SPDX-License-Identifier: MIT OR Apache-2.0
// The one rank of true products in a folded transform of N = 2^(High+Low): item (k, n), k the bits above Low of its place in reversed order and n those below, times
// w^(k n), w of order N; or, with Inverse, times w^(-k n) / N.
//
// Where R is the largest power of two that divides 6 B, 2^(6B/R) is a root of order R, and w is chosen so that w^(N/R) is that one. So w^e is one of the N / R powers
// in a table times a power of two: one multiplier, N / R constants. The division by N is in the power of two.
// Place and Start as in folded_butterfly. Latency ntt_pkg::folded_twiddle_latency cycles with en_i; an item every cycle.
module folded_twiddle #(
    parameter int unsigned B       = 32,                      // p = 2^(2B) - 2^B + 1
    parameter int unsigned High    = 6,                       // bits of k
    parameter int unsigned Low     = 6,                       // bits of n
    parameter logic [65:0] Root    = 66'd24545942927815091,   // w
    parameter int unsigned Inverse = 0,
    parameter int unsigned Start   = 2,                       // at least 2
    parameter int unsigned ATile   = 24                       // pieces of the factors (wide_product)
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           en_i,
    input  logic [2*B-1:0] x_i,    // below p
    output logic [2*B-1:0] y_o     // below p
);
    localparam int unsigned Bits = 2 * B;
    localparam int unsigned Log = High + Low;
    localparam int unsigned ShiftBits = $clog2(6 * B);
    localparam int unsigned Order = 2 * B;  // R, as 3 divides no power of two
    localparam int unsigned Entries = (1 << Log) / Order;
    localparam int unsigned EntryBits = $clog2(Entries);
    localparam logic [65:0] P = ntt_pkg::modulus(2 * B, B);

    if (High < 1 || Low < 1 || Entries < 2) $error("folded_twiddle: High and Low are at least 1, and 2^(High+Low) more than 2 B");
    if (ntt_pkg::power(Root, Entries, P) != 66'd8) $error("folded_twiddle: Root is not of the order of the transform, or of another kind");
    if (Inverse > 1 || Start < 2) $error("folded_twiddle: Inverse is 0 or 1, Start at least 2");

    function automatic logic [Entries*Bits-1:0] powers();
        logic [131:0] power;
        power = 132'd1;
        for (int unsigned k = 0; k < Entries; k++) begin
            powers[k*Bits+:Bits] = power[Bits-1:0];
            power                = power * 132'(Root) % 132'(P);
        end
    endfunction
    localparam logic [Entries*Bits-1:0] Powers = powers();

    // Two cycles ahead of the item: the exponent, which grows by k from place to place, then its power from the table.
    logic [Log-1:0] place, exponent_q;
    logic [High-1:0] k;
    logic [Bits-1:0] factor_q, x;
    logic [ShiftBits-1:0] turn, turn_q, shift;

    place_counter #(
        .Count(1 << Log),
        .Start(Start + (1 << Log) - 2)
    ) u_place (
        .clk_i,
        .rst_ni,
        .en_i,
        .place_o(place)
    );

    for (genvar b = 0; b < int'(High); b++) begin : gen_reverse
        assign k[b] = place[Log-1-b];
    end

    // 2^3 is the root of order R.
    localparam logic [ShiftBits:0] Whole = (ShiftBits + 1)'(6 * B);
    logic [ShiftBits:0] plain, scaled;
    assign plain  = (ShiftBits + 1)'(exponent_q[Log-1:EntryBits]) * (ShiftBits + 1)'(3);
    assign scaled = Inverse == 0 ? plain : plain + Whole - (ShiftBits + 1)'(Log);
    assign turn   = ShiftBits'(scaled >= Whole ? scaled - Whole : scaled);

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            if (place[Low-1:0] == '0) exponent_q <= '0;
            else exponent_q <= Inverse == 1 ? exponent_q - Log'(k) : exponent_q + Log'(k);
            factor_q   <= Powers[32'(exponent_q[EntryBits-1:0])*Bits+:Bits];
            turn_q     <= turn;
        end
    end

    modular_product #(
        .A    (2 * B),
        .B    (B),
        .ATile(ATile)
    ) u_product (
        .clk_i,
        .en_i,
        .a_i(x_i),
        .b_i(factor_q),
        .y_o(x)
    );

    delay_line #(
        .Width (ShiftBits),
        .Cycles(ntt_pkg::product_latency(2 * B, B, 0))
    ) u_turn (
        .clk_i,
        .en_i,
        .x_i(turn_q),
        .y_o(shift)
    );

    variable_shift #(
        .B(B)
    ) u_shift (
        .clk_i,
        .en_i,
        .x_i    (x),
        .shift_i(shift),
        .y_o
    );
endmodule
