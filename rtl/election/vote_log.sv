// SPDX-License-Identifier: MIT OR Apache-2.0
// A log of records with identifiers in a serial flash memory. No acknowledged record is lost and
// none is stored twice, whenever the power fails.
//
// A record is an identifier, Body words and their CRC-32, in a slot of its own, page after page if
// it is longer than one. Slots are used one after another. The identifier is in the first page and
// the checksum in the last, so a record never looks whole if a page is missing. A record is
// acknowledged when it was read back as written. A write that was cut short leaves a slot with a
// wrong checksum, and was not acknowledged. After reset, all slots up to the first empty one are
// read, bit by bit. Identifiers of whole records are kept in a table, and an identifier in it is
// not written again. So a sender without an answer sends the same record again, and it is stored
// once.
//
// The record in hand is in a memory that can be accessed with word_write_i and word_read_i while
// command_ready_o is high. Word 0 is the identifier, and the body follows. Append stores that body,
// Fetch loads a record there, and Find and Format do not change it. A word arrives a cycle after
// its request and stays until the next one.
//
// If a slot does not read back as written, the next one is used, or the same one if it still looks
// empty, since no record behind an empty slot would be found. After Attempts writes the answer is
// Fault. Format erases the sectors from the last to the first, so that one that is cut short or
// fails leaves the records of the sectors before; a Format that fails must be repeated.
// command_ready_o is high when the contents of the memory are known. After reset this takes at most
// Slots reads. If the memory reports busy for too long, the answer is Fault, and the next command
// begins with the same reads.
module vote_log #(
    // words of a record in addition to identifier and checksum, at least 1
    parameter int unsigned Body          = 18,
    parameter int unsigned SlotLog       = 7,  // 2^SlotLog bytes a slot: at least the record
    // whole sectors of 4096 bytes, at least 2 slots; 2^24 bytes at most
    parameter int unsigned Slots         = 1024,
    parameter int unsigned Attempts      = 3,  // writes of a record, at least 1
    parameter int unsigned SckHalfPeriod = 4,
    parameter int unsigned FlashTimeout  = 1 << 20,
    localparam int unsigned PlaceBits    = $clog2(Body + 1)
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     command_valid_i,
    output logic                     command_ready_o,
    input  logic [1:0]               command_i,       // a log_command_e of ballot_pkg
    input  logic [31:0]              id_i,            // an identifier, or the place of a record
    input  logic                     word_write_i,    // a word of the record in hand
    input  logic [PlaceBits-1:0]     word_place_i,    // 0 to Body
    input  logic [31:0]              word_i,
    input  logic                     word_read_i,
    input  logic [PlaceBits-1:0]     read_place_i,
    output logic [31:0]              word_o,
    output logic                     done_o,          // for a cycle, with the answer
    output logic [2:0]               answer_o,        // a log_answer_e of ballot_pkg
    // Fetch: its identifier; Find and Append: its place
    output logic [31:0]              id_o,
    // slots that are no longer empty; after a Fault, right from the next answer on
    output logic [$clog2(Slots):0]   used_o,
    output logic                     cs_no,
    output logic                     sck_o,
    output logic                     copi_o,
    input  logic                     cipo_i
);
    localparam int unsigned Words = Body + 2;
    localparam int unsigned SlotBits = $clog2(Slots);
    // a smaller slot is within a page
    localparam int unsigned PageWords = SlotLog > 8 ? 64 : Words;
    localparam int unsigned Sectors = (Slots << SlotLog) >> 12;
    if (Body < 1) $error("vote_log: Body must be at least 1");
    if (Attempts < 1) $error("vote_log: Attempts must be at least 1");
    if (SlotLog < 4 || SlotLog > 23 || 4 * Words > (1 << SlotLog)) $error("vote_log: a slot must hold a record");
    if (Slots < 2 || SlotBits + SlotLog > 24 || (Slots << SlotLog) % 4096 != 0)
        $error("vote_log: Slots must fill sectors, and have 24 bits of address");

    typedef logic [SlotBits:0] slot_t;
    localparam int unsigned WordBits = $clog2(Words + 1);
    typedef logic [WordBits-1:0] word_t;

    typedef enum logic [3:0] {
        Settle,   // waits, as this side alone may have been reset, in the middle of a write
        Settling,
        Scan,     // orders the read of a slot
        Scanned,  // reads it
        Rest,
        Begin,    // begins the command
        Search,   // searches the table
        Write,    // orders the program of a page
        Writing,
        Verify,   // orders the read of what was written
        Verified,
        Read,
        Reading,
        Wipe,     // orders the erase of a sector
        Wiping,
        Answer
    } state_e;

    state_e state_d, state_q;
    slot_t slot_q, used_q;
    logic [1:0] command_q;
    logic [31:0] id_q, first_q, crc_q, crc, write_word;
    word_t word_q;
    logic blank_q, same_q;
    logic started_q;  // the contents were known once
    logic doubt_q;    // a write or an erase may have been left unfinished
    logic [$clog2(Attempts+1)-1:0] attempt_q;
    ballot_pkg::log_answer_e answer_q;

    // ---- the memory -----------------------------------------------------------------------------

    logic flash_valid, flash_ready, flash_in, flash_taken, flash_out, flash_done, flash_failed;
    logic [7:0] flash_command;
    logic [23:0] flash_address;
    word_t flash_words, done_q;
    logic [31:0] flash_word;
    logic ordered;
    logic [12:0] sector_q;
    slot_t first_slot;  // of the sector
    assign first_slot = slot_t'((24'(sector_q) << 12) >> SlotLog);

    logic table_write, table_ready, table_good, unused_error, found;
    logic record_ready, unused_record_error, rest, comes, fresh_q;
    logic at_check;
    logic reads;
    assign reads = state_q == Scan || state_q == Verify || state_q == Read;
    assign flash_valid = (state_q == Settle && table_ready && record_ready) || reads || state_q == Write || state_q == Wipe;
    assign ordered = flash_valid && flash_ready;
    always_comb begin
        flash_command = 8'h03;
        if (state_q == Settle) flash_command = 8'h05;
        if (state_q == Write) flash_command = 8'h02;
        if (state_q == Wipe) flash_command = 8'h20;
    end
    assign flash_in = state_q == Writing && (fresh_q || at_check);
    // A program continues where the page before it ended; a read is a single command.
    always_comb begin
        flash_address = 24'(slot_q) << SlotLog;
        flash_words   = word_t'(Words);
        if (state_q == Wipe) flash_address = 24'(sector_q) << 12;
        if (state_q == Write) begin
            flash_address = (24'(slot_q) << SlotLog) + 24'({done_q, 2'd0});
            if (Words - 32'(done_q) > PageWords) flash_words = word_t'(PageWords);
            else flash_words = word_t'(Words) - done_q;
        end
    end

    spi_flash #(
        .SckHalfPeriod(SckHalfPeriod),
        .Longest      (Words),
        .FlashTimeout (FlashTimeout)
    ) u_flash (
        .clk_i,
        .rst_ni,
        .command_valid_i(flash_valid),
        .command_ready_o(flash_ready),
        .command_i      (flash_command),
        .address_i      (flash_address),
        .words_i        (flash_words),
        .in_valid_i     (flash_in),
        .in_ready_o     (flash_taken),
        .in_data_i      (write_word),
        .out_valid_o    (flash_out),
        .out_ready_i    (1'b1),
        .out_data_o     (flash_word),
        .done_o         (flash_done),
        .failed_o       (flash_failed),
        .cs_no,
        .sck_o,
        .copi_o,
        .cipo_i
    );

    assign at_check = word_q == word_t'(Words - 1);
    assign write_word = at_check ? ~crc_q : word_o;

    crc32 u_crc (
        .crc_i (crc_q),
        .data_i(state_q == Writing ? write_word : flash_word),
        .crc_o (crc)
    );

    // ---- the record in hand ---------------------------------------------------------------------

    assign rest = state_q == Rest;
    assign comes = state_q == Reading && flash_out && !at_check;
    ram_1r1w #(
        .Width(32),
        .Depth(Body + 1)
    ) u_record (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (record_ready),
        .write_i        (rest ? word_write_i || (command_valid_i && command_ready_o && command_i == ballot_pkg::Append) : comes),
        .write_address_i(!rest ? PlaceBits'(word_q) : word_write_i ? word_place_i : '0),
        .write_data_i   (!rest ? flash_word : word_write_i ? word_i : id_i),
        .read_i         (rest ? word_read_i : !at_check),
        .read_address_i (rest ? read_place_i : PlaceBits'(word_q)),
        .read_data_o    (word_o),
        .error_o        (unused_record_error)
    );
    // Whether the word at word_q was read: it arrives a cycle later.
    always_ff @(posedge clk_i) fresh_q <= state_q == Writing && !flash_taken;

    // ---- the table of identifiers ---------------------------------------------------------------

    logic [31:0] table_id;
    slot_t asked_q;
    logic asked_valid_q;

    logic whole, read_over, written;
    logic [31:0] record_id;
    ram_1r1w #(
        .Width(33),
        .Depth(Slots)
    ) u_table (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (table_ready),
        .write_i        (table_write),
        .write_address_i(SlotBits'(slot_q)),
        .write_data_i   ({whole && (state_q == Scanned || same_q), record_id}),
        .read_i         (state_q == Search),
        .read_address_i (SlotBits'(slot_q)),
        .read_data_o    ({table_good, table_id}),
        .error_o        (unused_error)
    );

    // All words have come back, with their checksum. All ones are not whole, as their checksum is
    // wrong.
    logic last_back;
    assign last_back = flash_out && at_check;
    assign read_over = (state_q == Scanned || state_q == Verified || state_q == Reading) && last_back;
    assign written = word_q == word_t'(Words);
    assign whole = crc == 32'hdebb20e3;
    assign record_id = state_q == Scanned ? first_q : id_q;
    assign table_write = (state_q == Scanned || state_q == Verified) && last_back;
    assign found = asked_valid_q && table_good && table_id == id_q;

    // ---- control --------------------------------------------------------------------------------

    logic accept, empty, last_slot, scan_over, missing, stored, given_up;
    assign command_ready_o = state_q == Rest && table_ready && record_ready;
    assign used_o = used_q;
    assign accept = command_valid_i && command_ready_o;
    // The slot whose last word comes now was never written.
    assign empty = blank_q && flash_word == '1;
    assign last_slot = slot_q == slot_t'(Slots - 1);
    // The table has no such identifier.
    assign missing = slot_q == used_q && !asked_valid_q;
    assign scan_over = read_over && (empty || last_slot);
    // stored: a record came back as written. given_up: it is not written again.
    assign stored = same_q && whole;
    assign given_up = attempt_q == ($clog2(Attempts + 1))'(Attempts - 1) || (last_slot && !empty);

    always_comb begin
        state_d = state_q;
        unique case (state_q)
            Settle: if (ordered) state_d = Settling;
            Settling: if (flash_done) state_d = !flash_failed ? Scan : started_q ? Answer : Settle;
            Scan: if (ordered) state_d = Scanned;
            Scanned: if (read_over) state_d = !scan_over ? Scan : started_q ? Begin : Rest;
            Rest: if (accept) state_d = doubt_q ? Settle : Begin;
            Begin:
            unique case (command_q)
                ballot_pkg::Find, ballot_pkg::Append: state_d = Search;
                ballot_pkg::Fetch: state_d = id_q < 32'(used_q) ? Read : Answer;
                default: state_d = Wipe;
            endcase
            Search:
            if (found) state_d = Answer;
            else if (missing) state_d = (command_q == ballot_pkg::Find || used_q == slot_t'(Slots)) ? Answer : Write;
            Write: if (ordered) state_d = Writing;
            Writing: if (flash_done) state_d = flash_failed ? Answer : written ? Verify : Write;
            Verify: if (ordered) state_d = Verified;
            Verified: if (read_over) state_d = (stored || given_up) ? Answer : Write;
            Read: if (ordered) state_d = Reading;
            Reading: if (read_over) state_d = Answer;
            Wipe: if (ordered) state_d = Wiping;
            Wiping: if (flash_done) state_d = (flash_failed || sector_q == '0) ? Answer : Wipe;
            default: state_d = Rest;
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q   <= Settle;
            started_q <= 1'b0;
            doubt_q   <= 1'b0;
        end else begin
            state_q <= state_d;
            if (state_q == Rest) started_q <= 1'b1;
            if (state_q == Scanned && scan_over) doubt_q <= 1'b0;
            else if ((state_q == Writing || state_q == Wiping) && flash_done && flash_failed) doubt_q <= 1'b1;
        end
    end

    // Words to and from the memory, and their checks. The pages of a record are one run.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            crc_q   <= '1;
            first_q <= '0;
            word_q  <= '0;
            blank_q <= 1'b0;
            same_q  <= 1'b0;
        end else begin
            if (ordered && !(state_q == Write && done_q != '0)) begin
                word_q  <= '0;
                crc_q   <= '1;
                blank_q <= 1'b1;
                same_q  <= 1'b1;
            end
            if ((state_q == Writing && flash_taken) || flash_out) begin
                word_q <= word_q + word_t'(1);
                crc_q  <= crc;
            end
            if (flash_out) begin
                blank_q <= blank_q && flash_word == '1;
                if (!at_check) same_q <= same_q && flash_word == word_o;
                if (word_q == '0) first_q <= flash_word;
            end
        end
    end

    // The slot, the first empty one, and the progress within a record or the memory.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            slot_q    <= '0;
            used_q    <= '0;
            attempt_q <= '0;
            done_q    <= '0;
            sector_q  <= '0;
        end else begin
            unique case (state_q)
                Scanned:
                if (read_over) begin
                    if (scan_over) used_q <= slot_q + slot_t'(!empty);
                    else slot_q <= slot_q + slot_t'(1);
                end
                Rest: begin
                    attempt_q <= '0;
                    slot_q    <= '0;
                    sector_q  <= 13'(Sectors - 1);
                end
                Begin: slot_q <= command_q == ballot_pkg::Fetch ? slot_t'(id_q) : '0;
                // One place of the table per cycle.
                Search: if (slot_q != used_q) slot_q <= slot_q + slot_t'(1);
                Writing: if (flash_done) done_q <= (flash_failed || written) ? '0 : word_q;
                Verified:
                if (read_over) begin
                    attempt_q <= attempt_q + ($clog2(Attempts + 1))'(1);
                    used_q    <= slot_q + slot_t'(!empty);
                    if (!stored && !given_up) slot_q <= slot_q + slot_t'(!empty);
                end
                Wiping:
                if (flash_done && !flash_failed) begin
                    sector_q <= sector_q - 13'd1;
                    if (used_q > first_slot) used_q <= first_slot;
                end
                default: ;
            endcase
        end
    end

    // The command, and the requested place of the table, which arrives a cycle later.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            command_q     <= '0;
            id_q          <= '0;
            asked_q       <= '0;
            asked_valid_q <= 1'b0;
        end else begin
            if (accept) begin
                command_q <= command_i;
                id_q      <= id_i;
            end
            if (state_q == Search) asked_q <= slot_q;
            asked_valid_q <= state_q == Search && slot_q != used_q;
        end
    end

    // The answer.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            answer_q <= ballot_pkg::Done;
            id_o     <= '0;
        end else begin
            unique case (state_q)
                Settling: answer_q <= ballot_pkg::Fault;
                Begin: answer_q <= ballot_pkg::Absent;
                Search:
                if (found) begin
                    id_o     <= 32'(asked_q);
                    answer_q <= command_q == ballot_pkg::Find ? ballot_pkg::Done : ballot_pkg::Known;
                end else if (missing) begin
                    answer_q <= command_q == ballot_pkg::Find ? ballot_pkg::Absent : ballot_pkg::Full;
                end
                Writing: if (flash_done) answer_q <= ballot_pkg::Fault;
                Verified:
                if (read_over) begin
                    if (stored) begin
                        id_o     <= 32'(slot_q);
                        answer_q <= ballot_pkg::Done;
                    end else if (given_up) begin
                        answer_q <= ballot_pkg::Fault;
                    end
                end
                Reading:
                if (read_over) begin
                    answer_q <= whole ? ballot_pkg::Done : ballot_pkg::Absent;
                    id_o     <= first_q;
                end
                Wiping: if (flash_done) answer_q <= flash_failed ? ballot_pkg::Fault : ballot_pkg::Done;
                default: ;
            endcase
        end
    end

    assign done_o = state_q == Answer;
    assign answer_o = answer_q;

    `include "assertions.svh"
    `ASSERT(WrittenIntoEmpty, !(state_q == Write && done_q == '0 && slot_q != used_q))
    `ASSERT(OneWriter, !(word_write_i && command_valid_i && command_ready_o))
    `COVER(SecondAttempt, state_q == Write && attempt_q != '0)
endmodule
