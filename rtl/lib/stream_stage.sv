// SPDX-License-Identifier: MIT OR Apache-2.0
// An optional register in a stream.
//
// Latency Present cycles; an item every cycle. in_ready_o follows out_ready_i within the cycle, so
// a stall empties no stage and bubbles are filled.
module stream_stage #(
    parameter int unsigned Width   = 8,  // bits of an item
    parameter int unsigned Present = 1   // 1: a register; 0: wires
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
    if (Width < 1) $error("stream_stage: Width must be at least 1");
    if (Present > 1) $error("stream_stage: Present is 0 or 1");

    if (Present == 1) begin : gen_register
        assign in_ready_o = !out_valid_o || out_ready_i;

        always_ff @(posedge clk_i) begin
            if (!rst_ni) out_valid_o <= 1'b0;
            else if (in_ready_o) out_valid_o <= in_valid_i;
        end

        always_ff @(posedge clk_i) begin
            if (in_ready_o) out_data_o <= in_data_i;
        end
    end else begin : gen_wires
        assign in_ready_o = out_ready_i;
        assign out_valid_o = in_valid_i;
        assign out_data_o = in_data_i;

        logic unused;
        assign unused = &{1'b0, clk_i, rst_ni};
    end
endmodule
