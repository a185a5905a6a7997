// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes two numbers into a memory, multiplies them and reads the product; all data come from
// rtl/sim/vectors.py.
module bench (
    input logic clk_i
);
    logic rst_n, awvalid, awready, wvalid, wready, bvalid, bready, s_valid, s_ready, s_last, m_valid, m_ready, m_last;
    logic [16:0] awaddr;
    logic [31:0] wdata, s_data, m_data;
    logic [1:0] bresp;

    player u_player (
        .clk_i,
        .rst_no         (rst_n),
        .axil_awaddr_o  (awaddr),
        .axil_awvalid_o (awvalid),
        .axil_awready_i (awready),
        .axil_wdata_o   (wdata),
        .axil_wvalid_o  (wvalid),
        .axil_wready_i  (wready),
        .axil_bresp_i   (bresp),
        .axil_bvalid_i  (bvalid),
        .axil_bready_o  (bready),
        .s_axis_tdata_o (s_data),
        .s_axis_tlast_o (s_last),
        .s_axis_tvalid_o(s_valid),
        .s_axis_tready_i(s_ready),
        .m_axis_tdata_i (m_data),
        .m_axis_tlast_i (m_last),
        .m_axis_tvalid_i(m_valid),
        .m_axis_tready_o(m_ready)
    );

    logic ar_valid, ar_ready, r_last, r_valid, r_ready, aw_valid, aw_ready, w_last, w_valid, w_ready, b_valid, b_ready;
    logic [34:0] ar_addr, aw_addr;
    logic [7:0] ar_len, w_strb;
    logic [63:0] r_data, w_data;
    logic [19:0] unused_axi;

    memory u_memory (
        .clk_i,
        .rst_ni   (rst_n),
        .araddr_i (ar_addr),
        .arlen_i  (ar_len),
        .arvalid_i(ar_valid),
        .arready_o(ar_ready),
        .rdata_o  (r_data),
        .rlast_o  (r_last),
        .rvalid_o (r_valid),
        .rready_i (r_ready),
        .awaddr_i (aw_addr),
        .awvalid_i(aw_valid),
        .awready_o(aw_ready),
        .wdata_i  (w_data),
        .wstrb_i  (w_strb),
        .wlast_i  (w_last),
        .wvalid_i (w_valid),
        .wready_o (w_ready),
        .bvalid_o (b_valid),
        .bready_i (b_ready)
    );

    logic [4:0] unused;
    logic [31:0] unused_data;
    dghv #(
        .Rounds(1),
        .MemoryWords(1024),
        .StreamBits(32)
    ) u_device (
        .clk_i,
        .rst_ni         (rst_n),
        .axil_awaddr_i  (awaddr),
        .axil_awvalid_i (awvalid),
        .axil_awready_o (awready),
        .axil_wdata_i   (wdata),
        .axil_wstrb_i   (4'hf),
        .axil_wvalid_i  (wvalid),
        .axil_wready_o  (wready),
        .axil_bresp_o   (bresp),
        .axil_bvalid_o  (bvalid),
        .axil_bready_i  (bready),
        .axil_araddr_i  ('0),
        .axil_arvalid_i (1'b0),
        .axil_arready_o (unused[0]),
        .axil_rdata_o   (unused_data),
        .axil_rresp_o   (unused[2:1]),
        .axil_rvalid_o  (unused[3]),
        .axil_rready_i  (1'b1),
        .irq_o          (unused[4]),
        .s_axis_tdata_i (s_data),
        .s_axis_tlast_i (s_last),
        .s_axis_tvalid_i(s_valid),
        .s_axis_tready_o(s_ready),
        .m_axis_tdata_o (m_data),
        .m_axis_tlast_o (m_last),
        .m_axis_tvalid_o(m_valid),
        .m_axis_tready_i(m_ready),
        .m_axi_arid_o   (unused_axi[0]),
        .m_axi_araddr_o (ar_addr),
        .m_axi_arlen_o  (ar_len),
        .m_axi_arsize_o (unused_axi[3:1]),
        .m_axi_arburst_o(unused_axi[5:4]),
        .m_axi_arvalid_o(ar_valid),
        .m_axi_arready_i(ar_ready),
        .m_axi_rid_i    ('0),
        .m_axi_rdata_i  (r_data),
        .m_axi_rresp_i  ('0),
        .m_axi_rlast_i  (r_last),
        .m_axi_rvalid_i (r_valid),
        .m_axi_rready_o (r_ready),
        .m_axi_awid_o   (unused_axi[6]),
        .m_axi_awaddr_o (aw_addr),
        .m_axi_awlen_o  (unused_axi[14:7]),
        .m_axi_awsize_o (unused_axi[17:15]),
        .m_axi_awburst_o(unused_axi[19:18]),
        .m_axi_awvalid_o(aw_valid),
        .m_axi_awready_i(aw_ready),
        .m_axi_wdata_o  (w_data),
        .m_axi_wstrb_o  (w_strb),
        .m_axi_wlast_o  (w_last),
        .m_axi_wvalid_o (w_valid),
        .m_axi_wready_i (w_ready),
        .m_axi_bid_i    ('0),
        .m_axi_bresp_i  ('0),
        .m_axi_bvalid_i (b_valid),
        .m_axi_bready_o (b_ready)
    );
endmodule
