// SPDX-License-Identifier: MIT OR Apache-2.0
// A segment of a modular exponentiation by the Montgomery ladder (the paper's ME): two products in
// parallel for every bit of the exponent.
//
// From the pair (S, Z), for each bit of the segment, most significant first: bit 1: S <- S Z, Z <-
// Z^2; bit 0: Z <- S Z, S <- S^2 (products divided by R modulo M, mont_row). A pair is passed on in
// the order (x, y), where x is squared next: S before a bit 0 and Z before a bit 1. So both
// products share the multiplicand x: x x and x y. Each row of multipliers computes one product of
// each step, and the bit only selects which result becomes x. next_i is the bit that follows the
// segment, 0 after the last. With Exit, one more step computes S * 1 / R in x_o, out of Montgomery
// form, at most M'.
//
// A segment may have fewer bits than Bits. They are then the highest of exponent_i, the bit below
// them is the one after the segment and replaces next_i, and steps_i is smaller.
//
// Starting with S = R mod M, Z = c R, segments that form e give S = c^e R. All values are below 2
// M' (mont_row), in redundant words of V + 1 bits, cut as mont_row says (Chained): the first Period
// below 2^v, the others at most 2^v + 2^(v-W) + 1. This holds for inputs and outputs.
//
// Latency (steps_i + 1) Step + 1 cycles from accepting a pair to offering it, Step = T + D + 4 + 2
// Near, T as in mont_sequencer (71 at N = 1024, W = 17, D = 2); one pair per latency + 1 cycles.
// The numbers of cycles and multiplications are the same for every exponent of a length and every
// pair.
//
// Multipliers: 2 (Words + MtWords) of W x (V+1) bits, MtWords = ceil(N Period / Span), each with
// registers at its inputs, after the product and at its output (mont_word). A DSP48E1 fits W = 17,
// V = 23 (188 at N = 1024, D = 2), a multiplier of 18 x 18 bits W = V = 17. Longest paths, by Yosys
// for xc7: 5 LUTs besides carry chains, outside of DSP blocks; none through two multipliers.
// Source: [JY02]; the segments: [HDSST25], fig. 2.
module mod_exp_ladder #(
    parameter int unsigned N    = 1024,  // bits of the modulus, as in mont_row
    parameter int unsigned W    = 17,
    parameter int unsigned V    = 23,
    parameter int unsigned D    = 2,
    parameter int unsigned Near = 0,     // as in mont_row
    parameter int unsigned Bits = 86,    // bits of the longest segment, at least 1
    // 1 for the last segment, which leaves Montgomery form, otherwise 0
    parameter int unsigned Exit = 0,
    localparam int unsigned MtBits   = (N + W - 1) / W * W,
    localparam int unsigned Span     = W * (D + 2),
    localparam int unsigned Period   = (Span + V - 1) / V,
    localparam int unsigned Words    = ((N + W * (D + 1) + 1) * Period + Span - 1) / Span,
    localparam int unsigned PairBits = Words * (V + 1),
    localparam int unsigned CountBits = $clog2(Bits + Exit + 1)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // (M' + 1) / 2^(W (D+1)), stable during a pair
    input  logic [MtBits-1:0]   mt_i,
    input  logic [Bits-1:0]     exponent_i,  // also stable
    // Also stable: bits of the segment + Exit - 1, from Exit to Bits + Exit - 1.
    input  logic [CountBits-1:0] steps_i,
    input  logic                next_i,      // also stable
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic [PairBits-1:0] x_i,
    input  logic [PairBits-1:0] y_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [PairBits-1:0] x_o,
    output logic [PairBits-1:0] y_o,
    output logic                mul_o        // two products begin
);
    if (Bits < 1 || Exit > 1) begin : gen_bad_bits
        $error("mod_exp_ladder: Bits must be at least 1, Exit 0 or 1");
    end

    localparam int unsigned UpperBits = (Words - Period) * (V + 1);

    // The states idle, busy (u_steps) and done are exclusive. While idle, the operands are loaded
    // every cycle, so that no input drives the enables of hundreds of flip-flops. start makes the
    // last load count.
    logic idle_q, idle_d, done_q, start, busy, first, clear, take_q, feed, ahead, last;
    logic exit_q, exit_d, square_to_x_q;
    logic [1:0] source_x_q, source_y_q;  // of mont_digits; registers, for the same reason
    logic [CountBits-1:0] left_q;  // steps after this one
    // this step's bit on top, then the others, then the one after the segment
    logic [Bits:0] bits_q;
    logic [W-1:0] digit_x, digit_y, q_square, q_product;
    logic [UpperBits-1:0] upper_square, upper_product;

    assign in_ready_o  = idle_q;
    assign out_valid_o = done_q;
    assign mul_o       = first;
    assign start       = (idle_q && in_valid_i) || (last && left_q != '0);

    mont_sequencer #(
        .N(N),
        .W(W),
        .D(D),
        .Wait(2 * Near)
    ) u_steps (
        .clk_i,
        .rst_ni,
        .start_i (start),
        .stay_i  (1'b0),
        .busy_o  (busy),
        .first_o (first),
        .clear_o (clear),
        .take_q_o(take_q),
        .feed_o  (feed),
        .ahead_o (ahead),
        .last_o  (last)
    );

    assign idle_d = idle_q ? !in_valid_i : done_q && out_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            idle_q     <= 1'b1;
            done_q     <= 1'b0;
            source_x_q <= 2'd1;
            source_y_q <= 2'd1;
        end else begin
            idle_q     <= idle_d;
            done_q     <= done_q ? !out_ready_i : last && left_q == '0;
            source_x_q <= ahead ? {1'b1, !square_to_x_q} : {1'b0, idle_d};
            source_y_q <= ahead ? {1'b1, square_to_x_q} : {1'b0, idle_d};
        end
    end

    // Whether the next cycle belongs to the step that leaves Montgomery form.
    assign exit_d = !idle_q && (last ? Exit == 1 && left_q == CountBits'(1) : exit_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            left_q <= '0;
            bits_q <= '0;
            exit_q <= 1'b0;
        end else if (idle_q) begin
            left_q <= steps_i;
            bits_q <= {exponent_i, Exit == 0 && next_i};
            exit_q <= exit_d;
        end else if (last) begin
            left_q <= left_q - 1'b1;
            bits_q <= bits_q << 1;
            exit_q <= exit_d;
        end
    end

    // The next x is the square if the next bit equals this one. After the exit step it is the
    // product S * 1.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            square_to_x_q <= 1'b0;
        end else if (first) begin
            square_to_x_q <= bits_q[Bits] == bits_q[Bits-1] && !exit_q;
        end
    end

    mont_digits #(
        .N(N),
        .W(W),
        .V(V),
        .D(D)
    ) u_x (
        .clk_i,
        .rst_ni,
        .shift_i      (busy),
        .load_i       (idle_q),
        .source_i     (source_x_q),
        .feed_i       (feed),
        .q_i          (square_to_x_q ? q_square : q_product),
        .words_i      (x_i),
        .upper_a_i    (upper_square),
        .upper_b_i    (upper_product),
        .other_i      (1'b0),
        .other_digit_i('0),
        .words_o      (x_o),
        .digit_o      (digit_x)
    );

    // In the exit step the multiplier is 1.
    mont_digits #(
        .N(N),
        .W(W),
        .V(V),
        .D(D)
    ) u_y (
        .clk_i,
        .rst_ni,
        .shift_i      (busy),
        .load_i       (idle_q),
        .source_i     (source_y_q),
        .feed_i       (feed),
        .q_i          (square_to_x_q ? q_product : q_square),
        .words_i      (y_i),
        .upper_a_i    (upper_square),
        .upper_b_i    (upper_product),
        .other_i      (exit_d),
        .other_digit_i(W'(last)),
        .words_o      (y_o),
        .digit_o      (digit_y)
    );

    mont_row #(
        .N(N),
        .W(W),
        .V(V),
        .D(D),
        .Near(Near)
    ) u_square (
        .clk_i,
        .rst_ni,
        .clear_i (clear),
        .hold_i  (1'b0),
        .load_i  (start),
        .take_q_i(take_q),
        .mt_i,
        .a_i     (x_o),
        .b_i     (digit_x),
        .q_o     (q_square),
        .y_o     (upper_square)
    );

    mont_row #(
        .N(N),
        .W(W),
        .V(V),
        .D(D),
        .Near(Near)
    ) u_product (
        .clk_i,
        .rst_ni,
        .clear_i (clear),
        .hold_i  (1'b0),
        .load_i  (start),
        .take_q_i(take_q),
        .mt_i,
        .a_i     (x_o),
        .b_i     (digit_y),
        .q_o     (q_product),
        .y_o     (upper_product)
    );
endmodule
