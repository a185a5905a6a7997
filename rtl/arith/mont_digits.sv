// SPDX-License-Identifier: MIT OR Apache-2.0
// The multiplier operand of a Montgomery product (mont_row) as digits, one a cycle, lowest first.
//
// Takes Digits words of W + 1 bits, W apart; words 0 to D + 1 are below 2^W (exact), the others redundant: at most 2^W + 2. Their carries are resolved
// while they leave: digit = (word + carry) mod 2^W. Below the register of upper words lies a line of D + 2 stages whose input is either the next
// resolved word or a digit from outside (q_i, the low digits of the product that is being finished, in time for the next one).
//
// The words above the line are hundreds of flip-flops, each behind a multiplexer of four inputs: its selection is an input for its own sake, to be driven
// by registers. They may be loaded before it is known whether load_i will come.
//
// Timing, cycle 0 being the one after a load: words_o holds all words in cycle 0, own_o and digit_o digit k in cycle k, if shift_i is high from
// cycle 0 on; zero after the last digit. While other_i, digit_o is other_digit_i instead.
module mont_digits #(
    parameter int unsigned W      = 16,  // bits of a digit, at least 4
    parameter int unsigned Digits = 68,  // words of the operand, at least D + 3
    parameter int unsigned D      = 2,   // as in mont_row
    localparam int unsigned B     = W + 1,
    localparam int unsigned Lead  = D + 2,
    localparam int unsigned Upper = Digits - Lead
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                shift_i,
    input  logic                load_i,   // the line from words_i
    input  logic [1:0]          source_i, // of the upper words: 1 words_i, always while load_i; 2 upper_a_i; 3 upper_b_i; 0 for a shift or none
    input  logic                feed_i,   // q_i goes into the line, not the next word
    input  logic [W-1:0]        q_i,
    input  logic [Digits*B-1:0] words_i,
    input  logic [Upper*B-1:0]  upper_a_i,
    input  logic [Upper*B-1:0]  upper_b_i,
    input  logic                other_i,
    input  logic [W-1:0]        other_digit_i,
    output logic [Digits*B-1:0] words_o,
    output logic [W-1:0]        own_o,
    output logic [W-1:0]        digit_o
);
    logic [Upper*B-1:0] upper_q, upper_d;
    logic [W-1:0] line_q [Lead];
    logic carry_q;
    logic [W:0] sum;

    assign sum     = upper_q[W:0] + (W + 1)'(carry_q);
    assign own_o   = line_q[Lead-1];
    assign digit_o = other_i ? other_digit_i : own_o;
    assign words_o[Digits*B-1:Lead*B] = upper_q;

    always_comb begin
        unique case (source_i)
            2'd0: upper_d = upper_q >> B;
            2'd1: upper_d = words_i[Digits*B-1:Lead*B];
            2'd2: upper_d = upper_a_i;
            2'd3: upper_d = upper_b_i;
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) upper_q <= '0;
        else if (shift_i || source_i != 2'd0) upper_q <= upper_d;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) carry_q <= 1'b0;
        else if (load_i || feed_i) carry_q <= 1'b0;
        else if (shift_i) carry_q <= sum[W];
    end

    // Stage k of the line holds word Lead - 1 - k of the operand in cycle 0.
    for (genvar k = 0; k < Lead; k++) begin : gen_line
        logic [W-1:0] below;
        if (k == 0) begin : gen_in
            assign below = feed_i ? q_i : sum[W-1:0];
        end else begin : gen_on
            assign below = line_q[k-1];
        end
        logic [W-1:0] stage_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) stage_q <= '0;
            else if (load_i) stage_q <= words_i[(Lead-1-k)*B+:W];
            else if (shift_i) stage_q <= below;
        end
        assign line_q[k] = stage_q;
        assign words_o[(Lead-1-k)*B+:B] = B'(stage_q);
        // Exact words: nothing above.
        logic unused;
        assign unused = words_i[(Lead-1-k)*B+W];
    end
endmodule
