// SPDX-License-Identifier: MIT OR Apache-2.0
// An input that accompanies a stream of numbers. It is stable from the first offer of a number's
// first block until the number's last block has left, and otherwise may change in every cycle. The
// outputs count the numbers that have come and left, and the blocks of the current ones.
module beside #(
    parameter int unsigned Width = 3
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [Width-1:0] value_i,
    input  logic             in_valid_i,
    input  logic             in_ready_i,
    input  logic             in_last_i,
    input  logic             out_valid_i,
    input  logic             out_ready_i,
    input  logic             out_last_i,
    output logic [3:0]       in_number_o,
    output logic [2:0]       in_place_o,
    output logic [3:0]       out_number_o,
    output logic [2:0]       out_place_o
);
    logic [3:0] in_number, out_number;
    logic [2:0] in_place, out_place;
    logic inside_q = 1'b0, taken, given;
    logic [Width-1:0] value_q;
    assign taken      = in_valid_i && in_ready_i;
    assign given      = out_valid_i && out_ready_i;
    assign in_number  = in_number_o + 4'(taken && in_last_i);
    assign out_number = out_number_o + 4'(given && out_last_i);
    assign in_place   = !taken ? in_place_o : in_last_i ? '0 : in_place_o + 3'd1;
    assign out_place  = !given ? out_place_o : out_last_i ? '0 : out_place_o + 3'd1;

    initial {in_number_o, in_place_o, out_number_o, out_place_o} = '0;
    always_ff @(posedge clk_i) begin
        value_q <= value_i;
        if (!rst_ni) begin
            {in_number_o, in_place_o, out_number_o, out_place_o} <= '0;
            inside_q <= 1'b0;
        end else begin
            {in_number_o, in_place_o, out_number_o, out_place_o} <= {in_number, in_place, out_number, out_place};
            inside_q <= in_place != '0 || in_number != out_number || (in_valid_i && !taken);
        end
    end
    always_comb if (inside_q) assume (value_i == value_q);
endmodule
