// SPDX-License-Identifier: MIT OR Apache-2.0
// An AXI4-Lite host that keeps the protocol, with any requests and any delays in accepting answers.
// It also checks that the port keeps the protocol.
module axil_host #(
    parameter int unsigned AddressBits = 17,
    parameter int unsigned Settle      = 0   // see axil_monitor
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic [AddressBits-1:0] awaddr_i,
    input logic                   awvalid_i,
    input logic                   awready_i,
    input logic [31:0]            wdata_i,
    input logic [3:0]             wstrb_i,
    input logic                   wvalid_i,
    input logic                   wready_i,
    input logic [1:0]             bresp_i,
    input logic                   bvalid_i,
    input logic                   bready_i,
    input logic [AddressBits-1:0] araddr_i,
    input logic                   arvalid_i,
    input logic                   arready_i,
    input logic [31:0]            rdata_i,
    input logic [1:0]             rresp_i,
    input logic                   rvalid_i,
    input logic                   rready_i
);
    offer #(
        .Width(AddressBits)
    ) u_write_addresses (
        .clk_i,
        .rst_ni,
        .valid_i(awvalid_i),
        .ready_i(awready_i),
        .data_i (awaddr_i)
    );
    offer #(
        .Width(36)
    ) u_words (
        .clk_i,
        .rst_ni,
        .valid_i(wvalid_i),
        .ready_i(wready_i),
        .data_i ({wstrb_i, wdata_i})
    );
    offer #(
        .Width(AddressBits)
    ) u_read_addresses (
        .clk_i,
        .rst_ni,
        .valid_i(arvalid_i),
        .ready_i(arready_i),
        .data_i (araddr_i)
    );
    axil_monitor #(
        .AddressBits(AddressBits),
        .Pending(2),
        .Settle(Settle)
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
