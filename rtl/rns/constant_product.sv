// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies by a constant, cut into pieces that fit a DSP block: y = Factor x.
//
// Pieces of x have XTile bits, those of Factor FTile bits: 26 by 17 or 17 by 26 for a DSP48E2,
// whose operands are signed and have 27 and 18 bits. A remaining piece of Factor of at most Spare
// bits is multiplied by shifts and additions instead. XTile = 0 leaves the cutting to synthesis.
// Combinational.
module constant_product #(
    parameter int unsigned            FactorBits = 30,            // at least 1
    parameter logic [FactorBits-1:0]  Factor     = '1,
    parameter int unsigned            XBits      = 46,             // at least 1
    parameter int unsigned            XTile      = 26,
    parameter int unsigned            FTile      = 17,             // at least 1
    parameter int unsigned            Spare      = 3              // at most 31
) (
    input  logic [XBits-1:0]            x_i,
    output logic [XBits+FactorBits-1:0] y_o
);
    if (FactorBits < 1 || XBits < 1) $error("constant_product: FactorBits and XBits must be at least 1");
    if (FTile < 1 || Spare > 31) $error("constant_product: FTile must be at least 1, Spare at most 31");

    localparam int unsigned YBits = XBits + FactorBits;

    if (XTile == 0) begin : gen_whole
        assign y_o = YBits'(x_i) * YBits'(Factor);
    end else begin : gen_cut
        localparam int unsigned Rest = FactorBits % FTile;
        localparam int unsigned Soft = (Rest <= Spare) ? Rest : 0;
        localparam int unsigned FPieces = (FactorBits - Soft + FTile - 1) / FTile;
        localparam int unsigned XPieces = (XBits + XTile - 1) / XTile;

        logic [YBits-1:0] partial[FPieces * XPieces + 1];

        for (genvar f = 0; f < int'(FPieces); f++) begin : gen_factor
            localparam int unsigned FWidth = (FactorBits - Soft - f * FTile < FTile) ? FactorBits - Soft - f * FTile : FTile;
            localparam logic [FWidth-1:0] Piece = Factor[f*FTile+:FWidth];
            for (genvar k = 0; k < int'(XPieces); k++) begin : gen_x
                localparam int unsigned XWidth = (XBits - k * XTile < XTile) ? XBits - k * XTile : XTile;
                logic [FWidth+XWidth-1:0] product;
                assign product = (FWidth + XWidth)'(x_i[k*XTile +: XWidth]) * (FWidth + XWidth)'(Piece);
                assign partial[f * XPieces + k] = YBits'(product) << (f * FTile + k * XTile);
            end
        end

        if (Soft == 0) begin : gen_hard
            assign partial[FPieces*XPieces] = '0;
        end else begin : gen_soft
            logic [YBits-1:0] product;
            shift_add #(
                .Factor (64'(Factor[FactorBits-1-:Soft])),
                .InBits (XBits),
                .OutBits(YBits)
            ) u_soft (
                .x_i,
                .y_o(product)
            );
            assign partial[FPieces*XPieces] = product << (FPieces * FTile);
        end

        always_comb begin
            y_o = '0;
            for (int i = 0; i <= int'(FPieces * XPieces); i++) y_o = y_o + partial[i];
        end
    end
endmodule
