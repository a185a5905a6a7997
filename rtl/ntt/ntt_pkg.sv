// SPDX-License-Identifier: MIT OR Apache-2.0
// The moduli of integer transforms and their properties: p = 2^A + 1 (B = 0) or p = 2^A - 2^B + 1.
//
// If B = 0 or A = 2 B, then 2^T = -1 modulo p, with T = A or T = 3 B, and (2^(T/4) - 2^(3T/4))^2 =
// 2 if 4 divides T. So half powers of two, 2^(h/2), are roots of unity of every order that divides
// 4 T. A "half" h is an exponent of the square root of two: h = 2 T gives -1.
package ntt_pkg;
    // The modulus p.
    function automatic logic [65:0] modulus(input int unsigned a, input int unsigned b);
        modulus = (66'd1 << a) + 66'd1 - (b == 0 ? 66'd0 : 66'd1 << b);
    endfunction

    // Bits of a residue.
    function automatic int unsigned residue_bits(input int unsigned a, input int unsigned b);
        residue_bits = b == 0 ? a + 1 : a;
    endfunction

    // T, with 2^T = -1, or 0 if powers of two are not used as roots.
    function automatic int unsigned half_order(input int unsigned a, input int unsigned b);
        half_order = b == 0 ? a : a == 2 * b ? 3 * b : 0;
    endfunction

    // Whether the reducers are proved for this modulus.
    function automatic bit is_allowed(input int unsigned a, input int unsigned b);
        is_allowed = a >= 2 && a <= 64 && (b == 0 || (b >= 2 && b + 2 <= a));
    endfunction

    // Bits of x after a number of folds of 2 A bits by 2^A = 2^B - 1 modulo p (reduce_solinas).
    function automatic int unsigned fold_bits(input int unsigned a, input int unsigned b, input int unsigned folds);
        int unsigned high;
        fold_bits = 2 * a;
        for (int unsigned k = 0; k < folds; k++) begin
            high = fold_bits - a;
            if (high >= a) fold_bits = high + b;
            else if (high + b >= a) fold_bits = high + b + 1;
            else fold_bits = a + 1;
        end
    endfunction

    // Number of folds until x is below 2 p.
    function automatic int unsigned folds(input int unsigned a, input int unsigned b);
        int unsigned high;
        bit more;
        folds = 0;
        more  = 1'b1;
        for (int unsigned k = 0; k < 64; k++) begin
            if (more) begin
                high  = fold_bits(a, b, k) - a;
                folds = k + 1;
                more  = high + b > a || (high + b == a && high < b);
            end
        end
    endfunction

    // Cycles of a reduction of a product: reduce_barrett, reduce_fermat or reduce_solinas.
    function automatic int unsigned reduction_latency(input int unsigned a, input int unsigned b, input int unsigned barrett);
        reduction_latency = barrett != 0 ? 4 : b == 0 ? 2 : folds(a, b) + 1;
    endfunction

    // Cycles of wide_product.
    localparam int unsigned ProductLatency = 4;

    // Cycles of modular_product.
    function automatic int unsigned product_latency(input int unsigned a, input int unsigned b, input int unsigned barrett);
        product_latency = ProductLatency + reduction_latency(a, b, barrett);
    endfunction

    // Cycles of twiddle for a root of order k: a shift takes two, the difference of two shifts
    // four.
    function automatic int unsigned twiddle_latency(input int unsigned a, input int unsigned b, input int unsigned k, input int unsigned barrett);
        int unsigned t;
        t = half_order(a, b);
        twiddle_latency = t == 0 ? product_latency(a, b, barrett) : 4 * t / k % 2 == 0 ? 2 : 4;
    endfunction

    // Cycles of butterfly.
    function automatic int unsigned butterfly_latency(input int unsigned a, input int unsigned b, input int unsigned k, input int unsigned barrett);
        butterfly_latency = twiddle_latency(a, b, k, barrett) + 2;
    endfunction

    // The lowest bits of a number in reversed order.
    function automatic int unsigned reversed(input int unsigned number, input int unsigned bits);
        reversed = 0;
        for (int unsigned k = 0; k < bits; k++) reversed = 2 * reversed + ((number >> k) & 1);
    endfunction

    // Cycles of variable_shift.
    localparam int unsigned ShiftLatency = 4;

    // Cycles of folded_twiddle.
    function automatic int unsigned folded_twiddle_latency(input int unsigned b);
        folded_twiddle_latency = product_latency(2 * b, b, 0) + ShiftLatency;
    endfunction

    // Cycles of the first ranks of ntt_folded, including the stages between them and before the
    // next.
    function automatic int unsigned folded_ranks(input int unsigned b, input int unsigned high, input int unsigned low, input int unsigned inverse,
                                                 input int unsigned ranks);
        int unsigned rank;
        folded_ranks = 0;
        for (int unsigned j = 0; j < ranks; j++) begin
            rank = inverse == 1 ? j : high + low - 1 - j;
            folded_ranks = folded_ranks + (1 << rank) + 2;
            if (rank != 0 && rank != low) folded_ranks = folded_ranks + ShiftLatency;
            if (rank == (inverse == 1 ? low - 1 : low)) folded_ranks = folded_ranks + folded_twiddle_latency(b);
        end
    endfunction

    // Cycles of ntt_folded.
    function automatic int unsigned folded_latency(input int unsigned b, input int unsigned high, input int unsigned low);
        folded_latency = folded_ranks(b, high, low, 0, high + low);
    endfunction

    // base^exponent mod p, p of at most 65 bits.
    function automatic logic [65:0] power(input logic [65:0] base, input int unsigned exponent, input logic [65:0] p);
        logic [131:0] result;
        result = 132'd1;
        for (int i = 31; i >= 0; i--) begin
            result = result * result % 132'(p);
            if (exponent[i]) result = result * 132'(base) % 132'(p);
        end
        power = result[65:0];
    endfunction
endpackage
