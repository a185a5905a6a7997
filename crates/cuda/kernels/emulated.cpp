// The kernels on a CPU, for tests: the same source, row by row. It is compiled twice: with the
// exact product of integers, and with HEARITH_FUSED, which uses the double-precision product
// itself, rounded towards zero.
#include <cfenv>
#include <vector>
#include "narrow.cuh"
#include "operations.cuh"
#include "sizes.h"
#include "wide.cuh"

#ifdef HEARITH_FUSED
#define EMULATED hearith_cuda_emulated_fused
#else
#define EMULATED hearith_cuda_emulated_exact
#endif

namespace {
enum Operation { POWER, MULTIPLE, COMB, PRODUCT, UNPACK };

// Uses scratch for one row, laid out as if only that row's threads existed.
template <class A, int K, int T> void modulus(int operation, const Job &job) {
  typedef Operations<A, K, T> O;
  std::vector<typename A::Word> scratch(64 * K);
  const typename O::Table table = {scratch.data()};
  for (u64 row = 0; row < job.rows; row++) {
    if (operation == POWER) O::template power<false>(job, row, true, table);
    if (operation == MULTIPLE) O::template power<true>(job, row, true, table);
    if (operation == COMB) O::comb(job, row, true);
  }
}

template <class A, int K, int T> void square(const Job &job) {
  for (u64 row = 0; row < job.rows; row++) Operations<A, K, T>::product(job, row, true);
}

template <class A> bool unpack_all(const Job &job) {
  for (u64 at = 0; at < job.rows; at++) unpack<A>(job, at);
  return true;
}

bool run(bool narrow, int operation, int limbs, const Job &job) {
  if (operation == UNPACK) return narrow ? unpack_all<Narrow>(job) : unpack_all<Wide>(job);
#define MODULUS(A, NAME, K, T) if (limbs == K) { modulus<A, K, T>(operation, job); return true; }
#define SQUARE(A, NAME, K, T) if (limbs == K) { square<A, K, T>(job); return true; }
  if (!narrow && operation == PRODUCT) { WIDE_SQUARES(SQUARE) return false; }
  if (!narrow) { WIDE_MODULI(MODULUS) return false; }
#ifndef HEARITH_FUSED
  if (operation == PRODUCT) { NARROW_SQUARES(SQUARE) return false; }
  NARROW_MODULI(MODULUS)
#endif
  return false;
}

// Products of limbs, and a row of them in the columns of a thread, for tests of the bounds.
template <class A> void product_of(u64 x, u64 y, u64 *out) {
  u64 acc[2] = {0, 0};
  const typename A::Limb one[1] = {A::limb(y)};
  A::template add_row<1>(acc, A::limb(x), one);
  out[0] = acc[0] - A::LOW;
  out[1] = acc[1] - A::HIGH;
}
}  // namespace

// Runs a kernel; returns 0 if there is none of that size.
extern "C" int EMULATED(int narrow, int operation, int limbs, const Job *job) {
#ifdef HEARITH_FUSED
  const int before = fegetround();
  if (fesetround(FE_TOWARDZERO) != 0) return 0;
#endif
  const bool done = run(narrow != 0, operation, limbs, *job);
#ifdef HEARITH_FUSED
  fesetround(before);
#endif
  return done;
}

// The columns to which a product of two limbs is added: low and high half, or all and nothing.
#ifdef HEARITH_FUSED
extern "C" void hearith_cuda_product_fused(uint64_t x, uint64_t y, uint64_t *out) {
  const int before = fegetround();
  fesetround(FE_TOWARDZERO);
  u64 found[2];
  product_of<Wide>(x, y, found);
  out[0] = found[0], out[1] = found[1];
  fesetround(before);
}
#else
extern "C" void hearith_cuda_product_exact(int narrow, uint64_t x, uint64_t y, uint64_t *out) {
  u64 found[2];
  narrow ? product_of<Narrow>(x, y, found) : product_of<Wide>(x, y, found);
  out[0] = found[0], out[1] = found[1];
}
#endif
