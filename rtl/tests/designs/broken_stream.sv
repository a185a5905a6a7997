// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests only: a stream that counts, with a monitor. After a while it breaks the contract in the
// way that fault_i selects.
module broken_stream (
    input  logic       clk_i,
    input  logic       rst_ni,
    // 0 none, 1 withdrawn, 2 data changes, 3 last changes, 4 valid in reset, 5 ready in reset
    input  logic [2:0] fault_i,
    input  logic       out_ready_i,
    output logic       out_valid_o,
    output logic [7:0] out_data_o,
    output logic       out_last_o
);
    logic [7:0] count_q;
    logic waiting_q, now;

    // While a beat waits.
    assign now = waiting_q && count_q >= 8'd20;
    assign out_valid_o = (rst_ni || fault_i == 3'd4) && !(now && fault_i == 3'd1);
    assign out_data_o = count_q ^ 8'(now && fault_i == 3'd2);
    assign out_last_o = count_q[1] ^ (now && fault_i == 3'd3);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q   <= '0;
            waiting_q <= 1'b0;
        end else begin
            waiting_q <= out_valid_o && !out_ready_i;
            if (out_valid_o && out_ready_i) count_q <= count_q + 8'd1;
        end
    end

    stream_monitor #(
        .Width(8),
        .QuietReady(1)
    ) u_monitor (
        .clk_i,
        .rst_ni,
        .valid_i(out_valid_o),
        .ready_i(out_ready_i && (rst_ni || fault_i == 3'd5)),
        .data_i (out_data_o),
        .last_i (out_last_o)
    );
endmodule
