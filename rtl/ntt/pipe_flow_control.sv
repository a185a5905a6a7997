// SPDX-License-Identifier: MIT OR Apache-2.0
// Flow control of a pipeline of fixed length between two streams: en_o advances it, out_valid_o
// marks its results.
//
// All registers advance together, so the arithmetic needs only one enable. Gaps between items stay,
// and an output that is not accepted stalls everything behind it. Latency: Stages cycles. Rate: an
// item every cycle.
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
