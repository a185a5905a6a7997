// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the multiplier operand of a Montgomery product (mont_row, Chained) to digits, one per
// cycle, lowest first.
//
// The input is Words words of V + 1 bits, cut as mont_row says. Those below bit W (D+2) are exact.
// The others are redundant: at most 2^v + 2^(v-W) + 1 where the word has v bits, so the excess
// above its own bits is 0 or 1. These carries are resolved while the digits leave. The register of
// the upper words feeds a delay line of D + 2 stages. The line's input is either their next digit,
// resolved, or an external digit (q_i, the low digits of the product being finished, in time for
// the next one).
//
// Words are no shorter than digits, so at most one word ends inside a digit, and D + 2 digits later
// a word ends at the same position again.
//
// The words above the line are hundreds of flip-flops, each with a multiplexer of four inputs. The
// select is a separate input, to be driven by registers. The words may be loaded before it is known
// whether load_i will come.
//
// Timing, where cycle 0 follows a load: words_o holds all words in cycle 0. digit_o is digit k in
// cycle k - 1, if shift_i is high from cycle 0 on, and zero after the last digit. While other_i is
// high, digit_o is other_digit_i instead.
module mont_digits #(
    parameter int unsigned N = 1024,  // bits of the modulus, and the others, as in mont_row
    parameter int unsigned W = 16,
    parameter int unsigned V = W,
    parameter int unsigned D = 2,
    localparam int unsigned Lead   = D + 2,
    localparam int unsigned Span   = W * Lead,
    localparam int unsigned Period = (Span + V - 1) / V,
    localparam int unsigned Words  = ((N + W * (D + 1) + 1) * Period + Span - 1) / Span,
    localparam int unsigned Upper  = Words - Period,
    localparam int unsigned B      = V + 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               shift_i,
    input  logic               load_i,   // load the line from words_i
    // input of the upper words: 1 words_i, always with load_i; 2 upper_a_i; 3 upper_b_i; 0 to shift
    // or hold
    input  logic [1:0]         source_i,
    input  logic               feed_i,   // q_i enters the line instead of the next digit
    input  logic [W-1:0]       q_i,
    input  logic [Words*B-1:0] words_i,
    input  logic [Upper*B-1:0] upper_a_i,
    input  logic [Upper*B-1:0] upper_b_i,
    input  logic               other_i,
    input  logic [W-1:0]       other_digit_i,
    output logic [Words*B-1:0] words_o,
    output logic [W-1:0]       digit_o
);
    // The upper words: their own bits, concatenated, and the excess of each word, at the digit in
    // which the word ends.
    localparam int unsigned PlainBits = Upper * Span / Period;
    localparam int unsigned Tops = (PlainBits + W - 1) / W;
    logic [PlainBits-1:0] plain_q, plain_words;
    logic [Tops-1:0] tops_q, tops_words;
    logic [W-1:0] line_q [Lead];
    logic carry_q;
    logic [Upper*B-1:0] upper_d;

    always_comb begin
        unique case (source_i)
            2'd2:    upper_d = upper_a_i;
            2'd3:    upper_d = upper_b_i;
            default: upper_d = words_i[Words*B-1:Period*B];
        endcase
    end

    for (genvar j = 0; j < Upper; j++) begin : gen_upper
        localparam int unsigned At = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        assign plain_words[At+:Bits] = upper_d[j*B+:Bits];
        if (Bits < V) begin : gen_narrow
            // 0 in a word that is narrower than others.
            logic unused;
            assign unused = ^upper_d[j*B+Bits+1+:V-Bits];
        end
        if (j + 1 < Upper) begin : gen_next
            assign words_o[(Period+j)*B+:B] = B'({tops_q[(At+Bits)/W], plain_q[At+:Bits]});
        end else begin : gen_last
            // The last word has no excess: the number fits the words.
            assign words_o[(Period+j)*B+:B] = B'(plain_q[At+:Bits]);
            logic unused;
            assign unused = upper_d[j*B+Bits];
        end
    end

    for (genvar k = 0; k < Tops; k++) begin : gen_tops
        // The word that ends in this digit, if any.
        localparam int unsigned Next = (k * W * Period + Span - 1) / Span;
        localparam int unsigned At = Next * Span / Period;
        localparam bit Ends = Next >= 1 && Next < Upper && At < (k + 1) * W;
        localparam int unsigned Word = Ends ? Next - 1 : 0;
        localparam int unsigned Bits = (Word + 1) * Span / Period - Word * Span / Period;
        assign tops_words[k] = Ends ? upper_d[Word*B+Bits] : 1'b0;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            plain_q <= '0;
            tops_q  <= '0;
        end else if (shift_i || source_i != 2'd0) begin
            plain_q <= source_i == 2'd0 ? plain_q >> W : plain_words;
            tops_q  <= source_i == 2'd0 ? tops_q >> 1 : tops_words;
        end
    end

    // The position in the lowest digit where a word ends. The bit set in phase_q is the digit's
    // number modulo Lead.
    logic [Lead-1:0] phase_q;
    logic [Lead-1:0][W-1:0] bumps;
    logic [W-1:0] bump;
    for (genvar k = 0; k < Lead; k++) begin : gen_bump
        localparam int unsigned Next = (k * W * Period + Span - 1) / Span;
        localparam int unsigned At = Next * Span / Period;
        if (At < (k + 1) * W) begin : gen_ends
            assign bumps[k] = W'(phase_q[k] && tops_q[0]) << (At - k * W);
        end else begin : gen_none
            assign bumps[k] = '0;
        end
    end
    always_comb begin
        bump = '0;
        for (int unsigned k = 0; k < Lead; k++) bump |= bumps[k];
    end

    logic [W:0] sum;
    assign sum = (W + 1)'(plain_q[W-1:0]) + (W + 1)'(bump) + (W + 1)'(carry_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            carry_q <= 1'b0;
            phase_q <= '0;
        end else if (load_i || feed_i) begin
            carry_q <= 1'b0;
            phase_q <= Lead'(1);
        end else if (shift_i) begin
            carry_q <= sum[W];
            phase_q <= {phase_q[Lead-2:0], phase_q[Lead-1]};
        end
    end

    // The lowest words, without excess bits.
    logic [Span-1:0] below, low;
    for (genvar j = 0; j < Period; j++) begin : gen_low
        localparam int unsigned At = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        assign below[At+:Bits] = words_i[j*B+:Bits];
        assign words_o[j*B+:B] = B'(low[At+:Bits]);
        // Exact words have no excess.
        logic unused;
        assign unused = ^words_i[j*B+Bits+:B-Bits];
    end

    // Stage k of the line holds digit Lead - 1 - k of the operand in cycle 0.
    for (genvar k = 0; k < Lead; k++) begin : gen_line
        logic [W-1:0] next, stage_q;
        if (k == 0) begin : gen_in
            assign next = feed_i ? q_i : sum[W-1:0];
        end else begin : gen_on
            assign next = line_q[k-1];
        end
        always_ff @(posedge clk_i) begin
            if (!rst_ni) stage_q <= '0;
            else if (load_i) stage_q <= below[(Lead-1-k)*W+:W];
            else if (shift_i) stage_q <= next;
        end
        assign line_q[k] = stage_q;
        assign low[(Lead-1-k)*W+:W] = stage_q;
    end

    assign digit_o = other_i ? other_digit_i : load_i ? below[W-1:0] : line_q[Lead-2];
endmodule
