// What a kernel is started with: one argument, the same on a card and on a CPU (src/job.rs has it
// again). All addresses are the card's. Numbers are rows of limbs, the lowest first, a limb a Word
// of the arithmetic (64 or 32 bits).
#pragma once
#include <cstdint>

struct Job {
  uint64_t rows;       // results
  uint64_t input;      // rows of numbers (what they are, each operation says)
  uint64_t second;     // a second operand a row, or 0
  uint64_t output;     // rows of results
  uint64_t scratch;    // tables of the threads that run at a time: `power` and `multiple`
  uint64_t key;        // constants: a modulus, -1 / m modulo a limb's base, and more
  uint64_t exponents;  // `power`: digits of 5 bits, lowest first. `comb`, `multiple`: rows of words
  uint64_t index;      // `product`: 32-bit numbers of rows. `unpack`: 0
  uint32_t digits;     // of the exponent: `power`. Words of a row's exponent: `comb`, `multiple`
  uint32_t chunks;     // pieces of K limbs that a row of input has: `power`, `multiple`
  uint32_t blocks;     // `comb`: tables
  uint32_t block;      // `comb`: columns of a table. `multiple`: windows of 4 bits
  uint32_t words;      // `unpack`: 64-bit words of a row of input
  uint32_t limbs;      // `unpack`: limbs of a row of output
};
