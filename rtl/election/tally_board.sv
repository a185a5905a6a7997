// SPDX-License-Identifier: MIT OR Apache-2.0
// The tally board: receives ballots from the encryptor board, keeps their product, and decrypts it
// in part with its trustee's secret.
//
// A ballot is {key, voter, contest, ciphertexts} of encryptor_board; each key counts once. For
// every mark of every contest, the board keeps the product of all ciphertexts modulo n^2. The
// operator who closes the election sends orders over a serial line (uart_link). Orders and answers:
//
//   {0}                  {0, ballots counted}
//   {1, contest, mark}   {1, contest, mark, product}
//   {2, contest, mark}   {2, contest, mark, product^d}, for the secret exponent d of a whole key, lambda (1 / lambda mod n): product^d = 1 + total n
//   {4, contest, mark}   {4, contest, mark, product^e mod n}, for the secret exponent e = 1 / n mod lambda of a whole key: the opening of the total, its proof
//   {5, contest, mark}   {5, contest, mark, c_i, a, b, z}: the trustee's share of the decryption of the product, with its proof (share_prover)
//   {6, D s_i}           {6}, when the trustee's share is kept: ShareBits / 32 + 2 words, rounded up, lowest first
//   {7}                  {7}: the share that was kept is forgotten
//
// The answer to anything else is {3, code}, the reason (decline_e of ballot_pkg). Only products are
// ever raised to d, e or a share, and to e only modulo n: modulo n^2, the result would reveal the
// key. d and e are EBits long; the time depends neither on them nor on a share. A share is kept
// until the next one is loaded, it is forgotten, or the board is reset, and no order reads it. The
// randomness for its proofs comes from the noise source (noise_source_port). Nothing is kept over a
// reset: the encryptor board then sends all ballots again. A ballot that does not fit the table of
// keys, has another length or an unknown contest is not counted, and dropped_o is high for a cycle.
module tally_board #(
    parameter int unsigned N            = 512,   // bits of n^2, a multiple of 64
    parameter int unsigned EBits        = 512,   // bits of d and e, at least 1
    // bits of a trustee's share s_i at most; at least N
    parameter int unsigned ShareBits    = N,
    parameter int unsigned Digit        = 32,    // of products, as in mont_mul_digit
    parameter int unsigned Contests     = 1,     // at most 10
    // marks of a ballot, 2 to 9; times Contests at most 64
    parameter int unsigned Candidates   = 2,
    parameter int unsigned Slots        = 1024,  // ballots at most, at least 2
    parameter int unsigned BaudDivisor  = 868,   // of the serial line
    parameter int unsigned Timeout      = 1 << 20,
    parameter int unsigned Retries      = 8,
    parameter int unsigned Samples      = 1024,  // see noise_source_port
    parameter int unsigned NoiseTimeout = 1 << 20,
    localparam int unsigned BoundBits   = $clog2(ShareBits + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [15:0]          tag_i,       // differs after each reset
    // The key. It and the election do not change between resets: products and a share of another
    // key would be kept.
    input  logic [N-1:0]         modulus_i,   // n^2
    input  logic [Digit-1:0]     inverse_i,   // -1 / n^2 mod 2^Digit
    input  logic [N-1:0]         enter_i,     // R^2 mod n^2
    input  logic [N-1:0]         cube_i,      // R^3 mod n^2
    input  logic [N-1:0]         unit_i,      // R mod n^2
    input  logic [EBits-1:0]     exponent_i,  // d
    // The same modulo n, for openings.
    input  logic [N-1:0]         n_i,
    input  logic [Digit-1:0]     n_inverse_i,
    input  logic [N-1:0]         n_enter_i,
    input  logic [N-1:0]         n_unit_i,
    input  logic [EBits-1:0]     root_i,      // e
    // A shared key, as in share_prover.
    input  logic [N-1:0]         generator_i,
    input  logic [N-1:0]         verifier_i,
    input  logic [7:0]           needed_i,
    input  logic [7:0]           trustees_i,
    input  logic [7:0]           trustee_i,
    input  logic [BoundBits-1:0] share_bits_i,
    input  logic [255:0]         election_i,
    input  logic                 noise_valid_i,
    input  logic                 noise_i,
    input  logic                 cs_ni,
    input  logic                 sck_i,
    input  logic                 copi_i,
    output logic                 cipo_o,
    output logic                 tx_o,
    input  logic                 rx_i,
    output logic                 noise_failed_o,
    output logic                 dropped_o,
    // a fault of either link, with its code (link_pkg); the line has priority
    output logic                 fault_o,
    output logic [3:0]           fault_code_o
);
    localparam int unsigned CWords = N / 32;
    localparam int unsigned Words = 3 + Candidates * CWords;  // words of a ballot
    localparam int unsigned WordBits = $clog2(Words + 2);
    localparam int unsigned PlaceBits = $clog2(Words);
    localparam int unsigned LoadBits = $clog2(CWords + 1);
    localparam int unsigned Totals = Contests * Candidates;
    localparam int unsigned TotalBits = $clog2(Totals);
    localparam int unsigned Said = 3 + CWords;  // words of an answer, except for shares
    localparam int unsigned SaidBits = $clog2(Said + 1);
    localparam int unsigned ZWords = (ShareBits + 512 + 31) / 32;  // words of share_prover's answer
    localparam int unsigned PBits = 32 * ZWords + 32;  // bits of its exponents
    localparam int unsigned Longest = 3 + 3 * CWords + ZWords;  // words of a message
    localparam int unsigned XBits = EBits > PBits ? EBits : PBits;
    localparam int unsigned SlotBits = $clog2(Slots);
    localparam int unsigned BitBits = $clog2(XBits + 1);
    if (N < 64 || N % 64 != 0) $error("tally_board: N must be a multiple of 64");
    if (Contests < 1 || Contests > 10) $error("tally_board: Contests must be from 1 to 10");
    if (Candidates < 2 || Candidates > 9) $error("tally_board: Candidates must be from 2 to 9");
    // In models, Verilator does not reset longer arrays.
    if (Totals > 64) $error("tally_board: Contests times Candidates must be at most 64");
    if (Slots < 2) $error("tally_board: Slots must be at least 2");
    if (EBits < 1) $error("tally_board: EBits must be at least 1");
    if (ShareBits < N) $error("tally_board: ShareBits must be at least N");

    typedef enum logic [3:0] {
        Rest,
        Search,    // searches the table of keys
        Load,      // loads a ciphertext
        Multiply,  // begins a product
        Product,
        Look,      // receives an order
        Judge,     // decides whether it can be answered
        Power,     // begins a power
        Powered,
        Begin,     // begins an operation with a share
        Share,
        Head,      // sends the head of a share of a decryption
        Say
    } state_e;

    state_e state_d, state_q;
    logic [WordBits-1:0] count_q;
    logic whole_q;
    // The ciphertext that is being counted, and the places of its words in the ballot.
    logic [N-1:0] c_q;
    logic [PlaceBits-1:0] place_q;
    logic [LoadBits-1:0] load_q;
    logic loading_q, ballot_room, unused_ballot_error;
    logic [31:0] loaded;
    logic [SlotBits:0] counted_q, slot_q, asked_slot_q;
    logic asked_valid_q, table_ready, table_error;
    logic [31:0] table_key, key_q, contest_q;
    logic [TotalBits-1:0] total_q;
    logic [TotalBits:0] left_marks_q;
    logic [N-1:0] totals_q[Totals];

    // ---- ballots --------------------------------------------------------------------------------

    logic ballot_valid, ballot_ready, ballot_last, unused_ready, unused_delivered, unused_up, ballot_fault;
    logic [31:0] ballot_word;
    logic [3:0] ballot_code;
    spi_peripheral_link #(
        .Words  (Words),
        .Timeout(Timeout),
        .Retries(Retries)
    ) u_ballots (
        .clk_i,
        .rst_ni,
        .tag_i,
        .in_valid_i  (1'b0),
        .in_ready_o  (unused_ready),
        .in_data_i   ('0),
        .in_last_i   (1'b0),
        .delivered_o (unused_delivered),
        .out_valid_o (ballot_valid),
        .out_ready_i (ballot_ready),
        .out_data_o  (ballot_word),
        .out_last_o  (ballot_last),
        .cs_ni,
        .sck_i,
        .copi_i,
        .cipo_o,
        .up_o        (unused_up),
        .fault_o     (ballot_fault),
        .fault_code_o(ballot_code)
    );
    assign ballot_ready = state_q == Rest && !whole_q && table_ready && ballot_room;

    ram_1r1w #(
        .Width(32),
        .Depth(Words)
    ) u_ballot (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (ballot_room),
        .write_i        (ballot_valid && ballot_ready && count_q < WordBits'(Words)),
        .write_address_i(PlaceBits'(count_q)),
        .write_data_i   (ballot_word),
        .read_i         (state_q == Load && load_q != '0),
        .read_address_i (place_q),
        .read_data_o    (loaded),
        .error_o        (unused_ballot_error)
    );

    logic absent, right, there;
    ram_1r1w #(
        .Width(32),
        .Depth(Slots)
    ) u_keys (
        .clk_i,
        .rst_ni,
        .wipe_i         (1'b0),
        .ready_o        (table_ready),
        .write_i        (state_q == Search && absent),
        .write_address_i(SlotBits'(counted_q)),
        .write_data_i   (key_q),
        .read_i         (state_q == Search),
        .read_address_i (SlotBits'(slot_q)),
        .read_data_o    (table_key),
        .error_o        (table_error)
    );
    assign right = count_q == WordBits'(Words) && contest_q < Contests;
    assign there = asked_valid_q && table_key == key_q;
    assign absent = right && !there && slot_q == counted_q && !asked_valid_q && counted_q != (SlotBits + 1)'(Slots);

    // ---- the line -------------------------------------------------------------------------------

    logic share_ready, share_whole, share_kept, share_done, aborted, forget, loads, sharing, raise, word_valid, word_last;
    logic [31:0] word;
    logic line_in_ready, line_delivered, line_out_valid, line_out_last, unused_line_up, line_fault;
    logic [31:0] line_word;
    logic [3:0] line_code;
    logic [32*Said-1:0] said_q;
    logic [SaidBits-1:0] left_q;
    logic [31:0] order_q, order_contest_q, order_mark_q;
    logic [2:0] order_words_q;
    logic line_taken, headed_q;
    uart_link #(
        .BaudDivisor(BaudDivisor),
        .Words      (Longest),
        .Timeout    (Timeout),
        .Retries    (Retries)
    ) u_line (
        .clk_i,
        .rst_ni,
        .tag_i,
        .in_valid_i  (((state_q == Say || state_q == Head) && left_q != '0) || (state_q == Share && word_valid && headed_q)),
        .in_ready_o  (line_in_ready),
        .in_data_i   (state_q == Share ? word : said_q[31:0]),
        .in_last_i   (state_q == Share ? word_last : state_q == Say && left_q == SaidBits'(1)),
        .delivered_o (line_delivered),
        .out_valid_o (line_out_valid),
        .out_ready_i (line_taken),
        .out_data_o  (line_word),
        .out_last_o  (line_out_last),
        .tx_o,
        .rx_i,
        .up_o        (unused_line_up),
        .fault_o     (line_fault),
        .fault_code_o(line_code)
    );
    assign line_taken = state_q == Look;
    assign fault_o = line_fault || ballot_fault;
    assign fault_code_o = line_fault ? line_code : ballot_code;

    // ---- shares ---------------------------------------------------------------------------------

    logic noise_ready, noise_out_valid, noise_taken;
    logic [31:0] noise_word;
    logic [2:0] unused_cause;
    noise_source_port #(
        .Samples     (Samples),
        .NoiseTimeout(NoiseTimeout)
    ) u_noise (
        .clk_i,
        .rst_ni,
        .noise_valid_i,
        .noise_i,
        .out_valid_o(noise_out_valid),
        .out_ready_i(noise_taken),
        .out_data_o (noise_word),
        .ready_o    (noise_ready),
        .failed_o   (noise_failed_o),
        .cause_o    (unused_cause)
    );

    logic [N-1:0] r, total;
    logic power_ready, bit_ready, r_valid, unused_mul, powering, opens;
    ballot_pkg::decline_e decline;
    logic [N-1:0] raise_base;
    logic [PBits-1:0] raise_exponent;
    logic [$clog2(PBits+1)-1:0] raise_bits;
    assign loads = state_q == Look && line_out_valid;
    assign sharing = state_q == Share;
    share_prover #(
        .N        (N),
        .ShareBits(ShareBits)
    ) u_share (
        .clk_i,
        .rst_ni,
        .n_i             (n_i[N/2-1:0]),
        .generator_i,
        .verifier_i,
        .needed_i,
        .trustees_i,
        .trustee_i,
        .share_bits_i,
        .election_i,
        .contest_i       (order_contest_q[3:0]),
        .mark_i          (order_mark_q[3:0]),
        .c_i             (total),
        .forget_i        (forget),
        .load_i          (loads && order_words_q == 3'd0 && line_word == 32'd6),
        .load_valid_i    (loads && order_words_q != 3'd0 && order_q == 32'd6),
        .load_word_i     (line_word),
        .whole_o         (share_whole),
        .kept_o          (share_kept),
        .random_valid_i  (noise_out_valid),
        .random_ready_o  (noise_taken),
        .random_i        (noise_word),
        .in_valid_i      (state_q == Begin),
        .in_ready_o      (share_ready),
        .check_i         (order_q == 32'd6),
        .abort_i         (aborted),
        .done_o          (share_done),
        .power_valid_o   (raise),
        .power_ready_i   (sharing && power_ready),
        .power_base_o    (raise_base),
        .power_exponent_o(raise_exponent),
        .power_bits_o    (raise_bits),
        .power_done_i    (sharing && r_valid),
        .power_i         (r),
        .word_valid_o    (word_valid),
        .word_ready_i    (sharing && headed_q && line_in_ready),
        .word_o          (word),
        .word_last_o     (word_last)
    );
    // Without random words the proof is dropped, if none of it has been sent.
    assign aborted = sharing && order_q == 32'd5 && noise_failed_o && noise_taken;
    assign forget = state_q == Judge && ((order_q == 32'd7 && decline == ballot_pkg::NotDeclined) || decline == ballot_pkg::WrongShare);

    // ---- products and powers --------------------------------------------------------------------

    // A product is a power with the exponent 1 that starts at the total instead of 1. The total
    // lacks a factor R, so the ciphertext comes in with one more (cube_i).
    logic [BitBits-1:0] bits_q;
    logic [XBits-1:0] exponent_q;
    assign powering = state_q == Power || state_q == Powered;
    assign opens = powering && order_q == 32'd4;
    assign total = totals_q[total_q];

    mod_exp_pair #(
        .N    (N),
        .Digit(Digit),
        .Width(Digit),
        .Tile (16)
    ) u_power (
        .clk_i,
        .rst_ni,
        .modulus_i  (opens ? n_i : modulus_i),
        .inverse_i  (opens ? n_inverse_i : inverse_i),
        .enter_i    (opens ? n_enter_i : (powering || sharing) ? enter_i : cube_i),
        .one_i      (opens ? n_unit_i : (powering || sharing) ? unit_i : total),
        .in_valid_i (state_q == Multiply || state_q == Power || (sharing && raise)),
        .in_ready_o (power_ready),
        .base_i     (sharing ? raise_base : powering ? total : c_q),
        .bit_valid_i(bits_q != '0),
        .bit_ready_o(bit_ready),
        .bit_i      (exponent_q[0]),
        .bit_last_i (bits_q == BitBits'(1)),
        .out_valid_o(r_valid),
        .out_ready_i(1'b1),
        .r_o        (r),
        .mul_o      (unused_mul)
    );

    // ---- control --------------------------------------------------------------------------------

    logic of_mark, alone;
    assign of_mark = order_q == 32'd1 || order_q == 32'd2 || order_q == 32'd4 || order_q == 32'd5;
    assign alone = order_q == 32'd0 || order_q == 32'd7;
    always_comb begin
        decline = ballot_pkg::NotDeclined;
        if (of_mark && order_words_q == 3'd3) begin
            if (order_contest_q >= Contests) decline = ballot_pkg::NoSuchContest;
            else if (order_mark_q >= Candidates) decline = ballot_pkg::NoSuchMark;
            else if (order_q == 32'd5 && !share_kept) decline = ballot_pkg::NoShare;
            else if (order_q == 32'd5 && !noise_ready) decline = ballot_pkg::NoNoise;
        end else if (order_q == 32'd6) begin
            if (!share_whole) decline = ballot_pkg::WrongShare;
        end else if (!(alone && order_words_q == 3'd1)) decline = ballot_pkg::UnknownOrder;
    end

    logic turned_away, last_mark, ordered, headless, leaves;
    // A ballot that was counted before, or must not be counted.
    assign turned_away = !absent && (!right || there || (slot_q == counted_q && !asked_valid_q));
    assign last_mark = left_marks_q == (TotalBits + 1)'(1);
    // An order waits, and no ballot does.
    assign ordered = !whole_q && line_out_valid && count_q == '0 && !ballot_valid;
    assign headless = word_valid && !headed_q;

    // leaves: a word of said_q goes to the line.
    always_comb begin
        state_d = state_q;
        leaves  = 1'b0;
        unique case (state_q)
            Rest:
            if (whole_q) state_d = Search;
            else if (ordered) state_d = Look;
            Search:
            if (absent) state_d = Load;
            else if (turned_away) state_d = Rest;
            Load: if (loading_q && load_q == '0) state_d = Multiply;
            Multiply: if (power_ready) state_d = Product;
            Product: if (r_valid) state_d = last_mark ? Rest : Load;
            Look: if (line_out_valid && line_out_last) state_d = Judge;
            Judge: begin
                state_d = Say;
                if (decline == ballot_pkg::NotDeclined) begin
                    unique case (order_q)
                        32'd0, 32'd7: state_d = Say;
                        32'd1:        state_d = Powered;
                        32'd2, 32'd4: state_d = Power;
                        default:      state_d = Begin;
                    endcase
                end
            end
            Begin: if (share_ready) state_d = Share;
            Share: begin
                if (headless) state_d = Head;
                if (share_done || aborted) state_d = Say;
            end
            Head: begin
                leaves = line_in_ready;
                if (leaves && left_q == SaidBits'(1)) state_d = Share;
            end
            Power: if (power_ready) state_d = Powered;
            Powered: if (r_valid || order_q == 32'd1) state_d = Say;
            default: begin
                leaves = left_q != '0 && line_in_ready;
                if (line_delivered && left_q == '0) state_d = Rest;
            end
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) state_q <= Rest;
        else state_q <= state_d;
    end

    // The incoming ballot: its key and contest, and the number of words that have come.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            key_q     <= '0;
            contest_q <= '0;
            count_q   <= '0;
            whole_q   <= 1'b0;
        end else begin
            if (state_q == Rest && ballot_valid && ballot_ready) begin
                if (count_q == '0) key_q <= ballot_word;
                if (count_q == WordBits'(2)) contest_q <= ballot_word;
                if (count_q != WordBits'(Words + 1)) count_q <= count_q + WordBits'(1);
                whole_q <= ballot_last;
            end
            if ((state_q == Search && turned_away) || (state_q == Product && r_valid && last_mark)) begin
                count_q <= '0;
                whole_q <= 1'b0;
            end
        end
    end

    // The search for its key, one place of the table per cycle; and the number of keys.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            counted_q     <= '0;
            slot_q        <= '0;
            asked_slot_q  <= '0;
            asked_valid_q <= 1'b0;
            dropped_o     <= 1'b0;
        end else begin
            asked_valid_q <= state_q == Search && slot_q != counted_q;
            dropped_o     <= state_q == Search && turned_away && (!right || !there);
            if (state_q == Rest) slot_q <= '0;
            if (state_q == Search) begin
                asked_slot_q <= slot_q;
                if (slot_q != counted_q) slot_q <= slot_q + (SlotBits + 1)'(1);
                if (absent) counted_q <= counted_q + (SlotBits + 1)'(1);
            end
        end
    end

    // A ciphertext, a word per cycle, which arrives in the next one.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            c_q       <= '0;
            place_q   <= '0;
            load_q    <= '0;
            loading_q <= 1'b0;
        end else begin
            unique case (state_q)
                Search:
                if (absent) begin
                    place_q <= PlaceBits'(3);
                    load_q  <= LoadBits'(CWords);
                end
                Load: begin
                    loading_q <= load_q != '0;
                    if (load_q != '0) begin
                        place_q <= place_q + PlaceBits'(1);
                        load_q  <= load_q - LoadBits'(1);
                    end
                    if (loading_q) c_q <= {loaded, c_q[N-1:32]};
                end
                Product: if (r_valid) load_q <= LoadBits'(CWords);
                default: ;
            endcase
        end
    end

    // The totals, the current one, and how many more the ballot has.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            total_q      <= '0;
            left_marks_q <= '0;
            for (int k = 0; k < int'(Totals); k++) totals_q[k] <= N'(1);
        end else begin
            unique case (state_q)
                Search:
                if (absent) begin
                    total_q      <= TotalBits'(contest_q * Candidates);
                    left_marks_q <= (TotalBits + 1)'(Candidates);
                end
                Product:
                if (r_valid) begin
                    totals_q[total_q] <= r;
                    total_q           <= total_q + TotalBits'(1);
                    left_marks_q      <= left_marks_q - (TotalBits + 1)'(1);
                end
                Judge: total_q <= TotalBits'(order_contest_q * Candidates + order_mark_q);
                default: ;
            endcase
        end
    end

    // The exponent, lowest bit first.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            bits_q     <= '0;
            exponent_q <= '0;
        end else begin
            if (bits_q != '0 && bit_ready) begin
                bits_q     <= bits_q - BitBits'(1);
                exponent_q <= exponent_q >> 1;
            end
            if (state_q == Multiply && power_ready) begin
                bits_q     <= BitBits'(1);
                exponent_q <= XBits'(1);
            end
            if (sharing && raise && power_ready) begin
                bits_q     <= BitBits'(raise_bits);
                exponent_q <= XBits'(raise_exponent);
            end
            if (state_q == Power && power_ready) begin
                bits_q     <= BitBits'(EBits);
                exponent_q <= opens ? XBits'(root_i) : XBits'(exponent_i);
            end
        end
    end

    // The order.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            order_q         <= '0;
            order_contest_q <= '0;
            order_mark_q    <= '0;
            order_words_q   <= '0;
        end else begin
            if (state_q == Rest && ordered) order_words_q <= '0;
            if (state_q == Look && line_out_valid) begin
                if (order_words_q == 3'd0) order_q <= line_word;
                if (order_words_q == 3'd1) order_contest_q <= line_word;
                if (order_words_q == 3'd2) order_mark_q <= line_word;
                if (order_words_q != 3'd4) order_words_q <= order_words_q + 3'd1;
            end
        end
    end

    // The answer, and how many of its words are left.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            said_q   <= '0;
            left_q   <= '0;
            headed_q <= 1'b0;
        end else begin
            if (leaves) begin
                said_q <= said_q >> 32;
                left_q <= left_q - SaidBits'(1);
            end
            unique case (state_q)
                Judge: begin
                    said_q <= (32 * Said)'({28'd0, decline, 32'd3});
                    left_q <= SaidBits'(2);
                    if (decline == ballot_pkg::NotDeclined && order_q == 32'd0) said_q <= (32 * Said)'({32'(counted_q), 32'd0});
                    if (decline == ballot_pkg::NotDeclined && order_q == 32'd7) begin
                        said_q <= (32 * Said)'(32'd7);
                        left_q <= SaidBits'(1);
                    end
                end
                Share: begin
                    if (headless) begin
                        said_q   <= (32 * Said)'({order_mark_q, order_contest_q, order_q});
                        left_q   <= SaidBits'(3);
                        headed_q <= 1'b1;
                    end
                    if (share_done) begin
                        // The result of a check. A share of a decryption has already been sent.
                        said_q   <= (32 * Said)'({28'd0, ballot_pkg::WrongShare, 32'd3});
                        left_q   <= order_q == 32'd5 ? '0 : SaidBits'(2);
                        if (share_kept && order_q == 32'd6) begin
                            said_q <= (32 * Said)'(32'd6);
                            left_q <= SaidBits'(1);
                        end
                        headed_q <= 1'b0;
                    end
                    if (aborted) begin
                        said_q <= (32 * Said)'({28'd0, ballot_pkg::NoNoise, 32'd3});
                        left_q <= SaidBits'(2);
                    end
                end
                Powered:
                if (r_valid || order_q == 32'd1) begin
                    said_q <= {order_q == 32'd1 ? total : r, order_mark_q, order_contest_q, order_q};
                    left_q <= SaidBits'(Said);
                end
                default: ;
            endcase
        end
    end

    logic unused;
    assign unused = &{1'b0, unused_ready, unused_delivered, unused_up, unused_line_up, unused_mul, unused_ballot_error, table_error, asked_slot_q, unused_cause, n_i};
endmodule
