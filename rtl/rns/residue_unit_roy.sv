// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a long integer modulo a prime, with the architecture of HEPCloud unrolled in parallel: r
// = a mod q, a of Words words of V bits.
//
//   R1 = sum over j of A[j] (2^(Vj) mod q) < 2^(2V + ceil(log2 Words))       weighted_sum, Words - 1 multipliers
//   r  = R1 mod q                                                            fold_barrett
//
// Latency: Stages cycles. Rate: an item every cycle. Source: HEPCloud [RJVVV18], in the form that
// [CP24] compares with (its supplement, fig. 1).
module residue_unit_roy #(
    parameter logic [63:0] Q      = 64'd1073692673,  // the prime, of 2 to 62 bits
    parameter int unsigned Words  = 12,              // at least 2
    parameter int unsigned Stages = 4,               // registers from end to end, 0 to 7
    // Derived.
    parameter int unsigned V      = rns_pkg::word_bits(Q)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [Words*V-1:0] a_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [V-1:0]       r_o          // below q
);
    // The positions of the registers: after the products, their sum, the fold's product, the fold,
    // and flexible_barrett's three.
    function automatic logic [6:0] cuts(input int unsigned stages);
        case (stages)
            0: cuts = 7'b0000000;
            1: cuts = 7'b0000010;
            2: cuts = 7'b0001001;
            3: cuts = 7'b0011001;
            4: cuts = 7'b0011011;
            5: cuts = 7'b1011011;
            6: cuts = 7'b1011111;
            default: cuts = 7'b1111111;
        endcase
    endfunction
    localparam logic [6:0] Cuts = cuts(Stages);
    localparam int unsigned SumBits = 2 * V + $clog2(Words);

    if (V < 2 || V > 62 || Q <= 64'd1 << (V - 1)) $error("residue_unit_roy: Q must have 2 to 62 bits");
    if (Words < 2) $error("residue_unit_roy: Words must be at least 2");
    if (Stages > 7) $error("residue_unit_roy: Stages must be at most 7");

    logic sum_valid, sum_ready;
    logic [SumBits-1:0] sum;

    weighted_sum #(
        .Q       (Q),
        .Items   (Words),
        .XBits   (V),
        .Step    (V),
        .Products(32'(Cuts[0])),
        .Sum     (32'(Cuts[1]))
    ) u_sum (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .x_i        (a_i),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .r_o        (sum)
    );

    fold_barrett #(
        .Q         (Q),
        .XBits     (SumBits),
        .Product   (32'(Cuts[2])),
        .Fold      (32'(Cuts[3])),
        .Quotient  (32'(Cuts[4])),
        .Difference(32'(Cuts[5])),
        .Residue   (32'(Cuts[6]))
    ) u_reduce (
        .clk_i,
        .rst_ni,
        .in_valid_i(sum_valid),
        .in_ready_o(sum_ready),
        .x_i       (sum),
        .out_valid_o,
        .out_ready_i,
        .r_o
    );
endmodule
