// SPDX-License-Identifier: MIT OR Apache-2.0
// Items that wait in line: first in, first out.
//
// Latency 1 cycle; an item every cycle; holds up to Depth items. Valid, data and ready are registered: no path leads from one side to the other.
// Not ready in reset, nor in the first cycle after it. The items are in flip-flops, each a step nearer to the exit with every item that leaves.
module stream_fifo #(
    parameter int unsigned Width = 8,  // bits of an item, at least 1
    parameter int unsigned Depth = 2,  // items, at least 2
    parameter int unsigned Wiped = 1   // 1: reset clears the data too; 0: only what says whether there is any
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
    if (Width < 1) $error("stream_fifo: Width must be at least 1");
    if (Depth < 2) $error("stream_fifo: Depth must be at least 2");
    if (Wiped > 1) $error("stream_fifo: Wiped is 0 or 1");

    logic push, pop;
    // Which places are taken, the exit at the low end: ones below zeros.
    logic [Depth-1:0] taken_q, taken;
    logic [Depth-1:0][Width-1:0] item_q;

    assign push = in_valid_i && in_ready_o;
    assign pop = out_valid_o && out_ready_i;
    assign out_valid_o = taken_q[0];
    assign out_data_o = item_q[0];

    always_comb begin
        taken = taken_q;
        if (push && !pop) taken = {taken_q[Depth-2:0], 1'b1};
        if (pop && !push) taken = {1'b0, taken_q[Depth-1:1]};
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            taken_q    <= '0;
            in_ready_o <= 1'b0;
        end else begin
            taken_q    <= taken;
            in_ready_o <= !taken[Depth-1];
        end
    end

    for (genvar k = 0; k < int'(Depth); k++) begin : gen_place
        // What comes to this place when an item leaves.
        logic [Width-1:0] next;
        if (k + 1 < int'(Depth)) begin : gen_inner
            assign next = taken_q[k+1] ? item_q[k+1] : in_data_i;
        end else begin : gen_end
            assign next = in_data_i;
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni && Wiped == 1) item_q[k] <= '0;
            else if (pop) item_q[k] <= next;
            else if (!taken_q[k]) item_q[k] <= in_data_i;
        end
    end
endmodule
