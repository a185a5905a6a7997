// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the bytes between two flags into words, and reports at the end whether they are a valid
// frame.
//
// A word is shown for one cycle, and so is the end of a frame; they never coincide. good_o means
// that the bytes are whole words, that no escape is left open, and that the last word is the CRC-32
// of those before it. There is no backpressure. Flags without bytes between them are no frame.
// Bytes before the first flag are ignored.
module frame_words (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [7:0]  data_i,
    output logic        word_o,     // a word
    output logic [31:0] data_o,
    output logic        end_o,      // the end of a frame
    output logic        good_o      // with end_o: the frame is valid
);
    logic inside_q, any_q, escaped_q, is_flag, is_escape, plain;
    logic [1:0] byte_q;
    logic [31:0] word, crc_q, crc;
    logic [23:0] bytes_q;

    assign is_flag = data_i == link_pkg::Flag;
    assign is_escape = data_i == link_pkg::Escape && !escaped_q;
    assign plain = valid_i && inside_q && !is_flag && !is_escape;
    assign word = {escaped_q ? data_i ^ link_pkg::Turned : data_i, bytes_q};

    crc32 u_crc (
        .crc_i (crc_q),
        .data_i(word),
        .crc_o (crc)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q  <= 1'b0;
            any_q     <= 1'b0;
            escaped_q <= 1'b0;
            byte_q    <= '0;
            bytes_q   <= '0;
            crc_q     <= '1;
            word_o    <= 1'b0;
            data_o    <= '0;
            end_o     <= 1'b0;
            good_o    <= 1'b0;
        end else begin
            word_o <= plain && byte_q == 2'd3;
            end_o  <= valid_i && is_flag && any_q;
            good_o <= valid_i && is_flag && any_q && byte_q == 2'd0 && !escaped_q && crc_q == link_pkg::Residue;
            if (valid_i && is_flag) begin
                inside_q  <= 1'b1;
                any_q     <= 1'b0;
                escaped_q <= 1'b0;
                byte_q    <= '0;
                crc_q     <= '1;
            end else if (valid_i && inside_q) begin
                any_q     <= 1'b1;
                escaped_q <= is_escape;
            end
            if (plain) begin
                byte_q  <= byte_q + 2'd1;
                bytes_q <= word[31:8];
                if (byte_q == 2'd3) begin
                    crc_q  <= crc;
                    data_o <= word;
                end
            end
        end
    end
endmodule
