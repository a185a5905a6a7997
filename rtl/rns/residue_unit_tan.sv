// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a long integer modulo a special prime, with the architecture of PaReNTT and blocks of two
// words: r = a mod q, a of Words words of V bits.
//
//   b_j = (A[2j] + beta A[2j+1]) mod q                                       pair_words, d times flexible_barrett, d = ceil(Words / 2)
//   R1  = sum over j of b_j (2^(2Vj) mod q) < 2^(2V + ceil(log2 d))          weighted_sum, d - 1 multipliers
//   r   = R1 mod q                                                           flexible_barrett
//
// Latency: Stages cycles. Rate: an item every cycle. Source: PaReNTT [TCWLP24], in the form that
// [CP24] compares with (its supplement, fig. 2).
module residue_unit_tan #(
    parameter logic [63:0] Q      = 64'd1073692673,  // the prime, of 2 to 62 bits
    parameter int unsigned Words  = 12,              // at least 2
    parameter int unsigned Stages = 4,               // registers from end to end, 0 to 9
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
    // The positions of the registers: after the pairs, flexible_barrett's three, the products,
    // their sum, the last flexible_barrett's three.
    function automatic logic [8:0] cuts(input int unsigned stages);
        case (stages)
            0: cuts = 9'b000000000;
            1: cuts = 9'b000010000;
            2: cuts = 9'b000101000;
            3: cuts = 9'b001101000;
            4: cuts = 9'b001110010;
            5: cuts = 9'b001111010;
            6: cuts = 9'b101111010;
            7: cuts = 9'b101111011;
            8: cuts = 9'b101111111;
            default: cuts = 9'b111111111;
        endcase
    endfunction
    localparam logic [8:0] Cuts = cuts(Stages);

    localparam int unsigned Pairs = (Words + 1) / 2;
    localparam int unsigned SBits = V + rns_pkg::beta_bits(Q);
    localparam int unsigned SumBits = 2 * V + $clog2(Pairs);

    if (V < 2 || V > 62 || Q <= 64'd1 << (V - 1)) $error("residue_unit_tan: Q must have 2 to 62 bits");
    if (Words < 2) $error("residue_unit_tan: Words must be at least 2");
    if (Stages > 9) $error("residue_unit_tan: Stages must be at most 9");

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

    // All reductions run in step.
    logic [Pairs-1:0] block_valid, block_ready;
    logic [Pairs*V-1:0] blocks;
    logic blocks_ready;

    for (genvar j = 0; j < int'(Pairs); j++) begin : gen_block
        flexible_barrett #(
            .Q         (Q),
            .K         (SBits),
            .Quotient  (32'(Cuts[1])),
            .Difference(32'(Cuts[2])),
            .Residue   (32'(Cuts[3]))
        ) u_barrett (
            .clk_i,
            .rst_ni,
            .in_valid_i (s_valid),
            .in_ready_o (block_ready[j]),
            .x_i        (s_kept[j*SBits+:SBits]),
            .out_valid_o(block_valid[j]),
            .out_ready_i(blocks_ready),
            .r_o        (blocks[j*V+:V])
        );
    end
    assign s_ready = &block_ready;

    weighted_sum #(
        .Q       (Q),
        .Items   (Pairs),
        .XBits   (V),
        .Step    (2 * V),
        .Products(32'(Cuts[4])),
        .Sum     (32'(Cuts[5]))
    ) u_sum (
        .clk_i,
        .rst_ni,
        .in_valid_i (&block_valid),
        .in_ready_o (blocks_ready),
        .x_i        (blocks),
        .out_valid_o(sum_valid),
        .out_ready_i(sum_ready),
        .r_o        (sum)
    );

    flexible_barrett #(
        .Q         (Q),
        .K         (SumBits),
        .Quotient  (32'(Cuts[6])),
        .Difference(32'(Cuts[7])),
        .Residue   (32'(Cuts[8]))
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
