// SPDX-License-Identifier: MIT OR Apache-2.0
// Montgomery products of random numbers, and their sums modulo the modulus.
module bench (
    input logic clk_i
);
    // Xorshift.
    function automatic logic [31:0] next(input logic [31:0] x);
        next = x ^ (x << 13);
        next = next ^ (next >> 17);
        next = next ^ (next << 5);
    endfunction

    localparam int unsigned N = 16, XBits = 18;
    int unsigned cycle_q = 0, done_q = 0;
    logic [31:0] random_q = 32'd1;
    logic rst_n, offer_q = 1'b0, product_ready, product_valid, sum_ready, sum_valid;
    logic [N-1:0] m_q = 16'd3, y_q = '0, z_q = '0, sum;
    logic [XBits-1:0] x_q = '0;
    logic [N:0] product;
    assign rst_n = cycle_q > 4;

    mont_mul_radix2 #(
        .N(N),
        .XBits(XBits),
        .Word(4)
    ) u_product (
        .clk_i,
        .rst_ni     (rst_n),
        .m_i        (m_q),
        .in_valid_i (offer_q && sum_ready),
        .in_ready_o (product_ready),
        .x_i        (x_q),
        .y_i        (y_q),
        .out_valid_o(product_valid),
        .out_ready_i(sum_valid),
        .r_o        (product)
    );
    mod_add #(
        .N(N),
        .Limb(5)
    ) u_sum (
        .clk_i,
        .rst_ni     (rst_n),
        .m_i        (m_q),
        .in_valid_i (offer_q && product_ready),
        .in_ready_o (sum_ready),
        .a_i        (y_q),
        .b_i        (z_q),
        .out_valid_o(sum_valid),
        .out_ready_i(product_valid),
        .r_o        (sum)
    );

    always_ff @(posedge clk_i) begin
        cycle_q  <= cycle_q + 1;
        random_q <= next(random_q);
        if (offer_q && product_ready && sum_ready) offer_q <= 1'b0;
        if (rst_n && cycle_q % 64 == 0) begin
            m_q     <= random_q[N-1:0] | N'(1);
            y_q     <= random_q[31:16] % (random_q[N-1:0] | N'(1));
            z_q     <= N'(next(random_q)) % (random_q[N-1:0] | N'(1));
            x_q     <= XBits'(next(random_q) >> 14);
            offer_q <= 1'b1;
        end
        if (product_valid && sum_valid) begin
            if ((64'(product) << XBits) % 64'(m_q) != 64'(x_q) * 64'(y_q) % 64'(m_q)) $fatal(1, "%0d %0d mod %0d: %0d", x_q, y_q, m_q, product);
            if (32'(sum) != (32'(y_q) + 32'(z_q)) % 32'(m_q)) $fatal(1, "%0d + %0d mod %0d: %0d", y_q, z_q, m_q, sum);
            done_q <= done_q + 1;
            if (done_q == 499) begin
                $display("bench: 500 products and sums are right");
                $finish;
            end
        end
    end
endmodule
