// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by the powers of two between two ranks of a folded transform, modulo p = 2^(2B) - 2^B
// + 1. In blocks of 2^(Rank+1) items, the second half is multiplied by powers of a root of order
// 2^(Rank-Low+1), which is a power of two modulo p.
//
//   y = x 2^(n T / 2^(Rank-Low)),  or with the negated exponent if Inverse,   n the bits Rank - 1 to Low of the place,   T = 3 B
//
// Place and Start as in folded_butterfly. Latency: 4 cycles with en_i. Rate: an item every cycle.
module folded_rotator #(
    parameter int unsigned B       = 32,
    parameter int unsigned Rank    = 5,   // more than Low, at most Low + log2(T / 3)
    parameter int unsigned Low     = 0,
    parameter int unsigned Inverse = 0,   // 1: negated exponents
    parameter int unsigned Start   = 0
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           en_i,
    input  logic [2*B-1:0] x_i,    // below p
    output logic [2*B-1:0] y_o     // below p
);
    if (Rank <= Low || (B >> (Rank - Low)) << (Rank - Low) != B) $error("folded_rotator: Rank is more than Low, at most Low + log2(B)");
    if (Inverse > 1) $error("folded_rotator: Inverse is 0 or 1");

    localparam int unsigned ShiftBits = $clog2(6 * B);
    localparam logic [ShiftBits-1:0] Unit = ShiftBits'(3 * (B >> (Rank - Low)));

    logic [Rank:0] place;
    logic [ShiftBits-1:0] number, shift;

    place_counter #(
        .Count(2 << Rank),
        .Start(Start)
    ) u_place (
        .clk_i,
        .rst_ni,
        .en_i,
        .place_o(place)
    );

    assign number = place[Rank] ? ShiftBits'(place[Rank-1:Low]) * Unit : '0;
    assign shift  = Inverse == 1 && number != '0 ? ShiftBits'(6 * B) - number : number;

    variable_shift #(
        .B(B)
    ) u_shift (
        .clk_i,
        .en_i,
        .x_i,
        .shift_i(shift),
        .y_o
    );

    if (Low > 0) begin : gen_unused
        logic unused;
        assign unused = ^place[Low-1:0];
    end
endmodule
