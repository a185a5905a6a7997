// SPDX-License-Identifier: MIT OR Apache-2.0
// Half of a Paillier decryption in dual numbers: L(c^e mod p^2) modulo p, with multipliers of half the width and no division.
//
// With M' = u p, the scaled modulus of mont_row for p, a number modulo M'^2 is kept as a + b M', a and b below 2 M'. Let REDC(T) = (T + Q M') / R with
// quotient digits Q. Then, modulo M'^2,
//
//   (a + b M') (c + d M') / R = a' + b' M',   a' = REDC(a c) with quotient digits Q,   b' = REDC(a d + b c - Q):
//
// a c = R a' - Q M', and that - Q is taken from the second sum digit by digit as it appears (Q[i] in step i, a cycle behind). Bounds: with R >= 8 M', a, b,
// c, d < 2 M': a' < 4 M'^2 / R + M' <= 1.5 M', b' < 8 M'^2 / R + M' <= 2 M', and b' > -Q / R > -1 is not negative.
//
// The lane holds X = (a, b). A step computes X <- (X Y + Z) / R, where Y is X itself (a square), a constant or an entry of the table, and Z enters as a digit
// a step in the lowest place:
//
//   one      Y = 0, Z = R^2                                             X = R, the number 1 in Montgomery form; it becomes entry 0
//   chunks   Y = 0, then 3 times Y = 2^H R; Z = a quarter of c           X = c / R (Horner, highest first)
//   enter    Y = R^3                                                    X = c R
//   table    a square, then 13 times Y = entry 1                        X = c^2 R, ..., c^15 R; each becomes an entry
//   one      Y = 0, Z = R^2
//   window   4 squares, Y = entry [next 4 bits of e], ceil(H / 4) times X = c^e R
//   exit     Y = (u, 0), which is not in Montgomery form
//
// The last gives u c^e modulo M'^2. If c^e = 1 + L p modulo p^2, then u c^e = u + L M' modulo p M', so a' is u or u + M', and L = b' or b' + 1
// modulo p; u and M' are odd, so a' even tells the second. l = b' + (a' even) <= 2 M'.
//
// A ciphertext comes as 4 ceil(H / W) digits: its quarters of H bits, the highest first, each from its lowest digit on and filled up with zeros. The digits of
// an item are there whenever they are asked for, from its first, which starts the work, to its last.
//
// All entries are read for every product (dual_source). Neither time nor the order of steps depends on any value.
// Latency (23 + 5 ceil(H / 4)) Step + 8 cycles from the first digit's being there to giving l, Step = T + D + 4 as in mont_steps with N = H; one item in
// latency + 1 cycles. After a reset the table is cleared first, which takes 2^ceil(log2 Digits) cycles.
// Multipliers: 3 words of the operands and 2 of mt, of W x V bits (dual_row). Source of the dual form: the reduction is Montgomery's with Orup's digits (mont_row), the
// carry between the parts its quotient.
module dual_lane #(
    parameter int unsigned N = 1024,  // bits of n, even, at least 16; H = N / 2 those of p
    parameter int unsigned W = 16,    // bits of a digit, 4 to 32; H + 2 is no multiple of W, so that R >= 8 M'
    parameter int unsigned V = W,     // bits of a word, as in dual_row
    parameter int unsigned D = 2,     // as in mont_row
    localparam int unsigned H      = N / 2,
    localparam int unsigned MtBits = (H + W - 1) / W * W,
    localparam int unsigned Digits = (H + W) / W + D + 1,
    localparam int unsigned OpBits = Digits * W
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // Constants, stable while an item is inside: those of the modulus, e, and dual numbers that are right modulo p^2, parts below 2 M'.
    input  logic [MtBits-1:0]    mt_i,
    input  logic [W*(D+1)-1:0]   unit_i,        // u
    input  logic [H-1:0]         exponent_i,
    input  logic [OpBits-1:0]    shift_low_i,   // 2^H R
    input  logic [OpBits-1:0]    shift_high_i,
    input  logic [OpBits-1:0]    enter_low_i,   // R^3
    input  logic [OpBits-1:0]    enter_high_i,
    input  logic [OpBits-1:0]    one_low_i,     // R^2
    input  logic [OpBits-1:0]    one_high_i,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [W-1:0]         digit_i,       // of the ciphertext
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [OpBits-1:0]    l_o,
    output logic                 mul_o          // a product of dual numbers begins
);
    if (N < 16 || N % 2 != 0 || (H + 2) % W == 0) begin : gen_bad
        $error("dual_lane: N must be even and at least 16, N / 2 + 2 no multiple of W");
    end

    localparam int unsigned T           = (H + W + 1) / W + D + 2;
    localparam int unsigned Step        = T + D + 4;
    localparam int unsigned B           = V + 2;
    localparam int unsigned Span        = W * (D + 2);
    localparam int unsigned Period      = (Span + V - 1) / V;
    localparam int unsigned Words       = ((H + W * (D + 1) + 1) * Period + Span - 1) / Span;
    localparam int unsigned Upper       = Words - Period;
    localparam int unsigned Windows     = (H + 3) / 4;
    localparam int unsigned ChunkDigits = (H + W - 1) / W;
    localparam int unsigned CountBits   = $clog2(Step);
    localparam int unsigned IndexBits   = $clog2(Digits);
    localparam int unsigned WindowBits  = $clog2(Windows + 1);

    // ---- Which step, two cycles ahead of the rows: memories need the time. ----

    typedef enum logic [3:0] { One, FirstChunk, Chunk, Enter, Square, Entry, Exit, Drain, Finish } kind_e;
    typedef enum logic [1:0] { Idle, Running, Done } state_e;

    state_e state_q;
    kind_e kind;
    logic [CountBits-1:0] ahead_q;    // cycle of the step, two ahead
    logic [4:0] opening_q;            // steps before the windows: 0 to 20, then 21
    logic [2:0] within_q;             // steps of a window: 4 squares, then a product
    logic [WindowBits-1:0] left_q;    // windows after this one
    logic [1:0] closing_q;            // 1 exit, 2 drain, 3 finish
    logic [4*Windows-1:0] exponent_q; // next window on top
    logic [3:0] entry;
    logic last_ahead, cleared;

    assign out_valid_o = state_q == Done;
    assign last_ahead  = ahead_q == CountBits'(Step - 1);

    always_comb begin
        entry = 4'd1;
        unique case (closing_q)
            2'd1: kind = Exit;
            2'd2: kind = Drain;
            2'd3: kind = Finish;
            default: begin
                unique case (opening_q)
                    5'd0, 5'd20:      kind = One;
                    5'd1:             kind = FirstChunk;
                    5'd2, 5'd3, 5'd4: kind = Chunk;
                    5'd5:             kind = Enter;
                    5'd6:             kind = Square;
                    5'd21: begin
                        kind  = within_q == 3'd4 ? Entry : Square;
                        entry = exponent_q[4*Windows-1-:4];
                    end
                    default:          kind = Entry;
                endcase
            end
        endcase
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            unique case (state_q)
                Idle:    if (in_valid_i && cleared) state_q <= Running;
                Running: if (kind == Finish && ahead_q == CountBits'(6)) state_q <= Done;
                Done:    if (out_ready_i) state_q <= Idle;
                default: state_q <= Idle;
            endcase
        end
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            ahead_q    <= '0;
            opening_q  <= '0;
            within_q   <= '0;
            closing_q  <= '0;
            left_q     <= '0;
            exponent_q <= '0;
        end else if (state_q != Running) begin
            ahead_q    <= '0;
            opening_q  <= '0;
            within_q   <= '0;
            closing_q  <= '0;
            left_q     <= WindowBits'(Windows - 1);
            exponent_q <= (4*Windows)'(exponent_i);
        end else begin
            ahead_q <= last_ahead ? '0 : ahead_q + 1'b1;
            if (last_ahead) begin
                if (opening_q != 5'd21) begin
                    opening_q <= opening_q + 1'b1;
                end else if (closing_q != 2'd0) begin
                    closing_q <= closing_q + 1'b1;
                end else if (within_q != 3'd4) begin
                    within_q <= within_q + 1'b1;
                end else begin
                    within_q   <= '0;
                    left_q     <= left_q - 1'b1;
                    exponent_q <= exponent_q << 4;
                    if (left_q == '0) closing_q <= 2'd1;
                end
            end
        end
    end

    // ---- The same in time for the low rows (two cycles later) and for the high rows (three). ----

    typedef struct packed {
        logic own;                        // Y = X
        logic one;                        // Z = R^2
        logic chunk;                      // Z = a quarter of c
        logic drain;
        logic write;                      // X becomes an entry of the table
        logic [3:0] write_entry;
    } step_t;

    step_t step, low_step_q, high_step_q;
    logic begins;
    logic [2:0] digit_valid_q;            // one, two, three cycles after ahead_q
    logic [2:0][IndexBits-1:0] index_q;
    logic digit_valid;
    logic [IndexBits-1:0] index;

    assign step.own         = kind == Square;
    assign step.one         = kind == One;
    assign step.chunk       = kind == FirstChunk || kind == Chunk;
    assign step.drain       = kind == Drain;
    assign step.write       = closing_q == 2'd0 && (opening_q == 5'd1 || (opening_q >= 5'd6 && opening_q <= 5'd20));
    assign step.write_entry = opening_q == 5'd1 ? 4'd0 : 4'(opening_q - 5'd5);
    assign begins           = state_q == Running && ahead_q == CountBits'(1) && kind != Finish;
    assign index            = IndexBits'(ahead_q);
    assign digit_valid      = state_q == Running && ahead_q < CountBits'(Digits);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            digit_valid_q <= '0;
            index_q       <= '0;
            low_step_q    <= '0;
            high_step_q   <= '0;
        end else begin
            digit_valid_q <= {digit_valid_q[1:0], digit_valid};
            index_q       <= {index_q[1:0], index};
            if (ahead_q == CountBits'(1)) low_step_q <= step;
            high_step_q <= low_step_q;
        end
    end

    logic low_first, low_clear, low_take_q, low_feed, low_ahead, low_last, low_busy;
    logic high_first_q, high_clear_q, high_take_q_q, high_feed_q, high_last_q;

    mont_steps #(.N(H), .W(W), .D(D)) u_steps (
        .clk_i,
        .rst_ni,
        .start_i (begins),
        .stay_i  (1'b0),
        .busy_o  (low_busy),
        .first_o (low_first),
        .clear_o (low_clear),
        .take_q_o(low_take_q),
        .feed_o  (low_feed),
        .ahead_o (low_ahead),
        .last_o  (low_last)
    );
    assign mul_o = low_first && !low_step_q.drain;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {high_first_q, high_take_q_q, high_feed_q, high_last_q} <= '0;
            high_clear_q <= 1'b1;
        end else begin
            {high_first_q, high_clear_q, high_take_q_q, high_feed_q, high_last_q} <=
                {low_first, low_clear, low_take_q, low_feed, low_last};
        end
    end

    // ---- Digits of Y or Z from the table and the constants, in time for each half. ----

    logic [W-1:0] low_digit, high_digit, low_own, high_own;
    logic from_table, from_constant, high_table_q, high_constant_q;
    logic [1:0] which, high_which_q;
    logic [3:0] high_entry_q;

    assign from_table    = kind == Entry;
    assign from_constant = kind == Chunk || kind == Enter || kind == One || kind == Exit;
    always_comb begin
        unique case (kind)
            Chunk:   which = 2'd0;
            Enter:   which = 2'd1;
            One:     which = 2'd2;
            default: which = 2'd3;
        endcase
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) {high_table_q, high_constant_q, high_which_q, high_entry_q} <= '0;
        else {high_table_q, high_constant_q, high_which_q, high_entry_q} <= {from_table, from_constant, which, entry};
    end

    logic low_cleared, high_cleared;
    assign cleared = low_cleared && high_cleared;

    dual_source #(.W(W), .Digits(Digits)) u_low_source (
        .clk_i,
        .rst_ni,
        .cleared_o    (low_cleared),
        .index_i      (index),
        .valid_i      (digit_valid),
        .table_i      (from_table),
        .entry_i      (entry),
        .constant_i   (from_constant),
        .which_i      (which),
        .shift_i      (shift_low_i),
        .enter_i      (enter_low_i),
        .one_i        (one_low_i),
        .unit_i       (OpBits'(unit_i)),
        .digit_o      (low_digit),
        .write_i      (low_step_q.write && digit_valid_q[1]),
        .write_entry_i(low_step_q.write_entry),
        .write_index_i(index_q[1]),
        .write_digit_i(low_own)
    );

    dual_source #(.W(W), .Digits(Digits)) u_high_source (
        .clk_i,
        .rst_ni,
        .cleared_o    (high_cleared),
        .index_i      (index_q[0]),
        .valid_i      (digit_valid_q[0]),
        .table_i      (high_table_q),
        .entry_i      (high_entry_q),
        .constant_i   (high_constant_q),
        .which_i      (high_which_q),
        .shift_i      (shift_high_i),
        .enter_i      (enter_high_i),
        .one_i        (one_high_i),
        .unit_i       ('0),
        .digit_o      (high_digit),
        .write_i      (high_step_q.write && digit_valid_q[2]),
        .write_entry_i(high_step_q.write_entry),
        .write_index_i(index_q[2]),
        .write_digit_i(high_own)
    );

    // ---- The two halves. ----

    logic [Words*B-1:0] a, b;
    logic [Upper*B-1:0] low_upper, high_upper;
    logic [W-1:0] c, c_late_q, d, low_q, high_q, taken_q;
    logic [W-1:0] high_taken_q;
    logic [1:0][W-1:0] low_z_q, high_z_q;  // Z on its way: digit k in cycle k + 2

    assign in_ready_o = low_step_q.chunk && digit_valid_q[1] && index_q[1] < IndexBits'(ChunkDigits);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            c_late_q <= '0;
            low_z_q  <= '0;
            high_z_q <= '0;
        end else begin
            c_late_q <= c;
            low_z_q  <= {low_z_q[0], in_ready_o ? digit_i : low_step_q.one ? low_digit : '0};
            high_z_q <= {high_z_q[0], high_step_q.one ? high_digit : '0};
        end
    end

    dual_digits #(.N(H), .W(W), .V(V), .D(D)) u_low_digits (
        .clk_i,
        .rst_ni,
        .first_i      (low_first),
        .load_i       (low_last),
        .upper_i      (low_upper),
        .feed_i       (low_feed),
        .q_i          (low_q),
        .index_i      (index_q[1]),
        .valid_i      (digit_valid_q[1]),
        .other_i      (!low_step_q.own),
        .other_digit_i(low_step_q.one ? '0 : low_digit),
        .words_o      (a),
        .own_o        (low_own),
        .digit_o      (c)
    );

    dual_digits #(.N(H), .W(W), .V(V), .D(D)) u_high_digits (
        .clk_i,
        .rst_ni,
        .first_i      (high_first_q),
        .load_i       (high_last_q),
        .upper_i      (high_upper),
        .feed_i       (high_feed_q),
        .q_i          (high_q),
        .index_i      (index_q[2]),
        .valid_i      (digit_valid_q[2]),
        .other_i      (!high_step_q.own),
        .other_digit_i(high_step_q.one ? '0 : high_digit),
        .words_o      (b),
        .own_o        (high_own),
        .digit_o      (d)
    );

    dual_row #(.N(H), .W(W), .V(V), .D(D), .Terms(1)) u_low (
        .clk_i,
        .rst_ni,
        .clear_i  (low_clear),
        .take_q_i (low_take_q),
        .mt_i,
        .a_i      (a),
        .b_i      (c),
        .e_i      ('0),
        .f_i      ('0),
        .addend_i ({1'b0, low_z_q[1]}),
        .q_o      (low_q),
        .taken_q_o(taken_q),
        .y_o      (low_upper)
    );

    dual_row #(.N(H), .W(W), .V(V), .D(D), .Terms(2)) u_high (
        .clk_i,
        .rst_ni,
        .clear_i  (high_clear_q),
        .take_q_i (high_take_q_q),
        .mt_i,
        .a_i      (b),
        .b_i      (c_late_q),
        .e_i      (a),
        .f_i      (d),
        .addend_i ($signed({1'b0, high_z_q[1]}) - $signed({1'b0, taken_q})),
        .q_o      (high_q),
        .taken_q_o(high_taken_q),
        .y_o      (high_upper)
    );

    // ---- l = b' + (a' even), a digit a cycle. ----

    logic [OpBits-1:0] l_q;
    logic carry_q;
    logic [W:0] l_digit;
    assign l_digit = (W + 1)'(high_own) + (W + 1)'(carry_q);
    assign l_o     = l_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            carry_q <= 1'b0;
            l_q     <= '0;
        end else if (low_first) begin
            carry_q <= !low_own[0];
        end else if (high_step_q.drain && digit_valid_q[2]) begin
            carry_q <= l_digit[W];
            l_q     <= OpBits'({l_digit[W-1:0], l_q} >> W);
        end
    end
    // The rows look at the modulus of the low half alone.
    logic unused;
    assign unused = ^{high_taken_q, high_step_q.chunk, low_busy, low_ahead};
endmodule
