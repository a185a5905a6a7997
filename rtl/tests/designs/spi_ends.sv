// SPDX-License-Identifier: MIT OR Apache-2.0
// Both ends of serial peripheral interfaces, each on its own pins, for a test with models of such
// interfaces: a controller whose bytes come and go through ports, and a peripheral that sends back
// what it receives, one byte later.
module spi_ends #(
    parameter int unsigned SckHalfPeriod = 5
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    // The controller.
    input  logic       in_valid_i,
    output logic       in_ready_o,
    input  logic [7:0] in_data_i,
    input  logic       in_last_i,
    output logic       out_valid_o,
    output logic [7:0] out_data_o,
    output logic       cs_no,
    output logic       sck_o,
    output logic       copi_o,
    input  logic       cipo_i,
    // The peripheral.
    input  logic       cs_ni,
    input  logic       sck_i,
    input  logic       copi_i,
    output logic       cipo_o,
    output logic       fault_o
);
    logic heard_valid, said_valid, said_ready, short, overrun, unused_room;
    logic [7:0] heard, said;

    spi_controller #(
        .SckHalfPeriod(SckHalfPeriod)
    ) u_controller (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .in_data_i,
        .in_last_i,
        .out_valid_o,
        .out_ready_i(1'b1),
        .out_data_o,
        .cs_no,
        .sck_o,
        .copi_o,
        .cipo_i
    );

    spi_peripheral u_peripheral (
        .clk_i,
        .rst_ni,
        .cs_ni,
        .sck_i,
        .copi_i,
        .cipo_o,
        .in_valid_i (said_valid),
        .in_ready_o (said_ready),
        .in_data_i  (said),
        .out_valid_o(heard_valid),
        .out_ready_i(1'b1),
        .out_data_o (heard),
        .short_o    (short),
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
    assign fault_o = short || overrun;

    logic unused;
    assign unused = &{1'b0, unused_room};
endmodule
