// SPDX-License-Identifier: MIT OR Apache-2.0
// No answer depends on a constant or a state of an earlier key. One device has any history that its
// host likes: keys, partial keys, wipes, resets, and computations with them. Another is in reset
// until the constants of the first are cleared, by a wipe or by the first word of another key. From
// the next cycle on, both get the same requests and are the same: in what they accept, in their
// constants, in registers and in memory, and in what they compute.
//
// A device computes only with a key whose every word was written since the constants were cleared.
// It is told that an optional region is complete only under the same condition. No constant changes
// while it computes, every word that it accepts is there, and no word waits for ever.
module formal (
    input logic clk_i
);
    (* anyseq *) logic wipe_asked, ready_asked, asked, high, step, again, join_now, address;
    (* anyseq *) logic [1:0] place;
    // Two bits of every word are used.
    (* anyseq *) logic [1:0] data;
    logic [1:0] key_wipe, key_write, key_ready, waits, whole;
    logic [1:0][13:0] key_index;
    logic [1:0][31:0] key_data, complete;
    logic [1:0][33:0] double;
    logic [1:0][1:0] single, memory, result;

    logic joined_q = 1'b0;
    logic started = 1'b0;
    always_ff @(posedge clk_i) begin
        started  <= 1'b1;
        joined_q <= joined_q || (join_now && key_wipe[0] && !wipe_asked);
    end

    // Two words in region 0, one in region 3, and two in region 5, which is optional and in a
    // memory.
    logic [13:0] index;
    always_comb begin
        unique case (place)
            2'd0:    index = 14'd0;
            2'd1:    index = 14'd1;
            2'd2:    index = {5'd3, 9'd0};
            default: index = {5'd5, 8'd0, high};
        endcase
    end

    for (genvar k = 0; k < 2; k++) begin : gen_device
        logic rst_n, clear, open, memory_write, unused_error;
        assign rst_n = started && !again && (k == 0 || joined_q);
        key_slot #(
            .RegionWords(320'd2 | (320'd1 << 30) | (320'd2 << 50)),
            .Optional   (32'h20)
        ) u_block (
            .clk_i,
            .rst_ni     (rst_n),
            .wipe_i     (wipe_asked && !asked),
            .ready_i    (ready_asked && !asked && !wipe_asked),
            .asked_i    (asked),
            .index_i    (index),
            .data_i     (32'(data)),
            .open_i     (open),
            .wait_o     (waits[k]),
            .clear_o    (clear),
            .key_wipe_o (key_wipe[k]),
            .key_write_o(key_write[k]),
            .key_index_o(key_index[k]),
            .key_data_o (key_data[k]),
            .key_ready_o(key_ready[k]),
            .whole_o    (whole[k]),
            .complete_o (complete[k])
        );
        config_register #(
            .Bits(34)
        ) u_double (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe[k]),
            .write_i(key_write[k] && key_index[k][13:9] == 5'd0),
            .index_i(key_index[k][8:0]),
            .data_i (key_data[k]),
            .value_o(double[k])
        );
        config_register #(
            .Bits(2)
        ) u_single (
            .clk_i,
            .rst_ni (rst_n),
            .wipe_i (key_wipe[k]),
            .write_i(key_write[k] && key_index[k][13:9] == 5'd3),
            .index_i(key_index[k][8:0]),
            .data_i (key_data[k]),
            .value_o(single[k])
        );
        assign memory_write = key_write[k] && key_index[k][13:9] == 5'd5;
        ram_1r1w #(
            .Width(2),
            .Depth(2)
        ) u_memory (
            .clk_i,
            .rst_ni         (rst_n),
            .wipe_i         (key_wipe[k]),
            .ready_o        (open),
            .write_i        (memory_write),
            .write_address_i(key_index[k][0]),
            .write_data_i   (key_data[k][1:0]),
            .read_i         (key_ready[k]),
            .read_address_i (address),
            .read_data_o    (memory[k]),
            .error_o        (unused_error)
        );
        // The computation.
        always_ff @(posedge clk_i) begin
            if (!rst_n || key_wipe[k]) result[k] <= '0;
            else if (key_ready[k] && step)
                result[k] <= (result[k] << 1) ^ double[k][1:0] ^ double[k][33:32] ^ single[k] ^ (complete[k][5] ? memory[k] : '0);
        end
    end

    // A requested word stays.
    logic held_q = 1'b0;
    logic [2:0] place_q;
    logic [1:0] data_q;
    always_ff @(posedge clk_i) begin
        held_q  <= started && !again && asked && waits[0];
        place_q <= {high, place};
        data_q  <= data;
    end
    always_comb if (held_q) assume (asked && {high, place} == place_q && data == data_q);

    // The words written since constants were cleared, the last ones of the memory, whether a key
    // has been in use since, and how long a word waits.
    logic [4:0] written_q = '0, written_qq = '0;
    logic [1:0] read_q, low_q, high_q;
    logic used_q = 1'b0, read_there_q = 1'b0;
    logic [3:0] waited_q = '0;
    logic take;
    assign take = asked && !waits[0];
    always_ff @(posedge clk_i) begin
        waited_q <= (started && !again && asked && waits[0]) ? waited_q + 4'd1 : '0;
        if (!started || again || key_wipe[0]) begin
            written_q    <= '0;
            written_qq   <= '0;
            used_q       <= 1'b0;
            read_there_q <= 1'b0;
        end else begin
            if (take) begin
                written_q <= written_q | (5'd1 << (3'(place) + 3'(place == 2'd3 && high)));
                if (place == 2'd3 && !high) low_q <= data;
                if (place == 2'd3 && high) high_q <= data;
            end
            written_qq <= written_q;
            if (key_ready[0]) used_q <= 1'b1;
            // A word of the memory reads as it was written.
            read_there_q <= key_ready[0] && complete[0][5];
            read_q <= address ? high_q : low_q;
            assert (!(key_write[0] && (used_q || key_ready[0])));
            if (key_ready[0]) assert (written_q[2:0] == 3'b111);
            if (complete[0][5]) assert (written_q[4:3] == 2'b11);
            assert (!complete[0][1] && !complete[0][31]);
            if (written_qq[2:0] == 3'b111 && written_q[2:0] == 3'b111) assert (whole[0]);
            if (whole[0]) assert (written_q[2:0] == 3'b111);
            if (read_there_q) assert (memory[0] == read_q);
            assert (waited_q <= 4'd7);
        end
        if (joined_q) begin
            assert (key_ready[0] == key_ready[1] && complete[0] == complete[1] && whole[0] == whole[1]);
            assert (key_wipe[0] == key_wipe[1] && key_write[0] == key_write[1] && waits[0] == waits[1]);
            if (key_write[0]) assert (key_index[0] == key_index[1]);
            assert (key_data[0] == key_data[1] && double[0] == double[1] && single[0] == single[1]);
            assert (result[0] == result[1]);
            if (read_there_q) assert (memory[0] == memory[1]);
        end
        // Another key, without the region of the first one.
        cover (joined_q && key_ready[1] && !complete[1][5] && result[1] != '0);
        cover (joined_q && complete[1][5] && key_ready[1]);
        cover (asked && waits[0] && key_ready[0]);
    end
endmodule
