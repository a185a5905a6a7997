// SPDX-License-Identifier: MIT OR Apache-2.0
// One multiplier of an array (digit_mac), with all the registers of a DSP block: at both inputs,
// after the product, at the output. Latency 3 cycles.
//
// The hierarchy is kept. Otherwise synthesis would merge input registers of several multipliers,
// and each must be in its own block.
(* keep_hierarchy *)
module digit_tile #(
    parameter int unsigned Bits = 16  // bits of each factor
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic [Bits-1:0]   a_i,
    input  logic [Bits-1:0]   b_i,
    output logic [2*Bits-1:0] p_o
);
    if (Bits < 1) $error("digit_tile: Bits must be at least 1");

    logic [Bits-1:0] a_q, b_q;
    logic [2*Bits-1:0] m_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q <= '0;
            b_q <= '0;
            m_q <= '0;
            p_o <= '0;
        end else begin
            a_q <= a_i;
            b_q <= b_i;
            m_q <= (2 * Bits)'(a_q) * (2 * Bits)'(b_q);
            p_o <= m_q;
        end
    end
endmodule
