// SPDX-License-Identifier: MIT OR Apache-2.0
// A block_select reduces numbers of up to three blocks modulo 2^count, in no more blocks than the
// result needs. count may be anything while no number is inside.
module formal (
    input logic clk_i
);
    (* anyseq *) logic in_valid, in_last, out_ready, again;
    (* anyseq *) logic [1:0] in_block;
    (* anyseq *) logic [2:0] count;
    (* anyconst *) logic [1:0] target;
    logic in_ready, out_valid, out_last, rst_n;
    logic [1:0] out_block;
    logic started = 1'b0;

    assign rst_n = started && !again;

    block_select #(
        .Bits(2),
        .CountBits(3)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .count_i    (count),
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

    logic [3:0] in_number, out_number, last_place;
    logic [2:0] in_place, out_place;
    beside #(
        .Width(3)
    ) u_beside (
        .clk_i,
        .rst_ni      (rst_n),
        .value_i     (count),
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

    // The tracked number.
    logic [7:0] in_q = '0, kept;
    assign kept       = in_q & ~(8'hff << count);
    assign last_place = count == '0 ? '0 : (count - 3'd1) >> 1;

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        assume (in_last || in_place != 3'd2);
        if (!rst_n) in_q <= '0;
        else begin
            if (in_valid && in_ready && in_number == {2'b0, target}) in_q[2*in_place[1:0]+:2] <= in_block;
            if (out_valid && out_number == {2'b0, target}) begin
                assert (out_block == kept[2*out_place[1:0]+:2]);
                assert ({1'b0, out_place} <= last_place);
                if (out_last) assert ({1'b0, out_place} == last_place || in_number > {2'b0, target});
                if ({1'b0, out_place} == last_place) assert (out_last);
                cover (out_last && count == 3'd3 && target == 2'd1 && out_place == 3'd1);
            end
        end
    end
endmodule
