// SPDX-License-Identifier: MIT OR Apache-2.0
// Delays its input by Cycles cycles with en_i. Cycles = 0 is plain wires.
module delay_line #(
    parameter int unsigned Width  = 8,  // at least 1
    parameter int unsigned Cycles = 1
) (
    input  logic             clk_i,
    input  logic             en_i,
    input  logic [Width-1:0] x_i,
    output logic [Width-1:0] y_o
);
    if (Width < 1) $error("delay_line: Width must be at least 1");

    if (Cycles == 0) begin : gen_wires
        assign y_o = x_i;

        logic unused;
        assign unused = &{1'b0, clk_i, en_i};
    end else begin : gen_registers
        // The newest item is at the low end.
        logic [Cycles*Width-1:0] x_q;

        always_ff @(posedge clk_i) begin
            if (en_i) x_q <= (Cycles * Width)'({x_q, x_i});
        end
        assign y_o = x_q[Cycles*Width-1-:Width];
    end
endmodule
