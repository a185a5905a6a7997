// SPDX-License-Identifier: MIT OR Apache-2.0
// Unpacks packets: a header of 64 bits, then the number of items it states, each of Beats beats
// (docs/reference/registers.md).
//
// If a packet has the mark and the epoch, its tag, {COUNT, SEQUENCE}, leaves at tag_* and its items
// at item_*, in order. Any other packet is discarded. If a packet ends too early or too late, the
// item in which that shows is dropped with everything after it. broken_valid_o then reports the
// number of missing items until broken_ready_i; the next packet waits for that.
//
// flush_i drops the buffered items and the rest of a packet in progress; s_ready_o is low during a
// flush and in reset. s_ready_o depends on registers, reset and flush_i alone. Within a packet an
// item arrives every Beats cycles (Beats + 1 without Gapless, if Beats is not 1); the header takes
// ceil(64 / StreamBits) more. Latency from the last beat of an item: 2 cycles, 1 if Beats is 1.
module packet_in #(
    parameter int unsigned StreamBits = 64,  // bits of a beat, a multiple of 32
    parameter int unsigned Beats      = 2,   // beats of an item, at least 1
    // 1: no idle cycle between items, for twice the flip-flops
    parameter int unsigned Gapless    = 0
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        flush_i,
    input  logic [15:0]                 epoch_i,
    // Packets.
    input  logic                        s_valid_i,
    output logic                        s_ready_o,
    input  logic [StreamBits-1:0]       s_data_i,
    input  logic                        s_last_i,
    // Their contents.
    output logic                        tag_valid_o,
    input  logic                        tag_ready_i,
    output logic [31:0]                 tag_o,
    output logic                        item_valid_o,
    input  logic                        item_ready_i,
    output logic [Beats*StreamBits-1:0] item_o,
    output logic                        broken_valid_o,
    input  logic                        broken_ready_i,
    output logic [15:0]                 missing_o,
    // Pulses of one cycle: a packet without the mark or of another epoch; one of the wrong length;
    // one discarded whole.
    output logic                        foreign_o,
    output logic                        broken_o,
    output logic                        discarded_o
);
    if (StreamBits < 32 || StreamBits % 32 != 0) $error("packet_in: StreamBits must be a multiple of 32");
    if (Beats < 1) $error("packet_in: Beats must be at least 1");
    if (Gapless > 1) $error("packet_in: Gapless is 0 or 1");

    localparam logic [15:0] Mark = 16'h4548;
    localparam int unsigned BeatBits = (Beats > 1) ? $clog2(Beats) : 1;
    localparam logic [BeatBits-1:0] Final = BeatBits'(Beats - 1);

    typedef enum logic [1:0] {
        Header,
        Items,
        Rest
    } state_e;

    // The port. It tracks the packet that it has accepted, whatever a flush drops behind it.
    logic open_q, clear_n, skid_ready, beat_valid, beat_ready, beat_last;
    logic [StreamBits-1:0] beat_data;

    assign clear_n = rst_ni && !flush_i;
    assign s_ready_o = skid_ready && clear_n;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) open_q <= 1'b0;
        else if (s_valid_i && s_ready_o) open_q <= !s_last_i;
    end

    stream_skid #(
        .Width(StreamBits + 1)
    ) u_skid (
        .clk_i,
        .rst_ni     (clear_n),
        .in_valid_i (s_valid_i && s_ready_o),
        .in_ready_o (skid_ready),
        .in_data_i  ({s_last_i, s_data_i}),
        .out_valid_o(beat_valid),
        .out_ready_i(beat_ready),
        .out_data_o ({beat_last, beat_data})
    );

    // The header is whole in its last beat.
    logic [63:0] header;
    logic header_whole, header_step;

    if (StreamBits >= 64) begin : gen_header_beat
        assign header = beat_data[63:0];
        assign header_whole = 1'b1;
        logic unused;
        assign unused = header_step;
    end else begin : gen_header_beats
        logic second_q;
        logic [31:0] low_q;
        assign header = {beat_data, low_q};
        assign header_whole = second_q;

        always_ff @(posedge clk_i) begin
            if (!clear_n) begin
                second_q <= 1'b0;
                low_q    <= '0;
            end else if (header_step) begin
                second_q <= !second_q && !beat_last;
                low_q    <= beat_data;
            end
        end
    end

    // The beat's position in its packet.
    state_e state_q;
    logic [15:0] left_q;
    logic [BeatBits-1:0] beat_q;
    // The rest of a packet that is too long follows the path of its items, and is dropped there.
    logic overlong_q;
    logic ours, empty, mark_beat, head, last_of_item, last_of_packet, take, item_step, item_ready;

    assign ours = header[31:0] == {epoch_i, Mark};
    assign empty = header[63:48] == '0;
    assign head = beat_valid && state_q == Header;
    // A valid header waits until its tag is accepted and the last broken packet has been handled.
    assign mark_beat = head && header_whole && ours && (!empty || beat_last);
    assign last_of_item = beat_q == Final;
    assign last_of_packet = last_of_item && left_q == 16'd1;
    assign tag_valid_o = mark_beat && !broken_valid_o;
    assign tag_o = {header[63:48], header[47:32]};
    assign header_step = head && take;
    assign item_step = beat_valid && state_q == Items && take;
    assign beat_ready = take;

    always_comb begin
        case (state_q)
            Header:  take = !mark_beat || (tag_ready_i && !broken_valid_o);
            Items:   take = item_ready;
            default: take = item_ready || !overlong_q;
        endcase
    end

    // The packet ends too early, or continues too long.
    logic early, late;
    assign early = item_step && beat_last && !last_of_packet;
    assign late = item_step && !beat_last && last_of_packet;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Header;
        end else if (flush_i) begin
            // Discards the rest of a packet in progress.
            state_q <= open_q ? Rest : Header;
        end else if (beat_valid && take) begin
            case (state_q)
                Header: if (header_whole && !beat_last) state_q <= (ours && !empty) ? Items : Rest;
                Items: begin
                    if (beat_last) state_q <= Header;
                    else if (last_of_packet) state_q <= Rest;
                end
                default: if (beat_last) state_q <= Header;
            endcase
        end
    end

    always_ff @(posedge clk_i) begin
        if (!clear_n) begin
            left_q         <= '0;
            beat_q         <= '0;
            overlong_q     <= 1'b0;
            broken_valid_o <= 1'b0;
            missing_o      <= '0;
        end else begin
            if (broken_ready_i) broken_valid_o <= 1'b0;
            if (header_step && header_whole) begin
                left_q     <= header[63:48];
                beat_q     <= '0;
                overlong_q <= 1'b0;
                if (ours && !empty && beat_last) begin
                    broken_valid_o <= 1'b1;
                    missing_o      <= header[63:48];
                end
            end
            if (item_step) begin
                beat_q <= last_of_item ? '0 : beat_q + BeatBits'(1);
                if (last_of_item) left_q <= left_q - 16'd1;
                overlong_q <= late && Beats > 1;
                if (early || late) begin
                    broken_valid_o <= 1'b1;
                    missing_o      <= (early && last_of_item) ? left_q - 16'd1 : left_q;
                end
            end
        end
    end

    // Events: a header without the mark or of another epoch, a header cut short, and an empty
    // packet that continues.
    logic stray, endless;
    assign stray = header_step && (header_whole ? !ours : beat_last);
    assign endless = header_step && header_whole && ours && empty && !beat_last;

    always_ff @(posedge clk_i) begin
        if (!clear_n) begin
            foreign_o   <= 1'b0;
            broken_o    <= 1'b0;
            discarded_o <= 1'b0;
        end else begin
            foreign_o   <= stray;
            broken_o    <= early || late || endless || (header_step && header_whole && ours && !empty && beat_last);
            discarded_o <= stray || endless;
        end
    end

    // Items.
    if (Beats == 1) begin : gen_whole
        // The last item of a packet that is too long is not output.
        assign item_valid_o = beat_valid && state_q == Items && (beat_last || !last_of_packet);
        assign item_ready = item_ready_i || (!beat_last && last_of_packet);
        assign item_o = beat_data;
    end else begin : gen_widen
        logic short_unused;
        stream_widen #(
            .Width  (StreamBits),
            .Beats  (Beats),
            .Gapless(Gapless)
        ) u_widen (
            .clk_i,
            .rst_ni      (clear_n),
            .in_valid_i  (beat_valid && (state_q == Items || (state_q == Rest && overlong_q))),
            .in_ready_o  (item_ready),
            .in_data_i   (beat_data),
            // Drops an item that the packet's last beat cuts short, and a last item that does not
            // end its packet.
            .in_last_i   (beat_last || (state_q == Items && last_of_item && !last_of_packet)),
            .out_valid_o (item_valid_o),
            .out_ready_i (item_ready_i),
            .out_data_o  (item_o),
            .bad_packet_o(short_unused)
        );
        logic unused;
        assign unused = short_unused;
    end
endmodule
