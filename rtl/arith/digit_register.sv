// SPDX-License-Identifier: MIT OR Apache-2.0
// A register for a digit on its way to many multipliers. Several with the same input are to stay
// several, so that each can lie near those it feeds.
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
