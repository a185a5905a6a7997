// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a product of two residues modulo p = 2^A + 1: y = x mod p, x <= 2^(2A).
//
//   d = x[A-1:0] + x[2A] - x[2A-1:A],   y = d, plus p if d < 0
//
// -2^A < d < 2^A: bit 2A is set only for 2^A times 2^A, and then all other bits are 0. Larger x,
// which the printed width of 2 A + 2 bits allows, are out of range. Latency: 2 cycles with en_i.
// Rate: an item every cycle. Source: [CMOOH13], fig. 3 (ii).
module reduce_fermat #(
    parameter int unsigned A = 32  // at least 2
) (
    input  logic         clk_i,
    input  logic         en_i,
    input  logic [2*A:0] x_i,
    output logic [A:0]   y_o    // below p
);
    if (A < 2) $error("reduce_fermat: A must be at least 2");

    // A + 2 bits, including the sign.
    logic [A+1:0] difference_q;

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            difference_q <= {2'b00, x_i[A-1:0]} + (A + 2)'(x_i[2*A]) - {2'b00, x_i[2*A-1:A]};
            y_o          <= difference_q[A+1] ? difference_q[A:0] + {1'b1, {A{1'b0}}} + (A + 1)'(1) : difference_q[A:0];
        end
    end
endmodule
