// SPDX-License-Identifier: MIT OR Apache-2.0
// A ram_wipe clears every word of its memory once and in order, in exactly the stated cycles, after
// a reset and after any wipe, even one in the middle of another. While it is ready it clears
// nothing, and it stays ready until the next request. Configured without a wipe, it is always
// ready. Depths of 2 to 5 words are proved side by side, for any one word of them and for 22 cycles
// from reset, in which the deepest can be wiped three times. All inputs are arbitrary.
module formal (
    input logic clk_i
);
    (* anyseq *) logic wipe, again, write;
    (* anyseq *) logic [2:0] write_address;
    (* anyseq *) logic write_bit;
    (* anyconst *) logic [2:0] watched;
    logic rst_n;
    logic started = 1'b0;

    assign rst_n = started && !again;
    always_ff @(posedge clk_i) started <= 1'b1;

    for (genvar k = 0; k < 4; k++) begin : gen_depth
        localparam int unsigned Depth = 2 + k;
        localparam int unsigned AddressBits = $clog2(Depth);
        logic ready, clear;
        logic [AddressBits-1:0] address;

        ram_wipe #(
            .Depth(Depth)
        ) u_block (
            .clk_i,
            .rst_ni   (rst_n),
            .wipe_i   (wipe),
            .ready_o  (ready),
            .clear_o  (clear),
            .address_o(address)
        );

        // Cycles since the reset or the wipe; the tracked word of a memory whose owner writes when
        // it may; completed wipes.
        logic [2:0] since_q;
        logic bit_q;
        logic [1:0] wipes_q = '0;
        always_ff @(posedge clk_i) begin
            if (!rst_n || wipe) since_q <= '0;
            else if (since_q != 3'd7) since_q <= since_q + 3'd1;
            if (clear && 3'(address) == watched) bit_q <= 1'b0;
            else if (ready && write && write_address == watched) bit_q <= write_bit;
            if (started) begin
                // The first cycle after it clears word 0; one cycle follows the last word.
                assert (ready == (since_q > 3'(Depth)));
                assert (clear == (since_q < 3'(Depth)));
                if (clear) assert (3'(address) == since_q);
                // Just after a wipe the word is zero, whatever it was.
                if (since_q >= 3'(Depth) && since_q <= 3'(Depth + 1) && watched < 3'(Depth)) assert (!bit_q);
                if (since_q == 3'(Depth + 1)) wipes_q <= wipes_q + 2'd1;
                cover (ready && bit_q && watched == 3'(Depth - 1) && wipes_q == 2'd1);
                cover (wipe && clear && since_q == 3'(Depth - 1));
            end
        end
    end

    logic ready, clear, address;
    ram_wipe #(
        .Depth(2),
        .Wiped(0)
    ) u_none (
        .clk_i,
        .rst_ni   (rst_n),
        .wipe_i   (wipe),
        .ready_o  (ready),
        .clear_o  (clear),
        .address_o(address)
    );
    always_comb assert (ready && !clear && !address);
endmodule
