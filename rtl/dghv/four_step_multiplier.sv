// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies numbers of any length in an external memory by four-step transforms: four_step behind
// the memory's port, with the handling of commands.
//
// A command is a product, or a request to zero a scratch. After every command, however it ends, all
// internal state becomes zero. The scratch, both of its matrices, does too, except if lengths make
// no sense, when nothing has been written, or if memory has failed. Then status_o says how the
// command ended.
//
// Memory that is late, rejects a request or breaks the protocol ends everything at once. Until
// reset, every answer is BadMemory, and fault_o is memory_port's code. That reset wipes the words
// that wait in the port. Reset zeroes all internal state as well, but leaves the scratch to its
// owner, who has to request its zeros. The time of a command depends only on its lengths and on the
// memory.
module four_step_multiplier #(
    parameter int unsigned High       = 6,                        // to CountWidth: four_step's
    parameter int unsigned Low        = 5,
    parameter logic [65:0] Root       = 66'd7915626813612114351,
    parameter int unsigned ATile      = 24,
    parameter int unsigned Columns    = 16,
    parameter int unsigned Base       = 20,
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11,
    parameter int unsigned Beats      = 16,                       // to Timeout: memory_port's
    parameter int unsigned Bursts     = 8,
    parameter int unsigned Depth      = 128,
    parameter int unsigned Timeout    = 4096
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        command_valid_i,
    output logic                        command_ready_o,
    input  four_step_pkg::product_t        command_i,
    output logic                        status_valid_o,
    input  logic                        status_ready_i,
    output dghv_pkg::ending_e           status_o,
    output logic                 [ 3:0] fault_o,
    output logic                        m_axi_arid_o,
    output logic [AddrWidth+2:0]        m_axi_araddr_o,
    output logic [7:0]                  m_axi_arlen_o,
    output logic [2:0]                  m_axi_arsize_o,
    output logic [1:0]                  m_axi_arburst_o,
    output logic                        m_axi_arvalid_o,
    input  logic                        m_axi_arready_i,
    input  logic                        m_axi_rid_i,
    input  logic [63:0]                 m_axi_rdata_i,
    input  logic [1:0]                  m_axi_rresp_i,
    input  logic                        m_axi_rlast_i,
    input  logic                        m_axi_rvalid_i,
    output logic                        m_axi_rready_o,
    output logic                        m_axi_awid_o,
    output logic [AddrWidth+2:0]        m_axi_awaddr_o,
    output logic [7:0]                  m_axi_awlen_o,
    output logic [2:0]                  m_axi_awsize_o,
    output logic [1:0]                  m_axi_awburst_o,
    output logic                        m_axi_awvalid_o,
    input  logic                        m_axi_awready_i,
    output logic [63:0]                 m_axi_wdata_o,
    output logic [7:0]                  m_axi_wstrb_o,
    output logic                        m_axi_wlast_o,
    output logic                        m_axi_wvalid_o,
    input  logic                        m_axi_wready_i,
    input  logic                        m_axi_bid_i,
    input  logic [1:0]                  m_axi_bresp_i,
    input  logic                        m_axi_bvalid_i,
    output logic                        m_axi_bready_o
);
    if (AddrWidth < 1 || AddrWidth > dghv_pkg::AddressBits) $error("four_step_multiplier: AddrWidth is 1 to 32");

    typedef enum logic [3:0] {
        Idle,
        Test,      // checks the lengths
        Product,
        Clear,     // resets everything inside
        Settle,    // until accesses have ended and memories are zero
        Scratch,   // zeroes the scratch
        Written,   // until the zeros are in memory
        Forget,    // until the words that waited in the port are wiped
        Report
    } state_e;
    state_e state_q;
    four_step_pkg::product_t command_q;
    dghv_pkg::ending_e ending_q;
    logic take, failed, stoppable, busy_q, fresh_q, good, idle, product_ready, product_done, sum_ready, sum_done, inner_rst_n, drains;
    assign command_ready_o = state_q == Idle;
    assign take            = command_valid_i && command_ready_o;
    assign status_valid_o  = state_q == Report;
    assign status_o        = ending_q;
    assign failed          = fault_o != '0;
    assign stoppable       = state_q == Test || state_q == Product || state_q == Scratch || state_q == Written || (state_q == Settle && ending_q != dghv_pkg::BadMemory);
    assign drains          = state_q == Clear || state_q == Settle;
    assign inner_rst_n     = rst_ni && state_q != Clear;

    logic m_rd_valid, m_rd_ready, m_rd_word, m_rd_take, m_rd_last, m_wr_valid, m_wr_ready, m_word_valid, m_word_ready, wr_done, port_idle;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q   <= Settle;
            command_q <= '0;
            ending_q  <= dghv_pkg::Done;
            busy_q    <= 1'b0;
            fresh_q   <= 1'b0;
        end else if (failed && stoppable) begin
            state_q  <= Clear;
            ending_q <= dghv_pkg::BadMemory;
        end else begin
            fresh_q <= 1'b0;
            unique case (state_q)
                Idle:
                if (take) begin
                    state_q   <= Test;
                    command_q <= command_i;
                    ending_q  <= dghv_pkg::Done;
                    busy_q    <= 1'b1;
                end
                Test: begin
                    fresh_q  <= good && !command_q.wipe;
                    state_q  <= good && !command_q.wipe ? Product : Clear;
                    ending_q <= good ? dghv_pkg::Done : dghv_pkg::BadSizes;
                end
                Product: if (product_done) state_q <= Clear;
                Clear:   state_q <= Settle;
                Settle:
                if (idle && product_ready && sum_ready) begin
                    // After a reset there is no command yet.
                    if (!busy_q) state_q <= Idle;
                    else if (ending_q != dghv_pkg::Done) state_q <= Report;
                    else begin
                        state_q <= Scratch;
                        fresh_q <= 1'b1;
                    end
                end
                Scratch: if (sum_done) state_q <= Written;
                Written:
                if (idle) begin
                    state_q <= Forget;
                    fresh_q <= 1'b1;
                end
                // The port accepts words once its memories are wiped.
                Forget: if (port_idle && m_word_ready && !fresh_q) state_q <= Report;
                default:
                if (status_ready_i) begin
                    state_q   <= Idle;
                    command_q <= '0;
                    busy_q    <= 1'b0;
                end
            endcase
        end
    end

    // ---- The product. ----

    logic p_rd_valid, p_rd_ready, p_rd_take, p_wr_valid, p_word_valid, s_rd_valid, s_rd_take, s_wr_valid, s_word_valid, wipes;
    logic [AddrWidth-1:0] p_rd_addr, p_wr_addr, s_rd_addr, s_wr_addr;
    logic [CountWidth-1:0] p_rd_count, p_wr_count, s_rd_count, s_wr_count;
    logic [63:0] p_word, s_word, rd_data;
    logic rd_ready, rd_valid, wr_ready, word_ready;
    assign wipes = state_q == Scratch;

    four_step #(
        .High      (High),
        .Low       (Low),
        .Root      (Root),
        .ATile     (ATile),
        .Columns   (Columns),
        .Base      (Base),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_product (
        .clk_i,
        .rst_ni        (inner_rst_n),
        .ready_o       (product_ready),
        .start_i       (state_q == Product && fresh_q),
        .step_i        (command_q),
        .good_o        (good),
        .settled_i     (idle),
        .done_o        (product_done),
        .rd_req_valid_o(p_rd_valid),
        .rd_req_ready_i(p_rd_ready),
        .rd_req_addr_o (p_rd_addr),
        .rd_req_count_o(p_rd_count),
        .rd_valid_i    (rd_valid),
        .rd_ready_o    (p_rd_take),
        .rd_data_i     (rd_data),
        .wr_req_valid_o(p_wr_valid),
        .wr_req_ready_i(wr_ready && !wipes),
        .wr_req_addr_o (p_wr_addr),
        .wr_req_count_o(p_wr_count),
        .wr_valid_o    (p_word_valid),
        .wr_ready_i    (word_ready && !wipes),
        .wr_data_o     (p_word)
    );
    assign p_rd_ready = rd_ready && !wipes;

    // ---- Zeros: a sum without operands, as long as the two matrices. ----

    dghv_pkg::step_t zeros;
    dghv_pkg::finding_t unused_finding;
    always_comb begin
        zeros         = '0;
        zeros.kind    = dghv_pkg::Add;
        zeros.write   = 1'b1;
        zeros.z.at    = command_q.scratch;
        zeros.z.words = dghv_pkg::length_t'(2) << (5'(command_q.rows) + 5'(command_q.columns));
    end

    super_sum #(
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_zeros (
        .clk_i,
        .rst_ni        (inner_rst_n),
        .ready_o       (sum_ready),
        .start_i       (wipes && fresh_q),
        .step_i        (zeros),
        .done_o        (sum_done),
        .finding_o     (unused_finding),
        .rd_req_valid_o(s_rd_valid),
        .rd_req_ready_i(rd_ready && wipes),
        .rd_req_addr_o (s_rd_addr),
        .rd_req_count_o(s_rd_count),
        .rd_valid_i    (1'b0),
        .rd_ready_o    (s_rd_take),
        .rd_data_i     ('0),
        .wr_req_valid_o(s_wr_valid),
        .wr_req_ready_i(wr_ready && wipes),
        .wr_req_addr_o (s_wr_addr),
        .wr_req_count_o(s_wr_count),
        .wr_valid_o    (s_word_valid),
        .wr_ready_i    (word_ready && wipes),
        .wr_data_o     (s_word)
    );

    // ---- The connection to memory. ----

    logic unused_seed_ready, unused_seed_valid, unused_seed_req, unused_seed_take;
    logic [AddrWidth-1:0] m_rd_addr, m_wr_addr;
    logic [CountWidth-1:0] m_rd_count, m_wr_count, unused_seed_count;
    logic [63:0] m_word;
    dghv_pkg::index_t unused_seed_index;
    dghv_pkg::length_t unused_seed_row;

    memory_isolate #(
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_gate (
        .clk_i,
        .rst_ni,
        .drain_i         (drains),
        .dead_i          (failed && drains),
        .idle_o          (idle),
        .rd_req_valid_i  (wipes ? s_rd_valid : p_rd_valid),
        .rd_req_ready_o  (rd_ready),
        .rd_req_addr_i   (wipes ? s_rd_addr : p_rd_addr),
        .rd_req_count_i  (wipes ? s_rd_count : p_rd_count),
        .rd_valid_o      (rd_valid),
        .rd_ready_i      (wipes ? s_rd_take : p_rd_take),
        .wr_req_valid_i  (wipes ? s_wr_valid : p_wr_valid),
        .wr_req_ready_o  (wr_ready),
        .wr_req_addr_i   (wipes ? s_wr_addr : p_wr_addr),
        .wr_req_count_i  (wipes ? s_wr_count : p_wr_count),
        .wr_valid_i      (wipes ? s_word_valid : p_word_valid),
        .wr_ready_o      (word_ready),
        .wr_data_i       (wipes ? s_word : p_word),
        .seed_req_valid_i(1'b0),
        .seed_req_ready_o(unused_seed_ready),
        .seed_req_index_i('0),
        .seed_req_row_i  ('0),
        .seed_req_count_i('0),
        .seed_valid_o    (unused_seed_valid),
        .seed_ready_i    (1'b0),
        .rd_req_valid_o  (m_rd_valid),
        .rd_req_ready_i  (m_rd_ready),
        .rd_req_addr_o   (m_rd_addr),
        .rd_req_count_o  (m_rd_count),
        .rd_valid_i      (m_rd_word),
        .rd_ready_o      (m_rd_take),
        .wr_req_valid_o  (m_wr_valid),
        .wr_req_ready_i  (m_wr_ready),
        .wr_req_addr_o   (m_wr_addr),
        .wr_req_count_o  (m_wr_count),
        .wr_valid_o      (m_word_valid),
        .wr_ready_i      (m_word_ready),
        .wr_data_o       (m_word),
        .wr_done_i       (wr_done),
        .seed_req_valid_o(unused_seed_req),
        .seed_req_ready_i(1'b0),
        .seed_req_index_o(unused_seed_index),
        .seed_req_row_o  (unused_seed_row),
        .seed_req_count_o(unused_seed_count),
        .seed_valid_i    (1'b0),
        .seed_ready_o    (unused_seed_take)
    );

    memory_port #(
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth),
        .Beats     (Beats),
        .Bursts    (Bursts),
        .Depth     (Depth),
        .Timeout   (Timeout)
    ) u_memory (
        .clk_i,
        .rst_ni,
        .clear_i       (state_q == Forget && fresh_q),
        .idle_o        (port_idle),
        .error_o       (fault_o),
        .rd_req_valid_i(m_rd_valid),
        .rd_req_ready_o(m_rd_ready),
        .rd_req_addr_i (m_rd_addr),
        .rd_req_count_i(m_rd_count),
        .rd_valid_o    (m_rd_word),
        .rd_ready_i    (m_rd_take),
        .rd_data_o     (rd_data),
        .rd_last_o     (m_rd_last),
        .wr_req_valid_i(m_wr_valid),
        .wr_req_ready_o(m_wr_ready),
        .wr_req_addr_i (m_wr_addr),
        .wr_req_count_i(m_wr_count),
        .wr_valid_i    (m_word_valid),
        .wr_ready_o    (m_word_ready),
        .wr_data_i     (m_word),
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
    assign unused = &{1'b0, m_rd_last, unused_finding, unused_seed_ready, unused_seed_valid, unused_seed_req, unused_seed_take,
                      unused_seed_count, unused_seed_index, unused_seed_row};
endmodule
