// SPDX-License-Identifier: MIT OR Apache-2.0
// A packet_in outputs the tag of every packet with the mark and the epoch once, and its items in
// order. If the packet is too short or too long, the item that shows this and everything after it
// are left out, and packet_in says how many items are missing. The harness parses the same packets
// at the input.
module formal #(
    parameter int unsigned Whole = 0  // 1: an item is a beat
) (
    input logic clk_i
);
    localparam int unsigned Beats = Whole == 1 ? 1 : 2;
    localparam int unsigned Bits = 32 * Beats;
    (* anyseq *) logic s_valid, s_last, tag_ready, item_ready, broken_ready, flush, again;
    (* anyseq *) logic [31:0] s_data;
    (* anyconst *) logic [15:0] epoch;
    (* anyconst *) logic [1:0] target;
    logic s_ready, tag_valid, item_valid, broken_valid, foreign, broken, discarded, rst_n;
    logic [31:0] tag;
    logic [15:0] missing;
    logic [Bits-1:0] item;
    logic started = 1'b0;

    assign rst_n = started && !again;

    packet_in #(
        .StreamBits(32),
        .Beats(Beats)
    ) u_block (
        .clk_i,
        .rst_ni        (rst_n),
        .flush_i       (flush),
        .epoch_i       (epoch),
        .s_valid_i     (s_valid),
        .s_ready_o     (s_ready),
        .s_data_i      (s_data),
        .s_last_i      (s_last),
        .tag_valid_o   (tag_valid),
        .tag_ready_i   (tag_ready),
        .tag_o         (tag),
        .item_valid_o  (item_valid),
        .item_ready_i  (item_ready),
        .item_o        (item),
        .broken_valid_o(broken_valid),
        .broken_ready_i(broken_ready),
        .missing_o     (missing),
        .foreign_o     (foreign),
        .broken_o      (broken),
        .discarded_o   (discarded)
    );
    stream_monitor #(
        .Width(32),
        .QuietValid(0)
    ) u_tags (
        .clk_i,
        .rst_ni (rst_n && !flush),
        .valid_i(tag_valid),
        .ready_i(tag_ready),
        .data_i (tag),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(Bits),
        .QuietValid(0)
    ) u_items (
        .clk_i,
        .rst_ni (rst_n && !flush),
        .valid_i(item_valid),
        .ready_i(item_ready),
        .data_i (item),
        .last_i (1'b0)
    );

    // The place of the next beat in its packet: header (two beats), items, or what is dropped.
    typedef enum logic [1:0] {
        First,
        Second,
        Items,
        Rest
    } place_e;
    place_e place_q = First;
    logic ours_q, beat_q, open_q = 1'b0;
    logic [31:0] low_q;
    logic [15:0] left_q;
    // What the incoming beat makes: a tag, an item, a broken packet and its missing items, a
    // foreign packet.
    logic step, makes_tag, makes_item, makes_broken, makes_foreign, final_beat;
    logic [15:0] count, lacks;
    assign step       = s_valid && s_ready;
    assign count      = s_data[31:16];
    assign final_beat = Beats == 1 || beat_q;
    // Few items, with two bits in each beat.
    always_comb if (place_q == Second) assume (count < 16'd4);
    always_comb if (place_q == Items) assume (s_data < 32'd4);
    always_comb begin
        {makes_tag, makes_item, makes_broken, makes_foreign} = '0;
        lacks = left_q;
        if (step) begin
            case (place_q)
                First: makes_foreign = s_last;
                Second: begin
                    makes_tag     = ours_q && (count != '0 || s_last);
                    makes_broken  = ours_q && count != '0 && s_last;
                    makes_foreign = !ours_q;
                    lacks         = count;
                end
                Items: begin
                    // A packet that continues where it should end is broken, and so is its last
                    // item.
                    makes_item   = final_beat && (s_last || left_q != 16'd1);
                    makes_broken = s_last ? !(final_beat && left_q == 16'd1) : final_beat && left_q == 16'd1;
                    lacks        = left_q - 16'(makes_item);
                end
                default: ;
            endcase
        end
    end

    // How many of each have been made and output since the last flush, and the tracked one.
    logic [1:0] tags_q = '0, items_q = '0, breaks_q = '0, foreigns_q = '0;
    logic [1:0] tags_given_q = '0, items_given_q = '0, breaks_given_q = '0, foreigns_given_q = '0;
    logic [2:0] waited_q = '0;
    logic [31:0] its_tag_q;
    logic [Bits-1:0] its_item_q;
    logic [15:0] its_lacks_q;
    logic pending;
    assign pending = tags_q != tags_given_q || items_q != items_given_q || breaks_q != breaks_given_q;

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        if (!rst_n) begin
            place_q <= First;
            open_q  <= 1'b0;
        end else if (flush) begin
            place_q <= open_q ? Rest : First;
        end else if (step) begin
            open_q <= !s_last;
            low_q  <= s_data;
            case (place_q)
                First: begin
                    place_q <= s_last ? First : Second;
                    ours_q  <= s_data == {epoch, 16'h4548};
                end
                Second: begin
                    place_q <= s_last ? First : ours_q && count != '0 ? Items : Rest;
                    left_q  <= count;
                    beat_q  <= 1'b0;
                end
                Items: begin
                    place_q <= s_last ? First : final_beat && left_q == 16'd1 ? Rest : Items;
                    beat_q  <= !beat_q;
                    if (final_beat) left_q <= left_q - 16'd1;
                end
                default: place_q <= s_last ? First : Rest;
            endcase
        end

        if (!rst_n || flush) begin
            {tags_q, items_q, breaks_q, foreigns_q} <= '0;
            {tags_given_q, items_given_q, breaks_given_q, foreigns_given_q, waited_q} <= '0;
        end else begin
            tags_q     <= tags_q + 2'(makes_tag);
            items_q    <= items_q + 2'(makes_item);
            breaks_q   <= breaks_q + 2'(makes_broken);
            foreigns_q <= foreigns_q + 2'(makes_foreign);
            if (makes_tag && tags_q == target) its_tag_q <= s_data;
            if (makes_item && items_q == target) its_item_q <= Beats == 1 ? Bits'(s_data) : Bits'({s_data, low_q});
            if (makes_broken && breaks_q == target) its_lacks_q <= lacks;

            tags_given_q     <= tags_given_q + 2'(tag_valid && tag_ready);
            items_given_q    <= items_given_q + 2'(item_valid && item_ready);
            breaks_given_q   <= breaks_given_q + 2'(broken_valid && broken_ready);
            foreigns_given_q <= foreigns_given_q + 2'(foreign);
            if (tag_valid) begin
                assert (tags_given_q != tags_q && (tags_given_q != target || tag == its_tag_q));
                // The packets before it have been handled.
                assert (!broken_valid);
            end
            if (item_valid) assert (items_given_q != items_q && (items_given_q != target || item == its_item_q));
            if (broken_valid) assert (breaks_given_q != breaks_q && (breaks_given_q != target || missing == its_lacks_q));
            if (foreign) assert (foreigns_given_q != foreigns_q);
            assert (foreigns_q - foreigns_given_q <= 2'd2);
            // Nothing waits for ever.
            waited_q <= (!pending || tag_valid || item_valid || broken_valid) ? '0 : waited_q + 3'd1;
            assert (waited_q <= 3'd3);
            cover (item_valid && item_ready && items_given_q == 2'd1 && tags_q == 2'd2 && target == 2'd1);
            cover (broken_valid && broken_ready && missing == 16'd1 && items_given_q == 2'd1);
        end
        if (rst_n) assert (!(s_ready && flush));
    end
endmodule
