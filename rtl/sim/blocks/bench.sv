// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums of random numbers of four blocks, one after the other.
module bench (
    input logic clk_i
);
    // Xorshift.
    function automatic logic [31:0] next(input logic [31:0] x);
        next = x ^ (x << 13);
        next = next ^ (next >> 17);
        next = next ^ (next << 5);
    endfunction

    localparam int unsigned Bits = 8;
    int unsigned cycle_q = 0, done_q = 0;
    logic [31:0] random_q = 32'd1, a_q = '0, b_q = '0;
    logic [1:0] a_at_q = '0, b_at_q = '0, at_q = '0;
    logic rst_n, a_left_q = 1'b0, b_left_q = 1'b0, a_ready, b_ready, valid, carry, last;
    logic [Bits-1:0] block;
    logic [32:0] exact;
    assign rst_n = cycle_q > 4;
    assign exact = 33'(a_q) + 33'(b_q);

    block_add #(
        .Bits(Bits)
    ) u_add (
        .clk_i,
        .rst_ni     (rst_n),
        .carry_i    (1'b0),
        .a_valid_i  (a_left_q && random_q[3]),
        .a_ready_o  (a_ready),
        .a_block_i  (a_q[Bits*a_at_q+:Bits]),
        .a_last_i   (a_at_q == 2'd3),
        .b_valid_i  (b_left_q && random_q[5]),
        .b_ready_o  (b_ready),
        .b_block_i  (b_q[Bits*b_at_q+:Bits]),
        .b_last_i   (b_at_q == 2'd3),
        .out_valid_o(valid),
        .out_ready_i(random_q[9]),
        .out_block_o(block),
        .out_carry_o(carry),
        .out_last_o (last)
    );

    always_ff @(posedge clk_i) begin
        cycle_q  <= cycle_q + 1;
        random_q <= next(random_q);
        if (cycle_q == 8 || (valid && random_q[9] && last)) begin
            a_q      <= random_q;
            b_q      <= next(random_q) ^ {random_q[15:0], random_q[31:16]};
            a_left_q <= 1'b1;
            b_left_q <= 1'b1;
        end
        if (a_left_q && random_q[3] && a_ready) begin
            a_at_q   <= a_at_q + 1'b1;
            a_left_q <= a_at_q != 2'd3;
        end
        if (b_left_q && random_q[5] && b_ready) begin
            b_at_q   <= b_at_q + 1'b1;
            b_left_q <= b_at_q != 2'd3;
        end
        if (valid && random_q[9]) begin
            at_q <= at_q + 1'b1;
            if (block != exact[Bits*at_q+:Bits]) $fatal(1, "block %0d of 0x%h + 0x%h is 0x%h", at_q, a_q, b_q, block);
            if (last != (at_q == 2'd3)) $fatal(1, "the end of the sum is wrong at block %0d", at_q);
            if (last && carry != exact[32]) $fatal(1, "0x%h + 0x%h has carry 0b%b", a_q, b_q, carry);
            if (last) done_q <= done_q + 1;
            if (done_q == 500) begin
                $display("bench: 500 sums are right");
                $finish;
            end
        end
    end
endmodule
