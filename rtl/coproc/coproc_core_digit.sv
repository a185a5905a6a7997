// SPDX-License-Identifier: MIT OR Apache-2.0
// A multiplier of the co-processor, after the paper's: products by large digits (mont_mul_digit),
// and the conversion out of Montgomery form.
//
//   r = a b / R mod M < 2 M, or when leaving (in_leave_i) the same below M,   R = 2^(Digit ceil((2 N + 3) / Digit)) > 8 M,
//
// for a b < R M: a < 4 M and b < 2 M, such as the sum of a product and a number below M, or any
// number and one below M. When leaving, cond_sub subtracts M if the product is not below it.
//
// Results carry the tag of their operands; products may overtake results that leave. A product
// every Step cycles (digit_product), leaving or not, if results are accepted in that time. The
// timing depends on no number.
module coproc_core_digit #(
    parameter int unsigned N       = 512,  // bits of n; the modulus M has up to 2 N
    parameter int unsigned Digit   = 256,  // as in mont_mul_digit, and the others
    parameter int unsigned Width   = 128,
    parameter int unsigned Tile    = 16,
    parameter int unsigned TagBits = 8,
    localparam int unsigned MtBits  = Digit,
    localparam int unsigned NumBits = (2 * N + Width + 2) / Width * Width
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    // -M^-1 mod 2^Digit; these two are stable while any product is inside
    input  logic [MtBits-1:0]  mt_i,
    input  logic [2*N-1:0]     modulus_i,   // M
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [TagBits-1:0] in_tag_i,
    input  logic               in_leave_i,
    input  logic [NumBits-1:0] a_i,
    input  logic [NumBits-1:0] b_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [TagBits-1:0] out_tag_o,
    output logic [NumBits-1:0] r_o
);
    // The most that can be in progress: in the multiplier, behind it, in its two registers.
    localparam int unsigned Tags = 4;

    logic mul_in_ready, mul_valid, mul_ready, tags_ready, tag_valid, leaves, product_begins;
    logic [TagBits-1:0] tag;
    logic [NumBits-1:0] product;
    assign in_ready_o = mul_in_ready && tags_ready;

    stream_fifo #(
        .Width(TagBits + 1),
        .Depth(Tags)
    ) u_tags (
        .clk_i,
        .rst_ni,
        .in_valid_i (in_valid_i && mul_in_ready),
        .in_ready_o (tags_ready),
        .in_data_i  ({in_leave_i, in_tag_i}),
        .out_valid_o(tag_valid),
        .out_ready_i(mul_valid && mul_ready),
        .out_data_o ({leaves, tag})
    );

    mont_mul_digit #(
        .N(2 * N),
        .Digit(Digit),
        .Width(Width),
        .Tile(Tile)
    ) u_mul (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i  (mt_i),
        .in_valid_i (in_valid_i && tags_ready),
        .in_ready_o (mul_in_ready),
        .a_i,
        .b_i,
        .out_valid_o(mul_valid),
        .out_ready_i(mul_ready),
        .r_o        (product),
        .product_o  (product_begins)
    );

    // Leaving, one at a time, with a register for its tag.
    logic sub_ready, leave_valid, leave_ready;
    logic [TagBits-1:0] leave_tag_q;
    logic [2*N-1:0] left;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) leave_tag_q <= '0;
        else if (mul_valid && leaves && sub_ready) leave_tag_q <= tag;
    end

    cond_sub #(
        .N(2 * N)
    ) u_sub (
        .clk_i,
        .rst_ni,
        .m_i        (modulus_i),
        .in_valid_i (mul_valid && leaves),
        .in_ready_o (sub_ready),
        .a_i        (product[2*N:0]),
        .out_valid_o(leave_valid),
        .out_ready_i(leave_ready),
        .r_o        (left)
    );

    // Both paths end at one port.
    logic both_last, both_source;
    logic [1:0] both_ready;
    assign {leave_ready, mul_ready} = {both_ready[1], leaves ? sub_ready : both_ready[0]};

    stream_arbiter #(
        .Sources(2),
        .Width  (TagBits + NumBits)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i  ({leave_valid, mul_valid && !leaves}),
        .in_ready_o  (both_ready),
        .in_last_i   (2'b11),
        .in_data_i   ({leave_tag_q, NumBits'(left), tag, product}),
        .out_valid_o,
        .out_ready_i,
        .out_last_o  (both_last),
        .out_source_o(both_source),
        .out_data_o  ({out_tag_o, r_o})
    );

    // Tags wait for their results; a product is below 2 M.
    logic unused;
    assign unused = ^{tag_valid, product_begins, both_last, both_source};
endmodule
