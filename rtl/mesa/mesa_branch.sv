// SPDX-License-Identifier: MIT OR Apache-2.0
// One branch of MESA: the part modulo p^2 (or q^2), and its share of the plaintext modulo n.
//
//   residue = L(c^(p-1) mod p^2) t mod n,   L(x) = (x - 1) / p,   0 <= residue < n
//
//   c --> Montgomery form --> Stages ladders --> carries --> divider --> times t modulo n --> residue
//         (radix 2)           (17-bit digits)                            (the same radix-2 multiplier)
//
// The exponentiation works modulo the scaled modulus M' = u p^2, u < 2^(W (D+1)), whose quotient
// digits need no multiplication (see mont_mul_cios). So x = c^(p-1) + k p^2, and k p is added to
// L(x). As t is a multiple of q, k p t is a multiple of n, and nothing has to be subtracted (the
// paper's equation 10, for a whole digit instead of one modulus).
//
// foreign_o, with the residue: c^e is not 1 modulo p, that is, p does not divide x - 1, and the
// residue is meaningless. The exact divider continues until all bits of x are in: if p divides x -
// 1 < 2^DivBits, the bits of the quotient from QBits on are 0. Conversely, if they are 0, the
// quotient times p is x - 1 itself. (x = 0, that is c = 0, is not checked.)
//
// All constants are stable while anything is in flight. With XBits = 2 N + 2 scanned bits of the
// radix-2 multiplier and R = 2^RBits:
//   mt = (M' + 1) / 2^(W (D+1)),   enter = R 2^XBits mod p^2,   one = R mod p^2,   merged = t 2^XBits mod n.
//
// The exponent is split from its most significant bits on, Segment bits per stage. The last stage
// has fewer bits and one more product, out of Montgomery form, so no stage takes longer than
// Segment steps. Shorter exponents take steps_i + 1 steps per stage (mod_exp_ladder), and occupy
// the highest bits of each segment. One item every Segment ladder steps if that is more than two
// radix-2 multiplications. Source: [HDSST25], algorithm 4 and fig. 2; the order of the constants is
// that of algorithm 4's precomputation.
module mesa_branch #(
    parameter int unsigned N       = 1024,  // bits of n and p^2
    parameter int unsigned Stages  = 6,     // ladders, 1 to N / 4
    parameter int unsigned W       = 17,    // bits of a digit
    parameter int unsigned V       = 23,    // bits of a word, as in mod_exp_ladder
    parameter int unsigned D       = 2,     // delay of a digit of the quotient
    parameter int unsigned Exact   = 1,     // divider: from the low end (1), or restoring (0)
    parameter int unsigned MtBits  = (N + W - 1) / W * W,
    parameter int unsigned XBits   = 2 * N + 2
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic [MtBits-1:0] mt_i,
    input  logic [N-1:0]      square_i,
    input  logic [N-1:0]      enter_i,
    input  logic [N-1:0]      one_i,
    input  logic [N/2-1:0]    exponent_i,
    // steps after the first: of the other stages in the lower half, of the last one in the upper
    // half
    input  logic [31:0]       steps_i,
    input  logic [N/2-1:0]    prime_i,
    input  logic [N-1:0]      merged_i,
    input  logic [N-1:0]      n_i,
    input  logic              in_valid_i,
    output logic              in_ready_o,
    input  logic [2*N-1:0]    ciphertext_i,
    output logic              out_valid_o,
    input  logic              out_ready_i,
    output logic [N-1:0]      residue_o,
    output logic              foreign_o,
    output logic [Stages-1:0] mul_o          // a pair of products starts in this ladder
);
    if (Stages < 1 || Stages > N / 4) $error("mesa_branch: Stages is 1 to N / 4");
    if (Exact > 1) $error("mesa_branch: Exact is 0 or 1");

    // The words of a pair (mont_row).
    localparam int unsigned B = V + 1;
    localparam int unsigned Span = W * (D + 2);
    localparam int unsigned Period = (Span + V - 1) / V;
    localparam int unsigned Words = ((N + W * (D + 1) + 1) * Period + Span - 1) / Span;
    localparam int unsigned PairBits = Words * B;
    // With the exit product the last stage is no longer than the others.
    localparam int unsigned Segment = (N / 2 + 1 + Stages - 1) / Stages;
    localparam int unsigned LastSegment = N / 2 - (Stages - 1) * Segment;
    // L(x) is below 2^QBits.
    localparam int unsigned QBits = N / 2 + W * (D + 1) + 1;
    // x is at most M', below 2^DivBits.
    localparam int unsigned DivBits = N / 2 + QBits;
    localparam int unsigned PowerBits = Words * Span / Period;

    if ((Stages - 1) * Segment >= N / 2) $error("mesa_branch: too many stages for the exponent");
    if (Span <= Period * (V - 1)) $error("mesa_branch: V must be less, or W (D + 2) a multiple of it, for carry_resolve");
    // The multiplier scans XBits bits of the quotient.
    if (QBits > XBits) $error("mesa_branch: W (D + 1) must be at most 3 N / 2 + 1");

    // Conversion into Montgomery form, and the product after the division.
    logic entered_valid, entered_ready, quotient_valid, quotient_ready, product_valid, product_ready;
    logic [N:0] entered, product;
    logic [QBits-1:0] quotient;
    logic foreign, product_start, flag_ready, flag_valid;

    mesa_mont_mul #(
        .N(N),
        .XBits(XBits)
    ) u_mont_mul (
        .clk_i,
        .rst_ni,
        .before_modulus_i(square_i),
        .before_valid_i  (in_valid_i),
        .before_ready_o  (in_ready_o),
        .before_x_i      (XBits'(ciphertext_i)),
        .before_y_i      (enter_i),
        .before_valid_o  (entered_valid),
        .before_ready_i  (entered_ready),
        .before_result_o (entered),
        .after_modulus_i (n_i),
        .after_valid_i   (quotient_valid && flag_ready),
        .after_ready_o   (product_start),
        .after_x_i       (XBits'(quotient)),
        .after_y_i       (merged_i),
        .after_valid_o   (product_valid),
        .after_ready_i   (product_ready),
        .after_result_o  (product)
    );

    // The divider's flag for an item, alongside its product.
    stream_fifo #(
        .Width(1),
        .Depth(4)
    ) u_foreign (
        .clk_i,
        .rst_ni,
        .in_valid_i (quotient_valid && product_start),
        .in_ready_o (flag_ready),
        .in_data_i  (foreign),
        .out_valid_o(flag_valid),
        .out_ready_i(out_valid_o && out_ready_i),
        .out_data_o (foreign_o)
    );
    assign quotient_ready = product_start && flag_ready;

    // The ladders. Stage i converts pair i to pair i + 1. In each pair, x is squared next: 1 before
    // a bit 0 of the exponent, c before a 1.
    logic [Stages:0] pair_valid, pair_ready;
    logic [Stages:0][PairBits-1:0] x, y;

    assign pair_valid[0] = entered_valid;
    assign entered_ready = pair_ready[0];
    for (genvar j = 0; j < int'(Words); j++) begin : gen_spread
        localparam int unsigned At = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        logic [Bits-1:0] one_word, entered_word;
        assign one_word = Bits'((Words * V)'(one_i) >> At);
        assign entered_word = Bits'((Words * V)'(entered) >> At);
        assign x[0][B*j +: B] = exponent_i[N/2-1] ? B'(entered_word) : B'(one_word);
        assign y[0][B*j +: B] = exponent_i[N/2-1] ? B'(one_word) : B'(entered_word);
    end

    for (genvar i = 0; i < int'(Stages); i++) begin : gen_stage
        localparam int unsigned Last = (i == int'(Stages) - 1) ? 1 : 0;
        localparam int unsigned Bits = (Last != 0) ? LastSegment : Segment;
        localparam int unsigned Low = (Last != 0) ? 0 : N / 2 - (i + 1) * Segment;
        localparam int unsigned CountBits = $clog2(Bits + Last + 1);
        mod_exp_ladder #(
            .N(N),
            .W(W),
            .V(V),
            .D(D),
            .Bits(Bits),
            .Exit(Last)
        ) u_ladder (
            .clk_i,
            .rst_ni,
            .mt_i,
            .exponent_i (exponent_i[Low+:Bits]),
            .steps_i    (CountBits'(steps_i[16*Last+:16])),
            .next_i     ((Last != 0) ? 1'b0 : exponent_i[(Last!=0)?0 : Low-1]),
            .in_valid_i (pair_valid[i]),
            .in_ready_o (pair_ready[i]),
            .x_i        (x[i]),
            .y_i        (y[i]),
            .out_valid_o(pair_valid[i+1]),
            .out_ready_i(pair_ready[i+1]),
            .x_o        (x[i+1]),
            .y_o        (y[i+1]),
            .mul_o      (mul_o[i])
        );
    end

    // Resolves carries.
    logic power_valid, power_ready;
    logic [PowerBits-1:0] power;

    carry_resolve #(
        .Words(Words),
        .W(V),
        .B(B),
        .PerCycle(Period),
        .Span(Span)
    ) u_resolve (
        .clk_i,
        .rst_ni,
        .in_valid_i (pair_valid[Stages]),
        .in_ready_o (pair_ready[Stages]),
        .x_i        (x[Stages]),
        .out_valid_o(power_valid),
        .out_ready_i(power_ready),
        .r_o        (power)
    );

    // The last ladder's y, the bits above every x, and step counts that no stage uses.
    logic unused;
    assign unused = &{1'b0, y[Stages], power >> DivBits, steps_i, flag_valid};

    if (Exact != 0) begin : gen_exact
        logic [DivBits-1:0] whole;
        assign quotient = whole[QBits-1:0];
        assign foreign = |whole[DivBits-1:QBits];
        div_exact #(
            .XBits(DivBits),
            .DBits(N / 2),
            .QBits(DivBits),
            .Minus(1)
        ) u_div (
            .clk_i,
            .rst_ni,
            .d_i        (prime_i),
            .in_valid_i (power_valid),
            .in_ready_o (power_ready),
            .x_i        (power[DivBits-1:0]),
            .out_valid_o(quotient_valid),
            .out_ready_i(quotient_ready),
            .q_o        (whole)
        );
    end else begin : gen_restoring
        logic [N/2-1:0] remainder;
        assign foreign = remainder != (N / 2)'(1);
        div_restoring #(
            .XBits(DivBits),
            .DBits(N / 2),
            .QBits(QBits)
        ) u_div (
            .clk_i,
            .rst_ni,
            .d_i        (prime_i),
            .in_valid_i (power_valid),
            .in_ready_o (power_ready),
            .x_i        (power[DivBits-1:0]),
            .out_valid_o(quotient_valid),
            .out_ready_i(quotient_ready),
            .q_o        (quotient),
            .r_o        (remainder)
        );
    end

    cond_sub #(
        .N(N)
    ) u_judge (
        .clk_i,
        .rst_ni,
        .m_i        (n_i),
        .in_valid_i (product_valid),
        .in_ready_o (product_ready),
        .a_i        (product),
        .out_valid_o(out_valid_o),
        .out_ready_i(out_ready_i),
        .r_o        (residue_o)
    );
endmodule
