// SPDX-License-Identifier: MIT OR Apache-2.0
// A stream register that cuts every path between its two sides: valid, data and ready are all
// registered.
//
// Latency 1 cycle; an item every cycle. Holds up to two items: in_ready_o is one cycle late, and an
// item accepted in that cycle waits in a second register. Not ready in reset, nor in the first
// cycle after it, so that no item is accepted and lost once a reset has been seen.
module stream_skid #(
    parameter int unsigned Width = 8,  // bits of an item, at least 1
    // 1: reset clears the data too; 0: reset clears only the flags
    parameter int unsigned Wiped = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);
    if (Width < 1) $error("stream_skid: Width must be at least 1");
    if (Wiped > 1) $error("stream_skid: Wiped is 0 or 1");

    // The item behind the offered one.
    logic held_q, held;
    logic [Width-1:0] held_data_q;
    logic free;

    assign free = !out_valid_o || out_ready_i;
    assign held = !free && (held_q || (in_valid_i && in_ready_o));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            in_ready_o  <= 1'b0;
            out_valid_o <= 1'b0;
            held_q      <= 1'b0;
        end else begin
            in_ready_o <= !held;
            held_q     <= held;
            if (free) out_valid_o <= held_q || (in_valid_i && in_ready_o);
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni && Wiped == 1) begin
            held_data_q <= '0;
            out_data_o  <= '0;
        end else begin
            if (in_ready_o) held_data_q <= in_data_i;
            if (free) out_data_o <= held_q ? held_data_q : in_data_i;
        end
    end
endmodule
