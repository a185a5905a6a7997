// SPDX-License-Identifier: MIT OR Apache-2.0
// Paillier encryption in dual numbers, two votes at a time: c = (1 + m n) r^n mod n^2, or with a
// comb c = (1 + m n) h^a mod n^2.
//
// The multiplier (coproc_core_dual) has half as many DSP blocks as its words have products (Fold).
// It alternates between the products of two powers, so that it never waits for its own result. The
// redundancy check needs two encryptions anyway; they share only the key.
//
//   Teeth = 0   r^n by fixed windows of four bits of n, which is public. Numbers come in pairs r, m. Entries are powers r^0 to r^15 of each vote.
//   Teeth > 0   h^a for a base whose comb comes with the key, a secret exponent of Exponent bits: Columns = ceil(Exponent / Teeth) times a square and a product by the entry that the column's bits
//               name. Numbers come in pairs a, m. Every product reads all entries, digit by digit, and keeps one of them.
//
// After a reset the key arrives, one number after the other, each in the given number of blocks: n
// (N / 32), n^2 and y = n 2^(N + 16 (D+1) + 3) mod n^2 (2 N / 32 each), mt (N / 32) and u (ceil(16
// (D+1) / 32)) of dual_row. Then come dual numbers of Digits blocks, each with a digit of the high
// part in its upper half and one of the low part in its lower half: R^1 (1 in Montgomery form), R^3
// and 2^N for Teeth = 0, or the comb's 2^Teeth entries in Montgomery form. Then pairs of numbers,
// twice: r of N / 32 blocks or a of ceil(Exponent / 32), m < n of N / 32. The answer is two
// ciphertexts of 2 N / 32 blocks. Lengths are not checked: a number of another length is read as
// its blocks fall.
//
// Cycles: with J = Digits + D + 2, products of the multiplier take 3 Fold J cycles, squares 2 Fold
// J. Two votes take (N / 4 - 1) (4 squares and a product) and some 20 products, twice, or Columns -
// 1 times a square and a product, twice: rtl/blocks/README.md has the numbers. Neither timing nor
// the number of operations depends on votes or randomness. Multipliers: those of dual_row, W = 16.
module dual_encryptor #(
    parameter int unsigned N        = 2048,  // bits of n, a multiple of 32, at least 64
    parameter int unsigned Teeth    = 0,     // of a comb, 1 to 8; 0: none
    parameter int unsigned Exponent = 1024,  // bits of a
    parameter int unsigned V        = 24,    // bits of a word, and the next two as in dual_row
    parameter int unsigned D        = 4,
    parameter int unsigned Fold     = 2
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        set_valid_i,
    output logic        set_ready_o,
    input  logic [31:0] set_block_i,
    input  logic        set_last_i,
    input  logic        r_valid_i,    // r, or a
    output logic        r_ready_o,
    input  logic [31:0] r_block_i,
    input  logic        r_last_i,
    input  logic        m_valid_i,
    output logic        m_ready_o,
    input  logic [31:0] m_block_i,
    input  logic        m_last_i,
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output logic [31:0] out_block_o,
    output logic        out_last_o,
    output logic        mul_o         // a product of dual numbers is accepted
);
    if (N < 64 || N % 32 != 0) $error("dual_encryptor: N must be a multiple of 32, at least 64");
    if (Teeth > 8 || Exponent < 1) $error("dual_encryptor: Teeth is 0 to 8, Exponent at least 1");

    localparam int unsigned W = 16;
    localparam int unsigned Digits = (N + W + 2) / W + D + 1;
    localparam int unsigned OpBits = Digits * W;
    localparam int unsigned UnitBits = W * (D + 1);
    localparam int unsigned IndexBits = $clog2(Digits);
    // Entries: of a comb; or sixteen per vote, R^3 and 2^N.
    localparam int unsigned Entries = Teeth > 0 ? 2 ** Teeth : 34;
    localparam int unsigned EntryBits = $clog2(Entries);
    localparam int unsigned Cube = 32;
    localparam int unsigned Shift = 33;
    localparam int unsigned Given = Teeth > 0 ? Entries : 3;  // entries that arrive with the key
    localparam int unsigned SetBits = $clog2(Given + 6);
    // columns, or windows
    localparam int unsigned Rounds = Teeth > 0 ? (Exponent + Teeth - 1) / Teeth : N / 4;
    localparam int unsigned RoundBits = $clog2(Rounds + 1);
    localparam int unsigned ABits = Teeth > 0 ? Teeth * Rounds + 32 : 32;

    // ---- The key. ----

    logic [SetBits-1:0] number_q;  // index of the key's number that arrives
    logic [IndexBits-1:0] set_index_q;
    logic [N-1:0] n_q, mt_q;
    logic [2*N-1:0] square_q, exit_q;
    logic [95:0] unit_q;
    logic set_take, set_done;
    assign set_done    = number_q == SetBits'(Given + 5);
    assign set_take    = set_valid_i && set_ready_o;

    logic rotate_n;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            number_q    <= '0;
            set_index_q <= '0;
            n_q         <= N'(0);
            square_q    <= (2 * N)'(0);
            exit_q      <= (2 * N)'(0);
            mt_q        <= N'(0);
            unit_q      <= '0;
        end else begin
            if (set_take) begin
                set_index_q <= set_last_i ? '0 : set_index_q + 1'b1;
                if (set_last_i) number_q <= number_q + 1'b1;
                if (number_q == SetBits'(0)) n_q <= {set_block_i, n_q[N-1:32]};
                if (number_q == SetBits'(1)) square_q <= {set_block_i, square_q[2*N-1:32]};
                if (number_q == SetBits'(2)) exit_q <= {set_block_i, exit_q[2*N-1:32]};
                if (number_q == SetBits'(3)) mt_q <= {set_block_i, mt_q[N-1:32]};
                if (number_q == SetBits'(4)) unit_q <= {set_block_i, unit_q[95:32]};
            end
            // As many times as there are windows, so that n returns to its position.
            if (rotate_n) n_q <= {n_q[N-5:0], n_q[N-1:N-4]};
        end
    end
    logic [95:0] unit;
    assign unit = UnitBits > 64 ? unit_q : UnitBits > 32 ? unit_q >> 32 : unit_q >> 64;

    // ---- The operations, one after the other, each for vote 0 and then for vote 1. ----

    typedef enum logic [2:0] {
        Enter,   // x = x / R
        Convert, // x = x R^3 / R: r in Montgomery form
        Table,   // x = x r, an entry
        Load,    // x = an entry
        Square,
        Entry,   // x = x entry
        Leave
    } kind_e;
    localparam kind_e FirstKind = Teeth > 0 ? Load : Enter;

    kind_e kind_q;
    logic vote_q;               // the vote of the next operation
    logic [3:0] entry_q;        // the last entry computed
    logic [1:0] squares_q;      // squares done in this window
    logic [RoundBits-1:0] left_q;  // columns or windows after this one
    logic running_q, issue, load_x, next_kind;
    logic [1:0] here_q;  // a vote's x is ready for its next operation
    assign next_kind  = (issue || load_x) && vote_q;
    assign rotate_n   = Teeth == 0 && next_kind && (kind_q == Load || kind_q == Entry);

    logic begin_it, end_it;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || end_it) begin
            kind_q    <= FirstKind;
            vote_q    <= 1'b0;
            entry_q   <= 4'd1;
            squares_q <= '0;
            left_q    <= RoundBits'(Rounds - 1);
            running_q <= 1'b0;
        end else begin
            if (begin_it) running_q <= 1'b1;
            if (issue || load_x) vote_q <= !vote_q;
            if (next_kind) begin
                unique case (kind_q)
                    Enter:   kind_q <= Convert;
                    Convert: kind_q <= Table;
                    Table: begin
                        entry_q <= entry_q + 1'b1;
                        if (entry_q == 4'd14) kind_q <= Load;
                    end
                    Load, Entry: begin
                        squares_q <= '0;
                        left_q    <= left_q - 1'b1;
                        kind_q    <= left_q == '0 ? Leave : Square;
                    end
                    Square: begin
                        squares_q <= squares_q + 1'b1;
                        if (Teeth > 0 || squares_q == 2'd3) kind_q <= Entry;
                    end
                    default: running_q <= 1'b0;
                endcase
            end
        end
    end

    // ---- Entries: all read digit by digit at once; one of them becomes the second operand. ----

    logic [EntryBits-1:0] wanted, wanted_q;
    logic [Entries-1:0] wiped;
    logic [Entries-1:0][31:0] entry_read;
    logic [31:0] entry_digit_q;
    logic [OpBits-1:0] y_low_q, y_high_q;
    logic [IndexBits-1:0] read_index_q;
    logic reading_q, read_1_q, read_2_q, y_here_q, needs_y;
    logic [1:0][ABits-1:0] a_q;
    logic unused_last;
    assign needs_y = kind_q != Square && kind_q != Leave;
    if (Teeth > 0) begin : gen_comb
        for (genvar k = 0; k < int'(Teeth); k++) begin : gen_tooth
            assign wanted[k] = a_q[vote_q][k*Rounds+Rounds-1];
        end
    end else begin : gen_window
        always_comb begin
            unique case (kind_q)
                Enter:   wanted = EntryBits'(Shift);
                Convert: wanted = EntryBits'(Cube);
                Table:   wanted = EntryBits'({vote_q, 4'd1});
                default: wanted = EntryBits'({vote_q, n_q[N-1:N-4]});
            endcase
        end
    end

    logic [OpBits-1:0] x_low_q [2];
    logic [OpBits-1:0] x_high_q [2];
    logic store_q, store_vote_q;
    logic [IndexBits-1:0] store_index_q;
    logic [3:0] store_entry_q;
    for (genvar k = 0; k < int'(Entries); k++) begin : gen_entry
        logic from_key, from_x, unused_error;
        if (Teeth > 0) begin : gen_tooth
            assign from_key = set_take && number_q == SetBits'(5 + k);
            assign from_x   = 1'b0;
        end else begin : gen_power
            assign from_key = set_take && number_q == SetBits'(k == Shift ? 7 : k == Cube ? 6 : 5) && (k >= Cube || k % 16 == 0);
            assign from_x   = store_q && k < Cube && store_vote_q == 1'(k / 16) && store_entry_q == 4'(k % 16);
        end
        ram_1r1w #(
            .Width(32),
            .Depth(Digits)
        ) u_digits (
            .clk_i,
            .rst_ni,
            .wipe_i         (1'b0),
            .ready_o        (wiped[k]),
            .write_i        (from_key || from_x),
            .write_address_i(from_x ? store_index_q : set_index_q),
            .write_data_i   (from_x ? {x_high_q[store_vote_q][W-1:0], x_low_q[store_vote_q][W-1:0]} : set_block_i),
            .read_i         (reading_q),
            .read_address_i (read_index_q),
            .read_data_o    (entry_read[k]),
            .error_o        (unused_error)
        );
    end
    assign set_ready_o = &wiped && !set_done;

    // An operation's entry is read as soon as the operation is next; while entries are still being
    // stored, once its x is ready.
    logic start_read;
    assign start_read = running_q && needs_y && !reading_q && !read_1_q && !read_2_q && !y_here_q && (here_q[vote_q] || kind_q == Entry) && !issue && !load_x;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {reading_q, read_1_q, read_2_q, y_here_q} <= '0;
            read_index_q  <= '0;
            wanted_q      <= '0;
            entry_digit_q <= '0;
            y_low_q       <= OpBits'(0);
            y_high_q      <= OpBits'(0);
        end else begin
            if (start_read) begin
                reading_q    <= 1'b1;
                read_index_q <= '0;
                wanted_q     <= wanted;
            end else if (reading_q) begin
                reading_q    <= read_index_q != IndexBits'(Digits - 1);
                read_index_q <= read_index_q + 1'b1;
            end
            read_1_q      <= reading_q;
            read_2_q      <= read_1_q;
            entry_digit_q <= '0;
            for (int unsigned k = 0; k < Entries; k++) begin
                if (wanted_q == EntryBits'(k)) entry_digit_q <= entry_read[k];
            end
            if (read_2_q) begin
                y_low_q  <= {entry_digit_q[W-1:0], y_low_q[OpBits-1:W]};
                y_high_q <= {entry_digit_q[31:W], y_high_q[OpBits-1:W]};
            end
            if (issue || load_x) y_here_q <= 1'b0;
            else if (read_2_q && !read_1_q) y_here_q <= 1'b1;
        end
    end

    // ---- Numbers in and out: r or a and m of both votes, then both ciphertexts. ----

    logic [1:0][N-1:0] m_q;
    logic r_vote_q, m_vote_q, r_full_q, m_full_q, out_vote_q, giving_q;
    logic [1:0] done_q;  // the ciphertext of a vote is in x
    logic r_take, m_take, give;
    localparam int unsigned OutBits = $clog2(2 * N / 32);
    logic [OutBits-1:0] out_index_q;
    assign r_ready_o   = set_done && !r_full_q;
    assign m_ready_o   = set_done && !m_full_q;
    assign r_take      = r_valid_i && r_ready_o;
    assign m_take      = m_valid_i && m_ready_o;
    assign begin_it    = r_full_q && m_full_q && !running_q && !giving_q;
    assign out_valid_o = done_q[out_vote_q];
    assign out_block_o = x_low_q[out_vote_q][31:0];
    assign out_last_o  = out_index_q == OutBits'(2 * N / 32 - 1);
    assign give        = out_valid_o && out_ready_i;
    assign end_it      = give && out_last_o && out_vote_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni || end_it) begin
            {r_vote_q, m_vote_q, r_full_q, m_full_q, out_vote_q, giving_q} <= '0;
            out_index_q <= '0;
        end else begin
            if (begin_it) giving_q <= 1'b1;
            if (r_take && r_last_i) {r_full_q, r_vote_q} <= {r_vote_q, 1'b1};
            if (m_take && m_last_i) {m_full_q, m_vote_q} <= {m_vote_q, 1'b1};
            if (give) out_index_q <= out_last_o ? '0 : out_index_q + 1'b1;
            if (give && out_last_o) out_vote_q <= 1'b1;
        end
    end
    for (genvar v = 0; v < 2; v++) begin : gen_vote
        always_ff @(posedge clk_i) begin
            if (!rst_ni || end_it) m_q[v] <= N'(0);
            else if (m_take && m_vote_q == 1'(v)) m_q[v] <= {m_block_i, m_q[v][N-1:32]};
        end
    end

    // ---- The multiplier. ----

    logic core_valid, core_ready, result_valid, result_vote;
    logic [2*OpBits-1:0] result, a_operand;
    assign core_valid = running_q && kind_q != Load && here_q[vote_q] && (!needs_y || y_here_q);
    assign load_x     = running_q && kind_q == Load && here_q[vote_q] && y_here_q;
    assign issue      = core_valid && core_ready;
    assign mul_o      = issue;
    assign a_operand  = {x_high_q[vote_q], x_low_q[vote_q]};

    coproc_core_dual #(
        .N      (N),
        .W      (W),
        .V      (V),
        .D      (D),
        .TagBits(1),
        .Fold   (Fold)
    ) u_core (
        .clk_i,
        .rst_ni,
        .mt_i       (mt_q),
        .unit_i     (unit[UnitBits-1:0]),
        .root_i     (n_q),
        .modulus_i  (square_q),
        .exit_i     (exit_q),
        .in_valid_i (core_valid),
        .in_ready_o (core_ready),
        .in_tag_i   (vote_q),
        .in_square_i(kind_q == Square),
        .in_enter_i (kind_q == Enter),
        .in_leave_i (kind_q == Leave),
        .a_i        (a_operand),
        .b_i        (kind_q == Square ? a_operand : kind_q == Leave ? (2 * OpBits)'(m_q[vote_q]) : {y_high_q, y_low_q}),
        .out_valid_o(result_valid),
        .out_ready_i(1'b1),
        .out_tag_o  (result_vote),
        .r_o        (result)
    );

    // ---- x of both votes: from the multiplier or an entry. It rotates once while an entry is
    // stored, and leaves block by block. ----

    localparam logic [IndexBits-1:0] LastIndex = IndexBits'(Digits - 1);
    // the result in progress becomes an entry; is a ciphertext; a result waits to be stored
    logic [1:0] keep_q, leave_q, waits_q;
    logic store_end;
    assign store_end = store_q && store_index_q == LastIndex;
    for (genvar v = 0; v < 2; v++) begin : gen_x
        logic mine, arrives, turns;
        assign mine    = vote_q == 1'(v);
        assign arrives = result_valid && result_vote == 1'(v);
        assign turns   = store_q && store_vote_q == 1'(v);
        always_ff @(posedge clk_i) begin
            if (!rst_ni || end_it) begin
                x_low_q[v]  <= OpBits'(0);
                x_high_q[v] <= OpBits'(0);
                a_q[v]      <= ABits'(0);
                {here_q[v], keep_q[v], leave_q[v], done_q[v], waits_q[v]} <= '0;
            end else begin
                if (r_take && r_vote_q == 1'(v)) begin
                    if (Teeth > 0) a_q[v] <= ABits'({r_block_i, a_q[v]} >> 32);
                    else {x_high_q[v], x_low_q[v]} <= (2 * OpBits)'({r_block_i, x_low_q[v][N-1:32]});
                end
                if (begin_it) begin
                    here_q[v] <= 1'b1;
                    // The number's blocks were shifted in at the top.
                    if (Teeth > 0) a_q[v] <= a_q[v] >> (ABits - (Exponent + 31) / 32 * 32);
                end
                if (mine && load_x) {x_high_q[v], x_low_q[v]} <= {y_high_q, y_low_q};
                if (Teeth > 0 && mine && (load_x || (issue && kind_q == Entry))) a_q[v] <= a_q[v] << 1;
                if (mine && issue) begin
                    here_q[v]  <= 1'b0;
                    keep_q[v]  <= kind_q == Convert || kind_q == Table;
                    leave_q[v] <= kind_q == Leave;
                end
                if (arrives) begin
                    {x_high_q[v], x_low_q[v]} <= result;
                    here_q[v]  <= !keep_q[v] && !leave_q[v];
                    waits_q[v] <= keep_q[v];
                    done_q[v]  <= leave_q[v];
                end
                if (turns) begin
                    x_low_q[v]  <= {x_low_q[v][W-1:0], x_low_q[v][OpBits-1:W]};
                    x_high_q[v] <= {x_high_q[v][W-1:0], x_high_q[v][OpBits-1:W]};
                    if (store_end) begin
                        here_q[v]  <= 1'b1;
                        waits_q[v] <= 1'b0;
                    end
                end
                if (give && out_vote_q == 1'(v)) {x_high_q[v], x_low_q[v]} <= {32'b0, x_high_q[v], x_low_q[v][OpBits-1:32]};
                if (give && out_last_o && out_vote_q == 1'(v)) done_q[v] <= 1'b0;
            end
        end
    end

    // Entries are stored one at a time: vote 0's before vote 1's, whose product is later.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || end_it) begin
            {store_q, store_vote_q} <= '0;
            store_index_q <= '0;
            store_entry_q <= 4'd1;
        end else if (!store_q) begin
            store_q       <= |waits_q;
            store_vote_q  <= !waits_q[0];
            store_index_q <= '0;
        end else if (store_end) begin
            store_q <= 1'b0;
            // Moves to the next entry once both votes have stored this one.
            if (store_vote_q) store_entry_q <= store_entry_q + 1'b1;
        end else begin
            store_index_q <= store_index_q + 1'b1;
        end
    end

    assign unused_last = ^unit;
endmodule
