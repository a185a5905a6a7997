// SPDX-License-Identifier: MIT OR Apache-2.0
// Montgomery product, a digit a cycle (the paper's MM_H): r = a b / R mod M, without final subtraction.
//
// R = 2^(W (T-1)), T = ceil((N+2)/W) + D + 2; M is odd and of at most N bits; mt_i is the constant of the scaled modulus M' (mont_row).
// a, b < 2 M' give r < 2 M', congruent to a b / R modulo M; b = 1 gives r <= M'. Proof in mont_row.
//
// One product every Step = T + D + 4 cycles (75 at N = 1024, W = 16, D = 2; 139 at 2048), whose carries are resolved PerCycle words a cycle while the next runs:
// latency from taking operands to giving the result Step + ceil(Digits / PerCycle) + 1 cycles. A result that is not taken holds the next one
// in its last cycle. Multipliers: Digits + Words of W x (W+1) bits (132 and 260).
// Source: the CIOS order of [KAK96] with Orup's quotient digits (mont_row).
module mont_mul_cios #(
    parameter int unsigned N        = 1024,  // bits of the modulus, at least W
    parameter int unsigned W        = 16,    // bits of a digit, 4 to 32
    parameter int unsigned D        = 2,     // cycles a quotient digit has to reach the multipliers, 1 to 4
    parameter int unsigned PerCycle = 4,     // words resolved a cycle, so many that the latency of resolution stays below Step
    localparam int unsigned Words  = (N + W - 1) / W,
    localparam int unsigned Digits = (N + W) / W + D + 1,
    localparam int unsigned OpBits = Digits * W
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [Words*W-1:0] mt_i,       // (M' + 1) / 2^(W (D+1)), stable while busy_o
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [OpBits-1:0]  a_i,        // below 2 M'
    input  logic [OpBits-1:0]  b_i,        // below 2 M'
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [OpBits-1:0]  r_o,        // below 2 M'
    output logic               busy_o      // rows at work
);
    localparam int unsigned Lead      = D + 2;
    localparam int unsigned Upper     = Digits - Lead;
    localparam int unsigned WordsBits = Digits * (W + 1);

    logic start, clear, take_q, feed, last, first, ahead;
    logic resolve_ready;
    logic [WordsBits-1:0] a_words, b_words, a_q, held, result;
    logic [Upper*(W+1)-1:0] y;
    logic [W-1:0] digit, own, q;

    assign in_ready_o = !busy_o || (last && resolve_ready);
    assign start      = in_valid_i && in_ready_o;

    mont_steps #(.N(N), .W(W), .D(D)) u_steps (
        .clk_i,
        .rst_ni,
        .start_i (start),
        .stay_i  (!resolve_ready),
        .busy_o,
        .first_o (first),
        .clear_o (clear),
        .take_q_o(take_q),
        .feed_o  (feed),
        .ahead_o (ahead),
        .last_o  (last)
    );

    word_spread #(.Words(Digits), .W(W)) u_spread_a (.x_i(a_i), .words_o(a_words));
    word_spread #(.Words(Digits), .W(W)) u_spread_b (.x_i(b_i), .words_o(b_words));

    // While no product is under way and in the last cycle of one, operands are loaded, taken or not: what every flip-flop here depends on is a register.
    logic open_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) open_q <= 1'b1;
        else open_q <= !start && (open_q || ahead);
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) a_q <= '0;
        else if (open_q) a_q <= a_words;
    end

    // The line of b takes the low digits of the result behind the last digits of b.
    mont_digits #(.W(W), .Digits(Digits), .D(D)) u_b (
        .clk_i,
        .rst_ni,
        .shift_i  (busy_o && !last),
        .load_i   (in_ready_o),
        .source_i ({1'b0, open_q}),
        .feed_i   (feed),
        .q_i      (q),
        .words_i  (b_words),
        .upper_a_i('0),
        .upper_b_i('0),
        .other_i  (1'b0),
        .other_digit_i('0),
        .words_o  (held),
        .own_o    (own),
        .digit_o  (digit)
    );

    mont_row #(.N(N), .W(W), .D(D)) u_row (
        .clk_i,
        .rst_ni,
        .clear_i (clear),
        .hold_i  (last),
        .take_q_i(take_q),
        .mt_i,
        .a_i     (a_q),
        .b_i     (digit),
        .q_o     (q),
        .y_o     (y)
    );

    // In the last cycle the line holds digits 0 to D of the result above its lowest stage, and q is the next.
    assign result = {y, 1'b0, q, held[Lead*(W+1)-1:W+1]};
    logic unused;
    assign unused = ^{first, own, held[WordsBits-1:Lead*(W+1)], held[W:0]};

    carry_resolve #(.Words(Digits), .W(W), .B(W + 1), .PerCycle(PerCycle)) u_resolve (
        .clk_i,
        .rst_ni,
        .in_valid_i (last),
        .in_ready_o (resolve_ready),
        .x_i        (result),
        .out_valid_o,
        .out_ready_i,
        .r_o
    );
endmodule
