// SPDX-License-Identifier: MIT OR Apache-2.0
// Returns what arrives on a serial line, for a test with models of such lines.
module line_echo #(
    parameter int unsigned BaudDivisor = 20
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic rx_i,
    output logic tx_o,
    output logic fault_o
);
    logic heard_valid, said_valid, said_ready, framing, overrun, unused_room;
    logic [7:0] heard, said;

    uart_rx #(
        .BaudDivisor(BaudDivisor)
    ) u_rx (
        .clk_i,
        .rst_ni,
        .rx_i,
        .out_valid_o(heard_valid),
        .out_ready_i(1'b1),
        .out_data_o (heard),
        .framing_o  (framing),
        .overrun_o  (overrun)
    );
    stream_fifo #(
        .Depth(8)
    ) u_line (
        .clk_i,
        .rst_ni,
        .in_valid_i (heard_valid),
        .in_ready_o (unused_room),
        .in_data_i  (heard),
        .out_valid_o(said_valid),
        .out_ready_i(said_ready),
        .out_data_o (said)
    );
    uart_tx #(
        .BaudDivisor(BaudDivisor)
    ) u_tx (
        .clk_i,
        .rst_ni,
        .in_valid_i(said_valid),
        .in_ready_o(said_ready),
        .in_data_i (said),
        .tx_o
    );
    assign fault_o = framing || overrun;

    logic unused;
    assign unused = &{1'b0, unused_room};
endmodule
