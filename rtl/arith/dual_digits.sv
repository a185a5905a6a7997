// SPDX-License-Identifier: MIT OR Apache-2.0
// An operand of a product of dual numbers (dual_row) as words, and as digits, one a cycle, lowest first.
//
// Its lowest Lead = D + 2 digits are exact and come one by one, from q_i while feed_i (the low digits of the product that is being finished, in time for the next
// one). The words above come all at once with load_i, redundant, and stay where they are until the next: they are read by the digit,
// and their carries, from -1 to 1, are resolved on the way.
//
// At most one word ends inside a digit, as words are no shorter than digits; what a word has above its own bits (-1, 0 or 1) is added there.
//
// Timing, cycle 0 being the one after load_i, which is the last of Lead cycles with feed_i: own_o and digit_o are digit k in cycle k, if index_i is k and
// valid_i says that it is below Digits; zero after the last digit. words_o holds all words from cycle 1 on, if first_i marks cycle 0, and those from
// Period on in cycle 0 too. While other_i, digit_o is other_digit_i instead.
module dual_digits #(
    parameter int unsigned N = 512,  // bits of the modulus, and the others as in dual_row
    parameter int unsigned W = 16,
    parameter int unsigned V = W,
    parameter int unsigned D = 2,
    localparam int unsigned Lead      = D + 2,
    localparam int unsigned Digits    = (N + W) / W + D + 1,
    localparam int unsigned Span      = W * Lead,
    localparam int unsigned Period    = (Span + V - 1) / V,
    localparam int unsigned Words     = ((N + W * (D + 1) + 1) * Period + Span - 1) / Span,
    localparam int unsigned Upper     = Words - Period,
    localparam int unsigned B         = V + 2,
    localparam int unsigned IndexBits = $clog2(Digits)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 first_i,
    input  logic                 load_i,
    input  logic [Upper*B-1:0]   upper_i,
    input  logic                 feed_i,
    input  logic [W-1:0]         q_i,
    input  logic [IndexBits-1:0] index_i,
    input  logic                 valid_i,
    input  logic                 other_i,
    input  logic [W-1:0]         other_digit_i,
    output logic [Words*B-1:0]   words_o,
    output logic [W-1:0]         own_o,
    output logic [W-1:0]         digit_o
);
    localparam int unsigned UpperDigits = Digits - Lead;
    localparam int unsigned UpperBits   = Upper * Span / Period;

    logic [Upper*B-1:0] upper_q;
    logic [Lead-1:0][W-1:0] line_q;  // the next digit lowest
    logic [Span-1:0] low_q;
    logic fed_q;                     // a digit that was fed enters the line's second stage, otherwise one of the words above

    // Digits of the words above, without carries, and what a word that ends in a digit adds to it.
    logic [UpperBits-1:0] plain;
    logic [2**IndexBits-1:0][W-1:0] digits;
    logic [2**IndexBits-1:0][W:0] bumps;
    for (genvar j = 0; j < Upper; j++) begin : gen_plain
        localparam int unsigned At   = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        assign plain[At+:Bits] = upper_q[j*B+:Bits];
    end
    for (genvar k = 0; k < 2 ** IndexBits; k++) begin : gen_digit
        // The first word that begins in this digit or above, and where.
        localparam int unsigned Next = (k * W * Period + Span - 1) / Span;
        localparam int unsigned At   = Next * Span / Period;
        if (k < UpperDigits) begin : gen_used
            assign digits[k] = W'(plain >> (k * W));
        end else begin : gen_end
            assign digits[k] = '0;
        end
        if (k < UpperDigits && Next >= 1 && Next <= Upper && At < (k + 1) * W) begin : gen_bump
            localparam int unsigned Bits = At - (Next - 1) * Span / Period;
            assign bumps[k] = (W + 1)'($signed(upper_q[(Next-1)*B+Bits+:2])) << (At - k * W);
        end else begin : gen_none
            assign bumps[k] = '0;
        end
    end

    // Beyond the last digit there is nothing.
    logic unused;
    assign unused = ^{plain, upper_q};

    // Resolved a cycle after they are read: digit Lead enters the second stage of the line.
    logic [W-1:0] digit_q;
    logic signed [W:0] bump_q;
    logic signed [1:0] carry_q;
    logic signed [W+1:0] sum;
    assign sum = $signed((W + 2)'(digit_q)) + (W + 2)'(bump_q) + (W + 2)'(carry_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            upper_q <= '0;
            line_q  <= '0;
            low_q   <= '0;
            fed_q   <= 1'b0;
            digit_q <= '0;
            bump_q  <= '0;
            carry_q <= '0;
        end else begin
            if (load_i) upper_q <= upper_i;
            if (first_i) low_q <= line_q;
            fed_q          <= feed_i;
            digit_q        <= valid_i ? digits[index_i] : '0;
            bump_q         <= valid_i ? $signed(bumps[index_i]) : '0;
            carry_q        <= fed_q ? '0 : sum[W+1:W];
            line_q         <= line_q >> W;
            line_q[Lead-1] <= q_i;
            line_q[Lead-2] <= fed_q ? line_q[Lead-1] : sum[W-1:0];
        end
    end

    assign own_o   = line_q[0];
    assign digit_o = other_i ? other_digit_i : own_o;

    for (genvar j = 0; j < Period; j++) begin : gen_low
        localparam int unsigned At   = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        assign words_o[j*B+:B] = B'(low_q[At+:Bits]);
    end
    assign words_o[Words*B-1:Period*B] = upper_q;
endmodule
