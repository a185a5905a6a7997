// SPDX-License-Identifier: MIT OR Apache-2.0
// A residue bank: takes a stream of long integers and returns their residues modulo Count primes.
//
// Coefficients of Words words of V bits come in packets (docs/reference/registers.md), little end
// first and padded to whole beats. The answer to each is its Count residues, in the order of Primes
// and padded in the same way. A residue takes 32 bits, or 64 if V is more than 31. Coefficients of
// a polynomial need not be reduced: any number of Words V bits has residues. There is no key:
// CONTROL.ready starts the bank. Until then, and after a wipe, it holds what arrives. INDEX and
// VALUE show the primes, and 0 beyond the last. Each takes a word, or two with the lower first if V
// is more than 31. PRODUCTS counts residues.
//
// Throughput inside a packet: a coefficient every Interval cycles. This is every cycle if one beat
// holds a coefficient and another all its residues. Otherwise it is the longer of the two in beats,
// and one more without Gapless. The header of a packet takes ceil(64 / StreamBits) more beats.
module residue_bank #(
    // primes, 1 to 256; 128 at most of more than 31 bits
    parameter int unsigned           Count        = 2,
    parameter logic [64*Count-1:0]   Primes       = {64'd1073479681, 64'd1073692673},
    // bits of a prime, 2 to 62
    parameter int unsigned           V            = 30,
    // words of a coefficient, at least 2
    parameter int unsigned           Words        = 12,
    // pipeline registers of a unit, 0 to 7
    parameter int unsigned           Stages       = 4,
    // architecture of the units: residue_array
    parameter int unsigned           Architecture = 1,
    // bits of a beat, a multiple of 32
    parameter int unsigned           StreamBits   = 64,
    // 1: no cycle without a beat, for twice the flip-flops
    parameter int unsigned           Gapless      = 0
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // AXI4-Lite: registers.
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
    // AXI4-Stream: coefficients in.
    input  logic [StreamBits-1:0] s_axis_tdata_i,
    input  logic                  s_axis_tlast_i,
    input  logic                  s_axis_tvalid_i,
    output logic                  s_axis_tready_o,
    // AXI4-Stream: residues out.
    output logic [StreamBits-1:0] m_axis_tdata_o,
    output logic                  m_axis_tlast_o,
    output logic                  m_axis_tvalid_o,
    input  logic                  m_axis_tready_i
);
    localparam int unsigned Bits = Words * V;
    localparam int unsigned InBeats = (Bits + StreamBits - 1) / StreamBits;
    // Words of a residue in an answer, and of a prime in the table.
    localparam int unsigned Slot = (V > 31) ? 2 : 1;
    localparam int unsigned OutBits = 32 * Slot * Count;
    localparam int unsigned OutBeats = (OutBits + StreamBits - 1) / StreamBits;
    localparam int unsigned InCycles = (InBeats == 1) ? 1 : InBeats + 1 - Gapless;
    localparam int unsigned OutCycles = (OutBeats == 1) ? 1 : OutBeats + 1 - Gapless;
    localparam int unsigned Interval = (InCycles > OutCycles) ? InCycles : OutCycles;
    // The registers of both ports, of the units, and those that hold a whole coefficient and all
    // residues.
    localparam int unsigned Latency = Stages + 2 + (InBeats == 1 ? 0 : 1) + (OutBeats == 1 ? 0 : 1);
    localparam int unsigned CountBits = $clog2(Count + 1);

    if (Count < 1 || Slot * Count > 256) $error("residue_bank: Count is 1 to 256, or 128 of more than 31 bits");
    if (V < 2 || V > 62) $error("residue_bank: V is 2 to 62");
    if (Words < 2) $error("residue_bank: Words must be at least 2");
    if (Stages > 7) $error("residue_bank: Stages is 0 to 7");
    if (StreamBits < 32 || StreamBits % 32 != 0) $error("residue_bank: StreamBits must be a multiple of 32");
    if (Gapless > 1) $error("residue_bank: Gapless is 0 or 1");

    logic datapath_rst_n, item_valid, item_ready, residues_valid, residues_ready;
    logic [Bits-1:0] item;
    logic [Count*V-1:0] residues;
    logic [OutBits-1:0] answer;

    // The words that VALUE shows: a prime, or half of one.
    function automatic logic [32*256-1:0] table_words();
        table_words = '0;
        for (int i = 0; i < int'(Count); i++) table_words[32*int'(Slot)*i+:32*Slot] = Primes[64*i+:32*Slot];
    endfunction
    logic [15:0] index;
    logic [31:0] value;
    logic [255:0][31:0] primes;
    assign primes = table_words();
    assign value = (index[15:8] == '0) ? primes[index[7:0]] : '0;

    logic [7:0][31:0] parameters;
    assign parameters[accelerator_pkg::ResidueBankParameterBits] = Bits;
    assign parameters[accelerator_pkg::ResidueBankParameterCount] = Count;
    assign parameters[accelerator_pkg::ResidueBankParameterShape] = {8'd0, 8'(Architecture), 8'(Stages), 8'(V)};
    assign parameters[accelerator_pkg::ResidueBankParameterStreamBits] = StreamBits;
    assign parameters[accelerator_pkg::ResidueBankParameterInterval] = Interval;
    assign parameters[accelerator_pkg::ResidueBankParameterLatency] = Latency;
    assign parameters[accelerator_pkg::ResidueBankParameterReserved6] = '0;
    assign parameters[accelerator_pkg::ResidueBankParameterReserved7] = '0;

    logic unused_rst_n, unused_wipe, unused_write;
    logic [13:0] unused_index;
    logic [31:0] unused_data, unused_complete;

    accelerator_shell #(
        .Identity  (accelerator_pkg::ResidueBankIdentity),
        .InBits    (Bits),
        .OutBits   (OutBits),
        .StreamBits(StreamBits),
        .Branches  (1),
        .CountBits (CountBits),
        .Gapless   (Gapless),
        .Table     (1)
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
        .index_o        (index),
        .value_i        (value),
        .product_count_i((residues_valid && residues_ready) ? CountBits'(Count) : '0),
        .rst_no         (unused_rst_n),
        .datapath_rst_no(datapath_rst_n),
        .key_wipe_o     (unused_wipe),
        .key_write_o    (unused_write),
        .key_index_o    (unused_index),
        .key_data_o     (unused_data),
        .key_complete_o (unused_complete),
        .key_open_i     (1'b1),
        .item_valid_o   (item_valid),
        .item_ready_i   (item_ready),
        .item_o         (item),
        .answer_valid_i (residues_valid),
        .answer_ready_o (residues_ready),
        .answer_i       (answer)
    );

    residue_array #(
        .Count       (Count),
        .Primes      (Primes),
        .V           (V),
        .Words       (Words),
        .Stages      (Stages),
        .Architecture(Architecture)
    ) u_array (
        .clk_i,
        .rst_ni     (datapath_rst_n),
        .in_valid_i (item_valid),
        .in_ready_o (item_ready),
        .a_i        (item),
        .out_valid_o(residues_valid),
        .out_ready_i(residues_ready),
        .r_o        (residues)
    );

    always_comb begin
        answer = '0;
        for (int i = 0; i < int'(Count); i++) answer[32*int'(Slot)*i+:V] = residues[i*V+:V];
    end

    logic unused;
    assign unused = &{1'b0, unused_rst_n, unused_wipe, unused_write, unused_index, unused_data, unused_complete};
endmodule
