// SPDX-License-Identifier: MIT OR Apache-2.0
// Dual lanes in parallel, in step and with the same constants: L(c^e mod p^2) modulo p, one item
// per lane at a time.
//
// Ciphertexts arrive one after the other, digit by digit as in dual_lane, and are distributed to
// the lanes round-robin. All lanes take the same time, so results return in the same order. M' is
// added to a lane's result, |b'| < 0.65 M' and correct modulo p: l is correct modulo p, and 0 < l <
// 2 M'. foreign_o says that an item's c^e is not 1 modulo p and its l meaningless.
//
// Throughput, once filled: Lanes items per Interval = (Jobs + 2) Job cycles, Jobs = 54 + 11
// (windows_i + 1) and Job = Digits + D + 2 as in dual_lane. This holds if digits are available when
// requested, results are accepted within Job cycles, and Lanes < Jobs / 16. Latency Interval - 3
// Job + Digits - 1 cycles from accepting the first digit to offering l.
module dual_lanes #(
    parameter int unsigned N     = 1024,  // as in dual_lane
    parameter int unsigned Lanes = 1,     // at least 1
    parameter int unsigned W     = 18,
    parameter int unsigned V     = 24,
    parameter int unsigned D     = 2,
    localparam int unsigned H      = N / 2,
    localparam int unsigned MtBits = (H + W - 1) / W * W,
    localparam int unsigned Digits = (H + W + 2) / W + D + 1,
    localparam int unsigned OpBits = Digits * W,
    localparam int unsigned WindowBits = $clog2((H + 3) / 4)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // Constants, stable while any item is inside: those of the modulus, e, and dual numbers,
    // correct modulo p^2, with parts that are not negative and at most M'.
    input  logic [MtBits-1:0]    mt_i,
    input  logic [W*(D+1)-1:0]   unit_i,        // u
    input  logic [H-1:0]         exponent_i,
    input  logic [WindowBits-1:0] windows_i,    // windows of 4 bits of e after the first
    input  logic [OpBits-1:0]    shift_low_i,   // 2^H R
    input  logic [OpBits-1:0]    shift_high_i,
    input  logic [OpBits-1:0]    enter_low_i,   // R^3
    input  logic [OpBits-1:0]    enter_high_i,
    input  logic [OpBits-1:0]    one_low_i,     // R^2
    input  logic [OpBits-1:0]    one_high_i,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [W-1:0]         digit_i,       // of the ciphertext
    input  logic                 last_i,        // the ciphertext's last
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [OpBits-1:0]    l_o,
    output logic                 foreign_o,
    output logic [Lanes-1:0]     mul_o          // a product of dual numbers begins in this lane
);
    if (Lanes < 1) begin : gen_bad
        $error("dual_lanes: Lanes must be at least 1");
    end

    localparam int unsigned PhaseBits = $clog2(Digits + D + 2);
    localparam int unsigned CountBits = $clog2(Digits);

    logic [PhaseBits-1:0] phase;
    logic [6:0][W-1:0] constants;

    logic [Lanes-1:0] deal, collect, lane_ready, lane_valid, lane_busy, lane_foreign;
    logic [Lanes-1:0][W-1:0] lane_digits;
    logic [W-1:0] digit, unit_q;
    logic digit_valid, digit_ready, digit_last;

    dual_sequencer #(
        .H(H),
        .W(W),
        .D(D)
    ) u_pace (
        .clk_i,
        .rst_ni,
        .wait_i     (!in_valid_i && lane_busy == '0),
        .constants_i({OpBits'(unit_i), one_high_i, one_low_i, enter_high_i, enter_low_i, shift_high_i, shift_low_i}),
        .phase_o    (phase),
        .digits_o   (constants)
    );

    // Distribution and collection.
    assign in_ready_o  = |(lane_ready & deal);
    assign digit_valid = |(lane_valid & collect);

    stream_round_robin #(
        .Takers(Lanes)
    ) u_deal (
        .clk_i,
        .rst_ni,
        .transfer_i(in_valid_i && in_ready_o && last_i),
        .turn_o    (deal)
    );
    stream_round_robin #(
        .Takers(Lanes)
    ) u_collect (
        .clk_i,
        .rst_ni,
        .transfer_i(digit_valid && digit_ready && digit_last),
        .turn_o    (collect)
    );

    for (genvar i = 0; i < int'(Lanes); i++) begin : gen_lane
        dual_lane #(
            .N(N),
            .W(W),
            .V(V),
            .D(D)
        ) u_lane (
            .clk_i,
            .rst_ni,
            .phase_i    (phase),
            .constants_i(constants),
            .unit_i     (unit_q),
            .mt_i,
            .exponent_i,
            .windows_i,
            .in_valid_i (in_valid_i && deal[i]),
            .in_ready_o (lane_ready[i]),
            .digit_i,
            .out_valid_o(lane_valid[i]),
            .out_ready_i(digit_ready && collect[i]),
            .digit_o    (lane_digits[i]),
            .foreign_o  (lane_foreign[i]),
            .busy_o     (lane_busy[i]),
            .mul_o      (mul_o[i])
        );
    end

    // The digit of u that the lanes compare.
    always_ff @(posedge clk_i) begin
        if (!rst_ni) unit_q <= '0;
        else unit_q <= constants[6];
    end

    always_comb begin
        digit = '0;
        for (int i = 0; i < int'(Lanes); i++) digit |= collect[i] ? lane_digits[i] : '0;
    end

    // Adds M' = mt 2^(W (D+1)) - 1, one cycle later: its digits, with an initial carry of -1.
    logic [OpBits-1:0] mt;
    logic [W-1:0] mt_digit, mt_digit_q, digit_q;
    logic [CountBits-1:0] count_q;
    logic take, taken_q, last_q, full_q;
    logic signed [1:0] carry_q;
    logic signed [W+1:0] sum;

    assign mt          = OpBits'({mt_i, {W * (D + 1) {1'b0}}});
    assign digit_ready = !full_q;
    assign digit_last  = count_q == CountBits'(Digits - 1);
    assign take        = digit_valid && digit_ready;
    assign sum         = $signed((W + 2)'(digit_q)) + $signed((W + 2)'(mt_digit_q)) + (W + 2)'(carry_q);

    digit_select #(
        .W(W),
        .Digits(Digits),
        .IndexBits(CountBits)
    ) u_mt (
        .number_i(mt),
        .index_i (count_q),
        .digit_o (mt_digit)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            count_q     <= '0;
            digit_q     <= '0;
            mt_digit_q  <= '0;
            carry_q     <= -2'sd1;
            taken_q     <= 1'b0;
            last_q      <= 1'b0;
            full_q      <= 1'b0;
            out_valid_o <= 1'b0;
            l_o         <= '0;
            foreign_o   <= 1'b0;
        end else begin
            if (take) count_q <= digit_last ? '0 : count_q + 1'b1;
            if (take) foreign_o <= |(lane_foreign & collect);
            digit_q    <= digit;
            mt_digit_q <= mt_digit;
            taken_q    <= take;
            last_q     <= digit_last;
            if (taken_q) begin
                carry_q <= last_q ? -2'sd1 : sum[W+1:W];
                l_o     <= OpBits'({sum[W-1:0], l_o} >> W);
            end
            // Full from the arrival of the last digit until l is accepted.
            if (take && digit_last) full_q <= 1'b1;
            else if (out_valid_o && out_ready_i) full_q <= 1'b0;
            if (taken_q && last_q) out_valid_o <= 1'b1;
            else if (out_ready_i) out_valid_o <= 1'b0;
        end
    end
endmodule
