// SPDX-License-Identifier: MIT OR Apache-2.0
// A block_shift shifts numbers of up to three blocks to the right, or with Left to the left, by up
// to three blocks and a bit. The amount may be anything while no number is inside.
module formal #(
    parameter int unsigned Left = 0
) (
    input logic clk_i
);
    (* anyseq *) logic in_valid, in_last, out_ready, again;
    (* anyseq *) logic [1:0] in_block;
    (* anyseq *) logic [2:0] amount;
    (* anyconst *) logic [1:0] target;
    logic in_ready, out_valid, out_last, rst_n;
    logic [1:0] out_block;
    logic started = 1'b0;

    assign rst_n = started && !again;

    block_shift #(
        .Bits(2),
        .Left(Left),
        .AmountBits(3)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .amount_i   (amount),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_block_i (in_block),
        .in_last_i  (in_last),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_block_o(out_block),
        .out_last_o (out_last)
    );
    stream_monitor #(
        .Width(2)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i (out_block),
        .last_i (out_last)
    );
    offer #(
        .Width(3)
    ) u_offer (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(in_valid),
        .ready_i(in_ready),
        .data_i ({in_last, in_block})
    );

    logic [3:0] in_number, out_number;
    logic [2:0] in_place, out_place;
    beside #(
        .Width(3)
    ) u_beside (
        .clk_i,
        .rst_ni      (rst_n),
        .value_i     (amount),
        .in_valid_i  (in_valid),
        .in_ready_i  (in_ready),
        .in_last_i   (in_last),
        .out_valid_i (out_valid),
        .out_ready_i (out_ready),
        .out_last_i  (out_last),
        .in_number_o (in_number),
        .in_place_o  (in_place),
        .out_number_o(out_number),
        .out_place_o (out_place)
    );

    // The tracked number, how many of its blocks have come, and the last place of its result.
    logic [5:0] in_q = '0;
    logic [2:0] blocks_q = '0, whole, last_place;
    logic [15:0] shifted;
    logic ended;
    assign whole      = 3'(amount >> 1);
    assign shifted    = Left == 1 ? 16'(in_q) << amount : 16'(in_q) >> amount;
    assign last_place = Left == 1 ? blocks_q + whole : blocks_q > whole ? blocks_q - whole - 3'd1 : 3'd0;
    assign ended      = in_number > {2'b0, target};

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        assume (in_last || in_place != 3'd2);
        if (!rst_n) begin
            in_q     <= '0;
            blocks_q <= '0;
        end else begin
            if (in_valid && in_ready && in_number == {2'b0, target}) begin
                in_q[2*in_place[1:0]+:2] <= in_block;
                blocks_q <= blocks_q + 3'd1;
            end
            if (out_valid && out_number == {2'b0, target}) begin
                assert (out_block == shifted[2*out_place+:2]);
                assert (out_last == (ended && out_place == last_place));
                cover (out_last && amount == 3'd3 && target == 2'd1 && blocks_q == 3'd3);
            end
        end
    end
endmodule
