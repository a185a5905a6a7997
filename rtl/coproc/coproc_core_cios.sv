// SPDX-License-Identifier: MIT OR Apache-2.0
// A multiplier of the co-processor: products of numbers in Montgomery form on mont_mul_cios, and
// the conversion out of that form.
//
//   a b / R mod M, or when leaving (in_leave_i) a b / (R S) mod M below M,  S = 2^(W (D+1)).
//
// A product is below 2 M' if a and b are (mont_mul_cios, for a modulus of 2 N bits). When leaving,
// b is below M, so the product is below M' + M / 2. S steps of radix-2 reduction (mont_mul_radix2,
// with the factor 1) give less than 2 M, and cond_sub less than M: proof in rtl/coproc/README.md.
//
// Results carry the tag of their operands; products may overtake results that leave. A product
// every Interval cycles. Leaving, one every 2 N / 64 + 4 or S's W (D+1) + 4 cycles, whichever is
// more, if that is more. The timing depends on no number.
module coproc_core_cios #(
    parameter int unsigned N       = 1024,  // bits of n, at least W; the modulus M has up to 2 N
    parameter int unsigned W       = 17,    // bits of a digit, as in mont_mul_cios
    parameter int unsigned V       = 24,    // bits of a word, as there
    parameter int unsigned D       = 2,     // delay of the quotient, as there
    parameter int unsigned TagBits = 8,
    localparam int unsigned MtBits  = (2 * N + W - 1) / W * W,
    localparam int unsigned NumBits = ((2 * N + W) / W + D + 1) * W
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [MtBits-1:0]  mt_i,        // these two are stable while any product is inside
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
    localparam int unsigned Leave = W * (D + 1);
    // The most that a chain can hold, and some margin.
    localparam int unsigned Tags = 4;

    // Products.
    logic mul_in_ready, mul_valid, mul_ready, tags_ready, tag_valid, leaves;
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

    logic unused_busy;
    mont_mul_cios #(
        .N(2 * N),
        .W(W),
        .V(V),
        .D(D)
    ) u_mul (
        .clk_i,
        .rst_ni,
        .mt_i,
        .in_valid_i (in_valid_i && tags_ready),
        .in_ready_o (mul_in_ready),
        .a_i,
        .b_i,
        .out_valid_o(mul_valid),
        .out_ready_i(mul_ready),
        .r_o        (product),
        .busy_o     (unused_busy)
    );

    // The conversion out of Montgomery form.
    logic leave_tags_ready, radix_in_ready, radix_valid, radix_ready, leave_valid, leave_ready, leave_tag_valid;
    logic [TagBits-1:0] leave_tag;
    logic [NumBits:0] reduced;
    logic [2*N-1:0] left;

    stream_fifo #(
        .Width(TagBits),
        .Depth(Tags)
    ) u_leave_tags (
        .clk_i,
        .rst_ni,
        .in_valid_i (mul_valid && leaves && radix_in_ready),
        .in_ready_o (leave_tags_ready),
        .in_data_i  (tag),
        .out_valid_o(leave_tag_valid),
        .out_ready_i(leave_valid && leave_ready),
        .out_data_o (leave_tag)
    );

    // The multiplier of the conversion reads it to the end.
    logic radix_start;
    logic [NumBits-1:0] leaving_q;
    assign radix_start = mul_valid && leaves && leave_tags_ready && radix_in_ready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) leaving_q <= NumBits'(0);
        else if (radix_start) leaving_q <= product;
    end

    mont_mul_radix2 #(
        .N(NumBits),
        .XBits(Leave)
    ) u_radix (
        .clk_i,
        .rst_ni,
        .m_i        (NumBits'(modulus_i)),
        .in_valid_i (mul_valid && leaves && leave_tags_ready),
        .in_ready_o (radix_in_ready),
        .x_i        (Leave'(1)),
        .y_i        (leaving_q),
        .out_valid_o(radix_valid),
        .out_ready_i(radix_ready),
        .r_o        (reduced)
    );

    cond_sub #(
        .N(2 * N)
    ) u_sub (
        .clk_i,
        .rst_ni,
        .m_i        (modulus_i),
        .in_valid_i (radix_valid),
        .in_ready_o (radix_ready),
        .a_i        (reduced[2*N:0]),
        .out_valid_o(leave_valid),
        .out_ready_i(leave_ready),
        .r_o        (left)
    );

    // Both paths end at one port.
    logic both_last, both_source;
    logic [1:0] both_ready;
    assign {leave_ready, mul_ready} = {both_ready[1], leaves ? radix_in_ready && leave_tags_ready : both_ready[0]};

    stream_arbiter #(
        .Sources(2),
        .Width  (TagBits + NumBits)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i({leave_valid, mul_valid && !leaves}),
        .in_ready_o(both_ready),
        .in_last_i(2'b11),
        .in_data_i({leave_tag, NumBits'(left), tag, product}),
        .out_valid_o,
        .out_ready_i,
        .out_last_o(both_last),
        .out_source_o(both_source),
        .out_data_o({out_tag_o, r_o})
    );

    // Tags wait for their results; a reduced number fits the modulus and one more bit.
    logic unused;
    assign unused = ^{unused_busy, tag_valid, leave_tag_valid, both_last, both_source, reduced[NumBits:2*N+1]};
endmodule
