// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives every item to two takers, each in its own time; the item leaves the source when both have it.
//
// Latency 0; carries no data: both takers read the source's.
module stream_fork (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic in_valid_i,
    output logic in_ready_o,
    output logic first_valid_o,
    input  logic first_ready_i,
    output logic second_valid_o,
    input  logic second_ready_i
);
    // Who has taken the present item already.
    logic first_done_q, second_done_q;

    assign first_valid_o = in_valid_i && !first_done_q;
    assign second_valid_o = in_valid_i && !second_done_q;
    assign in_ready_o = (first_ready_i || first_done_q) && (second_ready_i || second_done_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            first_done_q  <= 1'b0;
            second_done_q <= 1'b0;
        end else if (in_valid_i) begin
            first_done_q  <= (first_ready_i || first_done_q) && !in_ready_o;
            second_done_q <= (second_ready_i || second_done_q) && !in_ready_o;
        end
    end
endmodule
