// SPDX-License-Identifier: MIT OR Apache-2.0
// Codes of the ballot machine.
package ballot_pkg;
    // Why a vote was refused.
    typedef enum logic [7:0] {
        NotRefused      = 8'd0,
        BadForm         = 8'd1,  // not a vote: the message's length differs from its count
        UnknownVoter    = 8'd2,
        UnknownContest  = 8'd3,
        TooManyChoices  = 8'd4,
        TooFewChoices   = 8'd5,
        OutOfRange      = 8'd6,  // a candidate that the contest does not have
        RepeatedChoice  = 8'd7,  // a candidate chosen twice
        RepeatedVote    = 8'd8,  // the log already has a vote of the voter in this contest
        NoRandomness    = 8'd9,  // the noise source failed: nothing is encrypted
        Unequal         = 8'd10, // two units computed different ciphertexts
        // the log is full, or its memory failed, perhaps after the ballot was stored
        NotStored       = 8'd11
    } refusal_e;

    // Why the tally board declines an order.
    typedef enum logic [3:0] {
        NotDeclined    = 4'd0,
        UnknownOrder   = 4'd1,  // or one of a wrong length
        NoSuchContest  = 4'd2,
        NoSuchMark     = 4'd3,
        NoShare        = 4'd4,  // none is loaded
        // of a wrong length, or not that of the number that verifies it: it is forgotten
        WrongShare     = 4'd5,
        NoNoise        = 4'd6   // the noise source failed, or has not started
    } decline_e;

    // What is proved of an encrypted number (docs/explanation/proofs.md).
    typedef enum logic [1:0] {
        MarkIsBit   = 2'd0,  // a mark holds 0 or 1
        SumIsBit    = 2'd1,  // the marks of a contest sum to 0 or 1
        SumIsKnown  = 2'd2   // they sum to the number that the contest requires
    } proof_e;

    // The commands of a log.
    typedef enum logic [1:0] {
        Find   = 2'd0,  // whether there is a record with an identifier, and where
        Append = 2'd1,
        Fetch  = 2'd2,  // a record by its place
        Format = 2'd3   // erases everything
    } log_command_e;

    // The answers of a log.
    typedef enum logic [2:0] {
        Done   = 3'd0,
        Known  = 3'd1,  // the identifier is already there: nothing was written
        Absent = 3'd2,  // no such record, or no whole one
        Full   = 3'd3,
        Fault  = 3'd4   // data read back differ from those written, or the memory does not answer
    } log_answer_e;

    // A hexadecimal digit as a character.
    function automatic logic [7:0] character(input logic [3:0] digit);
        character = digit < 4'd10 ? 8'd48 + 8'(digit) : 8'd87 + 8'(digit);
    endfunction
endpackage
