// SPDX-License-Identifier: MIT OR Apache-2.0
// A conditional subtraction, a limb per cycle: r = a mod m for a < 2 m.
//
// The difference is always computed, and the borrow selects the result; nothing else depends on the
// borrow. Latency ceil((N+1) / Limb) + 1 cycles from accepting a to offering r; one per latency + 1
// cycles.
module cond_sub #(
    parameter int unsigned N    = 1024,  // bits of the modulus, at least 1
    parameter int unsigned Limb = 64     // bits subtracted per cycle
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [N-1:0] m_i,          // stable from a to r
    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [N:0]   a_i,          // below 2 m
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [N-1:0] r_o           // below m
);
    if (N < 1 || Limb < 1) $error("cond_sub: N and Limb must be at least 1");

    localparam int unsigned Limbs = (N + Limb) / Limb;
    localparam int unsigned Total = Limbs * Limb;

    logic start, working, borrow_q;
    logic [Total-1:0] a_q, m_q, difference_q;
    logic [Limb:0] difference;

    limb_sequencer #(
        .Steps(Limbs)
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

    assign difference = {1'b0, a_q[Limb-1:0]} - {1'b0, m_q[Limb-1:0]} - (Limb + 1)'(borrow_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q          <= Total'(0);
            m_q          <= Total'(0);
            difference_q <= Total'(0);
            borrow_q     <= 1'b0;
        end else if (start) begin
            a_q      <= Total'(a_i);
            m_q      <= Total'(m_i);
            borrow_q <= 1'b0;
        end else if (working) begin
            // Shifts rather than part selects: with a single limb there is no part above it.
            a_q          <= Total'({a_q[Limb-1:0], a_q} >> Limb);
            m_q          <= m_q >> Limb;
            difference_q <= Total'({difference[Limb-1:0], difference_q} >> Limb);
            borrow_q     <= difference[Limb];
        end
    end

    assign r_o = borrow_q ? a_q[N-1:0] : difference_q[N-1:0];
    logic unused;
    assign unused = ^{a_q[Total-1:N], difference_q[Total-1:N]};
endmodule
