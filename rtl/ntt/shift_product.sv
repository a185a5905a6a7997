// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by a constant power of two modulo p, where 2^T = -1 (ntt_pkg): y = 2^Shift x mod p,
// for p = 2^A + 1 or p = 2^(2B) - 2^B + 1.
//
// 2^Shift is 2^r or -2^r with r < T. The first step splits 2^r x at bit A, or into words of B bits
// (d, c, b, a, f from the low end, at most three of them not 0):
//
//   2^r x = low + 2^A high = low - high                                     -p < . < p
//   2^r x = d + 2^B c + 2^(2B) b + 2^(3B) a + 2^(4B) f
//         = d - b - a + 2^B (c + b - f)                                     -p < . < 2 p
//
// The second step adds or subtracts p if needed; if the sign is minus, it does so with p minus the
// number. For the second bound: f > 0 implies that d and c are 0 and f < 2^(B-1). Without f the
// number is at least -2^(B+1), and c + b <= 2^(B+1) - 2. Latency: 2 cycles with en_i. Rate: an item
// every cycle. No multiplier.
module shift_product #(
    parameter int unsigned A     = 64,  // p = 2^A + 1, or 2^A - 2^B + 1 with A = 2 B
    parameter int unsigned B     = 32,  // 0: the first form
    parameter int unsigned Shift = 3,   // below 2 T
    localparam int unsigned Bits = ntt_pkg::residue_bits(A, B)
) (
    input  logic            clk_i,
    input  logic            en_i,
    input  logic [Bits-1:0] x_i,   // below p
    output logic [Bits-1:0] y_o    // below p
);
    localparam int unsigned T = ntt_pkg::half_order(A, B);

    if (!ntt_pkg::is_allowed(A, B) || T == 0) $error("shift_product: A is 2 to 64, B is 0 or A / 2");
    if (Shift >= 2 * T) $error("shift_product: Shift must be below 2 T");

    localparam bit Minus = Shift >= T;
    localparam int unsigned Places = Minus ? Shift - T : Shift;
    // Signed, with room for 2 p.
    localparam int unsigned SumBits = Bits + 3;
    localparam logic [SumBits-1:0] P = SumBits'(ntt_pkg::modulus(A, B));

    logic [SumBits-1:0] sum, sum_q;

    if (B == 0) begin : gen_fermat
        logic [2*A:0] x;
        assign x   = (2 * A + 1)'(x_i) << Places;
        assign sum = SumBits'(x[A-1:0]) - SumBits'(x[2*A:A]);
    end else begin : gen_solinas
        logic [5*B-1:0] x;
        logic [B-1:0] f;
        logic [SumBits-1:0] low, high;
        assign x    = (5 * B)'(x_i) << Places;
        assign f    = x[4*B+:B];
        assign low  = SumBits'(x[0+:B]) - SumBits'(x[2*B+:B]) - SumBits'(x[3*B+:B]);
        assign high = SumBits'(x[B+:B]) + SumBits'(x[2*B+:B]) - SumBits'(f);
        assign sum  = low + (high << B);
    end

    // p - sum if the sign is minus, then that value minus p and plus p.
    logic [SumBits-1:0] value, less, more;
    assign value = Minus ? P - sum_q : sum_q;
    assign less  = Minus ? -sum_q : sum_q - P;
    assign more  = Minus ? (P << 1) - sum_q : sum_q + P;

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            sum_q <= sum;
            y_o   <= value[SumBits-1] ? more[Bits-1:0] : less[SumBits-1] ? value[Bits-1:0] : less[Bits-1:0];
        end
    end

    logic unused;
    assign unused = &{1'b0, value, less, more};
endmodule
