// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of half a product of dual numbers (dual_lane): mont_row with signed words, a second product and an addend, and words wider than a digit.
//
//   S_(i+1) = floor(S_i / 2^W) + q_(i-D) mt + b_i a + f_i e + addend_i
//
// so that the result is (a b + e f + sum of addend_i 2^(W i) + Q M') / R with 0 <= Q < R. Constants and timing are those of mont_row, the
// addend of step i in cycle i + 2.
//
// Multipliers are rectangular: a digit of W bits times a word of up to V bits, as DSP blocks are (17 times 23 bits and a sign). S and the operands a, e are cut
// at the same places: word j begins at bit floor(j W Lead / Period), with Lead = D + 2 and Period = ceil(W Lead / V) words to Lead digits. The lowest Lead digits of
// the result come one by one, so the words y_o of the rest, which count from bit W Lead, are cut where an operand is: they are its words from Period
// on as they stand. With V = W a word is a digit.
//
// Words are signed and of V + 2 bits, from -1 to 2^v + 4 * 2^(v-W) - 1 for one of v bits (dual_word).
module dual_row #(
    parameter int unsigned N     = 512,  // bits of the modulus, at least W
    parameter int unsigned W     = 16,   // bits of a digit, 4 to 32
    parameter int unsigned V     = W,    // bits of a word, at least W
    parameter int unsigned D     = 2,    // cycles a quotient digit has to reach the multipliers, 1 to 4
    parameter int unsigned Terms = 2,    // products
    localparam int unsigned MtBits = (N + W - 1) / W * W,
    localparam int unsigned Span   = W * (D + 2),
    localparam int unsigned Period = (Span + V - 1) / V,
    localparam int unsigned Words  = ((N + W * (D + 1) + 1) * Period + Span - 1) / Span,
    localparam int unsigned Upper  = Words - Period,
    localparam int unsigned B      = V + 2
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               clear_i,
    input  logic               take_q_i,
    input  logic [MtBits-1:0]  mt_i,
    input  logic [Words*B-1:0] a_i,
    input  logic [W-1:0]       b_i,
    input  logic [Words*B-1:0] e_i,
    input  logic [W-1:0]       f_i,
    input  logic signed [W:0]  addend_i,
    output logic [W-1:0]       q_o,
    output logic [W-1:0]       taken_q_o,  // q_o where it counts, otherwise 0
    output logic [Upper*B-1:0] y_o
);
    if (W < 4 || W > 32 || V < W || D < 1 || D > 4 || N < W || Terms < 1 || Terms > 2) begin : gen_bad
        $error("dual_row: W must be 4 to 32, V at least W, D 1 to 4, N at least W, Terms 1 or 2");
    end

    // Words that mt has, and mt with room above.
    localparam int unsigned MtWords = (N * Period + Span - 1) / Span;
    localparam int unsigned MtRoom  = (Words + 1) * V + MtBits;
    logic [MtRoom-1:0] mt;
    assign mt = MtRoom'(mt_i);

    logic [W-1:0] q [D > 1 ? D - 1 : 1];
    assign taken_q_o = take_q_i ? q_o : '0;
    assign q[0]      = taken_q_o;
    for (genvar k = 1; k + 1 < D; k++) begin : gen_q
        logic [W-1:0] q_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) q_q <= '0;
            else q_q <= q[k-1];
        end
        assign q[k] = q_q;
    end

    // What a group of words multiplies by.
    localparam int unsigned Group  = 6;
    localparam int unsigned Groups = (Words + Group - 1) / Group;
    logic [W-1:0] group_q [Groups];
    logic [W-1:0] group_b [Groups];
    logic [W-1:0] group_f [Groups];
    for (genvar g = 0; g < Groups; g++) begin : gen_group
        digit_register #(.W(W)) u_b (.clk_i, .rst_ni, .d_i(b_i), .q_o(group_b[g]));
        if (Terms == 2) begin : gen_f
            digit_register #(.W(W)) u_f (.clk_i, .rst_ni, .d_i(f_i), .q_o(group_f[g]));
        end else begin : gen_no_f
            assign group_f[g] = f_i;
        end
        if (D > 1) begin : gen_q
            digit_register #(.W(W)) u_q (.clk_i, .rst_ni, .d_i(q[D-2]), .q_o(group_q[g]));
        end else begin : gen_direct
            assign group_q[g] = q[0];
        end
    end

    logic [W-1:0] low [Words+1];
    assign low[Words] = '0;
    assign q_o = low[0];

    for (genvar j = 0; j < Words; j++) begin : gen_word
        localparam int unsigned At   = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        logic signed [Bits+3:0] y;
        dual_word #(
            .W    (W),
            .V    (Bits),
            .HasM (j < MtWords),
            .Terms(Terms),
            .First(j == 0)
        ) u_word (
            .clk_i,
            .clear_i,
            .q_i     (group_q[j/Group]),
            .mt_i    (j < MtWords ? mt[At+:Bits] : '0),
            .b_i     (group_b[j/Group]),
            .a_i     (a_i[j*B+:Bits+2]),
            .f_i     (group_f[j/Group]),
            .e_i     (e_i[j*B+:Bits+2]),
            .addend_i,
            .low_i   (low[j+1]),
            .low_o   (low[j]),
            .y_o     (y)
        );
        if (j < Upper) begin : gen_y
            logic unused;
            assign unused = ^y[Bits+3:Bits+2];
            assign y_o[j*B+:B] = B'($signed(y[Bits+1:0]));
        end else begin : gen_no_y
            logic unused;
            assign unused = ^y;
        end
        if (Bits < V) begin : gen_narrow
            // Copies of the sign.
            logic unused_sign;
            assign unused_sign = ^{a_i[j*B+Bits+2+:V-Bits], e_i[j*B+Bits+2+:V-Bits]};
        end
    end
    logic unused_mt;
    assign unused_mt = ^mt[MtRoom-1:MtWords*Span/Period];
endmodule
