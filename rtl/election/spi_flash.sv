// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads, programs and erases a serial flash memory with the commands that all of them have: 03
// read, 02 page program, 20 sector erase (4 KiB), 06 write enable, 05 read status. Addresses have
// 24 bits.
//
// A command comes with its address and its number of words. A read returns that many words, a
// program accepts them, least significant byte first. A read goes from page to page, a program
// stays within a page of 256 bytes. done_o is high for a cycle at the end of a command. For a
// program or an erase, this is when the memory reports that it is no longer busy. If failed_o is
// high as well, it still reported busy after FlashTimeout status reads.
module spi_flash #(
    parameter int unsigned SckHalfPeriod = 4,   // cycles of half a period of the clock
    parameter int unsigned Longest       = 64,  // words of a command at most
    // status reads before it counts as stuck, at least 1
    parameter int unsigned FlashTimeout  = 1 << 20,
    localparam int unsigned WordBits     = $clog2(Longest + 1)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        command_valid_i,
    output logic        command_ready_o,
    input  logic [7:0]  command_i,
    input  logic [23:0] address_i,
    input  logic [WordBits-1:0] words_i,  // at least 1; ignored for an erase
    input  logic        in_valid_i,
    output logic        in_ready_o,
    input  logic [31:0] in_data_i,
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output logic [31:0] out_data_o,
    output logic        done_o,
    output logic        failed_o,
    output logic        cs_no,
    output logic        sck_o,
    output logic        copi_o,
    input  logic        cipo_i
);
    localparam logic [7:0] Read = 8'h03;
    localparam logic [7:0] Program = 8'h02;
    localparam logic [7:0] Erase = 8'h20;
    localparam logic [7:0] Enable = 8'h06;
    localparam logic [7:0] Status = 8'h05;
    localparam int unsigned AskBits = $clog2(FlashTimeout + 1);

    typedef enum logic [2:0] {
        Idle,
        Allow,   // sends the write enable
        Order,   // sends the command and its address
        Words,   // transfers data
        Ask,     // sends the status command
        Answer   // receives the status
    } state_e;

    if (Longest < 1 || Longest > 1 << 22) $error("spi_flash: Longest must be from 1 to 2^22");
    if (FlashTimeout < 1) $error("spi_flash: FlashTimeout must be at least 1");

    typedef logic [WordBits-1:0] word_t;
    state_e state_q;
    logic [7:0] command_q;
    word_t left_q;
    logic [23:0] address_q;
    logic [1:0] byte_q;
    logic [AskBits-1:0] asks_q;
    logic send_valid, send_ready, send_last, got, got_ready;
    logic [7:0] send, answer;
    logic sent, last_word;
    // The kind of a received byte, which belongs to a previous state.
    typedef enum logic [1:0] {
        Nothing,
        Data,
        Busy
    } interest_e;
    interest_e interest_q;
    logic [1:0] got_byte_q;
    logic [23:0] got_q;

    spi_controller #(
        .SckHalfPeriod(SckHalfPeriod)
    ) u_spi (
        .clk_i,
        .rst_ni,
        .in_valid_i (send_valid),
        .in_ready_o (send_ready),
        .in_data_i  (send),
        .in_last_i  (send_last),
        .out_valid_o(got),
        .out_ready_i(got_ready),
        .out_data_o (answer),
        .cs_no,
        .sck_o,
        .copi_o,
        .cipo_i
    );

    assign command_ready_o = rst_ni && state_q == Idle && interest_q == Nothing && !got;
    assign last_word = left_q == word_t'(1);
    assign sent = send_valid && send_ready;

    always_comb begin
        send_valid = 1'b0;
        send       = '0;
        send_last  = 1'b0;
        unique case (state_q)
            Allow: begin
                send_valid = 1'b1;
                send       = Enable;
                send_last  = 1'b1;
            end
            Order: begin
                send_valid = 1'b1;
                send       = byte_q == 2'd0 ? command_q : address_q[23:16];
                send_last  = byte_q == 2'd3 && command_q == Erase;
            end
            Words: begin
                send_valid = command_q == Read || in_valid_i;
                send       = command_q == Read ? 8'h00 : in_data_i[8*byte_q+:8];
                send_last  = last_word && byte_q == 2'd3;
            end
            Ask: begin
                send_valid = 1'b1;
                send       = Status;
            end
            Answer: begin
                // Nothing more is sent until the answer has come.
                send_valid = interest_q == Nothing;
                send_last  = 1'b1;
            end
            default: ;
        endcase
    end
    assign in_ready_o = state_q == Words && command_q == Program && sent && byte_q == 2'd3;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q   <= Idle;
            command_q <= '0;
            left_q    <= '0;
            address_q <= '0;
            byte_q    <= '0;
            asks_q    <= '0;
        end else begin
            unique case (state_q)
                Idle:
                if (command_valid_i && command_ready_o) begin
                    command_q <= command_i;
                    address_q <= address_i;
                    left_q    <= words_i;
                    byte_q    <= '0;
                    asks_q    <= '0;
                    state_q   <= Allow;
                    if (command_i == Read) state_q <= Order;
                    if (command_i == Status) state_q <= Ask;
                end
                Allow: if (sent) state_q <= Order;
                Order:
                if (sent) begin
                    byte_q <= byte_q + 2'd1;
                    if (byte_q != 2'd0) address_q <= address_q << 8;
                    if (byte_q == 2'd3) state_q <= command_q == Erase ? Ask : Words;
                end
                Words:
                if (sent) begin
                    byte_q <= byte_q + 2'd1;
                    if (byte_q == 2'd3) begin
                        left_q <= left_q - word_t'(1);
                        if (last_word) state_q <= command_q == Read ? Idle : Ask;
                    end
                end
                Ask: if (sent) state_q <= Answer;
                default: begin
                    if (interest_q == Busy && got && got_ready) begin
                        asks_q  <= asks_q + AskBits'(1);
                        state_q <= (answer[0] && asks_q != AskBits'(FlashTimeout - 1)) ? Ask : Idle;
                    end
                end
            endcase
        end
    end

    // A byte comes back for each one sent, before the next one begins.
    logic data_whole;
    assign data_whole = interest_q == Data && got && got_byte_q == 2'd3;
    assign got_ready  = !data_whole || out_ready_i;
    assign out_valid_o = data_whole;
    assign out_data_o  = {answer, got_q};

    word_t back_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            interest_q <= Nothing;
            got_byte_q <= '0;
            got_q      <= '0;
            back_q     <= '0;
        end else begin
            if (sent) begin
                if (state_q == Words && command_q == Read) interest_q <= Data;
                else if (state_q == Answer) interest_q <= Busy;
                else interest_q <= Nothing;
            end else if (got && got_ready) begin
                if (interest_q == Data) begin
                    got_byte_q <= got_byte_q + 2'd1;
                    got_q      <= {answer, got_q[23:8]};
                end
                interest_q <= Nothing;
            end
            // Words of a read that are still to come back.
            if (command_valid_i && command_ready_o) back_q <= command_i == Read ? words_i : '0;
            else if (out_valid_o && out_ready_i) back_q <= back_q - word_t'(1);
        end
    end

    logic over;
    assign over = state_q == Answer && interest_q == Busy && got;
    assign done_o = (over && (!answer[0] || failed_o)) || (out_valid_o && out_ready_i && back_q == word_t'(1));
    assign failed_o = over && answer[0] && asks_q == AskBits'(FlashTimeout - 1);

    `include "assertions.svh"
    `ASSERT(WithinPage, !(command_valid_i && command_ready_o && command_i == Program && 32'(address_i[7:0]) + 4 * 32'(words_i) > 256))
endmodule
