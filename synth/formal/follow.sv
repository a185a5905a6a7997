// SPDX-License-Identifier: MIT OR Apache-2.0
// Follows items through a block. Item k to go in is item k to come out, for any k, and none comes
// out that has not gone in. At most Hold items are inside. An item inside is offered after at most
// Latency cycles, and an empty block is ready after at most Ready.
module follow #(
    parameter int unsigned Width   = 2,
    parameter int unsigned Hold    = 0,
    parameter int unsigned Latency = 0,
    parameter int unsigned Ready   = 0,
    parameter int unsigned Bits    = 5   // of the numbers of items
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             in_valid_i,
    input logic             in_ready_i,
    input logic [Width-1:0] in_i,
    input logic             out_valid_i,
    input logic             out_ready_i,
    input logic [Width-1:0] out_i
);
    (* anyconst *) logic [Bits-1:0] target;
    logic [Bits-1:0] in_q, out_q, hidden_q, unready_q;
    logic [Width-1:0] item_q;
    logic push, pop;

    assign push = in_valid_i && in_ready_i;
    assign pop = out_valid_i && out_ready_i;

    initial {in_q, out_q, hidden_q, unready_q} = '0;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            in_q      <= '0;
            out_q     <= '0;
            hidden_q  <= '0;
            unready_q <= '0;
        end else begin
            in_q      <= in_q + Bits'(push);
            out_q     <= out_q + Bits'(pop);
            hidden_q  <= (in_q != out_q && !out_valid_i) ? hidden_q + 1'b1 : '0;
            unready_q <= (in_q == out_q && !in_ready_i && !out_valid_i) ? unready_q + 1'b1 : '0;
            if (push && in_q == target) item_q <= in_i;
            assert (!out_valid_i || out_q != in_q || in_valid_i);
            if (out_valid_i && out_q == target) assert (out_i == (in_q == target ? in_i : item_q));
            if (pop && in_q == out_q) assert (push);
            assert (in_q - out_q <= Bits'(Hold));
            assert (hidden_q <= Bits'(Latency));
            assert (unready_q <= Bits'(Ready));
            cover (pop && out_q == 3 && target == 3);
        end
    end
endmodule
