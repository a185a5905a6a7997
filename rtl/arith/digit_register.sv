// SPDX-License-Identifier: MIT OR Apache-2.0
// A register for a digit that drives many multipliers. Copies with the same input must not be
// merged, so that each can be placed near the multipliers that it drives.
module digit_register #(
    parameter int unsigned W = 16  // bits of a digit
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [W-1:0] d_i,
    output logic [W-1:0] q_o
);
    if (W < 1) $error("digit_register: W must be at least 1");

    (* keep *)
    always_ff @(posedge clk_i) begin
        if (!rst_ni) q_o <= '0;
        else q_o <= d_i;
    end
endmodule
