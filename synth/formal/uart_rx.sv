// SPDX-License-Identifier: MIT OR Apache-2.0
// The first byte that a uart_tx sends, for any value and any time, is the first that a uart_rx of
// the same period offers. Nothing else is offered, and no fault shows.
module formal (
    input logic       clk_i,
    input logic       in_valid_i,
    input logic [7:0] in_data_i
);
    localparam int unsigned BaudDivisor = 8;

    logic rst_n = 1'b0;
    always_ff @(posedge clk_i) rst_n <= 1'b1;

    logic in_ready, line, out_valid, framing, overrun;
    logic [7:0] out_data;
    uart_tx #(
        .BaudDivisor(BaudDivisor)
    ) u_tx (
        .clk_i,
        .rst_ni    (rst_n),
        .in_valid_i,
        .in_ready_o(in_ready),
        .in_data_i,
        .tx_o      (line)
    );
    uart_rx #(
        .BaudDivisor(BaudDivisor),
        .Stages     (2)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .rx_i       (line),
        .out_valid_o(out_valid),
        .out_ready_i(1'b1),
        .out_data_o (out_data),
        .framing_o  (framing),
        .overrun_o  (overrun)
    );

    logic sent_q = 1'b0, heard_q = 1'b0;
    logic [7:0] first_q;
    // Cycles since it was accepted, up to the documented latency and one more.
    logic [6:0] since_q = '0;
    localparam logic [6:0] Latency = 7'(1 + 2 + 9 * BaudDivisor + BaudDivisor / 2 + 2);
    always_ff @(posedge clk_i) begin
        if (rst_n) begin
            if (in_valid_i && in_ready && !sent_q) begin
                sent_q  <= 1'b1;
                first_q <= in_data_i;
            end
            if (sent_q && since_q <= Latency) since_q <= since_q + 7'd1;
            if (out_valid) heard_q <= 1'b1;
            if (out_valid) assert (sent_q && (heard_q || out_data == first_q));
            // It has arrived when the header says so.
            assert (heard_q || out_valid || since_q < Latency);
            assert (!framing && !overrun);
            cover (out_valid && !heard_q && out_data == 8'h5a);
        end
    end
endmodule
