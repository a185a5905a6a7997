// SPDX-License-Identifier: MIT OR Apache-2.0
// Barrett reduction of a product for any modulus: y = x mod P, x < 2^(2M), P of M bits.
//
//   s = ((x >> (M-4)) m) >> (M+8),   m = floor(2^(2M+4) / P),   y = x - s P, less P if that is not below P
//
// x / P - s < 1/8 (the bits cut off x) + 1/16 (the bits cut off m) + 1 (the last shift) < 2, so one
// subtraction is enough. x - s P is computed modulo 2^(M+1). Latency: 4 cycles with en_i. Rate: an
// item every cycle. Source: [CMOOH13], fig. 3 (i), alpha = M + 4 and beta = -4.
module reduce_barrett #(
    parameter int unsigned M = 32,              // 5 to 65
    parameter logic [65:0] P = 66'd4293918721   // of M bits
) (
    input  logic           clk_i,
    input  logic           en_i,
    input  logic [2*M-1:0] x_i,
    output logic [M-1:0]   y_o    // below P
);
    if (M < 5 || M > 65 || (P >> (M - 1)) != 66'd1) $error("reduce_barrett: P must have M bits, 5 to 65");

    localparam logic [M+4:0] Scaled = (M + 5)'((135'd1 << (2 * M + 4)) / 135'(P));

    logic [2*M+8:0] product_q;
    logic [M:0] quotient;
    logic [M+1:0] less;
    logic [M:0] x_q, x_qq, multiple_q, rest_q;
    assign quotient = product_q[2*M+8:M+8];
    assign less = {1'b0, rest_q} - (M + 2)'(P);

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            product_q  <= (2 * M + 9)'(x_i[2*M-1:M-4]) * (2 * M + 9)'(Scaled);
            x_q        <= x_i[M:0];
            multiple_q <= quotient * (M + 1)'(P);
            x_qq       <= x_q;
            rest_q     <= x_qq - multiple_q;
            y_o        <= less[M+1] ? rest_q[M-1:0] : less[M-1:0];
        end
    end

    logic unused;
    assign unused = &{1'b0, product_q[M+7:0], less[M]};
endmodule
