// The multiplier operand of a Montgomery product (mont_row) as digits, one a cycle, lowest first.
//
// Takes Digits words of W + 1 bits; words 0 to D + 1 are below 2^W (exact), the others at most 2^W + 2. Their carries are resolved while they
// leave: digit = (word + carry) mod 2^W. Below the register of upper words lies a line of D + 3 stages whose input is either the next
// resolved word or a digit from outside (q_i, the low digits of the product that is being finished, in time for the next one).
//
// Timing, cycle 0 being the one after load_i or load_upper_i: words_o holds all words in cycle 0; digit_o = digit k in cycle k + 1,
// if shift_i is high from cycle 0 on; zero after the last digit. With unit_i in cycle 0 the digits are instead those of the number 1, until unit_i
// is 0 in a later cycle 0 (first_i marks cycle 0).
module mont_digits #(
    parameter int unsigned W      = 16,  // bits of a digit, at least 4
    parameter int unsigned Digits = 68,  // words of the operand, at least D + 3
    parameter int unsigned D      = 2,   // as in mont_row
    localparam int unsigned Lead  = D + 2,
    localparam int unsigned Upper = Digits - Lead
) (
    input  logic                    clk_i,
    input  logic                    shift_i,
    input  logic                    load_i,        // all words from words_i
    input  logic                    load_upper_i,  // the upper words from upper_i; the line goes on
    input  logic                    feed_i,        // q_i goes into the line, not the next word
    input  logic [W-1:0]            q_i,
    input  logic [Digits*(W+1)-1:0] words_i,
    input  logic [Upper*(W+1)-1:0]  upper_i,
    input  logic                    first_i,
    input  logic                    unit_i,
    output logic [Digits*(W+1)-1:0] words_o,
    output logic [W-1:0]            digit_o
);
    logic [Upper*(W+1)-1:0] upper_q;
    logic [W-1:0] line_q [Lead];
    logic [W-1:0] digit_q;
    logic [1:0] carry_q;
    logic [W+1:0] sum;

    assign sum     = (W + 2)'(upper_q[W:0]) + (W + 2)'(carry_q);
    assign digit_o = digit_q;
    assign words_o[Digits*(W+1)-1:Lead*(W+1)] = upper_q;

    always_ff @(posedge clk_i) begin
        if (load_i) upper_q <= words_i[Digits*(W+1)-1:Lead*(W+1)];
        else if (load_upper_i) upper_q <= upper_i;
        else if (shift_i) upper_q <= upper_q >> (W + 1);
        if (load_i || feed_i) carry_q <= '0;
        else if (shift_i) carry_q <= sum[W+1:W];
        if (shift_i) begin
            if (unit_i) digit_q <= W'(first_i);
            else digit_q <= line_q[Lead-1];
        end
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
            if (load_i) stage_q <= words_i[(Lead-1-k)*(W+1)+:W];
            else if (shift_i) stage_q <= below;
        end
        assign line_q[k] = stage_q;
        assign words_o[(Lead-1-k)*(W+1)+:W+1] = {1'b0, stage_q};
        // Exact words: the bit above is 0.
        logic unused;
        assign unused = words_i[(Lead-1-k)*(W+1)+W];
    end
endmodule
