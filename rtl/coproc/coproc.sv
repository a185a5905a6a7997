// SPDX-License-Identifier: MIT OR Apache-2.0
// The Paillier co-processor: every operation with a public key, and the power of a decryption, on
// multipliers modulo n^2 (rtl/coproc/README.md).
//
// Commands arrive in packets and are answered in order. Several are executed concurrently, on a
// memory of whole numbers in block RAM (coproc_sequencer). A product occupies a multiplier for
// Interval cycles, a square of dual numbers for two thirds of that. A power of l bits is 17 + 5
// ceil(l / 4) + 1 products (of dual numbers one more), one of the comb 1 + 2 ceil(l / Teeth) + 1.
module coproc #(
    // bits of n, exactly: a multiple of 32, 64 to 4096
    parameter int unsigned N          = 1024,
    // the multipliers: 0 digit and word (mont_mul_cios), 1 large digits (mont_mul_digit), 2 dual
    // numbers (dual_mul)
    parameter int unsigned Core       = 0,
    parameter int unsigned Cores      = 1,     // parallel multipliers, 1 to 16
    parameter int unsigned Contexts   = 4,     // commands in progress, 2, 4, 8 or 16
    parameter int unsigned Groups     = 64,    // running products, a power of two, 2 to 32768
    parameter int unsigned Teeth      = 4,     // of the comb, 4 or 8
    parameter int unsigned W          = 17,    // cores 0 and 2: bits of a digit, 4 to 32
    parameter int unsigned V          = 24,    // bits of a word, W to 2 W - 1, core 2 to 4095
    // delay of a quotient digit, 2 to 6, core 2 to 4
    parameter int unsigned D          = 2,
    // core 1: bits of a digit, a multiple of Width, at most 4095
    parameter int unsigned Digit      = 256,
    parameter int unsigned Width      = 128,   // bits of a word, a multiple of Tile
    parameter int unsigned Tile       = 16,    // bits of a multiplier's factors
    parameter int unsigned StreamBits = 64     // bits of a beat, a multiple of 32
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
    // AXI4-Stream: commands in.
    input  logic [StreamBits-1:0] s_axis_tdata_i,
    input  logic                  s_axis_tlast_i,
    input  logic                  s_axis_tvalid_i,
    output logic                  s_axis_tready_o,
    // AXI4-Stream: answers out.
    output logic [StreamBits-1:0] m_axis_tdata_o,
    output logic                  m_axis_tlast_o,
    output logic                  m_axis_tvalid_o,
    input  logic                  m_axis_tready_i
);
    localparam int unsigned ItemBits = 4 * N + 64;
    localparam int unsigned AnswerBits = 2 * N + 64;
    localparam int unsigned Words = 2 * N / 32;
    localparam int unsigned WordBits = $clog2(Words);
    localparam int unsigned ContextBits = $clog2(Contexts);
    localparam int unsigned Numbers = Contexts * 32 + 2 ** Teeth + Groups;
    localparam int unsigned AddressBits = $clog2(Numbers);
    localparam int unsigned TagBits = AddressBits + ContextBits;
    // Values that depend on the core: bits of its modulus constant, of a number, of R and of S, and
    // the cycles of a product.
    localparam bit Large = Core == 1;
    localparam bit Dual = Core == 2;
    localparam int unsigned Steps = (2 * N + 2 + W - 1) / W + D + 2;
    localparam int unsigned DualDigits = (N + W + 2) / W + D + 1;
    localparam int unsigned OpBits = DualDigits * W;
    localparam int unsigned UnitBits = W * (D + 1);
    localparam int unsigned MtBits = Large ? Digit : Dual ? (N + W - 1) / W * W : (2 * N + W - 1) / W * W;
    localparam int unsigned NumBits = Large ? (2 * N + Width + 2) / Width * Width : Dual ? 2 * OpBits : ((2 * N + W) / W + D + 1) * W;
    localparam int unsigned RBits = Large ? (2 * N + Digit + 2) / Digit * Digit : Dual ? OpBits : W * (Steps - 1);
    localparam int unsigned LeaveBits = Large ? 0 : Dual ? N + UnitBits + 3 : UnitBits;
    localparam int unsigned Interval = Large ? coproc_pkg::digit_step(2 * N, Digit, Width, Tile) : Dual ? 3 * (DualDigits + D + 2) : Steps + D + 4;
    // Each core has its own constants; the regions of the other cores are absent.
    localparam int unsigned MtRegion = Large ? accelerator_pkg::CoprocInverse : Dual ? accelerator_pkg::CoprocDualMt : accelerator_pkg::CoprocMt;
    localparam logic [31:0] OfPlain = 32'd1 << accelerator_pkg::CoprocPass | 32'd1 << accelerator_pkg::CoprocLeave | 32'd1 << accelerator_pkg::CoprocFactor;
    localparam logic [31:0] OfDual = 32'd1 << accelerator_pkg::CoprocUnit | 32'd1 << accelerator_pkg::CoprocExit | 32'd1 << accelerator_pkg::CoprocShift;
    localparam logic [31:0] OfOne = 32'd1 << accelerator_pkg::CoprocMt | 32'd1 << accelerator_pkg::CoprocInverse | 32'd1 << accelerator_pkg::CoprocDualMt;
    localparam logic [31:0] Absent = (OfOne & ~(32'd1 << MtRegion)) | (Dual ? OfPlain : OfDual);

    function automatic logic [319:0] present(input logic [319:0] words);
        for (int k = 0; k < 32; k++) present[10*k+:10] = Absent[k] ? '0 : words[10*k+:10];
    endfunction

    localparam logic [319:0] RegionWords = present(accelerator_pkg::coproc_region_words(N, Large ? Digit : W, D));
    // Constants that are numbers: the regions from ONE on.
    localparam int unsigned Constants = 8;

    if (StreamBits < 32 || StreamBits % 32 != 0) $error("coproc: StreamBits must be a multiple of 32");
    // The shape register has 12 bits for each.
    if (Large ? Digit > 4095 : V > 4095) $error("coproc: Digit and V are at most 4095");

    // ---- The shell. ----

    logic rst_n, datapath_rst_n, key_wipe, key_write, item_valid, item_ready, answer_valid, answer_ready;
    logic [13:0] key_index;
    logic [31:0] key_data, key_complete;
    logic constants_ready, keys_ready;
    logic [ItemBits-1:0] item;
    logic [AnswerBits-1:0] answer;
    logic [7:0][31:0] parameters;
    logic product;
    logic [15:0] index_unused;

    assign parameters[accelerator_pkg::CoprocParameterN] = N;
    assign parameters[accelerator_pkg::CoprocParameterCores] = {8'd0, 8'(Contexts), 8'(Cores), 8'(Core)};
    assign parameters[accelerator_pkg::CoprocParameterShape] = Large ? {4'd0, 12'(Width), 4'd0, 12'(Digit)} : {4'd0, 12'(V), 4'(D), 12'(W)};
    assign parameters[accelerator_pkg::CoprocParameterStreamBits] = StreamBits;
    assign parameters[accelerator_pkg::CoprocParameterRBits] = RBits;
    assign parameters[accelerator_pkg::CoprocParameterLeaveBits] = LeaveBits;
    assign parameters[accelerator_pkg::CoprocParameterMemory] = {8'd0, 8'(Teeth), 16'(Groups)};
    assign parameters[accelerator_pkg::CoprocParameterInterval] = Interval;

    accelerator_shell #(
        .Identity   (accelerator_pkg::CoprocIdentity),
        .InBits     (ItemBits),
        .OutBits    (AnswerBits),
        .StreamBits (StreamBits),
        .Branches   (1),
        .CountBits  (1),
        .RegionWords(RegionWords),
        .Optional   (accelerator_pkg::CoprocOptional)
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
        .index_o        (index_unused),
        .value_i        ('0),
        .product_count_i(product),
        .rst_no         (rst_n),
        .datapath_rst_no(datapath_rst_n),
        .key_wipe_o     (key_wipe),
        .key_write_o    (key_write),
        .key_index_o    (key_index),
        .key_data_o     (key_data),
        .key_complete_o (key_complete),
        .key_open_i     (constants_ready && keys_ready),
        .item_valid_o   (item_valid),
        .item_ready_i   (item_ready),
        .item_o         (item),
        .answer_valid_i (answer_valid),
        .answer_ready_o (answer_ready),
        .answer_i       (answer)
    );

    // ---- The key: in registers, in the memory of its exponents and in that of its numbers. ----

    logic [4:0] region;
    logic [8:0] key_word;
    assign {region, key_word} = key_index;

    logic [MtBits-1:0] mt;
    logic [2*N-1:0] square;
    logic [N-1:0] modulus;
    logic modulus_write, lambda_write, number_region;
    assign modulus_write = key_write && region == 5'(accelerator_pkg::CoprocModulus);
    assign lambda_write = key_write && region == 5'(accelerator_pkg::CoprocLambda);
    assign number_region = region[4:3] == 2'b01;

    config_register #(
        .Bits(MtBits)
    ) u_mt (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (key_wipe),
        .write_i(key_write && region == 5'(MtRegion)),
        .index_i(key_word),
        .data_i (key_data),
        .value_o(mt)
    );
    config_register #(
        .Bits(2 * N)
    ) u_square (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (key_wipe),
        .write_i(key_write && region == 5'(accelerator_pkg::CoprocSquare)),
        .index_i(key_word),
        .data_i (key_data),
        .value_o(square)
    );
    config_register #(
        .Bits(N)
    ) u_modulus (
        .clk_i,
        .rst_ni (rst_n),
        .wipe_i (key_wipe),
        .write_i(modulus_write),
        .index_i(key_word),
        .data_i (key_data),
        .value_o(modulus)
    );
    logic [UnitBits-1:0] unit;
    logic [2*N-1:0] exit;
    if (Dual) begin : gen_dual_key
        config_register #(
            .Bits(UnitBits)
        ) u_unit (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(key_write && region == 5'(accelerator_pkg::CoprocUnit)),
            .index_i(key_word),
            .data_i (key_data),
            .value_o(unit)
        );
        config_register #(
            .Bits(2 * N)
        ) u_exit (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe),
            .write_i(key_write && region == 5'(accelerator_pkg::CoprocExit)),
            .index_i(key_word),
            .data_i (key_data),
            .value_o(exit)
        );
    end else begin : gen_plain_key
        assign unit = '0;
        assign exit = (2 * N)'(0);
    end

    logic constant_read, key_read;
    logic [2:0] constant_address;
    logic [2*N-1:0] constant;
    logic [WordBits-1:0] key_address;
    logic [31:0] key_exponent;
    logic unused_key_error;

    // A memory for each word of a number: the host writes words in any order, and a command reads
    // whole numbers.
    logic [Words-1:0] word_ready, unused_word_errors;
    for (genvar w = 0; w < int'(Words); w++) begin : gen_constant_word
        ram_1r1w #(
            .Width(32),
            .Depth(Constants)
        ) u_word (
            .clk_i,
            .rst_ni         (rst_n),
            .wipe_i         (key_wipe),
            .ready_o        (word_ready[w]),
            .write_i        (key_write && number_region && key_word == 9'(w)),
            .write_address_i(region[2:0]),
            .write_data_i   (key_data),
            .read_i         (constant_read),
            .read_address_i (constant_address),
            .read_data_o    (constant[32*w+:32]),
            .error_o        (unused_word_errors[w])
        );
    end
    assign constants_ready = &word_ready;
    ram_1r1w #(
        .Width(32),
        .Depth(2 ** WordBits)
    ) u_key_exponents (
        .clk_i,
        .rst_ni         (rst_n),
        .wipe_i         (key_wipe),
        .ready_o        (keys_ready),
        .write_i        (modulus_write || lambda_write),
        .write_address_i({lambda_write, key_word[WordBits-2:0]}),
        .write_data_i   (key_data),
        .read_i         (key_read),
        .read_address_i (key_address),
        .read_data_o    (key_exponent),
        .error_o        (unused_key_error)
    );

    // ---- Commands. ----

    logic room, exponent_write, loaded_valid, loaded_ready, loaded_second, command_valid, command_ready;
    logic [ContextBits-1:0] fill, source, done_context;
    logic [WordBits-1:0] exponent_index;
    logic [31:0] exponent_data, exponent;
    logic [2*N-1:0] loaded;
    logic [7:0] command, code;
    logic [15:0] length, group;
    logic memories_ready, numbers_ready, exponents_ready;
    assign memories_ready = numbers_ready && exponents_ready && constants_ready && keys_ready;

    coproc_loader #(
        .N(N)
    ) u_loader (
        .clk_i,
        .rst_ni          (datapath_rst_n),
        .modulus_i       (modulus),
        .square_i        (square),
        .item_valid_i    (item_valid),
        .item_ready_o    (item_ready),
        .item_i          (item),
        .room_i          (room && memories_ready),
        .exponent_write_o(exponent_write),
        .exponent_index_o(exponent_index),
        .exponent_data_o (exponent_data),
        .number_valid_o  (loaded_valid),
        .number_ready_i  (loaded_ready),
        .number_second_o (loaded_second),
        .number_o        (loaded),
        .command_valid_o (command_valid),
        .command_ready_i (command_ready),
        .command_o       (command),
        .length_o        (length),
        .group_o         (group),
        .code_o          (code)
    );

    logic exponent_read, number_read, product_valid, product_ready, sum_valid, sum_ready, leave, done;
    logic [ContextBits+WordBits-1:0] exponent_address;
    logic [AddressBits-1:0] number_address, destination;
    logic [NumBits-1:0] number, constant_number, a, b;
    logic square_of, enter;

    // A constant as a number. The parts of a dual one are not negative, and have N bits in their
    // region.
    if (Dual) begin : gen_dual_constant
        assign constant_number = {OpBits'(constant[2*N-1:N]), OpBits'(constant[N-1:0])};
    end else begin : gen_plain_constant
        assign constant_number = NumBits'(constant);
    end

    coproc_sequencer #(
        .N       (N),
        .NumBits (NumBits),
        .Contexts(Contexts),
        .Groups  (Groups),
        .Teeth   (Teeth),
        .Dual    (Dual)
    ) u_sequencer (
        .clk_i,
        .rst_ni            (datapath_rst_n),
        .lambda_i          (key_complete[accelerator_pkg::CoprocLambda]),
        .room_o            (room),
        .context_o         (fill),
        .command_valid_i   (command_valid),
        .command_ready_o   (command_ready),
        .command_i         (command),
        .length_i          (length),
        .group_i           (group),
        .code_i            (code),
        .exponent_read_o   (exponent_read),
        .exponent_address_o(exponent_address),
        .exponent_i        (exponent),
        .key_read_o        (key_read),
        .key_address_o     (key_address),
        .key_i             (key_exponent),
        .number_read_o     (number_read),
        .number_address_o  (number_address),
        .number_i          (number),
        .constant_read_o   (constant_read),
        .constant_address_o(constant_address),
        .constant_i        (constant_number),
        .product_valid_o   (product_valid),
        .product_ready_i   (product_ready),
        .sum_valid_o       (sum_valid),
        .sum_ready_i       (sum_ready),
        .square_o          (square_of),
        .enter_o           (enter),
        .leave_o           (leave),
        .destination_o     (destination),
        .source_o          (source),
        .a_o               (a),
        .b_o               (b),
        .done_i            (done),
        .done_context_i    (done_context),
        .answer_valid_o    (answer_valid),
        .answer_ready_i    (answer_ready),
        .answer_o          (answer)
    );
    assign product = product_valid && product_ready;

    // ---- The units. ----

    logic result_valid, result_ready, total_valid, total_ready, written_last, written_valid;
    logic [1:0] written_source;
    logic [TagBits-1:0] result_tag, total_tag, written_tag, loaded_tag;
    logic [NumBits-1:0] result, total, written;
    logic carry_unused;

    coproc_cores #(
        .N      (N),
        .Core   (Core),
        .Count  (Cores),
        .W      (W),
        .V      (V),
        .D      (D),
        .Digit  (Digit),
        .Width  (Width),
        .Tile   (Tile),
        .TagBits(TagBits),
        .MtBits (MtBits),
        .NumBits(NumBits)
    ) u_cores (
        .clk_i,
        .rst_ni     (datapath_rst_n),
        .mt_i       (mt),
        .modulus_i  (square),
        .root_i     (modulus),
        .unit_i     (unit),
        .exit_i     (exit),
        .in_valid_i (product_valid),
        .in_ready_o (product_ready),
        .in_tag_i   ({source, destination}),
        .in_square_i(square_of),
        .in_enter_i (enter),
        .in_leave_i (leave),
        .a_i        (a),
        .b_i        (b),
        .out_valid_o(result_valid),
        .out_ready_i(result_ready),
        .out_tag_o  (result_tag),
        .r_o        (result)
    );

    // Programs for dual numbers have no sums.
    if (Dual) begin : gen_no_sum
        assign {sum_ready, total_valid, carry_unused} = '0;
        assign total = NumBits'(0);
        logic unused_sum;
        assign unused_sum = total_ready;
    end else begin : gen_sum
        wide_add #(
            .N(NumBits)
        ) u_sum (
            .clk_i,
            .rst_ni     (datapath_rst_n),
            .in_valid_i (sum_valid),
            .in_ready_o (sum_ready),
            .a_i        (a),
            .b_i        (b),
            .out_valid_o(total_valid),
            .out_ready_i(total_ready),
            .r_o        (total),
            .carry_o    (carry_unused)
        );
    end
    // The adder handles one sum at a time.
    always_ff @(posedge clk_i) begin
        if (!datapath_rst_n) total_tag <= '0;
        else if (sum_valid && sum_ready) total_tag <= {source, destination};
    end

    // ---- The memory of numbers: results, sums and operands are written round-robin. ----

    // X is number 16 of its context, Y number 17.
    assign loaded_tag = {fill, AddressBits'({fill, 4'd8, loaded_second})};

    stream_arbiter #(
        .Sources(3),
        .Width  (TagBits + NumBits)
    ) u_write (
        .clk_i,
        .rst_ni      (datapath_rst_n),
        .in_valid_i  ({loaded_valid, total_valid, result_valid}),
        .in_ready_o  ({loaded_ready, total_ready, result_ready}),
        .in_data_i   ({loaded_tag, NumBits'(loaded), total_tag, total, result_tag, result}),
        .in_last_i   (3'b111),
        .out_valid_o (written_valid),
        .out_ready_i (1'b1),
        .out_data_o  ({written_tag, written}),
        .out_last_o  (written_last),
        .out_source_o(written_source)
    );
    assign done = written_valid && written_source != 2'd2;
    assign done_context = written_tag[AddressBits+:ContextBits];

    logic [1:0] unused_errors;
    ram_1r1w #(
        .Width(NumBits),
        .Depth(Numbers)
    ) u_numbers (
        .clk_i,
        .rst_ni         (datapath_rst_n),
        .wipe_i         (1'b0),
        .ready_o        (numbers_ready),
        .write_i        (written_valid),
        .write_address_i(written_tag[AddressBits-1:0]),
        .write_data_i   (written),
        .read_i         (number_read),
        .read_address_i (number_address),
        .read_data_o    (number),
        .error_o        (unused_errors[0])
    );
    ram_1r1w #(
        .Width(32),
        .Depth(Contexts * 2 ** WordBits)
    ) u_exponents (
        .clk_i,
        .rst_ni         (datapath_rst_n),
        .wipe_i         (1'b0),
        .ready_o        (exponents_ready),
        .write_i        (exponent_write),
        .write_address_i({fill, exponent_index}),
        .write_data_i   (exponent_data),
        .read_i         (exponent_read),
        .read_address_i (exponent_address),
        .read_data_o    (exponent),
        .error_o        (unused_errors[1])
    );

    logic unused;
    assign unused = ^{index_unused, key_complete, unused_key_error, unused_word_errors, unused_errors, carry_unused, written_last};
endmodule
