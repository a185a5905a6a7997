// SPDX-License-Identifier: MIT OR Apache-2.0
// The multipliers of the co-processor, in parallel: products are distributed round-robin and carry
// their tags.
module coproc_cores #(
    parameter int unsigned N       = 1024,  // bits of n
    // 0: coproc_core_cios, 1: coproc_core_digit, 2: coproc_core_dual
    parameter int unsigned Core    = 0,
    parameter int unsigned Count   = 1,     // multipliers, 1 to 16
    // as in coproc_core_cios and coproc_core_dual, and the next two
    parameter int unsigned W       = 17,
    parameter int unsigned V       = 24,
    parameter int unsigned D       = 2,
    parameter int unsigned Digit   = 256,   // as in coproc_core_digit, and the next two
    parameter int unsigned Width   = 128,
    parameter int unsigned Tile    = 16,
    parameter int unsigned TagBits = 8,
    // The core's own: bits of its modulus constant, and of a number.
    parameter int unsigned MtBits  = (2 * N + W - 1) / W * W,
    parameter int unsigned NumBits = ((2 * N + W) / W + D + 1) * W,
    localparam int unsigned UnitBits = W * (D + 1)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [MtBits-1:0]  mt_i,
    input  logic [2*N-1:0]     modulus_i,   // n^2
    input  logic [N-1:0]       root_i,      // n; this and the next two: of core 2
    input  logic [UnitBits-1:0] unit_i,
    input  logic [2*N-1:0]     exit_i,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [TagBits-1:0] in_tag_i,
    input  logic               in_square_i, // a a: for core 2; the others receive b = a
    input  logic               in_enter_i,  // of core 2
    input  logic               in_leave_i,
    input  logic [NumBits-1:0] a_i,
    input  logic [NumBits-1:0] b_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [TagBits-1:0] out_tag_o,
    output logic [NumBits-1:0] r_o
);
    if (Core > 2) $error("coproc_cores: Core is 0, 1 or 2");
    if (Count < 1 || Count > 16) $error("coproc_cores: Count is 1 to 16");

    logic [Count-1:0] turn_q, in_ready, out_valid, out_ready;
    logic [Count-1:0][TagBits+NumBits-1:0] result;

    assign in_ready_o = |(in_ready & turn_q);

    if (Count > 1) begin : gen_turns
        always_ff @(posedge clk_i) begin
            if (!rst_ni) turn_q <= Count'(1);
            else if (in_valid_i && in_ready_o) turn_q <= {turn_q[Count-2:0], turn_q[Count-1]};
        end

        logic last;
        logic [$clog2(Count)-1:0] source;
        stream_arbiter #(
            .Sources(Count),
            .Width  (TagBits + NumBits)
        ) u_out (
            .clk_i,
            .rst_ni,
            .in_valid_i  (out_valid),
            .in_ready_o  (out_ready),
            .in_last_i   ('1),
            .in_data_i   (result),
            .out_valid_o,
            .out_ready_i,
            .out_last_o  (last),
            .out_source_o(source),
            .out_data_o  ({out_tag_o, r_o})
        );
        logic unused;
        assign unused = ^{last, source};
    end else begin : gen_one
        assign turn_q = 1'b1;
        assign out_valid_o = out_valid[0];
        assign out_ready[0] = out_ready_i;
        assign {out_tag_o, r_o} = result[0];
    end

    for (genvar k = 0; k < int'(Count); k++) begin : gen_core
        if (Core == 1) begin : gen_digit
            coproc_core_digit #(
                .N(N),
                .Digit(Digit),
                .Width(Width),
                .Tile(Tile),
                .TagBits(TagBits)
            ) u_core (
                .clk_i,
                .rst_ni,
                .mt_i,
                .modulus_i,
                .in_valid_i (in_valid_i && turn_q[k]),
                .in_ready_o (in_ready[k]),
                .in_tag_i,
                .in_leave_i,
                .a_i,
                .b_i,
                .out_valid_o(out_valid[k]),
                .out_ready_i(out_ready[k]),
                .out_tag_o  (result[k][NumBits+:TagBits]),
                .r_o        (result[k][NumBits-1:0])
            );
        end else if (Core == 2) begin : gen_dual
            coproc_core_dual #(
                .N(N),
                .W(W),
                .V(V),
                .D(D),
                .TagBits(TagBits)
            ) u_core (
                .clk_i,
                .rst_ni,
                .mt_i,
                .unit_i,
                .root_i,
                .modulus_i,
                .exit_i,
                .in_valid_i (in_valid_i && turn_q[k]),
                .in_ready_o (in_ready[k]),
                .in_tag_i,
                .in_square_i,
                .in_enter_i,
                .in_leave_i,
                .a_i,
                .b_i,
                .out_valid_o(out_valid[k]),
                .out_ready_i(out_ready[k]),
                .out_tag_o  (result[k][NumBits+:TagBits]),
                .r_o        (result[k][NumBits-1:0])
            );
        end else begin : gen_cios
            coproc_core_cios #(
                .N(N),
                .W(W),
                .V(V),
                .D(D),
                .TagBits(TagBits)
            ) u_core (
                .clk_i,
                .rst_ni,
                .mt_i,
                .modulus_i,
                .in_valid_i (in_valid_i && turn_q[k]),
                .in_ready_o (in_ready[k]),
                .in_tag_i,
                .in_leave_i,
                .a_i,
                .b_i,
                .out_valid_o(out_valid[k]),
                .out_ready_i(out_ready[k]),
                .out_tag_o  (result[k][NumBits+:TagBits]),
                .r_o        (result[k][NumBits-1:0])
            );
        end
    end
    if (Core != 2) begin : gen_plain
        logic unused;
        assign unused = ^{root_i, unit_i, exit_i, in_square_i, in_enter_i};
    end
endmodule
