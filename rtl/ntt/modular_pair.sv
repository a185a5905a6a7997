// SPDX-License-Identifier: MIT OR Apache-2.0
// Sum and difference modulo p: s = (a + b) mod p, d = (a - b) mod p.
//
// The first cycle computes both without reduction, the second corrects them by p. Latency: 2 cycles
// with en_i. Rate: an item every cycle.
module modular_pair #(
    parameter int unsigned A     = 64,  // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B     = 32,  // 0: the first form
    localparam int unsigned Bits = ntt_pkg::residue_bits(A, B)
) (
    input  logic            clk_i,
    input  logic            en_i,
    input  logic [Bits-1:0] a_i,    // below p
    input  logic [Bits-1:0] b_i,    // below p
    output logic [Bits-1:0] sum_o,
    output logic [Bits-1:0] difference_o
);
    if (!ntt_pkg::is_allowed(A, B)) $error("modular_pair: A is 2 to 64, B is 0 or 2 to A - 2");

    localparam logic [Bits+1:0] P = (Bits + 2)'(ntt_pkg::modulus(A, B));

    logic [Bits:0] sum_q, difference_q;
    logic [Bits+1:0] less;
    assign less = {1'b0, sum_q} - P;

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            sum_q        <= {1'b0, a_i} + {1'b0, b_i};
            difference_q <= {1'b0, a_i} - {1'b0, b_i};
            sum_o        <= less[Bits+1] ? sum_q[Bits-1:0] : less[Bits-1:0];
            difference_o <= difference_q[Bits] ? difference_q[Bits-1:0] + P[Bits-1:0] : difference_q[Bits-1:0];
        end
    end

    logic unused;
    assign unused = less[Bits];
endmodule
