// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects one of the digits of a number, 0 beyond the last: wires and a multiplexer per bit.
//
// Each bit is selected from its own vector, whose length is a power of two. Synthesis maps that to
// a multiplexer, whereas it turns an index times W into a product and a shift. No latency.
module digit_select #(
    parameter int unsigned W         = 18,  // bits of a digit
    parameter int unsigned Digits    = 32,  // digits of the number, at most 2^IndexBits
    parameter int unsigned IndexBits = 5
) (
    input  logic [Digits*W-1:0]  number_i,
    input  logic [IndexBits-1:0] index_i,
    output logic [W-1:0]         digit_o
);
    if (Digits > 2 ** IndexBits) begin : gen_bad
        $error("digit_select: an index of IndexBits must reach all digits");
    end

    for (genvar w = 0; w < W; w++) begin : gen_bit
        logic [2**IndexBits-1:0] column;
        for (genvar k = 0; k < 2 ** IndexBits; k++) begin : gen_digit
            assign column[k] = k < Digits ? number_i[(k<Digits?k : 0)*W+w] : 1'b0;
        end
        assign digit_o[w] = column[index_i];
    end
endmodule
