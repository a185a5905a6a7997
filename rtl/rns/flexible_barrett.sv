// SPDX-License-Identifier: MIT OR Apache-2.0
// Barrett reduction of an input of any length modulo a special prime: r = x mod q, x < 2^K.
//
//   Truncated = 0: h = (x m) >> K,                                       m = floor(2^K / q)
//   Truncated = 1: h = ((x >> (V-2)) m) >> (K - V + 3),                  m = floor(2^(K+1) / q)
//   r = x - h q, less q if r >= q
//
// In both forms, x / q - h < 2, so one subtraction suffices (2^(V-1) < q < 2^V):
//   0: x / q - h < x (2^K mod q) / (2^K q) + 1 < 2, as x < 2^K;
//   1: the bits cut off x cost less than 2^(V-2) / q < 1/2, those cut off m less than x / 2^(K+1) < 1/2, the last shift less than 1.
// x - h q < 2 q is computed modulo 2^(V+1), and h q by shifts and additions, as 2^V h - beta h. The
// multiplier takes K by K-V+1 bits (0), or K-V+2 by K-V+2 (1).
//
// Latency: one cycle per register stage present. Rate: an item every cycle. Sources: [CP24], figs.
// 2 and 4; [Dhem98] (alpha = gamma + 1, beta = -2) for 1.
module flexible_barrett #(
    parameter logic [63:0] Q          = 64'd1073692673,  // the prime
    parameter int unsigned K          = 56,              // bits of x, more than V, at most 2 V + 16
    parameter int unsigned Truncated  = 0,
    // whether the product is cut for DSP blocks (constant_product)
    parameter int unsigned Tiled      = 0,
    parameter int unsigned Quotient   = 0,               // whether h is registered
    parameter int unsigned Difference = 0,               // whether x - h q is registered
    parameter int unsigned Residue    = 0,               // whether r is registered
    // Derived.
    parameter int unsigned V          = rns_pkg::word_bits(Q)
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [K-1:0] x_i,
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [V-1:0] r_o          // below q
);
    if (Truncated > 1 || Tiled > 1) $error("flexible_barrett: Truncated and Tiled are 0 or 1");
    if (V < 2 || V > 62) $error("flexible_barrett: Q must have 2 to 62 bits");
    if (K <= V || K > 2 * V + 16) $error("flexible_barrett: K must be more than V, at most 2 V + 16");

    localparam logic [63:0] Beta = rns_pkg::beta(Q);
    // The multiplier: the bits cut off x, then the rest of the shift.
    localparam int unsigned Cut = (Truncated != 0) ? V - 2 : 0;
    localparam int unsigned Scale = (Truncated != 0) ? K + 1 : K;
    localparam int unsigned XBits = K - Cut;
    localparam int unsigned MBits = Scale - V + 1;
    localparam int unsigned HBits = K - V + 1;
    localparam logic [MBits-1:0] M = MBits'(rns_pkg::quotient(Scale, Q));

    // h, and the bits of x that the difference needs.
    logic [XBits+MBits-1:0] product;
    logic [HBits-1:0] h;
    logic [V:0] x_low;
    logic h_valid, h_ready;

    constant_product #(
        .FactorBits(MBits),
        .Factor(M),
        .XBits(XBits),
        .XTile((Tiled != 0) ? 17 : 0),
        .FTile(26)
    ) u_m (
        .x_i(x_i[K-1:Cut]),
        .y_o(product)
    );

    stream_stage #(
        .Width  (HBits + V + 1),
        .Present(Quotient)
    ) u_quotient (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .in_data_i  ({product[Scale-Cut+:HBits], x_i[V:0]}),
        .out_valid_o(h_valid),
        .out_ready_i(h_ready),
        .out_data_o ({h, x_low})
    );

    // x - h q modulo 2^(V+1).
    logic [V:0] beta_h, difference, rest;
    logic rest_valid, rest_ready;

    shift_add #(
        .Factor (Beta),
        .InBits (HBits),
        .OutBits(V + 1)
    ) u_beta (
        .x_i(h),
        .y_o(beta_h)
    );
    assign difference = x_low + beta_h - {h[0], {V{1'b0}}};

    stream_stage #(
        .Width  (V + 1),
        .Present(Difference)
    ) u_difference (
        .clk_i,
        .rst_ni,
        .in_valid_i (h_valid),
        .in_ready_o (h_ready),
        .in_data_i  (difference),
        .out_valid_o(rest_valid),
        .out_ready_i(rest_ready),
        .out_data_o (rest)
    );

    // The rest minus q.
    logic [V+1:0] less;
    assign less = {1'b0, rest} - (V + 2)'(Q);

    stream_stage #(
        .Width  (V),
        .Present(Residue)
    ) u_residue (
        .clk_i,
        .rst_ni,
        .in_valid_i(rest_valid),
        .in_ready_o(rest_ready),
        .in_data_i (less[V+1] ? rest[V-1:0] : less[V-1:0]),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(r_o)
    );

`ifdef VERILATOR
    // The bound of the difference holds from the first reset on; before it, valid may be anything.
    logic held_q = 1'b1;
    logic reset_q = 1'b0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            held_q  <= 1'b1;
            reset_q <= 1'b1;
        end else begin
            held_q <= !reset_q || !rest_valid || {1'b0, rest} < (V + 2)'(2 * Q);
            assert (held_q);
        end
    end
`endif  // VERILATOR

    logic unused;
    assign unused = &{1'b0, product, less[V]};
endmodule
