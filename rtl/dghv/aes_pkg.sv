// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps of AES-128 encryption (FIPS 197). Byte k of a block is at bits 8 k + 7 .. 8 k: the
// first byte of the standard's text is at the low end.
package aes_pkg;
    // A byte times x modulo x^8 + x^4 + x^3 + x + 1.
    function automatic logic [7:0] double(input logic [7:0] a);
        double = {a[6:0], 1'b0} ^ (a[7] ? 8'h1b : 8'h00);
    endfunction

    // The S-box, byte k at bits 8 k + 7 .. 8 k: the inverse of each byte, found through the powers
    // of x + 1, then the affine map.
    function automatic logic [2047:0] substitutions();
        logic [7:0] power, inverse, sum;
        // 3^-1 = 0xf6: power steps up while inverse steps down.
        power   = 8'h01;
        inverse = 8'h01;
        substitutions = '0;
        substitutions[7:0] = 8'h63;
        for (int k = 0; k < 255; k++) begin
            sum = inverse ^ {inverse[6:0], inverse[7]} ^ {inverse[5:0], inverse[7:6]} ^ {inverse[4:0], inverse[7:5]} ^ {inverse[3:0], inverse[7:4]};
            substitutions[{power, 3'd0}+:8] = sum ^ 8'h63;
            power = power ^ double(power);
            inverse = third(inverse);
        end
    endfunction

    // A byte divided by x + 1: bit k becomes the sum of bits 0 to k, and the sum of all bits wraps
    // around.
    function automatic logic [7:0] third(input logic [7:0] a);
        logic [7:0] b;
        b = a ^ {a[6:0], 1'b0};
        b = b ^ {b[5:0], 2'b00};
        b = b ^ {b[3:0], 4'b0000};
        third = b ^ (b[7] ? 8'h09 : 8'h00);
    endfunction

    localparam logic [2047:0] Substitutions = substitutions();

    function automatic logic [7:0] substitute(input logic [7:0] a);
        substitute = Substitutions[{a, 3'd0}+:8];
    endfunction

    function automatic logic [31:0] substitute_word(input logic [31:0] a);
        for (int k = 0; k < 4; k++) substitute_word[8*k+:8] = substitute(a[8*k+:8]);
    endfunction

    // A column times the standard's matrix.
    function automatic logic [31:0] mix(input logic [31:0] a);
        for (int k = 0; k < 4; k++) begin
            mix[8*k+:8] = double(a[8*k+:8]) ^ double(a[8*((k+1)%4)+:8]) ^ a[8*((k+1)%4)+:8] ^ a[8*((k+2)%4)+:8] ^ a[8*((k+3)%4)+:8];
        end
    endfunction

    // The first step of a round: each byte of the rows, shifted, through the S-box.
    function automatic logic [127:0] substitute_shifted(input logic [127:0] state);
        for (int k = 0; k < 16; k++) substitute_shifted[8*k+:8] = substitute(state[8*((5*k)%16)+:8]);
    endfunction

    // The second step; the last round does not mix columns.
    function automatic logic [127:0] mix_with_key(input logic [127:0] state, input logic [127:0] key, input logic last);
        for (int c = 0; c < 4; c++) mix_with_key[32*c+:32] = (last ? state[32*c+:32] : mix(state[32*c+:32])) ^ key[32*c+:32];
    endfunction

    // A round key's last word through the S-box, for the next round's key.
    function automatic logic [31:0] substitute_rotated(input logic [31:0] word);
        substitute_rotated = substitute_word({word[7:0], word[31:8]});
    endfunction

    // The next round's key, from its constant.
    function automatic logic [127:0] next_key(input logic [127:0] key, input logic [31:0] substituted, input logic [7:0] constant);
        next_key[31:0] = key[31:0] ^ substituted ^ {24'd0, constant};
        for (int k = 1; k < 4; k++) next_key[32*k+:32] = key[32*k+:32] ^ next_key[32*(k-1)+:32];
    endfunction
endpackage
