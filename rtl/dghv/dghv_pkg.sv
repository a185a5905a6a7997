// SPDX-License-Identifier: MIT OR Apache-2.0
// Types shared by the parts of the encryptor for FHE over the integers: commands, the steps of
// commands, and how they end.
//
// Numbers are stored in memory, lowest word first. Addresses and lengths are in words.
package dghv_pkg;
    localparam int unsigned AddressBits = 32;
    localparam int unsigned LengthBits = 24;
    localparam int unsigned IndexBits = 32;

    // Segments of an element of the public key: word Lanes t + s of its stream is word t of segment
    // s.
    localparam int unsigned Lanes = 8;
    typedef logic [$clog2(Lanes)-1:0] lane_t;

    typedef logic [AddressBits-1:0] address_t;
    typedef logic [LengthBits-1:0] length_t;
    typedef logic [IndexBits-1:0] index_t;

    // A number, or several at equal distances.
    typedef struct packed {
        address_t at;
        length_t  words;
        length_t  stride;
    } operand_t;

    // One pass of a unit over memory.
    typedef enum logic [1:0] {
        Product,   // z = sum over the terms of x_i y_i
        // z = the same for every segment of elements first, first + 1, ..., which come from the
        // seed; see super_product
        Seeded,
        Add,       // z = x + y
        Subtract   // z = x - y
    } kind_e;

    typedef struct packed {
        kind_e    kind;
        operand_t x;
        operand_t y;       // Seeded: words of a segment
        operand_t z;       // Seeded: sums of even segments, at their places in the number
        address_t odd;     // Seeded: sums of odd segments, in the same way
        length_t  terms;   // Product and Seeded
        index_t   first;   // Seeded
        length_t  whole;   // Seeded: words of an element
        logic [5:0] kept;  // Seeded: bits of its top word, 0 for all
        logic     write;   // Add and Subtract: whether z is written
        logic     masked;  // Add and Subtract: y is read but counts as zero
        logic     carry;   // Add and Subtract: carry or borrow into the lowest word
        logic [5:0] tested;  // Add and Subtract: number of a bit of the top word
    } step_t;

    // The findings of Add and Subtract.
    typedef struct packed {
        logic carry;     // or borrow, out of the top
        logic any;       // some bit of z is set
        logic at;        // bit `tested` of the top word of z is set
        logic beyond;    // some bit above it is set
    } finding_t;

    typedef enum logic [2:0] {
        Multiply,     // z = x y
        Reduce,       // z = x modulo the modulus, followed by the quotient
        EncryptCnt,   // z = m + 2 R + 2 sum of b_i A_i, reduced as in Reduce
        EncryptCmnt,  // z = m + 2 R + 2 sum of b_ij A_i0 A_j1, reduced as in Reduce
        Wipe          // the scratch becomes zero
    } operation_e;

    typedef struct packed {
        operation_e operation;
        // Multiply: a factor. Reduce: the number. Encrypt: the coefficients, one after another,
        // x.words words each; their number is elements (CMNT: elements^2)
        operand_t   x;
        // Multiply: the other factor. Encrypt: corrections, one after another
        operand_t   y;
        address_t   z;               // the result
        address_t   modulus;         // A_0
        address_t   reciprocal;      // floor(2^(bits + alpha) / A_0), length as in super_reduce
        index_t     bits;            // phi, of the modulus
        index_t     excess;          // gamma: the number to reduce has at most phi + gamma bits
        length_t    elements;        // Encrypt: tau, or beta
        // Encrypt: the number m + 2 R + 2^k, followed by 2^k in the same length
        operand_t   noise;
        operand_t   scratch;         // intermediate values; wiped at the end
    } command_t;

    typedef enum logic [2:0] {
        Done,
        BadSizes,     // lengths of zero, or scratch too short
        BadModulus,   // top bit not set, one above it set, or reciprocal of another
        BadOperand,   // more than phi + gamma bits
        Negative,     // a sum below zero: a wrong key, coefficients or noise
        BadMemory     // the memory has reported an error
    } ending_e;

    // The smaller of two lengths.
    function automatic length_t least(input length_t a, input length_t b);
        least = a < b ? a : b;
    endfunction

    // a - b, or zero.
    function automatic length_t less(input length_t a, input length_t b);
        less = a > b ? a - b : '0;
    endfunction
endpackage
