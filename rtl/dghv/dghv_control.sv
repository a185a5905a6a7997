// SPDX-License-Identifier: MIT OR Apache-2.0
// Carries out the commands of `dghv`, one at a time, and answers each.
//
// A command is ten words, the first at the low end:
//   0  operation (bits 3..0), fresh (8), group (23..16), bits of an element (63..32)
//   1  address of a word (31..0), index of an element (63..32)
//   2 to 9  data
// Operations: 0 Read: the eight words at the address are the answer's data. 1 Write: eight words. 2 Coefficient: the data are words 8 group .. 8 group + 7 of the
// coefficient b. 3 Sum: the number at the address, of as many words as an element and Limbs more, becomes itself (zero if fresh) plus b times the element.
//
// An answer is nine words: what went wrong, 0 if nothing, and eight of data. Its bits: 3..0 the memory's error (memory_port), which stays, and no command is carried out,
// until a flush; 4 no such operation; 5 no such group, or an element of no bits or more than there are words for; 6 the sum is longer than its room.
module dghv_control #(
    parameter int unsigned Limbs      = 16,  // words of a coefficient, a multiple of 8
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 24
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,          // of the datapath
    // Commands and answers.
    input  logic                  item_valid_i,
    output logic                  item_ready_o,
    input  logic [639:0]          item_i,
    output logic                  answer_valid_o,
    input  logic                  answer_ready_i,
    output logic [575:0]          answer_o,
    // The memory.
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
    input  logic                  wr_done_i,
    // The elements.
    output logic                  seed_load_o,
    output logic [CountWidth+5:0] seed_bits_o,
    output logic                  seed_req_valid_o,
    input  logic                  seed_req_ready_i,
    output logic [31:0]           seed_req_index_o,
    output logic [CountWidth-1:0] seed_req_count_o,
    input  logic                  seed_valid_i,
    output logic                  seed_ready_o,
    input  logic [63:0]           seed_word_i,
    input  logic                  seed_last_i,
    // A word of the element was multiplied.
    output logic                  multiplied_o
);
    if (Limbs < 8 || Limbs > 64 || Limbs % 8 != 0) $error("dghv_control: Limbs is a multiple of 8 up to 64");
    if (AddrWidth > 32) $error("dghv_control: AddrWidth is at most 32");
    if (CountWidth < 8 || CountWidth > 26) $error("dghv_control: CountWidth is 8 to 26");

    localparam int unsigned Groups = Limbs / 8;

    typedef enum logic [2:0] {
        Idle,
        Decide,
        Read,
        Write,
        Sum,
        Await,
        Answer
    } state_e;
    state_e state_q;

    // The command.
    logic [3:0] operation_q;
    logic fresh_q;
    logic [7:0] group_q;
    logic [31:0] bits_q, addr_q, index_q;
    logic [7:0][63:0] data_q;
    logic [2:0] at_q;
    logic read_sent_q, write_sent_q, seed_sent_q;
    logic [6:0] status_q;
    // The coefficient.
    logic [Limbs*64-1:0] b_q;

    // Words of an element and of its sum.
    logic [32:0] words, room;
    logic sizes_good;
    assign words = (33'(bits_q) + 33'd63) >> 6;
    assign room = words + 33'(Limbs);
    assign sizes_good = bits_q != '0 && room[32:CountWidth] == '0;

    logic failed, summing, wr_taken;
    assign failed = error_i != '0;
    assign summing = state_q == Sum;

    // Requests.
    assign rd_req_valid_o = (state_q == Read || (summing && !fresh_q)) && !read_sent_q;
    assign rd_req_addr_o = AddrWidth'(addr_q);
    assign rd_req_count_o = summing ? CountWidth'(room) : CountWidth'(8);
    assign wr_req_valid_o = (state_q == Write || summing) && !write_sent_q;
    assign wr_req_addr_o = AddrWidth'(addr_q);
    assign wr_req_count_o = rd_req_count_o;
    assign seed_load_o = state_q == Decide && operation_q == 4'd3 && sizes_good;
    assign seed_bits_o = (CountWidth + 6)'(bits_q);
    assign seed_req_valid_o = summing && !seed_sent_q;
    assign seed_req_index_o = index_q;
    assign seed_req_count_o = CountWidth'(room);

    // Pairs of words of the sum and of the element: behind its end that gives zeros.
    logic pair_valid, mac_ready, mac_valid, mac_last, mac_carry;
    logic [63:0] mac_word;
    assign pair_valid = summing && seed_valid_i && (fresh_q || rd_valid_i);
    assign seed_ready_o = pair_valid && mac_ready;
    assign rd_ready_o = state_q == Read || (seed_ready_o && !fresh_q);
    assign multiplied_o = seed_ready_o;

    element_mac #(
        .Limbs(Limbs)
    ) u_mac (
        .clk_i,
        .rst_ni,
        .b_i    (b_q),
        .valid_i(pair_valid),
        .ready_o(mac_ready),
        .a_i    (fresh_q ? 64'd0 : rd_data_i),
        .x_i    (seed_word_i),
        .last_i (seed_last_i),
        .valid_o(mac_valid),
        .ready_i(wr_ready_i),
        .z_o    (mac_word),
        .last_o (mac_last),
        .carry_o(mac_carry)
    );

    assign wr_valid_o = mac_valid || state_q == Write;
    assign wr_data_o = (state_q == Write) ? data_q[0] : mac_word;
    assign wr_taken = wr_valid_o && wr_ready_i;

    assign item_ready_o = state_q == Idle;
    assign answer_valid_o = state_q == Answer;
    assign answer_o = {data_q, 57'd0, status_q};

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q      <= Idle;
            operation_q  <= '0;
            fresh_q      <= 1'b0;
            group_q      <= '0;
            bits_q       <= '0;
            addr_q       <= '0;
            index_q      <= '0;
            data_q       <= '0;
            at_q         <= '0;
            read_sent_q  <= 1'b0;
            write_sent_q <= 1'b0;
            seed_sent_q  <= 1'b0;
            status_q     <= '0;
            b_q          <= '0;
        end else begin
            if (rd_req_valid_o && rd_req_ready_i) read_sent_q <= 1'b1;
            if (wr_req_valid_o && wr_req_ready_i) write_sent_q <= 1'b1;
            if (seed_req_valid_o && seed_req_ready_i) seed_sent_q <= 1'b1;
            unique case (state_q)
                Idle:
                if (item_valid_i) begin
                    state_q      <= Decide;
                    operation_q  <= item_i[3:0];
                    fresh_q      <= item_i[8];
                    group_q      <= item_i[23:16];
                    bits_q       <= item_i[63:32];
                    addr_q       <= item_i[95:64];
                    index_q      <= item_i[127:96];
                    data_q       <= item_i[639:128];
                    at_q         <= '0;
                    read_sent_q  <= 1'b0;
                    write_sent_q <= 1'b0;
                    seed_sent_q  <= 1'b0;
                    status_q     <= '0;
                end
                Decide: begin
                    state_q <= Answer;
                    unique case (operation_q)
                        4'd0: state_q <= Read;
                        4'd1: state_q <= Write;
                        4'd2: begin
                            for (int k = 0; k < int'(Groups); k++) if (group_q == 8'(k)) b_q[512*k+:512] <= data_q;
                            status_q[5] <= group_q >= 8'(Groups);
                            data_q <= '0;
                        end
                        4'd3: begin
                            if (sizes_good) state_q <= Sum;
                            else status_q[5] <= 1'b1;
                            data_q <= '0;
                        end
                        default: begin
                            status_q[4] <= 1'b1;
                            data_q <= '0;
                        end
                    endcase
                end
                // Words come in at the top.
                Read:
                if (rd_valid_i) begin
                    data_q <= {rd_data_i, data_q[7:1]};
                    if (rd_last_i) state_q <= Answer;
                end
                // And leave at the bottom, zeros following.
                Write:
                if (wr_taken) begin
                    data_q <= {64'd0, data_q[7:1]};
                    at_q   <= at_q + 3'd1;
                    if (at_q == 3'd7) state_q <= Await;
                end
                Sum:
                if (wr_taken && mac_last) begin
                    status_q[6] <= mac_carry;
                    state_q <= Await;
                end
                Await: if (wr_done_i) state_q <= Answer;
                Answer: if (answer_ready_i) begin
                    state_q <= Idle;
                    data_q  <= '0;
                end
                default: state_q <= Idle;
            endcase
            // A memory that fails ends whatever is under way; nothing of it is shown.
            if (failed && state_q != Idle && state_q != Answer) begin
                state_q  <= Answer;
                status_q <= {3'd0, error_i};
                data_q   <= '0;
            end
        end
    end

    // What a command does not use.
    logic unused;
    assign unused = &{1'b0, item_i[31:24], item_i[15:9], item_i[7:4]};

    // Nothing is said before the first reset.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(WrittenWhereRequested, !(state_q == Await) || write_sent_q, clk_i, !rst_ni || !settled_q)
    `COVER(Overflows, status_q[6], clk_i, !rst_ni || !settled_q)
endmodule
