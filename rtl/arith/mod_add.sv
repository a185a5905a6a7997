// SPDX-License-Identifier: MIT OR Apache-2.0
// A modular sum, a limb per cycle: r = (a + b) mod m for a, b < m.
//
// One cycle computes a limb of a + b, the next one the same limb of (a + b) - m. The last borrow
// selects the result; nothing else depends on it. Latency ceil((N+1) / Limb) + 2 cycles from
// accepting operands to offering r; one per latency + 1 cycles.
module mod_add #(
    parameter int unsigned N    = 1024,  // bits of the modulus, at least 1
    parameter int unsigned Limb = 64     // bits added per cycle
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [N-1:0] m_i,          // stable from operands to r
    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [N-1:0] a_i,          // below m
    input  logic [N-1:0] b_i,          // below m
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [N-1:0] r_o           // below m
);
    if (N < 1 || Limb < 1) $error("mod_add: N and Limb must be at least 1");

    localparam int unsigned Limbs = (N + Limb) / Limb;
    localparam int unsigned Total = Limbs * Limb;

    logic start, working, second_q, carry_q, borrow_q;
    // The operands leave one limb per cycle. The sum enters, and one cycle later the difference.
    logic [Total-1:0] a_q, b_q, m_q, difference_q;
    logic [Total+Limb-1:0] sum_q;  // a limb longer, as one more limb is shifted in
    logic [Limb:0] sum, difference;

    limb_sequencer #(
        .Steps(Limbs + 1)
    ) u_steps (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .out_valid_o,
        .out_ready_i,
        .start_o(start),
        .work_o (working)
    );

    assign sum        = {1'b0, a_q[Limb-1:0]} + {1'b0, b_q[Limb-1:0]} + (Limb + 1)'(carry_q);
    assign difference = {1'b0, sum_q[Total+Limb-1:Total]} - {1'b0, m_q[Limb-1:0]} - (Limb + 1)'(borrow_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) second_q <= 1'b0;
        else second_q <= working;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q          <= '0;
            b_q          <= '0;
            m_q          <= '0;
            sum_q        <= '0;
            difference_q <= '0;
            carry_q      <= 1'b0;
            borrow_q     <= 1'b0;
        end else if (start) begin
            a_q      <= Total'(a_i);
            b_q      <= Total'(b_i);
            m_q      <= Total'(m_i);
            carry_q  <= 1'b0;
            borrow_q <= 1'b0;
        end else if (working) begin
            a_q     <= a_q >> Limb;
            b_q     <= b_q >> Limb;
            carry_q <= sum[Limb];
            sum_q   <= (Total + Limb)'({sum[Limb-1:0], sum_q} >> Limb);
            // The first cycle has no sum yet.
            if (second_q) begin
                m_q          <= m_q >> Limb;
                borrow_q     <= difference[Limb];
                difference_q <= Total'({difference[Limb-1:0], difference_q} >> Limb);
            end
        end
    end

    assign r_o = borrow_q ? sum_q[N-1:0] : difference_q[N-1:0];
    logic unused;
    assign unused = ^{sum_q[Total-1:N], difference_q[Total-1:N]};
endmodule
