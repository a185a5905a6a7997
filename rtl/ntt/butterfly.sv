// SPDX-License-Identifier: MIT OR Apache-2.0
// A butterfly of a transform or of its inverse, modulo p.
//
//   sum = (up + w^Exponent down) / 2^Halvings,   difference = (up - w^Exponent down) / 2^Halvings
//
// The constants of the inverse's last butterflies include the division by the transform length
// (Halvings), so it costs no cycle. Latency: ntt_pkg::butterfly_latency cycles with en_i. Rate: an
// item every cycle. Source: [CMOOH13], fig. 2 (ii).
module butterfly #(
    parameter int unsigned A        = 64,     // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B        = 32,     // 0: the first form
    parameter int unsigned K        = 64,     // order of w; this and below: see twiddle
    parameter logic [65:0] Root     = 66'd0,
    parameter int unsigned Barrett  = 0,
    parameter int unsigned Exponent = 1,
    parameter int unsigned Halvings = 0,
    localparam int unsigned Bits    = ntt_pkg::residue_bits(A, B)
) (
    input  logic            clk_i,
    input  logic            en_i,
    input  logic [Bits-1:0] up_i,         // below p
    input  logic [Bits-1:0] down_i,       // below p
    output logic [Bits-1:0] sum_o,        // below p
    output logic [Bits-1:0] difference_o  // below p
);
    logic [Bits-1:0] up, down;

    twiddle #(
        .A       (A),
        .B       (B),
        .K       (K),
        .Root    (Root),
        .Barrett (Barrett),
        .Exponent(0),
        .Halvings(Halvings)
    ) u_up (
        .clk_i,
        .en_i,
        .x_i(up_i),
        .y_o(up)
    );

    twiddle #(
        .A       (A),
        .B       (B),
        .K       (K),
        .Root    (Root),
        .Barrett (Barrett),
        .Exponent(Exponent),
        .Halvings(Halvings)
    ) u_down (
        .clk_i,
        .en_i,
        .x_i(down_i),
        .y_o(down)
    );

    modular_pair #(
        .A(A),
        .B(B)
    ) u_pair (
        .clk_i,
        .en_i,
        .a_i(up),
        .b_i(down),
        .sum_o,
        .difference_o
    );
endmodule
