// SPDX-License-Identifier: MIT OR Apache-2.0
// A wide sum or difference, a limb per cycle: r = a + b or a - b modulo 2^N, and the carry or
// borrow out.
//
// Latency ceil(N / Limb) + 1 cycles from accepting operands to offering the result; one per
// latency + 1 cycles.
module wide_add #(
    parameter int unsigned N    = 1024,  // bits of the operands, at least 1
    parameter int unsigned Limb = 64,    // bits added per cycle
    parameter int unsigned Sub  = 0      // 1: a - b, 0: a + b
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [N-1:0] a_i,
    input  logic [N-1:0] b_i,
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [N-1:0] r_o,
    output logic         carry_o       // a + b >= 2^N, or a < b
);
    if (N < 1 || Limb < 1) $error("wide_add: N and Limb must be at least 1");

    localparam int unsigned Limbs = (N + Limb - 1) / Limb;
    localparam int unsigned Total = Limbs * Limb;

    logic start, adding, carry_q;
    logic [Total-1:0] a_q, b_q, r_q;
    logic [Limb:0] sum;

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
        .work_o (adding)
    );

    if (Sub > 1) begin : gen_bad
        $error("wide_add: Sub must be 0 or 1");
    end
    if (Sub == 1) begin : gen_sub
        assign sum = {1'b0, a_q[Limb-1:0]} - {1'b0, b_q[Limb-1:0]} - (Limb + 1)'(carry_q);
    end else begin : gen_add
        assign sum = {1'b0, a_q[Limb-1:0]} + {1'b0, b_q[Limb-1:0]} + (Limb + 1)'(carry_q);
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q     <= Total'(0);
            b_q     <= Total'(0);
            carry_q <= 1'b0;
        end else if (start) begin
            a_q     <= Total'(a_i);
            b_q     <= Total'(b_i);
            carry_q <= 1'b0;
        end else if (adding) begin
            a_q     <= a_q >> Limb;
            b_q     <= b_q >> Limb;
            carry_q <= sum[Limb];
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) r_q <= Total'(0);
        else if (adding) r_q <= Total'({sum[Limb-1:0], r_q} >> Limb);
    end

    assign r_o = r_q[N-1:0];
    if (Total > N) begin : gen_short
        // The padding holds the carry: a sum has it in bit N, a negative difference has ones there.
        assign carry_o = r_q[N];
        logic unused;
        assign unused = ^{carry_q, r_q[Total-1:N]};
    end else begin : gen_full
        assign carry_o = carry_q;
    end
endmodule
