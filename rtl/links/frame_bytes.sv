// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts words into the bytes of a frame: a flag, the words and their CRC-32, each word's least
// significant byte first, and a flag.
//
// A flag or an escape among the bytes is sent as two bytes (link_pkg). A byte is offered in every
// cycle of a frame; a word is accepted with its last byte. The checksum is the complement of the
// remainder of crc32, which starts from all ones.
module frame_bytes (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        in_valid_i,
    output logic        in_ready_o,
    input  logic [31:0] in_data_i,
    input  logic        in_last_i,
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output logic [7:0]  out_data_o,
    output logic        between_o    // no frame has begun: any number of flags may be sent
);
    typedef enum logic [1:0] {
        Before,  // the flag before a frame
        Words,
        Check,   // the checksum
        Behind   // the flag after it
    } state_e;

    state_e state_q;
    logic [1:0] byte_q;
    logic [31:0] crc_q, crc, word;
    logic [7:0] raw;
    logic special, turned_q, whole;

    crc32 u_crc (
        .crc_i (crc_q),
        .data_i(in_data_i),
        .crc_o (crc)
    );

    assign word = state_q == Check ? ~crc_q : in_data_i;
    assign raw = word[8*byte_q+:8];
    assign between_o = state_q == Before;
    assign special = raw == link_pkg::Flag || raw == link_pkg::Escape;
    assign out_valid_o = (state_q == Before || state_q == Words) ? in_valid_i : 1'b1;

    always_comb begin
        out_data_o = link_pkg::Flag;
        if (state_q == Words || state_q == Check) begin
            out_data_o = raw;
            if (special) out_data_o = turned_q ? raw ^ link_pkg::Turned : link_pkg::Escape;
        end
    end

    // The byte itself is sent, not the escape before it.
    assign whole = out_valid_o && out_ready_i && (!special || turned_q);
    assign in_ready_o = state_q == Words && byte_q == 2'd3 && whole;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q  <= Before;
            byte_q   <= '0;
            crc_q    <= '1;
            turned_q <= 1'b0;
        end else if (out_valid_o && out_ready_i) begin
            unique case (state_q)
                Before: begin
                    state_q <= Words;
                    crc_q   <= '1;
                end
                Words, Check: begin
                    turned_q <= special && !turned_q;
                    if (whole) begin
                        byte_q <= byte_q + 2'd1;
                        if (byte_q == 2'd3 && state_q == Words) begin
                            crc_q <= crc;
                            if (in_last_i) state_q <= Check;
                        end else if (byte_q == 2'd3) begin
                            state_q <= Behind;
                        end
                    end
                end
                default: state_q <= Before;
            endcase
        end
    end
endmodule
