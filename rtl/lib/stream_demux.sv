// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives each item to one of several takers, which select_i names.
//
// Latency 0: wires alone; carries no data: the takers read the source's. While an item is on offer
// and not taken, select_i must stay. A select_i that names no taker gives the item to none, and it
// waits.
module stream_demux #(
    parameter int unsigned Takers     = 2,               // at least 2
    // as many as it takes to name a taker; not to be set
    parameter int unsigned SelectBits = $clog2(Takers)
) (
    input  logic [SelectBits-1:0] select_i,
    input  logic                  in_valid_i,
    output logic                  in_ready_o,
    output logic [Takers-1:0]     out_valid_o,
    input  logic [Takers-1:0]     out_ready_i
);
    if (Takers < 2) $error("stream_demux: Takers must be at least 2");
    if (SelectBits != $clog2(Takers)) $error("stream_demux: SelectBits follows from Takers");

    logic [Takers-1:0] selected;

    always_comb begin
        for (int unsigned k = 0; k < Takers; k++) selected[k] = select_i == SelectBits'(k);
    end

    assign out_valid_o = {Takers{in_valid_i}} & selected;
    assign in_ready_o = |(out_ready_i & selected);
endmodule
