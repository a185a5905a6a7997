// SPDX-License-Identifier: MIT OR Apache-2.0
// A block_compare says which of two numbers of up to three blocks is smaller, once per pair.
module formal (
    input logic clk_i
);
    (* anyseq *) logic a_valid, a_last, b_valid, b_last, out_ready, again;
    (* anyseq *) logic [1:0] a_block, b_block;
    (* anyconst *) logic [1:0] target;
    logic a_ready, b_ready, out_valid, less, greater, rst_n;
    logic started = 1'b0;

    assign rst_n = started && !again;

    block_compare #(
        .Bits(2)
    ) u_block (
        .clk_i,
        .rst_ni     (rst_n),
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
        .less_o     (less),
        .greater_o  (greater)
    );
    stream_monitor #(
        .Width(2)
    ) u_monitor (
        .clk_i,
        .rst_ni (rst_n),
        .valid_i(out_valid),
        .ready_i(out_ready),
        .data_i ({less, greater}),
        .last_i (1'b1)
    );

    // As in the harness of block_add.
    logic [3:0] a_number_q = '0, b_number_q = '0, out_number_q = '0;
    logic [1:0] a_place_q = '0, b_place_q = '0;
    logic [5:0] a_q = '0, b_q = '0;

    always_ff @(posedge clk_i) begin
        started <= 1'b1;
        assume (a_last || a_place_q != 2'd2);
        assume (b_last || b_place_q != 2'd2);
        if (!rst_n) begin
            {a_number_q, b_number_q, out_number_q} <= '0;
            {a_place_q, b_place_q} <= '0;
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
            if (out_valid && out_ready) out_number_q <= out_number_q + 4'd1;
            if (out_valid) assert (a_number_q > out_number_q && b_number_q > out_number_q);
            if (out_valid && out_number_q == {2'b0, target}) begin
                assert (less == (a_q < b_q) && greater == (a_q > b_q));
                cover (less && target == 2'd1 && a_q[1:0] > b_q[1:0]);
            end
        end
    end
endmodule
