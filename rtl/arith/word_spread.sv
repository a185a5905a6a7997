// SPDX-License-Identifier: MIT OR Apache-2.0
// A plain number as redundant words of W + 1 bits whose top bit is 0: wires only.
module word_spread #(
    parameter int unsigned Words = 68,  // words of the number
    parameter int unsigned W     = 16   // bits of a word
) (
    input  logic [Words*W-1:0]     x_i,
    output logic [Words*(W+1)-1:0] words_o
);
    if (Words < 1 || W < 1) $error("word_spread: Words and W must be at least 1");

    for (genvar j = 0; j < Words; j++) begin : gen_word
        assign words_o[j*(W+1)+:W+1] = {1'b0, x_i[j*W+:W]};
    end
endmodule
