// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplies dual numbers modulo a Paillier modulus n^2, with a row of multipliers for n: any two
// numbers, and squares in two thirds of the time.
//
// Numbers modulo n^2 are kept as a + b M', M' the scaled modulus of dual_row for n, and a product
// is divided by R, all as in dual_lane. A product is three jobs of the row, a square (square_i,
// with b_i equal to a_i) two. Parts are in two's complement, {high, low}, with dual_lane's bounds:
// low parts within 0.65 M', high ones within 1.4 M', constants not negative and at most M'.
//
// An integer x < 2^(2 H) enters with enter_i, as a_i, together with Y = 2^H as a dual number as
// b_i. With x = x_1 2^H + x_0 the result is (x_1 Y + x_0) / R, where x_0 is added to the lowest
// positions in the first job. |x_1 Y + x_0| / R < M' / 2^(W (D+1)), so its parts are within 8/15
// M' + 1 and 16/15 M' + 2. A product with R^3 then gives x R. To leave, multiply x R by (u, 0), u =
// -n^-1 mod 2^(W (D+1)): that gives low = u v and high with x = v + n high modulo n^2, |v| < n, as
// u divides M' and the number that is divided by R. Multiplying by (u, m) gives x (1 + m n), since
// u + m M' = u (1 + m n).
//
// Jobs follow each other without a gap, each in the Job = Digits + D + 2 cycles of the row.
// Operands are accepted one job ahead: their multiplicand is assembled while the last job of the
// previous product runs. The digits are those of a_i. Operands and results are in registers that
// shift by a digit. Throughput: a product every 3 Job cycles, a square every 2 Job. This holds if
// operands are available when requested, once per job, and results are accepted within Job cycles:
// no product begins while a result waits. Latency from accepting operands to offering the result: 5
// Job + 6 - 2 D cycles, of a square 4 Job + 6 - 2 D. While the unit is idle, operands are accepted
// at once. The time and the order of jobs depend on enter_i and square_i, on no number.
//
// With Fold = 2 every cycle above is two, and there are half as many multipliers. Multipliers:
// those of dual_row.
module dual_mul #(
    parameter int unsigned H = 1024,  // bits of the modulus n, and the others as in dual_row
    parameter int unsigned W = 18,
    parameter int unsigned V = 24,
    parameter int unsigned D = 2,
    parameter int unsigned Fold = 1,
    localparam int unsigned MtBits = (H + W - 1) / W * W,
    localparam int unsigned Digits = (H + W + 2) / W + D + 1,
    localparam int unsigned OpBits = Digits * W
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic [MtBits-1:0]   mt_i,         // of n (dual_row), stable while any product is inside
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic                enter_i,
    input  logic                square_i,
    input  logic [2*OpBits-1:0] a_i,
    input  logic [2*OpBits-1:0] b_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [2*OpBits-1:0] r_o,
    output logic                product_o     // a product begins
);
    localparam int unsigned Job = Digits + D + 2;
    localparam int unsigned Span = W * (D + 2);
    localparam int unsigned Period = (Span + V - 1) / V;
    localparam int unsigned Words = (Digits * W * Period + Span - 1) / Span;
    localparam int unsigned Upper = Words - Period;
    localparam int unsigned B = V + 2;
    localparam int unsigned IndexBits = $clog2(Digits);
    localparam int unsigned PhaseBits = $clog2(Job);

    // Steps of Fold cycles: all registers change at the end of the last one.
    logic step;
    if (Fold == 1) begin : gen_always
        assign step = 1'b1;
    end else begin : gen_second
        logic step_q;
        assign step = step_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) step_q <= 1'b0;
            else step_q <= !step_q;
        end
    end

    // ---- The phase of a job and its control signals; the row's cycle is 6 less (dual_row). ----

    logic [PhaseBits-1:0] phase_q, result_q;
    logic [IndexBits-1:0] index_1_q, index_0_q, row_index_q;
    logic valid_0_q, valid_1_q, valid_2_q;  // digits leave the registers; are balanced; are added
    logic boundary, quiet, waiting, clear_q, take_q, upper_q, load_q, result_valid_q, result_last_q;
    assign boundary = phase_q == '0;
    assign waiting  = boundary && quiet && !in_valid_i;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {phase_q, result_q, index_0_q, index_1_q, row_index_q} <= '0;
            {valid_0_q, valid_1_q, valid_2_q, clear_q, take_q, upper_q, result_valid_q, result_last_q} <= '0;
        end else if (step) begin
            phase_q   <= phase_q == PhaseBits'(Job - 1) || waiting ? '0 : phase_q + 1'b1;
            index_0_q <= IndexBits'(phase_q);
            index_1_q <= index_0_q;
            valid_0_q <= phase_q < PhaseBits'(Digits) && !waiting;
            valid_1_q <= valid_0_q;
            valid_2_q <= valid_1_q;
            clear_q   <= phase_q == PhaseBits'(5);
            if (phase_q == PhaseBits'(6)) take_q <= 1'b1;
            else if (phase_q == PhaseBits'(4 - D)) take_q <= 1'b0;
            upper_q        <= phase_q > PhaseBits'(6);
            row_index_q    <= clear_q ? '0 : row_index_q + 1'b1;
            result_q       <= phase_q == PhaseBits'(5 - D) ? '0 : result_q + 1'b1;
            result_valid_q <= result_q < PhaseBits'(Digits);
            result_last_q  <= result_q == PhaseBits'(Digits - 1);
        end
    end

    // ---- The job. ----

    typedef struct packed {
        logic low;     // the result is the low part; keep the quotient
        logic high;    // the result is the high part
        logic add;     // add the result to the high part
        logic finish;  // this job completes the product
    } result_t;
    // the next product: its operands are here; its multiplicand is being assembled
    logic held_q, held_square_q, held_enter_q, put_low_q;
    logic active_q, square_q, enter_q;  // the product in progress
    logic [1:0] job_q;
    logic last_job, entering_last, start, take, full_q;
    logic [1:0] drain_q;
    result_t now, past_q;
    logic row_low_q;

    assign last_job      = job_q == (square_q ? 2'd1 : 2'd2);
    assign entering_last = job_q == (square_q ? 2'd0 : 2'd1);
    assign quiet         = !active_q && !held_q && drain_q == '0;
    assign in_ready_o    = step && boundary && !held_q && (!active_q || entering_last || last_job);
    assign take          = in_valid_i && in_ready_o;
    assign start         = boundary && held_q && (!active_q || last_job) && !out_valid_o && !full_q;

    always_comb begin
        now        = '0;
        now.low    = active_q && job_q == 2'd0;
        now.high   = active_q && job_q == 2'd1;
        now.add    = active_q && job_q == 2'd2;
        now.finish = active_q && last_job;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {held_q, held_square_q, held_enter_q, put_low_q, active_q, square_q, enter_q} <= '0;
            {job_q, drain_q} <= '0;
            {past_q, row_low_q, load_q} <= '0;
        end else if (step) begin
            if (boundary) begin
                put_low_q <= take;
                held_q    <= take || (held_q && !start);
                active_q  <= start || (active_q && !last_job);
                job_q     <= start || last_job ? '0 : job_q + {1'b0, active_q};
                drain_q   <= active_q ? 2'd2 : drain_q - {1'b0, drain_q != '0};
                past_q    <= now;
            end
            if (take) {held_square_q, held_enter_q} <= {square_i, enter_i};
            if (start) {square_q, enter_q} <= {held_square_q, held_enter_q};
            if (clear_q) row_low_q <= now.low;
            load_q <= phase_q == PhaseBits'(2) && active_q && job_q != 2'd1;
        end
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) product_o <= 1'b0;
        else product_o <= start && step;
    end

    // ---- Operands: of the next product, then of this one. A register's lowest digit leaves first.
    // ----

    logic [OpBits-1:0] held_low_q, held_high_q;  // a_i
    logic [OpBits-1:0] digits_low_q, digits_high_q;  // the same for the product in progress
    logic [OpBits-1:0] factor_low_q, factor_high_q;  // b_i
    logic put, put_high, move_low, move_high, own_high;
    assign put_high  = active_q && job_q == 2'd1 && !square_q;
    assign put       = put_low_q || put_high;
    assign own_high  = active_q && job_q == 2'd1;
    assign move_low  = active_q && !own_high && valid_1_q;
    // With enter_i, x_0 leaves in the first job and zeros in the second.
    assign move_high = own_high ? valid_1_q : active_q && enter_q && job_q == 2'd0 && valid_2_q;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            held_low_q    <= OpBits'(0);
            held_high_q   <= OpBits'(0);
            factor_low_q  <= OpBits'(0);
            factor_high_q <= OpBits'(0);
            digits_low_q  <= OpBits'(0);
            digits_high_q <= OpBits'(0);
        end else if (step) begin
            if (take) begin
                held_low_q  <= enter_i ? OpBits'(a_i[2*H-1:H]) : a_i[OpBits-1:0];
                held_high_q <= enter_i ? OpBits'(a_i[H-1:0]) : a_i[2*OpBits-1:OpBits];
            end
            if (start) digits_low_q <= held_low_q;
            else if (move_low) digits_low_q <= {digits_low_q[W-1:0], digits_low_q[OpBits-1:W]};
            if (start) digits_high_q <= held_high_q;
            else if (move_high) digits_high_q <= digits_high_q >> W;
            if (take) factor_low_q <= b_i[OpBits-1:0];
            else if (put_low_q && valid_1_q) factor_low_q <= factor_low_q >> W;
            if (take) factor_high_q <= b_i[2*OpBits-1:OpBits];
            else if (put_high && valid_1_q) factor_high_q <= factor_high_q >> W;
        end
    end

    // ---- Balanced digits for the row; the quotient of the low part and the addend; the next
    // multiplicand. ----

    logic [W-1:0] plain, digit_q, z_q, quotient_q, put_digit_q, q;
    logic [W:0] raised;
    logic carry_q, top_q, put_q, minus;
    logic [IndexBits-1:0] put_index_q;
    logic [OpBits-1:0] quotients_q;
    logic signed [W+1:0] addend_q;
    assign minus = active_q && last_job;

    always_comb begin
        plain = '0;
        if (active_q && !own_high) plain = digits_low_q[W-1:0];
        if (own_high) plain = square_q ? {digits_high_q[W-2:0], top_q} : digits_high_q[W-1:0];
    end
    assign raised = (W + 1)'(plain) + (W + 1)'(carry_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            {digit_q, z_q, quotient_q, put_digit_q, put_index_q} <= '0;
            {carry_q, top_q, put_q} <= '0;
            quotients_q <= OpBits'(0);
            addend_q    <= '0;
        end else if (step) begin
            digit_q    <= valid_1_q ? raised[W-1:0] : '0;
            carry_q    <= valid_1_q && (raised[W] || raised[W-1]);
            top_q      <= valid_1_q && digits_high_q[W-1];
            z_q        <= valid_2_q && active_q && enter_q && job_q == 2'd0 ? digits_high_q[W-1:0] : '0;
            quotient_q <= valid_2_q && minus ? quotients_q[W-1:0] : '0;
            if ((row_low_q && take_q) || (valid_2_q && minus)) quotients_q <= {q, quotients_q[OpBits-1:W]};
            addend_q    <= $signed({2'b0, z_q}) - (W + 2)'($signed(quotient_q));
            put_q       <= put && valid_1_q;
            put_index_q <= index_1_q;
            put_digit_q <= put_high ? factor_high_q[W-1:0] : factor_low_q[W-1:0];
        end
    end

    // ---- The row. ----

    logic [Upper*B-1:0] y;
    logic [W-1:0] result;
    dual_row #(
        .H(H),
        .W(W),
        .V(V),
        .D(D),
        .Fold(Fold)
    ) u_row (
        .clk_i,
        .rst_ni,
        .step_i     (step),
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
        .D(D),
        .Fold(Fold)
    ) u_digits (
        .clk_i,
        .rst_ni,
        .step_i (step),
        .hold_i (clear_q),
        .y_i    (y),
        .q_i    (q),
        .index_i(row_index_q),
        .upper_i(upper_q),
        .digit_o(result)
    );

    // ---- The result: the low part, and the high part, the sum of two jobs in a product. ----

    logic [OpBits-1:0] low_q, high_q;
    logic [W:0] sum;
    logic sum_carry_q;
    assign sum = (W + 1)'(result) + (past_q.add ? (W + 1)'(high_q[W-1:0]) : '0) + (W + 1)'(sum_carry_q);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            low_q       <= OpBits'(0);
            high_q      <= OpBits'(0);
            sum_carry_q <= 1'b0;
            full_q      <= 1'b0;
            out_valid_o <= 1'b0;
            r_o         <= (2 * OpBits)'(0);
        end else begin
            if (step) begin
                sum_carry_q <= result_valid_q && sum[W];
                if (result_valid_q && past_q.low) low_q <= {result, low_q[OpBits-1:W]};
                if (result_valid_q && (past_q.high || past_q.add)) high_q <= {sum[W-1:0], high_q[OpBits-1:W]};
                if (result_last_q && past_q.finish) full_q <= 1'b1;
                else if (!out_valid_o) full_q <= 1'b0;
            end
            if (!out_valid_o) begin
                out_valid_o <= full_q && step;
                r_o         <= {high_q, low_q};
            end else if (out_ready_i) begin
                out_valid_o <= 1'b0;
            end
        end
    end
endmodule
