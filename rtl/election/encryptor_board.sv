// SPDX-License-Identifier: MIT OR Apache-2.0
// The encryptor board: receives votes over a serial line, sends ballots to the tally board over a
// peripheral interface, and keeps them in a flash memory.
//
// A vote on the line (uart_link) has the form that vote_processor accepts. The board answers with a
// word {code, kind} of 16 bits each, the vote's identifier, and
//
//   kind 5, proof     words of mark_prover for the mark given by the code, a piece per message: its ciphertext, then its proof, a side each. If the contest requires a proof
//                     of the sum, it follows those of all marks, with Candidates as its code
//   kind 1, receipt   eight words, SHA-256 of {key, voter, contest, ciphertexts}: the ballot is made and all of it was sent, but it is not yet cast
//   kind 2, stored    nothing: the ballot is in the log and counts, whatever happens from then on
//   kind 3, opened    marks, the exponents and the ballot's words: the ballot was challenged, everybody can recompute its ciphertexts, and it never counts
//   kind 4, refused   nothing; the code is the reason (ballot_pkg)
//
// After NotStored, the answer to the same vote tells whether the ballot is in the log.
//
// A contest whose least equals its most requires the proof that the marks sum to this number. One
// of most 1, least 0 and more than one candidate requires the proof that they sum to at most 1.
// After a receipt, the voter's terminal sends {0, identifier} to cast or {1, identifier} to
// challenge. Anything else drops the ballot. The receipt comes before the decision, so the board
// cannot know which ballots will be checked.
//
// mark_prover encrypts and proves all Candidates marks of the board; those that the contest does
// not have are 0. The context of its proofs is the election's, and the voter's name is the voter's
// number in eight hexadecimal digits (proof_challenge). After a failure of the noise source,
// nothing is encrypted. A ballot's words are stored where its record will be written from
// (vote_log), as they leave for the line. Ballots are forwarded to the tally board in the order of
// the log, and all of them again after a reset of either board: the tally counts each key once.
module encryptor_board #(
    parameter int unsigned N                  = 512,   // bits of n^2, a multiple of 64
    // bits of an exponent, a multiple of 32, at least 64
    parameter int unsigned ABits              = 128,
    parameter int unsigned Digit              = 32,    // of products, as in mont_mul_digit
    parameter int unsigned Voters             = 1000,
    parameter int unsigned Contests           = 1,     // at most 10
    parameter int unsigned Candidates         = 2,     // marks of a ballot, at most 9
    // ballots in the log, which fill sectors of its memory (vote_log)
    parameter int unsigned Slots              = 1024,
    parameter int unsigned BaudDivisor        = 868,   // of the serial line
    parameter int unsigned SckHalfPeriod      = 8,     // of the peripheral interface
    parameter int unsigned FlashSckHalfPeriod = 4,
    parameter int unsigned FlashTimeout       = 1 << 20,
    parameter int unsigned Timeout            = 1 << 20,
    parameter int unsigned Retries            = 8,
    parameter int unsigned Samples            = 1024,  // see noise_source_port
    parameter int unsigned NoiseTimeout       = 1 << 20
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [15:0]           tag_i,         // differs after each reset
    // the key, as in mark_prover; it and the election do not change between resets
    input  logic [N-1:0]          modulus_i,
    input  logic [Digit-1:0]      inverse_i,
    input  logic [N-1:0]          enter_i,
    input  logic [N-1:0]          zero_i,
    input  logic [N-1:0]          one_i,
    input  logic [N-1:0]          plus_i,
    input  logic [N-1:0]          minus_i,
    input  logic [N-1:0]          base_i,
    input  logic [N/2-1:0]        n_i,
    input  logic [N/2-1:0]        h_i,
    input  logic [255:0]          election_i,    // its id
    input  logic [Contests*8-1:0] candidates_i,  // the contests, as in vote_processor
    input  logic [Contests*8-1:0] most_i,
    input  logic [Contests*8-1:0] least_i,
    input  logic                  noise_valid_i,
    input  logic                  noise_i,
    output logic                  tx_o,
    input  logic                  rx_i,
    output logic                  cs_no,
    output logic                  sck_o,
    output logic                  copi_o,
    input  logic                  cipo_i,
    output logic                  flash_cs_no,
    output logic                  flash_sck_o,
    output logic                  flash_copi_o,
    input  logic                  flash_cipo_i,
    output logic                  noise_failed_o,
    // a fault of either link, with its code (link_pkg); the line has priority
    output logic                  fault_o,
    output logic [3:0]            fault_code_o
);
    localparam int unsigned CWords = N / 32;
    localparam int unsigned AWords = ABits / 32;
    localparam int unsigned Body = 2 + Candidates * CWords;
    // 2^SlotLog bytes of the memory per ballot: a page, or as many as needed.
    localparam int unsigned SlotLog = Body + 2 <= 64 ? 8 : $clog2(4 * (Body + 2));
    localparam int unsigned Said = 3 + Candidates * AWords + Body;  // words of the longest answer
    localparam int unsigned SaidBits = $clog2(Said + 1);
    localparam int unsigned PlaceBits = $clog2(Body + 1);
    localparam int unsigned Short = 10;  // words of an answer without a ballot
    localparam int unsigned MarkBits = $clog2(Candidates + 1);
    if (N < 64 || N % 64 != 0) $error("encryptor_board: N must be a multiple of 64");
    if (ABits % 32 != 0 || ABits < 64) $error("encryptor_board: ABits must be a multiple of 32, at least 64");
    localparam int unsigned More = $clog2(Candidates) + 1;  // extra bits of a sum of openings
    localparam int unsigned MoreBits = $clog2(More + 1);
    localparam int unsigned OBits = ABits + 32;
    // words of the longest piece of a proof: commitment, challenge, answer
    localparam int unsigned Piece = CWords + ABits / 32 + 22;
    localparam int unsigned Longest = Said > Piece ? Said : Piece + 2;  // words of a message
    if (Contests < 1 || Contests > 10 || Candidates < 1 || Candidates > 9) $error("encryptor_board: Contests must be from 1 to 10, Candidates to 9");

    typedef logic [SaidBits-1:0] said_t;
    typedef enum logic [4:0] {
        Rest,
        Asking,    // asks whether the voter has voted
        Order,     // orders the encryption and proof of a mark or sum
        Prove,
        Head,      // sends the head of a piece of a proof
        Words,
        Sent,
        Note,      // writes key, voter and contest
        Hash,      // hashes the ballot
        Receipt,   // waits for the digest
        Say,       // sends a message
        Open,      // sends the exponents
        Show,      // sends the ballot
        Decide,    // receives the terminal's decision
        Append,
        Appending,
        Fetch,     // fetches a ballot of the log
        Fetching,
        Forward,   // sends its words to the tally board
        Forwarded
    } state_e;

    state_e state_d, state_q;
    logic [31:0] id_q, key_q;
    logic [32*Short-1:0] said_q;
    said_t left_q;
    logic [ABits-1:0] openings_q[Candidates];
    // The record in hand: the place of the next word to write, and of the next to read.
    logic [PlaceBits-1:0] place_q, show_q;
    logic shown_q, cipher_q, show, show_taken;
    logic [31:0] record_word;
    logic [OBits-1:0] sum_q;
    logic [Candidates-1:0] marks_q, kept_marks_q;
    logic [MarkBits-1:0] mark_q;
    logic [31:0] voter_q;
    logic [3:0] contest_q;
    logic decide_q, bad_q, first_q, decision_q;
    ballot_pkg::refusal_e refusal;
    logic refuse;

    // ---- the line -------------------------------------------------------------------------------

    logic line_in_valid, line_in_ready, line_in_last, line_out_valid, line_out_ready, line_delivered, line_out_last, unused_line_up, line_fault;
    logic [31:0] line_out_data;
    logic [3:0] line_code;

    logic [31:0] line_in_data;
    logic prove_ready, piece_valid, piece_last, proved, unequal, noise_taken;
    logic opening_q;
    logic [31:0] piece_word;
    uart_link #(
        .BaudDivisor(BaudDivisor),
        .Words      (Longest),
        .Timeout    (Timeout),
        .Retries    (Retries)
    ) u_line (
        .clk_i,
        .rst_ni,
        .tag_i,
        .in_valid_i  (line_in_valid),
        .in_ready_o  (line_in_ready),
        .in_data_i   (line_in_data),
        .in_last_i   (state_q == Words ? piece_last : state_q != Head && line_in_last && !opening_q),
        .delivered_o (line_delivered),
        .out_valid_o (line_out_valid),
        .out_ready_i (line_out_ready),
        .out_data_o  (line_out_data),
        .out_last_o  (line_out_last),
        .tx_o,
        .rx_i,
        .up_o        (unused_line_up),
        .fault_o     (line_fault),
        .fault_code_o(line_code)
    );
    // An opened ballot is sent in three parts; opening_q is high before the last one.
    always_comb begin
        line_in_data = said_q[31:0];
        if (state_q == Words) line_in_data = piece_word;
        if (state_q == Open) line_in_data = openings_q[0][31:0];
        if (state_q == Show) line_in_data = record_word;
    end
    assign line_in_valid = ((state_q == Say || state_q == Head || state_q == Open) && left_q != '0) || (state_q == Words && piece_valid) || (state_q == Show && shown_q);
    assign line_in_last = left_q == said_t'(1);

    // ---- votes ----------------------------------------------------------------------------------

    logic vote_in_ready, ask_valid, known_valid, known, vote_valid, vote_ready, refused_valid, refused_ready;
    logic [31:0] ask_key, vote_id, vote_voter, refused_id;
    logic [15:0] vote_contest;
    logic [Candidates-1:0] vote_marks;
    logic [7:0] refused_code;
    logic noise_ready, blocked;

    assign blocked = !noise_ready;
    vote_processor #(
        .Voters    (Voters),
        .Contests  (Contests),
        .Candidates(Candidates)
    ) u_votes (
        .clk_i,
        .rst_ni,
        .candidates_i,
        .most_i,
        .least_i,
        .blocked_i      (blocked),
        .in_valid_i     (line_out_valid && !decide_q),
        .in_ready_o     (vote_in_ready),
        .in_data_i      (line_out_data),
        .in_last_i      (line_out_last),
        .ask_valid_o    (ask_valid),
        .ask_key_o      (ask_key),
        .known_valid_i  (known_valid),
        .known_i        (known),
        .vote_valid_o   (vote_valid),
        .vote_ready_i   (vote_ready),
        .vote_id_o      (vote_id),
        .vote_voter_o   (vote_voter),
        .vote_contest_o (vote_contest),
        .vote_marks_o   (vote_marks),
        .refused_valid_o(refused_valid),
        .refused_ready_i(refused_ready),
        .refused_id_o   (refused_id),
        .refused_code_o (refused_code)
    );
    assign line_out_ready = decide_q ? state_q == Decide : vote_in_ready;
    assign vote_ready = state_q == Rest && vote_valid;
    assign refused_ready = state_q == Rest && refused_valid;

    // ---- randomness and encryption --------------------------------------------------------------

    logic noise_out_valid;
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

    logic of_sum, asks_sum;
    logic [MoreBits-1:0] more;
    logic [ABits-1:0] opening;
    ballot_pkg::proof_e proof;
    mark_prover #(
        .N    (N),
        .ABits(ABits),
        .More (More),
        .Digit(Digit)
    ) u_prover (
        .clk_i,
        .rst_ni        (rst_ni && !refuse),
        .modulus_i,
        .inverse_i,
        .enter_i,
        .zero_i,
        .one_i,
        .plus_i,
        .minus_i,
        .base_i,
        .n_i,
        .h_i,
        .election_i,
        .voter_i       (voter_q),
        .contest_i     (contest_q),
        .place_i       (4'(mark_q)),
        .random_valid_i(noise_out_valid),
        .random_ready_o(noise_taken),
        .random_i      (noise_word),
        .in_valid_i    (state_q == Order),
        .in_ready_o    (prove_ready),
        .proof_i       (proof),
        .value_i       (of_sum ? kept_marks_q != '0 : marks_q[0]),
        .sum_i         (of_sum ? sum_q : '0),
        .more_i        (of_sum ? more : '0),
        .word_valid_o  (piece_valid),
        .word_ready_i  (state_q == Words && line_in_ready),
        .word_o        (piece_word),
        .word_last_o   (piece_last),
        .out_valid_o   (proved),
        .out_ready_i   (state_q == Prove),
        .opening_o     (opening),
        .unequal_o     (unequal)
    );

    // The contest's requirement in addition to marks of 0 or 1: a proof of their sum. The sum's
    // opening is longer by as many bits as the number of marks less one has.
    logic [7:0] candidates, most, least;
    assign candidates = candidates_i[8*contest_q+:8];
    assign most = most_i[8*contest_q+:8];
    assign least = least_i[8*contest_q+:8];
    assign of_sum = mark_q == MarkBits'(Candidates);
    assign asks_sum = least == most || (most == 8'd1 && candidates != 8'd1);
    always_comb begin
        proof = ballot_pkg::MarkIsBit;
        if (of_sum) proof = least == most ? ballot_pkg::SumIsKnown : ballot_pkg::SumIsBit;
        more = '0;
        for (int k = 0; k < int'(More); k++) if ((candidates - 8'd1) >> k != '0) more = MoreBits'(k + 1);
    end

    logic hash_ready, digest_valid;
    logic [255:0] digest;
    sha256 u_hash (
        .clk_i,
        .rst_ni,
        .in_valid_i (state_q == Hash && shown_q),
        .in_ready_o (hash_ready),
        .in_data_i  (record_word),
        .in_last_i  (left_q == said_t'(1)),
        .in_bytes_i (2'd0),
        .out_valid_o(digest_valid),
        .out_ready_i(state_q == Receipt),
        .out_data_o (digest)
    );

    // ---- the log --------------------------------------------------------------------------------

    logic log_ready, log_done;
    logic [1:0] log_command;
    logic [2:0] log_answer;
    logic [31:0] log_id;
    logic record_write;
    logic [PlaceBits-1:0] record_place;
    logic [31:0] record_data;
    logic [$clog2(Slots):0] used;
    // The number of records that the tally board has; anew_q: it was reset and has none.
    logic [$clog2(Slots):0] forwarded_q;
    logic anew_q;

    logic tally_ready, tally_delivered, unused_tally_valid, unused_tally_last, tally_up, tally_fault;
    always_comb begin
        log_command = ballot_pkg::Find;
        if (state_q == Append) log_command = ballot_pkg::Append;
        if (state_q == Fetch) log_command = ballot_pkg::Fetch;
    end
    vote_log #(
        .Body         (Body),
        .SlotLog      (SlotLog),
        .Slots        (Slots),
        .SckHalfPeriod(FlashSckHalfPeriod),
        .FlashTimeout (FlashTimeout)
    ) u_log (
        .clk_i,
        .rst_ni,
        .command_valid_i((state_q == Rest && ask_valid) || state_q == Append || state_q == Fetch),
        .command_ready_o(log_ready),
        .command_i      (log_command),
        .id_i           (state_q == Append ? key_q : state_q == Fetch ? 32'(forwarded_q) : ask_key),
        .word_write_i   (record_write),
        .word_place_i   (record_place),
        .word_i         (record_data),
        .word_read_i    (show && !shown_q),
        .read_place_i   (show_q),
        .word_o         (record_word),
        .done_o         (log_done),
        .answer_o       (log_answer),
        .id_o           (log_id),
        .used_o         (used),
        .cs_no          (flash_cs_no),
        .sck_o          (flash_sck_o),
        .copi_o         (flash_copi_o),
        .cipo_i         (flash_cipo_i)
    );
    // Key, voter and contest, then each mark's ciphertext as it goes to the line.
    assign record_write = state_q == Note || (state_q == Words && cipher_q && piece_valid && line_in_ready);
    assign record_place = place_q;
    always_comb begin
        record_data = piece_word;
        if (state_q == Note) record_data = place_q == '0 ? key_q : place_q == PlaceBits'(1) ? voter_q : {28'd0, contest_q};
    end
    // The record's words from show_q on, each a cycle after its request.
    assign show = state_q == Hash || state_q == Show || state_q == Forward;
    assign show_taken = shown_q && ((state_q == Hash && hash_ready) || (state_q == Show && line_in_ready) || (state_q == Forward && tally_ready));
    assign known_valid = state_q == Asking && log_done;
    assign known = log_answer == ballot_pkg::Done;

    // ---- the tally board ------------------------------------------------------------------------

    logic [31:0] unused_tally_data;
    logic [3:0] tally_code;
    spi_controller_link #(
        .SckHalfPeriod(SckHalfPeriod),
        .Words        (Body + 1),
        .Timeout      (Timeout),
        .Retries      (Retries)
    ) u_tally (
        .clk_i,
        .rst_ni,
        .tag_i,
        .in_valid_i  (state_q == Forward && shown_q),
        .in_ready_o  (tally_ready),
        .in_data_i   (record_word),
        .in_last_i   (line_in_last),
        .delivered_o (tally_delivered),
        .out_valid_o (unused_tally_valid),
        .out_ready_i (1'b1),
        .out_data_o  (unused_tally_data),
        .out_last_o  (unused_tally_last),
        .cs_no,
        .sck_o,
        .copi_o,
        .cipo_i,
        .up_o        (tally_up),
        .fault_o     (tally_fault),
        .fault_code_o(tally_code)
    );
    assign fault_o = line_fault || tally_fault;
    assign fault_code_o = line_fault ? line_code : tally_code;

    // ---- control --------------------------------------------------------------------------------

    logic decided;
    // The reason to refuse the current ballot now.
    always_comb begin
        refusal = ballot_pkg::NotRefused;
        unique case (state_q)
            Prove:
            if (unequal) refusal = ballot_pkg::Unequal;
            else if (noise_failed_o) refusal = ballot_pkg::NoRandomness;
            Decide: if (line_out_valid && line_out_last && !decided) refusal = ballot_pkg::BadForm;
            Appending: if (log_done && log_answer != ballot_pkg::Done) refusal = ballot_pkg::NotStored;
            default: ;
        endcase
    end
    assign refuse = refusal != ballot_pkg::NotRefused;

    // The second of two words is the identifier, and the first was 0 or 1.
    assign decided = !first_q && !bad_q && line_out_data == id_q;

    logic begins, mark_done, proofs_done, decides, passed;
    // A vote is accepted.
    assign begins = state_q == Rest && !ask_valid && !refused_valid && vote_valid;
    // A mark or the sum is proved; proofs_done: it was the ballot's last.
    assign mark_done = state_q == Prove && !piece_valid && proved;
    assign proofs_done = mark_done && (of_sum || (mark_q == MarkBits'(Candidates - 1) && !asks_sum));
    // The terminal's last word.
    assign decides = state_q == Decide && line_out_valid && line_out_last;

    // passed: the tally board has the current record of the log, or its slot has none. A record
    // that cannot be read because the memory is busy is read again.
    always_comb begin
        state_d = state_q;
        passed  = 1'b0;
        unique case (state_q)
            Rest:
            if (ask_valid) begin
                if (log_ready) state_d = Asking;
            end else if (refused_valid) begin
                state_d = Say;
            end else if (vote_valid) begin
                state_d = Note;
            end else if (!anew_q && log_ready && tally_up && forwarded_q != used) begin
                state_d = Fetch;
            end
            Asking: if (log_done) state_d = Rest;
            Note: if (place_q == PlaceBits'(2)) state_d = Order;
            Order: if (prove_ready) state_d = Prove;
            Prove:
            if (piece_valid) state_d = Head;
            else if (proved) state_d = proofs_done ? Hash : Order;
            Head: if (line_in_ready && line_in_last) state_d = Words;
            Words: if (piece_valid && line_in_ready && piece_last) state_d = Sent;
            Sent: if (line_delivered) state_d = Prove;
            Hash: if (show_taken && line_in_last) state_d = Receipt;
            Receipt: if (digest_valid) state_d = Say;
            Say: begin
                if (line_in_valid && line_in_ready && opening_q && line_in_last) state_d = Open;
                if (line_delivered && left_q == '0) state_d = decide_q ? Decide : Rest;
            end
            Open: if (line_in_ready && line_in_last) state_d = Show;
            Show: if (show_taken && line_in_last) state_d = Say;
            Decide: if (decides) state_d = decision_q ? Say : Append;
            Append: if (log_ready) state_d = Appending;
            Appending: if (log_done) state_d = Say;
            Fetch: if (log_ready) state_d = Fetching;
            Fetching:
            if (log_done) begin
                passed  = log_answer == ballot_pkg::Absent;
                state_d = log_answer == ballot_pkg::Done ? Forward : Rest;
            end
            Forward: if (show_taken && line_in_last) state_d = Forwarded;
            default: begin
                passed = tally_delivered;
                if (passed) state_d = Rest;
            end
        endcase
        if (refuse) state_d = Say;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) state_q <= Rest;
        else state_q <= state_d;
    end

    // The current vote's voter and contest.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            id_q      <= '0;
            key_q     <= '0;
            voter_q   <= '0;
            contest_q <= '0;
        end else if (begins) begin
            id_q      <= vote_id;
            key_q     <= {vote_contest[7:0], vote_voter[23:0]};
            voter_q   <= vote_voter;
            contest_q <= vote_contest[3:0];
        end
    end

    // The mark that is being proved. Its first piece is its ciphertext.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            mark_q   <= '0;
            cipher_q <= 1'b0;
        end else begin
            if (begins) mark_q <= '0;
            if (mark_done) mark_q <= mark_q + MarkBits'(1);
            if (state_q == Order && prove_ready) cipher_q <= !of_sum;
            if (state_q == Words && piece_valid && line_in_ready && piece_last) cipher_q <= 1'b0;
        end
    end

    // Everything that could open a ballot is erased when the ballot is decided, either way.
    // Exponents to be sent are erased as they are sent.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            marks_q      <= '0;
            kept_marks_q <= '0;
            sum_q        <= '0;
            for (int k = 0; k < int'(Candidates); k++) openings_q[k] <= '0;
        end else begin
            if (begins) begin
                marks_q      <= vote_marks;
                kept_marks_q <= vote_marks;
                sum_q        <= '0;
            end
            if (mark_done && !of_sum) begin
                marks_q <= marks_q >> 1;
                for (int k = 0; k < int'(Candidates) - 1; k++) openings_q[k] <= openings_q[(k+1)%Candidates];
                openings_q[Candidates-1] <= opening;
                if (8'(mark_q) < candidates) sum_q <= sum_q + OBits'(opening);
            end
            if (proofs_done) sum_q <= '0;
            if (state_q == Open && line_in_ready) begin
                // Erases the words that were sent.
                for (int k = 0; k < int'(Candidates) - 1; k++) openings_q[k] <= {openings_q[(k+1)%Candidates][31:0], openings_q[k][ABits-1:32]};
                openings_q[Candidates-1] <= openings_q[Candidates-1] >> 32;
            end
            if (refuse || decides) begin
                if (refuse || !decision_q) for (int k = 0; k < int'(Candidates); k++) openings_q[k] <= '0;
                kept_marks_q <= '0;
                marks_q      <= '0;
                sum_q        <= '0;
            end
        end
    end

    // The places in the record in hand.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            place_q <= '0;
            show_q  <= '0;
            shown_q <= 1'b0;
        end else begin
            if (record_write) place_q <= place_q + PlaceBits'(1);
            if (begins) place_q <= '0;
            shown_q <= show && !show_taken;
            if (show_taken) show_q <= show_q + PlaceBits'(1);
            if (proofs_done || (state_q == Fetching && log_done)) show_q <= '0;
            if (state_q == Open && line_in_ready && line_in_last) show_q <= PlaceBits'(1);
        end
    end

    // The message, and the words that are left of it, of the exponents, or of the record.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            said_q <= '0;
            left_q <= '0;
        end else begin
            if (show_taken) left_q <= left_q - said_t'(1);
            unique case (state_q)
                Rest:
                if (!ask_valid && refused_valid) begin
                    said_q <= (32 * Short)'({refused_id, 8'd0, refused_code, 16'd4});
                    left_q <= said_t'(2);
                end
                Prove:
                if (piece_valid) begin
                    said_q <= (32 * Short)'({id_q, 16'(mark_q), 16'd5});
                    left_q <= said_t'(2);
                end else if (proofs_done) begin
                    left_q <= said_t'(Body + 1);
                end
                Head:
                if (line_in_ready) begin
                    said_q <= said_q >> 32;
                    left_q <= left_q - said_t'(1);
                end
                Receipt:
                if (digest_valid) begin
                    said_q <= '0;
                    for (int k = 0; k < 8; k++) said_q[32*(k+2)+:32] <= digest[255-32*k-:32];
                    said_q[63:0] <= {id_q, 32'd1};
                    left_q       <= said_t'(10);
                end
                Say:
                if (line_in_valid && line_in_ready) begin
                    said_q <= said_q >> 32;
                    left_q <= (opening_q && line_in_last) ? said_t'(Candidates * AWords) : left_q - said_t'(1);
                end
                Open: if (line_in_ready) left_q <= line_in_last ? said_t'(Body) : left_q - said_t'(1);
                Decide:
                if (decides) begin
                    said_q <= (32 * Short)'({32'(kept_marks_q), id_q, 32'd3});
                    left_q <= said_t'(3);
                end
                Appending:
                if (log_done) begin
                    said_q <= (32 * Short)'({id_q, 32'd2});
                    left_q <= said_t'(2);
                end
                Fetching: if (log_done) left_q <= said_t'(Body + 1);
                default: ;
            endcase
            if (refuse) begin
                said_q <= (32 * Short)'({id_q, 8'd0, refusal, 16'd4});
                left_q <= said_t'(2);
            end
        end
    end

    // The terminal's decision after a receipt.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            decide_q   <= 1'b0;
            first_q    <= 1'b0;
            bad_q      <= 1'b0;
            decision_q <= 1'b0;
            opening_q  <= 1'b0;
        end else begin
            unique case (state_q)
                Receipt: if (digest_valid) decide_q <= 1'b1;
                Say:
                if (line_delivered && left_q == '0) begin
                    first_q <= 1'b1;
                    bad_q   <= 1'b0;
                end
                Open: if (line_in_ready && line_in_last) opening_q <= 1'b0;
                Decide:
                if (line_out_valid) begin
                    first_q <= 1'b0;
                    if (first_q) decision_q <= line_out_data[0];
                    bad_q <= bad_q || (first_q ? line_out_data[31:1] != '0 : !line_out_last);
                    if (line_out_last) begin
                        decide_q  <= 1'b0;
                        opening_q <= decision_q;
                    end
                end
                default: ;
            endcase
            if (refuse) begin
                decide_q  <= 1'b0;
                opening_q <= 1'b0;
            end
        end
    end

    // The records that the tally board has, in the order of the log.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            forwarded_q <= '0;
            anew_q      <= 1'b0;
        end else begin
            if (passed) forwarded_q <= forwarded_q + ($clog2(Slots) + 1)'(1);
            if (tally_fault && tally_code == link_pkg::PartnerReset) anew_q <= 1'b1;
            if (state_q == Rest && !ask_valid && !refused_valid && !vote_valid && anew_q) begin
                forwarded_q <= '0;
                anew_q      <= 1'b0;
            end
        end
    end

    `include "assertions.svh"
    `ASSERT_NEXT(NoBallotWithoutRandomness, noise_failed_o && state_q == Prove, state_q != Hash)
    logic [Candidates-1:0] kept;
    for (genvar k = 0; k < Candidates; k++) begin : gen_kept
        assign kept[k] = openings_q[k] != '0;
    end
    `ASSERT(OpenedOnlyWhenChallenged, !((state_q == Append || state_q == Rest || state_q == Show) && kept != '0))

    logic unused;
    assign unused = &{1'b0, kept, log_id, vote_contest[15:8], unused_line_up, unused_cause, unused_tally_valid, unused_tally_last, unused_tally_data};
endmodule
