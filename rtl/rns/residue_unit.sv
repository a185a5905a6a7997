// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a long integer modulo a special prime, with the architecture of the RNS paper [CP24]: r =
// a mod q, a of Words words of V bits.
//
//   s_j = A[2j] + beta A[2j+1] < 2^(V+L)                                     pair_words
//   R1  = sum over j of s_j (2^(2Vj) mod q) < 2^(2V + L + ceil(log2 d))      weighted_sum, d - 1 multipliers, d = ceil(Words / 2)
//   r   = R1 mod q                                                           fold_barrett
//
// q = 2^V - beta, L the bits of beta. Any 2^(V-1) < q < 2^V is allowed; a beta of few signed powers
// of two keeps the unit small. Compact = 0: everything as in the paper, and synthesis chooses how
// to multiply. Compact = 1: our variant for fewer DSP blocks. It uses the truncated Barrett
// reduction of flexible_barrett, whose multiplier is shorter, and cuts all products as
// constant_product does.
//
// Latency: Stages cycles. Rate: an item every cycle. Source: [CP24], algorithm 1.
module residue_unit #(
    parameter logic [63:0] Q         = 64'd1073692673,  // the prime, of 2 to 62 bits
    parameter int unsigned Words     = 12,              // at least 2
    parameter int unsigned Stages    = 4,               // registers from end to end, 0 to 8
    parameter int unsigned Compact   = 0,
    // Derived.
    parameter int unsigned V         = rns_pkg::word_bits(Q)
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
    // The positions of the registers: after the pairs, the products, their sum, the fold's product,
    // the fold, and flexible_barrett's three.
    function automatic logic [7:0] cuts(input int unsigned stages);
        case (stages)
            0: cuts = 8'b00000000;
            1: cuts = 8'b00000100;
            2: cuts = 8'b00010010;
            3: cuts = 8'b00110010;
            4: cuts = 8'b00110110;
            5: cuts = 8'b00110111;
            6: cuts = 8'b10110111;
            7: cuts = 8'b10111111;
            default: cuts = 8'b11111111;
        endcase
    endfunction
    localparam logic [7:0] Cuts = cuts(Stages);

    localparam int unsigned Pairs = (Words + 1) / 2;
    localparam int unsigned SBits = V + rns_pkg::beta_bits(Q);
    localparam int unsigned SumBits = SBits + V + $clog2(Pairs);

    if (V < 2 || V > 62 || Q <= 64'd1 << (V - 1)) $error("residue_unit: Q must have 2 to 62 bits");
    if (Words < 2) $error("residue_unit: Words must be at least 2");
    if (Stages > 8) $error("residue_unit: Stages must be at most 8");

    logic [Pairs*SBits-1:0] s, s_kept;
    logic s_valid, s_ready, sum_valid, sum_ready;
    logic [SumBits-1:0] sum;

    pair_words #(
        .Q(Q),
        .Words(Words)
    ) u_pairs (
        .a_i,
        .s_o(s)
    );

    stream_stage #(
        .Width  (Pairs * SBits),
        .Present(32'(Cuts[0]))
    ) u_stage (
        .clk_i,
        .rst_ni,
        .in_valid_i,
        .in_ready_o,
        .in_data_i  (s),
        .out_valid_o(s_valid),
        .out_ready_i(s_ready),
        .out_data_o (s_kept)
    );

    weighted_sum #(
        .Q       (Q),
        .Items   (Pairs),
        .XBits   (SBits),
        .Step    (2 * V),
        .Tiled   (Compact),
        .Products(32'(Cuts[1])),
        .Sum     (32'(Cuts[2]))
    ) u_sum (
        .clk_i,
        .rst_ni,
        .in_valid_i (s_valid),
        .in_ready_o (s_ready),
        .x_i        (s_kept),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .r_o        (sum)
    );

    fold_barrett #(
        .Q         (Q),
        .XBits     (SumBits),
        .Truncated (Compact),
        .Tiled     (Compact),
        .Product   (32'(Cuts[3])),
        .Fold      (32'(Cuts[4])),
        .Quotient  (32'(Cuts[5])),
        .Difference(32'(Cuts[6])),
        .Residue   (32'(Cuts[7]))
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
