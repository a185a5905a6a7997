// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by scripts/ip.py from rtl/coproc/coproc.sv: edit that file, then run the script.
// coproc with port names that vendors' tools recognise: commands in, answers out.
// docs/how-to/boards.md explains its use.
// All ports are synchronous to aclk. A beat with an incomplete tkeep breaks its packet, as a wrong length does.
// It has never run on a board.
// verilog_lint: waive-start port-name-suffix  // names of the bus standards
// verilog_lint: waive-start explicit-parameter-storage-type  // plain Verilog has no types for vectors
`default_nettype none
module hearith_coproc #(
    parameter integer N = 1024,  // bits of n, exactly: a multiple of 32, 64 to 4096
    parameter integer Core = 0,  // the multipliers: 0 digit and word (mont_mul_cios), 1 large digits (mont_mul_digit), 2 dual numbers (dual_mul)
    parameter integer Cores = 1,  // parallel multipliers, 1 to 16
    parameter integer Contexts = 4,  // commands in progress, 2, 4, 8 or 16
    parameter integer Groups = 64,  // running products, a power of two, 2 to 32768
    parameter integer Teeth = 4,  // of the comb, 4 or 8
    parameter integer W = 17,  // cores 0 and 2: bits of a digit, 4 to 32
    parameter integer V = 24,  // bits of a word, W to 2 W - 1, core 2 to 4095
    parameter integer D = 2,  // delay of a quotient digit, 2 to 6, core 2 to 4
    parameter integer Digit = 256,  // core 1: bits of a digit, a multiple of Width, at most 4095
    parameter integer Width = 128,  // bits of a word, a multiple of Tile
    parameter integer Tile = 16,  // bits of a multiplier's factors
    parameter integer StreamBits = 64  // bits of a beat, a multiple of 32
) (
    (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 aclk CLK" *)
    (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axi:s_axis:m_axis, ASSOCIATED_RESET aresetn" *)
    input  wire aclk,
    (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 aresetn RST" *)
    (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
    input  wire aresetn,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi AWADDR" *)
    (* X_INTERFACE_PARAMETER = "PROTOCOL AXI4LITE" *)
    input  wire [16:0] s_axi_awaddr,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi AWPROT" *)
    input  wire [2:0] s_axi_awprot,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi AWVALID" *)
    input  wire s_axi_awvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi AWREADY" *)
    output wire s_axi_awready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi WDATA" *)
    input  wire [31:0] s_axi_wdata,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi WSTRB" *)
    input  wire [3:0] s_axi_wstrb,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi WVALID" *)
    input  wire s_axi_wvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi WREADY" *)
    output wire s_axi_wready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi BRESP" *)
    output wire [1:0] s_axi_bresp,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi BVALID" *)
    output wire s_axi_bvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi BREADY" *)
    input  wire s_axi_bready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi ARADDR" *)
    input  wire [16:0] s_axi_araddr,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi ARPROT" *)
    input  wire [2:0] s_axi_arprot,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi ARVALID" *)
    input  wire s_axi_arvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi ARREADY" *)
    output wire s_axi_arready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi RDATA" *)
    output wire [31:0] s_axi_rdata,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi RRESP" *)
    output wire [1:0] s_axi_rresp,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi RVALID" *)
    output wire s_axi_rvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 s_axi RREADY" *)
    input  wire s_axi_rready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis TDATA" *)
    input  wire [StreamBits - 1:0] s_axis_tdata,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis TKEEP" *)
    input  wire [StreamBits / 8 - 1:0] s_axis_tkeep,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis TLAST" *)
    input  wire s_axis_tlast,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis TVALID" *)
    input  wire s_axis_tvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis TREADY" *)
    output wire s_axis_tready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis TDATA" *)
    output wire [StreamBits - 1:0] m_axis_tdata,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis TKEEP" *)
    output wire [StreamBits / 8 - 1:0] m_axis_tkeep,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis TLAST" *)
    output wire m_axis_tlast,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis TVALID" *)
    output wire m_axis_tvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis TREADY" *)
    input  wire m_axis_tready,
    (* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 interrupt INTERRUPT" *)
    (* X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
    /* verilator lint_off SYMRSVDWORD */
    output wire interrupt
    /* verilator lint_on SYMRSVDWORD */
);
    wire reset_n, packet_valid, packet_ready, packet_last;
    wire [StreamBits - 1:0] packet_data;

    reset_sync u_reset_sync (
        .clk_i (aclk),
        .rst_ni(aresetn),
        .rst_no(reset_n)
    );

    packet_tkeep_filter #(
        .StreamBits(StreamBits),
        .Beats     ((4 * N + 64 + StreamBits - 1) / StreamBits)
    ) u_keep (
        .clk_i    (aclk),
        .rst_ni   (reset_n),
        .s_valid_i(s_axis_tvalid),
        .s_ready_o(s_axis_tready),
        .s_data_i (s_axis_tdata),
        .s_keep_i (s_axis_tkeep),
        .s_last_i (s_axis_tlast),
        .m_valid_o(packet_valid),
        .m_ready_i(packet_ready),
        .m_data_o (packet_data),
        .m_last_o (packet_last)
    );

    // Whole beats only.
    assign m_axis_tkeep = {(StreamBits / 8) {1'b1}};

    coproc #(
        .N         (N),
        .Core      (Core),
        .Cores     (Cores),
        .Contexts  (Contexts),
        .Groups    (Groups),
        .Teeth     (Teeth),
        .W         (W),
        .V         (V),
        .D         (D),
        .Digit     (Digit),
        .Width     (Width),
        .Tile      (Tile),
        .StreamBits(StreamBits)
    ) u_coproc (
        .clk_i          (aclk),
        .rst_ni         (aresetn),
        .axil_awaddr_i  (s_axi_awaddr),
        .axil_awvalid_i (s_axi_awvalid),
        .axil_awready_o (s_axi_awready),
        .axil_wdata_i   (s_axi_wdata),
        .axil_wstrb_i   (s_axi_wstrb),
        .axil_wvalid_i  (s_axi_wvalid),
        .axil_wready_o  (s_axi_wready),
        .axil_bresp_o   (s_axi_bresp),
        .axil_bvalid_o  (s_axi_bvalid),
        .axil_bready_i  (s_axi_bready),
        .axil_araddr_i  (s_axi_araddr),
        .axil_arvalid_i (s_axi_arvalid),
        .axil_arready_o (s_axi_arready),
        .axil_rdata_o   (s_axi_rdata),
        .axil_rresp_o   (s_axi_rresp),
        .axil_rvalid_o  (s_axi_rvalid),
        .axil_rready_i  (s_axi_rready),
        .s_axis_tdata_i (packet_data),
        .s_axis_tlast_i (packet_last),
        .s_axis_tvalid_i(packet_valid),
        .s_axis_tready_o(packet_ready),
        .m_axis_tdata_o (m_axis_tdata),
        .m_axis_tlast_o (m_axis_tlast),
        .m_axis_tvalid_o(m_axis_tvalid),
        .m_axis_tready_i(m_axis_tready),
        .irq_o          (interrupt)
    );

    // The protection bits are ignored.
    wire unused;
    assign unused = &{1'b0, s_axi_awprot, s_axi_arprot};
endmodule
`default_nettype wire
