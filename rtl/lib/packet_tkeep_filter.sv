// SPDX-License-Identifier: MIT OR Apache-2.0
// Applies TKEEP to packets of whole beats (docs/reference/registers.md). Beats pass through. A
// packet with missing bytes in a beat gets the wrong length, so that the device reports it and
// answers it as broken.
//
// If such a packet has the length that its header states, one beat of zeros is appended; with any
// other length it is wrong already. The header is read whatever its mark and epoch: a packet that
// will be discarded may have any length.
//
// A beat every cycle, latency 0; the extra beat is offered in the cycle after the last one is
// accepted. m_valid_o and m_last_o follow the input port within the cycle, s_ready_o follows
// m_ready_i.
module packet_tkeep_filter #(
    parameter int unsigned StreamBits = 64,  // bits of a beat, a multiple of 32
    parameter int unsigned Beats      = 2    // beats of an item, at least 1
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    s_valid_i,
    output logic                    s_ready_o,
    input  logic [StreamBits-1:0]   s_data_i,
    input  logic [StreamBits/8-1:0] s_keep_i,
    input  logic                    s_last_i,
    output logic                    m_valid_o,
    input  logic                    m_ready_i,
    output logic [StreamBits-1:0]   m_data_o,
    output logic                    m_last_o
);
    if (StreamBits < 32 || StreamBits % 32 != 0) $error("packet_tkeep_filter: StreamBits must be a multiple of 32");
    if (Beats < 1) $error("packet_tkeep_filter: Beats must be at least 1");

    localparam int unsigned BeatBits = (Beats > 1) ? $clog2(Beats) : 1;
    localparam logic [BeatBits-1:0] Final = BeatBits'(Beats - 1);

    // The beat's position in its packet: in the header, whose upper end holds COUNT, or the items
    // left and the beat within an item. Past the end no item is left.
    logic header_q, header_whole, take, whole, at_end, extra_q, partial_q;
    logic [15:0] count, left_q;
    logic [BeatBits-1:0] beat_q;

    if (StreamBits >= 64) begin : gen_header_beat
        assign header_whole = 1'b1;
        assign count = s_data_i[63:48];
    end else begin : gen_header_beats
        logic second_q;
        assign header_whole = second_q;
        assign count = s_data_i[31:16];

        always_ff @(posedge clk_i) begin
            if (!rst_ni) second_q <= 1'b0;
            else if (take) second_q <= header_q && !second_q && !s_last_i;
        end
    end

    assign take = s_valid_i && s_ready_o;
    assign whole = !partial_q && &s_keep_i;
    assign at_end = header_q ? header_whole && count == '0 : left_q == 16'd1 && beat_q == Final;

    assign m_valid_o = extra_q || s_valid_i;
    assign s_ready_o = m_ready_i && !extra_q;
    assign m_data_o = extra_q ? '0 : s_data_i;
    assign m_last_o = extra_q || (s_last_i && (whole || !at_end));

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            header_q  <= 1'b1;
            left_q    <= '0;
            beat_q    <= '0;
            partial_q <= 1'b0;
            extra_q   <= 1'b0;
        end else begin
            if (m_ready_i) extra_q <= 1'b0;
            if (take) begin
                partial_q <= !s_last_i && !whole;
                extra_q   <= s_last_i && !whole && at_end;
                if (s_last_i) begin
                    header_q <= 1'b1;
                end else if (header_q) begin
                    header_q <= !header_whole;
                    left_q   <= count;
                    beat_q   <= '0;
                end else begin
                    beat_q <= (beat_q == Final) ? '0 : beat_q + BeatBits'(1);
                    if (beat_q == Final && left_q != '0) left_q <= left_q - 16'd1;
                end
            end
        end
    end
endmodule
