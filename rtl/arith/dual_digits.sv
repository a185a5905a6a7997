// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the result of a row (dual_row) to digits in two's complement, one per cycle, lowest
// first.
//
// Its lowest Lead = D + 2 digits arrive one by one and pass unchanged. The words above arrive
// together with hold_i, in redundant form. The excess of a word above its own bits (-1, 0 or 1) is
// added where the next word begins, and carries, from -1 to 1, are resolved on the way. Words are
// no shorter than digits, so at most one word ends inside a digit.
//
// Timing, in cycles of the row, Job = Digits + D + 2: q_i is digit k in cycle Digits + 1 + k, k <
// Lead; hold_i and y_i in cycle Job; index_i = j in cycle Job + 1 + j; upper_i from cycle Job + 2
// on and not in the Lead cycles before. digit_o is digit k in cycle Digits + 3 + k.
module dual_digits #(
    parameter int unsigned H = 512,  // bits of the modulus, and the others as in dual_row
    parameter int unsigned W = 18,
    parameter int unsigned V = 24,
    parameter int unsigned D = 2,
    parameter int unsigned Fold = 1,
    localparam int unsigned Lead      = D + 2,
    localparam int unsigned Digits    = (H + W + 2) / W + D + 1,
    localparam int unsigned Span      = W * Lead,
    localparam int unsigned Period    = (Span + V - 1) / V,
    localparam int unsigned Words     = (Digits * W * Period + Span - 1) / Span,
    localparam int unsigned Upper     = Words - Period,
    localparam int unsigned B         = V + 2,
    localparam int unsigned IndexBits = $clog2(Digits)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 step_i,   // as in dual_row
    input  logic                 hold_i,
    input  logic [Upper*B-1:0]   y_i,
    input  logic [W-1:0]         q_i,
    input  logic [IndexBits-1:0] index_i,
    input  logic                 upper_i,
    output logic [W-1:0]         digit_o
);
    localparam int unsigned UpperDigits = Digits - Lead;
    localparam int unsigned UpperBits = Upper * Span / Period;

    // A constant where every cycle is a step: then tools that keep the hierarchy spend no logic on
    // it.
    logic step;
    assign step = Fold == 1 || step_i;

    logic [Upper*B-1:0] y_q;

    // Digits without carries, and the excess that a word ending in a digit adds to it.
    logic [UpperBits-1:0] plain;
    logic [UpperDigits-1:0][W:0] bumps;
    logic [W-1:0] digit;
    logic [W:0] bump;
    for (genvar j = 0; j < Upper; j++) begin : gen_plain
        localparam int unsigned At = j * Span / Period;
        localparam int unsigned Bits = (j + 1) * Span / Period - At;
        assign plain[At+:Bits] = y_q[j*B+:Bits];
    end
    for (genvar k = 0; k < UpperDigits; k++) begin : gen_bump
        // The first word that begins in this digit or above, and its bit.
        localparam int unsigned Next = (k * W * Period + Span - 1) / Span;
        localparam int unsigned At = Next * Span / Period;
        if (Next >= 1 && Next <= Upper && At < (k + 1) * W) begin : gen_end
            localparam int unsigned Bits = At - (Next - 1) * Span / Period;
            assign bumps[k] = (W + 1)'($signed(y_q[(Next-1)*B+Bits+:2])) << (At - k * W);
        end else begin : gen_none
            assign bumps[k] = '0;
        end
    end
    digit_select #(
        .W(W),
        .Digits(UpperDigits),
        .IndexBits(IndexBits)
    ) u_digit (
        .number_i(plain[UpperDigits*W-1:0]),
        .index_i,
        .digit_o (digit)
    );
    // Not a digit_select: most entries are 0, and many bits are copies of a sign.
    for (genvar w = 0; w <= W; w++) begin : gen_bump_bit
        logic [2**IndexBits-1:0] column;
        for (genvar k = 0; k < 2 ** IndexBits; k++) begin : gen_place
            assign column[k] = k < UpperDigits ? bumps[k<UpperDigits?k : 0][w] : 1'b0;
        end
        assign bump[w] = column[index_i];
    end

    // Bits beyond the last digit are ignored.
    logic unused;
    assign unused = ^{plain, y_q};

    logic [W-1:0] line_q, digit_q;
    logic signed [W:0] bump_q;
    logic signed [1:0] carry_q;
    logic signed [W+1:0] sum;
    assign sum = $signed((W + 2)'(digit_q)) + (W + 2)'(bump_q) + (W + 2)'(carry_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) y_q <= (Upper * B)'(0);
        else if (step && hold_i) y_q <= y_i;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            line_q  <= '0;
            digit_q <= '0;
            bump_q  <= '0;
            carry_q <= '0;
            digit_o <= '0;
        end else if (step) begin
            line_q  <= q_i;
            digit_q <= digit;
            bump_q  <= $signed(bump);
            carry_q <= upper_i ? sum[W+1:W] : '0;
            digit_o <= upper_i ? sum[W-1:0] : line_q;
        end
    end
endmodule
