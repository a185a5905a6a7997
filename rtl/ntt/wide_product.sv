// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies two numbers, cut into pieces that fit a DSP block.
//
// Registers: the factors; the products of pieces; the sum of each row of them, one row per piece of
// b; the sum of the rows. Pieces of a have ATile bits, those of b BTile. 24 by 17 fills a DSP48E1,
// whose operands are signed and have 25 and 18 bits. 17 by 17 counts blocks as [CMOOH13] does.
// Latency: 4 cycles with en_i (ntt_pkg::ProductLatency). Rate: an item every cycle.
module wide_product #(
    parameter int unsigned Bits  = 64,  // of each factor, at least 1
    parameter int unsigned ATile = 24,
    parameter int unsigned BTile = 17
) (
    input  logic              clk_i,
    input  logic              en_i,
    input  logic [Bits-1:0]   a_i,
    input  logic [Bits-1:0]   b_i,
    output logic [2*Bits-1:0] y_o
);
    if (Bits < 1 || ATile < 1 || BTile < 1) $error("wide_product: Bits, ATile and BTile must be at least 1");

    localparam int unsigned Columns = (Bits + ATile - 1) / ATile;
    localparam int unsigned Rows = (Bits + BTile - 1) / BTile;
    localparam int unsigned Piece = ATile + BTile;
    localparam int unsigned RowBits = Columns * ATile + BTile;

    logic [Columns*ATile-1:0] a_q;
    logic [Rows*BTile-1:0] b_q;
    logic [Rows*RowBits-1:0] row_q;

    always_ff @(posedge clk_i) begin
        if (en_i) begin
            a_q <= (Columns * ATile)'(a_i);
            b_q <= (Rows * BTile)'(b_i);
        end
    end

    for (genvar r = 0; r < int'(Rows); r++) begin : gen_row
        logic [Columns*Piece-1:0] piece_q;
        logic [RowBits-1:0] row;

        for (genvar c = 0; c < int'(Columns); c++) begin : gen_piece
            always_ff @(posedge clk_i) begin
                if (en_i) piece_q[c*Piece+:Piece] <= Piece'(a_q[c*ATile+:ATile]) * Piece'(b_q[r*BTile+:BTile]);
            end
        end

        always_comb begin
            row = '0;
            for (int unsigned c = 0; c < Columns; c++) row = row + (RowBits'(piece_q[c*Piece+:Piece]) << (c * ATile));
        end

        always_ff @(posedge clk_i) begin
            if (en_i) row_q[r*RowBits+:RowBits] <= row;
        end
    end

    logic [2*Bits-1:0] sum;
    always_comb begin
        sum = '0;
        for (int unsigned r = 0; r < Rows; r++) sum = sum + ((2 * Bits)'(row_q[r*RowBits+:RowBits]) << (r * BTile));
    end

    always_ff @(posedge clk_i) begin
        if (en_i) y_o <= sum;
    end

    logic unused;
    assign unused = &{1'b0, row_q};
endmodule
