// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by a power of two given with each item, modulo p = 2^(2B) - 2^B + 1, where 2^(3B) =
// -1: y = 2^shift x mod p.
//
// shift = B q + r. 2^r x is three words of B bits, c0 + 2^B c1 + 2^(2B) c2. For q = 0, 1, 2
// (negated for 3, 4, 5), the product is
//
//   c0 - c2 + 2^B (c1 + c2),   - c1 - c2 + 2^B (c0 + c1),   - c0 - c1 + 2^B (c0 - c2)
//
// All of them lie between -p and 2 p (shift_product). Registers: 2^r x; that sum; the sum or p
// minus it; the same with p added or subtracted if needed. Latency: 4 cycles with en_i
// (ntt_pkg::ShiftLatency). Rate: an item every cycle. No multiplier.
module variable_shift #(
    parameter int unsigned B         = 32,                // a power of two, 4 to 32
    localparam int unsigned ShiftBits = $clog2(6 * B)
) (
    input  logic                 clk_i,
    input  logic                 en_i,
    input  logic [2*B-1:0]       x_i,      // below p
    input  logic [ShiftBits-1:0] shift_i,  // below 6 B
    output logic [2*B-1:0]       y_o       // below p
);
    if (B < 4 || B > 32 || (B & (B - 1)) != 0) $error("variable_shift: B is a power of two, 4 to 32");

    localparam int unsigned RestBits = $clog2(B);
    localparam int unsigned SumBits = 2 * B + 3;
    localparam logic [SumBits-1:0] P = SumBits'(ntt_pkg::modulus(2 * B, B));

    logic [3*B-1:0] x_q;
    logic [2:0] words_q, turn;
    logic minus_q, minus_qq;
    logic [SumBits-1:0] c0, c1, c2, low, high, sum_q, value_q, less, more;

    assign minus_q = words_q >= 3'd3;
    assign turn    = minus_q ? words_q - 3'd3 : words_q;
    assign c0      = SumBits'(x_q[0+:B]);
    assign c1      = SumBits'(x_q[B+:B]);
    assign c2      = SumBits'(x_q[2*B+:B]);

    always_comb begin
        case (turn)
            3'd0: begin
                low  = c0 - c2;
                high = c1 + c2;
            end
            3'd1: begin
                low  = -c1 - c2;
                high = c0 + c1;
            end
            default: begin
                low  = -c0 - c1;
                high = c0 - c2;
            end
        endcase
    end

    assign less = value_q - P;
    assign more = value_q + P;

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            x_q      <= (3 * B)'(x_i) << shift_i[RestBits-1:0];
            words_q  <= 3'(shift_i[ShiftBits-1:RestBits]);
            sum_q    <= low + (high << B);
            minus_qq <= minus_q;
            value_q  <= minus_qq ? P - sum_q : sum_q;
            y_o      <= value_q[SumBits-1] ? more[2*B-1:0] : less[SumBits-1] ? value_q[2*B-1:0] : less[2*B-1:0];
        end
    end

    logic unused;
    assign unused = &{1'b0, less, more};
endmodule
