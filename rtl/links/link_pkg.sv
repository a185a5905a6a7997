// SPDX-License-Identifier: MIT OR Apache-2.0
// What the two ends of a link agree on, and the codes of what can go wrong.
package link_pkg;
    // Bytes on the wire: a frame stands between two flags; a flag or an escape inside it comes as
    // an escape and the byte with bit 5 turned over. Between frames there may be any number of
    // flags.
    localparam logic [7:0] Flag = 8'h7e;
    localparam logic [7:0] Escape = 8'h7d;
    localparam logic [7:0] Turned = 8'h20;

    // What is left of a CRC-32 after all words of a frame and their checksum, whatever the words.
    localparam logic [31:0] Residue = 32'hdebb20e3;

    // Words of a frame beside its message: two of the header, and the checksum.
    localparam int unsigned Overhead = 3;

    typedef enum logic [7:0] {
        Hello   = 8'd1,  // I am here and do not know you
        Welcome = 8'd2,  // I know you, and am this
        Data    = 8'd3,  // a message
        Ack     = 8'd4,  // that message was taken
        Wait    = 8'd5   // that message came and cannot be taken yet
    } kind_e;

    typedef enum logic [3:0] {
        NoFault      = 4'd0,
        BadFrame     = 4'd1,   // a checksum that is wrong, or bytes that are no frame
        WrongLength  = 4'd2,   // a frame that says another length than it has
        FrameTooLong = 4'd3,   // more words than any frame has
        UnknownKind  = 4'd4,   // a frame of none of the kinds
        Sequence     = 4'd5,   // a message out of its order
        Flooding     = 4'd6,   // a message that came before the one before it was taken
        Silent       = 4'd7,   // no answer, however often it was asked
        PartnerReset = 4'd8,   // the other end began anew: what was not acknowledged is sent again
        LongMessage  = 4'd9,   // a message from this side that fits in no frame; it was dropped
        Line         = 4'd10   // bytes that the wire itself shows to be wrong
    } fault_e;
endpackage
