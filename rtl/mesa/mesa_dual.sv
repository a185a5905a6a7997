// SPDX-License-Identifier: MIT OR Apache-2.0
// MESA in dual numbers: a decryptor for Paillier ciphertexts, without division and with multipliers
// of half the width.
//
//   m = (L_p(c^(p-1) mod p^2) t_p + L_q(c^(q-1) mod q^2) t_q) mod n,   L_p(x) = (x - 1) / p,   t_p = 0 mod q
//
// Two symmetric branches (mesa_dual_branch), one for p and one for q, each with Lanes
// exponentiators in parallel; a key memory; registers.
//
// A ciphertext whose powers are not both 1 modulo the primes is answered by 2^N - 1. Streams,
// registers, parameters and the regions of the key: docs/reference/registers.md. Dual numbers are
// given by parts below 2^(N/2), correct modulo p^2. PRODUCTS counts products of dual numbers in all
// lanes.
//
// Exponents may be shorter than N / 2 bits (WINDOWS). Throughput, once filled, with the longest:
// Lanes plaintexts in the time of parameter 6. That is a lane's time for a ciphertext or, with so
// many lanes that it is more, the time of Lanes products after them. Source of the dual form:
// dual_lane.
module mesa_dual #(
    parameter int unsigned N          = 1024,  // bits of n, a multiple of 4, 64 to 16384
    parameter int unsigned Lanes      = 10,    // exponentiators per branch
    parameter int unsigned W          = 18,    // bits of a digit, 4 to 32, at most N / 2
    // bits of a word, W to 255: multipliers take a digit and a word
    parameter int unsigned V          = 24,
    parameter int unsigned D          = 2,     // delay of a quotient digit, 2 to 4
    parameter int unsigned StreamBits = 64     // bits of a beat, a multiple of 32, at most N / 2
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
    input  logic                  m_axis_tready_i
);
    if (Lanes < 1) $error("mesa_dual: Lanes must be at least 1");
    // The shape register has 8 bits for it.
    if (V > 255) $error("mesa_dual: V is at most 255");

    localparam int unsigned H = N / 2;
    localparam int unsigned MtBits = (H + W - 1) / W * W;
    localparam int unsigned RBits = W * ((H + W + 2) / W + D + 1);
    // Bits of the product modulo n.
    localparam int unsigned XBits = RBits;
    // The time of a job in a lane, and the time between two ciphertexts in it.
    localparam int unsigned Job = (H + W + 2) / W + 2 * D + 3;
    localparam int unsigned LaneCycles = (56 + 11 * ((H + 3) / 4)) * Job;
    // The product after the lanes, one ciphertext at a time (mont_mul_radix2).
    localparam int unsigned ProductCycles = XBits + 2;
    localparam int unsigned Interval = (LaneCycles > Lanes * ProductCycles) ? LaneCycles : Lanes * ProductCycles;
    localparam int unsigned CountBits = $clog2(2 * Lanes + 1);

    logic rst_n, datapath_rst_n, key_write, key_wipe;
    logic [13:0] key_index;
    logic [31:0] key_data;
    logic [1:0] start_valid, start_ready, residue_valid, residue_ready;
    logic [1:0][N-1:0] residue;
    logic [1:0] foreign;
    logic [2*N-1:0] ciphertext;
    logic [N-1:0] n;
    logic [1:0][Lanes-1:0] mul;
    localparam int unsigned WindowBits = $clog2((H + 3) / 4);
    logic [WindowBits-1:0] windows;

    logic [7:0][31:0] parameters;
    assign parameters[accelerator_pkg::MesaDualParameterN] = N;
    assign parameters[accelerator_pkg::MesaDualParameterLanes] = Lanes;
    assign parameters[accelerator_pkg::MesaDualParameterShape] = {8'd0, 8'(V), 8'(D), 8'(W)};
    assign parameters[accelerator_pkg::MesaDualParameterStreamBits] = StreamBits;
    assign parameters[accelerator_pkg::MesaDualParameterRBits] = RBits;
    assign parameters[accelerator_pkg::MesaDualParameterXBits] = XBits;
    assign parameters[accelerator_pkg::MesaDualParameterInterval] = Interval;
    assign parameters[accelerator_pkg::MesaDualParameterReserved] = '0;

    mesa_shell #(
        .N          (N),
        .StreamBits (StreamBits),
        .Identity   (accelerator_pkg::MesaDualIdentity),
        .CountBits  (CountBits),
        .RegionOfN  (accelerator_pkg::MesaDualModulus),
        .RegionWords(accelerator_pkg::mesa_dual_region_words(N, W, D))
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
        .product_count_i(CountBits'($countones(mul))),
        .rst_no         (rst_n),
        .datapath_rst_no(datapath_rst_n),
        .key_wipe_o     (key_wipe),
        .key_write_o    (key_write),
        .key_index_o    (key_index),
        .key_data_o     (key_data),
        .n_o            (n),
        .start_valid_o  (start_valid),
        .start_ready_i  (start_ready),
        .ciphertext_o   (ciphertext),
        .residue_valid_i(residue_valid),
        .residue_ready_o(residue_ready),
        .residue_i      (residue),
        .foreign_i      (foreign)
    );

    config_register #(
        .Bits(WindowBits),
        .IndexBits(9)
    ) u_windows (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (key_wipe),
        .write_i(key_write && key_index[13:9] == 5'(accelerator_pkg::MesaDualWindows)),
        .index_i(key_index[8:0]),
        .data_i (key_data),
        .value_o(windows)
    );

    // The branches and their constants, 2^9 words apart.
    for (genvar b = 0; b < 2; b++) begin : gen_branch
        logic [9:0] write;
        logic [MtBits-1:0] mt;
        logic [H-1:0] exponent, shift_low, shift_high, enter_low, enter_high, one_low, one_high;
        logic [W*(D+1)-1:0] unit;
        logic [N-1:0] merged;

        for (genvar k = 0; k < 10; k++) begin : gen_write
            assign write[k] = key_write && key_index[13:9] == 5'((b == 0 ? accelerator_pkg::MesaDualPMt : accelerator_pkg::MesaDualQMt) + k);
        end
        config_register #(
            .Bits(MtBits),
            .IndexBits(9)
        ) u_mt (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPMt]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(mt)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_exponent (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPExponent]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(exponent)
        );
        config_register #(
            .Bits(W * (D + 1)),
            .IndexBits(9)
        ) u_unit (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPUnit]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(unit)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_shift_low (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPShiftLow]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(shift_low)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_shift_high (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPShiftHigh]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(shift_high)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_enter_low (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPEnterLow]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(enter_low)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_enter_high (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPEnterHigh]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(enter_high)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_one_low (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPOneLow]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(one_low)
        );
        config_register #(
            .Bits(H),
            .IndexBits(9)
        ) u_one_high (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPOneHigh]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(one_high)
        );
        config_register #(
            .Bits(N),
            .IndexBits(9)
        ) u_merged (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaDualPMerged]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(merged)
        );

        mesa_dual_branch #(
            .N(N),
            .Lanes(Lanes),
            .W(W),
            .V(V),
            .D(D)
        ) u_branch (
            .clk_i,
            .rst_ni      (datapath_rst_n),
            .mt_i        (mt),
            .exponent_i  (exponent),
            .windows_i   (windows),
            .unit_i      (unit),
            .shift_low_i (shift_low),
            .shift_high_i(shift_high),
            .enter_low_i (enter_low),
            .enter_high_i(enter_high),
            .one_low_i   (one_low),
            .one_high_i  (one_high),
            .merged_i    (merged),
            .n_i         (n),
            .in_valid_i  (start_valid[b]),
            .in_ready_o  (start_ready[b]),
            .ciphertext_i(ciphertext),
            .out_valid_o (residue_valid[b]),
            .out_ready_i (residue_ready[b]),
            .residue_o   (residue[b]),
            .foreign_o   (foreign[b]),
            .mul_o       (mul[b])
        );
    end
endmodule
