// SPDX-License-Identifier: MIT OR Apache-2.0
// A product modulo p: y = a b mod p. Consists of wide_product and the reducer of the modulus:
// reduce_fermat, reduce_solinas, or reduce_barrett if selected.
//
// Latency: ntt_pkg::product_latency cycles with en_i. Rate: an item every cycle.
module modular_product #(
    parameter int unsigned A       = 64,  // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B       = 32,  // 0: the first form
    parameter int unsigned Barrett = 0,   // 1: Barrett's reduction in any case
    parameter int unsigned ATile   = 24,  // bits of pieces of a factor (wide_product)
    parameter int unsigned BTile   = 17,
    localparam int unsigned Bits   = ntt_pkg::residue_bits(A, B)
) (
    input  logic            clk_i,
    input  logic            en_i,
    input  logic [Bits-1:0] a_i,   // below p
    input  logic [Bits-1:0] b_i,   // below p
    output logic [Bits-1:0] y_o    // below p
);
    if (!ntt_pkg::is_allowed(A, B)) $error("modular_product: A is 2 to 64, B is 0 or 2 to A - 2");
    if (Barrett > 1) $error("modular_product: Barrett is 0 or 1");

    logic [2*Bits-1:0] product;

    wide_product #(
        .Bits (Bits),
        .ATile(ATile),
        .BTile(BTile)
    ) u_product (
        .clk_i,
        .en_i,
        .a_i,
        .b_i,
        .y_o(product)
    );

    if (Barrett == 1) begin : gen_barrett
        reduce_barrett #(
            .M(Bits),
            .P(ntt_pkg::modulus(A, B))
        ) u_reduce (
            .clk_i,
            .en_i,
            .x_i(product),
            .y_o
        );
    end else if (B == 0) begin : gen_fermat
        reduce_fermat #(
            .A(A)
        ) u_reduce (
            .clk_i,
            .en_i,
            .x_i(product[2*A:0]),
            .y_o
        );
        logic unused;
        assign unused = product[2*A+1];
    end else begin : gen_solinas
        reduce_solinas #(
            .A(A),
            .B(B)
        ) u_reduce (
            .clk_i,
            .en_i,
            .x_i(product),
            .y_o
        );
    end
endmodule
