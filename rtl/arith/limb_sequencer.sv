// SPDX-License-Identifier: MIT OR Apache-2.0
// Controls an operation of Steps cycles between a stream of operands and a stream of results, one
// at a time.
//
// start_o is high when operands are accepted, work_o in each of the Steps cycles that follow, then
// out_valid_o until the result is accepted.
module limb_sequencer #(
    parameter int unsigned Steps = 16  // at least 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic in_valid_i,
    output logic in_ready_o,
    output logic out_valid_o,
    input  logic out_ready_i,
    output logic start_o,
    output logic work_o
);
    if (Steps < 1) $error("limb_sequencer: Steps must be at least 1");

    localparam int unsigned CountBits = $clog2(Steps + 1);

    typedef enum logic [1:0] {
        Idle,
        Working,
        Done
    } state_e;
    state_e state_q;
    logic [CountBits-1:0] count_q;

    assign in_ready_o  = state_q == Idle;
    assign work_o      = state_q == Working;
    assign out_valid_o = state_q == Done;
    assign start_o     = in_valid_i && in_ready_o;

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            state_q <= Idle;
            count_q <= '0;
        end else begin
            unique case (state_q)
                Idle:
                if (in_valid_i) begin
                    state_q <= Working;
                    count_q <= CountBits'(Steps - 1);
                end
                Working: begin
                    count_q <= count_q - 1'b1;
                    if (count_q == '0) state_q <= Done;
                end
                Done:    if (out_ready_i) state_q <= Idle;
                default: state_q <= Idle;
            endcase
        end
    end
endmodule
