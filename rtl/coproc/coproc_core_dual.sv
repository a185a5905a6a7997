// SPDX-License-Identifier: MIT OR Apache-2.0
// A multiplier of the co-processor on dual numbers (dual_mul), with the conversions into that form
// and out of it.
//
// With M' = u n, the scaled modulus of dual_row for n, a number modulo n^2 is kept as {high, low},
// low + high M', both in two's complement. The result is
//
//   a b / R;   a a / R (in_square_i);   x / R for an integer x < 2^(2 N) (in_enter_i, x as a_i, b_i the dual number 2^N);
//   or when leaving a (1 + m n) / R mod n^2, an integer below n^2 (in_leave_i, m < n as b_i).
//
// Leaving: dual_mul computes (u v, h), the product of a and (u, m), and the result is v + n h
// modulo n^2 with |v| < n, |h| < 1.4 M'. div_exact computes v from u v, modulo 2^(N+1). With U = W
// (D+1) bits of u, x = h + 2^(U+1) n is positive and below 2^(X-1), X = N + U + 3, as M' < 2^U n.
// From x and y = n 2^X mod n^2, X steps of radix-2 reduction (mont_mul_radix2) compute a number r =
// n h modulo n^2 below 1.5 n^2, a positive multiple of n, as x y and n^2 are. So 0 < r + v < 2 n^2,
// and cond_sub gives the result.
//
// Results carry the tag of their operands. Results leave one at a time, and products may overtake
// them. A product every 3 Job cycles, a square every 2 Job (dual_mul). Leaving takes about X + 2 N
// / 32 + 4 N / 64 + 20 cycles, and a second one blocks products until then. The timing depends on
// no number.
module coproc_core_dual #(
    parameter int unsigned N       = 1024,  // bits of n
    // bits of a digit, as in dual_row, and the next two
    parameter int unsigned W       = 17,
    parameter int unsigned V       = 24,
    parameter int unsigned D       = 2,
    parameter int unsigned TagBits = 8,
    parameter int unsigned Fold    = 1,     // as in dual_mul
    localparam int unsigned MtBits   = (N + W - 1) / W * W,
    localparam int unsigned UnitBits = W * (D + 1),
    localparam int unsigned OpBits   = ((N + W + 2) / W + D + 1) * W,
    localparam int unsigned NumBits  = 2 * OpBits
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // of n (dual_row); these are stable while any product is inside
    input  logic [MtBits-1:0]   mt_i,
    input  logic [UnitBits-1:0] unit_i,       // u
    input  logic [N-1:0]        root_i,       // n
    input  logic [2*N-1:0]      modulus_i,    // n^2
    input  logic [2*N-1:0]      exit_i,       // y
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic [TagBits-1:0]  in_tag_i,
    input  logic                in_square_i,
    input  logic                in_enter_i,
    input  logic                in_leave_i,
    input  logic [NumBits-1:0]  a_i,
    input  logic [NumBits-1:0]  b_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [TagBits-1:0]  out_tag_o,
    output logic [NumBits-1:0]  r_o
);
    localparam int unsigned XBits = N + UnitBits + 3;
    // The most that can be in progress: held, in the row, becoming digits, in the result register.
    localparam int unsigned Tags = 4;

    logic mul_in_ready, mul_valid, mul_ready, tags_ready, tag_valid, leaves, product_begins;
    logic [TagBits-1:0] tag;
    logic [OpBits-1:0] high, low;
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

    dual_mul #(
        .H(N),
        .W(W),
        .V(V),
        .D(D),
        .Fold(Fold)
    ) u_mul (
        .clk_i,
        .rst_ni,
        .mt_i,
        .in_valid_i (in_valid_i && tags_ready),
        .in_ready_o (mul_in_ready),
        .enter_i    (in_enter_i),
        .square_i   (in_square_i),
        .a_i,
        .b_i        (in_leave_i ? {OpBits'(b_i[N-1:0]), OpBits'(unit_i)} : b_i),
        .out_valid_o(mul_valid),
        .out_ready_i(mul_ready),
        .r_o        ({high, low}),
        .product_o  (product_begins)
    );

    // ---- Leaving, one at a time, with a register for its tag. ----

    logic leaving_q, leave_take, leave_valid, leave_ready;
    logic [TagBits-1:0] leave_tag_q;
    logic lift_ready, lift_valid, divide_ready, radix_ready;
    assign leave_take = mul_valid && leaves && !leaving_q && lift_ready && divide_ready;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            leaving_q   <= 1'b0;
            leave_tag_q <= '0;
        end else begin
            leaving_q <= leave_take || (leaving_q && !(leave_valid && leave_ready));
            if (leave_take) leave_tag_q <= tag;
        end
    end

    // x, and r = n h.
    logic [XBits-1:0] lifted;
    logic [2*N:0] multiple;
    logic lift_carry;
    wide_add #(
        .N(XBits)
    ) u_lift (
        .clk_i,
        .rst_ni,
        .in_valid_i (leave_take),
        .in_ready_o (lift_ready),
        .a_i        (high[XBits-1:0]),
        .b_i        (XBits'({root_i, (UnitBits + 1)'(0)})),
        .out_valid_o(lift_valid),
        .out_ready_i(radix_ready),
        .r_o        (lifted),
        .carry_o    (lift_carry)
    );

    logic [1:0] both_valid, both_ready;
    mont_mul_radix2 #(
        .N(2 * N),
        .XBits(XBits)
    ) u_radix (
        .clk_i,
        .rst_ni,
        .m_i        (modulus_i),
        .in_valid_i (lift_valid),
        .in_ready_o (radix_ready),
        .x_i        (lifted),
        .y_i        (exit_i),
        .out_valid_o(both_valid[0]),
        .out_ready_i(both_ready[0]),
        .r_o        (multiple)
    );

    // v.
    logic [N:0] quotient;
    div_exact #(
        .XBits(N + 1),
        .DBits(UnitBits),
        .QBits(N + 1),
        .Minus(0)
    ) u_divide (
        .clk_i,
        .rst_ni,
        .d_i        (unit_i),
        .in_valid_i (leave_take),
        .in_ready_o (divide_ready),
        .x_i        (low[N:0]),
        .out_valid_o(both_valid[1]),
        .out_ready_i(both_ready[1]),
        .q_o        (quotient)
    );

    // r + v, then reduced below n^2.
    logic join_valid, join_ready, sum_valid, sum_ready, sum_carry;
    logic [2*N:0] sum;
    logic [2*N-1:0] left;
    stream_join #(
        .Sources(2)
    ) u_join (
        .in_valid_i (both_valid),
        .in_ready_o (both_ready),
        .out_valid_o(join_valid),
        .out_ready_i(join_ready)
    );
    wide_add #(
        .N(2 * N + 1)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .in_valid_i (join_valid),
        .in_ready_o (join_ready),
        .a_i        (multiple),
        .b_i        ((2 * N + 1)'($signed(quotient))),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .r_o        (sum),
        .carry_o    (sum_carry)
    );
    cond_sub #(
        .N(2 * N)
    ) u_sub (
        .clk_i,
        .rst_ni,
        .m_i        (modulus_i),
        .in_valid_i (sum_valid),
        .in_ready_o (sum_ready),
        .a_i        (sum),
        .out_valid_o(leave_valid),
        .out_ready_i(leave_ready),
        .r_o        (left)
    );

    // ---- Both paths end at one port. ----

    logic way_last, way_source, straight_ready;
    assign mul_ready = leaves ? leave_take : straight_ready;

    stream_arbiter #(
        .Sources(2),
        .Width  (TagBits + NumBits)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i  ({leave_valid, mul_valid && !leaves}),
        .in_ready_o  ({leave_ready, straight_ready}),
        .in_last_i   (2'b11),
        .in_data_i   ({leave_tag_q, NumBits'(left), tag, high, low}),
        .out_valid_o,
        .out_ready_i,
        .out_last_o  (way_last),
        .out_source_o(way_source),
        .out_data_o  ({out_tag_o, r_o})
    );

    // Tags wait for their results; the upper bits of these values are not needed.
    logic unused;
    assign unused = ^{tag_valid, product_begins, way_last, way_source, lift_carry, sum_carry, high, low};
endmodule
