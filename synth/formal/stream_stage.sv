// SPDX-License-Identifier: MIT OR Apache-2.0
// Items go through a stream_stage in order, whatever valid, ready and reset do.
module formal (
    input logic clk_i
);
    (* anyseq *) logic in_valid, out_ready, again;
    (* anyseq *) logic [1:0] in_data;
    logic in_ready, out_valid, rst_n;
    logic [1:0] out_data;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    stream_stage #(
        .Width(2)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_data_i  (in_data),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out_data)
    );
    follow #(
        .Width(2),
        .Hold(1),
        .Latency(0),
        .Ready(0)
    ) u_follow (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (in_valid),
        .in_ready_i (in_ready),
        .in_i       (in_data),
        .out_valid_i(out_valid),
        .out_ready_i(out_ready),
        .out_i      (out_data)
    );
    stream_monitor #(
        .Width(2)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i (out_data),
        .last_i (1'b0)
    );
    // Nothing is accepted once a reset has been seen.
    logic reset_q = 1'b0;
    always_ff @(posedge clk_i) begin
        reset_q <= !rst_n;
        if (reset_q) assert (!out_valid);
    end
endmodule
