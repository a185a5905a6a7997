// SPDX-License-Identifier: MIT OR Apache-2.0
// Executes the commands of `dghv` one at a time and answers each: words into and out of the memory,
// and computations of dghv_encryptor on its contents.
//
// A command is ten words, the first at the low end:
//   0  operation (bits 3..0), computation (10..8)
//   1  address of a word (31..0)
//   2 to 9  data
// Operations: 0 Read: the eight words at the address are the answer's data. 1 Write: eight words. 2
// Compute (dghv_pkg::operation_e): the data are a dghv_pkg::command_t, lowest bits first:
//   2  x: address (31..0), words (55..32)        6  excess (31..0), elements (55..32)
//   3  y: as x                                   7  noise: as x
//   4  z (31..0), modulus (63..32)               8  scratch: as x
//   5  reciprocal (31..0), bits (63..32)         9  not used
//
// An answer is nine words: a status, and eight words of data. The status is 0 if all is well. Bits
// 3..0 are the memory's error (memory_port). It stays until a flush, and no command is executed
// while it does. Bit 4: no such operation. Bits 10..8: how a computation ended
// (dghv_pkg::ending_e).
module dghv_control #(
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,            // of the datapath
    // Commands and answers.
    input  logic                  item_valid_i,
    output logic                  item_ready_o,
    input  logic [639:0]          item_i,
    output logic                  answer_valid_o,
    input  logic                  answer_ready_i,
    output logic [575:0]          answer_o,
    // The encryptor, which has exclusive use of the memory while it computes.
    output logic                  seed_load_o,       // before a computation
    output logic                  command_valid_o,
    input  logic                  command_ready_i,
    output dghv_pkg::command_t    command_o,
    input  logic                  status_valid_i,
    output logic                  status_ready_o,
    input  dghv_pkg::ending_e     status_i,
    // The memory, at all other times.
    output logic                  owns_o,            // this module uses the memory
    input  logic [3:0]            error_i,
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [63:0]           rd_data_i,
    input  logic                  rd_last_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [63:0]           wr_data_o,
    input  logic                  wr_done_i
);
    if (AddrWidth > 32) $error("dghv_control: AddrWidth is at most 32");
    if (CountWidth < 4) $error("dghv_control: CountWidth is at least 4");

    typedef enum logic [2:0] {
        Idle,
        Decide,
        Read,
        Write,
        Await,    // until all words are in the memory
        Command,
        Compute,
        Answer
    } state_e;
    state_e state_q;

    // The command.
    logic [3:0] operation_q;
    logic [2:0] computation_q;
    logic [31:0] addr_q;
    logic [7:0][63:0] data_q;
    logic [2:0] at_q;
    logic read_sent_q, write_sent_q;
    logic [3:0] fault_q;
    logic unknown_q;
    dghv_pkg::ending_e ending_q;

    function automatic dghv_pkg::operand_t operand(input logic [55:0] word);
        operand = {word[31:0], word[55:32], dghv_pkg::length_t'(0)};
    endfunction

    always_comb begin
        command_o            = '0;
        command_o.operation  = dghv_pkg::operation_e'(computation_q);
        command_o.x          = operand(data_q[0][55:0]);
        command_o.y          = operand(data_q[1][55:0]);
        command_o.z          = data_q[2][31:0];
        command_o.modulus    = data_q[2][63:32];
        command_o.reciprocal = data_q[3][31:0];
        command_o.bits       = data_q[3][63:32];
        command_o.excess     = data_q[4][31:0];
        command_o.elements   = data_q[4][55:32];
        command_o.noise      = operand(data_q[5][55:0]);
        command_o.scratch    = operand(data_q[6][55:0]);
    end

    logic failed, wr_taken;
    assign failed          = error_i != '0;
    assign owns_o          = state_q != Command && state_q != Compute;
    assign seed_load_o     = state_q == Decide && operation_q == 4'd2;
    assign command_valid_o = state_q == Command;
    assign status_ready_o  = state_q == Compute;

    // Eight words at a time.
    assign rd_req_valid_o = state_q == Read && !read_sent_q;
    assign rd_req_addr_o  = AddrWidth'(addr_q);
    assign rd_req_count_o = CountWidth'(8);
    assign rd_ready_o     = state_q == Read;
    assign wr_req_valid_o = state_q == Write && !write_sent_q;
    assign wr_req_addr_o  = AddrWidth'(addr_q);
    assign wr_req_count_o = CountWidth'(8);
    assign wr_valid_o     = state_q == Write;
    assign wr_data_o      = data_q[0];
    assign wr_taken       = wr_valid_o && wr_ready_i;

    assign item_ready_o   = state_q == Idle;
    assign answer_valid_o = state_q == Answer;
    assign answer_o       = {data_q, 53'd0, ending_q, 3'd0, unknown_q, fault_q};

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q       <= Idle;
            operation_q   <= '0;
            computation_q <= '0;
            addr_q        <= '0;
            data_q        <= '0;
            at_q          <= '0;
            read_sent_q   <= 1'b0;
            write_sent_q  <= 1'b0;
            fault_q       <= '0;
            unknown_q     <= 1'b0;
            ending_q      <= dghv_pkg::Done;
        end else begin
            if (rd_req_valid_o && rd_req_ready_i) read_sent_q <= 1'b1;
            if (wr_req_valid_o && wr_req_ready_i) write_sent_q <= 1'b1;
            unique case (state_q)
                Idle:
                if (item_valid_i) begin
                    state_q       <= Decide;
                    operation_q   <= item_i[3:0];
                    computation_q <= item_i[10:8];
                    addr_q        <= item_i[95:64];
                    data_q        <= item_i[639:128];
                    at_q          <= '0;
                    read_sent_q   <= 1'b0;
                    write_sent_q  <= 1'b0;
                    fault_q       <= '0;
                    unknown_q     <= 1'b0;
                    ending_q      <= dghv_pkg::Done;
                end
                Decide:
                unique case (operation_q)
                    4'd0: state_q <= Read;
                    4'd1: state_q <= Write;
                    4'd2: state_q <= Command;
                    default: begin
                        state_q   <= Answer;
                        unknown_q <= 1'b1;
                        data_q    <= '0;
                    end
                endcase
                // Words enter at the top.
                Read:
                if (rd_valid_i) begin
                    data_q <= {rd_data_i, data_q[7:1]};
                    if (rd_last_i) state_q <= Answer;
                end
                // Words leave at the bottom, followed by zeros.
                Write:
                if (wr_taken) begin
                    data_q <= {64'd0, data_q[7:1]};
                    at_q   <= at_q + 3'd1;
                    if (at_q == 3'd7) state_q <= Await;
                end
                Await: if (wr_done_i) state_q <= Answer;
                Command: if (command_ready_i) state_q <= Compute;
                Compute:
                if (status_valid_i) begin
                    state_q  <= Answer;
                    ending_q <= status_i;
                    data_q   <= '0;
                end
                default:
                if (answer_ready_i) begin
                    state_q <= Idle;
                    data_q  <= '0;
                end
            endcase
            // A memory error ends whatever is in progress, and no data is shown.
            if (failed && state_q != Idle && state_q != Answer) begin
                state_q  <= Answer;
                fault_q  <= error_i;
                ending_q <= dghv_pkg::Done;
                data_q   <= '0;
            end
        end
    end

    // Bits that a command does not use.
    logic unused;
    assign unused = &{1'b0, item_i[127:96], item_i[63:11], item_i[7:4], addr_q, data_q};

    // Assertions apply only after the first reset.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(WrittenWhereRequested, !(state_q == Await) || write_sent_q, clk_i, !rst_ni || !settled_q)
    `COVER(Refuses, state_q == Answer && ending_q == dghv_pkg::BadSizes, clk_i, !rst_ni || !settled_q)
endmodule
