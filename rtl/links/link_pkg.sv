// SPDX-License-Identifier: MIT OR Apache-2.0
// The frame format that the two ends of a link share, and the fault codes.
package link_pkg;
    // Bytes on the wire: a frame is enclosed by two flags. A flag or an escape inside it is sent as
    // an escape and the byte with bit 5 inverted. Between frames there may be any number of flags.
    localparam logic [7:0] Flag = 8'h7e;
    localparam logic [7:0] Escape = 8'h7d;
    localparam logic [7:0] Turned = 8'h20;

    // The remainder of a CRC-32 after all words of a frame and their checksum, whatever the words.
    localparam logic [31:0] Residue = 32'hdebb20e3;

    // Words of a frame in addition to its message: two of the header, and the checksum.
    localparam int unsigned Overhead = 3;

    typedef enum logic [7:0] {
        Hello   = 8'd1,  // this is my tag, I do not know yours
        Welcome = 8'd2,  // I know your tag, this is mine
        Data    = 8'd3,  // a message
        Ack     = 8'd4,  // the message was accepted
        Wait    = 8'd5   // the message arrived and cannot be accepted yet
    } kind_e;

    typedef enum logic [3:0] {
        NoFault      = 4'd0,
        BadFrame     = 4'd1,   // a wrong checksum, or an invalid frame
        WrongLength  = 4'd2,   // a frame whose length differs from its header
        FrameTooLong = 4'd3,   // more words than any frame has
        UnknownKind  = 4'd4,   // a frame of an unknown kind
        Sequence     = 4'd5,   // a message out of sequence
        Flooding     = 4'd6,   // a message that arrived before the previous one was accepted
        Silent       = 4'd7,   // no answer after all retries
        PartnerReset = 4'd8,   // the other end restarted: unacknowledged messages are sent again
        LongMessage  = 4'd9,   // a message from this side that exceeds a frame; it was dropped
        Line         = 4'd10   // bytes that the line reports as corrupt
    } fault_e;
endpackage
