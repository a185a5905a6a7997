// SPDX-License-Identifier: MIT OR Apache-2.0
// Binds monitors to the ports that every top has: write `BIND_MONITORS(mesa) in a file passed to
// the simulator along with the top. A reset reaches the ports after two edges, through a
// reset_sync.
//
// hearith_verilated automatically gives Verilator the file TOP_monitors.sv for a top called TOP.
`ifndef HEARITH_MONITORS_SVH
`define HEARITH_MONITORS_SVH

`define BIND_MONITORS(Top) \
    bind Top axil_monitor #(.AddressBits($bits(axil_awaddr_i)), .Settle(2)) u_axil_monitor ( \
        .clk_i, \
        .rst_ni, \
        .awaddr_i (axil_awaddr_i), \
        .awvalid_i(axil_awvalid_i), \
        .awready_i(axil_awready_o), \
        .wdata_i  (axil_wdata_i), \
        .wstrb_i  (axil_wstrb_i), \
        .wvalid_i (axil_wvalid_i), \
        .wready_i (axil_wready_o), \
        .bresp_i  (axil_bresp_o), \
        .bvalid_i (axil_bvalid_o), \
        .bready_i (axil_bready_i), \
        .araddr_i (axil_araddr_i), \
        .arvalid_i(axil_arvalid_i), \
        .arready_i(axil_arready_o), \
        .rdata_i  (axil_rdata_o), \
        .rresp_i  (axil_rresp_o), \
        .rvalid_i (axil_rvalid_o), \
        .rready_i (axil_rready_i) \
    ); \
    bind Top stream_monitor #(.Width($bits(s_axis_tdata_i)), .Settle(2), .QuietValid(0), .QuietReady(1)) u_s_axis_monitor ( \
        .clk_i, \
        .rst_ni, \
        .valid_i(s_axis_tvalid_i), \
        .ready_i(s_axis_tready_o), \
        .data_i (s_axis_tdata_i), \
        .last_i (s_axis_tlast_i) \
    ); \
    bind Top stream_monitor #(.Width($bits(m_axis_tdata_o)), .Settle(2)) u_m_axis_monitor ( \
        .clk_i, \
        .rst_ni, \
        .valid_i(m_axis_tvalid_o), \
        .ready_i(m_axis_tready_i), \
        .data_i (m_axis_tdata_o), \
        .last_i (m_axis_tlast_o) \
    );

// Binds a monitor to the AXI4 port to a memory; a reset reaches the port after Edges clock edges.
`define BIND_MEMORY_MONITOR(Top, Edges) \
    bind Top axi4_monitor #( \
        .Width   ($bits(m_axi_wdata_o)), \
        .AddrBits($bits(m_axi_araddr_o)), \
        .Settle  (Edges) \
    ) u_axi4_monitor ( \
        .clk_i, \
        .rst_ni, \
        .araddr_i (m_axi_araddr_o), \
        .arlen_i  (m_axi_arlen_o), \
        .arsize_i (m_axi_arsize_o), \
        .arburst_i(m_axi_arburst_o), \
        .arvalid_i(m_axi_arvalid_o), \
        .arready_i(m_axi_arready_i), \
        .rdata_i  (m_axi_rdata_i), \
        .rresp_i  (m_axi_rresp_i), \
        .rlast_i  (m_axi_rlast_i), \
        .rvalid_i (m_axi_rvalid_i), \
        .rready_i (m_axi_rready_o), \
        .awaddr_i (m_axi_awaddr_o), \
        .awlen_i  (m_axi_awlen_o), \
        .awsize_i (m_axi_awsize_o), \
        .awburst_i(m_axi_awburst_o), \
        .awvalid_i(m_axi_awvalid_o), \
        .awready_i(m_axi_awready_i), \
        .wdata_i  (m_axi_wdata_o), \
        .wstrb_i  (m_axi_wstrb_o), \
        .wlast_i  (m_axi_wlast_o), \
        .wvalid_i (m_axi_wvalid_o), \
        .wready_i (m_axi_wready_i), \
        .bresp_i  (m_axi_bresp_i), \
        .bvalid_i (m_axi_bvalid_i), \
        .bready_i (m_axi_bready_o) \
    );
`endif  // HEARITH_MONITORS_SVH
