// SPDX-License-Identifier: MIT OR Apache-2.0
// Each taker of a stream_fork gets every item once, in its own time.
module formal (
    input logic clk_i
);
    (* anyseq *) logic in_valid, again;
    (* anyseq *) logic [2:0] out_ready;
    (* anyseq *) logic [1:0] in_data;
    logic in_ready, rst_n;
    logic [2:0] out_valid;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    stream_fork #(
        .Takers(3)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready)
    );

    offer #(
        .Width(2)
    ) u_source (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(in_valid),
        .ready_i(in_ready),
        .data_i (in_data)
    );

    logic [3:0] in_count_q = '0;
    always_ff @(posedge clk_i) in_count_q <= rst_n ? in_count_q + 4'(in_valid && in_ready) : '0;

    for (genvar k = 0; k < 3; k++) begin : gen_taker
        logic [3:0] count_q = '0;
        always_ff @(posedge clk_i) begin
            count_q <= rst_n ? count_q + 4'(out_valid[k] && out_ready[k]) : '0;
            if (rst_n) begin
                // It is ahead of the source by at most the item that the others lack, only while
                // that is on offer, and never behind.
                assert (count_q == in_count_q || (count_q == in_count_q + 4'd1 && in_valid && !out_valid[k]));
                // It does not wait for others.
                if (in_valid && count_q == in_count_q) assert (out_valid[k]);
                cover (count_q == 4'd3 && in_count_q == 4'd3);
            end
        end
        stream_monitor #(
            .Width(2),
            .QuietValid(0)
        ) u_monitor (
            .clk_i,
            .rst_ni (rst_n),
            .valid_i(out_valid[k]),
            .ready_i(out_ready[k]),
            .data_i (in_data),
            .last_i (1'b0)
        );
    end
endmodule
