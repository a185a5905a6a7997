// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a long integer modulo a special prime, with a register behind every step: r = a mod q, a
// of Words words of V bits.
//
// The steps are those of the compact residue_unit (Paired = 1) or of residue_unit_roy (Paired = 0),
// which has no pairs and twice the products. Every product is cut into pieces for DSP blocks, with
// registers between the blocks and the additions of their products:
//
//   0  s_j                          pairs, if Paired
//   1  the pieces' products of s_j (2^(Step j) mod q)
//   2  their sums, the products
//   3  R1, the sum of the products < 2^SumBits
//   4  the pieces' products of (R1 >> S) (2^S mod q)
//   5  y = (R1 mod 2^S) + their sum < 2^K
//   6  the pieces' products of (y >> (V-2)) m
//   7  h, from their sum
//   8  y - h q
//   9  r
//
// Latency: 9 + Paired cycles. Rate: an item every cycle. Sources: as for residue_unit,
// residue_unit_roy and flexible_barrett, whose bounds hold here.
module residue_unit_deep #(
    parameter logic [63:0] Q      = 64'd1073692673,  // the prime, of 2 to 62 bits
    parameter int unsigned Words  = 12,              // at least 2
    parameter int unsigned Paired = 1,
    // bits of a piece of a factor, and of a constant
    parameter int unsigned XTile  = 26,
    parameter int unsigned FTile  = 17,
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
    if (V < 2 || V > 62 || Q <= 64'd1 << (V - 1)) $error("residue_unit_deep: Q must have 2 to 62 bits");
    if (Words < 2) $error("residue_unit_deep: Words must be at least 2");
    if (Paired > 1) $error("residue_unit_deep: Paired is 0 or 1");
    if (XTile < 1 || FTile < 1) $error("residue_unit_deep: XTile and FTile must be at least 1");

    localparam int unsigned Items = (Paired != 0) ? (Words + 1) / 2 : Words;
    localparam int unsigned SBits = (Paired != 0) ? V + rns_pkg::beta_bits(Q) : V;
    localparam int unsigned Step = (Paired != 0) ? 2 * V : V;
    localparam int unsigned ProductBits = SBits + V;
    localparam int unsigned SumBits = ProductBits + $clog2(Items);
    // The fold.
    localparam int unsigned S = (SumBits + V + 1) / 2;
    localparam int unsigned HighBits = SumBits - S;
    localparam int unsigned FoldBits = HighBits + V;
    localparam int unsigned K = S + 1;
    // The truncated Barrett reduction.
    localparam int unsigned MBits = K - V + 2;
    localparam logic [MBits-1:0] M = MBits'(rns_pkg::quotient(K + 1, Q));
    localparam int unsigned HBits = K - V + 1;
    // The pieces of a product with a constant of CBits bits.
    function automatic int unsigned pieces(input int unsigned x_bits, input int unsigned c_bits);
        pieces = 1;
        if (XTile > 0 && FTile > 0) pieces = ((x_bits + XTile - 1) / XTile) * ((c_bits + FTile - 1) / FTile);
    endfunction
    localparam int unsigned Parts = pieces(SBits, V);
    localparam int unsigned FoldParts = pieces(HighBits, V);
    localparam int unsigned MParts = pieces(MBits, MBits);

    // valid[i] and ready[i] are those in front of register i.
    logic [10:0] valid, ready;
    assign valid[0] = in_valid_i;
    assign in_ready_o = ready[0];
    assign out_valid_o = valid[10];
    assign ready[10] = out_ready_i;

    // 0: the items.
    logic [Items*SBits-1:0] s, s_q;
    if (Paired != 0) begin : gen_pairs
        pair_words #(
            .Q(Q),
            .Words(Words)
        ) u_pairs (
            .a_i,
            .s_o(s)
        );
    end else begin : gen_words
        assign s = a_i;
    end
    stream_stage #(
        .Width  (Items * SBits),
        .Present(Paired)
    ) u_items (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[0]),
        .in_ready_o (ready[0]),
        .in_data_i  (s),
        .out_valid_o(valid[1]),
        .out_ready_i(ready[1]),
        .out_data_o (s_q)
    );

    // 1 and 2: the products. That of item 0, whose weight is 1, is the item.
    localparam int unsigned AllParts = (Items - 1) * Parts * ProductBits;
    localparam int unsigned AllProducts = (Items - 1) * ProductBits;
    logic [AllParts+SBits-1:0] parts, parts_q;
    logic [AllProducts+SBits-1:0] products, products_q;
    assign parts[SBits-1:0] = s_q[SBits-1:0];
    assign products[SBits-1:0] = parts_q[SBits-1:0];
    for (genvar j = 1; j < int'(Items); j++) begin : gen_product
        constant_parts #(
            .FactorBits(V),
            .Factor    (V'(rns_pkg::power_of_two(Step * j, Q))),
            .XBits     (SBits),
            .XTile     (XTile),
            .FTile     (FTile)
        ) u_parts (
            .x_i    (s_q[j*SBits+:SBits]),
            .parts_o(parts[SBits+(j-1)*Parts*ProductBits+:Parts*ProductBits])
        );
        add_all #(
            .Count(Parts),
            .Bits (ProductBits)
        ) u_product (
            .x_i  (parts_q[SBits+(j-1)*Parts*ProductBits+:Parts*ProductBits]),
            .sum_o(products[SBits+(j-1)*ProductBits+:ProductBits])
        );
    end
    stream_stage #(
        .Width(AllParts + SBits)
    ) u_parts (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[1]),
        .in_ready_o (ready[1]),
        .in_data_i  (parts),
        .out_valid_o(valid[2]),
        .out_ready_i(ready[2]),
        .out_data_o (parts_q)
    );
    stream_stage #(
        .Width(AllProducts + SBits)
    ) u_products (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[2]),
        .in_ready_o (ready[2]),
        .in_data_i  (products),
        .out_valid_o(valid[3]),
        .out_ready_i(ready[3]),
        .out_data_o (products_q)
    );

    // 3: their sum.
    logic [Items*SumBits-1:0] summands;
    logic [SumBits-1:0] sum, sum_q;
    assign summands[SumBits-1:0] = SumBits'(products_q[SBits-1:0]);
    for (genvar j = 1; j < int'(Items); j++) begin : gen_summand
        assign summands[j*SumBits+:SumBits] = SumBits'(products_q[SBits+(j-1)*ProductBits+:ProductBits]);
    end
    add_all #(
        .Count(Items),
        .Bits (SumBits)
    ) u_add (
        .x_i  (summands),
        .sum_o(sum)
    );
    stream_stage #(
        .Width(SumBits)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[3]),
        .in_ready_o (ready[3]),
        .in_data_i  (sum),
        .out_valid_o(valid[4]),
        .out_ready_i(ready[4]),
        .out_data_o (sum_q)
    );

    // 4 and 5: the fold.
    logic [FoldParts*FoldBits-1:0] fold_parts, fold_parts_q;
    logic [S-1:0] low_q;
    logic [FoldBits-1:0] fold;
    logic [K-1:0] y_q;
    constant_parts #(
        .FactorBits(V),
        .Factor    (V'(rns_pkg::power_of_two(S, Q))),
        .XBits     (HighBits),
        .XTile     (XTile),
        .FTile     (FTile)
    ) u_fold_parts (
        .x_i    (sum_q[SumBits-1:S]),
        .parts_o(fold_parts)
    );
    stream_stage #(
        .Width(FoldParts * FoldBits + S)
    ) u_high (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[4]),
        .in_ready_o (ready[4]),
        .in_data_i  ({fold_parts, sum_q[S-1:0]}),
        .out_valid_o(valid[5]),
        .out_ready_i(ready[5]),
        .out_data_o ({fold_parts_q, low_q})
    );
    add_all #(
        .Count(FoldParts),
        .Bits (FoldBits)
    ) u_fold (
        .x_i  (fold_parts_q),
        .sum_o(fold)
    );
    // Without it a ready would pass all registers within a cycle.
    stream_skid #(
        .Width(K),
        .Wiped(0)
    ) u_y (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[5]),
        .in_ready_o (ready[5]),
        .in_data_i  (K'(low_q) + K'(fold)),
        .out_valid_o(valid[6]),
        .out_ready_i(ready[6]),
        .out_data_o (y_q)
    );

    // 6 and 7: the quotient.
    logic [MParts*2*MBits-1:0] m_parts, m_parts_q;
    logic [2*MBits-1:0] scaled;
    logic [V:0] low_y_q, rest_y_q;
    logic [HBits-1:0] h_q;
    constant_parts #(
        .FactorBits(MBits),
        .Factor    (M),
        .XBits     (MBits),
        .XTile     (XTile),
        .FTile     (FTile)
    ) u_m_parts (
        .x_i    (y_q[K-1:V-2]),
        .parts_o(m_parts)
    );
    stream_stage #(
        .Width(MParts * 2 * MBits + V + 1)
    ) u_scaled (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[6]),
        .in_ready_o (ready[6]),
        .in_data_i  ({m_parts, y_q[V:0]}),
        .out_valid_o(valid[7]),
        .out_ready_i(ready[7]),
        .out_data_o ({m_parts_q, low_y_q})
    );
    add_all #(
        .Count(MParts),
        .Bits (2 * MBits)
    ) u_m (
        .x_i  (m_parts_q),
        .sum_o(scaled)
    );
    stream_stage #(
        .Width(HBits + V + 1)
    ) u_quotient (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[7]),
        .in_ready_o (ready[7]),
        .in_data_i  ({scaled[K-V+3+:HBits], low_y_q}),
        .out_valid_o(valid[8]),
        .out_ready_i(ready[8]),
        .out_data_o ({h_q, rest_y_q})
    );

    // 8: y - h q modulo 2^(V+1), with h q = 2^V h - beta h.
    logic [V:0] beta_h, rest_q;
    shift_add #(
        .Factor (rns_pkg::beta(Q)),
        .InBits (HBits),
        .OutBits(V + 1)
    ) u_beta (
        .x_i(h_q),
        .y_o(beta_h)
    );
    stream_stage #(
        .Width(V + 1)
    ) u_difference (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[8]),
        .in_ready_o (ready[8]),
        .in_data_i  (rest_y_q + beta_h - {h_q[0], {V{1'b0}}}),
        .out_valid_o(valid[9]),
        .out_ready_i(ready[9]),
        .out_data_o (rest_q)
    );

    // 9: less q, unless it is below q.
    logic [V+1:0] less;
    assign less = {1'b0, rest_q} - (V + 2)'(Q);
    stream_stage #(
        .Width(V)
    ) u_residue (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[9]),
        .in_ready_o (ready[9]),
        .in_data_i  (less[V+1] ? rest_q[V-1:0] : less[V-1:0]),
        .out_valid_o(valid[10]),
        .out_ready_i(ready[10]),
        .out_data_o (r_o)
    );

    logic unused;
    assign unused = &{1'b0, scaled, less[V]};
endmodule
