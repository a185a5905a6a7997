// SPDX-License-Identifier: MIT OR Apache-2.0
// Residues of some long integers; the data come from rtl/sim/vectors.py.
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

    logic [4:0] unused;
    logic [31:0] unused_data;
    residue_bank #(
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
        .m_axis_tready_i(m_ready)
    );
endmodule
