// SPDX-License-Identifier: MIT OR Apache-2.0
// What the parts of the multiplier by four-step transforms say to each other.
package four_step_pkg;
    // Passes of four_step over its matrices.
    typedef enum logic [2:0] {
        ColumnsX,  // x, by columns
        ColumnsY,  // y, by columns
        Rows,      // both by rows, their products, and these back by rows
        Back,      // and by columns
        Carry      // coefficients to the product's words
    } pass_e;

    // A number in memory: address and length in words.
    typedef struct packed {
        logic [31:0] at;
        logic [23:0] words;
    } number_t;

    // z = x y, its lowest z.words words, by transforms of 2^(rows + columns) points.
    typedef struct packed {
        logic        wipe;     // no product: the scratch alone becomes zero
        number_t     x;
        number_t     y;
        number_t     z;
        logic [31:0] scratch;  // two matrices, one after another
        logic [3:0]  rows;     // logarithms
        logic [3:0]  columns;
    } product_t;
endpackage
