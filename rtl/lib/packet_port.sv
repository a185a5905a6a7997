// SPDX-License-Identifier: MIT OR Apache-2.0
// The registers of a port out of which packets go, and which a flush does not break: what is on
// offer stays until it is taken, and a packet that has begun is ended by a closing beat of zeros,
// by two if one would make it as long as a whole one (in_near_i: the next beat would end the
// packet).
//
// Latency 1 cycle; a beat every cycle; every output is a register, out_ready_i reaches none of them
// within the cycle. Beats that have left, and those that a flush drops, are cleared. closing_o is
// high until the last closing beat is on offer.
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

    // The beat on offer, or the last that was; the one behind it.
    beat_t offer_q, held_q, next;
    logic held_valid_q, next_valid, free, taken;
    // Whether the packet of the last beat on offer is still open, and one beat would end it;
    // closing beats to come.
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
                // It belongs to nothing that is counted any more.
                offer_q.item <= 1'b0;
            end
            // What came while the offer was not taken; what is held goes before.
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
