// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects a packet of narrow beats into one wide item, the first beat at the low end.
//
// A packet has exactly Beats beats, the last one marked. A packet that is too short or too long is
// dropped whole and reported for one cycle. Latency 1 cycle after the last beat. An item every
// Beats + 1 cycles, or every Beats cycles if Gapless and each item is accepted within Beats - 1
// cycles: then a second register collects the beats of the next item. in_ready_o depends on
// registers alone.
module stream_widen #(
    parameter int unsigned Width   = 64,  // bits of a beat, at least 1
    parameter int unsigned Beats   = 2,   // beats of an item, at least 2
    // 1: no idle cycle between items, for twice the flip-flops
    parameter int unsigned Gapless = 0
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   in_valid_i,
    output logic                   in_ready_o,
    input  logic [Width-1:0]       in_data_i,
    input  logic                   in_last_i,
    output logic                   out_valid_o,
    input  logic                   out_ready_i,
    output logic [Width*Beats-1:0] out_data_o,
    output logic                   bad_packet_o
);
    if (Width < 1) $error("stream_widen: Width must be at least 1");
    if (Beats < 2) $error("stream_widen: Beats must be at least 2");
    if (Gapless > 1) $error("stream_widen: Gapless is 0 or 1");

    localparam int unsigned CountBits = Beats > 1 ? $clog2(Beats) : 1;
    localparam logic [CountBits-1:0] Final = CountBits'(Beats - 1);

    logic [CountBits-1:0] count_q;
    // Skips the rest of a packet that is too long.
    logic skipping_q;
    logic beat, complete;

    assign beat = in_valid_i && in_ready_o;
    assign complete = beat && !skipping_q && in_last_i && count_q == Final;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q      <= '0;
            skipping_q   <= 1'b0;
            out_valid_o  <= 1'b0;
            bad_packet_o <= 1'b0;
        end else begin
            bad_packet_o <= 1'b0;
            if (out_valid_o && out_ready_i) out_valid_o <= 1'b0;
            if (complete) out_valid_o <= 1'b1;
            if (beat && skipping_q) begin
                skipping_q <= !in_last_i;
            end else if (beat) begin
                count_q      <= (in_last_i || count_q == Final) ? '0 : count_q + CountBits'(1);
                bad_packet_o <= in_last_i != (count_q == Final);
                skipping_q   <= !in_last_i && count_q == Final;
            end
        end
    end

    if (Gapless == 1) begin : gen_gapless
        logic [Width*(Beats-1)-1:0] part_q;
        logic [Width*Beats-1:0] item;
        assign item = {in_data_i, part_q};

        // A last beat waits until the previous item has been accepted.
        assign in_ready_o = !out_valid_o || count_q != Final;

        always_ff @(posedge clk_i) begin
            if (!rst_ni) part_q <= (Width * (Beats - 1))'(0);
            else if (beat) part_q <= item[Width*Beats-1:Width];
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni) out_data_o <= (Width * Beats)'(0);
            else if (complete) out_data_o <= item;
        end
    end else begin : gen_single
        assign in_ready_o = !out_valid_o;

        always_ff @(posedge clk_i) begin
            if (!rst_ni) out_data_o <= (Width * Beats)'(0);
            else if (beat) out_data_o <= {in_data_i, out_data_o[Width*Beats-1:Width]};
        end
    end
endmodule
