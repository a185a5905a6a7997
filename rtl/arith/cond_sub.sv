// SPDX-License-Identifier: MIT OR Apache-2.0
// A conditional subtraction, a limb per cycle: r = a mod m for a < 2 m.
//
// a rotates through its register once while a - m shifts into another; a last cycle replaces a by
// the difference unless that borrowed. Nothing else depends on the borrow. If N is a multiple of
// Limb, bit N of a has a flip-flop of its own. Latency ceil(N / Limb) + 2 cycles from accepting a
// to offering r; one per latency + 1 cycles.
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

    localparam int unsigned Limbs = (N + Limb - 1) / ((Limb < 1) ? 1 : Limb);
    localparam int unsigned Total = Limbs * Limb;

    logic start, working, subtracts_q, top_q, borrow_q, last;
    logic [Total-1:0] a_q, difference_q;
    logic [Limb-1:0] m;
    logic [Limb:0] difference;

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

    limb_reader #(
        .Limb (Limb),
        .Limbs(Limbs)
    ) u_modulus (
        .clk_i,
        .rst_ni,
        .number_i(Total'(m_i)),
        .start_i (start),
        .next_i  (subtracts_q),
        .limb_o  (m),
        .last_o  (last)
    );

    assign difference = {1'b0, a_q[Limb-1:0]} - {1'b0, m} - (Limb + 1)'(borrow_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) subtracts_q <= 1'b0;
        else subtracts_q <= start || (subtracts_q && !last);
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q          <= Total'(0);
            difference_q <= Total'(0);
            top_q        <= 1'b0;
            borrow_q     <= 1'b0;
        end else if (start) begin
            {top_q, a_q} <= (Total + 1)'(a_i);
            borrow_q     <= 1'b0;
        end else if (subtracts_q) begin
            // Shifts rather than part selects: with a single limb there is no part above it.
            a_q          <= Total'({a_q[Limb-1:0], a_q} >> Limb);
            difference_q <= Total'({difference[Limb-1:0], difference_q} >> Limb);
            borrow_q     <= difference[Limb];
        end else if (working && (top_q || !borrow_q)) begin
            a_q <= difference_q;
        end
    end

    assign r_o = a_q[N-1:0];
    if (Total > N) begin : gen_unused
        logic unused;
        assign unused = ^a_q[Total-1:N];
    end
endmodule
