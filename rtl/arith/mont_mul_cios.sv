// SPDX-License-Identifier: MIT OR Apache-2.0
// Montgomery product, a digit per cycle (the paper's MM_H): r = a b / R mod M, without a final
// subtraction.
//
// R = 2^(W (T-1)), T = ceil((N+2)/W) + D + 2; M is odd and of at most N bits; mt_i is the constant
// of the scaled modulus M' (mont_row). a, b < 2 M' give r < 2 M', congruent to a b / R modulo M;
// b = 1 gives r <= M'. Proof in mont_row.
//
// One product every Step = T + D + 4 + 2 Near cycles (71 at N = 1024, W = 17, D = 2). The carries
// of its upper words are resolved, PerCycle words per cycle, while the next product runs: latency
// Step + ceil(Upper / PerCycle) + 2 cycles from accepting operands to offering the result, Upper =
// ceil((N+1-W) / V). A result that is not accepted holds the next product in its last cycle.
//
// Multipliers: ceil(N/V) + ceil((N + W (D+1) + 1)/V) of W x V bits, unsigned, each with registers
// at its inputs, after the product and at its output (mont_word). A DSP48E1 fits W = 17, V = 24 (88
// at N = 1024, 6248 DSP cycles per product), a multiplier of 18 x 18 bits W = V = 18. Each
// additional D adds a register on the path of a quotient digit to the multipliers, and costs two
// cycles per product. Where multipliers are few and far from other logic, Near adds a register on
// each of their sides, to be placed next to them. Longest paths, by Yosys for xc7: 5 LUTs besides
// carry chains, outside of DSP blocks; none through two multipliers. Source: the CIOS order of
// [KAK96] with Orup's quotient digits (mont_row).
module mont_mul_cios #(
    parameter int unsigned N        = 1024,  // bits of the modulus, at least W
    parameter int unsigned W        = 17,    // bits of a digit, 4 to 32
    parameter int unsigned V        = 24,    // bits of a word, W to 2 W - 1
    // cycles for a quotient digit to reach the multipliers' sum, 2 + 2 Near to 6
    parameter int unsigned D        = 2,
    parameter int unsigned Near     = 0,     // 1: extra registers on each side of every multiplier
    // words resolved per cycle, enough for a latency of resolution below Step
    parameter int unsigned PerCycle = 3,
    localparam int unsigned MtBits = (N + W - 1) / W * W,
    localparam int unsigned OpBits = ((N + W) / W + D + 1) * W
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    // (M' + 1) / 2^(W (D+1)), stable while any product is inside
    input  logic [MtBits-1:0]  mt_i,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  logic [OpBits-1:0]  a_i,        // below 2 M'
    input  logic [OpBits-1:0]  b_i,        // below 2 M'
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [OpBits-1:0]  r_o,        // below 2 M'
    output logic               busy_o      // rows in use
);
    localparam int unsigned Low = W * (D + 2);
    localparam int unsigned Words = (N + W * (D + 1) + V) / V;
    localparam int unsigned Upper = (N + V - W) / V;

    if (PerCycle < 1 || (Upper + PerCycle - 1) / PerCycle + 3 > (N + W + 1) / W + 2 * D + 6 + 2 * Near) begin : gen_bad_per_cycle
        $error("mont_mul_cios: PerCycle must be so large that carries are resolved before the next product ends");
    end

    logic start, clear, take_q, feed, last, first, ahead;
    logic resolve_ready, wait_d, wait_q, ended_q;
    logic [Upper*(V+1)-1:0] y;
    logic [Upper*V-1:0] upper;
    logic [W-1:0] digit, q;

    assign in_ready_o = !busy_o || (last && resolve_ready);
    assign start      = in_valid_i && in_ready_o;

    mont_sequencer #(
        .N(N),
        .W(W),
        .D(D),
        .Wait(2 * Near)
    ) u_steps (
        .clk_i,
        .rst_ni,
        .start_i (start),
        .stay_i  (!resolve_ready),
        .busy_o,
        .first_o (first),
        .clear_o (clear),
        .take_q_o(take_q),
        .feed_o  (feed),
        .ahead_o (ahead),
        .last_o  (last)
    );

    // Between products and in the last cycle of one, operands are loaded whether accepted or not:
    // the enable of all these flip-flops is a register.
    logic open_q, open_d;
    assign open_d = !start && (open_q || ahead);
    always_ff @(posedge clk_i) begin
        if (!rst_ni) open_q <= 1'b1;
        else open_q <= open_d;
    end

    // b, with its next digit lowest.
    logic [OpBits-1:0] b_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) b_q <= OpBits'(0);
        else b_q <= open_q ? b_i : b_q >> W;
    end
    assign digit = open_q ? b_i[W-1:0] : b_q[2*W-1:W];

    mont_row #(
        .N(N),
        .W(W),
        .V(V),
        .D(D),
        .Chained(1'b0),
        .Near(Near)
    ) u_row (
        .clk_i,
        .rst_ni,
        .clear_i (clear),
        .hold_i  (wait_d),
        .load_i  (open_d),
        .take_q_i(take_q),
        .mt_i,
        .a_i     ((Words * V)'(a_i)),
        .b_i     (digit),
        .q_o     (q),
        .y_o     (y)
    );

    // The low digits of the result arrive one by one, then its words, which are in registers one
    // cycle after a product's last. They stay there until carry_resolve is ready. Once ready, it is
    // still ready in the next cycle.
    logic [Low-1:0] digits_q, low_q;
    assign wait_d = last && !resolve_ready;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            wait_q   <= 1'b0;
            ended_q  <= 1'b0;
            digits_q <= '0;
            low_q    <= '0;
        end else begin
            wait_q  <= wait_d;
            ended_q <= last && resolve_ready;
            if (feed && !wait_q) digits_q <= {q, digits_q[Low-1:W]};
            if (ended_q) low_q <= digits_q;
        end
    end

    carry_resolve #(
        .Words(Upper),
        .W(V),
        .B(V + 1),
        // For 0 the error above has been reported.
        .PerCycle(PerCycle < 1 ? 1 : PerCycle)
    ) u_resolve (
        .clk_i,
        .rst_ni,
        .in_valid_i(ended_q),
        .in_ready_o(resolve_ready),
        .x_i       (y),
        .out_valid_o,
        .out_ready_i,
        .r_o       (upper)
    );

    assign r_o = OpBits'({upper, low_q});

    // Operands and results are below 2 M' and fit their words, whose upper bits are 0.
    logic unused;
    assign unused = ^{first, a_i, b_q[W-1:0], upper};
endmodule
