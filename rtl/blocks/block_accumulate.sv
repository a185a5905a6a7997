// SPDX-License-Identifier: MIT OR Apache-2.0
// A running sum of numbers. Each number is added to the previous ones. While a marked number is
// being added, the sum is output block by block.
//
// The sum is correct modulo 2^(Bits Blocks). With its last block, out_over_o says whether anything
// overflowed, in a sum or in a number that was longer. Then the next sum begins. A number takes
// Blocks cycles, or its number of blocks if larger, and one more if it is marked. Latency 2 cycles.
// The sum is kept in block RAM, which reset wipes: nothing is accepted for Blocks + 1 cycles.
module block_accumulate #(
    parameter int unsigned Bits   = 32,  // of a block
    parameter int unsigned Blocks = 128  // of the sum, at least 2
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [Bits-1:0] in_block_i,
    input  logic            in_last_i,
    input  logic            in_give_i,    // stable during a number: output its sum
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_over_o,
    output logic            out_last_o
);
    if (Blocks < 2) $error("block_accumulate: Blocks must be at least 2");

    localparam int unsigned AddressBits = Blocks > 1 ? $clog2(Blocks) : 1;
    localparam logic [AddressBits-1:0] Top = AddressBits'(Blocks - 1);

    // A block of the sum is read when the number's block is accepted, or zeros after its last one,
    // and is written one cycle later. Blocks beyond the sum are only checked for overflow.
    logic wiped, move, step, above_q, ended_q, give_q, give, end_number, unused_error;
    logic [AddressBits-1:0] place_q;
    assign give       = ended_q ? give_q : in_give_i;
    assign step       = wiped && move && (in_valid_i || ended_q);
    assign in_ready_o = wiped && move && !ended_q;
    // The number's last step: the sum's top block has been read, and no block of the number is
    // left.
    assign end_number = step && (above_q || place_q == Top) && (ended_q || in_last_i);

    logic one_q, write_q, carry_q, over_q, fresh_q, first_q, last_q, out_q, extra_q, lost;
    logic [AddressBits-1:0] write_place_q;
    logic [Bits-1:0] block_q, old;
    logic [Bits:0] sum;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            place_q <= '0;
            {above_q, ended_q, give_q} <= '0;
        end else if (step) begin
            give_q  <= give;
            ended_q <= !end_number && (ended_q || in_last_i);
            above_q <= !end_number && (above_q || place_q == Top);
            place_q <= end_number ? '0 : place_q == Top ? place_q : place_q + 1'b1;
        end
    end

    // The second stage: the sum of a block. The top block of a marked number waits for the number's
    // end, since overflow above it counts.
    assign sum  = (Bits + 1)'(block_q) + (fresh_q ? '0 : (Bits + 1)'(old)) + (Bits + 1)'(carry_q && !first_q);
    assign lost = write_q ? sum[Bits] && write_place_q == Top : block_q != '0;

    logic [Bits-1:0] top_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {one_q, write_q, first_q, last_q, out_q, extra_q, carry_q, over_q} <= '0;
            fresh_q       <= 1'b1;
            write_place_q <= '0;
            block_q       <= '0;
            top_q         <= '0;
            {out_valid_o, out_over_o, out_last_o} <= '0;
            out_block_o   <= '0;
        end else if (move) begin
            one_q         <= step;
            write_q       <= step && !above_q;
            first_q       <= place_q == '0;
            last_q        <= end_number;
            out_q         <= give;
            write_place_q <= place_q;
            block_q       <= ended_q ? '0 : in_block_i;
            if (one_q) begin
                carry_q <= sum[Bits];
                over_q  <= extra_q ? lost : over_q || lost;
                extra_q <= last_q && out_q;
                fresh_q <= last_q ? out_q : fresh_q;
                if (write_q && write_place_q == Top) top_q <= sum[Bits-1:0];
            end
            // Output: blocks below the top one at once, the top one with the number's last step.
            out_valid_o <= one_q && out_q && ((write_q && write_place_q != Top) || last_q);
            out_last_o  <= last_q;
            out_block_o <= write_q ? sum[Bits-1:0] : top_q;
            out_over_o  <= lost || (over_q && !extra_q);
        end
    end
    assign move = !out_valid_o || out_ready_i;

    ram_1r1w #(
        .Width(Bits),
        .Depth(Blocks)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (wiped),
        .write_i        (write_q && move),
        .write_address_i(write_place_q),
        .write_data_i   (sum[Bits-1:0]),
        .read_i         (step && !above_q),
        .read_address_i (place_q),
        .read_data_o    (old),
        .error_o        (unused_error)
    );
endmodule
