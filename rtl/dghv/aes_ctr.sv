// SPDX-License-Identifier: MIT OR Apache-2.0
// AES-128 in counter mode: the blocks of a key's stream, in order.
//
// A block's number has 128 bits, with the first byte of the cipher's input on top, so numbers are
// big-endian. The stream's first byte is at the low end of the output. Rounds circuits, each of
// which begins a round per cycle and takes two cycles, form a ring that a block passes 10 / Rounds
// times. The ring holds 2 Rounds blocks and completes one every 10 / Rounds cycles on average.
// Latency: 21 cycles.
//
// load_i loads a key, which takes 20 cycles to expand. in_ready_o is low until then, and while
// there is no key. wipe_i and reset clear the keys and every block.
module aes_ctr #(
    parameter int unsigned Rounds = 1  // 1, 2, 5 or 10
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         wipe_i,
    input  logic         load_i,
    input  logic [127:0] key_i,         // the first byte at the low end
    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [127:0] number_i,
    output logic         out_valid_o,
    input  logic         out_ready_i,
    output logic [127:0] block_o
);
    if (Rounds != 1 && Rounds != 2 && Rounds != 5 && Rounds != 10) $error("aes_ctr: Rounds is 1, 2, 5 or 10");

    localparam int unsigned Passes = 10 / Rounds;
    // Capacity of the output queue, which limits the blocks in progress. Blocks that enter a ring
    // in a row also leave in a row, faster than their average; a shorter queue would keep the ring
    // waiting.
    localparam int unsigned Depth = (Passes == 1 ? 2 : 3) * Rounds + 4;
    localparam int unsigned CountBits = $clog2(Depth + 1);

    // The round keys, 0 at the low end.
    logic [11*128-1:0] keys_q;
    logic [4:0] expanding_q;    // cycles left; two for each round
    logic [31:0] substituted_q;
    logic [7:0] constant_q;
    logic expanded_q, live;

    assign live = rst_ni && !wipe_i && !load_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || wipe_i) begin
            keys_q        <= '0;
            expanding_q   <= '0;
            substituted_q <= '0;
            constant_q    <= '0;
            expanded_q    <= 1'b0;
        end else if (load_i) begin
            keys_q      <= {key_i, 1280'd0};
            expanding_q <= 5'd20;
            constant_q  <= 8'h01;
            expanded_q  <= 1'b0;
        end else if (expanding_q != '0) begin
            expanding_q   <= expanding_q - 5'd1;
            substituted_q <= aes_pkg::substitute_rotated(keys_q[11*128-1-:32]);
            if (expanding_q[0]) begin
                // Keys enter at the top; when all are there, the first is at the low end.
                keys_q     <= {aes_pkg::next_key(keys_q[11*128-1-:128], substituted_q, constant_q), keys_q[11*128-1:128]};
                constant_q <= aes_pkg::double(constant_q);
            end
            expanded_q <= expanding_q == 5'd1;
        end
    end

    // The ring. A block that has made all its passes leaves. The next block enters in its place, or
    // where a place is empty.
    logic [Rounds-1:0] half_valid_q, valid_q;
    logic [Rounds-1:0][3:0] half_made_q, made_q;  // rounds that a block has completed, or is in
    logic [Rounds-1:0][127:0] half_q, state_q;  // after the first step of a round, after both
    logic returns, leaves, enters;
    logic [CountBits-1:0] promised_q;
    logic [127:0] input_block;

    for (genvar k = 0; k < 16; k++) begin : gen_byte
        assign input_block[8*k+:8] = number_i[8*(15-k)+:8];
    end

    logic last_valid;
    logic [3:0] last_made;
    logic [127:0] last_state;
    // all ten rounds; separate registers keep the comparisons out of the paths
    logic all_made_q;
    assign last_valid = valid_q[Rounds-1];
    assign last_made  = made_q[Rounds-1];
    assign last_state = state_q[Rounds-1];

    assign leaves = last_valid && (Passes == 1 || all_made_q);
    assign returns = last_valid && !leaves;
    assign in_ready_o = expanded_q && !returns && promised_q != CountBits'(Depth);
    assign enters = in_valid_i && in_ready_o && live;

    // Two steps of a circuit: bytes through the S-box, then columns and the key. Its place in the
    // ring determines its rounds, one per pass of a block, and so limits the keys it selects from.
    for (genvar k = 0; k < int'(Rounds); k++) begin : gen_round
        logic from_valid, last_q;
        logic [3:0] number;
        logic [127:0] from_state, key;
        if (k == 0) begin : gen_first
            assign from_valid = returns || enters;
            assign number     = returns ? last_made + 4'd1 : 4'd1;
            assign from_state = returns ? last_state : input_block ^ keys_q[127:0];
        end else begin : gen_next
            assign from_valid = valid_q[k-1];
            assign number     = made_q[k-1] + 4'd1;
            assign from_state = state_q[k-1];
        end

        always_comb begin
            key = '0;
            for (int unsigned p = 0; p < Passes; p++) begin
                if (Passes == 1 || half_made_q[k] == 4'(p * Rounds + 32'(k) + 1)) key |= keys_q[128*(p*Rounds+32'(k)+1)+:128];
            end
        end

        always_ff @(posedge clk_i) begin
            if (!live) begin
                half_valid_q[k] <= 1'b0;
                half_made_q[k]  <= '0;
                half_q[k]       <= '0;
                last_q          <= 1'b0;
                valid_q[k]      <= 1'b0;
                made_q[k]       <= '0;
                state_q[k]      <= '0;
            end else begin
                half_valid_q[k] <= from_valid;
                half_made_q[k]  <= number;
                last_q          <= k == int'(Rounds) - 1 && (Passes == 1 || number == 4'd10);
                valid_q[k]      <= half_valid_q[k];
                made_q[k]       <= half_made_q[k];
                if (from_valid) half_q[k] <= aes_pkg::substitute_shifted(from_state);
                if (half_valid_q[k]) state_q[k] <= aes_pkg::mix_with_key(half_q[k], key, last_q);
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (!live) all_made_q <= 1'b0;
        else all_made_q <= gen_round[Rounds-1].last_q;
    end

    // Every block that enters reserves a place in the queue.
    logic unused_ready;
    always_ff @(posedge clk_i) begin
        if (!live) promised_q <= '0;
        else promised_q <= promised_q + CountBits'(enters) - CountBits'(out_valid_o && out_ready_i);
    end

    stream_fifo #(
        .Width(128),
        .Depth(Depth)
    ) u_blocks (
        .clk_i,
        .rst_ni    (live),
        .in_valid_i(leaves),
        .in_ready_o(unused_ready),
        .in_data_i (last_state),
        .out_valid_o,
        .out_ready_i,
        .out_data_o(block_o)
    );

    // Assertions apply only after the first reset.
    logic settled_q = 1'b0;
    always_ff @(posedge clk_i) if (!rst_ni) settled_q <= 1'b1;

    `include "assertions.svh"
    `ASSERT(RoomForBlocks, !leaves || unused_ready || !live, clk_i, !rst_ni || !settled_q)

    logic unused;
    assign unused = unused_ready;
endmodule
