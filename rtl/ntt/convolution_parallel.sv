// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies two polynomials of K / 2 coefficients of Base bits: two transforms, K products and one
// inverse transform, fully in parallel.
//
// Coefficients of the product are below 2^Bound, Bound = 2 Base + log2(K) - 1, and below p;
// elaboration checks the latter. Latency: 2 log2(K) times butterfly's plus modular_product's, in
// cycles with en_i. Rate: a product every cycle. Source: [CMOOH13], fig. 1 (i).
module convolution_parallel #(
    parameter int unsigned A       = 32,     // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B       = 0,      // 0: the first form
    // a power of two; divides 4 T if the modulus has a T (ntt_pkg)
    parameter int unsigned K       = 64,
    parameter logic [65:0] Root    = 66'd0,  // of order K, if the modulus has no T
    parameter int unsigned Barrett = 0,      // 1: products use Barrett's reduction
    parameter int unsigned Base    = 12,     // bits of a coefficient
    parameter int unsigned ATile   = 24,     // bits of pieces of a factor (wide_product)
    localparam int unsigned Bound  = 2 * Base + $clog2(K) - 1
) (
    input  logic                     clk_i,
    input  logic                     en_i,
    input  logic [K*Base/2-1:0]      x_i,
    input  logic [K*Base/2-1:0]      y_i,
    output logic [K-1:0][Bound-1:0]  z_o
);
    localparam int unsigned Bits = ntt_pkg::residue_bits(A, B);
    localparam logic [131:0] Largest = (132'd1 << Base) - 132'd1;
    localparam logic [131:0] Most = (Largest * Largest) << ($clog2(K) - 1);

    if (Base < 1 || Base > 64 || Most >= 132'(ntt_pkg::modulus(A, B))) $error("convolution_parallel: Base is too large for the modulus");

    logic [K-1:0][Bits-1:0] x, y, x_transform, y_transform, product, z;

    for (genvar t = 0; t < int'(K); t++) begin : gen_coefficient
        if (t < int'(K / 2)) begin : gen_given
            assign x[t] = Bits'(x_i[t*Base+:Base]);
            assign y[t] = Bits'(y_i[t*Base+:Base]);
        end else begin : gen_zero
            assign x[t] = '0;
            assign y[t] = '0;
        end
        assign z_o[t] = Bound'(z[t]);
    end

    ntt_parallel #(
        .A      (A),
        .B      (B),
        .K      (K),
        .Root   (Root),
        .Barrett(Barrett)
    ) u_x (
        .clk_i,
        .en_i,
        .x_i(x),
        .y_o(x_transform)
    );

    ntt_parallel #(
        .A      (A),
        .B      (B),
        .K      (K),
        .Root   (Root),
        .Barrett(Barrett)
    ) u_y (
        .clk_i,
        .en_i,
        .x_i(y),
        .y_o(y_transform)
    );

    for (genvar t = 0; t < int'(K); t++) begin : gen_point
        modular_product #(
            .A      (A),
            .B      (B),
            .Barrett(Barrett),
            .ATile  (ATile)
        ) u_product (
            .clk_i,
            .en_i,
            .a_i(x_transform[t]),
            .b_i(y_transform[t]),
            .y_o(product[t])
        );
    end

    ntt_parallel #(
        .A      (A),
        .B      (B),
        .K      (K),
        .Root   (Root),
        .Barrett(Barrett),
        .Inverse(1)
    ) u_z (
        .clk_i,
        .en_i,
        .x_i(product),
        .y_o(z)
    );

    logic unused;
    assign unused = &{1'b0, z};
endmodule
