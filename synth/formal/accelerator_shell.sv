// SPDX-License-Identifier: MIT OR Apache-2.0
// Nothing leaves an accelerator_shell that was not asked for, whatever goes in, whenever it is
// reset or flushed, and however long anything has to wait. The harness parses the incoming packets
// itself.
//
// - Packets come out only for those of the current epoch, in order, each with its header. They
//   contain the answers of the design, in order, as many as there were items.
// - A packet that is broken or cut by a flush ends in beats of zeros and never has the right
//   length.
// - Every branch gets every item once, in order, and none before the host has said that the
//   constants are complete.
// - Constants change only as the host has written them, and never while an answer is owed.
// - A flush resets the design and makes a new epoch. Only the beat on offer survives it.
// - Both ports keep their protocols, through resets as well.
//
// Sizes: items and answers of 2 bits in beats of 32, so each in one beat, two branches, two tags,
// one optional constant of one word, packets of up to 3 items. Depth: 16 cycles from reset, 3 of
// which are the reset.
//
// Not proved here: items or answers of several beats (packet_in, packet_out); reads over AXI4-Lite,
// the interrupt and the counters (accelerator_registers, axil_port); that no output follows an
// input within the cycle; that a broken packet is ended at all. The depth is too small to see a
// packet that waits for its end for ever; packet_in and packet_out have proofs for that.
module formal (
    input logic clk_i
);
    (* anyseq *) logic [16:0] awaddr, araddr;
    (* anyseq *) logic awvalid, wvalid, bready, arvalid, rready, s_last, s_valid, m_ready, answer_offered, again;
    (* anyseq *) logic [31:0] wdata, s_data;
    (* anyseq *) logic [3:0] wstrb;
    (* anyseq *) logic [1:0] item_ready, answer;
    // The tracked packet and item.
    (* anyconst *) logic [2:0] target_packet, target_item;
    logic awready, wready, bvalid, arready, rvalid, irq, s_ready, m_last, m_valid, rst_n, inner_n, datapath_n;
    logic key_wipe, key_write, answer_valid, answer_ready;
    logic [1:0] bresp, rresp, item_valid, item;
    logic [31:0] rdata, m_data, key_data, key_complete;
    logic [15:0] index;
    logic [13:0] key_index;
    logic [1:0] started = '0;

    assign rst_n = started != 2'd0 && !again;
    always_ff @(posedge clk_i) if (started != 2'd3) started <= started + 2'd1;

    accelerator_shell #(
        .InBits     (2),
        .OutBits    (2),
        .StreamBits (32),
        .Branches   (2),
        .CountBits  (1),
        .Tags       (2),
        .RegionWords(320'd1),
        .Optional   (32'd1)
    ) u_block (
        .clk_i,
        .rst_ni         (rst_n),
        .axil_awaddr_i  (awaddr),
        .axil_awvalid_i (awvalid),
        .axil_awready_o (awready),
        .axil_wdata_i   (wdata),
        .axil_wstrb_i   (wstrb),
        .axil_wvalid_i  (wvalid),
        .axil_wready_o  (wready),
        .axil_bresp_o   (bresp),
        .axil_bvalid_o  (bvalid),
        .axil_bready_i  (bready),
        .axil_araddr_i  (araddr),
        .axil_arvalid_i (arvalid),
        .axil_arready_o (arready),
        .axil_rdata_o   (rdata),
        .axil_rresp_o   (rresp),
        .axil_rvalid_o  (rvalid),
        .axil_rready_i  (rready),
        .irq_o          (irq),
        .s_axis_tdata_i (s_data),
        .s_axis_tlast_i (s_last),
        .s_axis_tvalid_i(s_valid),
        .s_axis_tready_o(s_ready),
        .m_axis_tdata_o (m_data),
        .m_axis_tlast_o (m_last),
        .m_axis_tvalid_o(m_valid),
        .m_axis_tready_i(m_ready),
        .parameters_i   ('0),
        .index_o        (index),
        .value_i        ('0),
        .product_count_i('0),
        .rst_no         (inner_n),
        .datapath_rst_no(datapath_n),
        .key_wipe_o     (key_wipe),
        .key_write_o    (key_write),
        .key_index_o    (key_index),
        .key_data_o     (key_data),
        .key_complete_o (key_complete),
        .key_open_i     (1'b1),
        .item_valid_o   (item_valid),
        .item_ready_i   (item_ready),
        .item_o         (item),
        .answer_valid_i (answer_valid),
        .answer_ready_o (answer_ready),
        .answer_i       (answer)
    );
    stream_monitor #(
        .Width (32),
        .Settle(2)
    ) u_out (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(m_valid),
        .ready_i(m_ready),
        .data_i (m_data),
        .last_i (m_last)
    );

    axil_host #(
        .AddressBits(17),
        .Settle(2)
    ) u_host (
        .clk_i,
        .rst_ni   (rst_n),
        .awaddr_i (awaddr),
        .awvalid_i(awvalid),
        .awready_i(awready),
        .wdata_i  (wdata),
        .wstrb_i  (wstrb),
        .wvalid_i (wvalid),
        .wready_i (wready),
        .bresp_i  (bresp),
        .bvalid_i (bvalid),
        .bready_i (bready),
        .araddr_i (araddr),
        .arvalid_i(arvalid),
        .arready_i(arready),
        .rdata_i  (rdata),
        .rresp_i  (rresp),
        .rvalid_i (rvalid),
        .rready_i (rready)
    );

    // The inside is out of reset. Before the second edge nothing is known.
    logic live, flush, clear;
    assign live  = started[1] && inner_n;
    assign flush = live && !datapath_n;
    assign clear = !live || flush;

    // ---- The host: the last accepted write, whether the constants are complete, the epoch. ----

    logic [16:0] address_q;
    logic [35:0] data_q;
    logic control, said_q = 1'b0;
    logic [15:0] epoch_q = '0;
    assign control = address_q == 17'h10 && data_q[35:32] == 4'hf;
    always_ff @(posedge clk_i) begin
        if (!live) begin
            {address_q, data_q} <= '0;
            said_q  <= 1'b0;
            epoch_q <= '0;
        end else begin
            if (awvalid && awready) address_q <= awaddr;
            if (wvalid && wready) data_q <= {wstrb, wdata};
            if (control && data_q[0] && !data_q[2]) said_q <= 1'b1;
            else if (key_write || key_wipe) said_q <= 1'b0;
            if (flush) epoch_q <= epoch_q + 16'd1;
            if (key_write) assert (address_q == 17'h1_0000 && data_q == {4'hf, key_data} && key_index == '0);
            if (flush) assert ((control && (data_q[1] || data_q[2])) || key_wipe);
            if (key_wipe) assert (flush && ((control && data_q[2]) || (address_q == 17'h1_0000 && said_q)));
        end
        if (started[1] && !inner_n) assert (!datapath_n);
    end

    // ---- Packets in: the place of the next beat in its packet, and what the beat makes. ----

    typedef enum logic [1:0] {
        First,
        Second,
        Items,
        Rest
    } place_e;
    place_e at_q = First;
    logic ours_q, open_q = 1'b0;
    logic [1:0] left_q, count;
    logic step, makes_tag, makes_item, makes_broken;
    assign step  = s_valid && s_ready;
    assign count = s_data[17:16];
    always_comb if (at_q == Second) assume (s_data[31:18] == '0);
    always_comb begin
        {makes_tag, makes_item, makes_broken} = '0;
        if (step && at_q == Second) begin
            makes_tag    = ours_q && (count != '0 || s_last);
            makes_broken = ours_q && count != '0 && s_last;
        end
        if (step && at_q == Items) begin
            // A packet that continues where it should end is broken, and so is its last item.
            makes_item   = s_last || left_q != 2'd1;
            makes_broken = s_last != (left_q == 2'd1);
        end
    end

    always_ff @(posedge clk_i) begin
        if (!live) begin
            at_q   <= First;
            open_q <= 1'b0;
        end else if (flush) begin
            at_q <= open_q ? Rest : First;
        end else if (step) begin
            open_q <= !s_last;
            case (at_q)
                First: begin
                    at_q   <= s_last ? First : Second;
                    ours_q <= s_data == {epoch_q, 16'h4548};
                end
                Second: begin
                    at_q   <= s_last ? First : ours_q && count != '0 ? Items : Rest;
                    left_q <= count;
                end
                Items: begin
                    at_q   <= s_last ? First : left_q == 2'd1 ? Rest : Items;
                    left_q <= left_q - 2'd1;
                end
                default: at_q <= s_last ? First : Rest;
            endcase
        end
        if (started[1] && clear) assert (!s_ready);
    end

    // Packets accepted since the last flush: the items that each should have, those that it had,
    // and whether it is broken; all items.
    logic [2:0] tags_q = '0, newest;
    logic [1:0] counts_q[8], items_of_q[8];
    logic broken_q[8];
    logic [3:0] items_q = '0;
    logic [15:0] its_sequence_q;
    logic [1:0] its_item_q;
    assign newest = tags_q - 3'd1;
    always_ff @(posedge clk_i) begin
        if (clear) begin
            {tags_q, items_q} <= '0;
        end else begin
            if (makes_tag) begin
                counts_q[tags_q]   <= count;
                items_of_q[tags_q] <= '0;
                broken_q[tags_q]   <= makes_broken;
                tags_q <= tags_q + 3'd1;
                if (tags_q == target_packet) its_sequence_q <= s_data[15:0];
            end else if (makes_broken) begin
                broken_q[newest] <= 1'b1;
            end
            if (makes_item) begin
                items_of_q[newest] <= items_of_q[newest] + 2'd1;
                items_q <= items_q + 4'd1;
                if (items_q == 4'(target_item)) its_item_q <= s_data[1:0];
            end
        end
    end

    // ---- The design: items that each branch has accepted, answers given. ----

    logic [3:0] taken_q[2];
    logic [3:0] answers_q = '0, out_q = '0;
    logic [1:0] its_answer_q, past_answer_q;
    logic answer_waits_q = 1'b0;
    for (genvar k = 0; k < 2; k++) begin : gen_branch
        always_ff @(posedge clk_i) begin
            if (clear) taken_q[k] <= '0;
            else taken_q[k] <= taken_q[k] + 4'(item_valid[k] && item_ready[k]);
            if (live && item_valid[k]) begin
                assert (said_q && !key_write && !key_wipe);
                assert (taken_q[k] != items_q);
                if (taken_q[k] == 4'(target_item)) assert (item == its_item_q);
                // The other branch is not behind.
                assert (taken_q[k] == taken_q[1-k] || taken_q[k] + 4'd1 == taken_q[1-k]);
            end
            if (live && key_write) assert (taken_q[k] == out_q);
        end
        stream_monitor #(
            .Width(2),
            .QuietValid(0)
        ) u_items (
            .clk_i,
            .rst_ni (started[1] && datapath_n),
            .valid_i(item_valid[k]),
            .ready_i(item_ready[k]),
            .data_i (item),
            .last_i (1'b0)
        );
    end
    // An answer comes once every branch has its item, and then stays.
    assign answer_valid = answer_offered && answers_q != taken_q[0] && answers_q != taken_q[1];
    always_comb if (answer_waits_q) assume (answer_offered && answer == past_answer_q);
    always_ff @(posedge clk_i) begin
        answer_waits_q <= !clear && answer_valid && !answer_ready;
        past_answer_q  <= answer;
        if (clear) begin
            answers_q <= '0;
        end else if (answer_valid && answer_ready) begin
            answers_q <= answers_q + 4'd1;
            if (answers_q == 4'(target_item)) its_answer_q <= answer;
        end
    end

    // ---- Packets out: the current one, its current or next beat, and whether it was cut. ----

    logic [2:0] packets_q = '0, place_q = '0, length_q, length, waited_q = '0;
    logic cut_q = 1'b0, stale_q = 1'b0, was_cut_q = 1'b0;
    logic pop, is_open, whole, of_item, ours, waits, ends;
    assign pop     = m_valid && m_ready;
    assign is_open = m_valid ? !m_last : place_q != '0;
    // Its expected length; whether this beat would complete it; whether this beat is an answer.
    assign length  = cut_q ? length_q : 3'd2 + 3'(counts_q[packets_q]);
    assign whole   = place_q + 3'd1 == length;
    assign ours    = !cut_q && !stale_q;
    assign waits   = cut_q || answers_q != out_q || (packets_q != tags_q && (place_q == '0 || ends));
    assign ends    = place_q >= 3'd2 && broken_q[packets_q] && place_q - 3'd2 == 3'(items_of_q[packets_q]);
    assign of_item = ours && place_q >= 3'd2 && place_q - 3'd2 < 3'(items_of_q[packets_q]);

    always_ff @(posedge clk_i) begin
        if (!live) begin
            {packets_q, place_q, cut_q, stale_q, was_cut_q, waited_q} <= '0;
            out_q <= '0;
        end else begin
            if (pop) begin
                place_q <= m_last ? '0 : place_q + 3'd1;
                stale_q <= 1'b0;
                if (m_last) cut_q <= 1'b0;
                if (m_last && ours) packets_q <= packets_q + 3'd1;
                if (of_item) out_q <= out_q + 4'd1;
            end
            if (flush) begin
                packets_q <= '0;
                out_q     <= '0;
                stale_q   <= m_valid && !m_ready;
                if (is_open && !cut_q) begin
                    cut_q     <= 1'b1;
                    was_cut_q <= 1'b1;
                    length_q  <= length;
                end
            end

            if (m_valid && !stale_q) begin
                if (cut_q) begin
                    assert (m_data == '0 && !(m_last && whole));
                end else begin
                    assert (packets_q != tags_q);
                    if (place_q == 3'd0) assert (m_data == {epoch_q, 16'h4548});
                    if (place_q == 3'd1) begin
                        assert (m_data[31:16] == 16'(counts_q[packets_q]));
                        if (packets_q == target_packet) assert (m_data[15:0] == its_sequence_q);
                    end
                    if (of_item) begin
                        assert (out_q != answers_q && m_data[31:2] == '0);
                        if (out_q == 4'(target_item)) assert (m_data[1:0] == its_answer_q);
                    end
                    if (place_q < 3'd2 || of_item) begin
                        assert (m_last == whole);
                    end else begin
                        assert (broken_q[packets_q] && m_data == '0 && m_last == !whole);
                    end
                end
                // A broken packet has at most one beat more than a whole one; if cut there, at most
                // two.
                assert (place_q <= length + 3'(cut_q));
            end
            // Nothing waits for ever: the next packet, an answer, the end of a cut or broken
            // packet.
            waited_q <= (m_valid || !waits) ? '0 : waited_q + 3'd1;
            assert (waited_q <= 3'd4);
            cover (pop && of_item && m_last && place_q == 3'd2);
            cover (pop && cut_q && !stale_q && m_last);
            cover (pop && ours && place_q == 3'd3 && m_last && broken_q[packets_q]);
            // An answer in a new epoch, after a packet was cut.
            cover (pop && of_item && epoch_q == 16'd1);
            cover (m_valid && ours && epoch_q == 16'd1 && was_cut_q);
            cover (key_write);
            cover (key_wipe && taken_q[0] != out_q);
        end
    end
endmodule
