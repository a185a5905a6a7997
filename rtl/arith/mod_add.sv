// SPDX-License-Identifier: MIT OR Apache-2.0
// A modular sum, a limb per cycle: r = (a + b) mod m for a, b < m.
//
// One cycle computes a limb of a + b, which replaces a; the next one the same limb of (a + b) - m,
// which replaces b. A last cycle replaces the sum by the difference unless that borrowed. Nothing
// else depends on the borrow. Latency ceil(N / Limb) + 3 cycles from accepting operands to offering
// r; one per latency + 1 cycles.
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

    localparam int unsigned Limbs = (N + Limb - 1) / ((Limb < 1) ? 1 : Limb);
    localparam int unsigned Total = Limbs * Limb;

    logic start, working, adds_q, subtracts_q, carry_q, borrow_q, last;
    logic [Total-1:0] a_q, b_q;
    logic [Limb-1:0] m, m_q;
    logic [Limb:0] sum, difference;

    limb_sequencer #(
        .Steps(Limbs + 2)
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

    limb_reader #(
        .Limb (Limb),
        .Limbs(Limbs)
    ) u_modulus (
        .clk_i,
        .rst_ni,
        .number_i(Total'(m_i)),
        .start_i (start),
        .next_i  (adds_q),
        .limb_o  (m),
        .last_o  (last)
    );

    assign sum        = {1'b0, a_q[Limb-1:0]} + {1'b0, b_q[Limb-1:0]} + (Limb + 1)'(carry_q);
    assign difference = {1'b0, a_q[Total-1-:Limb]} - {1'b0, m_q} - (Limb + 1)'(borrow_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            adds_q      <= 1'b0;
            subtracts_q <= 1'b0;
        end else begin
            adds_q      <= start || (adds_q && !last);
            subtracts_q <= adds_q;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q     <= Total'(0);
            carry_q <= 1'b0;
        end else if (start) begin
            a_q     <= Total'(a_i);
            carry_q <= 1'b0;
        end else if (adds_q) begin
            // Shifts rather than part selects: with a single limb there is no part above it.
            a_q     <= Total'({sum[Limb-1:0], a_q} >> Limb);
            carry_q <= sum[Limb];
        end else if (working && !subtracts_q && (carry_q || !borrow_q)) begin
            a_q <= b_q;
        end
    end

    // With the first limb of the sum there is no difference yet: what enters b leaves it again.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            b_q      <= Total'(0);
            m_q      <= '0;
            borrow_q <= 1'b0;
        end else if (start) begin
            b_q      <= Total'(b_i);
            borrow_q <= 1'b0;
        end else if (adds_q || subtracts_q) begin
            b_q      <= Total'({difference[Limb-1:0], b_q} >> Limb);
            m_q      <= m;
            borrow_q <= subtracts_q && difference[Limb];
        end
    end

    assign r_o = a_q[N-1:0];
    if (Total > N) begin : gen_unused
        logic unused;
        assign unused = ^a_q[Total-1:N];
    end
endmodule
