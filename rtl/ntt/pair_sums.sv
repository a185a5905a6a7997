// SPDX-License-Identifier: MIT OR Apache-2.0
// First part of addition recovery: adds neighbouring coefficients of a polynomial at 2^Base in
// pairs, until each word is the sum of Group of them.
//
//   word_i = sum over j < Group of z_(i Group + j) 2^(Base j)  <  2^(Bound + Base (Group - 1) + 1)
//
// Latency: log2(Group) cycles with en_i, one register per addition. Rate: an item every cycle.
// Source: [CMOOH13], fig. 4 (i), whose text says Group levels but means log2(Group).
module pair_sums #(
    parameter int unsigned K        = 64,  // coefficients
    parameter int unsigned Base     = 12,  // bits from one to the next
    parameter int unsigned Bound    = 29,  // bits of a coefficient, at least Base
    parameter int unsigned Group    = 4,   // a power of two, at least 2, that divides K
    localparam int unsigned WordBits = Bound + Base * (Group - 1) + 1
) (
    input  logic                              clk_i,
    input  logic                              en_i,
    input  logic [K-1:0][Bound-1:0]           z_i,
    output logic [K/Group-1:0][WordBits-1:0]  word_o
);
    if (Group < 2 || (Group & (Group - 1)) != 0 || K % Group != 0) $error("pair_sums: Group is a power of two, at least 2, that divides K");
    if (Base < 1 || Bound < Base) $error("pair_sums: Bound must be at least Base, Base at least 1");

    localparam int unsigned Levels = $clog2(Group);

    logic [K-1:0][WordBits-1:0] sum[Levels + 1];

    for (genvar k = 0; k < int'(K); k++) begin : gen_coefficient
        assign sum[0][k] = WordBits'(z_i[k]);
    end

    for (genvar l = 0; l < int'(Levels); l++) begin : gen_level
        // Bits between the two terms, and bits of their sum.
        localparam int unsigned Apart = Base << l;
        localparam int unsigned SumBits = Bound + Base * ((2 << l) - 1) + 1;

        for (genvar k = 0; k < int'(K >> (l + 1)); k++) begin : gen_sum
            logic [SumBits-1:0] sum_q;

            always_ff @(posedge clk_i) begin
                if (en_i) sum_q <= SumBits'(sum[l][2*k]) + (SumBits'(sum[l][2*k+1]) << Apart);
            end
            assign sum[l+1][k] = WordBits'(sum_q);
        end
    end

    assign word_o = sum[Levels][K/Group-1:0];

    // Each level has half as many.
    logic unused;
    always_comb begin
        unused = 1'b0;
        for (int unsigned l = 0; l <= Levels; l++) unused = unused & ^sum[l];
    end
endmodule
