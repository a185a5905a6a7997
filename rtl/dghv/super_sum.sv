// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, differences, comparisons and tests of numbers of any length in memory. Also zeroes memory.
//
//   z = x + y + carry, or x - y - carry, its lowest z.words words (step_t); words beyond the end of x or y are zero
//
// z may have the address of x or y. Masked: y is read but counts as zero, so that a subtraction
// that depends on a secret looks the same either way. The findings (dghv_pkg::finding_t) are valid
// from done_o to the next start_i. Without write, this is a comparison (carry is high if x < y) or
// a test of the top word. Numbers are processed in pieces of Chunk words: a piece of x is read,
// then one of y, while requests for the next piece are pending.
//
// Cycles from start_i to done_o, for a memory that answers at once: one for each word of x and y
// that is read, z.words where y has none, and a constant for each piece; the tests count them. The
// time depends on lengths alone.
module super_sum #(
    parameter int unsigned Width      = 64,  // bits of a word
    parameter int unsigned Chunk      = 32,  // words of a piece, a power of two
    parameter int unsigned AddrWidth  = 32,
    parameter int unsigned CountWidth = 11
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    output logic                  ready_o,         // all is wiped; high before start_i
    input  logic                  start_i,
    // stable from start_i to done_o; z.words is not zero
    input  dghv_pkg::step_t       step_i,
    output logic                  done_o,
    output dghv_pkg::finding_t    finding_o,
    output logic                  rd_req_valid_o,
    input  logic                  rd_req_ready_i,
    output logic [AddrWidth-1:0]  rd_req_addr_o,
    output logic [CountWidth-1:0] rd_req_count_o,
    input  logic                  rd_valid_i,
    output logic                  rd_ready_o,
    input  logic [Width-1:0]      rd_data_i,
    output logic                  wr_req_valid_o,
    input  logic                  wr_req_ready_i,
    output logic [AddrWidth-1:0]  wr_req_addr_o,
    output logic [CountWidth-1:0] wr_req_count_o,
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [Width-1:0]      wr_data_o
);
    localparam int unsigned Places = $clog2(Chunk);
    if (Chunk < 2 || (Chunk & (Chunk - 1)) != 0 || CountWidth < Places + 1)
        $error("super_sum: Chunk is a power of two, at least 2, below 2^CountWidth");
    typedef logic [Places:0] count_t;

    // The words of the piece that begins at word from of a number.
    function automatic count_t piece(input dghv_pkg::length_t words, input dghv_pkg::length_t from);
        piece = count_t'(dghv_pkg::least(dghv_pkg::length_t'(Chunk), dghv_pkg::less(words, from)));
    endfunction

    // ---- Requests, piece by piece: x, y, then z. At most two pieces are in progress. ----

    typedef enum logic [1:0] {
        Idle,
        AskX,
        AskY,
        AskZ
    } ask_e;
    ask_e ask_q;

    dghv_pkg::length_t asked_q;
    count_t x_asked, y_asked, z_asked;
    logic asked, push, wait_ready, wait_valid, wait_take;
    assign x_asked        = piece(dghv_pkg::least(step_i.x.words, step_i.z.words), asked_q);
    assign y_asked        = piece(dghv_pkg::least(step_i.y.words, step_i.z.words), asked_q);
    assign z_asked        = piece(step_i.z.words, asked_q);
    assign rd_req_valid_o = (ask_q == AskX && x_asked != '0) || (ask_q == AskY && y_asked != '0);
    assign rd_req_addr_o  = AddrWidth'((ask_q == AskX ? step_i.x.at : step_i.y.at) + dghv_pkg::address_t'(asked_q));
    assign rd_req_count_o = ask_q == AskX ? CountWidth'(x_asked) : CountWidth'(y_asked);
    assign wr_req_valid_o = ask_q == AskZ && step_i.write && wait_ready;
    assign wr_req_addr_o  = AddrWidth'(step_i.z.at + dghv_pkg::address_t'(asked_q));
    assign wr_req_count_o = CountWidth'(z_asked);
    assign push           = ask_q == AskZ && wait_ready && (!step_i.write || wr_req_ready_i);

    always_comb begin
        unique case (ask_q)
            AskX:    asked = x_asked == '0 || rd_req_ready_i;
            AskY:    asked = y_asked == '0 || rd_req_ready_i;
            AskZ:    asked = push;
            default: asked = 1'b0;
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            ask_q   <= Idle;
            asked_q <= '0;
        end else if (start_i) begin
            ask_q   <= AskX;
            asked_q <= '0;
        end else if (asked) begin
            unique case (ask_q)
                AskX: ask_q <= AskY;
                AskY: ask_q <= AskZ;
                default: begin
                    ask_q   <= dghv_pkg::less(step_i.z.words, asked_q) > dghv_pkg::length_t'(Chunk) ? AskX : Idle;
                    asked_q <= asked_q + dghv_pkg::length_t'(Chunk);
                end
            endcase
        end
    end

    typedef struct packed {
        count_t x, y, z;
        logic last;
    } piece_t;
    piece_t now;

    stream_fifo #(
        .Width(3 * Places + 4),
        .Depth(2)
    ) u_pieces (
        .clk_i,
        .rst_ni,
        .in_valid_i (push),
        .in_ready_o (wait_ready),
        .in_data_i  ({x_asked, y_asked, z_asked, dghv_pkg::less(step_i.z.words, asked_q) <= dghv_pkg::length_t'(Chunk)}),
        .out_valid_o(wait_valid),
        .out_ready_i(wait_take),
        .out_data_o (now)
    );

    // ---- Words of x wait in a memory until they are added to those of y. ----

    logic x_turn_q, x_in, sum_valid, sum_ready, y_there, wiped, unused_error;
    logic x_read_q;  // the next word of x has been read
    count_t place_q;
    logic [Width-1:0] x, x_word, y_word;
    logic [Width:0] sum, more, less, carry;
    logic z_end;
    // The tested bit of a word, and those above it: registers, so that no shift follows the
    // addition.
    logic [Width-1:0] tested_q, beyond_q;

    assign x_in      = x_turn_q && wait_valid && place_q < now.x && rd_valid_i;
    assign y_there   = place_q < now.y;
    assign x_word    = place_q < now.x ? x : '0;
    assign y_word    = y_there && !step_i.masked ? rd_data_i : '0;
    assign carry     = (Width + 1)'(finding_o.carry);
    assign more      = {1'b0, x_word} + {1'b0, y_word} + carry;
    assign less      = {1'b0, x_word} - {1'b0, y_word} - carry;
    assign sum       = step_i.kind == dghv_pkg::Subtract ? less : more;
    assign sum_valid = !x_turn_q && x_read_q && (!y_there || rd_valid_i);
    assign z_end     = place_q + count_t'(1) == now.z;
    assign wait_take = sum_valid && sum_ready && z_end;
    assign done_o    = wait_take && now.last;
    assign rd_ready_o = x_turn_q ? wait_valid && place_q < now.x : x_read_q && y_there && sum_ready;
    assign wr_valid_o = sum_valid && step_i.write;
    assign wr_data_o  = sum[Width-1:0];
    assign sum_ready  = !step_i.write || wr_ready_i;
    assign ready_o    = wiped;

    always_ff @(posedge clk_i) begin
        tested_q <= Width'(1) << step_i.tested;
        beyond_q <= ~(Width'(1)) << step_i.tested;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            x_turn_q  <= 1'b1;
            x_read_q  <= 1'b0;
            place_q   <= '0;
            finding_o <= '0;
        end else if (start_i) begin
            x_turn_q  <= 1'b1;
            x_read_q  <= 1'b0;
            place_q   <= '0;
            finding_o <= {step_i.carry, 3'd0};
        end else if (x_turn_q) begin
            if (x_in) place_q <= place_q + count_t'(1);
            if (wait_valid && place_q == now.x) begin
                x_turn_q <= 1'b0;
                place_q  <= '0;
            end
        end else if (!x_read_q) begin
            x_read_q <= 1'b1;
        end else if (sum_valid && sum_ready) begin
            finding_o.carry  <= sum[Width];
            finding_o.any    <= finding_o.any || sum[Width-1:0] != '0;
            finding_o.at     <= |(sum[Width-1:0] & tested_q);
            finding_o.beyond <= |(sum[Width-1:0] & beyond_q);
            place_q          <= z_end ? '0 : place_q + count_t'(1);
            x_turn_q         <= z_end;
            x_read_q         <= !z_end;
        end
    end

    // The word after the current one is read in the same cycle.
    logic [Places-1:0] x_place;
    assign x_place = Places'(place_q) + Places'(x_read_q);

    ram_1r1w #(
        .Width(Width),
        .Depth(Chunk)
    ) u_x (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (wiped),
        .write_i        (x_in),
        .write_address_i(Places'(place_q)),
        .write_data_i   (rd_data_i),
        .read_i         (!x_turn_q && (!x_read_q || (sum_valid && sum_ready))),
        .read_address_i (x_place),
        .read_data_o    (x),
        .error_o        (unused_error)
    );

    logic unused;
    assign unused = &{1'b0, unused_error, step_i};
endmodule
