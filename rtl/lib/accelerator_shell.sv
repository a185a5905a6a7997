// SPDX-License-Identifier: MIT OR Apache-2.0
// The part that every accelerator has in common around its datapath: registers, packets in and out,
// reset, flush and wipe (docs/reference/registers.md).
//
// Once the constants are complete, items of InBits bits go to all Branches, each branch at its own
// pace. The design returns one answer of OutBits bits per item, in order. datapath_rst_no resets
// the design's datapath, rst_no its constants. Constants are written with key_write_o: the upper 5
// bits of key_index_o are the region's number, the lower 9 the word. key_wipe_o clears them in a
// cycle with datapath_rst_no low. All items are computed with the constants of one key, which has
// every region except possibly Optional ones (key_slot). All resets are synchronous.
//
// There is no combinational path from an input port to an output port. Within a packet an item is
// accepted every InCycles cycles and an answer sent every OutCycles cycles: 1 if it fits a beat,
// otherwise its number of beats, plus one without Gapless. Each packet costs ceil(64 / StreamBits)
// more beats.
module accelerator_shell #(
    parameter logic [31:0]  Identity    = "NONE",
    parameter int unsigned  InBits      = 128,  // bits of an item, at least 1
    parameter int unsigned  OutBits     = 64,   // bits of an answer, at least 1
    parameter int unsigned  StreamBits  = 64,   // bits of a beat, a multiple of 32
    parameter int unsigned  Branches    = 1,    // branches that receive every item, 1 to 255
    parameter int unsigned  CountBits   = 8,    // bits of product_count_i, 1 to 32
    // 1: no idle cycle between items, for twice the flip-flops
    parameter int unsigned  Gapless     = 0,
    // packets in progress besides the one being sent, at least 2
    parameter int unsigned  Tags        = 4,
    parameter int unsigned  Table       = 0,    // 1: there is a table behind INDEX and VALUE
    // words of each region, 10 bits each; 0 where there is none
    parameter logic [319:0] RegionWords = '0,
    parameter logic [31:0]  Optional    = '0    // regions that a key may omit, a bit each
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // AXI4-Lite: registers and constants.
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
    // AXI4-Stream: packets in.
    input  logic [StreamBits-1:0] s_axis_tdata_i,
    input  logic                  s_axis_tlast_i,
    input  logic                  s_axis_tvalid_i,
    output logic                  s_axis_tready_o,
    // AXI4-Stream: packets out.
    output logic [StreamBits-1:0] m_axis_tdata_o,
    output logic                  m_axis_tlast_o,
    output logic                  m_axis_tvalid_o,
    input  logic                  m_axis_tready_i,
    // The design.
    input  logic [7:0][31:0]      parameters_i,
    output logic [15:0]           index_o,
    input  logic [31:0]           value_i,
    input  logic [CountBits-1:0]  product_count_i,  // products started in this cycle
    output logic                  rst_no,
    output logic                  datapath_rst_no,
    output logic                  key_wipe_o,
    output logic                  key_write_o,
    output logic [13:0]           key_index_o,
    output logic [31:0]           key_data_o,
    // complete regions, a bit each: every word written
    output logic [31:0]           key_complete_o,
    // the constants' memories are cleared and accept words
    input  logic                  key_open_i,
    output logic [Branches-1:0]   item_valid_o,
    input  logic [Branches-1:0]   item_ready_i,
    output logic [InBits-1:0]     item_o,
    input  logic                  answer_valid_i,
    output logic                  answer_ready_o,
    input  logic [OutBits-1:0]    answer_i
);
    localparam int unsigned InBeats = (InBits + StreamBits - 1) / StreamBits;
    localparam int unsigned OutBeats = (OutBits + StreamBits - 1) / StreamBits;

    logic flush, key_ready, pending, accepted, delivered, answered, closing, foreign_packet, broken_packet, discarded;
    logic [15:0] epoch;

    reset_sync u_reset_sync (
        .clk_i,
        .rst_ni,
        .rst_no
    );

    assign datapath_rst_no = rst_no && !flush;

    accelerator_registers #(
        .Identity   (Identity),
        .CountBits  (CountBits),
        .Branches   (Branches),
        .Table      (Table),
        .RegionWords(RegionWords),
        .Optional   (Optional)
    ) u_registers (
        .clk_i,
        .rst_ni     (rst_no),
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
        .parameters_i,
        .index_o,
        .value_i,
        .key_write_o,
        .key_index_o,
        .key_data_o,
        .key_wipe_o,
        .key_ready_o(key_ready),
        .key_complete_o,
        .key_open_i,
        .flush_o    (flush),
        .epoch_o    (epoch),
        .pending_i  (pending),
        .accepted_i (accepted),
        .delivered_i(delivered),
        .answered_i (answered),
        .closing_i  (closing),
        .foreign_i  (foreign_packet),
        .broken_i   (broken_packet),
        .discarded_i(discarded),
        .product_count_i
    );

    // Packets in.
    logic in_tag_valid, in_tag_ready, tag_valid, tag_ready, broken_valid, broken_ready, item_ready;
    logic [31:0] in_tag, tag;
    logic [15:0] missing;
    logic [InBeats*StreamBits-1:0] item;

    packet_in #(
        .StreamBits(StreamBits),
        .Beats(InBeats),
        .Gapless(Gapless)
    ) u_in (
        .clk_i,
        .rst_ni        (rst_no),
        .flush_i       (flush),
        .epoch_i       (epoch),
        .s_valid_i     (s_axis_tvalid_i),
        .s_ready_o     (s_axis_tready_o),
        .s_data_i      (s_axis_tdata_i),
        .s_last_i      (s_axis_tlast_i),
        .tag_valid_o   (in_tag_valid),
        .tag_ready_i   (in_tag_ready),
        .tag_o         (in_tag),
        .item_valid_o  (pending),
        .item_ready_i  (item_ready && key_ready),
        .item_o        (item),
        .broken_valid_o(broken_valid),
        .broken_ready_i(broken_ready),
        .missing_o     (missing),
        .foreign_o     (foreign_packet),
        .broken_o      (broken_packet),
        .discarded_o   (discarded)
    );

    stream_fifo #(
        .Width(32),
        .Depth(Tags)
    ) u_tags (
        .clk_i,
        .rst_ni     (datapath_rst_no),
        .in_valid_i (in_tag_valid),
        .in_ready_o (in_tag_ready),
        .in_data_i  (in_tag),
        .out_valid_o(tag_valid),
        .out_ready_i(tag_ready),
        .out_data_o (tag)
    );

    // Items, to all branches.
    assign item_o = item[InBits-1:0];
    assign accepted = pending && key_ready && item_ready;

    stream_fork #(
        .Takers(Branches)
    ) u_fork (
        .clk_i,
        .rst_ni     (datapath_rst_no),
        .in_valid_i (pending && key_ready),
        .in_ready_o (item_ready),
        .out_valid_o(item_valid_o),
        .out_ready_i(item_ready_i)
    );

    // Packets out.
    logic out_valid, out_ready, out_last, out_near, out_item, port_item;
    logic [StreamBits-1:0] out_data;

    packet_out #(
        .StreamBits(StreamBits),
        .Beats(OutBeats),
        .Gapless(Gapless)
    ) u_out (
        .clk_i,
        .rst_ni        (datapath_rst_no),
        .epoch_i       (epoch),
        .tag_valid_i   (tag_valid),
        .tag_ready_o   (tag_ready),
        .tag_i         (tag),
        .item_valid_i  (answer_valid_i),
        .item_ready_o  (answer_ready_o),
        .item_i        ((OutBeats * StreamBits)'(answer_i)),
        .broken_valid_i(broken_valid),
        .broken_ready_o(broken_ready),
        .missing_i     (missing),
        .m_valid_o     (out_valid),
        .m_ready_i     (out_ready),
        .m_data_o      (out_data),
        .m_last_o      (out_last),
        .m_near_o      (out_near),
        .m_item_o      (out_item)
    );

    packet_port #(
        .Width(StreamBits)
    ) u_port (
        .clk_i,
        .rst_ni     (rst_no),
        .flush_i    (flush),
        .in_valid_i (out_valid),
        .in_ready_o (out_ready),
        .in_data_i  (out_data),
        .in_last_i  (out_last),
        .in_near_i  (out_near),
        .in_item_i  (out_item),
        .out_valid_o(m_axis_tvalid_o),
        .out_ready_i(m_axis_tready_i),
        .out_data_o (m_axis_tdata_o),
        .out_last_o (m_axis_tlast_o),
        .out_item_o (port_item),
        .closing_o  (closing)
    );

    assign delivered = m_axis_tvalid_o && m_axis_tready_i && port_item;
    assign answered = m_axis_tvalid_o && m_axis_tready_i && m_axis_tlast_o;

    // Padding of the last beat.
    if (InBeats * StreamBits > InBits) begin : gen_padding
        logic unused;
        assign unused = &{1'b0, item[InBeats*StreamBits-1:InBits]};
    end
endmodule
