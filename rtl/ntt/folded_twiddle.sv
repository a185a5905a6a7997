// SPDX-License-Identifier: MIT OR Apache-2.0
// The only rank of true products in a folded transform of N = 2^(High+Low). It multiplies item (k,
// n) by w^(k n), w of order N, or with Inverse by w^(-k n) / N. k is the bits of its place above
// Low in reversed order, n the bits below.
//
// Let R be the largest power of two that divides 6 B. Then 2^(6B/R) is a root of order R, and w is
// chosen so that w^(N/R) equals it. So w^e is one of the N / R powers in a table times a power of
// two: one multiplier and N / R constants. The power of two includes the division by N. With
// Halves, where N = 2 R, w is 2^(T/4) - 2^(3T/4) times a power of two (ntt_pkg), and two shifts and
// their difference replace the multiplier. Place and Start as in folded_butterfly. Latency:
// ntt_pkg::folded_twiddle_latency cycles with en_i. Rate: an item every cycle.
module folded_twiddle #(
    parameter int unsigned B       = 32,                      // p = 2^(2B) - 2^B + 1
    parameter int unsigned High    = 6,                       // bits of k
    parameter int unsigned Low     = 6,                       // bits of n
    parameter logic [65:0] Root    = 66'd24545942927815091,   // w
    // 1: Root is the square root of 8 composed of half powers of two
    parameter int unsigned Halves  = 0,
    parameter int unsigned Inverse = 0,
    parameter int unsigned Start   = 2,                       // at least 2
    // bits of pieces of a factor (wide_product)
    parameter int unsigned ATile   = 24
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
    localparam int unsigned Order = 2 * B;  // R, as B is a power of two
    localparam int unsigned Entries = (1 << Log) / Order;
    localparam int unsigned EntryBits = $clog2(Entries);
    localparam logic [65:0] P = ntt_pkg::modulus(2 * B, B);
    // 2 (2^(T/4) - 2^(3T/4)), T = 3 B.
    localparam int unsigned Quarter = 3 * B / 4;
    localparam logic [131:0] Difference = 132'(P) + 132'(ntt_pkg::power(66'd2, Quarter + 1, P)) - 132'(ntt_pkg::power(66'd2, 3 * Quarter + 1, P));
    localparam logic [65:0] HalfRoot = 66'(Difference % 132'(P));

    if (High < 1 || Low < 1 || Entries < 2) $error("folded_twiddle: High and Low are at least 1, and 2^(High+Low) more than 2 B");
    if (ntt_pkg::power(Root, Entries, P) != 66'd8) $error("folded_twiddle: Root is not of the order of the transform, or of another kind");
    if (Halves > 1 || (Halves == 1 && (Entries != 2 || Root != HalfRoot))) $error("folded_twiddle: Halves is 0, or 1 where Root is 2^(3/2)");
    if (Inverse > 1 || Start < 2) $error("folded_twiddle: Inverse is 0 or 1, Start at least 2");

    function automatic logic [Entries*Bits-1:0] powers();
        logic [131:0] power;
        power = 132'd1;
        for (int unsigned e = 0; e < Entries; e++) begin
            powers[e*Bits+:Bits] = power[Bits-1:0];
            power                = power * 132'(Root) % 132'(P);
        end
    endfunction
    localparam logic [Entries*Bits-1:0] Powers = powers();

    // The place runs two cycles ahead of the item. The exponent, which grows by k from place to
    // place, follows one cycle later, and the values derived from it two cycles later.
    logic [Log-1:0] place, exponent_q;
    logic [High-1:0] k;
    logic [ShiftBits-1:0] turn, turn_q;

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
            turn_q <= turn;
        end
    end

    if (Halves == 1) begin : gen_halves
        // Padded to the latency of the other variant: the latency is the same for all transform
        // lengths.
        localparam int unsigned Spare = ntt_pkg::folded_twiddle_latency(B) - ntt_pkg::ShiftLatency - 2;
        logic odd_q, odd;
        logic [ShiftBits:0] plus_turn, minus_turn;
        logic [ShiftBits-1:0] plus_shift, minus_shift;
        logic [Bits-1:0] plus, minus, unused_sum, y;

        always_ff @(posedge clk_i) begin
            if (en_i) odd_q <= exponent_q[0];
        end
        assign plus_turn   = {1'b0, turn_q} + (odd_q ? (ShiftBits + 1)'(Quarter + 1) : '0);
        assign minus_turn  = {1'b0, turn_q} + (ShiftBits + 1)'(3 * Quarter + 1);
        assign plus_shift  = ShiftBits'(plus_turn >= Whole ? plus_turn - Whole : plus_turn);
        assign minus_shift = ShiftBits'(minus_turn >= Whole ? minus_turn - Whole : minus_turn);

        variable_shift #(
            .B(B)
        ) u_plus (
            .clk_i,
            .en_i,
            .x_i,
            .shift_i(plus_shift),
            .y_o    (plus)
        );

        variable_shift #(
            .B(B)
        ) u_minus (
            .clk_i,
            .en_i,
            .x_i,
            .shift_i(minus_shift),
            .y_o    (minus)
        );

        delay_line #(
            .Width (1),
            .Cycles(ntt_pkg::ShiftLatency)
        ) u_odd (
            .clk_i,
            .en_i,
            .x_i(odd_q),
            .y_o(odd)
        );

        modular_pair #(
            .A(Bits),
            .B(B)
        ) u_pair (
            .clk_i,
            .en_i,
            .a_i         (plus),
            .b_i         (odd ? minus : '0),
            .sum_o       (unused_sum),
            .difference_o(y)
        );

        delay_line #(
            .Width (Bits),
            .Cycles(Spare)
        ) u_spare (
            .clk_i,
            .en_i,
            .x_i(y),
            .y_o
        );
    end else begin : gen_product
        logic [Bits-1:0] factor_q, x;
        logic [ShiftBits-1:0] shift;

        always_ff @(posedge clk_i) begin
            if (en_i) factor_q <= Powers[32'(exponent_q[EntryBits-1:0])*Bits+:Bits];
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
    end
endmodule
