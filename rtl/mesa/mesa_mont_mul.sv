// SPDX-License-Identifier: MIT OR Apache-2.0
// One radix-2 Montgomery multiplier shared by two users: the conversion into Montgomery form
// (before) and the multiplication after the division (after).
//
//   before: r = x y / 2^XBits mod m with before_modulus_i;   after: the same with after_modulus_i;   bounds as mont_mul_radix2.
//
// The users alternate when both want it. If the first user went twice in a row, its register would
// still be full when the next stage is slower than a product, and the multiplier would idle. The
// first user's result has its own register, and its next product starts only when that is free. So
// a stalled pipeline never blocks the second user, on which the stall depends. The time between two
// starts is the latency of mont_mul_radix2 plus a cycle, while results are accepted.
module mesa_mont_mul #(
    parameter int unsigned N     = 1024,  // bits of the moduli
    parameter int unsigned XBits = 2050   // bits of x, one cycle each
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [N-1:0]     before_modulus_i,
    input  logic             before_valid_i,
    output logic             before_ready_o,
    input  logic [XBits-1:0] before_x_i,
    input  logic [N-1:0]     before_y_i,
    output logic             before_valid_o,
    input  logic             before_ready_i,
    output logic [N:0]       before_result_o,
    input  logic [N-1:0]     after_modulus_i,
    input  logic             after_valid_i,
    output logic             after_ready_o,
    input  logic [XBits-1:0] after_x_i,
    input  logic [N-1:0]     after_y_i,
    output logic             after_valid_o,
    input  logic             after_ready_i,
    output logic [N:0]       after_result_o
);
    // The owner of the product in progress, and of the next one.
    logic busy_q, after_owns_q, after_starts, after_selected, before_starts;
    logic start_valid, start_ready, result_valid, result_ready;
    logic [N:0] result;

    assign before_starts = before_valid_i && !before_valid_o && (after_owns_q || !after_valid_i);
    assign after_starts = after_valid_i && !before_starts;
    assign after_selected = busy_q ? after_owns_q : after_starts;
    assign start_valid = !busy_q && (after_starts || before_starts);
    assign after_ready_o = !busy_q && start_ready && after_starts;
    assign before_ready_o = !busy_q && start_ready && before_starts;

    mont_mul_radix2 #(
        .N(N),
        .XBits(XBits)
    ) u_mul (
        .clk_i,
        .rst_ni,
        .m_i        (after_selected ? after_modulus_i : before_modulus_i),
        .in_valid_i (start_valid),
        .in_ready_o (start_ready),
        .x_i        (after_selected ? after_x_i : before_x_i),
        .y_i        (after_selected ? after_y_i : before_y_i),
        .out_valid_o(result_valid),
        .out_ready_i(result_ready),
        .r_o        (result)
    );

    assign after_valid_o = result_valid && after_owns_q;
    assign after_result_o = result;
    // The first user's register is free, as it was when the product started.
    assign result_ready = !after_owns_q || after_ready_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q         <= 1'b0;
            after_owns_q   <= 1'b0;
            before_valid_o <= 1'b0;
        end else begin
            if (start_valid && start_ready) begin
                busy_q       <= 1'b1;
                after_owns_q <= after_starts;
            end else if (result_valid && result_ready) begin
                busy_q <= 1'b0;
            end
            if (result_valid && !after_owns_q) before_valid_o <= 1'b1;
            else if (before_ready_i) before_valid_o <= 1'b0;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) before_result_o <= '0;
        else if (result_valid && !after_owns_q) before_result_o <= result;
    end
endmodule
