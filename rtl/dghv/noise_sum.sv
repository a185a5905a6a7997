// SPDX-License-Identifier: MIT OR Apache-2.0
// The end of an encryption's sum, in four steps: x becomes 2 x + noise - shift. The noise is m + 2
// R + shift, which is positive, and is stored before the shift. If the result is negative, which
// happens when all coefficients are zero, the modulus is added. The last step adds the modulus or
// zero, in the same number of cycles.
module noise_sum (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  dghv_pkg::operand_t  x_i,           // this to modulus_i: stable from start_i to done_o
    input  dghv_pkg::operand_t  noise_i,
    input  dghv_pkg::operand_t  modulus_i,
    output logic                step_valid_o,
    output dghv_pkg::step_t     step_o,
    input  logic                step_done_i,
    input  dghv_pkg::finding_t  finding_i,
    output logic                done_o,
    output logic                negative_o     // the sum is negative even so
);
    typedef enum logic [2:0] {
        Idle,
        Double,
        More,
        Less,
        Lift
    } state_e;
    state_e state_q;
    logic below_q;
    assign step_valid_o = state_q != Idle;

    always_comb begin
        step_o        = '0;
        step_o.write  = 1'b1;
        step_o.x      = x_i;
        step_o.z      = x_i;
        step_o.kind   = state_q == Less ? dghv_pkg::Subtract : dghv_pkg::Add;
        step_o.masked = state_q == Lift && !below_q;
        unique case (state_q)
            Double:  step_o.y = x_i;
            Lift:    step_o.y = modulus_i;
            default: step_o.y = noise_i;
        endcase
        if (state_q == Less) step_o.y.at = noise_i.at + dghv_pkg::address_t'(noise_i.words);
    end

    always_ff @(posedge clk_i) begin
        done_o <= 1'b0;
        if (!rst_ni) begin
            state_q    <= Idle;
            below_q    <= 1'b0;
            negative_o <= 1'b0;
        end else if (start_i) begin
            state_q <= Double;
        end else if (step_done_i && state_q != Idle) begin
            state_q    <= state_q == Lift ? Idle : state_e'(state_q + 3'd1);
            done_o     <= state_q == Lift;
            below_q    <= state_q == Less && finding_i.carry;
            negative_o <= below_q && !finding_i.carry;
        end
    end

    logic unused;
    assign unused = &{1'b0, finding_i};
endmodule
