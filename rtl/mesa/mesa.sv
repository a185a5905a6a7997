// SPDX-License-Identifier: MIT OR Apache-2.0
// MESA: a pipelined decryptor for Paillier ciphertexts (eCRT).
//
//   m = (L_p(c^(p-1) mod p^2) t_p + L_q(c^(q-1) mod q^2) t_q) mod n,   L_p(x) = (x - 1) / p,   t_p = 0 mod q
//
// Two symmetric branches (mesa_branch), one for p and one for q, each with Stages ladders that pass
// their pair of values on; a key memory; registers.
//
// Ciphertexts of 2 N bits arrive in packets over AXI4-Stream, plaintexts of N bits leave in
// packets, in order, least significant bits first; both are padded with zeros to whole beats. A
// plaintext of 2^N - 1 says that a ciphertext's powers are not both 1 modulo the primes. Streams,
// registers, parameters and the regions of the key: docs/reference/registers.md. A key of fewer
// bits than N works as well. PRODUCTS counts pairs of products in all ladders.
//
// The exponents may be shorter than N / 2 bits (STEPS). Throughput, once filled, with the longest:
// a plaintext every Interval cycles (parameter 6). That is the time of a stage, in which its ladder
// works in all but two cycles. If there are so many stages that a branch's shared radix-2
// multiplier takes longer, it is the time of its two products. Source: the MESA paper, [HDSST25],
// fig. 1 and 2.
module mesa #(
    // bits of n, a multiple of 4, 64 to 16384, in whole digits too
    parameter int unsigned N          = 1024,
    // ladders per branch, 1 to N / 4, each with a bit of the exponent
    parameter int unsigned Stages     = 6,
    parameter int unsigned W          = 17,    // bits of a digit, 4 to 32
    // bits of a word, W to 2 W - 1, ceil(W (D + 2) / V) (V - 1) below W (D + 2) (carry_resolve)
    parameter int unsigned V          = 23,
    // delay of a quotient digit, 2 to 6, W (D + 1) at most 3 N / 2 + 1
    parameter int unsigned D          = 2,
    // division from the low end (1), or restoring as in the paper (0)
    parameter int unsigned Exact      = 1,
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
    if (Stages < 1 || Stages > N / 4) $error("mesa: Stages is 1 to N / 4");
    if (Exact > 1) $error("mesa: Exact is 0 or 1");
    if (W * (D + 2) <= (W * (D + 2) + V - 1) / V * (V - 1)) begin : gen_bad_v
        $error("mesa: V must be less, or W (D + 2) a multiple of it, for carry_resolve");
    end
    localparam int unsigned MtBits = (N + W - 1) / W * W;
    if (MtBits > 16384) $error("mesa: N in whole digits must be at most 16384");
    if (W * (D + 1) > 3 * N / 2 + 1) $error("mesa: W (D + 1) must be at most 3 N / 2 + 1");
    if ((Stages - 1) * ((N / 2 + Stages) / Stages) >= N / 2) $error("mesa: too many stages for the exponent");

    localparam int unsigned XBits = 2 * N + 2;
    localparam int unsigned RBits = W * ((N + 2 + W - 1) / W + D + 1);
    // A ladder's step, and the time between two pairs in a stage.
    localparam int unsigned Step = (N + 2 + W - 1) / W + 2 * D + 6;
    localparam int unsigned StageCycles = (N / 2 + 1 + Stages - 1) / Stages * Step + 2;
    // The time between starts of the radix-2 multiplier (mont_mul_radix2, plus a cycle of
    // mesa_mont_mul). Every ciphertext needs two products.
    localparam int unsigned ProductCycles = XBits + ((N + 31) / 32 + 2) / 2 + 4;
    localparam int unsigned Interval = (StageCycles > 2 * ProductCycles) ? StageCycles : 2 * ProductCycles;
    localparam int unsigned CountBits = $clog2(2 * Stages + 1);

    logic rst_n, datapath_rst_n, key_write, key_wipe;
    logic [13:0] key_index;
    logic [31:0] key_data;
    logic [1:0] start_valid, start_ready, residue_valid, residue_ready;
    logic [1:0][N-1:0] residue;
    logic [1:0] foreign;
    logic [2*N-1:0] ciphertext;
    logic [N-1:0] n;
    logic [1:0][Stages-1:0] mul;
    logic [31:0] steps;

    logic [7:0][31:0] parameters;
    assign parameters[accelerator_pkg::MesaParameterN] = N;
    assign parameters[accelerator_pkg::MesaParameterStages] = Stages;
    assign parameters[accelerator_pkg::MesaParameterShape] = {8'(V), 8'(Exact), 8'(D), 8'(W)};
    assign parameters[accelerator_pkg::MesaParameterStreamBits] = StreamBits;
    assign parameters[accelerator_pkg::MesaParameterRBits] = RBits;
    assign parameters[accelerator_pkg::MesaParameterXBits] = XBits;
    assign parameters[accelerator_pkg::MesaParameterInterval] = Interval;
    assign parameters[accelerator_pkg::MesaParameterReserved] = '0;

    mesa_shell #(
        .N          (N),
        .StreamBits (StreamBits),
        .Identity   (accelerator_pkg::MesaIdentity),
        .CountBits  (CountBits),
        .RegionOfN  (accelerator_pkg::MesaModulus),
        .RegionWords(accelerator_pkg::mesa_region_words(N, W))
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
        .Bits(32),
        .IndexBits(9)
    ) u_steps (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (key_wipe),
        .write_i(key_write && key_index[13:9] == 5'(accelerator_pkg::MesaSteps)),
        .index_i(key_index[8:0]),
        .data_i (key_data),
        .value_o(steps)
    );

    // The branches and their constants, 2^9 words apart.
    for (genvar b = 0; b < 2; b++) begin : gen_branch
        logic [6:0] write;
        logic [MtBits-1:0] mt;
        logic [N-1:0] square, enter, one, merged;
        logic [N/2-1:0] exponent, prime;

        for (genvar k = 0; k < 7; k++) begin : gen_write
            assign write[k] = key_write && key_index[13:9] == 5'((b == 0 ? accelerator_pkg::MesaPMt : accelerator_pkg::MesaQMt) + k);
        end
        config_register #(
            .Bits(MtBits),
            .IndexBits(9)
        ) u_mt (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPMt]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(mt)
        );
        config_register #(
            .Bits(N),
            .IndexBits(9)
        ) u_square (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPSquare]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(square)
        );
        config_register #(
            .Bits(N),
            .IndexBits(9)
        ) u_enter (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPEnter]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(enter)
        );
        config_register #(
            .Bits(N),
            .IndexBits(9)
        ) u_one (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPOne]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(one)
        );
        config_register #(
            .Bits(N / 2),
            .IndexBits(9)
        ) u_exponent (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPExponent]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(exponent)
        );
        config_register #(
            .Bits(N / 2),
            .IndexBits(9)
        ) u_prime (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPPrime]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(prime)
        );
        config_register #(
            .Bits(N),
            .IndexBits(9)
        ) u_merged (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(write[accelerator_pkg::MesaPMerged]),
            .index_i(key_index[8:0]),
            .data_i (key_data),
            .value_o(merged)
        );

        mesa_branch #(
            .N(N),
            .Stages(Stages),
            .W(W),
            .V(V),
            .D(D),
            .Exact(Exact)
        ) u_branch (
            .clk_i,
            .rst_ni      (datapath_rst_n),
            .mt_i        (mt),
            .square_i    (square),
            .enter_i     (enter),
            .one_i       (one),
            .exponent_i  (exponent),
            .steps_i     (steps),
            .prime_i     (prime),
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
