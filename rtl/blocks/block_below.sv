// SPDX-License-Identifier: MIT OR Apache-2.0
// Reduces a number below twice the modulus: t, or t - N if t >= N.
//
// t arrives as Blocks blocks and a carry above them (in_carry_i with the last one), together with N
// in as many or fewer blocks. Both t and t - N are kept until the last borrow selects the one to
// output, so that only the blocks themselves depend on the choice. Latency: the first block leaves
// Blocks + 3 cycles after t's first one is accepted, then a block every cycle. The next t can
// arrive in the meantime. Reset wipes the memory: nothing is accepted for 2 Blocks + 2 cycles.
module block_below #(
    parameter int unsigned Bits   = 32,  // of a block
    parameter int unsigned Blocks = 128  // of a number, at least 2
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [Bits-1:0] in_block_i,
    input  logic            in_carry_i,
    input  logic            in_last_i,
    input  logic            n_valid_i,
    output logic            n_ready_o,
    input  logic [Bits-1:0] n_block_i,
    input  logic            n_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o
);
    if (Blocks < 2) $error("block_below: Blocks must be at least 2");

    logic pair_valid, pair_ready, pair_last, step, both_ready, choice_ready, both_valid, choice_valid, choice, borrow_q, kept_last;
    logic [Bits-1:0] t, n, kept_t, kept_d;
    logic [Bits:0] difference;

    block_pair #(
        .Bits(Bits)
    ) u_pair (
        .clk_i,
        .rst_ni,
        .a_valid_i  (in_valid_i),
        .a_ready_o  (in_ready_o),
        .a_block_i  (in_block_i),
        .a_last_i   (in_last_i),
        .b_valid_i  (n_valid_i),
        .b_ready_o  (n_ready_o),
        .b_block_i  (n_block_i),
        .b_last_i   (n_last_i),
        .out_valid_o(pair_valid),
        .out_ready_i(pair_ready),
        .a_block_o  (t),
        .b_block_o  (n),
        .out_last_o (pair_last)
    );

    assign pair_ready = both_ready && choice_ready;
    assign step       = pair_valid && pair_ready;
    assign difference = {1'b0, t} - {1'b0, n} - (Bits + 1)'(borrow_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) borrow_q <= 1'b0;
        else if (step) borrow_q <= !pair_last && difference[Bits];
    end

    stream_fifo #(
        .Width (2 * Bits + 1),
        .Depth (2 * Blocks),
        .Memory(1)
    ) u_both (
        .clk_i,
        .rst_ni,
        .in_valid_i (step),
        .in_ready_o (both_ready),
        .in_data_i  ({pair_last, t, difference[Bits-1:0]}),
        .out_valid_o(both_valid),
        .out_ready_i(choice_valid && out_ready_i),
        .out_data_o ({kept_last, kept_t, kept_d})
    );
    stream_fifo #(
        .Width(1),
        .Depth(2)
    ) u_choice (
        .clk_i,
        .rst_ni,
        .in_valid_i (step && pair_last),
        .in_ready_o (choice_ready),
        .in_data_i  (in_carry_i || !difference[Bits]),
        .out_valid_o(choice_valid),
        .out_ready_i(both_valid && kept_last && out_ready_i),
        .out_data_o (choice)
    );

    assign out_valid_o = both_valid && choice_valid;
    assign out_block_o = choice ? kept_d : kept_t;
    assign out_last_o  = kept_last;
endmodule
