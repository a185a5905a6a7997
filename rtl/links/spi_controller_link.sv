// SPDX-License-Identifier: MIT OR Apache-2.0
// The controller's end of a link over a serial peripheral interface (link, spi_controller).
//
// It exchanges bytes continuously, and sends flags between frames, so that the peripheral can send
// at any time. It reselects the peripheral every Burst bytes: a lost or spurious clock edge
// corrupts at most the rest of a burst.
module spi_controller_link #(
    parameter int unsigned SckHalfPeriod = 8,        // cycles of half a clock period
    parameter int unsigned Burst         = 16,       // bytes, at least 1
    parameter int unsigned Words         = 64,       // of a message at most
    parameter int unsigned Timeout       = 1 << 20,  // cycles
    parameter int unsigned Retries       = 8
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
    output logic        cs_no,
    output logic        sck_o,
    output logic        copi_o,
    input  logic        cipo_i,
    output logic        up_o,
    output logic        fault_o,
    output logic [3:0]  fault_code_o
);
    if (Burst < 1) $error("spi_controller_link: Burst must be at least 1");

    localparam int unsigned BurstBits = $clog2(Burst + 1);

    logic tx_valid, tx_ready, rx_valid;
    logic [7:0] tx_data, rx_data;
    logic [BurstBits-1:0] place_q;
    logic last, between;

    assign last = place_q == BurstBits'(Burst - 1);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) place_q <= '0;
        else if (tx_ready && (tx_valid || between)) place_q <= last ? '0 : place_q + BurstBits'(1);
    end

    // A frame begins with a flag, so an offered flag stays the same when a frame starts.
    spi_controller #(
        .SckHalfPeriod(SckHalfPeriod)
    ) u_spi (
        .clk_i,
        .rst_ni,
        .in_valid_i (tx_valid || between),
        .in_ready_o (tx_ready),
        .in_data_i  (tx_valid ? tx_data : link_pkg::Flag),
        .in_last_i  (last),
        .out_valid_o(rx_valid),
        .out_ready_i(1'b1),
        .out_data_o (rx_data),
        .cs_no,
        .sck_o,
        .copi_o,
        .cipo_i
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
        .tx_between_o(between),
        .rx_valid_i  (rx_valid),
        .rx_data_i   (rx_data),
        .line_fault_i(1'b0),
        .up_o,
        .fault_o,
        .fault_code_o
    );
endmodule
