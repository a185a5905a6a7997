// SPDX-License-Identifier: MIT OR Apache-2.0
// What every MESA has around its two branches: registers, the streams of ciphertexts and plaintexts, the last sum modulo n.
//
//   plaintext = (residue of branch 0 + residue of branch 1) mod n
//
// Ciphertexts of 2 N bits come as packets, go to both branches, each in its own time, once the key is complete; plaintexts of N bits leave as packets, in order.
// The constant n lies in the key memory here; the branches' constants are written where key_write_o says, the number of the constant in the upper
// bits of key_index_o and the word in the lower 9. datapath_rst_no resets whatever works on ciphertexts; key_wipe_o clears constants.
module mesa_frame #(
    parameter int unsigned N          = 1024,    // bits of n, a multiple of 4, at least 64
    parameter int unsigned StreamBits = 64,      // bits of a beat, at most N / 2
    parameter logic [31:0] Identity   = "NONE",
    parameter int unsigned CountBits  = 4,       // bits of product_count_i
    parameter int unsigned NumberOfN  = 7        // of the constant n in the key memory
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // AXI4-Lite: registers and key memory.
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
    // AXI4-Stream: ciphertexts in.
    input  logic [StreamBits-1:0] s_axis_tdata_i,
    input  logic                  s_axis_tlast_i,
    input  logic                  s_axis_tvalid_i,
    output logic                  s_axis_tready_o,
    // AXI4-Stream: plaintexts out.
    output logic [StreamBits-1:0] m_axis_tdata_o,
    output logic                  m_axis_tlast_o,
    output logic                  m_axis_tvalid_o,
    input  logic                  m_axis_tready_i,
    // The design.
    input  logic [7:0][31:0]      parameters_i,
    input  logic [CountBits-1:0]  product_count_i,  // products started in this cycle
    output logic                  datapath_rst_no,
    output logic                  key_wipe_o,
    output logic                  key_write_o,
    output logic [13:0]           key_index_o,
    output logic [31:0]           key_data_o,
    output logic [N-1:0]          n_o,
    // The branches.
    output logic [1:0]            start_valid_o,
    input  logic [1:0]            start_ready_i,
    output logic [2*N-1:0]        ciphertext_o,     // for both
    input  logic [1:0]            residue_valid_i,
    output logic [1:0]            residue_ready_o,
    input  logic [1:0][N-1:0]     residue_i
);
    localparam int unsigned InBeats  = (2 * N + StreamBits - 1) / StreamBits;
    localparam int unsigned OutBeats = (N + StreamBits - 1) / StreamBits;

    if (N < 64 || N % 4 != 0) $error("mesa_frame: N must be a multiple of 4, at least 64");

    logic key_ready, pending, accepted, delivered, bad_packet;

    accelerator_registers #(
        .AddressBits(17),
        .Identity   (Identity),
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
        .parameters_i,
        .key_write_o,
        .key_index_o,
        .key_data_o,
        .key_wipe_o,
        .key_ready_o    (key_ready),
        .datapath_rst_no,
        .pending_i      (pending),
        .accepted_i     (accepted),
        .delivered_i    (delivered),
        .bad_packet_i   (bad_packet),
        .product_count_i
    );

    // Ciphertexts, to both branches.
    logic item_valid, item_ready;
    logic [InBeats*StreamBits-1:0] item;

    stream_widen #(.Width(StreamBits), .Beats(InBeats)) u_widen (
        .clk_i,
        .rst_ni      (datapath_rst_no),
        .in_valid_i  (s_axis_tvalid_i),
        .in_ready_o  (s_axis_tready_o),
        .in_data_i   (s_axis_tdata_i),
        .in_last_i   (s_axis_tlast_i),
        .out_valid_o (pending),
        .out_ready_i (item_ready && key_ready),
        .out_data_o  (item),
        .bad_packet_o(bad_packet)
    );

    assign ciphertext_o = item[2*N-1:0];
    assign item_valid = pending && key_ready;
    assign accepted = item_valid && item_ready;

    stream_fork #(.Takers(2)) u_fork (
        .clk_i,
        .rst_ni     (datapath_rst_no),
        .in_valid_i (item_valid),
        .in_ready_o (item_ready),
        .out_valid_o(start_valid_o),
        .out_ready_i(start_ready_i)
    );

    // n.
    config_register #(.Bits(N), .IndexBits(9)) u_n (
        .clk_i,
        .rst_ni,
        .wipe_i (key_wipe_o),
        .write_i(key_write_o && key_index_o[13:9] == 5'(NumberOfN)),
        .index_i(key_index_o[8:0]),
        .data_i (key_data_o),
        .value_o(n_o)
    );

    // The plaintext.
    logic sum_ready, plaintext_valid, plaintext_ready;
    logic [N-1:0] plaintext;

    assign residue_ready_o = {2{sum_ready && &residue_valid_i}};

    mod_add #(.N(N)) u_add (
        .clk_i,
        .rst_ni     (datapath_rst_no),
        .m_i        (n_o),
        .in_valid_i (&residue_valid_i),
        .in_ready_o (sum_ready),
        .a_i        (residue_i[0]),
        .b_i        (residue_i[1]),
        .out_valid_o(plaintext_valid),
        .out_ready_i(plaintext_ready),
        .r_o        (plaintext)
    );

    stream_narrow #(.Width(StreamBits), .Beats(OutBeats)) u_narrow (
        .clk_i,
        .rst_ni     (datapath_rst_no),
        .in_valid_i (plaintext_valid),
        .in_ready_o (plaintext_ready),
        .in_data_i  ((OutBeats * StreamBits)'(plaintext)),
        .out_valid_o(m_axis_tvalid_o),
        .out_ready_i(m_axis_tready_i),
        .out_data_o (m_axis_tdata_o),
        .out_last_o (m_axis_tlast_o)
    );

    assign delivered = m_axis_tvalid_o && m_axis_tready_i && m_axis_tlast_o;

    // Padding of the last beat.
    if (InBeats * StreamBits > 2 * N) begin : gen_padding
        logic unused;
        assign unused = &{1'b0, item[InBeats*StreamBits-1:2*N]};
    end
endmodule
