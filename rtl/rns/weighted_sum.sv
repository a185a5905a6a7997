// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums words weighted by powers of two modulo q: r = sum over j of x_j (2^(Step j) mod q).
//
// The weight of x_0 is 1, so there are Items - 1 multipliers. r < 2^(XBits + V + ceil(log2 Items)).
// Latency: one cycle per register stage present. Rate: an item every cycle.
module weighted_sum #(
    parameter logic [63:0] Q        = 64'd1073692673,  // the prime
    parameter int unsigned Items    = 6,               // at least 1
    parameter int unsigned XBits    = 46,              // bits of an x_j
    parameter int unsigned Step     = 60,
    // whether products are cut for DSP blocks (constant_product)
    parameter int unsigned Tiled    = 0,
    parameter int unsigned Products = 0,               // whether the products are registered
    parameter int unsigned Sum      = 0,               // whether the sum is registered
    // Derived.
    parameter int unsigned RBits    = XBits + rns_pkg::word_bits(Q) + $clog2(Items)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   in_valid_i,
    output logic                   in_ready_o,
    input  logic [Items*XBits-1:0] x_i,
    output logic                   out_valid_o,
    input  logic                   out_ready_i,
    output logic [RBits-1:0]       r_o
);
    if (Items < 1 || XBits < 1) $error("weighted_sum: Items and XBits must be at least 1");

    localparam int unsigned V = rns_pkg::word_bits(Q);
    localparam int unsigned ProductBits = XBits + V;
    // The first product needs no more bits than its word.
    localparam int unsigned AllBits = XBits + (Items - 1) * ProductBits;

    logic [AllBits-1:0] products, kept;
    logic kept_valid, kept_ready;
    logic [RBits-1:0] sum;

    assign products[XBits-1:0] = x_i[XBits-1:0];
    for (genvar j = 1; j < int'(Items); j++) begin : gen_product
        localparam logic [V-1:0] Weight = V'(rns_pkg::power_of_two(Step * j, Q));
        constant_product #(
            .FactorBits(V),
            .Factor(Weight),
            .XBits(XBits),
            .XTile((Tiled != 0) ? 26 : 0)
        ) u_product (
            .x_i(x_i[j*XBits+:XBits]),
            .y_o(products[XBits+(j-1)*ProductBits+:ProductBits])
        );
    end

    stream_stage #(
        .Width  (AllBits),
        .Present(Products)
    ) u_products (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .in_data_i  (products),
        .out_valid_o(kept_valid),
        .out_ready_i(kept_ready),
        .out_data_o (kept)
    );

    if (Items == 1) begin : gen_one
        assign sum = RBits'(kept);
    end else begin : gen_many
        always_comb begin
            sum = RBits'(kept[XBits-1:0]);
            for (int j = 1; j < int'(Items); j++) sum = sum + RBits'(kept[XBits+(j-1)*ProductBits+:ProductBits]);
        end
    end

    stream_stage #(
        .Width  (RBits),
        .Present(Sum)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .in_valid_i(kept_valid),
        .in_ready_o(kept_ready),
        .in_data_i (sum),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(r_o)
    );
endmodule
