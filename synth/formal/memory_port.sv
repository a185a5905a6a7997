// SPDX-License-Identifier: MIT OR Apache-2.0
// Whatever a memory does, and whenever it is reset or cleared, a memory_port keeps AXI4's rules:
//
// - Every requested word is requested from the memory at its address, once and in order, and comes
//   back as the memory gave it. The last word of a request is marked.
// - Every word that came is written at the address of its request, with strobes.
// - A request is done once, when all of its words are in memory, and not before.
// - The error is the first fault of the reads, or else that of the writes, in the same cycle.
// - Nothing begins after a fault, and nothing requested before a clear comes out after it.
// - The port is idle when nothing is in progress.
//
// Sizes: words of 8 bits, addresses of 9, requests of up to 3 words, bursts of 2, 2 bursts in
// progress, room for 2 words, silence after 4 cycles. Depth: 15 cycles from reset, 5 of which wipe
// the word memories. Not within these: a word that is read after a clear, and bursts that would
// cross 4 KiB (axi4_bursts has a proof that none does). Memories may do anything, except where
// assumptions say what they keep.
module formal (
    input logic clk_i
);
    localparam logic [2:0] Timeout = 3'd4;
    (* anyseq *) logic again, clear, rd_req_valid, rd_ready, wr_req_valid, wr_valid;
    (* anyseq *) logic arready, rid, rlast, rvalid, awready, wready, bid, bvalid;
    (* anyseq *) logic [8:0] rd_addr, wr_addr;
    (* anyseq *) logic [1:0] rd_count, wr_count, rresp, bresp;
    (* anyseq *) logic [7:0] wr_data, rdata;
    // Whether the memory keeps the protocol, of reads and of writes; the tracked word and request.
    (* anyconst *) logic keeps_read, keeps_write;
    (* anyconst *) logic [2:0] target, target_request;
    logic idle, rd_req_ready, rd_valid, rd_last, wr_req_ready, wr_ready, wr_done, rst_n;
    logic arid, arvalid, rready, awid, awvalid, wvalid, wlast, wstrb, bready;
    logic [3:0] error;
    logic [7:0] rd_data, arlen, awlen, wdata;
    logic [8:0] araddr, awaddr;
    logic [2:0] arsize, awsize;
    logic [1:0] arburst, awburst;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    memory_port #(
        .Width(8),
        .AddrWidth(9),
        .CountWidth(2),
        .Beats(2),
        .Bursts(2),
        .Depth(2),
        .Timeout(32'(Timeout))
    ) u_block (
        .clk_i,
        .rst_ni         (rst_n),
        .clear_i        (clear),
        .idle_o         (idle),
        .error_o        (error),
        .rd_req_valid_i (rd_req_valid),
        .rd_req_ready_o (rd_req_ready),
        .rd_req_addr_i  (rd_addr),
        .rd_req_count_i (rd_count),
        .rd_valid_o     (rd_valid),
        .rd_ready_i     (rd_ready),
        .rd_data_o      (rd_data),
        .rd_last_o      (rd_last),
        .wr_req_valid_i (wr_req_valid),
        .wr_req_ready_o (wr_req_ready),
        .wr_req_addr_i  (wr_addr),
        .wr_req_count_i (wr_count),
        .wr_valid_i     (wr_valid),
        .wr_ready_o     (wr_ready),
        .wr_data_i      (wr_data),
        .wr_done_o      (wr_done),
        .m_axi_arid_o   (arid),
        .m_axi_araddr_o (araddr),
        .m_axi_arlen_o  (arlen),
        .m_axi_arsize_o (arsize),
        .m_axi_arburst_o(arburst),
        .m_axi_arvalid_o(arvalid),
        .m_axi_arready_i(arready),
        .m_axi_rid_i    (rid),
        .m_axi_rdata_i  (rdata),
        .m_axi_rresp_i  (rresp),
        .m_axi_rlast_i  (rlast),
        .m_axi_rvalid_i (rvalid),
        .m_axi_rready_o (rready),
        .m_axi_awid_o   (awid),
        .m_axi_awaddr_o (awaddr),
        .m_axi_awlen_o  (awlen),
        .m_axi_awsize_o (awsize),
        .m_axi_awburst_o(awburst),
        .m_axi_awvalid_o(awvalid),
        .m_axi_awready_i(awready),
        .m_axi_wdata_o  (wdata),
        .m_axi_wstrb_o  (wstrb),
        .m_axi_wlast_o  (wlast),
        .m_axi_wvalid_o (wvalid),
        .m_axi_wready_i (wready),
        .m_axi_bid_i    (bid),
        .m_axi_bresp_i  (bresp),
        .m_axi_bvalid_i (bvalid),
        .m_axi_bready_o (bready)
    );
    stream_monitor #(
        .Width(17)
    ) u_ar (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(arvalid),
        .ready_i(arready),
        .data_i ({arlen, araddr}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(17)
    ) u_aw (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(awvalid),
        .ready_i(awready),
        .data_i ({awlen, awaddr}),
        .last_i (1'b0)
    );
    stream_monitor #(
        .Width(9)
    ) u_w (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(wvalid),
        .ready_i(wready),
        .data_i ({wstrb, wdata}),
        .last_i (wlast)
    );
    stream_monitor #(
        .Width(8)
    ) u_words (
        .clk_i,
        .rst_ni (rst_n && !clear),
        .valid_i(rd_valid),
        .ready_i(rd_ready),
        .data_i (rd_data),
        .last_i (rd_last)
    );
    // No empty requests.
    always_comb assume (rd_count != '0 && wr_count != '0);

    // The fault that is recorded next: the first one, unless a protocol violation follows one that
    // is none.
    function automatic logic [2:0] noted(input logic [2:0] old, input logic [2:0] now, input logic forget);
        noted = old;
        if (old == axi4_pkg::Sound || (forget && old < axi4_pkg::Misplaced)) noted = now;
        else if (old != axi4_pkg::Misplaced && now >= axi4_pkg::Misplaced) noted = now;
    endfunction

    // ---- Reads. ----

    // Bursts whose address was accepted and whose last beat came, with their lengths, and the next
    // beat.
    logic [2:0] r_asked_q = '0, r_given_q = '0, r_quiet_q = '0, r_fault_q = '0, r_now;
    logic r_beat_q = 1'b0, r_drain_q = 1'b0, ar_waits_q = 1'b0, r_stopped_q = 1'b0;
    logic r_lens_q[8];
    // Words requested, requested from the memory, received from it and delivered; the tracked
    // word's address and value.
    logic [4:0] rd_words_q = '0, rd_asked_q = '0, rd_came_q = '0, rd_gave_q = '0;
    logic [8:0] rd_place_q;
    logic [7:0] rd_word_q;
    logic rd_final_q;
    logic r_awaited, r_ends, r_busy, r_answered, r_moved;
    assign r_awaited  = r_asked_q != r_given_q;
    assign r_busy     = arvalid || r_awaited;
    assign r_ends     = r_beat_q == r_lens_q[r_given_q];
    assign r_answered = rvalid && rready;
    assign r_moved    = r_answered || (arvalid && arready);
    always_comb begin
        r_now = axi4_pkg::Sound;
        if (r_answered) begin
            if (rresp == 2'b01) r_now = axi4_pkg::Unasked;
            if (rresp == 2'b10) r_now = axi4_pkg::Refused;
            if (rresp == 2'b11) r_now = axi4_pkg::Nowhere;
            if (rlast != r_ends) r_now = axi4_pkg::Misplaced;
            if (!r_awaited || rid) r_now = axi4_pkg::Unasked;
        end else if (r_busy && !r_moved && r_quiet_q == Timeout - 3'd1) begin
            r_now = axi4_pkg::Silent;
        end
        if (keeps_read) assume (!rvalid || (r_awaited && rlast == r_ends && !rid && rresp == 2'b00));
    end

    always_ff @(posedge clk_i) begin
        ar_waits_q  <= rst_n && arvalid && !arready;
        r_stopped_q <= rst_n && (r_fault_q != axi4_pkg::Sound || clear || r_drain_q);
        if (!rst_n) begin
            {r_asked_q, r_given_q, r_quiet_q, r_fault_q, r_beat_q, r_drain_q} <= '0;
        end else begin
            if (arvalid && arready) begin
                r_lens_q[r_asked_q] <= arlen[0];
                r_asked_q <= r_asked_q + 3'd1;
            end
            if (r_answered && r_awaited) begin
                r_beat_q <= !r_ends;
                if (r_ends) r_given_q <= r_given_q + 3'd1;
            end
            r_quiet_q <= (!r_busy || r_moved) ? 3'd0 : r_quiet_q + 3'(r_quiet_q != Timeout - 3'd1);
            r_fault_q <= noted(r_fault_q, r_now, clear);
            r_drain_q <= clear || (r_drain_q && r_busy);
        end

        if (!rst_n || clear || r_drain_q) begin
            {rd_words_q, rd_asked_q, rd_came_q, rd_gave_q} <= '0;
        end else begin
            if (rd_req_valid && rd_req_ready) begin
                rd_words_q <= rd_words_q + 5'(rd_count);
                if (5'(target) >= rd_words_q && 5'(target) < rd_words_q + 5'(rd_count)) begin
                    rd_place_q <= rd_addr + 9'(5'(target) - rd_words_q);
                    rd_final_q <= 5'(target) + 5'd1 == rd_words_q + 5'(rd_count);
                end
            end
            if (arvalid && arready) rd_asked_q <= rd_asked_q + 5'(arlen) + 5'd1;
            if (r_answered && r_now == axi4_pkg::Sound && r_fault_q == axi4_pkg::Sound) begin
                rd_came_q <= rd_came_q + 5'd1;
                if (rd_came_q == 5'(target)) rd_word_q <= rdata;
            end
            if (rd_valid && rd_ready) rd_gave_q <= rd_gave_q + 5'd1;
        end

        if (rst_n) begin
            if (arvalid) begin
                // Of the bus's width, within a block of two words.
                assert (arburst == 2'b01 && arsize == 3'd0 && !arid && arlen <= 8'd1 && !(arlen[0] && araddr[0]));
                // It begins while there is no fault, and only if requested: in order, at its
                // address. A waiting one stays when all is cleared.
                assert (ar_waits_q || !r_stopped_q);
                if (!r_drain_q) begin
                    assert (rd_asked_q + 5'(arlen) < rd_words_q);
                    if (5'(target) == rd_asked_q) assert (araddr == rd_place_q);
                    if (5'(target) == rd_asked_q + 5'd1 && arlen[0]) assert (araddr + 9'd1 == rd_place_q);
                end
            end
            // There is room for all that was requested.
            assert (r_asked_q - r_given_q <= 3'd2);
            assert (rd_asked_q - rd_gave_q <= 5'd2);
            if (r_drain_q || r_fault_q != axi4_pkg::Sound) assert (!rd_req_ready);
            if (rd_valid) begin
                assert (rd_gave_q != rd_came_q);
                if (rd_gave_q == 5'(target)) assert (rd_data == rd_word_q && rd_last == rd_final_q);
            end
        end
    end

    // ---- Writes. ----

    // Bursts whose address was accepted, whose last beat was accepted, and that were answered; the
    // next beat.
    logic [2:0] w_asked_q = '0, w_sent_q = '0, w_answered_q = '0, w_quiet_q = '0, w_fault_q = '0, w_now;
    logic w_beat_q = 1'b0, w_drain_q = 1'b0, aw_waits_q = 1'b0, w_waits_q = 1'b0, w_stopped_q = 1'b0;
    logic w_lens_q[8];
    // Words announced, received, with their address given, written, and known to be written;
    // requests received and done.
    logic [4:0] wr_words_q = '0, wr_came_q = '0, wr_asked_q = '0, wr_went_q = '0, wr_kept_q = '0, wr_end_q;
    logic [2:0] wr_requests_q = '0, wr_done_q = '0;
    logic wr_faulty_q = 1'b0;
    logic [8:0] wr_place_q;
    logic [7:0] wr_word_q;
    logic w_awaited, w_busy, w_answered, w_moved;
    assign w_awaited  = w_sent_q != w_answered_q;
    assign w_busy     = awvalid || w_asked_q != w_answered_q;
    assign w_answered = bvalid && bready;
    assign w_moved    = w_answered || (awvalid && awready) || (wvalid && wready);
    always_comb begin
        w_now = axi4_pkg::Sound;
        if (w_answered) begin
            if (bresp == 2'b10) w_now = axi4_pkg::Refused;
            if (bresp == 2'b11) w_now = axi4_pkg::Nowhere;
            if (bresp == 2'b01 || !w_awaited || bid) w_now = axi4_pkg::Unasked;
        end else if (w_busy && !w_moved && w_quiet_q == Timeout - 3'd1) begin
            w_now = axi4_pkg::Silent;
        end
        if (keeps_write) assume (!bvalid || (w_awaited && !bid && bresp == 2'b00));
    end

    always_ff @(posedge clk_i) begin
        aw_waits_q  <= rst_n && awvalid && !awready;
        w_waits_q   <= rst_n && wvalid && !wready;
        w_stopped_q <= rst_n && (w_fault_q != axi4_pkg::Sound || clear || w_drain_q);
        if (!rst_n) begin
            {w_asked_q, w_sent_q, w_answered_q, w_quiet_q, w_fault_q, w_beat_q, w_drain_q} <= '0;
        end else begin
            if (awvalid && awready) begin
                w_lens_q[w_asked_q] <= awlen[0];
                w_asked_q <= w_asked_q + 3'd1;
            end
            if (wvalid && wready) begin
                w_beat_q <= !wlast;
                if (wlast) w_sent_q <= w_sent_q + 3'd1;
            end
            if (w_answered && w_awaited) w_answered_q <= w_answered_q + 3'd1;
            w_quiet_q <= (!w_busy || w_moved) ? 3'd0 : w_quiet_q + 3'(w_quiet_q != Timeout - 3'd1);
            w_fault_q <= noted(w_fault_q, w_now, clear);
            w_drain_q <= clear || (w_drain_q && w_busy);
        end

        if (!rst_n || clear || w_drain_q) begin
            {wr_words_q, wr_came_q, wr_asked_q, wr_went_q, wr_kept_q} <= '0;
            {wr_requests_q, wr_done_q, wr_faulty_q} <= '0;
        end else begin
            if (wr_req_valid && wr_req_ready) begin
                wr_words_q    <= wr_words_q + 5'(wr_count);
                wr_requests_q <= wr_requests_q + 3'd1;
                if (5'(target) >= wr_words_q && 5'(target) < wr_words_q + 5'(wr_count)) wr_place_q <= wr_addr + 9'(5'(target) - wr_words_q);
                if (wr_requests_q == target_request) wr_end_q <= wr_words_q + 5'(wr_count);
            end
            if (wr_valid && wr_ready) begin
                wr_came_q <= wr_came_q + 5'd1;
                if (wr_came_q == 5'(target)) wr_word_q <= wr_data;
            end
            if (awvalid && awready) wr_asked_q <= wr_asked_q + 5'(awlen) + 5'd1;
            if (wvalid && wready) wr_went_q <= wr_went_q + 5'd1;
            if (w_answered && w_awaited) wr_kept_q <= wr_kept_q + 5'(w_lens_q[w_answered_q]) + 5'd1;
            wr_done_q   <= wr_done_q + 3'(wr_done);
            wr_faulty_q <= wr_faulty_q || w_now != axi4_pkg::Sound || w_fault_q != axi4_pkg::Sound;
        end

        if (rst_n) begin
            if (awvalid) begin
                assert (awburst == 2'b01 && awsize == 3'd0 && !awid && awlen <= 8'd1 && !(awlen[0] && awaddr[0]));
                assert (aw_waits_q || !w_stopped_q);
                if (!w_drain_q) begin
                    // All of its words are here.
                    assert (wr_asked_q + 5'(awlen) < wr_words_q && wr_asked_q + 5'(awlen) < wr_came_q);
                    if (5'(target) == wr_asked_q) assert (awaddr == wr_place_q);
                    if (5'(target) == wr_asked_q + 5'd1 && awlen[0]) assert (awaddr + 9'd1 == wr_place_q);
                end
            end
            assert (w_asked_q - w_answered_q <= 3'd2);
            if (w_drain_q || w_fault_q != axi4_pkg::Sound) assert (!wr_req_ready);
            if (wvalid) begin
                // To a burst whose address was accepted, as long as it said.
                assert (w_asked_q != w_sent_q && wlast == (w_beat_q == w_lens_q[w_sent_q]));
                if (w_drain_q) begin
                    // Nothing more is written.
                    if (!w_waits_q) assert (!wstrb && wdata == '0);
                end else begin
                    assert (wstrb && wr_went_q < wr_asked_q);
                    if (wr_went_q == 5'(target)) assert (wdata == wr_word_q);
                end
            end
            if (wr_done) assert (!w_drain_q && w_fault_q == axi4_pkg::Sound && wr_done_q != wr_requests_q);
            if (wr_done && wr_done_q == target_request) assert (wr_kept_q == wr_end_q);
            // Every request is done as soon as its words are in memory.
            if (!w_drain_q && !wr_faulty_q && wr_requests_q > target_request && wr_kept_q >= wr_end_q) assert (wr_done || wr_done_q > target_request);
        end
    end

    // ---- Both. ----

    always_ff @(posedge clk_i) begin
        if (rst_n) begin
            assert (error == (r_fault_q != axi4_pkg::Sound ? {1'b0, r_fault_q} : {w_fault_q != axi4_pkg::Sound, w_fault_q}));
            assert (idle == !(r_busy || r_drain_q || w_busy || w_drain_q));
            // A memory that keeps the protocol can only be silent.
            if (keeps_read && keeps_write) assert (error == 4'd0 || error == {1'b0, axi4_pkg::Silent} || error == {1'b1, axi4_pkg::Silent});
            cover (rd_valid && rd_ready && rd_last && rd_gave_q == 5'd1 && target == 3'd1 && keeps_read);
            cover (wr_done && wr_done_q == 3'd1 && target_request == 3'd1 && keeps_write);
            cover (error == {1'b1, axi4_pkg::Refused});
            cover (error == {1'b0, axi4_pkg::Silent} && keeps_read && keeps_write);
            cover (r_drain_q && r_answered && w_drain_q && wvalid && wready && !wstrb);
        end
    end
endmodule
