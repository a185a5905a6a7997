// SPDX-License-Identifier: MIT OR Apache-2.0
// Sends a wide item as a packet of narrow beats, the low end first, the last beat marked.
//
// Latency 1 cycle; an item every Beats + 1 cycles.
module stream_narrow #(
    parameter int unsigned Width = 64,  // bits of a beat
    parameter int unsigned Beats = 2    // beats of an item, at least 2
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
    if (Beats < 2) $error("stream_narrow: Beats must be at least 2");

    localparam int unsigned CountBits = $clog2(Beats);
    localparam logic [CountBits-1:0] Final = CountBits'(Beats - 1);

    logic [CountBits-1:0]   count_q;
    logic [Width*Beats-1:0] rest_q;

    assign in_ready_o = !out_valid_o;
    assign out_data_o = rest_q[Width-1:0];
    assign out_last_o = count_q == Final;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q     <= '0;
            out_valid_o <= 1'b0;
        end else if (!out_valid_o) begin
            out_valid_o <= in_valid_i;
        end else if (out_ready_i) begin
            count_q     <= out_last_o ? '0 : count_q + CountBits'(1);
            out_valid_o <= !out_last_o;
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) rest_q <= '0;
        else if (in_ready_o) rest_q <= in_data_i;
        else if (out_ready_i) rest_q <= {{Width{1'b0}}, rest_q[Width*Beats-1:Width]};
    end
endmodule
