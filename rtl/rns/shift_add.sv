// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by a constant with shifts and additions: y = Factor x mod 2^OutBits. It takes one
// addition or subtraction for each term of Factor's non-adjacent form but the first.
//
// Combinational.
module shift_add #(
    parameter logic [63:0] Factor  = 64'd3,  // below 2^63, not 0
    parameter int unsigned InBits  = 30,
    parameter int unsigned OutBits = 32
) (
    input  logic [InBits-1:0]  x_i,
    output logic [OutBits-1:0] y_o
);
    if (Factor == '0 || Factor[63]) $error("shift_add: Factor must be below 2^63 and not 0");
    if (InBits < 1 || OutBits < 1) $error("shift_add: InBits and OutBits must be at least 1");

    localparam logic [63:0] Plus = rns_pkg::plus_terms(Factor);
    localparam logic [63:0] Minus = rns_pkg::minus_terms(Factor);
    localparam int unsigned WideBits = (InBits > OutBits) ? InBits : OutBits;

    logic [WideBits-1:0] x, y;
    assign x = WideBits'(x_i);

    // From the top term, whose sign is plus.
    always_comb begin
        y = '0;
        for (int i = 63; i >= 0; i--) begin
            if (Plus[i]) y = y + (x << i);
            else if (Minus[i]) y = y - (x << i);
        end
    end

    assign y_o = y[OutBits-1:0];
    if (WideBits > OutBits) begin : gen_cut
        logic unused;
        assign unused = &{1'b0, y[WideBits-1:OutBits]};
    end
endmodule
