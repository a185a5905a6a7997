// SPDX-License-Identifier: MIT OR Apache-2.0
// One word of a digit-serial Montgomery product in redundant form (see mont_row): two multipliers,
// each with registers at its inputs (a_q, b_q; mt_q, q_q), after the product (m2_q; m1_q) and at
// its output. The output registers are sums:
//
//   p <- floor(p / 2^W) + b a
//   x <- floor(x / 2^W) + 2^(V-W) (low digits of the next word) + q mt,    low digits of a word: (x mod 2^W) + (p mod 2^W)
//
// The sum of a row is that of its x and p. The digit that leaves p each cycle goes to the word
// below, so only a wire leads from p back to its own multiplier, and p is 0 three cycles after the
// last b. The carry of the lowest word's low digits beyond 2^W returns to its x (First).
//
// This maps to two DSP blocks with all their registers and both post-adders. Outside of them, two
// additions of about W bits lie between one register and the next.
//
// Near: if the multiplier lies far from other logic, it gets another register at each input and
// another after the product, and only these must be near it.
//
// The hierarchy is kept. Otherwise synthesis would merge the registers of the same digit in several
// words, and each must be in or near its multiplier.
//
// Bounds, with beta = 2^W, gamma = 2^V, beta <= gamma <= beta^2 / 2, beta >= 16, digits below beta,
// mt below gamma, a at most gamma + gamma / beta + 1:
//   p <= beta (gamma + gamma / beta + 1), since (beta - 1) (gamma + gamma / beta + 1) and a beta-th of that bound give no more;
//   x <= beta gamma + 3 gamma and y <= 3 gamma + gamma / beta + 1, the next x without q mt. Proof: floor(x / beta) <= gamma + 3 gamma / beta, two digits and a carry are at most
//   2 (gamma - gamma / beta) + 1, which gives y; q mt <= (beta - 1) (gamma - 1) on top gives beta gamma + 2 gamma + gamma / beta + 2 - beta < beta gamma + 3 gamma.
// p and x fit W + V + 1 bits, y fits V + 2. Once p and q are 0, y <= 2 gamma + 2 gamma / beta, and
// a cycle later y <= gamma + gamma / beta + 1, as an operand must be: its bit V + 1 is 0.
(* keep_hierarchy *)
module mont_word #(
    parameter int unsigned W      = 16,     // bits of a digit, 4 to 32
    parameter int unsigned V      = W,      // bits of the word, W to 2 W - 1
    // bits of a: V for a non-redundant number's word, V + 1 for a redundant one's
    parameter int unsigned ABits  = V + 1,
    parameter bit          HasM   = 1'b1,   // whether mt has a word here
    parameter bit          First  = 1'b0,   // whether there is no word below
    parameter bit          Late   = 1'b0,   // whether y_o comes from x, one cycle later
    // 1: one more register on each side of both multipliers, near them
    parameter int unsigned Near   = 0
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             clear_i,   // x, p <- 0
    input  logic             step_i,    // update x, p; otherwise they stay
    input  logic             load_i,    // a_q <- a
    input  logic             drop_q_i,  // q_q <- 0; also while rst_ni is low
    input  logic [W-1:0]     q_i,
    input  logic [V-1:0]     mt_i,
    input  logic [W-1:0]     b_i,
    input  logic [ABits-1:0] a_i,
    input  logic [W:0]       low_i,     // low_o of the next word
    output logic [W:0]       low_o,
    output logic [V+1:0]     y_o        // the next x without q mt; if Late, x itself
);
    localparam int unsigned XBits = W + V + 1;

    logic [W-1:0] b_q, b;
    logic [ABits-1:0] a_q, a;
    logic [W+ABits-1:0] m2_q, m2;
    logic [XBits-1:0] p_q, x_q;
    logic [V+1:0] y;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) b_q <= '0;
        else b_q <= b_i;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) a_q <= '0;
        else if (load_i) a_q <= a_i;
    end

    if (Near == 1) begin : gen_near
        logic [W-1:0] near_b_q;
        logic [ABits-1:0] near_a_q;
        logic [W+ABits-1:0] far_m2_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                near_b_q <= '0;
                near_a_q <= '0;
                far_m2_q <= '0;
            end else begin
                near_b_q <= b_q;
                near_a_q <= a_q;
                far_m2_q <= m2_q;
            end
        end
        assign b  = near_b_q;
        assign a  = near_a_q;
        assign m2 = far_m2_q;
    end else begin : gen_direct
        assign b  = b_q;
        assign a  = a_q;
        assign m2 = m2_q;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) m2_q <= '0;
        else m2_q <= (W + ABits)'(b) * (W + ABits)'(a);
    end

    always_ff @(posedge clk_i) begin
        if (clear_i) p_q <= '0;
        else if (step_i) p_q <= XBits'(m2) + (p_q >> W);
    end

    assign low_o = (W + 1)'(x_q[W-1:0]) + (W + 1)'(p_q[W-1:0]);
    if (First) begin : gen_first
        assign y = (V + 2)'(x_q[XBits-1:W]) + ((V + 2)'(low_i) << (V - W)) + (V + 2)'(low_o[W]);
    end else begin : gen_later
        assign y = (V + 2)'(x_q[XBits-1:W]) + ((V + 2)'(low_i) << (V - W));
    end

    assign y_o = Late ? x_q[V+1:0] : y;

    if (HasM) begin : gen_m
        logic [W-1:0] q_q, q;
        logic [V-1:0] mt_q, mt;
        logic [W+V-1:0] m1_q, m1;

        always_ff @(posedge clk_i) begin
            if (drop_q_i) q_q <= '0;
            else q_q <= q_i;
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni) mt_q <= '0;
            else mt_q <= mt_i;
        end

        if (Near == 1) begin : gen_near
            logic [W-1:0] near_q_q;
            logic [V-1:0] near_mt_q;
            logic [W+V-1:0] far_m1_q;
            always_ff @(posedge clk_i) begin
                if (!rst_ni) begin
                    near_q_q  <= '0;
                    near_mt_q <= '0;
                    far_m1_q  <= '0;
                end else begin
                    near_q_q  <= q_q;
                    near_mt_q <= mt_q;
                    far_m1_q  <= m1_q;
                end
            end
            assign q  = near_q_q;
            assign mt = near_mt_q;
            assign m1 = far_m1_q;
        end else begin : gen_direct
            assign q  = q_q;
            assign mt = mt_q;
            assign m1 = m1_q;
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni) m1_q <= '0;
            else m1_q <= (W + V)'(q) * (W + V)'(mt);
        end

        always_ff @(posedge clk_i) begin
            if (clear_i) x_q <= '0;
            else if (step_i) x_q <= XBits'(m1) + XBits'(y);
        end
    end else begin : gen_no_m
        // Above the modulus there is nothing to multiply.
        logic unused;
        assign unused = ^{q_i, mt_i, drop_q_i};

        always_ff @(posedge clk_i) begin
            if (clear_i) x_q <= '0;
            else if (step_i) x_q <= XBits'(y);
        end
    end
endmodule
