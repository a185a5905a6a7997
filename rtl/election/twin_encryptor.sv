// SPDX-License-Identifier: MIT OR Apache-2.0
// A mark is encrypted twice, on units that share nothing, and the two ciphertexts are compared.
//
// The result is given with equal_o; where they differ, none is: c_o is 0. A fault in one unit, or in what it keeps, never leaves as a ciphertext.
module twin_encryptor #(
    parameter int unsigned N     = 512,  // as in mark_encryptor
    parameter int unsigned ABits = 128,
    parameter int unsigned Digit = 32,
    parameter int unsigned Width = 32,
    parameter int unsigned Tile  = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [N-1:0]     modulus_i,
    input  logic [Digit-1:0] inverse_i,
    input  logic [N-1:0]     enter_i,
    input  logic [N-1:0]     zero_i,
    input  logic [N-1:0]     one_i,
    input  logic [N-1:0]     base_i,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic             mark_i,
    input  logic [ABits-1:0] exponent_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic             equal_o,
    output logic [N-1:0]     c_o
);
    logic [1:0] ready, valid;
    logic [N-1:0] c[2];

    assign in_ready_o = &ready;
    assign out_valid_o = &valid;
    assign equal_o = out_valid_o && c[0] == c[1];
    assign c_o = equal_o ? c[0] : N'(0);

    mark_encryptor #(
        .N    (N),
        .ABits(ABits),
        .Digit(Digit),
        .Width(Width),
        .Tile (Tile)
    ) u_first (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i,
        .enter_i,
        .zero_i,
        .one_i,
        .base_i,
        .in_valid_i (in_valid_i && ready[1]),
        .in_ready_o (ready[0]),
        .mark_i,
        .exponent_i,
        .out_valid_o(valid[0]),
        .out_ready_i(out_ready_i && valid[1]),
        .c_o        (c[0])
    );

    mark_encryptor #(
        .N    (N),
        .ABits(ABits),
        .Digit(Digit),
        .Width(Width),
        .Tile (Tile)
    ) u_second (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i,
        .enter_i,
        .zero_i,
        .one_i,
        .base_i,
        .in_valid_i (in_valid_i && ready[0]),
        .in_ready_o (ready[1]),
        .mark_i,
        .exponent_i,
        .out_valid_o(valid[1]),
        .out_ready_i(out_ready_i && valid[0]),
        .c_o        (c[1])
    );
endmodule
