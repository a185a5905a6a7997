// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds packets: from each tag a header, then the number of items it states, each in Beats beats,
// with the last beat marked (docs/reference/registers.md).
//
// Tags {COUNT, SEQUENCE} arrive in the order of their packets, and items in the order of packets
// and within each packet. broken_valid_i says that missing_i items of the packet with the latest
// tag will not come. That packet is ended by a closing beat of zeros, or by two if one would give
// it its full length.
//
// m_near_o marks a beat after which the next one ends the packet, and m_item_o the last beat of an
// item; both are for packet_port. An item takes Beats cycles (Beats + 1 without Gapless, if Beats
// is not 1), a header ceil(64 / StreamBits). Latency from an item to its first beat, once the
// header is sent: 1 cycle, 0 if Beats is 1.
module packet_out #(
    parameter int unsigned StreamBits = 64,  // bits of a beat, a multiple of 32
    parameter int unsigned Beats      = 2,   // beats of an item, at least 1
    // 1: no idle cycle between items, for twice the flip-flops
    parameter int unsigned Gapless    = 0
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic [15:0]                 epoch_i,
    // The packets' contents.
    input  logic                        tag_valid_i,
    output logic                        tag_ready_o,
    input  logic [31:0]                 tag_i,
    input  logic                        item_valid_i,
    output logic                        item_ready_o,
    input  logic [Beats*StreamBits-1:0] item_i,
    input  logic                        broken_valid_i,
    output logic                        broken_ready_o,
    input  logic [15:0]                 missing_i,
    // Packets.
    output logic                        m_valid_o,
    input  logic                        m_ready_i,
    output logic [StreamBits-1:0]       m_data_o,
    output logic                        m_last_o,
    output logic                        m_near_o,
    output logic                        m_item_o
);
    if (StreamBits < 32 || StreamBits % 32 != 0) $error("packet_out: StreamBits must be a multiple of 32");
    if (Beats < 1) $error("packet_out: Beats must be at least 1");
    if (Gapless > 1) $error("packet_out: Gapless is 0 or 1");

    localparam logic [15:0] Mark = 16'h4548;
    localparam int unsigned BeatBits = (Beats > 1) ? $clog2(Beats) : 1;
    localparam logic [BeatBits-1:0] Final = BeatBits'(Beats - 1);

    typedef enum logic [1:0] {
        Header,
        Items,
        Close
    } state_e;

    state_e state_q;
    logic [15:0] left_q;
    logic [BeatBits-1:0] beat_q;

    // The items as beats.
    logic narrow_valid, narrow_ready;
    logic [StreamBits-1:0] narrow_data;

    if (Beats == 1) begin : gen_whole
        assign narrow_valid = item_valid_i;
        assign item_ready_o = narrow_ready;
        assign narrow_data = item_i;
    end else begin : gen_narrow
        logic unused_last;
        stream_narrow #(
            .Width  (StreamBits),
            .Beats  (Beats),
            .Gapless(Gapless)
        ) u_narrow (
            .clk_i,
            .rst_ni,
            .in_valid_i (item_valid_i),
            .in_ready_o (item_ready_o),
            .in_data_i  (item_i),
            .out_valid_o(narrow_valid),
            .out_ready_i(narrow_ready),
            .out_data_o (narrow_data),
            .out_last_o (unused_last)
        );
        logic unused;
        assign unused = unused_last;
    end

    // The header as beats.
    logic [63:0] header;
    logic header_last;
    logic [StreamBits-1:0] header_data;
    assign header = {tag_i[31:16], tag_i[15:0], epoch_i, Mark};

    if (StreamBits >= 64) begin : gen_header_beat
        assign header_data = StreamBits'(header);
        assign header_last = 1'b1;
    end else begin : gen_header_beats
        logic second_q;
        assign header_data = second_q ? header[63:32] : header[31:0];
        assign header_last = second_q;

        always_ff @(posedge clk_i) begin
            if (!rst_ni) second_q <= 1'b0;
            else if (state_q == Header && tag_valid_i && m_ready_i) second_q <= !second_q;
        end
    end

    // The packet in progress is the broken one if no tag waits behind it.
    logic empty, last_of_item, cut, one_missing;
    assign empty = tag_i[31:16] == '0;
    assign last_of_item = beat_q == Final;
    assign cut = broken_valid_i && !tag_valid_i && left_q == missing_i && beat_q == '0;
    // One beat would complete it.
    assign one_missing = left_q == 16'd1 && last_of_item;

    always_comb begin
        m_valid_o = 1'b0;
        m_data_o = '0;
        m_last_o = 1'b0;
        m_near_o = 1'b0;
        m_item_o = 1'b0;
        case (state_q)
            Header: begin
                m_valid_o = tag_valid_i;
                m_data_o = header_data;
                m_last_o = header_last && empty;
                m_near_o = header_last ? (tag_i[31:16] == 16'd1 && Beats == 1) : empty;
            end
            Items: begin
                m_valid_o = narrow_valid && !cut;
                m_data_o = narrow_data;
                m_last_o = last_of_item && left_q == 16'd1;
                m_near_o = (Beats == 1) ? left_q == 16'd2 : (left_q == 16'd1 && beat_q == BeatBits'(Beats - 2));
                m_item_o = last_of_item;
            end
            default: begin
                m_valid_o = 1'b1;
                m_last_o = !one_missing;
                m_near_o = one_missing;
            end
        endcase
    end

    assign tag_ready_o = state_q == Header && header_last && m_ready_i;
    assign narrow_ready = state_q == Items && m_ready_i && !cut;
    assign broken_ready_o = state_q == Close && m_ready_i && m_last_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Header;
            left_q  <= '0;
            beat_q  <= '0;
        end else if (state_q == Items && cut) begin
            state_q <= Close;
        end else if (m_valid_o && m_ready_i) begin
            case (state_q)
                Header: begin
                    left_q <= tag_i[31:16];
                    if (header_last && !empty) state_q <= Items;
                end
                Items: begin
                    beat_q <= last_of_item ? '0 : beat_q + BeatBits'(1);
                    if (last_of_item) begin
                        left_q <= left_q - 16'd1;
                        if (left_q == 16'd1) state_q <= Header;
                    end
                end
                default: begin
                    // After the first of two closing beats, none is missing.
                    left_q <= '0;
                    if (m_last_o) state_q <= Header;
                end
            endcase
        end
    end
endmodule
