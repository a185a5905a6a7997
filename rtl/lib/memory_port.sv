// SPDX-License-Identifier: MIT OR Apache-2.0
// Connects a design to an external memory: requests for words on one side, an AXI4 manager port on
// the other (axi4_reader, axi4_writer).
//
// Reads and writes do not wait for each other: wait for wr_done_o before you read what you wrote.
// error_o is 0 while the memory is sound. Otherwise its low bits are a fault (axi4_pkg), and its
// top bit is set if the fault is of a write. On an error, stop; raise clear_i and wait for idle_o
// to restart.
module memory_port #(
    parameter int unsigned Width      = 64,
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 16,
    parameter int unsigned Beats      = 16,
    parameter int unsigned Bursts     = 8,
    parameter int unsigned Depth      = 128,
    parameter int unsigned Timeout    = 4096,
    localparam int unsigned ByteBits = $clog2(Width / 8)
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    input  logic                          clear_i,
    output logic                          idle_o,
    output logic [3:0]                    error_o,
    // Reads.
    input  logic                          rd_req_valid_i,
    output logic                          rd_req_ready_o,
    input  logic [AddrWidth-1:0]          rd_req_addr_i,
    input  logic [CountWidth-1:0]         rd_req_count_i,
    output logic                          rd_valid_o,
    input  logic                          rd_ready_i,
    output logic [Width-1:0]              rd_data_o,
    output logic                          rd_last_o,
    // Writes.
    input  logic                          wr_req_valid_i,
    output logic                          wr_req_ready_o,
    input  logic [AddrWidth-1:0]          wr_req_addr_i,
    input  logic [CountWidth-1:0]         wr_req_count_i,
    input  logic                          wr_valid_i,
    output logic                          wr_ready_o,
    input  logic [Width-1:0]              wr_data_i,
    output logic                          wr_done_o,
    // The bus.
    output logic                          m_axi_arid_o,
    output logic [AddrWidth+ByteBits-1:0] m_axi_araddr_o,
    output logic [7:0]                    m_axi_arlen_o,
    output logic [2:0]                    m_axi_arsize_o,
    output logic [1:0]                    m_axi_arburst_o,
    output logic                          m_axi_arvalid_o,
    input  logic                          m_axi_arready_i,
    input  logic                          m_axi_rid_i,
    input  logic [Width-1:0]              m_axi_rdata_i,
    input  logic [1:0]                    m_axi_rresp_i,
    input  logic                          m_axi_rlast_i,
    input  logic                          m_axi_rvalid_i,
    output logic                          m_axi_rready_o,
    output logic                          m_axi_awid_o,
    output logic [AddrWidth+ByteBits-1:0] m_axi_awaddr_o,
    output logic [7:0]                    m_axi_awlen_o,
    output logic [2:0]                    m_axi_awsize_o,
    output logic [1:0]                    m_axi_awburst_o,
    output logic                          m_axi_awvalid_o,
    input  logic                          m_axi_awready_i,
    output logic [Width-1:0]              m_axi_wdata_o,
    output logic [Width/8-1:0]            m_axi_wstrb_o,
    output logic                          m_axi_wlast_o,
    output logic                          m_axi_wvalid_o,
    input  logic                          m_axi_wready_i,
    input  logic                          m_axi_bid_i,
    input  logic [1:0]                    m_axi_bresp_i,
    input  logic                          m_axi_bvalid_i,
    output logic                          m_axi_bready_o
);
    logic [2:0] read_fault, write_fault;
    logic reader_idle, writer_idle;

    assign idle_o = reader_idle && writer_idle;
    assign error_o = (read_fault != axi4_pkg::Sound) ? {1'b0, read_fault} : {write_fault != axi4_pkg::Sound, write_fault};

    axi4_reader #(
        .Width     (Width),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth),
        .Beats     (Beats),
        .Bursts    (Bursts),
        .Depth     (Depth),
        .Timeout   (Timeout)
    ) u_reader (
        .clk_i,
        .rst_ni,
        .clear_i,
        .idle_o       (reader_idle),
        .fault_o      (read_fault),
        .req_valid_i  (rd_req_valid_i),
        .req_ready_o  (rd_req_ready_o),
        .req_addr_i   (rd_req_addr_i),
        .req_count_i  (rd_req_count_i),
        .valid_o      (rd_valid_o),
        .ready_i      (rd_ready_i),
        .data_o       (rd_data_o),
        .last_o       (rd_last_o),
        .axi_arid_o   (m_axi_arid_o),
        .axi_araddr_o (m_axi_araddr_o),
        .axi_arlen_o  (m_axi_arlen_o),
        .axi_arsize_o (m_axi_arsize_o),
        .axi_arburst_o(m_axi_arburst_o),
        .axi_arvalid_o(m_axi_arvalid_o),
        .axi_arready_i(m_axi_arready_i),
        .axi_rid_i    (m_axi_rid_i),
        .axi_rdata_i  (m_axi_rdata_i),
        .axi_rresp_i  (m_axi_rresp_i),
        .axi_rlast_i  (m_axi_rlast_i),
        .axi_rvalid_i (m_axi_rvalid_i),
        .axi_rready_o (m_axi_rready_o)
    );

    axi4_writer #(
        .Width     (Width),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth),
        .Beats     (Beats),
        .Bursts    (Bursts),
        .Depth     (Depth),
        .Timeout   (Timeout)
    ) u_writer (
        .clk_i,
        .rst_ni,
        .clear_i,
        .idle_o       (writer_idle),
        .fault_o      (write_fault),
        .req_valid_i  (wr_req_valid_i),
        .req_ready_o  (wr_req_ready_o),
        .req_addr_i   (wr_req_addr_i),
        .req_count_i  (wr_req_count_i),
        .valid_i      (wr_valid_i),
        .ready_o      (wr_ready_o),
        .data_i       (wr_data_i),
        .done_o       (wr_done_o),
        .axi_awid_o   (m_axi_awid_o),
        .axi_awaddr_o (m_axi_awaddr_o),
        .axi_awlen_o  (m_axi_awlen_o),
        .axi_awsize_o (m_axi_awsize_o),
        .axi_awburst_o(m_axi_awburst_o),
        .axi_awvalid_o(m_axi_awvalid_o),
        .axi_awready_i(m_axi_awready_i),
        .axi_wdata_o  (m_axi_wdata_o),
        .axi_wstrb_o  (m_axi_wstrb_o),
        .axi_wlast_o  (m_axi_wlast_o),
        .axi_wvalid_o (m_axi_wvalid_o),
        .axi_wready_i (m_axi_wready_i),
        .axi_bid_i    (m_axi_bid_i),
        .axi_bresp_i  (m_axi_bresp_i),
        .axi_bvalid_i (m_axi_bvalid_i),
        .axi_bready_o (m_axi_bready_o)
    );
endmodule
