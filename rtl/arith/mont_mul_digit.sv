// SPDX-License-Identifier: MIT OR Apache-2.0
// Montgomery product by large digits (the paper's core): r = a b / R mod M, without a final
// comparison; operands and results are whole numbers.
//
// digit_product defines R and Step, and proves the bounds: M < 2^N is odd; a below 2^(N+2) and b
// with a b < R M give r < 2 M; b = 1 gives r <= M. One product every Step cycles, latency Terms
// Period + Words + PerDigit + Latency + 2 cycles from accepting operands to offering the result, if
// results are accepted within Step cycles. While a result waits, only the product in progress
// continues.
//
// Multipliers: (Digit / Tile) (Width / Tile). Source: [RZ25].
module mont_mul_digit #(
    parameter int unsigned N     = 1024,  // bits of the modulus
    parameter int unsigned Digit = 256,   // bits of a digit, a multiple of Width
    parameter int unsigned Width = 128,   // bits of a word, a multiple of Tile
    parameter int unsigned Tile  = 16,    // bits of the multipliers' factors
    localparam int unsigned Words  = (N + Width + 2) / Width,
    localparam int unsigned OpBits = Words * Width
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic [N-1:0]      modulus_i,    // M, stable while any product is inside
    input  logic [Digit-1:0]  inverse_i,    // -M^-1 mod 2^Digit, also stable
    input  logic              in_valid_i,
    output logic              in_ready_o,
    input  logic [OpBits-1:0] a_i,
    input  logic [OpBits-1:0] b_i,
    output logic              out_valid_o,
    input  logic              out_ready_i,
    output logic [OpBits-1:0] r_o,
    output logic              product_o     // a product begins
);
    localparam int unsigned PerDigit = Digit / Width;
    localparam int unsigned Terms = (N + Digit + 2) / Digit;
    localparam int unsigned WordIndex = $clog2(Words + PerDigit);
    localparam int unsigned TermIndex = $clog2(Terms + 1);

    logic ready, start, r_valid, full_q, give;
    logic [WordIndex-1:0] a_index, m_index, r_index;
    logic [TermIndex-1:0] b_index;
    logic [Width-1:0] a, m, r;
    logic [Digit-1:0] b;
    logic [OpBits-1:0] a_q, b_q, r_q;

    // One result can wait in r_o and the next one in r_q. While one is in r_o, no product begins.
    assign in_ready_o = ready && !out_valid_o && !full_q;
    assign start      = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q <= OpBits'(0);
            b_q <= OpBits'(0);
        end else if (start) begin
            a_q <= a_i;
            b_q <= b_i;
        end
    end

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
    ) u_b (
        .number_i((Terms * Digit)'(b_q)),
        .index_i (b_index),
        .digit_o (b)
    );

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
        .ready_o  (ready),
        .first_o  (product_o),
        .give_o   (give),
        .a_index_o(a_index),
        .a_i      (a),
        .b_index_o(b_index),
        .b_i      (b),
        .m_index_o(m_index),
        .m_i      (m),
        .r_valid_o(r_valid),
        .r_index_o(r_index),
        .r_o      (r)
    );

    for (genvar k = 0; k < Words; k++) begin : gen_word
        always_ff @(posedge clk_i) begin
            if (!rst_ni) r_q[k*Width+:Width] <= '0;
            else if (r_valid && r_index == WordIndex'(k)) r_q[k*Width+:Width] <= r;
        end
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            full_q      <= 1'b0;
            out_valid_o <= 1'b0;
            r_o         <= OpBits'(0);
        end else begin
            if (r_valid && r_index == WordIndex'(Words - 1)) full_q <= 1'b1;
            else if (!out_valid_o) full_q <= 1'b0;
            if (!out_valid_o) begin
                out_valid_o <= full_q;
                r_o         <= r_q;
            end else if (out_ready_i) begin
                out_valid_o <= 1'b0;
            end
        end
    end

    logic unused;
    assign unused = give;
endmodule
