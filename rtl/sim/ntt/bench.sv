// SPDX-License-Identifier: MIT OR Apache-2.0
// Products modulo 2^64 - 2^32 + 1, one per cycle.
module bench (
    input logic clk_i
);
    // Xorshift.
    function automatic logic [31:0] next(input logic [31:0] x);
        next = x ^ (x << 13);
        next = next ^ (next >> 17);
        next = next ^ (next << 5);
    endfunction

    localparam int unsigned Latency = ntt_pkg::product_latency(64, 32, 0);
    localparam logic [127:0] P = 128'(ntt_pkg::modulus(64, 32));
    int unsigned cycle_q = 0;
    logic [31:0] random_q = 32'd1, second_q = 32'd77;
    logic [63:0] a, b, y;
    logic [Latency-1:0][63:0] expected_q;
    assign a = {random_q, second_q} % P[63:0];
    assign b = {second_q ^ 32'h5a5a_0f0f, random_q} % P[63:0];

    modular_product u_product (
        .clk_i,
        .en_i(1'b1),
        .a_i (a),
        .b_i (b),
        .y_o (y)
    );

    always_ff @(posedge clk_i) begin
        cycle_q    <= cycle_q + 1;
        random_q   <= next(random_q);
        second_q   <= next(next(second_q));
        expected_q <= {expected_q[Latency-2:0], 64'(128'(a) * 128'(b) % P)};
        if (cycle_q > Latency && y != expected_q[Latency-1]) $fatal(1, "0x%h, not 0x%h", y, expected_q[Latency-1]);
        if (cycle_q == 2000) begin
            $display("bench: 2000 products are right");
            $finish;
        end
    end
endmodule
