// SPDX-License-Identifier: MIT OR Apache-2.0
// One word of a digit-serial Montgomery row with up to two products and an addend (see dual_row): mont_word with signs, and wider than a digit.
//
//   x <- floor(x / 2^W) + 2^(V-W) (x of the next word mod 2^W) + q mt + b a + f e + addend
//
// so that a shift of the whole sum by a digit is wiring and one addition. Bounds, with beta = 2^W, gamma = 2^V >= beta >= 16, digits below beta, mt below
// gamma, a and e from -1 to gamma + 4 gamma / beta - 1, the addend between -beta and beta:
//   y_o <= floor(x / beta) + gamma - gamma / beta, the products together at most (beta - 1) (3 gamma + 8 gamma / beta), so x <= 3 beta gamma + 11 gamma
//   stays true and y_o < 5 gamma; x >= -4 beta stays true, as x >= -beta - 2 beta + y_o and y_o >= -4.
// Once q, b, f and the addend are 0, x is below 5 gamma and at least -4, and a cycle later y_o is from -1 to gamma + 4 gamma / beta - 1: as an operand has to be.
module dual_word #(
    parameter int unsigned W     = 16,    // bits of a digit, 4 to 32
    parameter int unsigned V     = 16,    // bits of the word, at least W
    parameter bit          HasM  = 1'b1,  // whether mt has a word here
    parameter int unsigned Terms = 2,     // products: 1 (b a) or 2
    parameter bit          First = 1'b0   // whether the addend comes in here
) (
    input  logic                clk_i,
    input  logic                clear_i,
    input  logic [W-1:0]        q_i,
    input  logic [V-1:0]        mt_i,
    input  logic [W-1:0]        b_i,
    input  logic signed [V+1:0] a_i,
    input  logic [W-1:0]        f_i,
    input  logic signed [V+1:0] e_i,
    input  logic signed [W:0]   addend_i,
    input  logic [W-1:0]        low_i,    // x mod 2^W of the next word
    output logic [W-1:0]        low_o,
    output logic signed [V+3:0] y_o
);
    localparam int unsigned XBits = W + V + 4;

    logic signed [XBits-1:0] x_q, m1, m2_q, m3;

    if (HasM) begin : gen_m1
        logic [W+V-1:0] m1_q;
        always_ff @(posedge clk_i) m1_q <= (W + V)'(q_i) * (W + V)'(mt_i);
        assign m1 = $signed(XBits'(m1_q));
    end else begin : gen_no_m1
        logic unused;
        assign unused = ^{q_i, mt_i};
        assign m1 = '0;
    end

    if (Terms == 2) begin : gen_m3
        logic signed [XBits-1:0] m3_q;
        always_ff @(posedge clk_i) m3_q <= XBits'($signed({1'b0, f_i})) * XBits'(e_i);
        assign m3 = m3_q;
    end else begin : gen_no_m3
        logic unused;
        assign unused = ^{f_i, e_i};
        assign m3 = '0;
    end

    logic signed [V+3:0] y;
    assign low_o = x_q[W-1:0];
    assign y     = (V + 4)'($signed(x_q[XBits-1:W])) + $signed((V + 4)'(low_i) << (V - W));
    assign y_o   = y;

    logic signed [XBits-1:0] sum;
    if (First) begin : gen_addend
        assign sum = m1 + (m2_q + (m3 + XBits'(y))) + XBits'(addend_i);
    end else begin : gen_no_addend
        logic unused;
        assign unused = ^addend_i;
        assign sum = m1 + (m2_q + (m3 + XBits'(y)));
    end

    always_ff @(posedge clk_i) begin
        m2_q <= XBits'($signed({1'b0, b_i})) * XBits'(a_i);
        if (clear_i) x_q <= '0;
        else x_q <= sum;
    end
endmodule
