// SPDX-License-Identifier: MIT OR Apache-2.0
// A pipeline between two streams whose items come in blocks, some of them only in the lower half of
// a block's places, and whose places count on without gaps.
//
// A block begins when there is an item at place 0; from then on every cycle with en_o is a place.
// Within the lower half the pipeline waits for items; in the upper half it takes none (take_o says
// where it does). While there is none to begin with, blocks without items go through until those
// before them are out; one that comes meanwhile begins with the next block. What comes out belongs
// to a block that is Latency places behind: valid where that has items.
module folded_flow_control #(
    parameter int unsigned Log     = 12,   // 2^Log places a block, at least 1
    parameter int unsigned Latency = 8000  // from a place in to the same place out, at least 1
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           in_valid_i,
    output logic           in_ready_o,
    output logic           take_o,       // an item goes in; otherwise a zero
    output logic           en_o,
    output logic           out_valid_o,
    input  logic           out_ready_i,
    output logic [Log-1:0] out_place_o
);
    if (Log < 1 || Latency < 1) $error("folded_flow_control: Log and Latency must be at least 1");

    // Blocks that have begun since the one that is going out, at its place 0: one more from some
    // place on.
    localparam int unsigned Behind = (Latency - 1) >> Log;
    localparam int unsigned More = (Behind + 1 << Log) + 1 - Latency;

    logic [Log-1:0] place;
    logic [Behind+1:0] live_q;
    logic begins, lower, wanted, idle, free, live;
    logic given_q;  // what is at the end has been taken, and all waits for an item at the beginning

    place_counter #(
        .Count(1 << Log)
    ) u_in (
        .clk_i,
        .rst_ni,
        .en_i   (en_o),
        .place_o(place)
    );

    place_counter #(
        .Count(1 << Log),
        .Start(Latency)
    ) u_out (
        .clk_i,
        .rst_ni,
        .en_i   (en_o),
        .place_o(out_place_o)
    );

    assign begins      = place == '0;
    assign lower       = !place[Log-1];
    assign wanted      = lower && (begins || live_q[0]);
    assign idle        = begins && !in_valid_i && live_q == '0;
    assign free        = !out_valid_o || out_ready_i;
    assign en_o        = free && !idle && (!wanted || begins || in_valid_i);
    assign in_ready_o  = wanted && free;
    assign take_o      = wanted && in_valid_i;
    assign live        = (Log + 1)'(out_place_o) < (Log + 1)'(More) ? live_q[Behind] : live_q[Behind+1];
    assign out_valid_o = live && !given_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            live_q  <= '0;
            given_q <= 1'b0;
        end else begin
            if (en_o && begins) live_q <= {live_q[Behind:0], in_valid_i};
            given_q <= !en_o && (given_q || (out_valid_o && out_ready_i));
        end
    end
endmodule
