// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a coefficient modulo several primes at once, in parallel units that run in step.
//
// Primes holds one prime in every 64 bits, the first at the low end, all of V bits. Architecture: 0
// residue_unit as in the paper; 1 our compact residue_unit; 2 residue_unit_roy; 3 residue_unit_tan.
//
// Latency: Stages cycles. Rate: a coefficient every cycle.
module residue_array #(
    // number of primes, at least 1
    parameter int unsigned           Count        = 2,
    parameter logic [64*Count-1:0]   Primes       = {64'd1073479681, 64'd1073692673},
    // bits of a prime, 2 to 62
    parameter int unsigned           V            = 30,
    // words of a coefficient, at least 2
    parameter int unsigned           Words        = 12,
    // registers from end to end, 0 to 7
    parameter int unsigned           Stages       = 4,
    parameter int unsigned           Architecture = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [Words*V-1:0] a_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [Count*V-1:0] r_o
);
    if (Count < 1) $error("residue_array: Count must be at least 1");
    if (V < 2 || V > 62) $error("residue_array: V is 2 to 62");
    if (Words < 2) $error("residue_array: Words must be at least 2");
    if (Stages > 7) $error("residue_array: Stages is 0 to 7");
    if (Architecture > 3) $error("residue_array: Architecture is 0, 1, 2 or 3");

    logic [Count-1:0] ready, valid;

    for (genvar i = 0; i < int'(Count); i++) begin : gen_unit
        localparam logic [63:0] Q = Primes[64*i+:64];
        if (rns_pkg::word_bits(Q) != V) $error("residue_array: every prime must have V bits");

        if (Architecture == 2) begin : gen_roy
            residue_unit_roy #(
                .Q(Q),
                .Words(Words),
                .Stages(Stages)
            ) u_unit (
                .clk_i,
                .rst_ni,
                .in_valid_i,
                .in_ready_o (ready[i]),
                .a_i,
                .out_valid_o(valid[i]),
                .out_ready_i,
                .r_o        (r_o[i*V+:V])
            );
        end else if (Architecture == 3) begin : gen_tan
            residue_unit_tan #(
                .Q(Q),
                .Words(Words),
                .Stages(Stages)
            ) u_unit (
                .clk_i,
                .rst_ni,
                .in_valid_i,
                .in_ready_o (ready[i]),
                .a_i,
                .out_valid_o(valid[i]),
                .out_ready_i,
                .r_o        (r_o[i*V+:V])
            );
        end else begin : gen_special
            residue_unit #(
                .Q(Q),
                .Words(Words),
                .Stages(Stages),
                .Compact(Architecture)
            ) u_unit (
                .clk_i,
                .rst_ni,
                .in_valid_i,
                .in_ready_o (ready[i]),
                .a_i,
                .out_valid_o(valid[i]),
                .out_ready_i,
                .r_o        (r_o[i*V+:V])
            );
        end
    end

    // All units have the same stages and streams, so they behave alike.
    assign in_ready_o = &ready;
    assign out_valid_o = &valid;
endmodule
