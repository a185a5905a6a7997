// SPDX-License-Identifier: MIT OR Apache-2.0
// A host of AXI4-Lite that keeps the contract of the three channels that it offers on; when it takes answers is its own affair.
module axil_host #(
    parameter int unsigned AddressBits = 17
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic [AddressBits-1:0] awaddr_i,
    input logic                   awvalid_i,
    input logic                   awready_i,
    input logic [           31:0] wdata_i,
    input logic [            3:0] wstrb_i,
    input logic                   wvalid_i,
    input logic                   wready_i,
    input logic [AddressBits-1:0] araddr_i,
    input logic                   arvalid_i,
    input logic                   arready_i
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
endmodule
