// SPDX-License-Identifier: MIT OR Apache-2.0
// Repeats a constant as a stream: accepts one number after a reset, and then outputs it again and
// again.
//
// Blocks of the number beyond Blocks are ignored. Another number needs a reset, which wipes the
// memory: nothing is accepted for Blocks + 1 cycles. Latency 3 cycles from accepting the last block
// to the first block; then a block every cycle.
module block_repeat #(
    parameter int unsigned Bits   = 32,  // of a block
    parameter int unsigned Blocks = 128  // capacity, at least 2
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [Bits-1:0] in_block_i,
    input  logic            in_last_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [Bits-1:0] out_block_o,
    output logic            out_last_o
);
    if (Blocks < 2) $error("block_repeat: Blocks must be at least 2");

    localparam int unsigned AddressBits = Blocks > 1 ? $clog2(Blocks) : 1;
    localparam logic [AddressBits-1:0] Top = AddressBits'(Blocks - 1);

    logic [AddressBits-1:0] put_q, last_q, get_q;
    logic wiped, full_q, loaded_q, take, read, unused_error;

    assign in_ready_o = wiped && !loaded_q;
    assign take       = in_valid_i && in_ready_o;
    assign read       = loaded_q && (!out_valid_o || out_ready_i);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {put_q, last_q, get_q} <= '0;
            {full_q, loaded_q, out_valid_o, out_last_o} <= '0;
        end else begin
            if (take && !full_q) begin
                last_q <= put_q;
                put_q  <= put_q == Top ? put_q : put_q + 1'b1;
                full_q <= put_q == Top;
            end
            if (take && in_last_i) loaded_q <= 1'b1;
            if (read) begin
                get_q       <= get_q == last_q ? '0 : get_q + 1'b1;
                out_valid_o <= 1'b1;
                out_last_o  <= get_q == last_q;
            end
        end
    end

    ram_1r1w #(
        .Width(Bits),
        .Depth(Blocks)
    ) u_blocks (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (wiped),
        .write_i        (take && !full_q),
        .write_address_i(put_q),
        .write_data_i   (in_block_i),
        .read_i         (read),
        .read_address_i (get_q),
        .read_data_o    (out_block_o),
        .error_o        (unused_error)
    );
endmodule
