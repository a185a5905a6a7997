// SPDX-License-Identifier: MIT OR Apache-2.0
// Cover points of dual_encryptor: its operations, and ciphertexts that wait to be accepted.
module dual_encryptor_cover (
    input logic clk_i,
    input logic rst_ni,
    input logic issue_i,
    input logic load_i,
    input logic square_i,
    input logic entry_i,
    input logic leave_i,
    input logic out_valid_i,
    input logic out_ready_i
);
    Load :
    cover property (@(posedge clk_i) rst_ni && load_i);
    SquareBegins :
    cover property (@(posedge clk_i) rst_ni && issue_i && square_i);
    EntryBegins :
    cover property (@(posedge clk_i) rst_ni && issue_i && entry_i);
    LeaveBegins :
    cover property (@(posedge clk_i) rst_ni && issue_i && leave_i);
    CiphertextWaits :
    cover property (@(posedge clk_i) rst_ni && out_valid_i && !out_ready_i);
endmodule

bind dual_encryptor dual_encryptor_cover u_cover (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .issue_i(issue),
    .load_i(load_x),
    .square_i(kind_q == Square),
    .entry_i(kind_q == Entry),
    .leave_i(kind_q == Leave),
    .out_valid_i(out_valid_o),
    .out_ready_i(out_ready_i)
);
