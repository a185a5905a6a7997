// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests only: shift_product for every power of two there is.
module shift_products #(
    parameter int unsigned A      = 4,
    parameter int unsigned B      = 0,
    localparam int unsigned Bits  = ntt_pkg::residue_bits(A, B),
    localparam int unsigned Count = 2 * ntt_pkg::half_order(A, B)
) (
    input  logic                       clk_i,
    input  logic                       en_i,
    input  logic [Bits-1:0]            x_i,
    output logic [Count-1:0][Bits-1:0] y_o
);
    for (genvar k = 0; k < int'(Count); k++) begin : gen_shift
        shift_product #(
            .A    (A),
            .B    (B),
            .Shift(k)
        ) u_shift (
            .clk_i,
            .en_i,
            .x_i,
            .y_o(y_o[k])
        );
    end
endmodule
