// SPDX-License-Identifier: MIT OR Apache-2.0
// A block_select gives numbers of up to three blocks modulo 2^count, in no more blocks than that takes.
module formal (
    input logic clk_i
);
    (* anyseq *) logic in_valid, in_last, out_ready, again;
    (* anyseq *) logic [1:0] in_block;
    (* anyconst *) logic [2:0] count;
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

    // Which number comes and which block of it, and which leaves; the one that is looked at.
    logic [3:0] in_number_q = '0, out_number_q = '0, last_place;
    logic [1:0] in_place_q = '0, out_place_q = '0;
    logic [7:0] in_q = '0, kept;
    assign kept       = in_q & ~(8'hff << count);
    assign last_place = count == '0 ? '0 : (count - 3'd1) >> 1;

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        assume (in_last || in_place_q != 2'd2);
        if (!rst_n) begin
            {in_number_q, out_number_q} <= '0;
            {in_place_q, out_place_q} <= '0;
            in_q <= '0;
        end else begin
            if (in_valid && in_ready) begin
                if (in_number_q == {2'b0, target}) in_q[2*in_place_q+:2] <= in_block;
                in_place_q <= in_last ? '0 : in_place_q + 2'd1;
                if (in_last) in_number_q <= in_number_q + 4'd1;
            end
            if (out_valid && out_ready) begin
                out_place_q <= out_last ? '0 : out_place_q + 2'd1;
                if (out_last) out_number_q <= out_number_q + 4'd1;
            end
            if (out_valid && out_number_q == {2'b0, target}) begin
                assert (out_block == kept[2*out_place_q+:2]);
                assert ({1'b0, out_place_q} <= last_place);
                if (out_last) assert ({1'b0, out_place_q} == last_place || in_number_q > {2'b0, target});
                if ({1'b0, out_place_q} == last_place) assert (out_last);
                cover (out_last && count == 3'd3 && target == 2'd1 && out_place_q == 2'd1);
            end
        end
    end
endmodule
