// SPDX-License-Identifier: MIT OR Apache-2.0
// Combines words in pairs: s_j = A[2j] + beta A[2j+1], congruent to A[2j] + 2^V A[2j+1] modulo q,
// by shifts and additions.
//
// If the number of words is odd, the last one is passed on alone. s_j < 2^(V+L), L the bits of
// beta. Combinational.
module pair_words #(
    parameter logic [63:0] Q     = 64'd1073692673,     // the prime
    parameter int unsigned Words = 12,                 // words of V bits, at least 2
    // Derived.
    parameter int unsigned V     = rns_pkg::word_bits(Q),
    parameter int unsigned Pairs = (Words + 1) / 2,
    parameter int unsigned SBits = V + rns_pkg::beta_bits(Q)
) (
    input  logic [Words*V-1:0]     a_i,
    output logic [Pairs*SBits-1:0] s_o
);
    if (Words < 2) $error("pair_words: Words must be at least 2");

    for (genvar j = 0; j < int'(Pairs); j++) begin : gen_pair
        if (2 * j + 1 < int'(Words)) begin : gen_two
            logic [SBits-1:0] product;
            shift_add #(
                .Factor (rns_pkg::beta(Q)),
                .InBits (V),
                .OutBits(SBits)
            ) u_product (
                .x_i(a_i[(2*j+1)*V+:V]),
                .y_o(product)
            );
            assign s_o[j*SBits+:SBits] = SBits'(a_i[2*j*V+:V]) + product;
        end else begin : gen_one
            assign s_o[j*SBits+:SBits] = SBits'(a_i[2*j*V+:V]);
        end
    end
endmodule
