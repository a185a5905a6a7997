// SPDX-License-Identifier: MIT OR Apache-2.0
// Passes the items of one of several sources, given by select_i; the others wait.
//
// Latency 0, wires only. While an item is offered and not accepted, select_i must stay. A select_i
// that names no source passes nothing.
module stream_mux #(
    parameter int unsigned Sources    = 2,                // at least 2
    parameter int unsigned Width      = 8,                // bits of an item, at least 1
    // derived, the bits of a source's index; do not set
    parameter int unsigned SelectBits = $clog2(Sources)
) (
    input  logic [SelectBits-1:0]         select_i,
    input  logic [Sources-1:0]            in_valid_i,
    output logic [Sources-1:0]            in_ready_o,
    input  logic [Sources-1:0][Width-1:0] in_data_i,
    output logic                          out_valid_o,
    input  logic                          out_ready_i,
    output logic [Width-1:0]              out_data_o
);
    if (Sources < 2) $error("stream_mux: Sources must be at least 2");
    if (Width < 1) $error("stream_mux: Width must be at least 1");
    if (SelectBits != $clog2(Sources)) $error("stream_mux: SelectBits follows from Sources");

    logic [Sources-1:0] selected;

    always_comb begin
        out_data_o = '0;
        for (int unsigned k = 0; k < Sources; k++) begin
            selected[k] = select_i == SelectBits'(k);
            if (selected[k]) out_data_o = in_data_i[k];
        end
    end

    assign out_valid_o = |(in_valid_i & selected);
    assign in_ready_o = {Sources{out_ready_i}} & selected;
endmodule
