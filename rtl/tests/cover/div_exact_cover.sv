// SPDX-License-Identifier: MIT OR Apache-2.0
// Cover points of div_exact: its states, a result that waits to be accepted, and an operand that
// waits for the previous result.
module div_exact_cover (
    input logic clk_i,
    input logic rst_ni,
    input logic idle_i,
    input logic dividing_i,
    input logic done_i,
    input logic in_valid_i,
    input logic in_ready_i,
    input logic out_valid_i,
    input logic out_ready_i
);
    Idle :
    cover property (@(posedge clk_i) rst_ni && idle_i);
    Dividing :
    cover property (@(posedge clk_i) rst_ni && dividing_i);
    Done :
    cover property (@(posedge clk_i) rst_ni && done_i);
    ResultWaits :
    cover property (@(posedge clk_i) rst_ni && out_valid_i && !out_ready_i);
    OperandWaits :
    cover property (@(posedge clk_i) rst_ni && in_valid_i && !in_ready_i);
endmodule

bind div_exact div_exact_cover u_cover (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .idle_i(state_q == Idle),
    .dividing_i(state_q == Dividing),
    .done_i(state_q == Done),
    .in_valid_i(in_valid_i),
    .in_ready_i(in_ready_o),
    .out_valid_i(out_valid_o),
    .out_ready_i(out_ready_i)
);
