// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of a digit-serial Montgomery product: all words of an iteration in parallel, one
// iteration per cycle, and no multiplication in the quotient.
//
// The modulus M (odd, at most N bits) is scaled: u = -M^-1 mod 2^(W (D+1)), M' = u M, so that M' =
// -1 modulo 2^(W (D+1)), and mt = (M' + 1) / 2^(W (D+1)) <= M. With b_0, b_1, ... the digits of b
// (zero from b_Digits on), q_i = S_i mod 2^W and S_0 = 0:
//
//   S_(i+1) = floor(S_i / 2^W) + q_(i-D) mt + b_i a
//
// Dropping q_i from S_i is the same as adding q_i M' and subtracting q_i mt D + 1 digits higher. It
// is exact, and leaves the digit D cycles to reach the multipliers. After T iterations and D more
// without new quotient digits,
//
//   r = sum_(k <= D) q_(T+k) 2^(W k) + 2^(W (D+1)) floor(S_(T+D) / 2^W) = (a b + Q M') / 2^(W (T-1)),    0 <= Q < 2^(W (T-1)).
//
// Bound: a, b < 2 M' and 4 M' <= R = 2^(W (T-1)) give r < 4 M'^2 / R + M' <= 2 M'. T - 1 =
// ceil((N+2)/W) + D + 1 makes R large enough, since M' < 2^(N + W (D+1)). With b = 1, r <= M'.
//
// Multipliers are rectangular like DSP blocks: a digit of W bits times a word of up to V bits (an
// unsigned DSP48E1: 17 times 24 bits, an ECP5's: 18 times 18). S, a and mt are cut at the same
// positions: word j begins at bit floor(j Span / Period). The sum is kept in words (mont_word), and
// only its lowest W bits must be exact, which they are. The result appears as digits q_o (exact,
// lowest first) and, in the last cycle, as words y_o of the rest, which start at bit W (D+2). Each
// is at most 2^v + 2^(v-W) + 1, if it has v bits.
//   Chained: the result can be an operand unchanged. Span = W (D+2), Period = ceil(Span / V): the words of the rest are those of an operand from Period on.
//   Otherwise words have V bits (Span = V, Period = 1), a is not redundant, and y_o comes one cycle later, from registers.
//
// The path of a digit of q: from the sum through D - 2 - 2 Near registers into the register of each
// multiplier, its product and the sum. Each group of words has its own copy of the last of those
// registers, to be placed near them. The other signals that all words need come one cycle ahead
// through such a register per group.
//
// Where multipliers are far from other logic, Near adds a register on each of their sides
// (mont_word). Then all cycles given below from 0 on are two later, except those of b_i, a_i and
// load_i.
//
// Timing, in cycles from 0: b_i = digit b_k in cycle k - 1. a_i up to cycle 0, loaded by load_i one
// cycle earlier; the last load counts, and none may come between it and the last digit of b. mt_i
// is stable. clear_i in cycle 0; take_q_i in cycles 2 to T + 1 (q_o = q_i in cycle i + 2); q_T to
// q_(T+D+1) in cycles T + 2 to T + D + 3; y_o in cycle T + D + 3, or T + D + 4 if not Chained.
// hold_i makes the row keep its state one cycle later.
//
// Cost: MtWords + Words multipliers of W x V (W x (V+1) for Words of them if Chained). Source:
// [Orup95].
module mont_row #(
    parameter int unsigned N       = 1024,  // bits of the modulus, at least W
    parameter int unsigned W       = 16,    // bits of a digit, 4 to 32
    parameter int unsigned V       = W,     // bits of a word, W to 2 W - 1
    // cycles for a quotient digit to reach the multipliers' sum, 2 + 2 Near to 6
    parameter int unsigned D       = 2,
    parameter bit          Chained = 1'b1,
    parameter int unsigned Near    = 0,     // 1: extra registers on each side of every multiplier
    localparam int unsigned MtBits = (N + W - 1) / W * W,
    localparam int unsigned Span   = Chained ? W * (D + 2) : V,
    localparam int unsigned Period = (Span + V - 1) / V,
    localparam int unsigned Words  = ((N + W * (D + 1) + 1) * Period + Span - 1) / Span,
    localparam int unsigned Upper  = ((N + 1 - W) * Period + Span - 1) / Span,
    localparam int unsigned ABits  = Chained ? V + 1 : V
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   clear_i,
    input  logic                   hold_i,
    input  logic                   load_i,
    input  logic                   take_q_i,
    input  logic [MtBits-1:0]      mt_i,
    input  logic [Words*ABits-1:0] a_i,
    input  logic [W-1:0]           b_i,
    output logic [W-1:0]           q_o,
    output logic [Upper*(V+1)-1:0] y_o
);
    if (W < 4 || W > 32) begin : gen_bad_w
        $error("mont_row: W must be 4 to 32");
    end
    if (V < W || V > 2 * W - 1) begin : gen_bad_v
        $error("mont_row: V must be W to 2 W - 1");
    end
    if (Near > 1) begin : gen_bad_near
        $error("mont_row: Near must be 0 or 1");
    end
    if (D < 2 + 2 * Near || D > 6) begin : gen_bad_d
        $error("mont_row: D must be 2 + 2 Near to 6");
    end
    if (N < W) begin : gen_bad_n
        $error("mont_row: N must be at least W");
    end

    // Words of mt, and mt padded with zeros.
    localparam int unsigned MtWords = (N * Period + Span - 1) / Span;
    localparam int unsigned MtRoom = MtWords * V + MtBits;
    logic [MtRoom-1:0] mt;
    assign mt = MtRoom'(mt_i);

    // Registers of a digit of q before those at the multipliers.
    localparam int unsigned OnWay = D > 2 + 2 * Near ? D - 2 - 2 * Near : 0;

    // Decided once here for all words.
    logic drop_q;
    assign drop_q = OnWay > 0 ? !rst_ni : !rst_ni || !take_q_i;

    // The multiplier operands per group of words. The last register on the path of a digit of q
    // belongs to the group.
    localparam int unsigned Group = 12;
    localparam int unsigned Groups = (Words + Group - 1) / Group;
    logic [W-1:0] group_q [Groups];
    logic [W-1:0] group_b [Groups];
    logic [Groups-1:0] clear, step, load;
    for (genvar g = 0; g < Groups; g++) begin : gen_group
        digit_register #(
            .W(W)
        ) u_b (
            .clk_i,
            .rst_ni,
            .d_i(b_i),
            .q_o(group_b[g])
        );

        logic clear_q, step_q, load_q;
        (* keep *)
        always_ff @(posedge clk_i) begin
            if (!rst_ni) {clear_q, step_q, load_q} <= 3'b111;
            else {clear_q, step_q, load_q} <= {clear_i, !hold_i, load_i};
        end
        assign {clear[g], step[g], load[g]} = {clear_q, step_q, load_q};
    end
    if (OnWay > 0) begin : gen_way
        logic [W-1:0] q[OnWay];
        assign q[0] = take_q_i ? q_o : '0;
        for (genvar k = 1; k < OnWay; k++) begin : gen_q
            logic [W-1:0] q_q;
            always_ff @(posedge clk_i) begin
                if (!rst_ni) q_q <= '0;
                else q_q <= q[k-1];
            end
            assign q[k] = q_q;
        end
        for (genvar g = 0; g < Groups; g++) begin : gen_group
            digit_register #(
                .W(W)
            ) u_q (
                .clk_i,
                .rst_ni,
                .d_i(q[OnWay-1]),
                .q_o(group_q[g])
            );
        end
    end else begin : gen_direct
        for (genvar g = 0; g < Groups; g++) begin : gen_group
            assign group_q[g] = q_o;
        end
    end

    logic [W:0] low[Words+1];
    assign low[Words] = '0;
    assign q_o = low[0][W-1:0];

    for (genvar j = 0; j < Words; j++) begin : gen_word
        localparam int unsigned At = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        // A non-redundant number has nothing above its bits.
        localparam int unsigned OwnBits = Chained ? Bits + 1 : Bits;
        logic [Bits+1:0] y;
        mont_word #(
            .W    (W),
            .V    (Bits),
            .ABits(OwnBits),
            .HasM (j < MtWords),
            .First(j == 0),
            .Late (!Chained),
            .Near (Near)
        ) u_word (
            .clk_i,
            .rst_ni,
            .clear_i (clear[j/Group]),
            .step_i  (step[j/Group]),
            .load_i  (load[j/Group]),
            .drop_q_i(drop_q),
            .q_i     (group_q[j/Group]),
            .mt_i    (j < MtWords ? mt[(j<MtWords?At : 0)+:Bits] : '0),
            .b_i     (group_b[j/Group]),
            .a_i     (a_i[j*ABits+:OwnBits]),
            .low_i   (low[j+1]),
            .low_o   (low[j]),
            .y_o     (y)
        );
        if (j < Upper) begin : gen_y
            // The top bit is 0 in the cycle in which y_o is used.
            logic unused;
            assign unused = y[Bits+1];
            assign y_o[j*(V+1)+:V+1] = (V + 1)'(y[Bits:0]);
        end else begin : gen_no_y
            // 0 in the cycle in which y_o is used, since r fits the words of an operand.
            logic unused;
            assign unused = ^y;
        end
        if (OwnBits < ABits) begin : gen_narrow
            // 0 in a word that is narrower than others.
            logic unused_a;
            assign unused_a = ^a_i[j*ABits+OwnBits+:ABits-OwnBits];
        end
    end
    logic unused_mt;
    assign unused_mt = ^{mt[MtRoom-1:MtWords*Span/Period], low[0][W]};
endmodule
