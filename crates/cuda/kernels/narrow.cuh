// Limbs of 28 bits for 32-bit multipliers, for GPUs with a slow double-precision unit.
//
// A column is a signed 64-bit integer that accumulates complete products without carries.
//
// Bounds: a thread has L limbs, at most 37. Between two calls of `settle`, a column accumulates at
// most
// - 3 products below 2^56 in each of L steps,
// - the value that `settle` left, below 2^28 + 2^36,
// - a carry below 2^36.
// The sum is less than 3 L 2^56 + 2^38, which is below 2^63 for L <= 42.
#pragma once
#include "lanes.cuh"

struct Narrow {
  typedef u32 Limb;
  typedef u32 Word;  // a limb in memory
  static constexpr int BITS = 28;
  static constexpr u64 MASK = (1ull << 28) - 1;
  static constexpr bool SETTLES = true;
  static constexpr int HALVES = 0;  // squaring by halves is not worth its registers
  static constexpr u64 LOW = 0, HIGH = 0;  // products contain no exponent bits

  static DEV Limb limb(u64 v) { return (u32)v; }
  static DEV u64 value(Limb x) { return x; }

  static DEV u64 multiply_add(u32 x, u32 y, u64 c);

  // acc += x y
  template <int L> static DEV void add_row(u64 (&acc)[L + 1], u32 x, const u32 (&y)[L]) {
    static_assert(L <= 42, "a column of 3 L products below 2^56 stays below 2^63");
    UNROLL for (int j = 0; j < L; j++) acc[j] = multiply_add(x, y[j], acc[j]);
  }

  // acc = acc + q m, shifted down by one column. Returns the lowest column of the sum.
  template <int L> static DEV u64 reduce_row(u64 (&acc)[L + 1], u32 q, const u32 (&m)[L]) {
    const u64 lowest = multiply_add(q, m[0], acc[0]);
    UNROLL for (int j = 1; j < L; j++) acc[j - 1] = multiply_add(q, m[j], acc[j]);
    acc[L - 1] = acc[L];
    return lowest;
  }
};

#ifdef __CUDACC__
// In PTX, since the compiler turns C into separate multiplications, additions and moves.
DEV u64 Narrow::multiply_add(u32 x, u32 y, u64 c) {
  u64 r;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(x), "r"(y), "l"(c));
  return r;
}
#else
DEV u64 Narrow::multiply_add(u32 x, u32 y, u64 c) { return c + (u64)x * y; }
#endif
