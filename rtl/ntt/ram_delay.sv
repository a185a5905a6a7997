// SPDX-License-Identifier: MIT OR Apache-2.0
// Delays its input by Cycles cycles with en_i, in a memory.
//
// Each word overwrites the one from Cycles before, which was read one cycle earlier. So the two
// ports never address the same word.
module ram_delay #(
    parameter int unsigned Width  = 64,  // at least 1
    parameter int unsigned Cycles = 62   // at least 2
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             en_i,
    input  logic [Width-1:0] x_i,
    output logic [Width-1:0] y_o
);
    if (Cycles < 2) $error("ram_delay: Cycles must be at least 2");

    localparam int unsigned PlaceBits = Cycles > 1 ? $clog2(Cycles) : 1;
    localparam logic [PlaceBits-1:0] Last = PlaceBits'(Cycles - 1);

    logic [PlaceBits-1:0] place_q, next;
    logic unused_ready, unused_error;
    assign next = place_q == Last ? '0 : place_q + PlaceBits'(1);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) place_q <= '0;
        else if (en_i) place_q <= next;
    end

    ram_1r1w #(
        .Width(Width),
        .Depth(Cycles),
        .Wiped(0)
    ) u_words (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (unused_ready),
        .write_i        (en_i),
        .write_address_i(place_q),
        .write_data_i   (x_i),
        .read_i         (en_i),
        .read_address_i (next),
        .read_data_o    (y_o),
        .error_o        (unused_error)
    );
endmodule
