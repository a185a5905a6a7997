// SPDX-License-Identifier: MIT OR Apache-2.0
// A mark's ciphertext, c = (1 + n)^mark (h^n)^a mod n^2, for a mark of 0 or 1 and a secret exponent a of ABits bits.
//
// It is one power: mod_exp_pair begins its product with 1 in Montgomery form, and here with 1 + n in Montgomery form where the mark is 1, so that marks cost nothing
// and show in nothing. Time is that of a power of ABits bits, whatever mark and exponent are. The exponent is wiped bit by bit as it is used.
module mark_encryptor #(
    parameter int unsigned N     = 512,  // bits of n^2
    parameter int unsigned ABits = 128,  // of the exponent: half of those of n
    parameter int unsigned Digit = 32,   // as in mont_mul_digit
    parameter int unsigned Width = 32,
    parameter int unsigned Tile  = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    // Of the key, stable. R is digit_product's.
    input  logic [N-1:0]     modulus_i,    // n^2
    input  logic [Digit-1:0] inverse_i,    // -1 / n^2 mod 2^Digit
    input  logic [N-1:0]     enter_i,      // R^2 mod n^2
    input  logic [N-1:0]     zero_i,       // R mod n^2
    input  logic [N-1:0]     one_i,        // (1 + n) R mod n^2
    input  logic [N-1:0]     base_i,       // h^n mod n^2
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic             mark_i,
    input  logic [ABits-1:0] exponent_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [N-1:0]     c_o
);
    localparam int unsigned CountBits = $clog2(ABits + 1);

    logic ready, bit_ready, mark_q, unused_mul;
    logic [ABits-1:0] exponent_q;
    logic [CountBits-1:0] left_q;

    assign in_ready_o = ready && left_q == '0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            mark_q     <= 1'b0;
            exponent_q <= '0;
            left_q     <= '0;
        end else if (in_valid_i && in_ready_o) begin
            mark_q     <= mark_i;
            exponent_q <= exponent_i;
            left_q     <= CountBits'(ABits);
        end else if (left_q != '0 && bit_ready) begin
            exponent_q <= exponent_q >> 1;
            left_q     <= left_q - CountBits'(1);
        end else if (out_valid_o && out_ready_i) begin
            mark_q <= 1'b0;
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
        .one_i      (mark_q ? one_i : zero_i),
        .in_valid_i (in_valid_i && left_q == '0),
        .in_ready_o (ready),
        .base_i,
        .bit_valid_i(left_q != '0),
        .bit_ready_o(bit_ready),
        .bit_i      (exponent_q[0]),
        .bit_last_i (left_q == CountBits'(1)),
        .out_valid_o,
        .out_ready_i,
        .r_o        (c_o),
        .mul_o      (unused_mul)
    );
endmodule
