// SPDX-License-Identifier: MIT OR Apache-2.0
// Controls writes of an accelerator's constants, and decides when they form a key.
//
// A region is complete when each of its words has been written since the constants were last
// cleared. The host's statement that the key is complete (ready_i) counts only if every region that
// is not Optional is complete. The first constant written after that belongs to another key: before
// accepting it, the slot clears all constants. So the device always computes with a complete set of
// constants of one key.
//
// key_wipe_o clears the constants, in the cycle after clear_o. Everything computed with them must
// be dropped in that cycle too. A requested word stays until it is accepted: at once, or, if
// constants are cleared first, when that is done (two cycles, plus the time that the memories need,
// signalled by open_i). It appears at key_write_o one cycle later, with the region's number in the
// upper 5 bits of key_index_o. complete_o and whole_o follow a word by two cycles.
module key_slot #(
    // words of each region, 10 bits each; 0 where there is none
    parameter logic [319:0] RegionWords = '0,
    parameter logic [31:0]  Optional    = '0   // regions that a key may omit, a bit each
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    // the host clears the constants; never with ready_i or asked_i
    input  logic        wipe_i,
    input  logic        ready_i,      // the host says that the key is complete; never with asked_i
    // a word that exists, of a region that exists, while nothing is in flight
    input  logic        asked_i,
    input  logic [13:0] index_i,
    input  logic [31:0] data_i,
    // the constants' memories are cleared; low from the cycle after key_wipe_o until then
    input  logic        open_i,
    output logic        wait_o,       // the word is not accepted in this cycle
    output logic        clear_o,
    output logic        key_wipe_o,
    output logic        key_write_o,
    output logic [13:0] key_index_o,
    output logic [31:0] key_data_o,
    output logic        key_ready_o,  // the key is in use
    output logic        whole_o,      // the key may be put into use
    output logic [31:0] complete_o    // complete regions, a bit each
);
    logic take;
    assign clear_o = wipe_i || (asked_i && key_ready_o);
    assign wait_o  = asked_i && (key_ready_o || key_wipe_o || !open_i);
    assign take    = asked_i && !wait_o;

    // Words written so far, per region.
    logic [31:0] absent;
    for (genvar r = 0; r < 32; r++) begin : gen_region
        localparam int unsigned Words = 32'(RegionWords[10*r+:10]);
        if (Words > 512) $error("key_slot: a region has at most 512 words");
        if (Words == 0 && Optional[r]) $error("key_slot: an optional region has words");
        if (Words == 0) begin : gen_none
            assign absent[r] = 1'b1;
            assign complete_o[r] = 1'b0;
        end else begin : gen_words
            logic [Words-1:0] written_q;
            logic complete_q;
            always_ff @(posedge clk_i) begin
                if (!rst_ni || clear_o) begin
                    written_q  <= '0;
                    complete_q <= 1'b0;
                end else begin
                    for (int unsigned w = 0; w < Words; w++) begin
                        if (take && index_i == {5'(r), 9'(w)}) written_q[w] <= 1'b1;
                    end
                    complete_q <= &written_q;
                end
            end
            assign absent[r] = 1'b0;
            assign complete_o[r] = complete_q;
        end
    end
    assign whole_o = &(complete_o | absent | Optional);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            key_wipe_o  <= 1'b0;
            key_write_o <= 1'b0;
            key_index_o <= '0;
            key_data_o  <= '0;
            key_ready_o <= 1'b0;
        end else begin
            key_wipe_o  <= clear_o;
            key_write_o <= take;
            key_index_o <= index_i;
            key_data_o  <= take ? data_i : '0;
            if (clear_o) key_ready_o <= 1'b0;
            else if (ready_i && whole_o) key_ready_o <= 1'b1;
        end
    end
endmodule
