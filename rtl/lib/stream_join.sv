// SPDX-License-Identifier: MIT OR Apache-2.0
// Joins several sources: an item is offered when every source has its part, and all parts leave
// together.
//
// Latency 0. It carries no data: the receiver reads the sources'. Each in_ready_o follows
// out_ready_i and the other sources' valid within the cycle.
module stream_join #(
    parameter int unsigned Sources = 2  // at least 1
) (
    input  logic [Sources-1:0] in_valid_i,
    output logic [Sources-1:0] in_ready_o,
    output logic               out_valid_o,
    input  logic               out_ready_i
);
    if (Sources < 1) $error("stream_join: Sources must be at least 1");

    assign out_valid_o = &in_valid_i;
    assign in_ready_o = {Sources{out_valid_o && out_ready_i}};
endmodule
