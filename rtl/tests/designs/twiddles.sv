// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests only: twiddle for every power of a root, with and without the division by the transform
// length, and butterfly for one power of it.
module twiddles #(
    parameter int unsigned A       = 4,
    parameter int unsigned B       = 0,
    parameter int unsigned K       = 8,
    parameter logic [65:0] Root    = 66'd0,
    parameter int unsigned Barrett = 0,
    localparam int unsigned Bits   = ntt_pkg::residue_bits(A, B)
) (
    input  logic                     clk_i,
    input  logic                     en_i,
    input  logic [Bits-1:0]          x_i,
    input  logic [Bits-1:0]          up_i,
    output logic [2*K-1:0][Bits-1:0] y_o,
    output logic [Bits-1:0]          sum_o,
    output logic [Bits-1:0]          difference_o
);
    for (genvar k = 0; k < int'(2 * K); k++) begin : gen_twiddle
        twiddle #(
            .A       (A),
            .B       (B),
            .K       (K),
            .Root    (Root),
            .Barrett (Barrett),
            .Exponent(k % K),
            .Halvings(k < int'(K) ? 0 : $clog2(K))
        ) u_twiddle (
            .clk_i,
            .en_i,
            .x_i,
            .y_o(y_o[k])
        );
    end

    butterfly #(
        .A       (A),
        .B       (B),
        .K       (K),
        .Root    (Root),
        .Barrett (Barrett),
        .Exponent(K - 1),
        .Halvings($clog2(K))
    ) u_butterfly (
        .clk_i,
        .en_i,
        .up_i,
        .down_i(x_i),
        .sum_o,
        .difference_o
    );
endmodule
