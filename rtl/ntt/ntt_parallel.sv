// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole transform per cycle: X_T = sum over t of x_t w^(T t) mod p, w of order K; with Inverse,
// x_t = K^-1 sum over T of X_T w^(-T t).
//
// log2(K) ranks of K / 2 butterflies (radix 2, decimation in time). Items enter and leave in
// natural order; the wiring does the bit reversal. Latency: log2(K) times butterfly's, in cycles
// with en_i. Rate: a transform every cycle. Source: [CMOOH13], fig. 2 (i).
module ntt_parallel #(
    parameter int unsigned A       = 32,     // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B       = 0,      // 0: the first form
    // a power of two; divides 4 T if the modulus has a T (ntt_pkg)
    parameter int unsigned K       = 64,
    parameter logic [65:0] Root    = 66'd0,  // of order K, if the modulus has no T
    parameter int unsigned Barrett = 0,      // 1: products use Barrett's reduction
    parameter int unsigned Inverse = 0,
    localparam int unsigned Bits   = ntt_pkg::residue_bits(A, B)
) (
    input  logic                   clk_i,
    input  logic                   en_i,
    input  logic [K-1:0][Bits-1:0] x_i,   // below p
    output logic [K-1:0][Bits-1:0] y_o    // below p
);
    if (K < 2 || (K & (K - 1)) != 0) $error("ntt_parallel: K is a power of two");
    if (Inverse > 1) $error("ntt_parallel: Inverse is 0 or 1");

    localparam int unsigned Ranks = $clog2(K);

    logic [K-1:0][Bits-1:0] x[Ranks + 1];

    for (genvar t = 0; t < int'(K); t++) begin : gen_reverse
        assign x[0][t] = x_i[ntt_pkg::reversed(t, Ranks)];
    end

    for (genvar r = 0; r < int'(Ranks); r++) begin : gen_rank
        localparam int unsigned Reach = 1 << r;  // distance between the two inputs of a butterfly
        localparam int unsigned Halvings = (Inverse == 1 && r == int'(Ranks) - 1) ? Ranks : 0;

        for (genvar k = 0; k < int'(K / 2); k++) begin : gen_butterfly
            localparam int unsigned Place = k % Reach;
            localparam int unsigned Up = (k / Reach) * 2 * Reach + Place;
            localparam int unsigned Exponent = Place * (K / 2 / Reach);

            butterfly #(
                .A       (A),
                .B       (B),
                .K       (K),
                .Root    (Root),
                .Barrett (Barrett),
                .Exponent(Inverse == 1 ? (K - Exponent) % K : Exponent),
                .Halvings(Halvings)
            ) u_butterfly (
                .clk_i,
                .en_i,
                .up_i        (x[r][Up]),
                .down_i      (x[r][Up+Reach]),
                .sum_o       (x[r+1][Up]),
                .difference_o(x[r+1][Up+Reach])
            );
        end
    end

    assign y_o = x[Ranks];
endmodule
