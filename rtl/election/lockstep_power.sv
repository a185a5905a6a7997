// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes a power with a secret exponent twice, on units that share nothing, and compares the two
// results.
//
// The result is valid with equal_o. If they differ, there is none: r_o is 0. A fault in one unit,
// or in its state, never leaves as a number.
module lockstep_power #(
    parameter int unsigned N     = 512,  // see secret_power
    parameter int unsigned EBits = 544,
    parameter int unsigned Digit = 32,
    parameter int unsigned Width = 32,
    parameter int unsigned Tile  = 16,
    localparam int unsigned CountBits = $clog2(EBits + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [N-1:0]         modulus_i,
    input  logic [Digit-1:0]     inverse_i,
    input  logic [N-1:0]         enter_i,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [N-1:0]         start_i,
    input  logic [N-1:0]         base_i,
    input  logic [EBits-1:0]     exponent_i,
    input  logic [CountBits-1:0] bits_i,
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic                 equal_o,
    output logic [N-1:0]         r_o
);
    logic [1:0] ready, valid;
    logic [N-1:0] r[2];

    assign in_ready_o = &ready;
    assign out_valid_o = &valid;
    assign equal_o = out_valid_o && r[0] == r[1];
    assign r_o = equal_o ? r[0] : N'(0);

    secret_power #(
        .N    (N),
        .EBits(EBits),
        .Digit(Digit),
        .Width(Width),
        .Tile (Tile)
    ) u_first (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i,
        .enter_i,
        .in_valid_i (in_valid_i && ready[1]),
        .in_ready_o (ready[0]),
        .start_i,
        .base_i,
        .exponent_i,
        .bits_i,
        .out_valid_o(valid[0]),
        .out_ready_i(out_ready_i && valid[1]),
        .r_o        (r[0])
    );

    secret_power #(
        .N    (N),
        .EBits(EBits),
        .Digit(Digit),
        .Width(Width),
        .Tile (Tile)
    ) u_second (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i,
        .enter_i,
        .in_valid_i (in_valid_i && ready[0]),
        .in_ready_o (ready[1]),
        .start_i,
        .base_i,
        .exponent_i,
        .bits_i,
        .out_valid_o(valid[1]),
        .out_ready_i(out_ready_i && valid[0]),
        .r_o        (r[1])
    );
endmodule
