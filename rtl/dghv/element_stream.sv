// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of a DGHV key's elements, made again from the key's seed (crates/dghv/src/elements.rs says how).
//
// An element has bits_i bits in w words of 64, cut in eight segments of g = ceil(w / 8). Word t of segment s is word 8 t + s of the element's stream: the lower or
// upper half of the block 4 t + floor(s / 2) of AES-128 in counter mode under the seed, whose number has the element's index in its upper 64 bits. A request names an element and
// its first word; from there count words come, in the order of the number, little end first. What lies beyond the element's bits is 0.
//
// Half of each block is dropped: a word every 10 / Rounds cycles, and the latency of aes_ctr and up to 10 cycles to find the segment. seed_load_i takes a seed, and drops
// whatever is under way, as wipe_i and reset do, which clear the seed's keys as well. bits_i stays while a request is under way.
module element_stream #(
    parameter int unsigned Rounds     = 1,   // of aes_ctr
    parameter int unsigned CountWidth = 24   // bits of a length in words
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  wipe_i,
    input  logic                  seed_load_i,
    input  logic [127:0]          seed_i,       // the first byte at the low end
    input  logic [CountWidth+5:0] bits_i,       // of an element, at least 1
    input  logic                  req_valid_i,
    output logic                  req_ready_o,
    input  logic [31:0]           req_index_i,
    input  logic [CountWidth-1:0] req_first_i,
    input  logic [CountWidth-1:0] req_count_i,  // not 0
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [63:0]           word_o,
    output logic                  last_o
);
    if (CountWidth < 4 || CountWidth > 32) $error("element_stream: CountWidth is 4 to 32");

    // Words of an element and of a segment, and the bits of the top word.
    logic [CountWidth-1:0] words, segment;
    logic [63:0] top;
    assign words = CountWidth'((bits_i + (CountWidth + 6)'(63)) >> 6);
    assign segment = CountWidth'(({1'b0, words} + (CountWidth + 1)'(7)) >> 3);
    assign top = ~64'd0 >> (6'd0 - bits_i[5:0]);

    // A request: first its segment is found, then a block a word is asked for.
    typedef enum logic [1:0] {
        Idle,
        Find,
        Ask
    } state_e;
    state_e state_q;
    logic [31:0] index_q;
    logic [CountWidth-1:0] at_q, row_q, left_q;  // place in the element, in its segment, words still to ask for
    logic [3:0] segment_q;
    logic live, ask, block_ready, note_ready;

    assign live = rst_ni && !wipe_i && !seed_load_i;
    assign req_ready_o = state_q == Idle;
    assign ask = state_q == Ask && block_ready && note_ready;

    always_ff @(posedge clk_i) begin
        if (!live) begin
            state_q   <= Idle;
            index_q   <= '0;
            at_q      <= '0;
            row_q     <= '0;
            left_q    <= '0;
            segment_q <= '0;
        end else begin
            unique case (state_q)
                Idle:
                if (req_valid_i) begin
                    state_q   <= Find;
                    index_q   <= req_index_i;
                    at_q      <= req_first_i;
                    row_q     <= req_first_i;
                    left_q    <= req_count_i;
                    segment_q <= '0;
                end
                Find:
                if (row_q >= segment && !segment_q[3]) begin
                    row_q     <= row_q - segment;
                    segment_q <= segment_q + 4'd1;
                end else begin
                    state_q <= Ask;
                end
                Ask:
                if (ask) begin
                    at_q   <= at_q + CountWidth'(1);
                    left_q <= left_q - CountWidth'(1);
                    if (left_q == CountWidth'(1)) state_q <= Idle;
                    if (row_q == segment - CountWidth'(1)) begin
                        row_q     <= '0;
                        segment_q <= segment_q + 4'd1;
                    end else begin
                        row_q <= row_q + CountWidth'(1);
                    end
                end
                default: state_q <= Idle;
            endcase
        end
    end

    // What becomes of each block: its upper or lower half, whole, cut or not at all, and whether it ends the request.
    typedef struct packed {
        logic upper;
        logic cut;
        logic beyond;
        logic last;
    } note_t;
    note_t note_in, note;
    logic note_valid, taken, block_valid;
    logic [127:0] block;

    assign note_in.upper = segment_q[0];
    assign note_in.cut = at_q == words - CountWidth'(1);
    assign note_in.beyond = at_q >= words;
    assign note_in.last = left_q == CountWidth'(1);

    stream_fifo #(
        .Width(4),
        .Depth(Rounds + 4)
    ) u_notes (
        .clk_i,
        .rst_ni     (live),
        .in_valid_i (ask),
        .in_ready_o (note_ready),
        .in_data_i  (note_in),
        .out_valid_o(note_valid),
        .out_ready_i(taken),
        .out_data_o (note)
    );

    aes_ctr #(
        .Rounds(Rounds)
    ) u_aes (
        .clk_i,
        .rst_ni,
        .wipe_i,
        .load_i     (seed_load_i),
        .key_i      (seed_i),
        .in_valid_i (state_q == Ask && note_ready),
        .in_ready_o (block_ready),
        .number_i   ({32'd0, index_q, 64'({row_q, segment_q[2:1]})}),
        .out_valid_o(block_valid),
        .out_ready_i(taken),
        .block_o    (block)
    );

    // Words, in a register.
    logic [63:0] half;
    assign half = note.upper ? block[127:64] : block[63:0];
    assign taken = block_valid && (!valid_o || ready_i);

    always_ff @(posedge clk_i) begin
        if (!live) begin
            valid_o <= 1'b0;
            word_o  <= '0;
            last_o  <= 1'b0;
        end else if (!valid_o || ready_i) begin
            valid_o <= block_valid;
            word_o  <= note.beyond ? '0 : note.cut ? half & top : half;
            last_o  <= note.last;
        end
    end

    // Nothing is said before the first reset.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(NoteBesideBlock, !block_valid || note_valid, clk_i, !rst_ni || !settled_q)
    `ASSERT(SomethingRequested, !(req_valid_i && req_ready_o) || req_count_i != '0, clk_i, !rst_ni || !settled_q)

    logic unused;
    assign unused = note_valid;
endmodule
