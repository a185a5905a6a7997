// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a product of two residues modulo p = 2^A - 2^B + 1: y = x mod p, x < 2^(2A).
//
// A fold, high 2^A + low = high (2^B - 1) + low modulo p, removes A - B bits. If high has h bits,
// the result is at most
//
//   (2^h - 1) (2^B - 1) + 2^A - 1   <  2^(h+B) where h >= A,  2^(h+B+1) where h + B >= A,  2^(A+1) otherwise;
//
// It is below 2 p once h + B < A, or h + B = A and h >= B; then one subtraction remains. This takes
// two folds if A = 2 B, as in 2^64 - 2^32 + 1, and three for 2^32 - 2^20 + 1. No multiplier.
// Latency: the number of folds plus 1, in cycles with en_i. Rate: an item every cycle. This differs
// from [CMOOH13], fig. 3 (iii), whose single fold of four words for A = 2 B lies in (-2^B, 2 p),
// not in (p, 2 p) as printed there.
module reduce_solinas #(
    parameter int unsigned A = 64,
    parameter int unsigned B = 32   // 2 to A - 2
) (
    input  logic           clk_i,
    input  logic           en_i,
    input  logic [2*A-1:0] x_i,
    output logic [A-1:0]   y_o    // below p
);
    if (!ntt_pkg::is_allowed(A, B) || B == 0) $error("reduce_solinas: A is 4 to 64, B is 2 to A - 2");

    localparam int unsigned Folds = ntt_pkg::folds(A, B);
    localparam logic [A+1:0] P = (A + 2)'(ntt_pkg::modulus(A, B));

    logic [2*A-1:0] x_q[Folds + 1];
    assign x_q[0] = x_i;

    for (genvar k = 0; k < int'(Folds); k++) begin : gen_fold
        localparam int unsigned High = ntt_pkg::fold_bits(A, B, k) - A;
        localparam int unsigned Bits = ntt_pkg::fold_bits(A, B, k + 1);
        logic [Bits-1:0] high, folded_q;
        assign high = Bits'(x_q[k][A+:High]);

        always_ff @(posedge clk_i) begin
            if (en_i) folded_q <= (high << B) - high + Bits'(x_q[k][A-1:0]);
        end
        assign x_q[k+1] = (2 * A)'(folded_q);
    end

    logic [A+1:0] less;
    assign less = {1'b0, x_q[Folds][A:0]} - P;

    always_ff @(posedge clk_i) begin
        if (en_i) y_o <= less[A+1] ? x_q[Folds][A-1:0] : less[A-1:0];
    end

    logic unused;
    assign unused = &{1'b0, x_q[Folds], less[A]};
endmodule
