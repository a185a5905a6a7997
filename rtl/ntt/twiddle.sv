// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by a constant of a transform: y = x w^Exponent / 2^Halvings mod p, w a root of unity
// of order K.
//
// If powers of two and their square roots give w (ntt_pkg; a step of w is 4 T / K halves), this is
// one shift or the difference of two. Otherwise it is a product with a constant: the root is Root,
// and elaboration computes its power and the power of 1/2. Latency: ntt_pkg::twiddle_latency cycles
// with en_i for every constant, so that all constants of a transform agree. Rate: an item every
// cycle.
module twiddle #(
    parameter int unsigned A        = 64,     // p = 2^A + 1, or 2^A - 2^B + 1
    parameter int unsigned B        = 32,     // 0: the first form
    parameter int unsigned K        = 64,     // a power of two; divides 4 T if the modulus has a T
    parameter logic [65:0] Root     = 66'd0,  // of order K, if the modulus has no T
    parameter int unsigned Barrett  = 0,      // 1: products use Barrett's reduction
    parameter int unsigned Exponent = 1,      // below K
    parameter int unsigned Halvings = 0,      // at most 2 T if the modulus has a T
    localparam int unsigned Bits    = ntt_pkg::residue_bits(A, B)
) (
    input  logic            clk_i,
    input  logic            en_i,
    input  logic [Bits-1:0] x_i,   // below p
    output logic [Bits-1:0] y_o    // below p
);
    localparam int unsigned T = ntt_pkg::half_order(A, B);
    localparam int unsigned Latency = ntt_pkg::twiddle_latency(A, B, K, Barrett);

    if (!ntt_pkg::is_allowed(A, B)) $error("twiddle: A is 2 to 64, B is 0 or 2 to A - 2");
    if (K < 2 || (K & (K - 1)) != 0 || (T != 0 && 4 * T % K != 0)) $error("twiddle: K is a power of two that divides 4 T");
    if (Exponent >= K || (T != 0 && Halvings > 2 * T)) $error("twiddle: Exponent is below K, Halvings at most 2 T");

    // Root has order K, a power of two, if its power of half that order is -1.
    if (T == 0 && ntt_pkg::power(Root, K / 2, ntt_pkg::modulus(A, B)) != ntt_pkg::modulus(A, B) - 66'd1) begin : gen_bad_root
        $error("twiddle: Root is not of order K");
    end

    // The exponent in halves (ntt_pkg), below 4 T.
    localparam int unsigned Halves = T == 0 ? 0 : (4 * T / K * Exponent + 4 * T - 2 * Halvings) % (4 * T);

    if (Exponent == 0 && Halvings == 0) begin : gen_one
        delay_line #(
            .Width (Bits),
            .Cycles(Latency)
        ) u_delay (
            .clk_i,
            .en_i,
            .x_i,
            .y_o
        );
    end else if (T == 0) begin : gen_product
        localparam logic [65:0] P = ntt_pkg::modulus(A, B);
        localparam logic [131:0] Half = 132'(ntt_pkg::power((P + 66'd1) >> 1, Halvings, P));
        localparam logic [131:0] Factor = Half * 132'(ntt_pkg::power(Root, Exponent, P)) % 132'(P);

        modular_product #(
            .A      (A),
            .B      (B),
            .Barrett(Barrett)
        ) u_product (
            .clk_i,
            .en_i,
            .a_i(x_i),
            .b_i(Factor[Bits-1:0]),
            .y_o
        );
    end else if (Halves % 2 == 0) begin : gen_shift
        logic [Bits-1:0] x;

        delay_line #(
            .Width (Bits),
            .Cycles(Latency - 2)
        ) u_delay (
            .clk_i,
            .en_i,
            .x_i,
            .y_o(x)
        );

        shift_product #(
            .A    (A),
            .B    (B),
            .Shift(Halves / 2)
        ) u_shift (
            .clk_i,
            .en_i,
            .x_i(x),
            .y_o
        );
    end else begin : gen_shifts
        // Times the square root of two, 2^(T/4) - 2^(3T/4), or its negative.
        logic [Bits-1:0] plus, minus, unused_sum;

        shift_product #(
            .A    (A),
            .B    (B),
            .Shift((Halves / 2 + T / 4) % (2 * T))
        ) u_plus (
            .clk_i,
            .en_i,
            .x_i,
            .y_o(plus)
        );

        shift_product #(
            .A    (A),
            .B    (B),
            .Shift((Halves / 2 + 3 * T / 4) % (2 * T))
        ) u_minus (
            .clk_i,
            .en_i,
            .x_i,
            .y_o(minus)
        );

        modular_pair #(
            .A(A),
            .B(B)
        ) u_difference (
            .clk_i,
            .en_i,
            .a_i         (plus),
            .b_i         (minus),
            .sum_o       (unused_sum),
            .difference_o(y_o)
        );
    end
endmodule
