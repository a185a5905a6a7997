// SPDX-License-Identifier: MIT OR Apache-2.0
// Montgomery product, a bit per cycle (the paper's MM_B): r = x y / 2^XBits mod m, with a
// multiplier operand x of any length, without a final subtraction and without multipliers.
//
//   S <- (S + q m) / 2 + x_i y = floor(S / 2) + q (floor(m / 2) + 1) + x_i y,    q = S mod 2,
//
// for i = 0 to XBits, with x_XBits = 0. The quotient bit is a bit of the register; it does not wait
// for x_i y. Bounds: S < m + 2 y throughout (by induction), and r <= x y / 2^XBits + m: below 2 m
// if y < m.
//
// S is kept in words of Word + 3 bits, Word apart: x' = floor(x / 2) + 2^(Word-1) (lowest bit of
// the next word) + two terms below 2^Word + 1 stays below 5 * 2^Word. Their carries are resolved at
// the end (carry_resolve, two words per cycle). Latency XBits + ceil((Words + 1) / 2) + 3 cycles
// from accepting x to offering the result, Words = ceil(N / Word). One product per XBits + 2
// cycles, while results are accepted. Source: [Montgomery85], radix 2; the addition order of
// [Walter99].
module mont_mul_radix2 #(
    parameter int unsigned N     = 1024,  // bits of the modulus, at least 2
    parameter int unsigned XBits = 2050,  // bits of x, at least 1
    // bits between words: the length of a carry chain, at least 4
    parameter int unsigned Word  = 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [N-1:0]     m_i,          // odd, stable from accepting x to the result
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [XBits-1:0] x_i,
    input  logic [N-1:0]     y_i,          // stable from accepting x to the result
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [N:0]       r_o
);
    if (N < 2 || XBits < 1 || Word < 4) begin : gen_bad
        $error("mont_mul_radix2: N must be at least 2, XBits at least 1, Word at least 4");
    end

    localparam int unsigned Words = (N + Word - 1) / Word;
    localparam int unsigned B = Word + 3;
    localparam int unsigned CountBits = $clog2(XBits + 2);

    logic busy_q, last_q, resolve_ready, start;
    logic [CountBits-1:0] count_q;
    logic [XBits-1:0] x_q;
    logic [Words*Word-1:0] y, half;
    logic [(Words+1)*B-1:0] sum;
    logic [(Words+1)*Word-1:0] result;

    // The sum waits in its last cycle until it is passed on; then the next product may begin.
    assign in_ready_o = !busy_q || (last_q && resolve_ready);
    assign start      = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q  <= 1'b0;
            last_q  <= 1'b0;
            count_q <= '0;
        end else if (start) begin
            busy_q  <= 1'b1;
            last_q  <= 1'b0;
            count_q <= '0;
        end else if (last_q && resolve_ready) begin
            busy_q <= 1'b0;
            last_q <= 1'b0;
        end else if (busy_q && !last_q) begin
            count_q <= count_q + 1'b1;
            last_q  <= count_q == CountBits'(XBits);
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) x_q <= '0;
        else if (start) x_q <= x_i;
        else if (busy_q) x_q <= x_q >> 1;
    end

    assign y    = (Words * Word)'(y_i);
    assign half = (Words * Word)'(m_i[N-1:1]);
    // m is odd.
    logic unused_m;
    assign unused_m = m_i[0];

    logic low[Words+1];
    assign low[Words] = 1'b0;
    for (genvar j = 0; j < Words; j++) begin : gen_word
        logic [B-1:0] x_word_q, shifted;
        logic [Word-1:0] q_half, x_y;
        // floor(x / 2) with the lowest bit of the next word inserted: only the top bits need an
        // addition.
        assign shifted[Word-2:0]   = x_word_q[Word-1:1];
        assign shifted[B-1:Word-1] = 4'(x_word_q[B-1:Word]) + 4'(low[j+1]);
        // Word 0 also adds the 1 of floor(m / 2) + 1.
        assign q_half = low[0] ? half[j*Word+:Word] : '0;
        assign x_y    = x_q[0] ? y[j*Word+:Word] : '0;
        assign low[j] = x_word_q[0];
        always_ff @(posedge clk_i) begin
            if (!rst_ni) x_word_q <= '0;
            else if (start) x_word_q <= '0;
            else if (!last_q) x_word_q <= (shifted + B'(q_half) + B'(j == 0 && low[0])) + B'(x_y);
        end
        assign sum[j*B+:B] = x_word_q;
    end
    assign sum[Words*B+:B] = '0;

    carry_resolve #(
        .Words(Words + 1),
        .W(Word),
        .B(B),
        .PerCycle(2)
    ) u_resolve (
        .clk_i,
        .rst_ni,
        .in_valid_i(last_q),
        .in_ready_o(resolve_ready),
        .x_i       (sum),
        .out_valid_o,
        .out_ready_i,
        .r_o       (result)
    );
    assign r_o = result[N:0];
    // r < 2^(N+1).
    logic unused;
    assign unused = ^result[(Words+1)*Word-1:N+1];
endmodule
