// SPDX-License-Identifier: MIT OR Apache-2.0
// One end of a link over an asynchronous line (link, uart_rx, uart_tx).
module uart_link #(
    parameter int unsigned BaudDivisor = 868,      // cycles of a bit
    parameter int unsigned Words       = 64,       // of a message at most
    parameter int unsigned Timeout     = 1 << 20,  // cycles
    parameter int unsigned Retries     = 8
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [15:0] tag_i,
    input  logic        in_valid_i,
    output logic        in_ready_o,
    input  logic [31:0] in_data_i,
    input  logic        in_last_i,
    output logic        delivered_o,
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output logic [31:0] out_data_o,
    output logic        out_last_o,
    output logic        tx_o,
    input  logic        rx_i,
    output logic        up_o,
    output logic        fault_o,
    output logic [3:0]  fault_code_o
);
    logic unused_between, tx_valid, tx_ready, rx_valid, framing, overrun;
    logic [7:0] tx_data, rx_data;

    uart_tx #(
        .BaudDivisor(BaudDivisor)
    ) u_tx (
        .clk_i,
        .rst_ni,
        .in_valid_i(tx_valid),
        .in_ready_o(tx_ready),
        .in_data_i (tx_data),
        .tx_o
    );

    uart_rx #(
        .BaudDivisor(BaudDivisor)
    ) u_rx (
        .clk_i,
        .rst_ni,
        .rx_i,
        .out_valid_o(rx_valid),
        .out_ready_i(1'b1),
        .out_data_o (rx_data),
        .framing_o  (framing),
        .overrun_o  (overrun)
    );

    link #(
        .Words  (Words),
        .Timeout(Timeout),
        .Retries(Retries)
    ) u_link (
        .clk_i,
        .rst_ni,
        .tag_i,
        .in_valid_i,
        .in_ready_o,
        .in_data_i,
        .in_last_i,
        .delivered_o,
        .out_valid_o,
        .out_ready_i,
        .out_data_o,
        .out_last_o,
        .tx_valid_o  (tx_valid),
        .tx_ready_i  (tx_ready),
        .tx_data_o   (tx_data),
        .tx_between_o(unused_between),
        .rx_valid_i  (rx_valid),
        .rx_data_i   (rx_data),
        .line_fault_i(framing || overrun),
        .up_o,
        .fault_o,
        .fault_code_o
    );
endmodule
