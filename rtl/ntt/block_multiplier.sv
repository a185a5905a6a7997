// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies blocks and sums the products of a row, fully in parallel. Input: blocks of two
// numbers, K Base / 2 bits of each. Output: words of Width = Group Base bits of the rows.
//
//   r = addend + sum over j of x_j y_j 2^(j K Base / 2)      (block_rows describes the order of rows and addend)
//
// Latency from a block to its first word: 2 log2(K) butterflies, a product, log2(Group) additions
// (convolution_parallel, pair_sums) and 1 cycle. Rate: a block every K / (2 Group) cycles, a row of
// J blocks every (J + 1) K / (2 Group). This is the count of [CMOOH13], including the words of a
// row's end. Source: [CMOOH13], section 3.
module block_multiplier #(
    parameter int unsigned A       = 32,     // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B       = 0,      // 0: the first form
    // a power of two; divides 4 T if the modulus has a T (ntt_pkg)
    parameter int unsigned K       = 64,
    parameter logic [65:0] Root    = 66'd0,  // of order K, if the modulus has no T
    parameter int unsigned Barrett = 0,      // 1: products use Barrett's reduction
    parameter int unsigned Base    = 12,     // bits of a coefficient: see convolution_parallel
    parameter int unsigned Group   = 4,      // coefficients of a word, a power of two, 2 to K / 4
    parameter int unsigned ATile   = 24,     // bits of pieces of a factor (wide_product)
    localparam int unsigned Width  = Group * Base
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic                first_i,
    input  logic                last_i,
    input  logic [K*Base/2-1:0] x_i,
    input  logic [K*Base/2-1:0] y_i,
    input  logic                add_valid_i,
    output logic                add_ready_o,
    input  logic [Width-1:0]    add_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic                out_last_o,
    output logic [Width-1:0]    out_o
);
    if (Group < 2 || (Group & (Group - 1)) != 0 || 4 * Group > K) $error("block_multiplier: Group is a power of two, 2 to K / 4");

    localparam int unsigned Bound = 2 * Base + $clog2(K) - 1;
    localparam int unsigned WordBits = Bound + Base * (Group - 1) + 1;
    localparam int unsigned Butterflies = 2 * $clog2(K) * ntt_pkg::butterfly_latency(A, B, K, Barrett);
    localparam int unsigned Stages = Butterflies + ntt_pkg::product_latency(A, B, Barrett) + $clog2(Group);

    logic en, block_valid, block_ready, first, last;
    logic [K-1:0][Bound-1:0] z;
    logic [K/Group-1:0][WordBits-1:0] word;

    pipe_flow_control #(
        .Stages(Stages)
    ) u_pace (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .en_o       (en),
        .out_valid_o(block_valid),
        .out_ready_i(block_ready)
    );

    delay_line #(
        .Width (2),
        .Cycles(Stages)
    ) u_place (
        .clk_i,
        .en_i(en),
        .x_i ({first_i, last_i}),
        .y_o ({first, last})
    );

    convolution_parallel #(
        .A      (A),
        .B      (B),
        .K      (K),
        .Root   (Root),
        .Barrett(Barrett),
        .Base   (Base),
        .ATile  (ATile)
    ) u_product (
        .clk_i,
        .en_i(en),
        .x_i,
        .y_i,
        .z_o (z)
    );

    pair_sums #(
        .K    (K),
        .Base (Base),
        .Bound(Bound),
        .Group(Group)
    ) u_sums (
        .clk_i,
        .en_i  (en),
        .z_i   (z),
        .word_o(word)
    );

    block_rows #(
        .Half    (K / Group / 2),
        .Width   (Width),
        .WordBits(WordBits)
    ) u_rows (
        .clk_i,
        .rst_ni,
        .in_valid_i(block_valid),
        .in_ready_o(block_ready),
        .first_i   (first),
        .last_i    (last),
        .word_i    (word),
        .add_valid_i,
        .add_ready_o,
        .add_i,
        .out_valid_o,
        .out_ready_i,
        .out_last_o,
        .out_o
    );
endmodule
