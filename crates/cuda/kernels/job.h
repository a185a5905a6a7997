// The argument of every kernel, the same on a GPU and on a CPU; src/job.rs has the same struct.
// Addresses are those of the GPU's memory. A number is a row of limbs, lowest first. A limb is a
// Word of the arithmetic (64 or 32 bits).
#pragma once
#include <cstdint>

struct Job {
  uint64_t rows;       // number of results; of limbs in `unpack`
  uint64_t input;      // rows of numbers; operations.cuh describes them per operation
  uint64_t second;     // `power`, `multiple`, `comb`: a second operand per row, or 0
  uint64_t output;     // rows of results
  uint64_t scratch;    // `power`, `multiple`: tables of the threads that run concurrently
  uint64_t key;        // constants: the modulus m, -1 / m modulo 2^BITS, and others
  uint64_t exponents;  // `power`: 5-bit digits, lowest first. `comb`, `multiple`: rows of words
  uint64_t index;      // `product`: starts of lists, then row numbers, in 32 bits each
  uint32_t digits;     // `power`: digits of the exponent. `comb`, `multiple`: words per exponent
  uint32_t chunks;     // `power`, `multiple`: pieces of K limbs per row of input
  uint32_t blocks;     // `comb`: number of tables
  uint32_t block;      // `comb`: columns per table. `multiple`: 4-bit digits per exponent
  uint32_t words;      // `unpack`: 64-bit words per row of input
  uint32_t limbs;      // `unpack`: limbs per row of output
};
