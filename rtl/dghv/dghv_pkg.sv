// SPDX-License-Identifier: MIT OR Apache-2.0
// What the parts of the encryptor for FHE over the integers say to each other: commands, the steps
// that they are made of, and how they end.
//
// Numbers lie in memory, lowest word first; addresses and lengths are in words.
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

    // A number, or several of them at equal distances.
    typedef struct packed {
        address_t at;
        length_t  words;
        length_t  stride;
    } operand_t;

    // One pass of one of the two units over memory.
    typedef enum logic [1:0] {
        Product,   // z = sum over the terms of x_i y_i
        // z = the same for every segment of the elements first, first + 1 ..., which come from the
        // seed; see super_product
        Seeded,
        Add,       // z = x + y
        Subtract   // z = x - y
    } kind_e;

    typedef struct packed {
        kind_e    kind;
        operand_t x;
        operand_t y;       // Seeded: words are those of a segment
        operand_t z;       // Seeded: sums of even segments, at their places in the number
        address_t odd;     // Seeded: those of odd ones likewise
        length_t  terms;   // Product and Seeded
        index_t   first;   // Seeded
        length_t  whole;   // Seeded: words of an element
        logic [5:0] kept;  // Seeded: bits of its top word, 0 for all
        logic     write;   // Add and Subtract: whether z is written
        logic     masked;  // Add and Subtract: y is read, and counts as zero
        logic     carry;   // Add and Subtract: what goes into the lowest word
        logic [5:0] tested;  // Add and Subtract: a bit of the top word
    } step_t;

    // What Add and Subtract find.
    typedef struct packed {
        logic carry;     // or borrow, out of the top
        logic any;       // some bit of z is set
        logic at;        // bit tested of the top word of z
        logic beyond;    // some bit above it
    } finding_t;

    typedef enum logic [2:0] {
        Multiply,     // z = x y
        Reduce,       // z = x modulo the modulus, and behind it the quotient
        EncryptCnt,   // z = m + 2 R + 2 sum of b_i A_i likewise
        EncryptCmnt,  // z = m + 2 R + 2 sum of b_ij A_i0 A_j1 likewise
        Wipe          // the scratch becomes zero
    } operation_e;

    typedef struct packed {
        operation_e operation;
        // Multiply, Reduce: a factor, the number. Encrypt: coefficients, elements (CMNT:
        // elements^2) of words each, one after another
        operand_t   x;
        // Multiply: the other factor. Encrypt: corrections, one after another
        operand_t   y;
        address_t   z;               // the result
        address_t   modulus;         // A_0
        address_t   reciprocal;      // floor(2^(bits + alpha) / A_0), as long as super_reduce says
        index_t     bits;            // phi, of the modulus
        index_t     excess;          // gamma: what is reduced has at most phi + gamma bits
        length_t    elements;        // Encrypt: tau, or beta
        // Encrypt: the number m + 2 R + 2^k, and behind it, as long, 2^k
        operand_t   noise;
        operand_t   scratch;         // what is between; wiped at the end
    } command_t;

    typedef enum logic [2:0] {
        Done,
        BadSizes,     // lengths of zero, or scratch too short
        BadModulus,   // its top bit is not set, or one above it is, or the reciprocal is of another
        BadOperand,   // more than phi + gamma bits
        Negative,     // a sum below zero: a wrong key, coefficients or noise
        BadMemory     // it has reported an error
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
