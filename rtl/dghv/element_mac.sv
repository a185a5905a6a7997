// SPDX-License-Identifier: MIT OR Apache-2.0
// A sum of multiples, a word at a time: z = a + b x, for a coefficient b of Limbs words.
//
// Words of a and x come in pairs, the lowest first, and words of z leave in the same order; x is followed by Limbs zeros (or a and z are, by whoever asks), and the pair
// that is marked as the last clears the carry behind it. z must have room: what is carried out of its last word is lost, and carry_o says with that word that there was something.
//
// Each word of x meets all limbs at once; products are added up in columns, the transposed form of a filter, so no sum is wider than two words and a few bits:
// y_t < Limbs 2^128, and the carry into the next word is below (Limbs + 1) 2^64. A word a cycle, latency 3 cycles; a full stop of the pipeline while nobody takes.
module element_mac #(
    parameter int unsigned Limbs = 16  // words of a coefficient, 1 to 64
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic [64*Limbs-1:0] b_i,      // stays while words are under way
    input  logic                valid_i,
    output logic                ready_o,
    input  logic [63:0]         a_i,
    input  logic [63:0]         x_i,
    input  logic                last_i,
    output logic                valid_o,
    input  logic                ready_i,
    output logic [63:0]         z_o,
    output logic                last_o,
    output logic                carry_o
);
    if (Limbs < 1 || Limbs > 64) $error("element_mac: Limbs is 1 to 64");

    localparam int unsigned Column = 128 + $clog2(Limbs + 1);

    logic step;
    assign step = !valid_o || ready_i;
    assign ready_o = step;

    // First the products, then the columns, then the carries.
    logic [2:1] valid_q, last_q;
    logic [2:1][63:0] a_q;
    logic [Limbs-1:0][127:0] product_q;
    logic [Limbs-1:0][Column-1:0] column_q;
    logic [Column-64:0] carry_q;
    logic [Column:0] total;

    assign total = {1'b0, column_q[0]} + (Column + 1)'(a_q[2]) + (Column + 1)'(carry_q);

    for (genvar k = 0; k < int'(Limbs); k++) begin : gen_limb
        // What the column after this one has gathered, unless a number ended there.
        logic [Column-1:0] behind;
        if (k + 1 < int'(Limbs)) begin : gen_inner
            assign behind = last_q[2] && valid_q[2] ? '0 : column_q[k+1];
        end else begin : gen_end
            assign behind = '0;
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                product_q[k] <= '0;
                column_q[k]  <= '0;
            end else if (step) begin
                if (valid_i) product_q[k] <= 128'(x_i) * 128'(b_i[64*k+:64]);
                if (valid_q[1]) column_q[k] <= behind + Column'(product_q[k]);
                else if (valid_q[2] && last_q[2]) column_q[k] <= '0;
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            valid_q <= '0;
            last_q  <= '0;
            a_q     <= '0;
            carry_q <= '0;
            valid_o <= 1'b0;
            z_o     <= '0;
            last_o  <= 1'b0;
            carry_o <= 1'b0;
        end else if (step) begin
            valid_q <= {valid_q[1], valid_i};
            if (valid_i) begin
                last_q[1] <= last_i;
                a_q[1]    <= a_i;
            end
            if (valid_q[1]) begin
                last_q[2] <= last_q[1];
                a_q[2]    <= a_q[1];
            end
            valid_o <= valid_q[2];
            z_o     <= total[63:0];
            last_o  <= last_q[2];
            carry_o <= last_q[2] && total[Column:64] != '0;
            if (valid_q[2]) carry_q <= last_q[2] ? '0 : total[Column:64];
        end
    end
endmodule
