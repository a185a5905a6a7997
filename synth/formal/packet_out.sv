// SPDX-License-Identifier: MIT OR Apache-2.0
// A packet_out turns tag k into packet k: its header, then as many items as it says, in order. A
// broken packet has fewer items and a closing beat, or two where one would make it look whole.
module formal #(
    parameter int unsigned Whole = 0  // 1: an item is a beat
) (
    input logic clk_i
);
    localparam int unsigned Beats = Whole == 1 ? 1 : 2;
    localparam int unsigned Bits = 32 * Beats;
    (* anyseq *) logic tag_begins, broken_begins, item_offered, m_ready, again;
    (* anyseq *) logic [1:0] next_count, next_missing;
    (* anyseq *) logic [1:0] next_sequence;
    (* anyseq *) logic [2*Beats-1:0] item_bits;
    (* anyconst *) logic [15:0] epoch;
    (* anyconst *) logic [1:0] target_packet;
    (* anyconst *) logic [2:0] target_item;
    logic tag_ready, item_ready, broken_ready, m_valid, m_last, m_near, m_item, rst_n;
    logic [31:0] m_data;
    logic started = 1'b0;

    assign rst_n = started && !again;

    // Tags on offer, whether the last packet is broken and that has been signalled, items still to
    // come of all packets with a tag.
    logic tag_q = 1'b0, broken_q = 1'b0, said_q = 1'b0, offered_q = 1'b0;
    logic [1:0] count_q, missing_q;
    logic [1:0] sequence_q;
    logic [3:0] owed_q = '0;
    logic [Bits-1:0] item, item_q;
    logic item_valid, begins;
    // Two bits of each beat are used.
    for (genvar k = 0; k < Beats; k++) begin : gen_item
        assign item[32*k+:32] = 32'(item_bits[2*k+:2]);
    end
    assign item_valid = item_offered && owed_q != '0;
    assign begins     = tag_begins && (!tag_q || tag_ready) && !broken_q;
    always_comb begin
        assume (next_missing <= next_count);
        if (offered_q && rst_n) assume (item_offered && item == item_q);
    end

    packet_out #(
        .StreamBits(32),
        .Beats(Beats)
    ) u_block (
        .clk_i,
        .rst_ni        (rst_n),
        .epoch_i       (epoch),
        .tag_valid_i   (tag_q),
        .tag_ready_o   (tag_ready),
        .tag_i         ({14'd0, count_q, 14'd0, sequence_q}),
        .item_valid_i  (item_valid),
        .item_ready_o  (item_ready),
        .item_i        (item),
        .broken_valid_i(said_q),
        .broken_ready_o(broken_ready),
        .missing_i     ({14'd0, missing_q}),
        .m_valid_o     (m_valid),
        .m_ready_i     (m_ready),
        .m_data_o      (m_data),
        .m_last_o      (m_last),
        .m_near_o      (m_near),
        .m_item_o      (m_item)
    );
    stream_monitor #(
        .Width(34),
        .QuietValid(0)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(m_valid),
        .ready_i(m_ready),
        .data_i ({m_near, m_item, m_data}),
        .last_i (m_last)
    );

    // Tags and items that have gone in, packets that have come out, the beat of the current one;
    // items that have come out, the beat of the current one.
    logic [1:0] tags_q = '0, packets_q = '0;
    logic [2:0] items_q = '0, given_q = '0, waited_q = '0;
    logic [3:0] place_q = '0;
    logic beat_q = 1'b0;
    // The tracked packet and item.
    logic [1:0] its_count_q, its_missing_q;
    logic [1:0] its_sequence_q;
    logic [Bits-1:0] its_item_q, its_item;
    logic followed, of_item, whole_header;
    logic [3:0] item_beats;
    // An item of one beat goes through at once.
    assign its_item     = items_q == target_item ? item : its_item_q;
    assign followed     = packets_q == target_packet;
    assign item_beats   = 4'(Beats) * 4'(its_count_q - its_missing_q);
    assign of_item      = followed && place_q >= 4'd2 && place_q < 4'd2 + item_beats;
    assign whole_header = place_q >= 4'd2;

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        if (!rst_n) begin
            {tag_q, broken_q, said_q, offered_q, beat_q} <= '0;
            {tags_q, packets_q} <= '0;
            {place_q, items_q, given_q, owed_q, waited_q} <= '0;
        end else begin
            if (begins) begin
                tag_q      <= 1'b1;
                count_q    <= next_count;
                sequence_q <= next_sequence;
                missing_q  <= next_missing;
                broken_q   <= next_missing != '0;
                tags_q     <= tags_q + 2'd1;
                if (tags_q == target_packet) {its_count_q, its_missing_q, its_sequence_q} <= {next_count, next_missing, next_sequence};
            end else if (tag_ready) begin
                tag_q <= 1'b0;
            end
            if (broken_q && broken_begins) said_q <= 1'b1;
            if (said_q && broken_ready) {broken_q, said_q} <= '0;
            owed_q    <= owed_q + (begins ? 4'(next_count - next_missing) : 4'd0) - 4'(item_valid && item_ready);
            offered_q <= item_valid && !item_ready;
            item_q    <= item;
            if (item_valid && item_ready) begin
                items_q <= items_q + 3'd1;
                if (items_q == target_item) its_item_q <= item;
            end

            if (m_valid && m_ready) begin
                place_q   <= m_last ? '0 : place_q + 4'd1;
                packets_q <= packets_q + 2'(m_last);
                if (m_item) given_q <= given_q + 3'd1;
                if (m_item || m_last) beat_q <= 1'b0;
                else if (whole_header) beat_q <= !beat_q;
            end

            // No packet comes without its tag, and no item before it has gone in.
            if (m_valid) assert (packets_q != tags_q);
            if (m_valid && followed) begin
                if (place_q == 4'd0) assert (m_data == {epoch, 16'h4548} && !m_last);
                if (place_q == 4'd1) assert (m_data == {14'd0, its_count_q, 14'd0, its_sequence_q});
                if (of_item) begin
                    assert (m_item == (place_q[0] == 1'(Beats - 1) || Beats == 1));
                end else begin
                    assert (!m_item);
                end
                // A whole packet ends with its last item. A broken one has zeros after its items,
                // and another length.
                if (its_missing_q == '0) begin
                    assert (m_last == (place_q == 4'd1 + item_beats));
                end else if (place_q >= 4'd2 + item_beats) begin
                    assert (m_data == '0 && (!m_last || place_q != 4'd1 + 4'(Beats) * 4'(its_count_q)));
                end else begin
                    assert (!m_last);
                end
                assert (place_q <= 4'd3 + item_beats);
                // One more beat would make a cut packet look whole.
                if (place_q != 4'd0 && place_q < 4'd2 + item_beats && !m_last) assert (m_near == (place_q == 4'(Beats) * 4'(its_count_q)));
            end
            if (m_valid && of_item && given_q == target_item) assert (m_data == (beat_q ? its_item[Bits-1:Bits-32] : its_item[31:0]));
            // Nothing waits for ever: a header comes at once, a closing beat when all items have
            // gone.
            waited_q <= (m_valid || !(tag_q || said_q) || item_valid || owed_q != '0) ? '0 : waited_q + 3'd1;
            assert (waited_q <= 3'd3);
            cover (m_valid && m_ready && m_last && packets_q == 2'd1 && target_packet == 2'd1 && its_missing_q == 2'd1 && its_count_q == 2'd2);
            cover (m_valid && m_ready && m_last && packets_q == 2'd1 && target_packet == 2'd1 && its_missing_q == 2'd0 && its_count_q == 2'd2);
        end
    end
endmodule
