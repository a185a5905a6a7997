// SPDX-License-Identifier: MIT OR Apache-2.0
// One word of a digit-serial Montgomery product (dual_row): two multipliers, each with its input,
// product and output registers, and a sum.
//
//   x <- floor(x / 2^W) + 2^(V-W) (x of the next word mod 2^W) + q mt + b a     (+ an addend and a carry in the lowest word)
//
// so that shifting the whole sum by a digit costs only wires and one addition. The digits q and b
// are balanced, -2^(W-1) to 2^(W-1) - 1. x is the output register of the multiplier of q. The
// product b a waits for a cycle in the output register of its own multiplier, and is added to x in
// y.
//
// Bounds, with beta = 2^W, gamma = 2^V >= beta >= 16, mt from 0 to gamma - 1, a from -gamma / 2 to
// gamma - 1, the addend within 3 beta / 2:
//   |x| < 2 beta gamma, by induction: the next |x| is at most beta gamma + 2 gamma + 1 + gamma + 3 beta / 2 + 1, which is less;
//   so |y_o| <= 3 gamma.
// When b and the addend have been 0 for D + 2 cycles and q for one, x was within beta gamma / 2 + 3
// gamma one cycle ago, is now from -gamma / 2 - 4 gamma / beta to 3 gamma / 2 + 4 gamma / beta, and
// y_o is from -gamma to 2 gamma - 1, as dual_digits requires.
//
// Registers: a, mt (A), b, q (B), the products (M), the product b a and x (P); by Yosys on xc7 two
// DSP48E1 with AREG, BREG, MREG and PREG. With Fold = 2 a step takes two cycles, and one multiplier
// computes both products: b a in a step's first cycle, q mt in its second one, in which step_i is
// high and all other registers change. Latency: 4 steps from b_i to x, 3 from q_i to x. The longest
// path: x, the addition of y, that of the product, the addition in the multiplier's block. All
// registers are reset.
module dual_word #(
    parameter int unsigned W     = 16,    // bits of a digit, 4 to 32
    parameter int unsigned V     = 16,    // bits of the word, at least W
    parameter bit          HasM  = 1'b1,  // whether mt has a word here
    parameter bit          First = 1'b0,  // whether the addend and the carry are added here
    parameter int unsigned Fold  = 1      // cycles per step: 1, or 2 for half the multipliers
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // the last cycle of a step: always, or every second cycle
    input  logic                step_i,
    input  logic                load_i,    // load a_i
    input  logic signed [V:0]   a_i,
    input  logic [W-1:0]        b_i,
    input  logic                take_i,    // use q_i, otherwise 0
    input  logic [W-1:0]        q_i,
    input  logic [V-1:0]        mt_i,
    input  logic signed [W+1:0] addend_i,  // one cycle before the product with b_i
    input  logic                carry_i,
    input  logic                clear_i,   // the next x includes nothing of this one
    input  logic [W-1:0]        low_i,     // x mod 2^W of the next word
    output logic [W-1:0]        low_o,
    output logic signed [V+2:0] y_o
);
    localparam int unsigned PBits = W + V + 1;
    localparam int unsigned XBits = W + V + 2;

    // A constant where every cycle is a step: then tools that keep the hierarchy spend no logic on
    // it.
    logic step;
    assign step = Fold == 1 || step_i;

    // b a.
    logic signed [V:0] a_q;
    logic signed [W-1:0] b_q;
    logic signed [PBits-1:0] ba_m_q, ba_p_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) a_q <= '0;
        else if (step && load_i) a_q <= a_i;
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) b_q <= '0;
        else if (step) b_q <= $signed(b_i);
    end
    if (First) begin : gen_addend
        always_ff @(posedge clk_i) begin
            if (!rst_ni) ba_p_q <= '0;
            else if (step) ba_p_q <= ba_m_q + PBits'(addend_i);
        end
    end else begin : gen_no_addend
        logic unused;
        assign unused = ^addend_i;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) ba_p_q <= '0;
            else if (step) ba_p_q <= ba_m_q;
        end
    end

    // The sum, shifted by a digit, with b a.
    logic signed [XBits-1:0] x_q, rest;
    logic signed [V+2:0] y;
    assign low_o = x_q[W-1:0];
    assign y_o   = y;
    if (First) begin : gen_carry
        // A single addition: the carry enters one position lower.
        logic signed [V+3:0] twice;
        assign twice = $signed({(V + 3)'($signed(x_q[XBits-1:W])), 1'b1}) + $signed({(V + 3)'(low_i) << (V - W), carry_i});
        assign y     = twice[V+3:1];
        logic unused;
        assign unused = twice[0];
    end else begin : gen_no_carry
        logic unused;
        assign unused = carry_i;
        assign y = (V + 3)'($signed(x_q[XBits-1:W])) + $signed((V + 3)'(low_i) << (V - W));
    end
    assign rest = XBits'(ba_p_q) + (clear_i ? '0 : XBits'(y));

    // The products.
    logic signed [PBits-1:0] qm_m_q;
    if (HasM) begin : gen_q
        logic signed [V:0] mt_q;
        logic signed [W-1:0] q_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) mt_q <= '0;
            else mt_q <= $signed({1'b0, mt_i});
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni || (step && !take_i)) q_q <= '0;
            else if (step) q_q <= $signed(q_i);
        end
        if (Fold == 1) begin : gen_two
            always_ff @(posedge clk_i) begin
                if (!rst_ni) begin
                    ba_m_q <= '0;
                    qm_m_q <= '0;
                end else begin
                    ba_m_q <= PBits'(b_q) * PBits'(a_q);
                    qm_m_q <= PBits'(q_q) * PBits'(mt_q);
                end
            end
        end else begin : gen_one
            logic signed [PBits-1:0] product_q;
            logic signed [V:0] wide;
            logic signed [W-1:0] digit;
            assign wide  = step ? mt_q : a_q;
            assign digit = step ? q_q : b_q;
            always_ff @(posedge clk_i) begin
                if (!rst_ni) begin
                    product_q <= '0;
                    ba_m_q    <= '0;
                    qm_m_q    <= '0;
                end else begin
                    product_q <= PBits'(digit) * PBits'(wide);
                    if (step) ba_m_q <= product_q;
                    else qm_m_q <= product_q;
                end
            end
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni) x_q <= '0;
            else if (step) x_q <= XBits'(qm_m_q) + rest;
        end
    end else begin : gen_no_q
        logic unused;
        assign unused = ^{take_i, q_i, mt_i, qm_m_q};
        assign qm_m_q = '0;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) ba_m_q <= '0;
            else if (step) ba_m_q <= PBits'(b_q) * PBits'(a_q);
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni) x_q <= '0;
            else if (step) x_q <= rest;
        end
    end
endmodule
