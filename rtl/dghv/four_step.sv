// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies numbers of any length in memory by transforms of N = 2^(rows + columns) points modulo
// 2^64 - 2^32 + 1, in passes over matrices of N words in memory. Digit t of a number is in row t
// div 2^columns.
//
//   ColumnsX, ColumnsY   digits of a number in, columns transformed and twiddled, a matrix out          2^columns / Columns tiles
//   Rows                 rows of both transformed, multiplied and transformed back, one matrix out      2^rows 2 / Columns
//   Back                 columns transformed back, coefficients out                                     2^columns / Columns
//   Carry                coefficients in, words of the product out
//
// These are [Bailey90]'s four steps. One pass does the third and fourth step of both factors'
// transforms and the first and second of the product's, so nothing is ever transposed. Each pass
// loads, processes and stores tiles of Columns 2^(High+Low) words, three of them at a time, each in
// a memory of its own.
//
// Cycles from start_i to done_o, for a memory that answers at once: the sum over tiles of the
// longest of the three, plus the beginning and end of each pass. This is 7 N and a share of the
// transform's latency for each tile (reference model four_step; the tests count every cycle). 4 N
// words are read and 4 N written, in addition to the numbers.
module four_step #(
    parameter int unsigned High       = 6,                       // High to ATile: see tile_compute
    parameter int unsigned Low        = 5,
    parameter logic [65:0] Root       = 66'd7915626813612114351,
    parameter int unsigned ATile      = 24,
    // columns of a tile, and words of a request
    parameter int unsigned Columns    = 16,
    parameter int unsigned Base       = 20,                      // bits of a digit
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    output logic                  ready_o,           // all is wiped; high before start_i
    input  logic                  start_i,
    // stable from start_i to done_o, and such that good_o is high
    input  four_step_pkg::product_t  step_i,
    output logic                  good_o,            // lengths and sizes of step_i fit
    // no memory access is pending
    input  logic                  settled_i,
    output logic                  done_o,            // all words have been handed over
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [63:0]           rd_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [63:0]           wr_data_o
);
    localparam int unsigned Log = High + Low;
    localparam int unsigned ColumnBits = $clog2(Columns);
    localparam int unsigned PlaceBits = Log + ColumnBits;
    localparam int unsigned DigitWords = Columns * Base / 64;  // words of Columns digits
    localparam logic [131:0] Largest = (132'd1 << Base) - 132'd1;

    if (Base < 1 || Base > 28 || (Largest * Largest) << (2 * Log - 1) >= 132'(ntt_pkg::modulus(64, 32)))
        $error("four_step: Base is too large for the modulus");

    typedef dghv_pkg::address_t address_t;
    typedef dghv_pkg::length_t length_t;

    // ---- Sizes: the digits of both factors together fit the matrix, so that the product's
    // coefficients do not overlap. ----

    typedef logic [dghv_pkg::LengthBits:0] room_t;
    room_t room, both;
    logic good_shape, there;
    assign room       = room_t'(DigitWords) << (6'(step_i.rows) + 6'(step_i.columns) - 6'(ColumnBits));
    assign both       = room_t'(step_i.x.words) + room_t'(step_i.y.words);
    assign there      = step_i.x.words != '0 && step_i.y.words != '0 && step_i.z.words != '0;
    assign good_shape = step_i.rows > 4'(Low) && step_i.rows <= 4'(Log) && step_i.columns > 4'(Low) && step_i.columns <= 4'(Log);
    assign good_o     = good_shape && (step_i.wipe || (there && both <= room && room_t'(step_i.z.words) <= room));

    // ---- Passes. In each beat, one tile is loaded, one processed and one stored; then the
    // memories rotate. ----

    typedef enum logic [2:0] {
        Idle,
        Begin,    // begins a pass
        Beat,     // starts the units
        Work,     // until they have ended
        Settle,   // until the words written are in memory
        Carry
    } state_e;
    state_e state_q;
    four_step_pkg::pass_e pass_q;
    length_t beat_q, tiles;
    logic [1:0] turn_q;  // the memory that is loaded
    logic by_rows, loads, works, stores, idle, last_beat;
    logic load_done, work_done, store_done, carry_done;
    assign by_rows   = pass_q == four_step_pkg::Rows;
    assign tiles     = by_rows ? length_t'(1) << (4'(step_i.rows) - 4'(ColumnBits - 1)) : length_t'(1) << (4'(step_i.columns) - 4'(ColumnBits));
    assign loads     = beat_q < tiles;
    assign works     = beat_q != '0 && beat_q <= tiles;
    assign stores    = beat_q > length_t'(1);
    assign idle      = load_done && work_done && store_done;
    assign last_beat = beat_q == tiles + length_t'(1);
    assign done_o    = state_q == Carry && carry_done;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
            pass_q  <= four_step_pkg::ColumnsX;
            beat_q  <= '0;
            turn_q  <= '0;
        end else begin
            unique case (state_q)
                Idle:
                if (start_i) begin
                    state_q <= Begin;
                    pass_q  <= four_step_pkg::ColumnsX;
                end
                Begin: begin
                    beat_q  <= '0;
                    state_q <= pass_q == four_step_pkg::Carry ? Carry : Beat;
                end
                Beat: state_q <= Work;
                Work:
                if (idle) begin
                    beat_q  <= beat_q + length_t'(1);
                    turn_q  <= turn_q == 2'd2 ? 2'd0 : turn_q + 2'd1;
                    state_q <= last_beat ? Settle : Beat;
                end
                Settle:
                if (settled_i) begin
                    state_q <= Begin;
                    pass_q  <= four_step_pkg::pass_e'(pass_q + 3'd1);
                end
                default: if (carry_done) state_q <= Idle;
            endcase
        end
    end

    // ---- The addresses of a tile: columns side by side, or rows one after another. ----

    address_t y_at;
    assign y_at = step_i.scratch + (address_t'(1) << (6'(step_i.rows) + 6'(step_i.columns)));

    length_t load_first, load_stride, load_rows, store_first, store_stride, work_first;
    logic digits;
    assign digits       = pass_q == four_step_pkg::ColumnsX || pass_q == four_step_pkg::ColumnsY;
    assign load_rows    = by_rows ? length_t'(1) << (step_i.columns - 4'd1) : length_t'(1) << step_i.rows;
    assign store_stride = by_rows ? length_t'(Columns) : length_t'(1) << step_i.columns;
    assign store_first  = by_rows ? (beat_q - length_t'(2)) << (5'(step_i.columns) + 5'(ColumnBits - 1)) : (beat_q - length_t'(2)) << ColumnBits;
    assign work_first   = by_rows ? (beat_q - length_t'(1)) << (ColumnBits - 1) : (beat_q - length_t'(1)) << ColumnBits;

    always_comb begin
        if (by_rows) begin
            load_first  = beat_q << (5'(step_i.columns) + 5'(ColumnBits - 1));
            load_stride = length_t'(Columns);
        end else if (digits) begin
            load_first  = beat_q * length_t'(DigitWords);
            load_stride = length_t'(DigitWords) << (step_i.columns - 4'(ColumnBits));
        end else begin
            load_first  = beat_q << ColumnBits;
            load_stride = length_t'(1) << step_i.columns;
        end
    end

    // ---- The three units. ----

    logic go, load_write, work_read, work_write, store_read, kept_wiped;
    logic [PlaceBits-1:0] load_place, work_from, work_place, store_place;
    logic [63:0] load_data, work_word, work_data, store_word;
    logic load_req_valid, load_req_ready, load_ready, carry_req_valid, carry_ready;
    logic store_req_valid, store_valid, told_valid, told_word_valid, carries;
    logic [AddrWidth-1:0] load_addr, carry_addr, store_addr, told_addr;
    logic [CountWidth-1:0] load_count, carry_count, store_count, told_count;
    logic [63:0] store_data, told_data;
    assign go      = state_q == Beat;
    assign carries = state_q == Carry;

    tile_loader #(
        .Columns   (Columns),
        .Base      (Base),
        .PlaceBits (PlaceBits),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_loader (
        .clk_i,
        .rst_ni,
        .start_i       (go && loads),
        .digits_i      (digits),
        .two_i         (by_rows),
        .base_i        (pass_q == four_step_pkg::ColumnsX ? step_i.x.at : pass_q == four_step_pkg::ColumnsY ? step_i.y.at : step_i.scratch),
        .second_i      (y_at),
        .first_i       (load_first),
        .stride_i      (load_stride),
        .rows_i        (load_rows),
        .limit_i       (pass_q == four_step_pkg::ColumnsX ? step_i.x.words : step_i.y.words),
        .done_o        (load_done),
        .rd_req_valid_o(load_req_valid),
        .rd_req_ready_i(load_req_ready),
        .rd_req_addr_o (load_addr),
        .rd_req_count_o(load_count),
        .rd_valid_i    (rd_valid_i && !carries),
        .rd_ready_o    (load_ready),
        .rd_data_i,
        .write_o       (load_write),
        .write_place_o (load_place),
        .write_data_o  (load_data)
    );
    assign load_req_ready = rd_req_ready_i && !carries;

    tile_compute #(
        .High   (High),
        .Low    (Low),
        .Root   (Root),
        .ATile  (ATile),
        .Columns(Columns)
    ) u_worker (
        .clk_i,
        .rst_ni,
        .start_i      (go && works),
        .pass_i       (pass_q),
        .rows_i       (step_i.rows),
        .columns_i    (step_i.columns),
        .first_i      (work_first[Log-1:0]),
        .done_o       (work_done),
        .read_o       (work_read),
        .read_place_o (work_from),
        .read_data_i  (work_word),
        .write_o      (work_write),
        .write_place_o(work_place),
        .write_data_o (work_data),
        .wiped_o      (kept_wiped)
    );

    tile_writer #(
        .Columns   (Columns),
        .PlaceBits (PlaceBits),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_storer (
        .clk_i,
        .rst_ni,
        .start_i       (go && stores),
        .base_i        (pass_q == four_step_pkg::ColumnsY ? y_at : step_i.scratch),
        .first_i       (store_first),
        .stride_i      (store_stride),
        .rows_i        (load_rows),
        .done_o        (store_done),
        .read_o        (store_read),
        .read_place_o  (store_place),
        .read_data_i   (store_word),
        .wr_req_valid_o(store_req_valid),
        .wr_req_ready_i(wr_req_ready_i && !carries),
        .wr_req_addr_o (store_addr),
        .wr_req_count_o(store_count),
        .wr_valid_o    (store_valid),
        .wr_ready_i    (wr_ready_i && !carries),
        .wr_data_o     (store_data)
    );

    coefficient_carry #(
        .Columns   (Columns),
        .Base      (Base),
        .AddrWidth (AddrWidth),
        .CountWidth(CountWidth)
    ) u_carry (
        .clk_i,
        .rst_ni,
        .start_i       (state_q == Begin && pass_q == four_step_pkg::Carry),
        .x_at_i        (step_i.scratch),
        .log_i         (5'(step_i.rows) + 5'(step_i.columns)),
        .z_at_i        (step_i.z.at),
        .z_words_i     (step_i.z.words),
        .done_o        (carry_done),
        .rd_req_valid_o(carry_req_valid),
        .rd_req_ready_i(rd_req_ready_i && carries),
        .rd_req_addr_o (carry_addr),
        .rd_req_count_o(carry_count),
        .rd_valid_i    (rd_valid_i && carries),
        .rd_ready_o    (carry_ready),
        .rd_data_i,
        .wr_req_valid_o(told_valid),
        .wr_req_ready_i(wr_req_ready_i && carries),
        .wr_req_addr_o (told_addr),
        .wr_req_count_o(told_count),
        .wr_valid_o    (told_word_valid),
        .wr_ready_i    (wr_ready_i && carries),
        .wr_data_o     (told_data)
    );

    assign rd_req_valid_o = carries ? carry_req_valid : load_req_valid;
    assign rd_req_addr_o  = carries ? carry_addr : load_addr;
    assign rd_req_count_o = carries ? carry_count : load_count;
    assign rd_ready_o     = carries ? carry_ready : load_ready;
    assign wr_req_valid_o = carries ? told_valid : store_req_valid;
    assign wr_req_addr_o  = carries ? told_addr : store_addr;
    assign wr_req_count_o = carries ? told_count : store_count;
    assign wr_valid_o     = carries ? told_word_valid : store_valid;
    assign wr_data_o      = carries ? told_data : store_data;

    // ---- The memories of tiles: one is loaded, one processed, one stored. ----

    logic [2:0] wiped, unused_error;
    logic [2:0][63:0] word;
    for (genvar k = 0; k < 3; k++) begin : gen_tile
        logic loaded, worked;
        assign loaded = turn_q == 2'(k);
        assign worked = turn_q == 2'((k + 1) % 3);

        ram_1r1w #(
            .Width(64),
            .Depth(1 << PlaceBits)
        ) u_tile (
            .clk_i,
            .rst_ni,
            .wipe_i         (1'b0),
            .ready_o        (wiped[k]),
            .write_i        (loaded ? load_write : worked && work_write),
            .write_address_i(loaded ? load_place : work_place),
            .write_data_i   (loaded ? load_data : work_data),
            .read_i         (worked ? work_read : !loaded && store_read),
            .read_address_i (worked ? work_from : store_place),
            .read_data_o    (word[k]),
            .error_o        (unused_error[k])
        );
    end
    assign work_word  = turn_q == 2'd1 ? word[0] : turn_q == 2'd2 ? word[1] : word[2];
    assign store_word = turn_q == 2'd2 ? word[0] : turn_q == 2'd0 ? word[1] : word[2];
    // When the memories are wiped, zeros have also passed through the whole transform.
    assign ready_o    = (&wiped) && kept_wiped && state_q == Idle;

    logic unused;
    assign unused = &{1'b0, unused_error, step_i, work_first};
endmodule
