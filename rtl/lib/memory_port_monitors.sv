// SPDX-License-Identifier: MIT OR Apache-2.0
// A monitor on the bus of `memory_port`, for simulations.
bind memory_port axi4_monitor #(
    .Width   ($bits(m_axi_wdata_o)),
    .AddrBits($bits(m_axi_araddr_o))
) u_axi4_monitor (
    .clk_i,
    .rst_ni,
    .araddr_i (m_axi_araddr_o),
    .arlen_i  (m_axi_arlen_o),
    .arsize_i (m_axi_arsize_o),
    .arburst_i(m_axi_arburst_o),
    .arvalid_i(m_axi_arvalid_o),
    .arready_i(m_axi_arready_i),
    .rdata_i  (m_axi_rdata_i),
    .rresp_i  (m_axi_rresp_i),
    .rlast_i  (m_axi_rlast_i),
    .rvalid_i (m_axi_rvalid_i),
    .rready_i (m_axi_rready_o),
    .awaddr_i (m_axi_awaddr_o),
    .awlen_i  (m_axi_awlen_o),
    .awsize_i (m_axi_awsize_o),
    .awburst_i(m_axi_awburst_o),
    .awvalid_i(m_axi_awvalid_o),
    .awready_i(m_axi_awready_i),
    .wdata_i  (m_axi_wdata_o),
    .wstrb_i  (m_axi_wstrb_o),
    .wlast_i  (m_axi_wlast_o),
    .wvalid_i (m_axi_wvalid_o),
    .wready_i (m_axi_wready_i),
    .bresp_i  (m_axi_bresp_i),
    .bvalid_i (m_axi_bvalid_i),
    .bready_i (m_axi_bready_o)
);
