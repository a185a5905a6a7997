// SPDX-License-Identifier: MIT OR Apache-2.0
// An accelerator for encryption over the integers (DGHV): whole encryptions by CMNT and CNT with a
// compressed key, in a memory behind an AXI4 port.
//
// The elements never cross a bus. They are regenerated from the key's seed, region 0 of the
// constants, at two words every 10 / Rounds cycles. Commands and answers (dghv_control) come in
// packets (docs/reference/registers.md). The host writes modulus, corrections, coefficients and
// noise to the memory; dghv_encryptor does the rest. PRODUCTS counts products of blocks.
//
// A flush drops everything in progress: it wipes the whole datapath, and bursts that have begun end
// without writing. The seed stays until a wipe. The flush does not change the memory's contents:
// the driver must run a Wipe over them.
module dghv #(
    // AES round circuits: 1, 2, 5 or 10; two keep up with blocks of 128 points
    parameter int unsigned Rounds      = 2,
    // 64-bit words in the memory, from address 0 on, 1 to 2^AddrWidth: for the driver
    parameter int unsigned MemoryWords = 65536,
    parameter int unsigned AddrWidth   = 32,       // bits of a word's address, 9 to 32
    parameter int unsigned Beats       = 16,       // words of the longest burst: axi4_bursts
    parameter int unsigned Bursts      = 8,        // bursts in progress
    parameter int unsigned Depth       = 128,      // words buffered in each direction
    parameter int unsigned Timeout     = 4096,     // cycles after which a silent memory failed
    parameter int unsigned StreamBits  = 64,       // bits of a beat, a multiple of 32
    // least words in both factors for which transforms compute a reduction's products
    // (dghv_encryptor); 0: never
    parameter int unsigned LongWords   = 0
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // AXI4-Lite: registers and the seed.
    input  logic [16:0]           axil_awaddr_i,
    input  logic                  axil_awvalid_i,
    output logic                  axil_awready_o,
    input  logic [31:0]           axil_wdata_i,
    input  logic [3:0]            axil_wstrb_i,
    input  logic                  axil_wvalid_i,
    output logic                  axil_wready_o,
    output logic [1:0]            axil_bresp_o,
    output logic                  axil_bvalid_o,
    input  logic                  axil_bready_i,
    input  logic [16:0]           axil_araddr_i,
    input  logic                  axil_arvalid_i,
    output logic                  axil_arready_o,
    output logic [31:0]           axil_rdata_o,
    output logic [1:0]            axil_rresp_o,
    output logic                  axil_rvalid_o,
    input  logic                  axil_rready_i,
    output logic                  irq_o,
    // AXI4-Stream: commands.
    input  logic [StreamBits-1:0] s_axis_tdata_i,
    input  logic                  s_axis_tlast_i,
    input  logic                  s_axis_tvalid_i,
    output logic                  s_axis_tready_o,
    // AXI4-Stream: answers.
    output logic [StreamBits-1:0] m_axis_tdata_o,
    output logic                  m_axis_tlast_o,
    output logic                  m_axis_tvalid_o,
    input  logic                  m_axis_tready_i,
    // AXI4: the memory.
    output logic                  m_axi_arid_o,
    output logic [AddrWidth+3-1:0] m_axi_araddr_o,
    output logic [7:0]            m_axi_arlen_o,
    output logic [2:0]            m_axi_arsize_o,
    output logic [1:0]            m_axi_arburst_o,
    output logic                  m_axi_arvalid_o,
    input  logic                  m_axi_arready_i,
    input  logic                  m_axi_rid_i,
    input  logic [63:0]           m_axi_rdata_i,
    input  logic [1:0]            m_axi_rresp_i,
    input  logic                  m_axi_rlast_i,
    input  logic                  m_axi_rvalid_i,
    output logic                  m_axi_rready_o,
    output logic                  m_axi_awid_o,
    output logic [AddrWidth+3-1:0] m_axi_awaddr_o,
    output logic [7:0]            m_axi_awlen_o,
    output logic [2:0]            m_axi_awsize_o,
    output logic [1:0]            m_axi_awburst_o,
    output logic                  m_axi_awvalid_o,
    input  logic                  m_axi_awready_i,
    output logic [63:0]           m_axi_wdata_o,
    output logic [7:0]            m_axi_wstrb_o,
    output logic                  m_axi_wlast_o,
    output logic                  m_axi_wvalid_o,
    input  logic                  m_axi_wready_i,
    input  logic                  m_axi_bid_i,
    input  logic [1:0]            m_axi_bresp_i,
    input  logic                  m_axi_bvalid_i,
    output logic                  m_axi_bready_o
);
    localparam int unsigned CountWidth = 11;  // bits of a request's length
    // dghv_encryptor's multiplier: cycles of a product of blocks, and words of a block, 64 digits
    // of 28 bits.
    if (MemoryWords < 1 || 64'(MemoryWords) > 64'd1 << AddrWidth) $error("dghv: MemoryWords is 1 to 2^AddrWidth");

    localparam int unsigned Points = 128;
    localparam int unsigned Block = 28;

    logic rst_n, datapath_rst_n, wipe, key_write;
    logic [13:0] key_index;
    logic [31:0] key_data;
    logic [15:0] unused_index;
    logic [31:0] unused_complete;

    logic [7:0][31:0] parameters;
    assign parameters[accelerator_pkg::DghvParameterBlock] = Block;
    assign parameters[accelerator_pkg::DghvParameterPoints] = Points;
    assign parameters[accelerator_pkg::DghvParameterMemoryWords] = MemoryWords;
    assign parameters[accelerator_pkg::DghvParameterStreamBits] = StreamBits;
    assign parameters[accelerator_pkg::DghvParameterRounds] = Rounds;
    assign parameters[accelerator_pkg::DghvParameterTimeout] = Timeout;
    assign parameters[accelerator_pkg::DghvParameterLongWords] = LongWords;
    assign parameters[accelerator_pkg::DghvParameterReserved7] = '0;

    logic item_valid, item_ready, answer_valid, answer_ready, multiplied;
    logic [639:0] item;
    logic [575:0] answer;

    accelerator_shell #(
        .Identity   (accelerator_pkg::DghvIdentity),
        .InBits     (640),
        .OutBits    (576),
        .StreamBits (StreamBits),
        .Branches   (1),
        .CountBits  (8),
        .RegionWords(accelerator_pkg::dghv_region_words())
    ) u_frame (
        .clk_i,
        .rst_ni,
        .axil_awaddr_i,
        .axil_awvalid_i,
        .axil_awready_o,
        .axil_wdata_i,
        .axil_wstrb_i,
        .axil_wvalid_i,
        .axil_wready_o,
        .axil_bresp_o,
        .axil_bvalid_o,
        .axil_bready_i,
        .axil_araddr_i,
        .axil_arvalid_i,
        .axil_arready_o,
        .axil_rdata_o,
        .axil_rresp_o,
        .axil_rvalid_o,
        .axil_rready_i,
        .irq_o,
        .s_axis_tdata_i,
        .s_axis_tlast_i,
        .s_axis_tvalid_i,
        .s_axis_tready_o,
        .m_axis_tdata_o,
        .m_axis_tlast_o,
        .m_axis_tvalid_o,
        .m_axis_tready_i,
        .parameters_i   (parameters),
        .index_o        (unused_index),
        .value_i        ('0),
        .product_count_i(8'(multiplied)),
        .rst_no         (rst_n),
        .datapath_rst_no(datapath_rst_n),
        .key_wipe_o     (wipe),
        .key_write_o    (key_write),
        .key_index_o    (key_index),
        .key_data_o     (key_data),
        .key_complete_o (unused_complete),
        .key_open_i     (1'b1),
        .item_valid_o   (item_valid),
        .item_ready_i   (item_ready),
        .item_o         (item),
        .answer_valid_i (answer_valid),
        .answer_ready_o (answer_ready),
        .answer_i       (answer)
    );

    logic [127:0] seed;
    config_register #(
        .Bits(128)
    ) u_seed (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (wipe),
        .write_i(key_write && key_index[13:9] == 5'(accelerator_pkg::DghvSeed)),
        .index_i(key_index[8:0]),
        .data_i (key_data),
        .value_o(seed)
    );

    // ---- The encryptor and its elements. ----

    logic seed_load, seed_req_valid, seed_req_ready, seed_valid, seed_ready;
    logic command_valid, command_ready, status_valid, status_ready;
    dghv_pkg::command_t command;
    dghv_pkg::ending_e status;
    dghv_pkg::index_t seed_index;
    dghv_pkg::length_t seed_row;
    logic [CountWidth-1:0] seed_count;
    logic [63:0] seed_word;

    element_rows #(
        .Rounds    (Rounds),
        .RowWidth  (dghv_pkg::LengthBits),
        .CountWidth(CountWidth)
    ) u_elements (
        .clk_i,
        .rst_ni     (datapath_rst_n),
        .wipe_i     (wipe),
        .seed_load_i(seed_load),
        .seed_i     (seed),
        .req_valid_i(seed_req_valid),
        .req_ready_o(seed_req_ready),
        .req_index_i(seed_index),
        .req_row_i  (seed_row),
        .req_count_i(seed_count),
        .valid_o    (seed_valid),
        .ready_i    (seed_ready),
        .word_o     (seed_word)
    );

    // The memory ports of the commands (c_) and the encryptor (e_), used one at a time.
    logic owns, c_rd_req_valid, c_rd_ready, c_wr_req_valid, c_wr_valid, e_rd_req_valid, e_rd_ready, e_wr_req_valid, e_wr_valid;
    logic [AddrWidth-1:0] c_rd_req_addr, c_wr_req_addr, e_rd_req_addr, e_wr_req_addr;
    logic [CountWidth-1:0] c_rd_req_count, c_wr_req_count, e_rd_req_count, e_wr_req_count;
    logic [63:0] c_wr_data, e_wr_data;
    logic [3:0] error;
    logic rd_req_ready, rd_valid, rd_last, wr_req_ready, wr_ready, wr_done;
    logic [63:0] rd_data;

    dghv_encryptor #(
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth),
        .LongWords (LongWords)
    ) u_encryptor (
        .clk_i,
        .rst_ni          (datapath_rst_n),
        .command_valid_i (command_valid),
        .command_ready_o (command_ready),
        .command_i       (command),
        .status_valid_o  (status_valid),
        .status_ready_i  (status_ready),
        .status_o        (status),
        .multiplied_o    (multiplied),
        .rd_req_valid_o  (e_rd_req_valid),
        .rd_req_ready_i  (rd_req_ready && !owns),
        .rd_req_addr_o   (e_rd_req_addr),
        .rd_req_count_o  (e_rd_req_count),
        .rd_valid_i      (rd_valid && !owns),
        .rd_ready_o      (e_rd_ready),
        .rd_data_i       (rd_data),
        .rd_last_i       (rd_last),
        .wr_req_valid_o  (e_wr_req_valid),
        .wr_req_ready_i  (wr_req_ready && !owns),
        .wr_req_addr_o   (e_wr_req_addr),
        .wr_req_count_o  (e_wr_req_count),
        .wr_valid_o      (e_wr_valid),
        .wr_ready_i      (wr_ready && !owns),
        .wr_data_o       (e_wr_data),
        .wr_done_i       (wr_done && !owns),
        .error_i         (error != '0),
        .seed_req_valid_o(seed_req_valid),
        .seed_req_ready_i(seed_req_ready),
        .seed_req_index_o(seed_index),
        .seed_req_row_o  (seed_row),
        .seed_req_count_o(seed_count),
        .seed_valid_i    (seed_valid),
        .seed_ready_o    (seed_ready),
        .seed_data_i     (seed_word)
    );

    dghv_control #(
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_control (
        .clk_i,
        .rst_ni         (datapath_rst_n),
        .item_valid_i   (item_valid),
        .item_ready_o   (item_ready),
        .item_i         (item),
        .answer_valid_o (answer_valid),
        .answer_ready_i (answer_ready),
        .answer_o       (answer),
        .seed_load_o    (seed_load),
        .command_valid_o(command_valid),
        .command_ready_i(command_ready),
        .command_o      (command),
        .status_valid_i (status_valid),
        .status_ready_o (status_ready),
        .status_i       (status),
        .owns_o         (owns),
        .error_i        (error),
        .rd_req_valid_o (c_rd_req_valid),
        .rd_req_ready_i (rd_req_ready),
        .rd_req_addr_o  (c_rd_req_addr),
        .rd_req_count_o (c_rd_req_count),
        .rd_valid_i     (rd_valid && owns),
        .rd_ready_o     (c_rd_ready),
        .rd_data_i      (rd_data),
        .rd_last_i      (rd_last),
        .wr_req_valid_o (c_wr_req_valid),
        .wr_req_ready_i (wr_req_ready),
        .wr_req_addr_o  (c_wr_req_addr),
        .wr_req_count_o (c_wr_req_count),
        .wr_valid_o     (c_wr_valid),
        .wr_ready_i     (wr_ready),
        .wr_data_o      (c_wr_data),
        .wr_done_i      (wr_done && owns)
    );

    logic unused_idle;
    memory_port #(
        .Width     (64),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth),
        .Beats     (Beats),
        .Bursts    (Bursts),
        .Depth     (Depth),
        .Timeout   (Timeout)
    ) u_memory (
        .clk_i,
        .rst_ni        (rst_n),
        .clear_i       (rst_n && !datapath_rst_n),
        .idle_o        (unused_idle),
        .error_o       (error),
        .rd_req_valid_i(owns ? c_rd_req_valid : e_rd_req_valid),
        .rd_req_ready_o(rd_req_ready),
        .rd_req_addr_i (owns ? c_rd_req_addr : e_rd_req_addr),
        .rd_req_count_i(owns ? c_rd_req_count : e_rd_req_count),
        .rd_valid_o    (rd_valid),
        .rd_ready_i    (owns ? c_rd_ready : e_rd_ready),
        .rd_data_o     (rd_data),
        .rd_last_o     (rd_last),
        .wr_req_valid_i(owns ? c_wr_req_valid : e_wr_req_valid),
        .wr_req_ready_o(wr_req_ready),
        .wr_req_addr_i (owns ? c_wr_req_addr : e_wr_req_addr),
        .wr_req_count_i(owns ? c_wr_req_count : e_wr_req_count),
        .wr_valid_i    (owns ? c_wr_valid : e_wr_valid),
        .wr_ready_o    (wr_ready),
        .wr_data_i     (owns ? c_wr_data : e_wr_data),
        .wr_done_o     (wr_done),
        .m_axi_arid_o,
        .m_axi_araddr_o,
        .m_axi_arlen_o,
        .m_axi_arsize_o,
        .m_axi_arburst_o,
        .m_axi_arvalid_o,
        .m_axi_arready_i,
        .m_axi_rid_i,
        .m_axi_rdata_i,
        .m_axi_rresp_i,
        .m_axi_rlast_i,
        .m_axi_rvalid_i,
        .m_axi_rready_o,
        .m_axi_awid_o,
        .m_axi_awaddr_o,
        .m_axi_awlen_o,
        .m_axi_awsize_o,
        .m_axi_awburst_o,
        .m_axi_awvalid_o,
        .m_axi_awready_i,
        .m_axi_wdata_o,
        .m_axi_wstrb_o,
        .m_axi_wlast_o,
        .m_axi_wvalid_o,
        .m_axi_wready_i,
        .m_axi_bid_i,
        .m_axi_bresp_i,
        .m_axi_bvalid_i,
        .m_axi_bready_o
    );

    logic unused;
    assign unused = &{1'b0, unused_index, unused_complete, unused_idle};
endmodule
