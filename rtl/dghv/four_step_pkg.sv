// SPDX-License-Identifier: MIT OR Apache-2.0
// Types shared by the parts of the multiplier by four-step transforms.
package four_step_pkg;
    // Passes of four_step over its matrices.
    typedef enum logic [2:0] {
        ColumnsX,  // x, by columns
        ColumnsY,  // y, by columns
        Rows,      // both by rows, their products, and the inverse of these by rows
        Back,      // the inverse by columns
        Carry      // coefficients to words of the product
    } pass_e;

    // A number in memory: address and length in words.
    typedef struct packed {
        logic [31:0] at;
        logic [23:0] words;
    } number_t;

    // z = x y, its lowest z.words words, by transforms of 2^(rows + columns) points.
    typedef struct packed {
        logic        wipe;     // no product: only the scratch becomes zero
        number_t     x;
        number_t     y;
        number_t     z;
        logic [31:0] scratch;  // two matrices, one after another
        logic [3:0]  rows;     // logarithms
        logic [3:0]  columns;
    } product_t;
endpackage
