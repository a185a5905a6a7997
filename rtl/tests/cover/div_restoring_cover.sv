// SPDX-License-Identifier: MIT OR Apache-2.0
// Cover points of div_restoring: its states, a result that waits to be accepted, and an operand
// that waits for the previous result.
module div_restoring_cover (
    input logic clk_i,
    input logic rst_ni,
    input logic idle_i,
    input logic differences_i,
    input logic borrows_i,
    input logic selection_i,
    input logic done_i,
    input logic in_valid_i,
    input logic in_ready_i,
    input logic out_valid_i,
    input logic out_ready_i
);
    Idle :
    cover property (@(posedge clk_i) rst_ni && idle_i);
    Differences :
    cover property (@(posedge clk_i) rst_ni && differences_i);
    Borrows :
    cover property (@(posedge clk_i) rst_ni && borrows_i);
    Selection :
    cover property (@(posedge clk_i) rst_ni && selection_i);
    Done :
    cover property (@(posedge clk_i) rst_ni && done_i);
    ResultWaits :
    cover property (@(posedge clk_i) rst_ni && out_valid_i && !out_ready_i);
    OperandWaits :
    cover property (@(posedge clk_i) rst_ni && in_valid_i && !in_ready_i);
endmodule

bind div_restoring div_restoring_cover u_cover (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .idle_i(state_q == Idle),
    .differences_i(state_q == Differences),
    .borrows_i(state_q == Borrows),
    .selection_i(state_q == Selection),
    .done_i(state_q == Done),
    .in_valid_i(in_valid_i),
    .in_ready_i(in_ready_o),
    .out_valid_i(out_valid_o),
    .out_ready_i(out_ready_i)
);
