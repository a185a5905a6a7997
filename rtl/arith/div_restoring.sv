// SPDX-License-Identifier: MIT OR Apache-2.0
// Restoring division, three cycles per bit of the quotient (the paper's div): q = floor(x / d), r =
// x mod d, for x < d 2^QBits.
//
// A remainder R < d starts as the top of x. For each bit: R <- 2 R + bit; if R >= d, R <- R - d and
// the quotient's bit is 1. The subtraction is cut into limbs: one cycle computes their differences,
// one the borrows between them, one selects. A limb generates a borrow (made_k) or propagates it
// (passed_k, difference 0). A short adder resolves them: the borrows are the carries of (made |
// passed) + made. Latency 3 QBits + 1 cycles from accepting x to offering q and r; one division per
// latency + 1 cycles.
module div_restoring #(
    parameter int unsigned XBits = 1073,  // bits of x, QBits to DBits + QBits
    parameter int unsigned DBits = 512,   // bits of d
    parameter int unsigned QBits = 564,   // bits of q, at least 2
    parameter int unsigned Limb  = 32     // bits of a limb: the length of a carry chain
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [DBits-1:0] d_i,          // not 0, stable from x to q
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [XBits-1:0] x_i,          // below d 2^QBits
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [QBits-1:0] q_o,
    output logic [DBits-1:0] r_o
);
    if (XBits < QBits || XBits > DBits + QBits || QBits < 2 || Limb < 2) begin : gen_bad
        $error("div_restoring: XBits must be QBits to DBits + QBits, QBits and Limb at least 2");
    end

    localparam int unsigned Limbs = (DBits + Limb) / Limb;  // of DBits + 1 bits
    localparam int unsigned CountBits = $clog2(QBits);

    typedef enum logic [2:0] {
        Idle,
        Differences,
        Borrows,
        Selection,
        Done
    } state_e;
    state_e state_q;

    logic start;
    logic [CountBits-1:0] count_q;
    logic [QBits-1:0] x_q;  // bits of x leave at the top, bits of q enter at the bottom
    logic [Limbs*Limb-1:0] rest_q, d, selected;  // rest_q holds 2 R + bit
    logic [Limbs-1:0] made_q, passed_q, borrow_q;
    logic less_q;  // rest_q < d
    logic [Limbs:0] carries, either, made;

    assign in_ready_o  = state_q == Idle;
    assign out_valid_o = state_q == Done;
    assign start       = in_valid_i && in_ready_o;
    assign q_o         = x_q;
    assign d           = (Limbs * Limb)'(d_i);

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            unique case (state_q)
                Idle:        if (in_valid_i) state_q <= Differences;
                Differences: state_q <= Borrows;
                Borrows:     state_q <= Selection;
                Selection:   state_q <= count_q == CountBits'(QBits - 1) ? Done : Differences;
                Done:        if (out_ready_i) state_q <= Idle;
                default:     state_q <= Idle;
            endcase
        end
    end

    // Bit k of (a + b) ^ a ^ b is the carry into bit k.
    assign either  = {1'b0, made_q | passed_q};
    assign made    = {1'b0, made_q};
    assign carries = (either + made) ^ either ^ made;

    for (genvar k = 0; k < Limbs; k++) begin : gen_limb
        logic [Limb-1:0] difference_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                {made_q[k], difference_q} <= '0;
                passed_q[k]               <= 1'b0;
            end else if (state_q == Differences) begin
                {made_q[k], difference_q} <= {1'b0, rest_q[k*Limb+:Limb]} - {1'b0, d[k*Limb+:Limb]};
                passed_q[k]               <= rest_q[k*Limb+:Limb] == d[k*Limb+:Limb];
            end
        end
        assign selected[k*Limb+:Limb] = less_q ? rest_q[k*Limb+:Limb] : difference_q - Limb'(borrow_q[k]);
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) {less_q, borrow_q} <= '0;
        else if (state_q == Borrows) {less_q, borrow_q} <= carries;
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            rest_q  <= '0;
            x_q     <= '0;
            count_q <= '0;
        end else if (start) begin
            rest_q  <= (Limbs * Limb)'(x_i >> (QBits - 1));
            x_q     <= x_i[QBits-1:0] << 1;
            count_q <= '0;
        end else if (state_q == Selection) begin
            // After the last bit the remainder stays one position too high.
            rest_q  <= {selected[Limbs*Limb-2:0], x_q[QBits-1]};
            x_q     <= {x_q[QBits-2:0], !less_q};
            count_q <= count_q + 1'b1;
        end
    end
    assign r_o = rest_q[DBits:1];
    logic unused;
    assign unused = selected[Limbs*Limb-1];
    if (Limbs * Limb > DBits + 1) begin : gen_unused
        logic unused_rest;
        assign unused_rest = ^rest_q[Limbs*Limb-1:DBits+1];
    end
endmodule
