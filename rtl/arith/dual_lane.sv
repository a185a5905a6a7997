// SPDX-License-Identifier: MIT OR Apache-2.0
// One half of a Paillier decryption in dual numbers: L(c^e mod p^2) modulo p, with multipliers of
// half the width and no division.
//
// A number modulo M'^2 is kept as a + b M', where M' = u p is the scaled modulus of dual_row for p.
// Let REDC(T) = (T + Q M') / R with the quotient Q, which has either sign. Then, modulo M'^2,
//
//   (a + b M') (c + d M') / R = a' + b' M',   a' = REDC(a c) with the quotient Q,   b' = REDC(a d) + REDC(b c - Q):
//
// This holds because a c = R a' - Q M'; the term -Q is added to the last sum digit by digit. A
// product of dual numbers is three jobs of the one row, a square two, b' = REDC(2 a b - Q). Bounds:
// with R > 8 M', |a| < 0.65 M', |b| < 1.4 M', constants and |c| up to M', |d| up to 1.4 M', and |Q|
// <= 8/15 R (dual_row):
// |a'| < (0.65 / 8 + 8/15) M' + 1 < 0.65 M',   |b'| < (0.65 * 1.4 + 1.4) M' / 8 + 16/15 M' + 2 < 1.4 M',   and 2 b is below 7/15 R, which balanced digits reach.
//
// The lane holds X = (a, b). An operation computes X <- (X Y + Z) / R. Y is X itself (a square), a
// constant or an entry of the table. Z is added one digit per step, in the lowest position:
//
//   one      Y = 0, Z = R^2                                             X = R, the number 1 in Montgomery form; it becomes entry 0
//   chunks   Y = 0, then 3 times Y = 2^H R; Z = a quarter of c           X = c / R (Horner, highest first)
//   enter    Y = R^3                                                    X = c R, entry 1
//   table    a square, then 13 times Y = entry 1                        X = c^2 R, ..., c^15 R, entries 2 to 15
//   one      Y = 0, Z = R^2
//   window   4 squares (but in the first), Y = entry [next 4 bits of e], windows times   X = c^e R
//   exit     Y = (u, 0), which is not in Montgomery form
//
// The last one gives u c^e modulo M'^2. If c^e = 1 + L p modulo p^2, then u c^e = u + L M' modulo p
// M'. As |a'| <= (0.65 u / R + 8/15) M' + 1 and 0 < u <= M' / 3, a' is u itself and L = b' modulo
// p, with |b'| < M'. For any other c, a' = u c^e modulo M' is a different number, which foreign_o
// reports.
//
// The exponent e has windows = windows_i + 1 windows of 4 bits, at most ceil(H / 4).
//
// Jobs follow each other without a gap, each in the Job = Digits + D + 2 cycles of dual_sequencer.
// The next job but one reads a job's result:
//
//   square    a a         2 b a - Q               multiplicand a, digits of a, then of b
//   product   c a     d a           c b - Q       multiplicand a, then b, digits of Y
//   Y = 0     Z - 0   Z - Q
//
// While the next job runs, a result is converted to digits and stored in memories of digits (a, b,
// the table). From there it is read as multiplier digits, which are balanced before the row, or as
// the multiplicand, which is assembled from digits one job ahead.
//
// A ciphertext arrives as 4 ceil(H / W) digits: its quarters of H bits, the highest first, each
// from its lowest digit on and padded with zeros. The first digit of an item starts the work. From
// then on every digit must be available when it is requested. b' leaves as Digits digits in two's
// complement, lowest first.
//
// Every product reads all entries of the table (dual_source). Neither the time nor the order of
// jobs depends on any value but windows_i. An item has Jobs = 54 + 11 windows jobs. Its work begins
// with the sequencer's next phase 0, its first digit is accepted 2 Job + 2 cycles later, and b' is
// offered, from its lowest digit on, (Jobs + 1) Job cycles after the beginning. If its digits are
// accepted at once, an item takes (Jobs + 2) Job cycles. A reset clears the memories, which takes
// 2^(IndexBits + 1) cycles. Multipliers: those of dual_row, all with input, product and output
// registers. Levels of logic on xc7, by Yosys with the hierarchy kept: at most 5 LUTs and a carry
// chain in a lane, 4 LUTs and two chains on the path of the sum (dual_word). Source of the dual
// form: the reduction is Montgomery's with Orup's digits (dual_row), the carry between the parts is
// its quotient.
module dual_lane #(
    // bits of n, even, at least 16; H = N / 2 those of p, p at least 3
    parameter int unsigned N = 1024,
    parameter int unsigned W = 18,    // bits of a digit, 4 to 32
    parameter int unsigned V = 24,    // bits of a word, as in dual_row
    parameter int unsigned D = 2,     // as in dual_row
    localparam int unsigned H         = N / 2,
    localparam int unsigned MtBits    = (H + W - 1) / W * W,
    localparam int unsigned Digits    = (H + W + 2) / W + D + 1,
    localparam int unsigned Job       = Digits + D + 2,
    localparam int unsigned PhaseBits = $clog2(Job),
    localparam int unsigned Windows    = (H + 3) / 4,
    localparam int unsigned WindowBits = $clog2(Windows)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // From dual_sequencer. Its constants are those of the modulus: dual numbers, correct modulo
    // p^2, with parts that are not negative and at most M'.
    input  logic [PhaseBits-1:0] phase_i,
    input  logic [6:0][W-1:0]    constants_i,  // 2^H R (low, high), R^3, R^2, u
    input  logic [W-1:0]         unit_i,       // of u, one cycle later
    // Stable during an item.
    input  logic [MtBits-1:0]    mt_i,
    input  logic [H-1:0]         exponent_i,
    input  logic [WindowBits-1:0] windows_i,   // windows of the exponent after the first
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [W-1:0]         digit_i,      // of the ciphertext
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [W-1:0]         digit_o,      // of b'
    output logic                 foreign_o,    // with b': c^e is not 1 modulo p
    output logic                 busy_o,       // an item is inside
    output logic                 mul_o         // a product of dual numbers begins
);
    if (N < 16 || N % 2 != 0) begin : gen_bad
        $error("dual_lane: N must be even and at least 16");
    end

    localparam int unsigned T = Digits + 1;
    localparam int unsigned B = V + 2;
    localparam int unsigned Span = W * (D + 2);
    localparam int unsigned Period = (Span + V - 1) / V;
    localparam int unsigned Words = (Digits * W * Period + Span - 1) / Span;
    localparam int unsigned Upper = Words - Period;
    localparam int unsigned ChunkDigits = (H + W - 1) / W;
    localparam int unsigned IndexBits = $clog2(Digits);
    localparam int unsigned CountBits = $clog2(Digits + 1);

    // ---- The phase and its control signals; the row's cycle is 5 less (dual_row). ----

    // of the digits read, and one and two cycles later
    logic [IndexBits-1:0] index_0_q, index_1_q, index_2_q;
    logic valid_0_q, valid_1_q, valid_2_q;  // the index is below Digits
    logic advance_q, last_q;  // the last phase but one; the last
    logic load_q, clear_q, take_q, upper_q;  // of the row and dual_digits
    logic [IndexBits-1:0] row_index_q;                    // 0 in phase 6, the row's cycle 1
    // 0 a cycle before the result's first digit
    logic [PhaseBits-1:0] result_q;
    logic [IndexBits-1:0] result_index_q;                 // of the digit of the result
    logic result_valid_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {index_0_q, index_1_q, index_2_q, row_index_q, result_q, result_index_q} <= '0;
            {valid_0_q, valid_1_q, valid_2_q, advance_q, last_q, clear_q, take_q, upper_q, result_valid_q} <= '0;
        end else begin
            index_0_q      <= IndexBits'(phase_i);
            index_1_q      <= index_0_q;
            index_2_q      <= index_1_q;
            valid_0_q      <= phase_i < PhaseBits'(Digits);
            valid_1_q      <= valid_0_q;
            valid_2_q      <= valid_1_q;
            advance_q      <= phase_i == PhaseBits'(Job - 2);
            last_q         <= advance_q;
            clear_q        <= phase_i == PhaseBits'(5);
            if (phase_i == PhaseBits'(6)) take_q <= 1'b1;
            else if (phase_i == PhaseBits'(4 - D)) take_q <= 1'b0;
            upper_q        <= phase_i > PhaseBits'(6);
            row_index_q    <= clear_q ? '0 : row_index_q + 1'b1;
            result_q       <= phase_i == PhaseBits'(5 - D) ? '0 : result_q + 1'b1;
            result_index_q <= IndexBits'(result_q);
            result_valid_q <= result_q < PhaseBits'(Digits);
        end
    end

    // ---- The job. ----

    typedef enum logic [2:0] {
        One,
        FirstChunk,
        Chunk,
        Enter,
        Square,
        Entry,
        Exit
    } kind_e;
    typedef enum logic [1:0] {
        Idle,
        Running,
        Drain,
        Give
    } state_e;

    state_e state_q;
    kind_e kind;
    logic [1:0] job_q;                // of the operation: 0 to 1, or to 2
    logic [4:0] opening_q;            // operations before the windows: 0 to 20, then 21
    logic [2:0] within_q;             // operations of a window: 4 squares, then a product
    logic [WindowBits-1:0] left_q;    // windows after this one
    logic exit_q;
    logic [3:0] window;
    logic [4*Windows-1:0] exponent;
    logic three, last_job, cleared, given;

    assign busy_o   = state_q != Idle;
    assign exponent = (4 * Windows)'(exponent_i);
    digit_select #(
        .W(4),
        .Digits(Windows),
        .IndexBits(WindowBits)
    ) u_window (
        .number_i(exponent),
        .index_i (left_q),
        .digit_o (window)
    );
    always_comb begin
        unique case (opening_q)
            5'd0, 5'd20:      kind = One;
            5'd1:             kind = FirstChunk;
            5'd2, 5'd3, 5'd4: kind = Chunk;
            5'd5:             kind = Enter;
            5'd6:             kind = Square;
            5'd21:            kind = exit_q ? Exit : within_q == 3'd4 ? Entry : Square;
            default:          kind = Entry;
        endcase
    end
    assign three    = kind != One && kind != FirstChunk && kind != Square;
    assign last_job = job_q == (three ? 2'd2 : 2'd1);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            unique case (state_q)
                Idle:    if (advance_q && in_valid_i && cleared) state_q <= Running;
                Running: if (advance_q && exit_q && last_job) state_q <= Drain;
                Drain:   if (advance_q) state_q <= Give;
                default: if (given) state_q <= Idle;
            endcase
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni || state_q != Running) begin
            job_q     <= '0;
            opening_q <= '0;
            within_q  <= 3'd4;
            left_q    <= windows_i;
            exit_q    <= 1'b0;
        end else if (advance_q) begin
            job_q <= last_job ? '0 : job_q + 1'b1;
            if (last_job) begin
                if (opening_q != 5'd21) begin
                    opening_q <= opening_q + 1'b1;
                end else if (within_q != 3'd4) begin
                    within_q <= within_q + 1'b1;
                end else begin
                    within_q <= '0;
                    left_q   <= left_q - 1'b1;
                    exit_q   <= left_q == '0;
                end
            end
        end
    end

    typedef struct packed {
        logic low;                // the result is a; keep the quotient
        logic store;              // the result is b
        logic add;                // add the result to b
        logic write;              // write the result to the table
        logic [3:0] write_entry;
    } result_t;
    typedef struct packed {
        // The multiplier's digits.
        logic own_a;
        logic own_b;              // twice b
        logic from_table;
        logic from_constant;
        logic high;               // the high part of Y or Z
        logic [3:0] entry;
        logic [1:0] which;        // constant
        // The addend.
        logic text;               // digits of the ciphertext
        logic one;                // those of the constant
        logic minus_q;
        // The multiplicand.
        logic load;
        logic put_a;              // the next multiplicand is a
        logic put_b;              // b
        logic put_result;         // the last job's result
        // The result.
        result_t result;
    } job_t;

    job_t job, now_q;  // now_q from phase 0 on
    result_t past_q;              // of the previous job
    logic row_low_q;              // now_q.low, delayed to the row
    always_comb begin
        job               = '0;
        job.own_a         = kind == Square && job_q == 2'd0;
        job.own_b         = kind == Square && job_q == 2'd1;
        job.from_table    = kind == Entry;
        job.from_constant = kind == Chunk || kind == Enter || kind == Exit;
        job.high          = job_q == 2'd1;
        job.entry         = opening_q == 5'd21 ? window : 4'd1;
        job.text          = (kind == FirstChunk || kind == Chunk) && job_q == 2'd0;
        job.one           = kind == One;
        job.load          = job_q != 2'd1;
        job.put_a         = job_q == 2'd2;
        job.put_b         = job_q == 2'd1 && three;
        job.put_result    = job_q == 2'd1 && !three;
        job.result.low           = job_q == 2'd0;
        job.result.store         = job_q == 2'd1;
        job.result.add           = job_q == 2'd2;
        job.minus_q       = last_job;
        job.result.write         = (opening_q == 5'd0 || (opening_q >= 5'd5 && opening_q <= 5'd19)) && (job_q == 2'd0 || last_job);
        job.result.write_entry   = opening_q == 5'd0 ? '0 : 4'(opening_q - 5'd4);
        unique case (kind)
            Chunk:   job.which = 2'd0;
            Enter:   job.which = 2'd1;
            One:     job.which = 2'd2;
            default: job.which = 2'd3;
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            now_q     <= '0;
            past_q    <= '0;
            row_low_q <= 1'b0;
            mul_o     <= 1'b0;
            load_q    <= 1'b0;
        end else begin
            if (last_q) now_q <= state_q == Running ? job : '0;
            if (last_q) past_q <= now_q.result;
            if (clear_q) row_low_q <= now_q.result.low;
            mul_o  <= last_q && state_q == Running && job_q == 2'd0;
            load_q <= phase_i == PhaseBits'(2) && now_q.load;
        end
    end

    // ---- The memories of digits: X, and the quotient of its low part; the table; constants. ----

    logic [IndexBits-1:0] clear_index, b_address, out_index, store_index_q;
    logic [W-1:0] a_q, b_q, quotient_q, table_digit, constant_q, constant, q, store_q, cleared_digit;
    logic [CountBits-1:0] out_count_q;
    logic out_step, store_a_q, store_b_q, store_table_q, store_high_q;
    logic [3:0] store_entry_q;
    logic [W-1:0] a_digits [2**IndexBits];
    logic [W-1:0] b_digits [2**IndexBits];
    logic [W-1:0] quotient_digits [2**IndexBits];

    assign cleared_digit = cleared ? store_q : '0;
    assign b_address     = state_q == Give ? out_index : past_q.add ? IndexBits'(result_q) : index_0_q;

    always_ff @(posedge clk_i) begin
        if (store_a_q || !cleared) a_digits[cleared?store_index_q : clear_index] <= cleared_digit;
    end
    always_ff @(posedge clk_i) begin
        if (store_b_q || !cleared) b_digits[cleared?store_index_q : clear_index] <= cleared_digit;
    end
    always_ff @(posedge clk_i) begin
        if ((row_low_q && take_q) || !cleared) quotient_digits[cleared?row_index_q : clear_index] <= cleared ? q : '0;
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            a_q        <= '0;
            b_q        <= '0;
            quotient_q <= '0;
        end else begin
            a_q <= a_digits[index_0_q];
            if (state_q != Give || out_step) b_q <= b_digits[b_address];
            quotient_q <= valid_2_q && now_q.minus_q ? quotient_digits[index_2_q] : '0;
        end
    end

    dual_source #(
        .W(W),
        .IndexBits(IndexBits)
    ) u_source (
        .clk_i,
        .rst_ni,
        .cleared_o    (cleared),
        .clear_index_o(clear_index),
        .valid_i      (valid_0_q && now_q.from_table),
        .entry_i      (now_q.entry),
        .high_i       (now_q.high),
        .index_i      (index_0_q),
        .digit_o      (table_digit),
        .write_i      (store_table_q),
        .write_entry_i(store_entry_q),
        .write_high_i (store_high_q),
        .write_index_i(store_index_q),
        .write_digit_i(store_q)
    );

    always_comb begin
        unique case ({
            now_q.which, now_q.high
        })
            3'd0: constant = constants_i[0];
            3'd1: constant = constants_i[1];
            3'd2: constant = constants_i[2];
            3'd3: constant = constants_i[3];
            3'd4: constant = constants_i[4];
            3'd5: constant = constants_i[5];
            3'd6: constant = constants_i[6];
            3'd7: constant = '0;
        endcase
    end

    // ---- Balanced digits for the row; the addend; the next multiplicand. ----

    logic [W-1:0] plain, digit_q, z_1_q, z_2_q, put_digit_q, result;
    logic [W:0] raised;
    logic carry_q, top_q, put_q;
    logic [IndexBits-1:0] put_index_q;
    logic signed [W+1:0] addend_q;

    always_comb begin
        plain = table_digit;
        if (now_q.own_a) plain |= a_q;
        if (now_q.own_b) plain |= {b_q[W-2:0], top_q};
        if (now_q.from_constant) plain |= constant_q;
    end
    assign raised     = (W + 1)'(plain) + (W + 1)'(carry_q);
    assign in_ready_o = now_q.text && valid_2_q && index_2_q < IndexBits'(ChunkDigits);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {constant_q, digit_q, z_1_q, z_2_q, put_digit_q, put_index_q} <= '0;
            {carry_q, top_q, put_q} <= '0;
            addend_q <= '0;
        end else begin
            constant_q  <= valid_0_q && (now_q.from_constant || now_q.one) ? constant : '0;
            digit_q     <= valid_1_q ? raised[W-1:0] : '0;
            carry_q     <= valid_1_q && (raised[W] || raised[W-1]);
            top_q       <= valid_1_q && b_q[W-1];
            z_1_q       <= now_q.one ? constant_q : '0;
            z_2_q       <= in_ready_o ? digit_i : z_1_q;
            addend_q    <= $signed({2'b0, z_2_q}) - (W + 2)'($signed(quotient_q));
            put_q       <= now_q.put_result ? result_valid_q : valid_1_q && (now_q.put_a || now_q.put_b);
            put_index_q <= now_q.put_result ? result_index_q : index_1_q;
            put_digit_q <= now_q.put_result ? result : now_q.put_a ? a_q : b_q;
        end
    end

    // ---- The row, and the storing of its results. ----

    logic [Upper*B-1:0] y;
    logic [W:0] sum;
    logic sum_carry_q;

    dual_row #(
        .H(H),
        .W(W),
        .V(V),
        .D(D)
    ) u_row (
        .clk_i,
        .rst_ni,
        .step_i     (1'b1),
        .mt_i,
        .put_i      (put_q),
        .put_index_i(put_index_q),
        .put_digit_i(put_digit_q),
        .load_i     (load_q),
        .digit_i    (digit_q),
        .addend_i   (addend_q),
        .clear_i    (clear_q),
        .take_i     (take_q),
        .q_o        (q),
        .y_o        (y)
    );

    dual_digits #(
        .H(H),
        .W(W),
        .V(V),
        .D(D)
    ) u_digits (
        .clk_i,
        .rst_ni,
        .step_i (1'b1),
        .hold_i (clear_q),
        .y_i    (y),
        .q_i    (q),
        .index_i(row_index_q),
        .upper_i(upper_q),
        .digit_o(result)
    );

    assign sum = (W + 1)'(result) + (past_q.add ? (W + 1)'(b_q) : '0) + (W + 1)'(sum_carry_q);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {store_q, store_index_q, store_entry_q} <= '0;
            {store_a_q, store_b_q, store_table_q, store_high_q, sum_carry_q} <= '0;
        end else begin
            store_q       <= sum[W-1:0];
            sum_carry_q   <= result_valid_q && sum[W];
            store_a_q     <= result_valid_q && past_q.low;
            store_b_q     <= result_valid_q && (past_q.store || past_q.add);
            store_table_q <= result_valid_q && past_q.write;
            store_high_q  <= !past_q.low;
            store_index_q <= result_index_q;
            store_entry_q <= past_q.write_entry;
        end
    end

    // ---- Output of b', a digit at a time. ----

    assign out_index = IndexBits'(out_count_q);
    assign out_step  = !out_valid_o || out_ready_i;
    assign given     = out_step && out_count_q == CountBits'(Digits);
    assign digit_o   = b_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || state_q != Give) begin
            out_valid_o <= 1'b0;
            out_count_q <= '0;
        end else if (out_step) begin
            out_valid_o <= !given;
            out_count_q <= out_count_q + 1'b1;
        end
    end

    // ---- Whether a' is u: the job after the last one reads a' like every job. ----

    always_ff @(posedge clk_i) begin
        if (!rst_ni || state_q == Running) foreign_o <= 1'b0;
        else if (state_q == Drain && valid_1_q && a_q != unit_i) foreign_o <= 1'b1;
    end

    // The other phases: the last cycle of the row that matters is T + D.
    if (T + D + 1 != Job) begin : gen_inconsistent
        $error("dual_lane: a job takes T + D + 1 cycles");
    end
endmodule
