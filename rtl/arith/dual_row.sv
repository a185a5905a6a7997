// SPDX-License-Identifier: MIT OR Apache-2.0
// The row of multipliers of a dual lane. It computes digit-serial Montgomery products back to back:
// all words of an iteration in parallel, one iteration per cycle, no multiplication in the
// quotient, and no cycle between a product's last iteration and the next one's first.
//
// The modulus M (odd, at most H bits) is scaled: u = -M^-1 mod 2^(W (D+1)), M' = u M, so that M' =
// -1 modulo 2^(W (D+1)), and mt = (M' + 1) / 2^(W (D+1)) <= M. With balanced digits b_0 to
// b_(Digits-1) of b, an addend z_i per step, S_0 = 0 and the balanced digit q_i = S_i modulo 2^W:
//
//   S_(i+1) = (S_i - q_i) / 2^W + q_(i-D) mt + b_i a + z_i
//
// Dropping q_i from S_i is the same as adding q_i M' and subtracting q_i mt D + 1 digits higher. It
// is exact, and leaves the digit D cycles to reach the sum. From iteration T = Digits + 1 on no q_i
// is used. The digits shifted out are then Lead = D + 2 digits of the result, not balanced; the
// words of the rest remain:
//
//   r = (a b + sum of z_i 2^(W i) + Q M') / R,   R = 2^(W Digits),   Q = sum of q_(i+1) 2^(W i),   |Q| <= 8/15 R.
//
// Words are rectangular like DSP blocks (18 x 25 bits, signed). Word j begins at bit floor(j W Lead
// / Period), with Period = ceil(W Lead / V) words per Lead digits, so the words that remain, from
// bit W Lead on, are cut like those of an operand. Sums are redundant (dual_word). a is exact, in
// two's complement.
//
// The operand a is assembled from digits (put_i), in any cycles, and becomes the multiplicand with
// load_i. The next one can be assembled in the meantime.
//
// Timing: S_i is available in cycle i, for i from 1 to Job = Digits + D + 2, and cycle Job is cycle
// 0 of the next product. load_i in cycle -3, b_i as digit_i in cycle i - 3, z_i as addend_i in
// cycle i - 1, clear_i in cycle 0, take_i in cycles 1 to T - 1. q_o = q_i in cycle i: digits of the
// quotient (balanced) in cycles 1 to T - 1, of the result (not balanced) in cycles T to Job. y_o in
// cycle Job.
//
// With Fold = 2 all cycles above are steps of two cycles. step_i is high in the second one, at
// whose end all registers change. y_o and q_o stay for both.
//
// Cost: Words + ceil(H Period / Span) multipliers, with Fold = 2 Words. With D = 2, q passes only
// the registers of the multipliers; larger D adds D - 2. Source: [Orup95].
module dual_row #(
    parameter int unsigned H = 512,  // bits of the modulus, at least W
    parameter int unsigned W = 18,   // bits of a digit, 4 to 32
    parameter int unsigned V = 24,   // bits of a word, at least W
    parameter int unsigned D = 2,    // cycles for a quotient digit to reach the sum, 2 to 4
    parameter int unsigned Fold = 1, // cycles per step, 1 or 2
    localparam int unsigned MtBits    = (H + W - 1) / W * W,
    localparam int unsigned Digits    = (H + W + 2) / W + D + 1,
    localparam int unsigned Span      = W * (D + 2),
    localparam int unsigned Period    = (Span + V - 1) / V,
    localparam int unsigned Words     = (Digits * W * Period + Span - 1) / Span,
    localparam int unsigned Upper     = Words - Period,
    localparam int unsigned B         = V + 2,
    localparam int unsigned IndexBits = $clog2(Digits)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 step_i,
    input  logic [MtBits-1:0]    mt_i,
    input  logic                 put_i,
    input  logic [IndexBits-1:0] put_index_i,
    input  logic [W-1:0]         put_digit_i,
    input  logic                 load_i,
    input  logic [W-1:0]         digit_i,
    input  logic signed [W+1:0]  addend_i,
    input  logic                 clear_i,
    input  logic                 take_i,
    output logic [W-1:0]         q_o,
    output logic [Upper*B-1:0]   y_o
);
    if (W < 4 || W > 32 || V < W || D < 2 || D > 4 || H < W) begin : gen_bad
        $error("dual_row: W must be 4 to 32, V at least W, D 2 to 4, H at least W");
    end

    if (Fold < 1 || Fold > 2) $error("dual_row: Fold is 1 or 2");

    // A constant where every cycle is a step: then tools that keep the hierarchy spend no logic on
    // it.
    logic step;
    assign step = Fold == 1 || step_i;

    // Words of mt, and mt padded with zeros.
    localparam int unsigned MtWords = (H * Period + Span - 1) / Span;
    localparam int unsigned MtRoom = (Words + 1) * V + MtBits;
    logic [MtRoom-1:0] mt;
    assign mt = MtRoom'(mt_i);

    // The next multiplicand.
    localparam int unsigned OpBits = Digits * W;
    localparam int unsigned WordBits = Words * Span / Period;
    logic [Digits-1:0][W-1:0] next_q;
    logic [WordBits-1:0] next;
    for (genvar k = 0; k < Digits; k++) begin : gen_next
        always_ff @(posedge clk_i) begin
            if (!rst_ni) next_q[k] <= '0;
            else if (step && put_i && put_index_i == IndexBits'(k)) next_q[k] <= put_digit_i;
        end
    end
    assign next = WordBits'($signed(OpBits'(next_q)));

    // The delay of the quotient digit: D - 2 registers.
    logic [W-1:0] q [D-1];
    logic take [D-1];
    assign q[0]    = q_o;
    assign take[0] = take_i;
    for (genvar k = 1; k + 1 < D; k++) begin : gen_q
        logic [W-1:0] q_q;
        logic take_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                q_q    <= '0;
                take_q <= 1'b0;
            end else if (step) begin
                q_q    <= q[k-1];
                take_q <= take[k-1];
            end
        end
        assign q[k]    = q_q;
        assign take[k] = take_q;
    end

    logic [W-1:0] low[Words+1];
    assign low[Words] = '0;
    assign q_o = low[0];

    for (genvar j = 0; j < Words; j++) begin : gen_word
        localparam int unsigned At = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        logic signed [Bits+2:0] y;
        dual_word #(
            .W    (W),
            .V    (Bits),
            .HasM (j < MtWords),
            .First(j == 0),
            .Fold (Fold)
        ) u_word (
            .clk_i,
            .rst_ni,
            .step_i (step),
            .load_i,
            .a_i    ({j == Words - 1 ? next[At+Bits-1] : 1'b0, next[At+:Bits]}),
            .b_i    (digit_i),
            .take_i (take[D-2]),
            .q_i    (q[D-2]),
            .mt_i   (j < MtWords ? mt[At+:Bits] : '0),
            .addend_i,
            .carry_i(take_i && q_o[W-1]),
            .clear_i,
            .low_i  (low[j+1]),
            .low_o  (low[j]),
            .y_o    (y)
        );
        if (j < Upper) begin : gen_y
            logic unused;
            assign unused = y[Bits+2];
            assign y_o[j*B+:B] = B'($signed(y[Bits+1:0]));
        end else begin : gen_no_y
            // Words beyond the digits of the result.
            logic unused;
            assign unused = ^y;
        end
    end
    logic unused_mt;
    assign unused_mt = ^mt[MtRoom-1:MtWords*Span/Period];
endmodule
