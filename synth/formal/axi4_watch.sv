// SPDX-License-Identifier: MIT OR Apache-2.0
// An axi4_watch records the first fault and keeps it until it is cleared or the protocol is broken.
// Silence is a fault: a number of cycles without movement. A protocol violation stays even if
// cleared.
module formal (
    input logic clk_i
);
    (* anyseq *) logic clear, awaited, moved;
    (* anyseq *) logic [2:0] seen;
    logic [2:0] fault, past_fault, past_seen;
    logic [1:0] quiet_q = '0;
    logic past_clear, past_silent;
    logic [1:0] started = '0;

    axi4_watch #(
        .Timeout(3)
    ) u_block (
        .clk_i,
        .rst_ni   (started[0]),
        .clear_i  (clear),
        .awaited_i(awaited),
        .moved_i  (moved),
        .seen_i   (seen),
        .fault_o  (fault)
    );
    always_comb assume (seen <= axi4_pkg::Unasked);

    function automatic logic breaks(input logic [2:0] one);
        breaks = one == axi4_pkg::Misplaced || one == axi4_pkg::Unasked;
    endfunction

    always_ff @(posedge clk_i) begin
        started <= {started[0], 1'b1};
        quiet_q <= started[0] && awaited && !moved ? quiet_q + 2'(quiet_q != 2'd2) : 2'd0;
        past_silent <= awaited && !moved && quiet_q == 2'd2 && seen == axi4_pkg::Sound;
        past_fault  <= fault;
        past_seen   <= seen;
        past_clear  <= clear;
        if (started == 2'b01) assert (fault == axi4_pkg::Sound);
        if (started[1]) begin
            if (breaks(past_fault)) begin
                assert (breaks(fault));
            end else if (past_fault == axi4_pkg::Sound || past_clear) begin
                assert (fault == (past_silent ? axi4_pkg::Silent : past_seen));
            end else if (!breaks(past_seen)) begin
                assert (fault == past_fault);
            end else begin
                assert (fault == past_seen);
            end
            cover (fault == axi4_pkg::Silent);
        end
    end
endmodule
