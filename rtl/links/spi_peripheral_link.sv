// SPDX-License-Identifier: MIT OR Apache-2.0
// The peripheral's end of a link over a serial peripheral interface (link, spi_peripheral).
module spi_peripheral_link #(
    parameter int unsigned Words   = 64,       // of a message at most
    parameter int unsigned Timeout = 1 << 20,  // cycles
    parameter int unsigned Retries = 8
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
    input  logic        cs_ni,
    input  logic        sck_i,
    input  logic        copi_i,
    output logic        cipo_o,
    output logic        up_o,
    output logic        fault_o,
    output logic [3:0]  fault_code_o
);
    logic unused_between, tx_valid, tx_ready, rx_valid, short_byte, overrun;
    logic [7:0] tx_data, rx_data;

    spi_peripheral #(
        .Idle(link_pkg::Flag)
    ) u_spi (
        .clk_i,
        .rst_ni,
        .cs_ni,
        .sck_i,
        .copi_i,
        .cipo_o,
        .in_valid_i (tx_valid),
        .in_ready_o (tx_ready),
        .in_data_i  (tx_data),
        .out_valid_o(rx_valid),
        .out_ready_i(1'b1),
        .out_data_o (rx_data),
        .short_o    (short_byte),
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
        .line_fault_i(short_byte || overrun),
        .up_o,
        .fault_o,
        .fault_code_o
    );
endmodule
