// SPDX-License-Identifier: MIT OR Apache-2.0
// Receives votes as messages, and passes them to the encryptor as marks if they are valid.
//
// A message is {count, contest}, an identifier, a voter, and count candidates, a word each; count
// and contest have 16 bits. Voters, contests and candidates count from 0. A valid vote leaves as
// one mark per candidate, 1 for those that were chosen. Any other is refused, with the first reason
// of ballot_pkg that holds. Nothing of a vote is output before all of it was checked, so nothing
// out of range can reach the encryptor. Nothing is output while blocked_i says that there is no
// randomness.
//
// A voter has one vote in a contest. The log is asked whether it has {contest, voter}, 8 and 24
// bits: ask_valid_o stays high until known_valid_i answers with known_i. The next message is
// accepted after the vote or the refusal was. A word is accepted every cycle; 3 cycles pass from
// the last word to the question. Marks are wiped when they are accepted.
module vote_processor #(
    parameter int unsigned Voters     = 1000,  // 1 to 2^24
    parameter int unsigned Contests   = 1,     // 1 to 256
    parameter int unsigned Candidates = 8      // of a contest at most, 1 to 64
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    // For each contest, stable: how many candidates it has, and how many of them may and must be
    // chosen.
    input  logic [Contests*8-1:0]   candidates_i,
    input  logic [Contests*8-1:0]   most_i,
    input  logic [Contests*8-1:0]   least_i,
    input  logic                    blocked_i,
    input  logic                    in_valid_i,
    output logic                    in_ready_o,
    input  logic [31:0]             in_data_i,
    input  logic                    in_last_i,
    output logic                    ask_valid_o,
    output logic [31:0]             ask_key_o,
    input  logic                    known_valid_i,
    input  logic                    known_i,
    output logic                    vote_valid_o,
    input  logic                    vote_ready_i,
    output logic [31:0]             vote_id_o,
    output logic [31:0]             vote_voter_o,
    output logic [15:0]             vote_contest_o,
    output logic [Candidates-1:0]   vote_marks_o,
    output logic                    refused_valid_o,
    input  logic                    refused_ready_i,
    output logic [31:0]             refused_id_o,     // 0 if the message ended before it
    output logic [7:0]              refused_code_o    // a refusal_e of ballot_pkg
);
    if (Voters < 1 || Voters > (1 << 24)) $error("vote_processor: Voters must be from 1 to 2^24");
    if (Contests < 1 || Contests > 256) $error("vote_processor: Contests must be from 1 to 256");
    if (Candidates < 1 || Candidates > 64) $error("vote_processor: Candidates must be from 1 to 64");

    localparam int unsigned ContestBits = Contests == 1 ? 1 : $clog2(Contests);
    localparam int unsigned PlaceBits = Candidates == 1 ? 1 : $clog2(Candidates);

    typedef enum logic [2:0] {
        Head,
        Id,
        Voter,
        Choices,
        Judge,
        Ask,
        Give,
        Refuse
    } state_e;

    state_e state_q;
    logic [15:0] count_q, contest_q, seen_q;
    logic [31:0] id_q, voter_q;
    logic [Candidates-1:0] marks_q;
    logic outside_q, twice_q, short_q, long_q;
    ballot_pkg::refusal_e code_q, reason;
    logic take, chosen_exists, clear;
    logic [ContestBits-1:0] contest;
    logic [PlaceBits-1:0] place;
    logic [7:0] candidates, most, least;

    assign in_ready_o = state_q == Head || state_q == Id || state_q == Voter || state_q == Choices;
    assign take = in_valid_i && in_ready_o;

    // The limits of the contest; an unknown one has none and is refused.
    assign contest = ContestBits'(contest_q);
    assign candidates = 32'(contest_q) < Contests ? candidates_i[8*contest+:8] : '0;
    assign most = 32'(contest_q) < Contests ? most_i[8*contest+:8] : '0;
    assign least = 32'(contest_q) < Contests ? least_i[8*contest+:8] : '0;
    assign chosen_exists = in_data_i < 32'(candidates) && in_data_i < Candidates;
    assign place = PlaceBits'(in_data_i);

    always_comb begin
        reason = ballot_pkg::NotRefused;
        if (short_q || long_q) reason = ballot_pkg::BadForm;
        else if (voter_q >= Voters) reason = ballot_pkg::UnknownVoter;
        else if (32'(contest_q) >= Contests) reason = ballot_pkg::UnknownContest;
        else if (count_q > 16'(most)) reason = ballot_pkg::TooManyChoices;
        else if (count_q < 16'(least)) reason = ballot_pkg::TooFewChoices;
        else if (outside_q) reason = ballot_pkg::OutOfRange;
        else if (twice_q) reason = ballot_pkg::RepeatedChoice;
    end

    assign clear = (vote_valid_o && vote_ready_i) || (refused_valid_o && refused_ready_i);

    always_ff @(posedge clk_i) begin
        if (!rst_ni || clear) begin
            state_q   <= Head;
            count_q   <= '0;
            contest_q <= '0;
            seen_q    <= '0;
            id_q      <= '0;
            voter_q   <= '0;
            marks_q   <= '0;
            outside_q <= 1'b0;
            twice_q   <= 1'b0;
            short_q   <= 1'b0;
            long_q    <= 1'b0;
            code_q    <= ballot_pkg::NotRefused;
        end else begin
            unique case (state_q)
                Head:
                if (take) begin
                    {count_q, contest_q} <= in_data_i;
                    state_q              <= in_last_i ? Judge : Id;
                    short_q              <= in_last_i;
                end
                Id:
                if (take) begin
                    id_q    <= in_data_i;
                    state_q <= in_last_i ? Judge : Voter;
                    short_q <= in_last_i;
                end
                Voter:
                if (take) begin
                    voter_q <= in_data_i;
                    state_q <= in_last_i ? Judge : Choices;
                    short_q <= in_last_i && count_q != '0;
                end
                Choices:
                if (take) begin
                    if (seen_q == count_q) long_q <= 1'b1;
                    else seen_q <= seen_q + 16'd1;
                    if (chosen_exists) begin
                        twice_q        <= twice_q || marks_q[place];
                        marks_q[place] <= 1'b1;
                    end else begin
                        outside_q <= 1'b1;
                    end
                    if (in_last_i) begin
                        state_q <= Judge;
                        short_q <= seen_q + 16'd1 < count_q;
                    end
                end
                Judge: begin
                    code_q  <= reason;
                    state_q <= reason == ballot_pkg::NotRefused ? Ask : Refuse;
                    if (reason != ballot_pkg::NotRefused) marks_q <= '0;
                end
                Ask:
                if (known_valid_i) begin
                    code_q  <= known_i ? ballot_pkg::RepeatedVote : ballot_pkg::NoRandomness;
                    state_q <= (known_i || blocked_i) ? Refuse : Give;
                end
                Give: begin
                    // The source failed while the vote waited.
                    if (blocked_i && !vote_valid_o) state_q <= Refuse;
                end
                default: state_q <= Refuse;
            endcase
        end
    end

    // On offer from the cycle after Give is reached until it is accepted.
    always_ff @(posedge clk_i) begin
        if (!rst_ni || clear) vote_valid_o <= 1'b0;
        else vote_valid_o <= vote_valid_o || (state_q == Give && !blocked_i);
    end

    assign ask_valid_o = state_q == Ask;
    assign ask_key_o = {contest_q[7:0], voter_q[23:0]};
    assign vote_id_o = id_q;
    assign vote_voter_o = voter_q;
    assign vote_contest_o = contest_q;
    assign vote_marks_o = vote_valid_o ? marks_q : '0;
    assign refused_valid_o = state_q == Refuse;
    assign refused_id_o = id_q;
    assign refused_code_o = code_q;

    logic [7:0] chosen;
    always_comb begin
        chosen = '0;
        for (int k = 0; k < int'(Candidates); k++) chosen = chosen + 8'(vote_marks_o[k]);
    end

    `include "assertions.svh"
    `ASSERT(VoteInRange, !vote_valid_o || (chosen <= most && chosen >= least && vote_voter_o < Voters && 32'(vote_contest_o) < Contests))
    `ASSERT(NoSuchCandidate, !vote_valid_o || candidates >= 8'(Candidates) || vote_marks_o >> candidates == '0)
    `ASSERT(EitherWay, !(vote_valid_o && refused_valid_o))
    `ASSERT_KEEPS(VoteStays, vote_valid_o && !vote_ready_i, {vote_id_o, vote_voter_o, vote_contest_o, vote_marks_o})

    logic unused;
    assign unused = &{1'b0, chosen};
endmodule
