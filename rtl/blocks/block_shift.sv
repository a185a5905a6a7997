// SPDX-License-Identifier: MIT OR Apache-2.0
// Shifts a number by any count of bits: to the right, x / 2^amount rounded down, or with Left x
// 2^amount.
//
// To the right, whole blocks of the amount are dropped at the low end, and a number of n blocks
// gives max(n - amount / Bits, 1) blocks. To the left, amount / Bits blocks of zeros come first,
// followed by one block more than the number has. Latency: to the right, a block leaves 1 cycle
// after the one above it is accepted, and the last one a cycle later; to the left a block leaves 1
// cycle after it is accepted. A block every cycle; to the right, one cycle more per number.
module block_shift #(
    parameter int unsigned Bits       = 32,  // of a block, at least 2
    parameter int unsigned Left       = 0,   // 1: to the left
    parameter int unsigned AmountBits = 14
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // stable from the offer of a number's first block until its last one has left
    input  logic [AmountBits-1:0] amount_i,
    input  logic                  in_valid_i,
    output logic                  in_ready_o,
    input  logic [Bits-1:0]       in_block_i,
    input  logic                  in_last_i,
    output logic                  out_valid_o,
    input  logic                  out_ready_i,
    output logic [Bits-1:0]       out_block_o,
    output logic                  out_last_o
);
    if (Bits < 2 || AmountBits < 1) $error("block_shift: Bits must be at least 2, AmountBits at least 1");
    if (Left > 1) $error("block_shift: Left is 0 or 1");

    // Bits by which the next block and the held one move down, together: for a shift to the left, a
    // block less the amount's rest.
    localparam int unsigned DownBits = $clog2(Bits + 1);
    logic [AmountBits-1:0] whole;
    logic [DownBits-1:0] part, down;
    assign whole = AmountBits'(32'(amount_i) / Bits);
    assign part  = DownBits'(32'(amount_i) % Bits);
    assign down  = Left == 1 ? DownBits'(Bits) - part : part;

    typedef enum logic [1:0] {
        // blocks that are dropped, or leading zeros, and then the number's first block that counts
        Skip,
        Inner,
        Flush
    } state_e;
    state_e state_q, state;
    logic [AmountBits-1:0] count_q;
    logic [Bits-1:0] held_q, held, low;
    logic [2*Bits-1:0] both;
    logic step_valid, step_ready, take, move, skipping;

    // Whether a block leaves, and whether one is accepted. A number begins with its first block:
    // before that amount_i has no effect.
    assign skipping = state_q == Skip && count_q != whole;
    always_comb begin
        step_valid = in_valid_i;
        take       = step_ready && !skipping;
        if (state_q == Skip && Left == 0) {step_valid, take} = 2'b01;
        if (state_q == Flush) {step_valid, take} = 2'b10;
    end
    assign in_ready_o = take;
    assign move       = (step_valid && step_ready) || (in_valid_i && take);
    assign low        = (skipping && Left == 1) || state_q == Flush ? '0 : in_block_i;
    assign both       = {low, held_q};

    always_comb begin
        state = state_q;
        held  = held_q;
        if (move) begin
            state = Inner;
            if (state_q == Flush || skipping) state = Skip;
            if (take && in_last_i) state = Flush;
            held = skipping || state_q == Flush ? '0 : in_block_i;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Skip;
            count_q <= '0;
            held_q  <= '0;
        end else begin
            state_q <= state;
            held_q  <= held;
            if (state_q == Flush) count_q <= '0;
            else if (skipping && move) count_q <= count_q + 1'b1;
        end
    end

    stream_stage #(
        .Width(Bits + 1)
    ) u_out (
        .clk_i,
        .rst_ni,
        .in_valid_i(step_valid),
        .in_ready_o(step_ready),
        .in_data_i ({state_q == Flush, Bits'(both >> down)}),
        .out_valid_o,
        .out_ready_i,
        .out_data_o({out_last_o, out_block_o})
    );
endmodule
