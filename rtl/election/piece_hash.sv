// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 of a message in pieces of bytes, each at the high end of a register, a byte a cycle.
//
// A piece is accepted when the one before it has been hashed. After the last one, the digest is on
// offer until it is accepted, and then the next message begins. Sources: sha256.
module piece_hash #(
    parameter int unsigned Bytes = 72,  // of a piece at most, at least 4
    localparam int unsigned CountBits = $clog2(Bytes + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [8*Bytes-1:0]   in_data_i,   // its first byte at the high end
    input  logic [CountBits-1:0] in_count_i,  // its bytes, at least 1
    input  logic                 in_last_i,
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [255:0]         out_data_o
);
    if (Bytes < 4) $error("piece_hash: Bytes must be at least 4");

    logic [8*Bytes-1:0] piece_q;
    logic [CountBits-1:0] left_q;
    logic [1:0] place_q;
    logic [23:0] word_q;
    logic last_q, hashed_q, sends, ends, word, hash_ready, taken;

    assign in_ready_o = rst_ni && left_q == '0 && !hashed_q;
    assign sends = left_q != '0;
    assign ends = last_q && left_q == CountBits'(1);
    assign word = sends && (place_q == 2'd3 || ends);
    assign taken = sends && (!word || hash_ready);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            piece_q  <= '0;
            left_q   <= '0;
            place_q  <= '0;
            word_q   <= '0;
            last_q   <= 1'b0;
            hashed_q <= 1'b0;
        end else begin
            if (in_valid_i && in_ready_o) begin
                piece_q <= in_data_i;
                left_q  <= in_count_i;
                last_q  <= in_last_i;
            end
            if (taken) begin
                piece_q <= piece_q << 8;
                left_q  <= left_q - CountBits'(1);
                place_q <= ends ? 2'd0 : place_q + 2'd1;
                word_q  <= {word_q[15:0], piece_q[8*Bytes-1-:8]};
                if (ends) hashed_q <= 1'b1;
            end
            if (out_valid_o && out_ready_i) hashed_q <= 1'b0;
        end
    end

    // A partial word has its bytes at the high end.
    logic [31:0] full;
    assign full = {word_q, piece_q[8*Bytes-1-:8]} << {2'd3 - place_q, 3'd0};
    sha256 u_hash (
        .clk_i,
        .rst_ni,
        .in_valid_i(word),
        .in_ready_o(hash_ready),
        .in_data_i (full),
        .in_last_i (ends),
        .in_bytes_i(place_q + 2'd1),
        .out_valid_o,
        .out_ready_i,
        .out_data_o
    );
endmodule
