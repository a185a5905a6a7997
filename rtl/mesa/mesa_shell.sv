// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts common to all MESA designs around the two branches, in addition to accelerator_shell:
// the modulus n, and the final sum.
//
//   plaintext = (residue of branch 0 + residue of branch 1) mod n
//
// If either branch says that its power was not 1 modulo its prime, 2^N - 1 leaves instead, which is
// above every n: a plaintext of which only one half is correct would leak n's factors.
//
// Once the key is complete, ciphertexts of 2 N bits go to both branches, each at its own pace.
// Plaintexts of N bits leave in order.
module mesa_shell #(
    parameter int unsigned  N            = 1024,    // bits of n, a multiple of 4, 64 to 16384
    // bits of a beat, a multiple of 32, at most N / 2
    parameter int unsigned  StreamBits   = 64,
    parameter logic [31:0]  Identity     = "NONE",
    parameter int unsigned  CountBits    = 4,       // bits of product_count_i
    parameter int unsigned  RegionOfN    = 7,       // the number of n's region
    // words of each region, 10 bits each; 0 where there is none
    parameter logic [319:0] RegionWords  = '0
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
    output logic                  rst_no,           // of the constants
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
    input  logic [1:0][N-1:0]     residue_i,
    input  logic [1:0]            foreign_i         // with the residue
);
    if (N < 64 || N % 4 != 0 || N > 16384) $error("mesa_shell: N must be a multiple of 4, 64 to 16384");
    if (StreamBits % 32 != 0 || StreamBits < 32 || StreamBits > N / 2) $error("mesa_shell: StreamBits must be a multiple of 32, at most N / 2");

    logic plaintext_valid, plaintext_ready, foreign_q;
    logic [N-1:0] sum, plaintext;
    logic [15:0] unused_index;
    logic [31:0] unused_complete;

    accelerator_shell #(
        .Identity   (Identity),
        .InBits     (2 * N),
        .OutBits    (N),
        .StreamBits (StreamBits),
        .Branches   (2),
        .CountBits  (CountBits),
        .RegionWords(RegionWords)
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
        .parameters_i,
        .index_o       (unused_index),
        .value_i       ('0),
        .product_count_i,
        .rst_no,
        .datapath_rst_no,
        .key_wipe_o,
        .key_write_o,
        .key_index_o,
        .key_data_o,
        .key_complete_o(unused_complete),
        .key_open_i    (1'b1),
        .item_valid_o  (start_valid_o),
        .item_ready_i  (start_ready_i),
        .item_o        (ciphertext_o),
        .answer_valid_i(plaintext_valid),
        .answer_ready_o(plaintext_ready),
        .answer_i      (plaintext)
    );

    config_register #(
        .Bits(N),
        .IndexBits(9)
    ) u_n (
        .clk_i,
        .rst_ni (rst_no),
        .wipe_i (key_wipe_o),
        .write_i(key_write_o && key_index_o[13:9] == 5'(RegionOfN)),
        .index_i(key_index_o[8:0]),
        .data_i (key_data_o),
        .value_o(n_o)
    );

    // The plaintext.
    logic sum_ready;
    assign residue_ready_o = {2{sum_ready && &residue_valid_i}};

    mod_add #(
        .N(N)
    ) u_add (
        .clk_i,
        .rst_ni     (datapath_rst_no),
        .m_i        (n_o),
        .in_valid_i (&residue_valid_i),
        .in_ready_o (sum_ready),
        .a_i        (residue_i[0]),
        .b_i        (residue_i[1]),
        .out_valid_o(plaintext_valid),
        .out_ready_i(plaintext_ready),
        .r_o        (sum)
    );

    // One sum at a time.
    always_ff @(posedge clk_i) begin
        if (!datapath_rst_no) foreign_q <= 1'b0;
        else if (residue_ready_o[0]) foreign_q <= |foreign_i;
    end
    assign plaintext = sum | {N{foreign_q}};

    logic unused;
    assign unused = &{1'b0, unused_index, unused_complete};
endmodule
