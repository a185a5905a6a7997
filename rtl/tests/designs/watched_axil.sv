// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests only: an AXI4-Lite monitor with every wire driven by the test.
module watched_axil (
    input logic        clk_i,
    input logic        rst_ni,
    input logic [7:0]  awaddr_i,
    input logic        awvalid_i,
    input logic        awready_i,
    input logic [31:0] wdata_i,
    input logic [3:0]  wstrb_i,
    input logic        wvalid_i,
    input logic        wready_i,
    input logic [1:0]  bresp_i,
    input logic        bvalid_i,
    input logic        bready_i,
    input logic [7:0]  araddr_i,
    input logic        arvalid_i,
    input logic        arready_i,
    input logic [31:0] rdata_i,
    input logic [1:0]  rresp_i,
    input logic        rvalid_i,
    input logic        rready_i
);
    axil_monitor #(
        .AddressBits(8),
        .Pending(2)
    ) u_monitor (
        .clk_i,
        .rst_ni,
        .awaddr_i,
        .awvalid_i,
        .awready_i,
        .wdata_i,
        .wstrb_i,
        .wvalid_i,
        .wready_i,
        .bresp_i,
        .bvalid_i,
        .bready_i,
        .araddr_i,
        .arvalid_i,
        .arready_i,
        .rdata_i,
        .rresp_i,
        .rvalid_i,
        .rready_i
    );
endmodule
