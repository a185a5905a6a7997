// SPDX-License-Identifier: MIT OR Apache-2.0
// Flow control of a pipeline between two streams of blocks. Input items occupy only the lower half
// of a block's places, and places advance without gaps.
//
// A block begins with an item at place 0. From then on, every cycle with en_o is a place. In the
// lower half, the pipeline waits for items. In the upper half, it accepts none (take_o marks
// accepted items). If no item arrives at place 0, blocks without items pass through until the
// blocks before them have left. An item that arrives during such a block begins the next one. The
// output belongs to the block Latency places earlier, and is valid if that block has items.
module folded_flow_control #(
    parameter int unsigned Log     = 12,   // 2^Log places a block, at least 1
    parameter int unsigned Latency = 8000  // places from input to output, at least 1
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           in_valid_i,
    output logic           in_ready_o,
    output logic           take_o,       // an item enters; otherwise a zero
    output logic           en_o,
    output logic           out_valid_o,
    input  logic           out_ready_i,
    output logic [Log-1:0] out_place_o
);
    if (Log < 1 || Latency < 1) $error("folded_flow_control: Log and Latency must be at least 1");

    // Blocks begun since the one at the output, counted when that is at its place 0. From place
    // More on, there is one more.
    localparam int unsigned Behind = (Latency - 1) >> Log;
    localparam int unsigned More = (Behind + 1 << Log) + 1 - Latency;

    logic [Log-1:0] place;
    logic [Behind+1:0] live_q;
    logic begins, lower, wanted, idle, free, live;
    logic given_q;  // the output is taken, and the pipeline waits for an input item

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
