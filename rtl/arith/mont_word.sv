// SPDX-License-Identifier: MIT OR Apache-2.0
// One word of a digit-serial Montgomery product in redundant form (see mont_row).
//
//   x <- floor(x / 2^W) + 2^0 * (x of the next word mod 2^W) + m1 + m2,    m1 <- q mt,    m2 <- b a.
//
// The first two terms are the running sum, a digit further down. One multiplication or one three-term addition a cycle; written so
// that two DSP blocks with their post-adders take all but the addition that gives y_o.
//
// Bounds, with beta = 2^W, digits and mt below beta, a at most beta + 2: y_o <= 3 beta + 2 and x <= 2 beta^2 + 3 beta.
// Proof: x <= 2 beta^2 + 3 beta gives floor(x / beta) <= 2 beta + 3, so y_o <= 3 beta + 2; m1 + m2 <= (beta - 1)(2 beta + 1); together
// at most 2 beta^2 + 2 beta + 1. A cleared word is 0.
module mont_word #(
    parameter int unsigned W    = 16,   // bits of a digit, 4 to 32
    parameter bit          HasM = 1'b1  // whether mt has a word here
) (
    input  logic         clk_i,
    input  logic         clear_i,  // x <- 0
    input  logic         hold_i,   // x stays
    input  logic [W-1:0] q_i,
    input  logic [W-1:0] mt_i,
    input  logic [W-1:0] b_i,
    input  logic [W:0]   a_i,
    input  logic [W-1:0] low_i,    // x mod 2^W of the next word
    output logic [W-1:0] low_o,
    output logic [W+1:0] y_o
);
    localparam int unsigned XBits = 2 * W + 2;

    logic [XBits-1:0] x_q, m1, m2_q;

    if (HasM) begin : gen_m1
        logic [2*W-1:0] m1_q;
        always_ff @(posedge clk_i) m1_q <= (2*W)'(q_i) * (2*W)'(mt_i);
        assign m1 = XBits'(m1_q);
    end else begin : gen_no_m1
        // Above the modulus there is nothing to multiply.
        logic unused;
        assign unused = ^{q_i, mt_i};
        assign m1 = '0;
    end

    assign low_o = x_q[W-1:0];
    assign y_o   = x_q[XBits-1:W] + (W + 2)'(low_i);

    always_ff @(posedge clk_i) begin
        m2_q <= XBits'((2*W+1)'(b_i) * (2*W+1)'(a_i));
        if (clear_i) x_q <= '0;
        else if (!hold_i) x_q <= m1 + (m2_q + XBits'(y_o));
    end
endmodule
