// SPDX-License-Identifier: MIT OR Apache-2.0
// A pipeline of fixed length between two streams: when it moves on (en_o), and what it has to give.
//
// All registers move together, so that one wire is all that arithmetic needs; a gap between items
// stays, and whoever does not take an item stops all behind it. Latency Stages cycles; an item
// every cycle.
module pipe_flow_control #(
    parameter int unsigned Stages = 8  // at least 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic in_valid_i,
    output logic in_ready_o,
    output logic en_o,
    output logic out_valid_o,
    input  logic out_ready_i
);
    if (Stages < 1) $error("pipe_flow_control: Stages must be at least 1");

    logic [Stages-1:0] valid_q;

    assign out_valid_o = valid_q[Stages-1];
    assign en_o        = !out_valid_o || out_ready_i;
    assign in_ready_o  = en_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_q <= '0;
        else if (en_o) valid_q <= Stages'({valid_q, in_valid_i});
    end
endmodule
