// SPDX-License-Identifier: MIT OR Apache-2.0
// Modular exponentiation with two multipliers in parallel (the paper's exponentiator): base^e mod M
// from right to left, with the square and the product of each step computed together.
//
// With products divided by R modulo M (digit_product), A = base R and X = R, for each bit of e,
// least significant first: A <- A A, and X <- X A if the bit is 1. Every step computes both
// products; the bit only decides whether X is updated. A step before them converts the base,
// enter_i base / R gives A. One after them leaves Montgomery form: X 1 / R <= M, and M itself only
// for 0 mod M. In all steps A is the multiplicand of both.
//
// The exponent is a stream of at least one bit, with the last one marked. Its length determines the
// timing; its bits affect neither the time nor the order of products. It takes Bits + 2 steps of
// Step cycles each (digit_product), if bits are available when requested. Latency (Bits + 1) Step +
// Terms Period + Words + PerDigit + Latency + 2 cycles from accepting the base to offering the
// result. The next base is accepted once the result has been.
//
// Multipliers: 2 (Digit / Tile) (Width / Tile). Source: [RZ25], Algorithm 3 (from right to left).
module mod_exp_pair #(
    // bits of the modulus, and the others as in mont_mul_digit
    parameter int unsigned N     = 1024,
    parameter int unsigned Digit = 256,
    parameter int unsigned Width = 128,
    parameter int unsigned Tile  = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    // Stable during an exponentiation.
    input  logic [N-1:0]     modulus_i,    // M, odd
    input  logic [Digit-1:0] inverse_i,    // -M^-1 mod 2^Digit
    input  logic [N-1:0]     enter_i,      // R^2 mod M
    input  logic [N-1:0]     one_i,        // R mod M
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [N-1:0]     base_i,
    input  logic             bit_valid_i,
    output logic             bit_ready_o,
    input  logic             bit_i,
    input  logic             bit_last_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [N-1:0]     r_o,
    output logic             mul_o         // two products begin
);
    localparam int unsigned PerDigit = Digit / Width;
    localparam int unsigned Words = (N + Width + 2) / Width;
    localparam int unsigned Terms = (N + Digit + 2) / Digit;
    localparam int unsigned OpBits = Words * Width;
    localparam int unsigned WordIndex = $clog2(Words + PerDigit);
    localparam int unsigned TermIndex = $clog2(Terms + 1);

    typedef enum logic [2:0] {
        Idle,
        Enter,    // the next step to begin
        Bits,
        Exit,
        Finish    // no step: the last one is in progress
    } state_e;
    state_e state_q;
    logic ready, start, first_bit_q, give;

    assign in_ready_o  = state_q == Idle && !out_valid_o && ready;
    assign bit_ready_o = state_q == Bits && ready;
    assign start       = ready && (state_q == Enter || state_q == Exit || (state_q == Bits && bit_valid_i));

    // The destinations of a step's results: known when it begins, used when its last term begins.
    typedef struct packed {
        logic product_to_a;
        logic product_to_x;
        logic square_to_a;
        logic finish;
    } step_t;
    step_t step, now_q, past_q;
    always_comb begin
        step              = '0;
        step.product_to_a = state_q == Enter;
        step.product_to_x = state_q == Exit || (state_q == Bits && bit_i);
        step.square_to_a  = state_q == Bits && !bit_last_i;
        step.finish       = state_q == Exit;
    end

    logic r_valid, finished;
    logic [WordIndex-1:0] r_index;
    assign finished = r_valid && r_index == WordIndex'(Words - 1) && past_q.finish;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q     <= Idle;
            first_bit_q <= 1'b0;
            now_q       <= '0;
            past_q      <= '0;
            out_valid_o <= 1'b0;
        end else begin
            unique case (state_q)
                Idle:    if (in_valid_i && in_ready_o) state_q <= Enter;
                Enter:   if (start) state_q <= Bits;
                Bits:    if (start && bit_last_i) state_q <= Exit;
                Exit:    if (start) state_q <= Finish;
                default: if (finished) state_q <= Idle;
            endcase
            if (start) now_q <= step;
            if (start) first_bit_q <= state_q == Enter;
            if (give) past_q <= now_q;
            if (finished) out_valid_o <= 1'b1;
            else if (out_ready_i) out_valid_o <= 1'b0;
        end
    end

    // ---- A and X. ----

    logic [OpBits-1:0] a_q, x_q;
    logic [Width-1:0] square, product;
    for (genvar k = 0; k < Words; k++) begin : gen_word
        localparam logic [Width-1:0] One = k == 0 ? Width'(1) : '0;
        logic here;
        assign here = r_valid && r_index == WordIndex'(k);
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                a_q[k*Width+:Width] <= '0;
                x_q[k*Width+:Width] <= '0;
            end else begin
                if (in_valid_i && in_ready_o) a_q[k*Width+:Width] <= Width'(OpBits'(base_i) >> (k * Width));
                else if (start && state_q == Exit) a_q[k*Width+:Width] <= One;
                else if (here && past_q.product_to_a) a_q[k*Width+:Width] <= product;
                else if (here && past_q.square_to_a) a_q[k*Width+:Width] <= square;

                if (in_valid_i && in_ready_o) x_q[k*Width+:Width] <= Width'(OpBits'(enter_i) >> (k * Width));
                else if (start && first_bit_q) x_q[k*Width+:Width] <= Width'(OpBits'(one_i) >> (k * Width));
                else if (here && past_q.product_to_x) x_q[k*Width+:Width] <= product;
            end
        end
    end
    assign r_o = x_q[N-1:0];

    // ---- The two multipliers, which read the same words. ----

    logic [WordIndex-1:0] a_index, m_index;
    logic [TermIndex-1:0] b_index;
    logic [Width-1:0] a, m;
    logic [Digit-1:0] a_digit, x_digit;
    digit_select #(
        .W(Width),
        .Digits(Words),
        .IndexBits(WordIndex)
    ) u_a (
        .number_i(a_q),
        .index_i (a_index),
        .digit_o (a)
    );
    digit_select #(
        .W(Width),
        .Digits(Words),
        .IndexBits(WordIndex)
    ) u_m (
        .number_i(OpBits'(modulus_i)),
        .index_i (m_index),
        .digit_o (m)
    );
    digit_select #(
        .W(Digit),
        .Digits(Terms),
        .IndexBits(TermIndex)
    ) u_a_digit (
        .number_i((Terms * Digit)'(a_q)),
        .index_i (b_index),
        .digit_o (a_digit)
    );
    digit_select #(
        .W(Digit),
        .Digits(Terms),
        .IndexBits(TermIndex)
    ) u_x_digit (
        .number_i((Terms * Digit)'(x_q)),
        .index_i (b_index),
        .digit_o (x_digit)
    );

    digit_product #(
        .N(N),
        .Digit(Digit),
        .Width(Width),
        .Tile(Tile)
    ) u_square (
        .clk_i,
        .rst_ni,
        .inverse_i,
        .start_i  (start),
        .ready_o  (ready),
        .first_o  (mul_o),
        .give_o   (give),
        .a_index_o(a_index),
        .a_i      (a),
        .b_index_o(b_index),
        .b_i      (a_digit),
        .m_index_o(m_index),
        .m_i      (m),
        .r_valid_o(r_valid),
        .r_index_o(r_index),
        .r_o      (square)
    );

    // This one runs in step with the first.
    logic ready_too, first_too, give_too, r_valid_too;
    logic [WordIndex-1:0] a_index_too, m_index_too, r_index_too;
    logic [TermIndex-1:0] b_index_too;
    digit_product #(
        .N(N),
        .Digit(Digit),
        .Width(Width),
        .Tile(Tile)
    ) u_product (
        .clk_i,
        .rst_ni,
        .inverse_i,
        .start_i  (start),
        .ready_o  (ready_too),
        .first_o  (first_too),
        .give_o   (give_too),
        .a_index_o(a_index_too),
        .a_i      (a),
        .b_index_o(b_index_too),
        .b_i      (x_digit),
        .m_index_o(m_index_too),
        .m_i      (m),
        .r_valid_o(r_valid_too),
        .r_index_o(r_index_too),
        .r_o      (product)
    );
    logic unused;
    assign unused = ^{x_q, ready_too, first_too, give_too, r_valid_too, a_index_too, m_index_too, r_index_too, b_index_too};
endmodule
