// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges the packets of several sources into one stream, whole packets in round-robin order.
//
// A chosen source keeps its turn until the last beat of its packet is accepted. Then the turn goes
// to the next source in the order that has a beat. So a source waits for at most Sources - 1
// packets of the others. Latency 0; no cycle is lost between packets. out_valid_o and out_data_o
// follow the inputs, and in_ready_o follows out_ready_i and the sources' valid, within the cycle.
module stream_arbiter #(
    parameter int unsigned Sources   = 2,                // at least 2
    parameter int unsigned Width     = 8,                // bits of a beat, at least 1
    // derived, the bits of a source's index; do not set
    parameter int unsigned IndexBits = $clog2(Sources)
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    input  logic [Sources-1:0]            in_valid_i,
    output logic [Sources-1:0]            in_ready_o,
    input  logic [Sources-1:0][Width-1:0] in_data_i,
    input  logic [Sources-1:0]            in_last_i,
    output logic                          out_valid_o,
    input  logic                          out_ready_i,
    output logic [Width-1:0]              out_data_o,
    output logic                          out_last_o,
    output logic [IndexBits-1:0]          out_source_o  // the beat's source
);
    if (Sources < 2) $error("stream_arbiter: Sources must be at least 2");
    if (Width < 1) $error("stream_arbiter: Width must be at least 1");
    if (IndexBits != $clog2(Sources)) $error("stream_arbiter: IndexBits follows from Sources");

    // One-hot: the source whose turn it is, and the last one. The turn is kept within a packet and
    // while a beat is offered.
    logic [Sources-1:0] turn, turn_q;
    logic               locked_q;
    // Sources with a beat that come after the last one in the order.
    logic [Sources-1:0] after;

    assign after = in_valid_i & ~(turn_q | (turn_q - Sources'(1)));

    always_comb begin
        if (locked_q) turn = turn_q;
        else if (after != '0) turn = after & (~after + Sources'(1));
        else turn = in_valid_i & (~in_valid_i + Sources'(1));
    end

    assign out_valid_o = |(in_valid_i & turn);
    assign in_ready_o = {Sources{out_ready_i}} & turn;
    assign out_last_o = |(in_last_i & turn);

    always_comb begin
        out_data_o = Width'(0);
        out_source_o = '0;
        for (int unsigned k = 0; k < Sources; k++) begin
            if (turn[k]) begin
                out_data_o = in_data_i[k];
                out_source_o = IndexBits'(k);
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            turn_q   <= {1'b1, {Sources-1{1'b0}}};
            locked_q <= 1'b0;
        end else if (out_valid_o) begin
            turn_q   <= turn;
            locked_q <= !(out_ready_i && out_last_o);
        end
    end
endmodule
