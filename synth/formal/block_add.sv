// SPDX-License-Identifier: MIT OR Apache-2.0
// A block_add computes sums, or with Sub differences, of numbers of up to three blocks, either of
// which may be longer. The carry comes with the last block. carry_i may be anything with blocks
// other than the first.
module formal #(
    parameter int unsigned Sub = 0
) (
    input logic clk_i
);
    (* anyseq *) logic a_valid, a_last, b_valid, b_last, out_ready, again;
    (* anyseq *) logic [1:0] a_block, b_block;
    (* anyseq *) logic noise;
    (* anyconst *) logic carry;
    (* anyconst *) logic [1:0] target;
    logic a_ready, b_ready, out_valid, out_carry, out_last, rst_n;
    logic [1:0] out_block;
    logic started = 1'b0;

    assign rst_n = started && !again;

    // For each stream, the number and its block that come next; the numbers that are tracked.
    logic [3:0] a_number_q = '0, b_number_q = '0, out_number_q = '0;
    logic [1:0] a_place_q = '0, b_place_q = '0, out_place_q = '0;
    logic [7:0] a_q = '0, b_q = '0, sum;

    block_add #(
        .Bits(2),
        .Sub (Sub)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
        .carry_i    (a_place_q == '0 && b_place_q == '0 ? carry : noise),
        .a_valid_i  (a_valid),
        .a_ready_o  (a_ready),
        .a_block_i  (a_block),
        .a_last_i   (a_last),
        .b_valid_i  (b_valid),
        .b_ready_o  (b_ready),
        .b_block_i  (b_block),
        .b_last_i   (b_last),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_block_o(out_block),
        .out_carry_o(out_carry),
        .out_last_o (out_last)
    );
    stream_monitor #(
        .Width(3)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i ({out_carry, out_block}),
        .last_i (out_last)
    );

    logic a_ended, b_ended;
    assign a_ended = a_number_q > {2'b0, target};
    assign b_ended = b_number_q > {2'b0, target};
    assign sum     = Sub == 1 ? a_q - b_q - 8'(carry) : a_q + b_q + 8'(carry);

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        assume (a_last || a_place_q != 2'd2);
        assume (b_last || b_place_q != 2'd2);
        if (!rst_n) begin
            {a_number_q, b_number_q, out_number_q} <= '0;
            {a_place_q, b_place_q, out_place_q} <= '0;
            {a_q, b_q} <= '0;
        end else begin
            if (a_valid && a_ready) begin
                if (a_number_q == {2'b0, target}) a_q[2*a_place_q+:2] <= a_block;
                a_place_q <= a_last ? '0 : a_place_q + 2'd1;
                if (a_last) a_number_q <= a_number_q + 4'd1;
            end
            if (b_valid && b_ready) begin
                if (b_number_q == {2'b0, target}) b_q[2*b_place_q+:2] <= b_block;
                b_place_q <= b_last ? '0 : b_place_q + 2'd1;
                if (b_last) b_number_q <= b_number_q + 4'd1;
            end
            if (out_valid && out_ready) begin
                out_place_q <= out_last ? '0 : out_place_q + 2'd1;
                if (out_last) out_number_q <= out_number_q + 4'd1;
            end
            if (out_valid && out_number_q == {2'b0, target}) begin
                assert (out_block == sum[2*out_place_q+:2]);
                assert (out_last == (a_ended && b_ended));
                if (out_last) assert (out_carry == sum[2*out_place_q+2]);
                cover (out_last && out_place_q == 2'd2 && target == 2'd1 && out_carry);
            end
        end
    end
endmodule
