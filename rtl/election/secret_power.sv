// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes start base^e mod n^2 for a public base and a secret exponent e. start is in Montgomery
// form, times R.
//
// This is a single power: mod_exp_pair starts its product at R, and here it starts at start_i. So a
// factor in front costs nothing and is not visible: a mark's ciphertext is the power that starts at
// (1 + n) R or R. If it starts at R^2, a power comes out in Montgomery form and can be the start of
// the next one. The time is that of a power of bits_i bits, which are public, for any start and
// exponent. The exponent is wiped bit by bit as it is used.
module secret_power #(
    parameter int unsigned N     = 512,  // bits of n^2
    parameter int unsigned EBits = 544,  // bits of the longest exponent
    parameter int unsigned Digit = 32,   // see mont_mul_digit
    parameter int unsigned Width = 32,
    parameter int unsigned Tile  = 16,
    localparam int unsigned CountBits = $clog2(EBits + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // The key, stable. R is digit_product's.
    input  logic [N-1:0]         modulus_i,    // n^2
    input  logic [Digit-1:0]     inverse_i,    // -1 / n^2 mod 2^Digit
    input  logic [N-1:0]         enter_i,      // R^2 mod n^2
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [N-1:0]         start_i,      // stable until the power is there
    input  logic [N-1:0]         base_i,
    input  logic [EBits-1:0]     exponent_i,
    input  logic [CountBits-1:0] bits_i,       // bits of the exponent, at least 1
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [N-1:0]         r_o
);
    logic ready, bit_ready, unused_mul;
    logic [EBits-1:0] exponent_q;
    logic [CountBits-1:0] left_q;

    assign in_ready_o = ready && left_q == '0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            exponent_q <= '0;
            left_q     <= '0;
        end else if (in_valid_i && in_ready_o) begin
            exponent_q <= exponent_i;
            left_q     <= bits_i;
        end else if (left_q != '0 && bit_ready) begin
            exponent_q <= exponent_q >> 1;
            left_q     <= left_q - CountBits'(1);
        end
    end

    mod_exp_pair #(
        .N    (N),
        .Digit(Digit),
        .Width(Width),
        .Tile (Tile)
    ) u_power (
        .clk_i,
        .rst_ni,
        .modulus_i,
        .inverse_i,
        .enter_i,
        .one_i      (start_i),
        .in_valid_i (in_valid_i && left_q == '0),
        .in_ready_o (ready),
        .base_i,
        .bit_valid_i(left_q != '0),
        .bit_ready_o(bit_ready),
        .bit_i      (exponent_q[0]),
        .bit_last_i (left_q == CountBits'(1)),
        .out_valid_o,
        .out_ready_i,
        .r_o,
        .mul_o      (unused_mul)
    );
endmodule
