// SPDX-License-Identifier: MIT OR Apache-2.0
// Sends a wide item as a packet of narrow beats, the low end first, the last beat marked.
//
// Latency 1 cycle; an item every Beats + 1 cycles, or every Beats cycles if Gapless: then the next
// item waits in a second register. in_ready_o depends on registers alone.
module stream_narrow #(
    parameter int unsigned Width   = 64,  // bits of a beat, at least 1
    parameter int unsigned Beats   = 2,   // beats of an item, at least 2
    // 1: no idle cycle between items, for twice the flip-flops
    parameter int unsigned Gapless = 0
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   in_valid_i,
    output logic                   in_ready_o,
    input  logic [Width*Beats-1:0] in_data_i,
    output logic                   out_valid_o,
    input  logic                   out_ready_i,
    output logic [Width-1:0]       out_data_o,
    output logic                   out_last_o
);
    if (Width < 1) $error("stream_narrow: Width must be at least 1");
    if (Beats < 2) $error("stream_narrow: Beats must be at least 2");
    if (Gapless > 1) $error("stream_narrow: Gapless is 0 or 1");

    localparam int unsigned CountBits = Beats > 1 ? $clog2(Beats) : 1;
    localparam logic [CountBits-1:0] Final = CountBits'(Beats - 1);

    logic [CountBits-1:0]   count_q;
    logic [Width*Beats-1:0] rest_q;

    // Whether rest_q can load an item at the end of this cycle, and that item.
    logic free, next_valid;
    logic [Width*Beats-1:0] next;

    if (Gapless == 1) begin : gen_gapless
        logic held_q;
        logic [Width*Beats-1:0] held_data_q;

        assign in_ready_o = !held_q;
        assign free = !out_valid_o || (out_ready_i && out_last_o);
        assign next_valid = in_valid_i || held_q;
        assign next = held_q ? held_data_q : in_data_i;

        always_ff @(posedge clk_i) begin
            if (!rst_ni) held_q <= 1'b0;
            else held_q <= next_valid && !free;
        end

        always_ff @(posedge clk_i) begin
            if (!rst_ni) held_data_q <= (Width * Beats)'(0);
            else if (in_ready_o) held_data_q <= in_data_i;
        end
    end else begin : gen_single
        assign in_ready_o = !out_valid_o;
        assign free = !out_valid_o;
        assign next_valid = in_valid_i;
        assign next = in_data_i;
    end

    assign out_data_o = rest_q[Width-1:0];
    assign out_last_o = count_q == Final;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q     <= '0;
            out_valid_o <= 1'b0;
        end else begin
            if (out_valid_o && out_ready_i) begin
                count_q     <= out_last_o ? '0 : count_q + CountBits'(1);
                out_valid_o <= !out_last_o;
            end
            if (free) out_valid_o <= next_valid;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) rest_q <= (Width * Beats)'(0);
        else if (free) rest_q <= next;
        else if (out_ready_i) rest_q <= {{Width{1'b0}}, rest_q[Width*Beats-1:Width]};
    end
endmodule
