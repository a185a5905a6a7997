// SPDX-License-Identifier: MIT OR Apache-2.0
// A residue bank: a stream of long integers in, their residues modulo Count primes out.
//
// Coefficients of Words words of V bits come in as packets over AXI4-Stream, packed little end first and padded to whole beats; for each
// leaves a packet of Count residues of 32 bits, in the order of Primes, likewise padded. Coefficients of a polynomial need not be reduced: any
// number of Words V bits has residues. Registers: accelerator_registers, with the parameters
//   0 bits of a coefficient (Words V)   1 Count   2 V, Stages, Architecture (a byte each)   3 StreamBits
//   4 cycles between two coefficients   5 cycles from the last beat in to the first beat out   6 -   7 the prime selected
// Its key memory is one word, SELECT: which prime PARAMETER 7 shows, 0 beyond the last. CONTROL bit 0 starts the bank: until then, and from
// a write of SELECT on, it holds what arrives. There is nothing secret to wipe. PRODUCTS counts residues.
//
// Throughput: a coefficient every Interval cycles, that is every cycle if a beat holds a coefficient and another all its residues. Otherwise
// the longer of the two packets and one more.
module residue_bank #(
    parameter int unsigned           Count        = 2,                               // primes, 1 to 256
    parameter logic [32*Count-1:0]   Primes       = {32'd1073479681, 32'd1073692673},
    parameter int unsigned           V            = 30,                              // bits of a prime, 2 to 31
    parameter int unsigned           Words        = 12,                              // words of a coefficient, at least 2
    parameter int unsigned           Stages       = 4,                               // registers of a unit, 0 to 7
    parameter int unsigned           Architecture = 1,                               // of the units: residue_array
    parameter int unsigned           StreamBits   = 64                               // bits of a beat, a multiple of 32
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
    localparam int unsigned OutBeats = (32 * Count + StreamBits - 1) / StreamBits;
    localparam int unsigned InCycles = (InBeats == 1) ? 1 : InBeats + 1;
    localparam int unsigned OutCycles = (OutBeats == 1) ? 1 : OutBeats + 1;
    localparam int unsigned Interval = (InCycles > OutCycles) ? InCycles : OutCycles;
    localparam int unsigned Latency = Stages + 2;
    localparam int unsigned CountBits = $clog2(Count + 1);

    if (Count < 1 || Count > 256) $error("residue_bank: Count is 1 to 256");
    if (StreamBits < 32 || StreamBits % 32 != 0) $error("residue_bank: StreamBits must be a multiple of 32");

    logic datapath_rst_n, select_write, select_wipe, started, pending, accepted, delivered, bad_packet;
    logic [13:0] select_index;
    logic [31:0] select_data;

    // The prime that PARAMETER 7 shows.
    logic [7:0] select_q;
    logic [255:0][31:0] primes;
    assign primes = (32 * 256)'(Primes);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) select_q <= '0;
        else if (select_wipe) select_q <= '0;
        else if (select_write && select_index == '0) select_q <= select_data[7:0];
    end

    logic [7:0][31:0] parameters;
    assign parameters[0] = Bits;
    assign parameters[1] = Count;
    assign parameters[2] = {8'd0, 8'(Architecture), 8'(Stages), 8'(V)};
    assign parameters[3] = StreamBits;
    assign parameters[4] = Interval;
    assign parameters[5] = Latency;
    assign parameters[6] = '0;
    assign parameters[7] = primes[select_q];

    accelerator_registers #(
        .AddressBits(17),
        .Identity   ("RESB"),
        .CountBits  (CountBits)
    ) u_registers (
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
        .parameters_i   (parameters),
        .key_write_o    (select_write),
        .key_index_o    (select_index),
        .key_data_o     (select_data),
        .key_wipe_o     (select_wipe),
        .key_ready_o    (started),
        .datapath_rst_no(datapath_rst_n),
        .pending_i      (pending),
        .accepted_i     (accepted),
        .delivered_i    (delivered),
        .bad_packet_i   (bad_packet),
        .product_count_i(delivered ? CountBits'(Count) : '0)
    );

    // Coefficients.
    logic item_ready;
    logic [InBeats*StreamBits-1:0] item;

    if (InBeats == 1) begin : gen_whole
        // A beat that is not the last of its packet, and the rest of that packet, are dropped.
        logic skipping_q, good;
        assign good = s_axis_tlast_i && !skipping_q;

        always_ff @(posedge clk_i) begin
            if (!datapath_rst_n) skipping_q <= 1'b0;
            else if (s_axis_tvalid_i && s_axis_tready_o) skipping_q <= !s_axis_tlast_i;
        end

        always_ff @(posedge clk_i) begin
            if (!datapath_rst_n) bad_packet <= 1'b0;
            else bad_packet <= s_axis_tvalid_i && s_axis_tready_o && !s_axis_tlast_i && !skipping_q;
        end

        logic stage_ready;
        assign s_axis_tready_o = stage_ready || !good;

        stream_stage #(.Width(StreamBits)) u_whole (
            .clk_i,
            .rst_ni     (datapath_rst_n),
            .in_valid_i (s_axis_tvalid_i && good),
            .in_ready_o (stage_ready),
            .in_data_i  (s_axis_tdata_i),
            .out_valid_o(pending),
            .out_ready_i(item_ready && started),
            .out_data_o (item)
        );
    end else begin : gen_widen
        stream_widen #(.Width(StreamBits), .Beats(InBeats)) u_widen (
            .clk_i,
            .rst_ni      (datapath_rst_n),
            .in_valid_i  (s_axis_tvalid_i),
            .in_ready_o  (s_axis_tready_o),
            .in_data_i   (s_axis_tdata_i),
            .in_last_i   (s_axis_tlast_i),
            .out_valid_o (pending),
            .out_ready_i (item_ready && started),
            .out_data_o  (item),
            .bad_packet_o(bad_packet)
        );
    end

    assign accepted = pending && started && item_ready;

    // Their residues.
    logic residues_valid, residues_ready;
    logic [Count*V-1:0] residues;
    logic [OutBeats*StreamBits-1:0] packet;

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
        .in_valid_i (pending && started),
        .in_ready_o (item_ready),
        .a_i        (item[Bits-1:0]),
        .out_valid_o(residues_valid),
        .out_ready_i(residues_ready),
        .r_o        (residues)
    );

    always_comb begin
        packet = '0;
        for (int i = 0; i < int'(Count); i++) packet[32*i +: V] = residues[i*V +: V];
    end

    if (OutBeats == 1) begin : gen_one_beat
        stream_stage #(.Width(StreamBits)) u_whole (
            .clk_i,
            .rst_ni     (datapath_rst_n),
            .in_valid_i (residues_valid),
            .in_ready_o (residues_ready),
            .in_data_i  (packet),
            .out_valid_o(m_axis_tvalid_o),
            .out_ready_i(m_axis_tready_i),
            .out_data_o (m_axis_tdata_o)
        );
        assign m_axis_tlast_o = 1'b1;
    end else begin : gen_narrow
        stream_narrow #(.Width(StreamBits), .Beats(OutBeats)) u_narrow (
            .clk_i,
            .rst_ni     (datapath_rst_n),
            .in_valid_i (residues_valid),
            .in_ready_o (residues_ready),
            .in_data_i  (packet),
            .out_valid_o(m_axis_tvalid_o),
            .out_ready_i(m_axis_tready_i),
            .out_data_o (m_axis_tdata_o),
            .out_last_o (m_axis_tlast_o)
        );
    end

    assign delivered = m_axis_tvalid_o && m_axis_tready_i && m_axis_tlast_o;

    logic unused;
    assign unused = &{1'b0, select_data[31:8], item};
endmodule
