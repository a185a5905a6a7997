// SPDX-License-Identifier: MIT OR Apache-2.0
// What can be wrong with a memory behind an AXI4 port.
package axi4_pkg;
    typedef enum logic [2:0] {
        Sound = 3'd0,
        Silent = 3'd1,     // did nothing for too long
        Refused = 3'd2,    // SLVERR
        Nowhere = 3'd3,    // DECERR
        Misplaced = 3'd4,  // the last beat of a burst is marked elsewhere
        Unasked = 3'd5     // an answer, an identifier or a response that nobody asked for
    } fault_e;

    // The fault that a response stands for.
    function automatic fault_e response_fault(input logic [1:0] response);
        unique case (response)
            2'b00: return Sound;
            2'b01: return Unasked;
            2'b10: return Refused;
            2'b11: return Nowhere;
        endcase
    endfunction
endpackage
