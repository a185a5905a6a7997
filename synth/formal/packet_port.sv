// SPDX-License-Identifier: MIT OR Apache-2.0
// A packet_port passes beats on in order. A packet cut by a flush ends in beats of zeros and is
// never as long as a whole one.
module formal (
    input logic clk_i
);
    (* anyconst *) logic [2:0] length, target;
    (* anyseq *) logic in_valid, out_ready, flush, again, in_item;
    (* anyseq *) logic [1:0] in_data;
    logic in_ready, in_last, in_near, out_valid, out_last, out_item, closing, rst_n;
    logic [1:0] out_data;
    logic started = 1'b0;

    assign rst_n = started && !again;

    packet_port #(
        .Width(2)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .flush_i    (flush),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_data_i  (in_data),
        .in_last_i  (in_last),
        .in_near_i  (in_near),
        .in_item_i  (in_item),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out_data),
        .out_last_o (out_last),
        .out_item_o (out_item),
        .closing_o  (closing)
    );
    stream_monitor #(
        .Width(2)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i (out_data),
        .last_i (out_last)
    );

    // Packets of one length go in. The first beat after a flush begins one.
    logic [2:0] at_q = '0;
    always_comb assume (length != 3'd0 && length <= 3'd4);
    assign in_last = at_q + 3'd1 == length;
    assign in_near = at_q + 3'd2 == length;

    // Beats that have gone in and are to come out, and those that have; the beats of the packet at
    // the output. In a cut packet, beats that are not on offer at the flush are zeros.
    logic [2:0] in_q = '0, out_q = '0, place_q = '0;
    logic cut_q = 1'b0, zeros_q = 1'b0, forgotten_q = 1'b0, item_item_q;
    logic [1:0] item_q;
    logic push, pop, waits, is_open;
    assign push    = in_valid && in_ready;
    assign pop     = out_valid && out_ready;
    assign waits   = out_valid && !out_ready;
    assign is_open = out_valid ? !out_last : place_q != 3'd0;
    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        if (!rst_n) begin
            {at_q, in_q, out_q, place_q} <= '0;
            {cut_q, zeros_q, forgotten_q} <= '0;
        end else begin
            if (push) begin
                at_q <= in_last ? '0 : at_q + 3'd1;
                in_q <= in_q + 3'd1;
                if (in_q == target) {item_item_q, item_q} <= {in_item, in_data};
            end
            if (pop) begin
                place_q     <= out_last ? '0 : place_q + 3'd1;
                forgotten_q <= 1'b0;
                if (!zeros_q) out_q <= out_q + 3'd1;
                if (cut_q) {cut_q, zeros_q} <= out_last ? 2'b00 : 2'b11;
            end
            if (flush) begin
                // What is on offer stays; the rest is dropped.
                at_q        <= '0;
                in_q        <= zeros_q ? out_q : out_q + 3'(out_valid);
                forgotten_q <= waits;
                if (is_open && !cut_q) {cut_q, zeros_q} <= {1'b1, !waits};
            end

            assert (!(in_ready && flush));
            assert (in_q - out_q <= 3'd2);
            // A beat inside is offered at once, a closing beat a cycle after the flush.
            assert (out_valid || in_q == out_q);
            assert (!closing || cut_q);
            assert (out_valid || closing || !cut_q);
            if (out_valid) begin
                assert (zeros_q || in_q != out_q);
                if (zeros_q) begin
                    assert (out_data == 2'd0 && !out_item);
                end else if (out_q == target) begin
                    assert (out_data == item_q && out_item == (item_item_q && !forgotten_q));
                end
                // A whole packet keeps its length. A cut one has another, and at most one beat
                // more.
                if (!cut_q) begin
                    assert (out_last == (place_q + 3'd1 == length));
                end else if (out_last) begin
                    assert (place_q + 3'd1 != length);
                end
                assert (place_q <= length);
            end
            cover (pop && cut_q && out_last && place_q == 3'd4);
            cover (pop && out_q == 3'd4 && !cut_q && target == 3'd4);
        end
    end
endmodule
