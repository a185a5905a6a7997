// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies residues by any power of a root of high order, or by a factor given with each, modulo
// p = 2^64 - 2^32 + 1.
//
//   y = x w^e 2^s, w of order 2^Log;   with by_factor_i   y = x f
//
// There is no table of 2^Log words. Since w^(2^(Log - 6)) = 8, the top six bits of e are a shift.
// The two halves of the other bits each select an entry of a table, and the product of the entries
// is the power of w. This is the step between columns and rows in [Bailey90]. Latency: two
// modular_products, variable_shift and one more, in cycles with en_i. Rate: an item every cycle.
module root_product #(
    parameter int unsigned Log   = 22,                      // 8 to 24
    parameter logic [65:0] Root  = 66'd7915626813612114351,  // w
    parameter int unsigned ATile = 24                       // bits of pieces (wide_product)
) (
    input  logic           clk_i,
    input  logic           en_i,
    input  logic [63:0]    x_i,          // below p
    input  logic [Log-1:0] exponent_i,   // e
    input  logic [7:0]     shift_i,      // s, below 192
    input  logic           by_factor_i,
    input  logic [63:0]    factor_i,     // f, below p
    output logic [63:0]    y_o           // below p
);
    localparam logic [65:0] P = ntt_pkg::modulus(64, 32);
    localparam int unsigned LowBits = (Log - 6) / 2;
    localparam int unsigned HighBits = Log - 6 - LowBits;
    localparam int unsigned Product = ntt_pkg::product_latency(64, 32, 0);

    if (Log < 8 || Log > 24) $error("root_product: Log is 8 to 24");
    if (ntt_pkg::power(Root, 1 << (Log - 6), P) != 66'd8) $error("root_product: Root is not of order 2^Log, or of another kind");

    function automatic logic [(64<<HighBits)-1:0] powers(input logic [65:0] base);
        logic [131:0] power;
        power = 132'd1;
        for (int unsigned e = 0; e < 1 << HighBits; e++) begin
            powers[e*64+:64] = power[63:0];
            power            = power * 132'(base) % 132'(P);
        end
    endfunction
    localparam logic [(64<<HighBits)-1:0] Lows = powers(Root);
    localparam logic [(64<<HighBits)-1:0] Highs = powers(ntt_pkg::power(Root, 1 << LowBits, P));

    logic [63:0] low, high, root, factor, x, product;
    logic [1:0] unused_error;
    logic by_factor;
    logic [7:0] turn_q, shift;
    logic [8:0] turn;

    rom #(
        .Width(64),
        .Depth(1 << LowBits),
        .Words(Lows[(64<<LowBits)-1:0])
    ) u_low (
        .clk_i,
        .read_i        (en_i),
        .read_address_i(exponent_i[LowBits-1:0]),
        .read_data_o   (low),
        .error_o       (unused_error[0])
    );

    rom #(
        .Width(64),
        .Depth(1 << HighBits),
        .Words(Highs)
    ) u_high (
        .clk_i,
        .read_i        (en_i),
        .read_address_i(exponent_i[LowBits+:HighBits]),
        .read_data_o   (high),
        .error_o       (unused_error[1])
    );

    modular_product #(
        .ATile(ATile)
    ) u_root (
        .clk_i,
        .en_i,
        .a_i(high),
        .b_i(low),
        .y_o(root)
    );

    delay_line #(
        .Width (129),
        .Cycles(1 + Product)
    ) u_step (
        .clk_i,
        .en_i,
        .x_i({by_factor_i, factor_i, x_i}),
        .y_o({by_factor, factor, x})
    );

    modular_product #(
        .ATile(ATile)
    ) u_product (
        .clk_i,
        .en_i,
        .a_i(x),
        .b_i(by_factor ? factor : root),
        .y_o(product)
    );

    // 8 = 2^3, and 2^192 = 1 modulo p.
    assign turn = 9'(exponent_i[Log-1-:6]) * 9'd3 + 9'(shift_i);
    always_ff @(posedge clk_i) begin
        if (en_i) turn_q <= by_factor_i ? '0 : 8'(turn >= 9'd192 ? turn - 9'd192 : turn);
    end

    delay_line #(
        .Width (8),
        .Cycles(2 * Product)
    ) u_turn (
        .clk_i,
        .en_i,
        .x_i(turn_q),
        .y_o(shift)
    );

    variable_shift u_shift (
        .clk_i,
        .en_i,
        .x_i    (product),
        .shift_i(shift),
        .y_o
    );

    logic unused;
    assign unused = ^unused_error;
endmodule
