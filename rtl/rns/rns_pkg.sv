// SPDX-License-Identifier: MIT OR Apache-2.0
// Constants derived from a prime q = 2^V - beta of V bits, V at most 62.
package rns_pkg;
    // ceil(log2(q)): V.
    function automatic int unsigned word_bits(input logic [63:0] q);
        word_bits = $clog2(q);
    endfunction

    // beta = 2^V mod q, for 2^(V-1) < q < 2^V.
    function automatic logic [63:0] beta(input logic [63:0] q);
        beta = (64'd1 << word_bits(q)) - q;
    endfunction

    // L: bits of beta, so that a + beta b < 2^(V+L) for words a, b of V bits.
    function automatic int unsigned beta_bits(input logic [63:0] q);
        beta_bits = $clog2({1'b0, beta(q)} + 65'd1);
    endfunction

    // 2^exponent mod q.
    function automatic logic [63:0] power_of_two(input int unsigned exponent, input logic [63:0] q);
        logic [127:0] power;
        power = 128'd1;
        for (int i = 31; i >= 0; i--) begin
            power = power * power % {64'd0, q};
            if (exponent[i]) power = 2 * power % {64'd0, q};
        end
        power_of_two = power[63:0];
    endfunction

    // floor(2^exponent / q), if that has at most 96 bits.
    function automatic logic [95:0] quotient(input int unsigned exponent, input logic [63:0] q);
        logic [64:0] rest;
        rest = 65'd1;
        quotient = 96'd0;
        for (int unsigned i = 0; i < exponent; i++) begin
            rest = 2 * rest;
            quotient = 2 * quotient;
            if (rest >= {1'b0, q}) begin
                rest = rest - {1'b0, q};
                quotient = quotient + 96'd1;
            end
        end
    endfunction

    // The signed powers of two of a number in non-adjacent form, which has the fewest terms: those
    // with plus, then those with minus.
    function automatic logic [63:0] plus_terms(input logic [63:0] number);
        plus_terms = (number + (number >> 1)) & ~(number >> 1);
    endfunction

    function automatic logic [63:0] minus_terms(input logic [63:0] number);
        minus_terms = (number >> 1) & ~(number + (number >> 1));
    endfunction
endpackage
