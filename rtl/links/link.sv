// SPDX-License-Identifier: MIT OR Apache-2.0
// One end of a link: carries messages of 32-bit words, each once and in order, over bytes that may
// be lost, corrupted or spurious.
//
// A frame is a header of two words, {words, sequence, kind} and {partner's tag, own tag}, an
// optional message, and their CRC-32. A message is resent until the partner acknowledges it; only
// then is the next one sent. The partner acknowledges a message once its receiver has accepted all
// of it. A partner with a slow receiver answers Wait, and does not count as silent. Each end
// identifies itself by a tag, which must differ after each reset. An end that does not know its
// partner's tag sends Hello until it receives Welcome. Between resets each message arrives once. A
// message that was unacknowledged when either end was reset is sent again, and may arrive twice: an
// application that stores messages recognises them by identifiers of its own (vote_log).
//
// An end that hears nothing for Retries times Timeout cycles reports it, and keeps trying: it sends
// Hello again, since the partner may have been reset and know this end, while this end knows its
// former tag. Each fault is shown for one cycle, with its code (link_pkg); of simultaneous faults,
// the one assigned last at the end of this file is shown.
module link #(
    parameter int unsigned Words   = 64,       // of a message at most, at least 2
    // cycles from the last word of a frame, which its checksum follows, until it is resent: more
    // than the longest answer takes
    parameter int unsigned Timeout = 1 << 20,
    // frames without an answer until the partner counts as silent
    parameter int unsigned Retries = 8
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [15:0] tag_i,          // of this end, constant between resets
    // Messages to be sent.
    input  logic        in_valid_i,
    output logic        in_ready_o,
    input  logic [31:0] in_data_i,
    input  logic        in_last_i,
    output logic        delivered_o,    // the partner's receiver accepted the last message
    // Messages received.
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output logic [31:0] out_data_o,
    output logic        out_last_o,
    // The wire.
    output logic        tx_valid_o,
    input  logic        tx_ready_i,
    output logic [7:0]  tx_data_o,
    output logic        tx_between_o,   // no frame has begun: flags may be sent
    input  logic        rx_valid_i,
    input  logic [7:0]  rx_data_i,
    input  logic        line_fault_i,   // the wire lost bytes
    output logic        up_o,           // the partner is known, and was heard from
    output logic        fault_o,
    output logic [3:0]  fault_code_o    // a fault_e of link_pkg
);
    if (Words < 2 || Words > 65535) $error("link: Words must be from 2 to 65535");
    if (Timeout < 16) $error("link: Timeout must be at least 16");
    if (Retries < 1) $error("link: Retries must be at least 1");

    localparam int unsigned AddressBits = $clog2(Words);
    localparam int unsigned CountBits = $clog2(Words + link_pkg::Overhead + 1);
    localparam int unsigned TimerBits = $clog2(Timeout + 1);
    localparam int unsigned RetryBits = $clog2(Retries + 1);

    typedef logic [CountBits-1:0] count_t;

    // ---- receiving ------------------------------------------------------------------------------

    logic word, frame_end, good;
    logic [31:0] word_data;

    frame_words u_words (
        .clk_i,
        .rst_ni,
        .valid_i(rx_valid_i),
        .data_i (rx_data_i),
        .word_o (word),
        .data_o (word_data),
        .end_o  (frame_end),
        .good_o (good)
    );

    count_t count_q, held_q;
    logic [31:0] head_q, tags_q;
    logic too_long_q, keep_q, taken_q, full_q, in_wiped, out_wiped;
    link_pkg::kind_e kind;
    logic [7:0] sequence_number;

    assign kind = link_pkg::kind_e'(head_q[7:0]);
    assign sequence_number = head_q[15:8];

    // The partner, and the state of the exchange.
    logic known_q, ack_due_q;
    logic lost_q;  // no answer from the partner: Hello is next
    logic [15:0] partner_q;
    logic [7:0] expected_q, sequence_q;
    // The message to send: the words received so far, and whether it is complete.
    logic out_full_q, sent_q, dropping_q;
    count_t out_words_q;

    logic right_length, known_kind, ours, greeting, anew, data, in_order, again, accept, acked, waits;
    assign right_length = 32'(head_q[31:16]) + link_pkg::Overhead == 32'(count_q) && (kind == link_pkg::Data) == (count_q != count_t'(link_pkg::Overhead));
    assign known_kind = head_q[7:0] >= link_pkg::Hello && head_q[7:0] <= link_pkg::Wait;
    logic whole;
    assign whole = frame_end && good && !too_long_q && known_kind && right_length;
    // The frame is from the known partner, and addressed to this end as of its latest reset.
    assign ours = whole && known_q && tags_q == {tag_i, partner_q};
    assign greeting = whole && (kind == link_pkg::Hello || (kind == link_pkg::Welcome && tags_q[31:16] == tag_i));
    assign anew = greeting && (!known_q || tags_q[15:0] != partner_q);
    assign data = ours && kind == link_pkg::Data;
    assign in_order = sequence_number == expected_q;
    assign again = sequence_number == expected_q - 8'd1;
    assign accept = data && in_order && keep_q;
    assign acked = ours && kind == link_pkg::Ack && out_full_q && sent_q && sequence_number == sequence_q;
    assign waits = ours && kind == link_pkg::Wait && out_full_q && sequence_number == sequence_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q    <= '0;
            head_q     <= '0;
            tags_q     <= '0;
            too_long_q <= 1'b0;
            keep_q     <= 1'b0;
        end else if (frame_end) begin
            count_q    <= '0;
            too_long_q <= 1'b0;
        end else if (word) begin
            if (count_q == '0) head_q <= word_data;
            if (count_q == '0) keep_q <= !full_q && in_wiped;
            if (count_q == count_t'(1)) tags_q <= word_data;
            if (count_q == count_t'(Words + link_pkg::Overhead)) too_long_q <= 1'b1;
            else count_q <= count_q + count_t'(1);
        end
    end

    // ---- the received message, until it is delivered --------------------------------------------

    logic give, give_last, unused_in_error;
    count_t given_q;
    logic in_write;
    logic [AddressBits-1:0] in_address;

    // Words after the header. The checksum of the longest message falls outside the memory, and is
    // not needed.
    assign in_write = word && keep_q && count_q >= count_t'(2) && count_q < count_t'(Words + 2);
    assign in_address = AddressBits'(count_q - count_t'(2));
    assign give = out_valid_o && out_ready_i;
    assign give_last = give && out_last_o;

    ram_1r1w #(
        .Width(32),
        .Depth(Words)
    ) u_in (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (in_wiped),
        .write_i        (in_write),
        .write_address_i(in_address),
        .write_data_i   (word_data),
        .read_i         (full_q && !taken_q),
        .read_address_i (AddressBits'(given_q)),
        .read_data_o    (out_data_o),
        .error_o        (unused_in_error)
    );

    // A word is read in one cycle and offered from the next one.
    assign out_valid_o = full_q && taken_q;
    assign out_last_o = given_q + count_t'(1) == held_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            full_q  <= 1'b0;
            taken_q <= 1'b0;
            given_q <= '0;
            held_q  <= '0;
        end else if (accept) begin
            full_q  <= 1'b1;
            taken_q <= 1'b0;
            given_q <= '0;
            held_q  <= count_q - count_t'(link_pkg::Overhead);
        end else if (full_q) begin
            taken_q <= !give;
            if (give) given_q <= given_q + count_t'(1);
            if (give_last) full_q <= 1'b0;
        end
    end

    // ---- the message to send, until it is acknowledged ------------------------------------------

    typedef enum logic [2:0] {
        Rest,
        Head,
        Tags,
        Fetch,  // a word of the message is being read
        Body
    } send_e;
    send_e send_q;
    link_pkg::kind_e send_kind_q;
    logic [7:0] send_sequence_q;
    // Values at the frame's start: an acknowledgement or another partner may arrive during the
    // frame.
    logic [15:0] send_partner_q;
    count_t send_words_q, send_at_q;
    logic [31:0] stored, send_word;
    logic send_ready, send_last, sending_message, unused_out_error;
    logic fill, too_much;

    // A message being sent stays unchanged, even if it has been acknowledged by now.
    assign sending_message = send_q != Rest && send_kind_q == link_pkg::Data;
    assign in_ready_o = out_wiped && !out_full_q && !sending_message;
    assign fill = in_valid_i && in_ready_o;
    assign too_much = fill && out_words_q == count_t'(Words);

    ram_1r1w #(
        .Width(32),
        .Depth(Words)
    ) u_out (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (out_wiped),
        .write_i        (fill && !too_much && !dropping_q),
        .write_address_i(AddressBits'(out_words_q)),
        .write_data_i   (in_data_i),
        .read_i         (send_q == Fetch),
        .read_address_i (AddressBits'(send_at_q)),
        .read_data_o    (stored),
        .error_o        (unused_out_error)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            out_words_q <= '0;
            out_full_q  <= 1'b0;
            dropping_q  <= 1'b0;
        end else if (acked) begin
            out_words_q <= '0;
            out_full_q  <= 1'b0;
        end else if (fill) begin
            if (dropping_q || too_much) begin
                dropping_q  <= !in_last_i;
                out_words_q <= '0;
            end else begin
                out_words_q <= out_words_q + count_t'(1);
                out_full_q  <= in_last_i;
            end
        end
    end

    // ---- what to send, and when -----------------------------------------------------------------

    logic welcome_due_q, wait_due_q, expired, timed_out;
    logic [7:0] waiting_q;
    logic [TimerBits-1:0] timer_q;
    logic [RetryBits-1:0] retries_q;
    logic begin_frame, send_end, heard;
    link_pkg::kind_e next_kind;
    logic [7:0] next_sequence;

    assign expired = timer_q == '0;
    assign send_end = send_ready && send_last;

    always_comb begin
        begin_frame   = send_q == Rest;
        next_kind     = link_pkg::Welcome;
        next_sequence = '0;
        if (welcome_due_q) begin
            next_kind = link_pkg::Welcome;
        end else if (ack_due_q && !full_q) begin
            // The last accepted message.
            next_kind     = link_pkg::Ack;
            next_sequence = expected_q - 8'd1;
        end else if (wait_due_q) begin
            next_kind     = link_pkg::Wait;
            next_sequence = waiting_q;
        end else if ((!known_q || lost_q) && expired) begin
            next_kind = link_pkg::Hello;
        end else if (known_q && !lost_q && out_full_q && (expired || !sent_q)) begin
            next_kind     = link_pkg::Data;
            next_sequence = sequence_q;
        end else begin
            begin_frame = 1'b0;
        end
    end

    // Hello and Data request an answer; they are counted until one arrives.
    logic asks;
    assign asks = begin_frame && (next_kind == link_pkg::Hello || next_kind == link_pkg::Data);
    assign heard = greeting || acked || waits;
    assign timed_out = asks && retries_q == RetryBits'(Retries);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            send_q          <= Rest;
            send_kind_q     <= link_pkg::Hello;
            send_sequence_q <= '0;
            send_partner_q  <= '0;
            send_words_q    <= '0;
            send_at_q       <= '0;
            timer_q         <= '0;
            retries_q       <= '0;
            sent_q          <= 1'b0;
        end else begin
            if (!expired) timer_q <= timer_q - TimerBits'(1);
            unique case (send_q)
                Rest:
                if (begin_frame) begin
                    send_q          <= Head;
                    send_kind_q     <= next_kind;
                    send_sequence_q <= next_sequence;
                    send_partner_q  <= partner_q;
                    send_words_q    <= out_words_q;
                    send_at_q       <= '0;
                end
                Head: if (send_ready) send_q <= Tags;
                Tags: if (send_ready) send_q <= sending_message ? Fetch : Rest;
                Fetch: send_q <= Body;
                default:
                if (send_ready) begin
                    send_at_q <= send_at_q + count_t'(1);
                    send_q    <= send_last ? Rest : Fetch;
                end
            endcase
            // The timer runs from the end of the frame.
            if (asks || (send_end && (send_kind_q == link_pkg::Hello || send_kind_q == link_pkg::Data))) timer_q <= TimerBits'(Timeout);
            if (heard || timed_out) retries_q <= '0;
            else if (asks) retries_q <= retries_q + RetryBits'(1);
            if (anew || acked) sent_q <= 1'b0;
            else if (asks && next_kind == link_pkg::Data) sent_q <= 1'b1;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            known_q       <= 1'b0;
            lost_q        <= 1'b0;
            partner_q     <= '0;
            expected_q    <= '0;
            sequence_q    <= '0;
            ack_due_q     <= 1'b0;
            wait_due_q    <= 1'b0;
            welcome_due_q <= 1'b0;
            waiting_q     <= '0;
            up_o          <= 1'b0;
        end else begin
            if (send_q == Rest && begin_frame) begin
                if (next_kind == link_pkg::Welcome) welcome_due_q <= 1'b0;
                if (next_kind == link_pkg::Ack) ack_due_q <= 1'b0;
                if (next_kind == link_pkg::Wait) wait_due_q <= 1'b0;
            end
            if (greeting && kind == link_pkg::Hello) welcome_due_q <= 1'b1;
            if (accept) begin
                expected_q <= expected_q + 8'd1;
                ack_due_q  <= 1'b1;
            end else if (data && again) begin
                // A resent message that was delivered is acknowledged again. Otherwise the
                // acknowledgement follows delivery, and Wait is sent for now.
                ack_due_q  <= 1'b1;
                wait_due_q <= full_q;
                waiting_q  <= sequence_number;
            end else if (data && in_order) begin
                wait_due_q <= 1'b1;
                waiting_q  <= sequence_number;
            end
            if (acked) sequence_q <= sequence_q + 8'd1;
            if (timed_out) up_o <= 1'b0;
            if (greeting || ours) up_o <= 1'b1;
            if (greeting || ours || (asks && next_kind == link_pkg::Hello)) lost_q <= 1'b0;
            else if (timed_out) lost_q <= known_q;
            if (anew) begin
                known_q    <= 1'b1;
                partner_q  <= tags_q[15:0];
                expected_q <= '0;
                sequence_q <= '0;
                ack_due_q  <= 1'b0;
                wait_due_q <= 1'b0;
            end
        end
    end
    assign delivered_o = acked;

    always_comb begin
        send_word = {sending_message ? 16'(send_words_q) : 16'd0, send_sequence_q, send_kind_q};
        if (send_q == Tags) send_word = {send_partner_q, tag_i};
        if (send_q == Body) send_word = stored;
    end
    assign send_last = send_q == Body ? send_at_q + count_t'(1) == send_words_q : send_q == Tags && !sending_message;

    frame_bytes u_bytes (
        .clk_i,
        .rst_ni,
        .in_valid_i (send_q == Head || send_q == Tags || send_q == Body),
        .in_ready_o (send_ready),
        .in_data_i  (send_word),
        .in_last_i  (send_last),
        .out_valid_o(tx_valid_o),
        .out_ready_i(tx_ready_i),
        .out_data_o (tx_data_o),
        .between_o  (tx_between_o)
    );

    // ---- faults ---------------------------------------------------------------------------------

    link_pkg::fault_e code;
    always_comb begin
        code = link_pkg::NoFault;
        if (line_fault_i) code = link_pkg::Line;
        if (too_much && !dropping_q) code = link_pkg::LongMessage;
        if (data && in_order && !keep_q) code = link_pkg::Flooding;
        if (data && !in_order && !again) code = link_pkg::Sequence;
        if (word && count_q == count_t'(Words + link_pkg::Overhead) && !too_long_q) code = link_pkg::FrameTooLong;
        if (frame_end && !too_long_q && !good) code = link_pkg::BadFrame;
        else if (frame_end && !too_long_q && !known_kind) code = link_pkg::UnknownKind;
        else if (frame_end && !too_long_q && !right_length) code = link_pkg::WrongLength;
        if (anew && known_q) code = link_pkg::PartnerReset;
        if (timed_out) code = link_pkg::Silent;
    end
    assign fault_o = code != link_pkg::NoFault;
    assign fault_code_o = code;

    `include "assertions.svh"
    `ASSERT(KeptWhileSent, !(fill && sending_message))
    `ASSERT(AcceptedIntoRoom, !(accept && full_q))
    `ASSERT(AcknowledgedWhenTaken, !(begin_frame && next_kind == link_pkg::Ack && full_q))
    `ASSERT_KEEPS(GivenAsItCame, out_valid_o && !out_ready_i, out_data_o)
    `ASSERT_NEXT(OfferStays, out_valid_o && !out_ready_i, out_valid_o)
    `COVER(TakenAgain, data && again && !full_q)
    `COVER(Waited, waits)
endmodule
