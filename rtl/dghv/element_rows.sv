// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates the streams of a DGHV key's elements row by row from the key's seed. A row is a word of
// each of an element's eight segments.
//
// Word k of a row, lowest first, is half a block of AES-128 in counter mode under the seed. Row t
// is blocks 4 t to 4 t + 3, whose numbers have the element's index in their upper 64 bits. A
// request gives an element, its first row and the number of rows, and returns eight words per row.
// Nothing is cut: words beyond the element's bits are as random as the others (block_operands
// cuts). Rate: two words every 10 / Rounds cycles, at most one a cycle.
//
// seed_load_i loads a seed and drops everything in progress. wipe_i and reset do that too, and also
// clear the keys of the seed.
module element_rows #(
    parameter int unsigned Rounds     = 5,   // of aes_ctr
    parameter int unsigned RowWidth   = 24,  // bits of a row's number
    parameter int unsigned CountWidth = 16   // bits of a length in rows
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  wipe_i,
    input  logic                  seed_load_i,
    input  logic [127:0]          seed_i,       // the first byte at the low end
    input  logic                  req_valid_i,
    output logic                  req_ready_o,
    input  logic [31:0]           req_index_i,
    input  logic [RowWidth-1:0]   req_row_i,
    input  logic [CountWidth-1:0] req_count_i,  // not 0
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [63:0]           word_o
);
    if (RowWidth < 1 || RowWidth > 62) $error("element_rows: RowWidth is 1 to 62");
    if (CountWidth < 1 || CountWidth > 62) $error("element_rows: CountWidth is 1 to 62");

    logic live, block_ready, block_valid, block_taken, upper_q, asking_q;
    logic [31:0] index_q;
    logic [RowWidth+1:0] at_q;     // in blocks
    logic [CountWidth+1:0] left_q;
    logic [127:0] block;

    assign live = rst_ni && !wipe_i && !seed_load_i;
    assign req_ready_o = !asking_q;

    always_ff @(posedge clk_i) begin
        if (!live) begin
            asking_q <= 1'b0;
            index_q  <= '0;
            at_q     <= '0;
            left_q   <= '0;
        end else if (!asking_q) begin
            asking_q <= req_valid_i;
            index_q  <= req_index_i;
            at_q     <= {req_row_i, 2'd0};
            left_q   <= {req_count_i, 2'd0};
        end else if (block_ready) begin
            asking_q <= left_q != (CountWidth + 2)'(1);
            at_q     <= at_q + (RowWidth + 2)'(1);
            left_q   <= left_q - (CountWidth + 2)'(1);
        end
    end

    aes_ctr #(
        .Rounds(Rounds)
    ) u_aes (
        .clk_i,
        .rst_ni,
        .wipe_i,
        .load_i     (seed_load_i),
        .key_i      (seed_i),
        .in_valid_i (asking_q),
        .in_ready_o (block_ready),
        .number_i   ({32'd0, index_q, 64'(at_q)}),
        .out_valid_o(block_valid),
        .out_ready_i(block_taken),
        .block_o    (block)
    );

    assign valid_o = block_valid;
    assign word_o = upper_q ? block[127:64] : block[63:0];
    assign block_taken = ready_i && upper_q;

    always_ff @(posedge clk_i) begin
        if (!live) upper_q <= 1'b0;
        else if (valid_o && ready_i) upper_q <= !upper_q;
    end

    // Assertions apply only after the first reset.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(SomethingRequested, !(req_valid_i && req_ready_o) || req_count_i != '0, clk_i, !rst_ni || !settled_q)
endmodule
