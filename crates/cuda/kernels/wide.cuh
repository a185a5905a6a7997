// Limbs of 52 bits in doubles, for GPUs with a fast double-precision unit.
//
// A column is a 64-bit integer modulo 2^64. A product of two limbs arrives as two doubles, whose
// bit patterns are added as integers. The sum of their exponent fields (LOW and HIGH per product)
// is known in advance and subtracted first, so no instruction extracts mantissas.
//
// Bounds: a number has K limbs, at most 160. In K steps, a column accumulates at most
// - two halves below 2^52 from each of at most 3 rows in each step,
// - one carry.
// The sum is less than 2^52 (6 K + 1), which is below 2^63 for K <= 341.
#pragma once
#include "lanes.cuh"

struct Wide {
  typedef double Limb;
  typedef u64 Word;  // a limb in memory
  static constexpr int BITS = 52;
  static constexpr u64 MASK = (1ull << 52) - 1;
  static constexpr bool SETTLES = false;  // columns need no carries within a pass
  static constexpr int HALVES = 20;  // most limbs of a number that is squared by halves
  static constexpr u64 LOW = 0x433ull << 52;   // the exponent field of [2^52, 2^53)
  static constexpr u64 HIGH = 0x467ull << 52;  // the exponent field of [2^104, 2^105)
  static constexpr double TWO52 = 4503599627370496.0;
  static constexpr double TWO104 = 20282409603651670423947251286016.0;
  static constexpr double TWO104_52 = 20282409603651674927546878656512.0;  // 2^104 + 2^52

  // Conversion of a limb v < 2^52 to a double, and back.
  static DEV Limb limb(u64 v) { return number_of(v | LOW) - TWO52; }
  static DEV u64 value(Limb x) { return bits_of(x + TWO52) & MASK; }

  // For x, y < 2^52 and x y = H 2^52 + L: high = HIGH | H, low = LOW | L.
  static DEV void product(double x, double y, u64 &high, u64 &low);

  // acc += x y for the limbs FROM <= j < TO of y. Each column receives a low and a high half in one
  // addition with three operands. `before` is the high half for column FROM, then for column TO.
  template <int FROM, int TO, int L>
  static DEV void add_part(u64 (&acc)[L + 1], double x, const double (&y)[L], u64 &before) {
    UNROLL for (int j = FROM; j < TO; j++) {
      u64 high, low;
      product(x, y[j], high, low);
      acc[j] += low + before;
      before = high;
    }
  }

  // acc += x y
  template <int L> static DEV void add_row(u64 (&acc)[L + 1], double x, const double (&y)[L]) {
    u64 before = 0;
    add_part<0, L, L>(acc, x, y, before);
    acc[L] += before;
  }

  // acc = acc + q m, shifted down by one column. Returns the lowest column of the sum.
  template <int L> static DEV u64 reduce_row(u64 (&acc)[L + 1], double q, const double (&m)[L]) {
    u64 high, low, before;
    product(q, m[0], before, low);
    const u64 lowest = acc[0] + low;
    UNROLL for (int j = 1; j < L; j++) {
      product(q, m[j], high, low);
      acc[j - 1] = acc[j] + low + before;
      before = high;
    }
    acc[L - 1] = acc[L] + before;
    return lowest;
  }
};

#ifdef __CUDACC__
// Two fused multiply-adds rounded towards zero and one exact subtraction: minus is (1 - H) 2^52.
DEV void Wide::product(double x, double y, u64 &high, u64 &low) {
  const double h = __fma_rz(x, y, TWO104);
  const double minus = __dsub_rn(TWO104_52, h);
  high = bits_of(h);
  low = bits_of(__fma_rz(x, y, minus));
}
#elif defined(HEARITH_FUSED)
#include <cmath>
// The same on a CPU. The thread's rounding mode must be towards zero (emulated.cpp sets it).
DEV void Wide::product(double x, double y, u64 &high, u64 &low) {
  const double h = std::fma(x, y, TWO104);
  const double minus = TWO104_52 - h;
  high = bits_of(h);
  low = bits_of(std::fma(x, y, minus));
}
#else
// The exact integer product, which the other two must equal.
DEV void Wide::product(double x, double y, u64 &high, u64 &low) {
  const unsigned __int128 p = (unsigned __int128)(u64)x * (u64)y;
  high = HIGH | (u64)(p >> 52);
  low = LOW | ((u64)p & MASK);
}
#endif
