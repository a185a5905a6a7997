// SPDX-License-Identifier: MIT OR Apache-2.0
// Routes each item to one of several receivers, given by select_i.
//
// Latency 0, wires only. It carries no data: the receivers read the source's. While an item is
// offered and not accepted, select_i must stay. With a select_i that names no receiver the item
// waits.
module stream_demux #(
    parameter int unsigned Takers     = 2,               // at least 2
    // derived, the bits of a receiver's index; do not set
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
