// SPDX-License-Identifier: MIT OR Apache-2.0
// The products of pieces of x and pieces of a constant, each for one DSP block. Their sum is
// Factor x.
//
// Pieces of x have XTile bits, those of Factor FTile bits. A part has all bits of Factor x: its
// product, at its place among zeros. Combinational.
module constant_parts #(
    parameter int unsigned            FactorBits = 30,            // at least 1
    parameter logic [FactorBits-1:0]  Factor     = '1,
    parameter int unsigned            XBits      = 46,            // at least 1
    parameter int unsigned            XTile      = 26,            // at least 1
    parameter int unsigned            FTile      = 17,            // at least 1
    // Derived; a division by zero would hide the messages below.
    parameter int unsigned            XPieces    = (XTile < 1) ? 1 : (XBits + XTile - 1) / XTile,
    parameter int unsigned            FPieces    = (FTile < 1) ? 1 : (FactorBits + FTile - 1) / FTile,
    parameter int unsigned            YBits      = XBits + FactorBits
) (
    input  logic [XBits-1:0]                 x_i,
    output logic [XPieces*FPieces*YBits-1:0] parts_o
);
    if (FactorBits < 1 || XBits < 1) $error("constant_parts: FactorBits and XBits must be at least 1");
    if (XTile < 1 || FTile < 1) $error("constant_parts: XTile and FTile must be at least 1");

    if (XTile > 0 && FTile > 0) begin : gen_parts
        for (genvar f = 0; f < int'(FPieces); f++) begin : gen_factor
            localparam int unsigned FWidth = (FactorBits - f * FTile < FTile) ? FactorBits - f * FTile : FTile;
            localparam logic [FWidth-1:0] Piece = Factor[f*FTile+:FWidth];
            for (genvar k = 0; k < int'(XPieces); k++) begin : gen_x
                localparam int unsigned XWidth = (XBits - k * XTile < XTile) ? XBits - k * XTile : XTile;
                logic [FWidth+XWidth-1:0] product;
                assign product = (FWidth + XWidth)'(x_i[k*XTile +: XWidth]) * (FWidth + XWidth)'(Piece);
                assign parts_o[(f*XPieces+k)*YBits+:YBits] = YBits'(product) << (f * FTile + k * XTile);
            end
        end
    end else begin : gen_none
        assign parts_o = '0;
    end
endmodule
