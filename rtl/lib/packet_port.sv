// SPDX-License-Identifier: MIT OR Apache-2.0
// The output registers of a packet port that stays consistent across a flush. An offered beat stays
// until it is accepted. A packet in progress is ended by a closing beat of zeros, or by two if one
// would give it its full length (in_near_i: the next beat would end the packet).
//
// Latency 1 cycle; a beat every cycle. All outputs come from registers, in_ready_o also from
// flush_i and the reset; out_ready_i reaches none within the cycle. Beats that have left, and those
// that a flush drops, are cleared. closing_o is high until the last closing beat is offered.
module packet_port #(
    parameter int unsigned Width = 64  // bits of a beat
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             flush_i,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,
    input  logic             in_last_i,
    input  logic             in_near_i,
    input  logic             in_item_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o,
    output logic             out_last_o,
    output logic             out_item_o,
    output logic             closing_o
);
    typedef struct packed {
        logic             last;
        logic             before_last;
        logic             item;
        logic [Width-1:0] data;
    } beat_t;

    // The offered beat, or the last one that was offered; and the beat behind it.
    beat_t offer_q, held_q, next;
    logic held_valid_q, next_valid, free, taken;
    // Whether the packet of the last offered beat is still open, whether one beat would end it, and
    // the number of closing beats left.
    logic open_q, near_q;
    logic [1:0] closing_q;

    assign closing_o = closing_q != '0;
    assign free = !out_valid_o || out_ready_i;
    assign in_ready_o = !held_valid_q && !closing_o && !flush_i && rst_ni;
    assign taken = in_valid_i && in_ready_o;

    always_comb begin
        next = '0;
        if (closing_o) begin
            next_valid = 1'b1;
            next.last = closing_q == 2'd1;
        end else if (held_valid_q) begin
            next_valid = 1'b1;
            next = held_q;
        end else begin
            next_valid = taken;
            if (taken) next = {in_last_i, in_near_i, in_item_i, in_data_i};
        end
        if (flush_i) begin
            next_valid = 1'b0;
            next = '0;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            out_valid_o  <= 1'b0;
            offer_q      <= '0;
            held_valid_q <= 1'b0;
            held_q       <= '0;
            open_q       <= 1'b0;
            near_q       <= 1'b0;
            closing_q    <= '0;
        end else begin
            if (free) begin
                out_valid_o <= next_valid;
                offer_q     <= next;
                if (next_valid) begin
                    open_q <= !next.last;
                    near_q <= next.before_last;
                end
            end else if (flush_i) begin
                // After a flush its item is no longer counted.
                offer_q.item <= 1'b0;
            end
            // Holds a beat that arrives while the offered one is not accepted. A held beat goes
            // first.
            held_valid_q <= !flush_i && !free && (held_valid_q || taken);
            if (flush_i || free) held_q <= '0;
            else if (taken) held_q <= next;
            if (flush_i) begin
                if (!closing_o && open_q) closing_q <= near_q ? 2'd2 : 2'd1;
            end else if (closing_o && free) begin
                closing_q <= closing_q - 2'd1;
            end
        end
    end

    assign out_data_o = offer_q.data;
    assign out_last_o = offer_q.last;
    assign out_item_o = offer_q.item;

    logic unused;
    assign unused = offer_q.before_last;
endmodule
