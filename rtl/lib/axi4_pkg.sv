// SPDX-License-Identifier: MIT OR Apache-2.0
// Faults of a memory behind an AXI4 port.
package axi4_pkg;
    typedef enum logic [2:0] {
        Sound = 3'd0,
        Silent = 3'd1,     // no progress for too long
        Refused = 3'd2,    // SLVERR
        Nowhere = 3'd3,    // DECERR
        Misplaced = 3'd4,  // the last beat of a burst is marked in the wrong place
        Unasked = 3'd5     // an unexpected answer, identifier or response
    } fault_e;

    // The fault for a response: Unasked for EXOKAY, Refused for SLVERR, Nowhere for DECERR.
    function automatic logic [2:0] response_fault(input logic [1:0] response);
        response_fault = {2'b00, response[0]} + {1'b0, response[1], 1'b0};
        if (response == 2'b01) response_fault = 3'd5;
    endfunction
endpackage
