// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a long sum modulo a special prime, by one fold and a flexible Barrett reduction: r = x
// mod q, x < 2^XBits.
//
//   S = ceil((XBits + V) / 2),   y = (x mod 2^S) + (x >> S) (2^S mod q) < 2^(S+1),   r = y mod q
//
// S makes both summands of y equally long, and y as short as one fold can. XBits > V + 1. Latency:
// one cycle per register stage present. Rate: an item every cycle. Source: [CP24], algorithm 1,
// lines 6 to 8.
module fold_barrett #(
    parameter logic [63:0] Q          = 64'd1073692673,  // the prime
    parameter int unsigned XBits      = 79,
    parameter int unsigned Truncated  = 0,               // the Barrett reduction's form
    // whether products are cut for DSP blocks (constant_product)
    parameter int unsigned Tiled      = 0,
    // whether the product of the fold is registered
    parameter int unsigned Product    = 0,
    parameter int unsigned Fold       = 0,               // whether y is registered
    parameter int unsigned Quotient   = 0,               // the stages of flexible_barrett
    parameter int unsigned Difference = 0,
    parameter int unsigned Residue    = 0,
    // Derived.
    parameter int unsigned V          = rns_pkg::word_bits(Q)
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [XBits-1:0] x_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [V-1:0]     r_o          // below q
);
    if (Truncated > 1 || Tiled > 1 || Product > 1 || Fold > 1) $error("fold_barrett: Truncated, Tiled, Product and Fold are 0 or 1");

    localparam int unsigned S = (XBits + V + 1) / 2;
    localparam int unsigned HighBits = XBits - S;
    localparam int unsigned ProductBits = HighBits + V;
    localparam logic [V-1:0] Weight = V'(rns_pkg::power_of_two(S, Q));

    if (XBits <= V + 1) $error("fold_barrett: XBits must be more than V + 1");

    logic [ProductBits-1:0] product, product_kept;
    logic [S-1:0] low_kept;
    logic product_valid, product_ready, y_valid, y_ready;
    logic [S:0] y;

    constant_product #(
        .FactorBits(V),
        .Factor(Weight),
        .XBits(HighBits),
        .XTile((Tiled != 0) ? 26 : 0)
    ) u_weight (
        .x_i(x_i[XBits-1:S]),
        .y_o(product)
    );

    stream_stage #(
        .Width  (ProductBits + S),
        .Present(Product)
    ) u_product (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .in_data_i  ({product, x_i[S-1:0]}),
        .out_valid_o(product_valid),
        .out_ready_i(product_ready),
        .out_data_o ({product_kept, low_kept})
    );

    stream_stage #(
        .Width  (S + 1),
        .Present(Fold)
    ) u_fold (
        .clk_i,
        .rst_ni,
        .in_valid_i (product_valid),
        .in_ready_o (product_ready),
        .in_data_i  ({1'b0, low_kept} + (S + 1)'(product_kept)),
        .out_valid_o(y_valid),
        .out_ready_i(y_ready),
        .out_data_o (y)
    );

    flexible_barrett #(
        .Q         (Q),
        .K         (S + 1),
        .Truncated (Truncated),
        .Tiled     (Tiled),
        .Quotient  (Quotient),
        .Difference(Difference),
        .Residue   (Residue)
    ) u_barrett (
        .clk_i,
        .rst_ni,
        .in_valid_i(y_valid),
        .in_ready_o(y_ready),
        .x_i       (y),
        .out_valid_o,
        .out_ready_i,
        .r_o
    );
endmodule
